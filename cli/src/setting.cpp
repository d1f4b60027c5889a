#include "setting.hpp"

#include "arguments.hpp"
#include "left_out.hpp"

#include "headroom/document/text.hpp"
#include "headroom/error.hpp"
#include "headroom/io/strategy.hpp"
#include "headroom/io/words.hpp"

#include <algorithm>
#include <array>

namespace headroom::cli {

using namespace headroom::training;

namespace {

constexpr double least_fill = 0.01, largest_skew = 65'536.0;
constexpr double least_risk = 0.001, largest_risk = 0.5; ///< half: what is predicted to fit

constexpr std::array options{
    Option{"--cluster", "NAME|FILE", "a node of the catalog (dgx-h100), an accelerator, or a .toml file", "Question"},
    Option{"--network", "TEXT", "network between the nodes, instead of the catalog's: '4x 100Gb RoCE', '8x NDR400'",
           "Question"},
    Option{"--workers", "COUNTS",
           "accelerators: 64; plan also takes 8,16,64, 8..1024 (doubling) and 8..64:8 (steps of 8)", "Question"},
    Option{"--nodes", "COUNTS", "number of nodes, instead of accelerators", "Question"},
    Option{"--global-batch", "SEQUENCES", "sequences a step (default: 1024)", "Question"},
    Option{"--sequence-length", "N", "tokens a sequence (default: the model's, up to 8192)", "Question"},
    Option{"--documents", "TOKENS", "tokens of a packed document, which attention does not cross", "Question"},
    Option{"--fill", "SHARE",
           "fraction of tokens that are not padding: 85%; padding costs no compute and is not counted", "Question"},
    Option{"--expert-skew", "FACTOR", "tokens on the most loaded expert rank over the mean (default: 1)", "Question"},
    Option{"--memory-risk", "SHARE", "largest probability that a chosen strategy does not fit (default: 5%)",
           "Question"},
    Option{"--layers", "N", "only the first N layers of the model", "Question"},
    Option{"--layers-per-stage", "COUNTS", "layers of every pipeline stage: 9,10,10,9 (sets --pp)", "Question"},
    Option{"--strategy", "NAME", "a strategy of the catalog (fsdp, ulysses, diloco), for the fields you do not give",
           "Question"},
    Option{"--tokens", "N", "tokens of the whole run, for days and dollars: 2T", "Question"},
    Option{"--price", "DOLLARS/h", "price of one accelerator (default: median on-demand price)", "Question"},
    Option{"--precision", "NAME", "bf16, fp16, fp8, fp32, tf32, mxfp8 or nvfp4", "Question"},
    Option{"--framework", "NAME", "the training software (default: by the machine)", "Question"},
    Option{"--calibration", "FILE", "constants of your own (TOML)", "Data"},
    Option{"--catalog", "DIR", "records that replace or extend the built-in ones", "Data"},
    Option{"--require", "CONDITIONS", "exit 99 unless they hold: 'mfu>=0.4,step<=900ms'", "Output"},
};

std::vector<int> counts_of(Arguments const& arguments, std::string const& option) {
    auto const text = arguments.text(option);
    return text ? parse_counts(*text, option) : std::vector<int>{};
}

io::TrainingRequest request_of(Arguments const& arguments, std::optional<Cluster> const& machine) {
    io::TrainingRequest request{
        .model = arguments.required("MODEL", "name a model: llama-3-70b, a config.json or a .toml file"),
        .cluster = machine ? machine->name : arguments.required("--cluster", "name the machine: --cluster dgx-h100"),
        .machine = machine,
        .network = arguments.text("--network").value_or(""),
        .workers = counts_of(arguments, "--workers"),
        .nodes = counts_of(arguments, "--nodes"),
        .strategy = {},
        .strategy_record = arguments.text("--strategy").value_or(""),
        .framework = arguments.text("--framework").value_or(""),
        .global_batch = arguments.count("--global-batch"),
        .sequence_length = arguments.count("--sequence-length"),
        .documents = arguments.count("--documents"),
        .layers = arguments.count("--layers"),
        .layers_per_stage = arguments.text("--layers-per-stage").value_or(""),
        .fill = {},
        .expert_skew = {},
        .tokens = {},
        .memory_risk = {},
        .price = {}};
    if (auto const fixed = arguments.text("--fix")) { io::assign_fixed(request.strategy, *fixed, "--fix"); }
    assign_options(request.strategy, arguments);
    if (auto const fill = arguments.text("--fill")) {
        request.fill = io::parse_between(*fill, least_fill, 1.0, "share of the sequence", "--fill");
    }
    if (auto const risk = arguments.text("--memory-risk")) {
        request.memory_risk = io::parse_between(*risk, least_risk, largest_risk, "probability", "--memory-risk");
    }
    if (auto const skew = arguments.text("--expert-skew")) {
        request.expert_skew = io::parse_between(*skew, 1.0, largest_skew, "factor over the mean", "--expert-skew");
    }
    if (auto const tokens = arguments.text("--tokens")) { request.tokens = parse_count(*tokens, "--tokens"); }
    if (auto const price = arguments.text("--price")) { request.price = parse_price(*price, "--price"); }
    return request;
}

} // namespace

std::span<Option const> setting_options() { return options; }

std::span<Option const> strategy_options() {
    static std::vector<Option> const all = [] {
        std::vector<Option> found;
        for (io::StrategyField const& field : io::strategy_fields()) {
            bool const is_known = std::ranges::any_of(
                options, [&](Option const& option) { return std::string_view{option.name} == field.option; });
            if (!is_known) {
                found.push_back({.name = field.option,
                                 .placeholder = field.placeholder,
                                 .help = field.help,
                                 .group = strategy_group,
                                 .alias = field.alias});
            }
        }
        return found;
    }();
    return all;
}

std::string_view unit_of_work(Model const& model) { return model.works_on_samples() ? "samples" : "tokens"; }

std::string batch_words(Workload const& workload, Model const& model) {
    std::string const batch = std::to_string(workload.global_batch);
    if (model.works_on_samples()) { return batch + (workload.global_batch == 1 ? " sample" : " samples"); }
    return batch + (workload.global_batch == 1 ? " sequence of " : " sequences of ") +
           std::to_string(workload.sequence_length) + (workload.sequence_length == 1 ? " token" : " tokens");
}

io::Catalog open_catalog(Arguments const& arguments) { return io::open_catalog(arguments.text("--catalog")); }

CalibrationSet read_calibration(Arguments const& arguments, io::Catalog const& catalog) {
    return io::open_calibration(arguments.text("--calibration"), catalog);
}

void refuse_other_machine(CalibrationSet const& calibration, std::string_view option) {
    if (calibration.network.empty()) { return; }
    refuse(option, "needs a calibration without [network]",
           "the links of " + printable(calibration.name) + " were measured on one machine",
           "leave out the section, or --calibration");
}

Setting read_setting(Arguments const& arguments, std::optional<Cluster> const& machine) {
    io::TrainingRequest const request = request_of(arguments, machine);
    io::Catalog catalog = open_catalog(arguments);
    CalibrationSet calibration = read_calibration(arguments, catalog);
    return {io::training_setting(request, catalog, std::move(calibration)), std::move(catalog)};
}

Question make_question(Arguments const& arguments, Setting& setting) {
    LeftOutRequest const left_out = read_left_out(arguments, setting);
    Question question = io::training_question(setting, left_out.disturbance);
    left_out.apply(question);
    return question;
}

} // namespace headroom::cli
