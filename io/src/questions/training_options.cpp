#include "headroom/io/training_options.hpp"

#include "headroom/error.hpp"
#include "headroom/io/strategy.hpp"
#include "headroom/io/words.hpp"
#include "headroom/text.hpp"

#include <algorithm>
#include <array>

namespace headroom::io {

using namespace headroom::training;

namespace {

constexpr double least_fill = 0.01, largest_skew = 65'536.0;
constexpr double least_risk = 0.001, largest_risk = 0.5; ///< half: what is predicted to fit

constexpr std::array options{
    Option{"--cluster", "NAME|FILE",
           "a node of the catalog (dgx-h100), an accelerator, a number of them (8xH100, 4xdgx-h100), or a .toml file",
           "Question"},
    Option{"--network", "TEXT", "network between the nodes, instead of the catalog's: '4x 100Gb RoCE', '8x NDR400'",
           "Question"},
    Option{"--host-memory", "SIZE",
           "memory of each machine's host, for what is offloaded: 512GiB (default: the record's)", "Question"},
    Option{"--power-limit", "WATTS", "power that each accelerator may draw: 500W (default: the board's)", "Question"},
    Option{"--workers", "COUNTS",
           "accelerators: 64; plan also takes 8,16,64, 8..1024 (doubling) and 8..64:8 (steps of 8)", "Question"},
    Option{"--nodes", "COUNTS", "number of nodes, instead of accelerators", "Question"},
    Option{"--layers-per-chunk", "N", "layers of a model chunk, instead of --virtual-pp", strategy_group},
    Option{"--accelerators-per-node", "N", "accelerators used of each node (default: all)", "Question"},
    Option{"--global-batch", "SEQUENCES", "sequences a step (default: 1024, of LoRA 16), or tokens: '4M tokens'",
           "Question"},
    Option{"--sequence-length", "N", "tokens a sequence (default: the model's, up to 8192); 8k is 8192", "Question"},
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
    Option{"--tokens", "N", "tokens of the whole run, for days and dollars: 2T, '2 trillion'", "Question"},
    Option{"--steps", "N", "optimizer steps of the whole run, instead of --tokens", "Question"},
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

/// A length with the reading of its scale: "8k" is 8192 tokens.
std::optional<int> length_of(Arguments const& arguments, std::string const& option, TrainingRequest& request) {
    auto const text = arguments.text(option);
    if (!text) { return std::nullopt; }
    int const length = parse_length(*text, option);
    if (text->find_first_of("kKM") != std::string::npos) {
        request.notes.push_back(option + ": " + *text + " is read as " + std::to_string(length) + " tokens");
    }
    return length;
}

/// A batch in sequences, "512", or in tokens, "4M tokens" and "4M": nobody trains on a million sequences a step.
void read_batch(Arguments const& arguments, TrainingRequest& request) {
    constexpr char const* option = "--global-batch";
    auto const text = arguments.text(option);
    if (!text) { return; }
    std::string const count = spelled_short(*text);
    bool const in_sequences = text->find("seq") != std::string::npos;
    if (text->find("tok") != std::string::npos || (count.ends_with('M') && !in_sequences)) {
        request.batch_tokens = parse_count(count, option);
        request.batch_rounded = text->find_first_of("Mm") != std::string::npos;
    } else {
        request.global_batch = parse_whole(count, option);
    }
}

/// The fields of a strategy that were given as options: --dp, --tp and so on.
void assign_options(training::PartialStrategy& strategy, Arguments const& arguments) {
    for (StrategyField const& field : strategy_fields()) {
        if (auto const given = arguments.text(field.option)) { field.assign(strategy, *given, field.option); }
    }
}

/// Fields of --fix and of options of their own; a field is given once.
void read_strategy_fields(Arguments const& arguments, TrainingRequest& request) {
    if (auto const fixed = arguments.text("--fix")) {
        for (auto const& [name, value] : parse_pairs(*fixed, "--fix")) {
            StrategyField const& field = known_strategy_field(name, "--fix");
            if (arguments.has(field.option)) {
                refuse(field.option, "given with --fix " + name + "=" + value, "one of the two would be ignored",
                       "keep one");
            }
        }
        assign_fixed(request.strategy, *fixed, "--fix");
    }
    assign_options(request.strategy, arguments);
}

TrainingRequest request_of(Arguments const& arguments, std::optional<Cluster> const& machine) {
    require_question(arguments, machine.has_value(), false);
    TrainingRequest request{.model = *arguments.text("MODEL"),
                            .cluster = machine ? machine->name : *arguments.text("--cluster"),
                            .machine = machine,
                            .network = arguments.text("--network").value_or(""),
                            .workers = counts_of(arguments, "--workers"),
                            .nodes = counts_of(arguments, "--nodes"),
                            .strategy_record = arguments.text("--strategy").value_or(""),
                            .framework = arguments.text("--framework").value_or(""),
                            .documents = arguments.count("--documents"),
                            .layers = arguments.count("--layers"),
                            .layers_per_stage = arguments.text("--layers-per-stage").value_or("")};
    request.notes = arguments.notes();
    request.sequence_length = length_of(arguments, "--sequence-length", request);
    request.accelerators_per_node = arguments.count("--accelerators-per-node");
    request.layers_per_chunk = arguments.count("--layers-per-chunk");
    read_batch(arguments, request);
    read_strategy_fields(arguments, request);
    if (auto const fill = arguments.text("--fill")) {
        request.fill = parse_between(*fill, least_fill, 1.0, "share of the sequence", "--fill");
    }
    if (auto const risk = arguments.text("--memory-risk")) {
        request.memory_risk = parse_between(*risk, least_risk, largest_risk, "probability", "--memory-risk");
    }
    if (auto const skew = arguments.text("--expert-skew")) {
        request.expert_skew = parse_between(*skew, 1.0, largest_skew, "factor over the mean", "--expert-skew");
    }
    if (auto const tokens = arguments.text("--tokens")) { request.tokens = parse_spelled_count(*tokens, "--tokens"); }
    if (auto const steps = arguments.text("--steps")) {
        if (request.tokens) { refuse("--steps", "given with --tokens", "one follows from the other", "keep one"); }
        request.steps = parse_spelled_count(*steps, "--steps");
    }
    if (auto const limit = arguments.text("--power-limit")) {
        request.power_limit = parse<Watts>(*limit, "--power-limit");
    }
    if (auto const memory = arguments.text("--host-memory")) {
        request.host_memory = parse<Bytes>(*memory, "--host-memory");
        if (request.host_memory->base() <= 0.0) {
            refuse("--host-memory", *memory + " is no memory", "", "write it like 2TiB");
        }
    }
    if (auto const price = arguments.text("--price")) { request.price = parse_price(*price, "--price"); }
    return request;
}

} // namespace

std::span<Option const> setting_options() { return options; }

std::span<Option const> strategy_options() {
    static std::vector<Option> const all = [] {
        std::vector<Option> found;
        for (StrategyField const& field : strategy_fields()) {
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

void require_question(Arguments const& arguments, bool machine_is_known, bool one_size,
                      std::vector<std::string> const& more) {
    auto const lacks = [&arguments](char const* name) { return arguments.text(name).value_or("").empty(); };
    auto const any = [&lacks](std::initializer_list<char const*> names) {
        return std::ranges::any_of(names, [&](char const* name) { return !lacks(name); });
    };
    std::string const cluster = arguments.text("--cluster").value_or("");
    bool const counted = cluster.find_first_of("x:*") != std::string::npos; // "8xH100": whoever reads it says more
    bool const sized = any({"--workers", "--nodes", "--accelerators-per-node"}) ||
                       (!lacks("--dp") && !lacks("--tp") && !lacks("--pp")) || counted;
    std::vector<std::string> missing;
    if (lacks("MODEL")) { missing.emplace_back("MODEL (llama-3-70b, a config.json)"); }
    if (!machine_is_known && cluster.empty()) { missing.emplace_back("--cluster (dgx-h100, 8xH100)"); }
    if (one_size && !sized && !missing.empty()) { missing.emplace_back("--workers (64)"); }
    if (missing.empty()) { return; }
    missing.insert(missing.end(), more.begin(), more.end());
    std::string list = missing.front();
    for (std::size_t i = 1; i < missing.size(); ++i) {
        list += (i + 1 == missing.size() ? " and " : ", ") + missing[i];
    }
    refuse("command line", list + (missing.size() == 1 ? " is missing" : " are missing"));
}

Catalog open_catalog(Arguments const& arguments) { return open_catalog(arguments.text("--catalog")); }

CalibrationSet read_calibration(Arguments const& arguments, Catalog const& catalog) {
    return open_calibration(arguments.text("--calibration"), catalog);
}

void refuse_other_machine(CalibrationSet const& calibration, std::string_view option) {
    if (calibration.network.empty()) { return; }
    refuse(option, "needs a calibration without [network]",
           "the links of " + text::printable(calibration.name) + " were measured on one machine",
           "leave out the section, or --calibration");
}

Setting read_setting(Arguments const& arguments, std::optional<Cluster> const& machine) {
    TrainingRequest const request = request_of(arguments, machine);
    Catalog catalog = open_catalog(arguments);
    CalibrationSet calibration = read_calibration(arguments, catalog);
    return {training_setting(request, catalog, std::move(calibration)), std::move(catalog)};
}

Question make_question(Arguments const& arguments, Setting& setting) {
    LeftOutRequest const left_out = read_left_out(arguments, setting);
    Question question = training_question(setting, left_out.disturbance);
    left_out.apply(question);
    return question;
}

} // namespace headroom::io
