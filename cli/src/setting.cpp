#include "setting.hpp"

#include "arguments.hpp"
#include "document/text.hpp"

#include "headroom/error.hpp"
#include "headroom/io/file.hpp"
#include "headroom/io/strategy.hpp"
#include "headroom/io/words.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace headroom::cli {
namespace {

constexpr int longest_default_sequence = 8192, usual_batch = 1024, usual_sequence = 2048, largest_batch = 1'000'000'000;
constexpr int usual_image_ranks = 64; ///< that a default batch of samples grows with: beyond, a curve keeps it
constexpr int longest_document = 1'000'000'000;
constexpr double least_fill = 0.01, largest_skew = 65'536.0;

constexpr std::array options{
    Option{"--cluster", "NAME|FILE", "a node of the catalog (dgx-h100), an accelerator, or a .toml file", "Question"},
    Option{"--workers", "COUNTS",
           "accelerators: 64; plan also takes 8,16,64, 8..1024 (doubling) and 8..64:8 (steps of 8)", "Question"},
    Option{"--nodes", "COUNTS", "the same in nodes", "Question"},
    Option{"--global-batch", "SEQUENCES", "sequences a step (default: 1024)", "Question"},
    Option{"--sequence-length", "N", "tokens a sequence (default: the model's, up to 8192)", "Question"},
    Option{"--documents", "TOKENS", "tokens of a packed document: attention stays in it", "Question"},
    Option{"--fill", "SHARE", "share of the sequence that is no padding, which is not computed nor counted: 85%",
           "Question"},
    Option{"--expert-skew", "FACTOR", "tokens on the fullest expert rank over the mean (default: 1)", "Question"},
    Option{"--layers", "N", "only the first N layers of the model", "Question"},
    Option{"--strategy", "NAME", "a strategy of the catalog (fsdp, ulysses, diloco): fields that you leave out",
           "Question"},
    Option{"--tokens", "N", "tokens of the whole run, for days and dollars: 2T", "Question"},
    Option{"--price", "DOLLARS/h", "of one accelerator (default: median on-demand price)", "Question"},
    Option{"--precision", "NAME", "bf16, fp16, fp8, fp32, tf32, mxfp8 or nvfp4", "Question"},
    Option{"--framework", "NAME", "the training software (default: by the machine)", "Question"},
    Option{"--calibration", "FILE", "constants of your own (TOML)", "Data"},
    Option{"--catalog", "DIR", "records that go before the built-in ones", "Data"},
    Option{"--require", "CONDITIONS", "exit 99 unless they hold: 'mfu>=0.4,step<=900ms'", "Output"},
};

/// A gap filled here: a default that nobody measured.
void assume_default(Setting& setting, std::string field, std::string value, std::string reason,
                    Provenance provenance = Provenance::guessed) {
    setting.assumptions.push_back({std::move(field), std::move(value), std::move(reason), false, provenance});
}

void read_price(Arguments const& arguments, Setting& setting) {
    if (auto const price = arguments.text("--price")) {
        setting.cluster.price = parse_price(*price, "--price");
        setting.cluster.price_origin = "given with --price";
        setting.cluster.price_kind = "given";
        return;
    }
    if (setting.cluster.price) {
        assume_default(setting, "price", format(*setting.cluster.price), setting.cluster.price_origin,
                       Provenance::cited);
    } else {
        assume_default(setting, "price", "unknown", "no price is known for " + setting.cluster.accelerator.name);
    }
}

/// The usual batch, raised to a multiple of `pieces`.
int multiple_of(int pieces) { return std::max(1, (usual_batch + pieces - 1) / pieces) * pieces; }

/// The batch that the stated degrees imply; else the usual one, raised to a multiple of what they share it by.
int default_batch(PartialStrategy const& given) {
    double const pieces =
        static_cast<double>(given.dp.value_or(1)) * given.micro_batch.value_or(1) * given.grad_accum.value_or(1);
    if (pieces > largest_batch) {
        throw InputError{Fault::usage,
                         {.where = "--global-batch",
                          .problem = "more than " + std::to_string(largest_batch) + " sequences a step",
                          .why = "dp x micro-batch x accumulation make " + scaled(pieces),
                          .hint = "give smaller ones"}};
    }
    if (given.dp && given.micro_batch && given.grad_accum) { return static_cast<int>(pieces); }
    return multiple_of(static_cast<int>(pieces));
}

/// The first layers of a model; of a pair of stacks, of each in proportion.
void cut_model(Arguments const& arguments, Model& model) {
    auto const layers = arguments.count("--layers");
    if (!layers || *layers == model.layers) { return; }
    if (!model.operators.empty()) { refuse("--layers", model.name + " is a list of operators", "it has no layers"); }
    if (*layers > model.layers) {
        refuse("--layers", std::to_string(*layers) + " is more than the model has",
               model.name + " has " + std::to_string(model.layers), "give at most that many");
    }
    if (model.encoder_layers > 0) {
        if (*layers < 2) { refuse("--layers", "1 is too few", "encoder and decoder have a layer each"); }
        model.encoder_layers = std::clamp(*layers * model.encoder_layers / model.layers, 1, *layers - 1);
    }
    model.layers = *layers;
    model.name += " cut to " + std::to_string(*layers) + (*layers == 1 ? " layer" : " layers");
}

/// The longest that the model allows, up to what is usual; the length of its usual data where it states no longest.
void assume_length(Setting& setting) {
    Model const& model = setting.model;
    int& length = setting.workload.sequence_length;
    int const positions = model.max_positions;
    std::string reason = "the model states no length";
    length = usual_sequence;
    if (!model.operators.empty()) {
        length = std::max(1, model.nominal_length);
        reason = "one sample, as the model's record has it";
    } else if (positions > 0) {
        length = std::min(positions, longest_default_sequence);
        reason = positions > longest_default_sequence
                     ? "the model allows " + std::to_string(positions) + "; 8192 is usual in pre-training"
                     : "the longest the model allows";
    } else if (model.nominal_length > 0) {
        length = model.nominal_length;
        reason = "of the model's usual data";
    }
    assume_default(setting, "sequence_length", std::to_string(length), reason);
}

void read_length(Arguments const& arguments, Setting& setting) {
    Model const& model = setting.model;
    auto const length = arguments.count("--sequence-length");
    if (!length) { return assume_length(setting); }
    if (!model.operators.empty() && *length != std::max(1, model.nominal_length)) {
        refuse("--sequence-length", std::to_string(*length) + " is not the size of a sample",
               model.name + " is a list of operators for samples of " +
                   std::to_string(std::max(1, model.nominal_length)),
               "leave it out");
    }
    setting.workload.sequence_length = *length;
    if (model.max_positions > 0 && *length > model.max_positions) {
        setting.notes.push_back("--sequence-length: " + std::to_string(*length) + " tokens are more than the " +
                                std::to_string(model.max_positions) + " positions of " + printable(model.name));
    }
}

/// Samples of a default batch: as many an accelerator as the model's record has, in 32 bits half of them.
int default_samples(Arguments const& arguments, Setting const& setting) {
    auto const& given = setting.given;
    bool const wide = given.precision == Precision::fp32 || given.precision == Precision::tf32;
    int const each = given.micro_batch ? *given.micro_batch * given.grad_accum.value_or(1)
                                       : std::max(1, setting.model.nominal_batch / (wide ? 2 : 1));
    auto const counts = read_workers(arguments, setting.cluster);
    int const ranks = counts.size() == 1 ? counts.front()
                      : counts.empty()   ? given.dp.value_or(usual_image_ranks)
                                         : std::min(counts.back(), usual_image_ranks);
    return static_cast<int>(std::min<std::int64_t>(std::int64_t{each} * ranks, largest_batch));
}

void read_batch(Arguments const& arguments, Setting& setting) {
    if (auto const batch = arguments.count("--global-batch")) {
        setting.workload.global_batch = *batch;
        return;
    }
    bool const samples = !setting.model.operators.empty() && setting.model.nominal_batch > 0;
    setting.workload.global_batch = samples ? default_samples(arguments, setting) : default_batch(setting.given);
    assume_default(setting, "global_batch", std::to_string(setting.workload.global_batch),
                   samples ? "default; samples a step, as many an accelerator as is usual for the model"
                           : "default; sequences a step");
}

/// How the data fills a sequence, and how tokens spread over experts.
void read_data(Arguments const& arguments, Setting& setting) {
    Workload& work = setting.workload;
    if (auto const documents = arguments.count("--documents")) {
        if (*documents > std::min(work.sequence_length, longest_document)) {
            refuse("--documents", std::to_string(*documents) + " tokens are longer than the sequence",
                   "it has " + std::to_string(work.sequence_length), "documents are packed into a sequence");
        }
        work.documents = *documents;
    }
    if (auto const fill = arguments.text("--fill")) {
        work.fill = io::parse_between(*fill, least_fill, 1.0, "share of the sequence", "--fill");
    }
    if (auto const skew = arguments.text("--expert-skew")) {
        work.expert_skew = io::parse_between(*skew, 1.0, largest_skew, "factor over the mean", "--expert-skew");
        int const experts = setting.model.moe.experts;
        if (work.expert_skew > std::max(1, experts)) {
            refuse("--expert-skew", headroom::quoted(*skew) + " is not possible",
                   experts > 0 ? "all tokens on one of " + std::to_string(experts) + " experts make that many"
                               : setting.model.name + " has no experts",
                   experts > 0 ? "" : "leave it out");
        }
    }
}

void read_workload(Arguments const& arguments, Setting& setting) {
    read_length(arguments, setting);
    read_batch(arguments, setting);
    read_data(arguments, setting);
    if (auto const tokens = arguments.text("--tokens")) { setting.tokens = parse_count(*tokens, "--tokens"); }
}

/// Fields of the strategy that --strategy names, where the user left them out.
void read_strategy_record(Arguments const& arguments, Setting& setting) {
    auto const name = arguments.text("--strategy");
    if (!name) { return; }
    setting.strategy_record = setting.catalog.text(io::RecordKind::strategy, *name).name;
    auto const record = setting.catalog.strategy(*name);
    for (auto const& [field, value] : record.given) {
        if (io::known_strategy_field(field, "--strategy").fill(setting.given, record.fields)) {
            assume_default(setting, field, value, "given by the strategy " + setting.strategy_record,
                           Provenance::given);
        }
    }
}

/// Stacks of image and recurrent models have kernels of their own.
std::string usual_framework(Setting const& setting) {
    Accelerator const& chip = setting.cluster.accelerator;
    if (setting.model.operators.empty()) { return default_framework(chip, setting.given.zero, std::nullopt); }
    if (name_of(chip.generation).starts_with("tpu")) { return "tensorflow2-official"; }
    bool const recurrent = std::ranges::any_of(setting.model.operators,
                                               [](Operator const& one) { return one.kind == OperatorKind::recurrent; });
    if (recurrent) { return "pytorch-apex"; }
    bool const early = chip.generation == Generation::volta || chip.generation == Generation::turing;
    return early ? "mxnet-horovod" : "mxnet-mlperf";
}

/// bf16 and tf32 have stand-ins in the model; nobody who asks for them by name should get those in silence.
void check_precision(PartialStrategy const& given, Accelerator const& chip) {
    if (!given.precision) { return; }
    PeakRates const& peak = chip.peak;
    std::array const formats{
        std::pair{Precision::fp32, peak.fp32}, std::pair{Precision::tf32, peak.tf32},
        std::pair{Precision::fp16, peak.fp16}, std::pair{Precision::bf16, peak.bf16},
        std::pair{Precision::fp8, peak.fp8},   std::pair{Precision::nvfp4, peak.fp4},
    };
    Precision const wanted = *given.precision == Precision::mxfp8 ? Precision::fp8 : *given.precision;
    if (wanted == Precision::fp32 || wanted == Precision::fp16) { return; }
    std::vector<std::string> known;
    for (auto const& [format, rate] : formats) {
        if (rate.base() <= 0.0) { continue; }
        if (format == wanted) { return; }
        known.emplace_back(name_of(format));
    }
    throw InputError{Fault::usage,
                     {.where = "--precision",
                      .problem = chip.name + " has no " + std::string{name_of(*given.precision)} + " arithmetic",
                      .why = "rates are known for " + join(known, ", "),
                      .hint = "choose one of these"}};
}

} // namespace

std::span<Option const> setting_options() { return options; }

std::span<Option const> strategy_options() {
    static std::vector<Option> const all = [] {
        std::vector<Option> found;
        for (io::StrategyField const& field : io::strategy_fields()) {
            bool const is_known = std::ranges::any_of(
                options, [&](Option const& option) { return std::string_view{option.name} == field.option; });
            if (!is_known) { found.push_back({field.option, field.placeholder, field.help, strategy_group}); }
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

io::Catalog open_catalog(Arguments const& arguments) {
    namespace fs = std::filesystem;
    std::vector<fs::path> overlays;
    if (auto const folder = arguments.text("--catalog")) {
        if (std::error_code error; !fs::is_directory(*folder, error)) {
            throw InputError{Fault::unreadable,
                             {.where = "--catalog", .problem = "no folder " + headroom::quoted(*folder)}};
        }
        overlays.emplace_back(*folder);
    }
    std::vector<fs::path> standard{fs::path{"headroom"} / "catalog"};
    if (char const* xdg = std::getenv("XDG_CONFIG_HOME"); xdg != nullptr && *xdg != '\0') {
        standard.push_back(fs::path{xdg} / "headroom" / "catalog");
    } else if (char const* home = std::getenv("HOME"); home != nullptr && *home != '\0') {
        standard.push_back(fs::path{home} / ".config" / "headroom" / "catalog");
    }
    for (fs::path const& folder : standard) {
        if (std::error_code error; fs::is_directory(folder, error)) { overlays.push_back(folder); }
    }
    return io::Catalog{overlays};
}

CalibrationSet read_calibration(Arguments const& arguments, io::Catalog const& catalog) {
    auto const file = arguments.text("--calibration");
    if (!file) {
        CalibrationSet set = catalog.calibration("training");
        if (set.name.empty()) { set.name = "training"; }
        return set;
    }
    CalibrationSet set = io::read_calibration(io::read_file(*file), *file, catalog.calibration("training"));
    if (set.name.empty()) { set.name = *file; }
    return set;
}

void refuse_other_machine(CalibrationSet const& calibration, std::string_view option) {
    if (calibration.network.empty()) { return; }
    refuse(option, "needs a calibration without [network]",
           "the links of " + printable(calibration.name) + " were measured on one machine",
           "leave out the section, or --calibration");
}

/// Measured links in the place of the catalog's, each said among the assumptions.
static void use_measured_network(Setting& setting) {
    MeasuredNetwork const& network = setting.calibration.network;
    if (network.empty()) { return; }
    use_measured_links(network, setting.cluster, setting.calibration);
    std::string const reason = std::string{name_of(Provenance::measured)} + ", by " +
                               printable(setting.calibration.name) +
                               (network.system.empty() ? "" : ", on " + printable(network.system));
    Fabric const fabric = calibrated_fabric(setting.cluster, setting.calibration.values());
    auto const say = [&](char const* level, bool measured, Link const& now) {
        if (measured) {
            assume_default(setting, std::string{"network."} + level, format(now.bandwidth) + ", " + format(now.latency),
                           reason, Provenance::measured);
        }
    };
    say("scale_up", network.scale_up && setting.cluster.domain > 1, fabric.scale_up);
    say("scale_out", network.scale_out.has_value(), fabric.scale_out);
}

Setting read_setting(Arguments const& arguments, std::optional<Cluster> const& machine) {
    std::string const model = arguments.required("MODEL", "name a model: llama-3-70b, a config.json or a .toml file");
    std::string const cluster =
        machine ? machine->name : arguments.required("--cluster", "name the machine: --cluster dgx-h100");
    Setting setting{.catalog = open_catalog(arguments),
                    .model = {},
                    .cluster = {},
                    .framework = {},
                    .calibration = {},
                    .workload = {},
                    .given = {},
                    .strategy_record = {},
                    .assumptions = {},
                    .notes = {},
                    .tokens = {}};
    if (auto const fixed = arguments.text("--fix")) { assign_fixed(setting.given, *fixed, "--fix"); }
    assign_options(setting.given, arguments);
    read_strategy_record(arguments, setting);
    setting.model = io::load_model(setting.catalog, model, &setting.notes);
    for (std::string const& note : setting.notes) {
        if (note.find("vision tower") == std::string::npos) { continue; }
        assume_default(setting, "vision_tower", "not counted", "the language model alone is read");
    }
    cut_model(arguments, setting.model);
    setting.cluster = machine ? *machine : io::load_cluster(setting.catalog, cluster);
    check_precision(setting.given, setting.cluster.accelerator);
    std::string const framework = arguments.text("--framework").value_or(usual_framework(setting));
    setting.framework = setting.catalog.framework(framework);
    if (!arguments.has("--framework")) {
        assume_default(setting, "framework", framework, "default; name yours with --framework");
    }
    setting.calibration = read_calibration(arguments, setting.catalog);
    use_measured_network(setting);
    read_workload(arguments, setting);
    read_price(arguments, setting);
    return setting;
}

bool fit_assumed_batch(Arguments const& arguments, Setting& setting, Strategy const& strategy) {
    int& batch = setting.workload.global_batch;
    bool const stated = setting.given.micro_batch && setting.given.grad_accum; // then they make the batch, whole
    double const pieces =
        static_cast<double>(strategy.dp) * strategy.micro_batch * (stated ? setting.given.grad_accum.value_or(1) : 1);
    if (arguments.has("--global-batch") || pieces < 1 || pieces > largest_batch) { return false; }
    int const share = static_cast<int>(pieces);
    if (stated ? batch == share : batch % share == 0) { return false; }
    batch = stated ? share : multiple_of(share);
    for (Assumption& one : setting.assumptions) {
        if (one.field != "global_batch") { continue; }
        one.value = std::to_string(batch);
        one.reason = stated ? "dp x micro-batch x accumulation steps"
                            : "default; sequences a step, a multiple of dp x micro-batch";
    }
    return true;
}

std::vector<int> read_workers(Arguments const& arguments, Cluster const& cluster) {
    auto const workers = arguments.text("--workers"), nodes = arguments.text("--nodes");
    if (workers && nodes) {
        throw InputError{Fault::usage,
                         {.where = "--nodes",
                          .problem = "given beside --workers",
                          .why = "one says the other",
                          .hint = "keep one of the two"}};
    }
    if (workers) { return parse_counts(*workers, "--workers"); }
    if (!nodes) { return {}; }
    std::vector<int> counts = parse_counts(*nodes, "--nodes");
    for (int& count : counts) {
        if (count > 10'000'000) {
            throw InputError{Fault::usage,
                             {.where = "--nodes",
                              .problem = headroom::quoted(*nodes) + " is too large",
                              .why = "accelerators are counted up to 2147483647",
                              .hint = ""}};
        }
        count *= cluster.accelerators_per_node;
    }
    return counts;
}

void add_assumptions(std::vector<Assumption>& all, std::vector<Assumption> const& more) {
    for (Assumption const& one : more) {
        bool const known =
            std::any_of(all.begin(), all.end(), [&](Assumption const& other) { return other.field == one.field; });
        if (!known) { all.push_back(one); }
    }
}

} // namespace headroom::cli
