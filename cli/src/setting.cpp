#include "setting.hpp"

#include "text.hpp"

#include "headroom/error.hpp"
#include "headroom/io/file.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>

namespace headroom::cli {
namespace {

constexpr int longest_default_sequence = 8192, usual_batch = 1024, usual_sequence = 2048, largest_batch = 1'000'000'000;

constexpr std::array options{
    Option{"--cluster", "NAME|FILE", "a node of the catalog (dgx-h100), an accelerator, or a .toml file", "Question"},
    Option{"--workers", "COUNTS",
           "accelerators: 64; plan also takes 8,16,64, 8..1024 (doubling) and 8..64:8 (steps of 8)", "Question"},
    Option{"--nodes", "COUNTS", "the same in nodes", "Question"},
    Option{"--global-batch", "SEQUENCES", "sequences a step (default: 1024)", "Question"},
    Option{"--sequence-length", "N", "tokens a sequence (default: the model's, up to 8192)", "Question"},
    Option{"--tokens", "N", "tokens of the whole run, for days and dollars: 2T", "Question"},
    Option{"--price", "DOLLARS/h", "of one accelerator (default: median on-demand price)", "Question"},
    Option{"--precision", "NAME", "bf16, fp16, fp8, fp32, tf32, mxfp8 or nvfp4", "Question"},
    Option{"--framework", "NAME", "the training software (default: by the machine)", "Question"},
    Option{"--calibration", "FILE", "constants of your own (TOML)", "Data"},
    Option{"--catalog", "DIR", "records that go before the built-in ones", "Data"},
    Option{"--require", "CONDITIONS", "exit 99 unless they hold: 'mfu>=0.4,step<=900ms'", "Output"},
};

/// A gap filled here: a default that nobody measured.
void assume_default(Setting& setting, std::string field, std::string value, std::string reason) {
    setting.assumptions.push_back({std::move(field), std::move(value), std::move(reason), false});
}

void read_price(Arguments const& arguments, Setting& setting) {
    if (auto const price = arguments.text("--price")) {
        setting.cluster.price = parse_price(*price, "--price");
        setting.cluster.price_origin = "given with --price";
        setting.cluster.price_kind = "given";
        return;
    }
    if (setting.cluster.price) {
        assume_default(setting, "price", format(*setting.cluster.price), setting.cluster.price_origin);
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

void read_workload(Arguments const& arguments, Setting& setting) {
    int const positions = setting.model.max_positions;
    if (auto const length = arguments.count("--sequence-length")) {
        setting.workload.sequence_length = *length;
    } else {
        setting.workload.sequence_length =
            positions > 0 ? std::min(positions, longest_default_sequence) : usual_sequence;
        assume_default(setting, "sequence_length", std::to_string(setting.workload.sequence_length),
                       positions > longest_default_sequence
                           ? "the model allows " + std::to_string(positions) + "; 8192 is usual in pre-training"
                       : positions > 0 ? "the longest the model allows"
                                       : "the model states no length");
    }
    if (auto const batch = arguments.count("--global-batch")) {
        setting.workload.global_batch = *batch;
    } else {
        setting.workload.global_batch = default_batch(setting.given);
        assume_default(setting, "global_batch", std::to_string(setting.workload.global_batch),
                       "default; sequences a step");
    }
    if (auto const tokens = arguments.text("--tokens")) { setting.tokens = parse_count(*tokens, "--tokens"); }
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

std::string_view provenance_of(Assumption const& assumption) {
    bool const priced = assumption.field.starts_with("price") && assumption.value != "unknown";
    return name_of(priced || assumption.field == "mtbf" ? Provenance::cited : Provenance::guessed);
}

} // namespace

std::span<Option const> setting_options() { return options; }

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
    CalibrationSet set = io::read_calibration(io::read_file(*file), *file);
    if (set.name.empty()) { set.name = *file; }
    return set;
}

Setting read_setting(Arguments const& arguments) {
    std::string const model = arguments.required("MODEL", "name a model: llama-3-70b, a config.json or a .toml file");
    std::string const cluster = arguments.required("--cluster", "name the machine: --cluster dgx-h100");
    Setting setting{.catalog = open_catalog(arguments),
                    .model = {},
                    .cluster = {},
                    .framework = {},
                    .calibration = {},
                    .workload = {},
                    .given = {},
                    .assumptions = {},
                    .notes = {},
                    .tokens = {}};
    if (auto const fixed = arguments.text("--fix")) { assign_fixed(setting.given, *fixed, "--fix"); }
    assign_options(setting.given, arguments);
    setting.model = io::load_model(setting.catalog, model, &setting.notes);
    setting.cluster = io::load_cluster(setting.catalog, cluster);
    check_precision(setting.given, setting.cluster.accelerator);
    std::string const framework =
        arguments.text("--framework")
            .value_or(default_framework(setting.cluster.accelerator, setting.given.zero, std::nullopt));
    setting.framework = setting.catalog.framework(framework);
    if (!arguments.has("--framework")) {
        assume_default(setting, "framework", framework, "default; name yours with --framework");
    }
    setting.calibration = read_calibration(arguments, setting.catalog);
    read_workload(arguments, setting);
    read_price(arguments, setting);
    return setting;
}

bool fit_assumed_batch(Arguments const& arguments, Setting& setting, int pieces) {
    int& batch = setting.workload.global_batch;
    if (arguments.has("--global-batch") || pieces < 1 || pieces > largest_batch || batch % pieces == 0) {
        return false;
    }
    batch = multiple_of(pieces);
    for (Assumption& one : setting.assumptions) {
        if (one.field != "global_batch") { continue; }
        one.value = std::to_string(batch);
        one.reason = "default; sequences a step, a multiple of dp x micro-batch";
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
            throw InputError{Fault::usage, {.where = "--nodes", .problem = headroom::quoted(*nodes) + " is too large"}};
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

Json strategy_json(Strategy const& s, Workload const& workload) {
    int const share = std::max(1, s.dp * s.micro_batch);
    return Json::object()
        .set("dp", s.dp)
        .set("tp", s.tp)
        .set("pp", s.pp)
        .set("virtual_pp", s.virtual_pp)
        .set("cp", s.cp)
        .set("ep", s.ep)
        .set("zero", s.zero)
        .set("shard", s.shard)
        .set("micro_batch", s.micro_batch)
        .set("micro_batches", workload.global_batch / share)
        .set("sequence_parallel", s.sequence_parallel)
        .set("recompute", name_of(s.recompute))
        .set("precision", name_of(s.precision))
        .set("overlap", s.overlap == Overlap::on)
        .set("schedule", s.virtual_pp > 1 ? "interleaved" : "1f1b")
        .set("name", short_name(s));
}

Json assumptions_json(std::vector<Assumption> const& assumptions) {
    Json list = Json::array();
    for (Assumption const& one : assumptions) {
        list.push(Json::object()
                      .set("field", one.field)
                      .set("value", one.value)
                      .set("reason", one.reason)
                      .set("provenance", provenance_of(one)));
    }
    return list;
}

Json constants_json(CalibrationSet const& calibration) {
    Json list = Json::array();
    for (ConstantInfo const& info : constants()) {
        CalibratedConstant const& constant = calibration.constant[static_cast<std::size_t>(info.id)];
        list.push(Json::object()
                      .set("key", info.key)
                      .set("meaning", info.meaning)
                      .set("unit", info.unit)
                      .set("value", constant.value)
                      .set("low", constant.low)
                      .set("high", constant.high)
                      .set("provenance", name_of(constant.provenance))
                      .set("source", constant.source));
    }
    return list;
}

Json model_json(Model const& model) {
    ParameterCount const parameters = count_parameters(model);
    return Json::object()
        .set("name", model.name)
        .set("parameters", parameters.total)
        .set("active_parameters", parameters.active)
        .set("layers", model.layers)
        .set("hidden", model.hidden);
}

Json cluster_json(Cluster const& cluster) {
    return Json::object()
        .set("name", cluster.name)
        .set("accelerator", cluster.accelerator.name)
        .set("accelerators_per_node", cluster.accelerators_per_node)
        .set("price_dollars_per_hour", cluster.price ? Json{cluster.price->in(units::dollar / units::hour)} : Json{})
        .set("price_origin", cluster.price_origin);
}

Table assumptions_table(std::vector<Assumption> const& assumptions) {
    Table table{.title = "Assumed",
                .columns = {{"what", Align::left}, {"value", Align::left, true}, {"why", Align::left, true}},
                .rows = {}};
    for (Assumption const& one : assumptions) { table.rows.push_back({one.field, one.value, one.reason}); }
    return table;
}

std::string provenance_summary(CalibrationSet const& calibration) {
    std::map<Provenance, int> counts;
    std::vector<std::string> guesses;
    for (ConstantInfo const& info : constants()) {
        Provenance const provenance = calibration.constant[static_cast<std::size_t>(info.id)].provenance;
        ++counts[provenance];
        if (provenance == Provenance::guessed) { guesses.emplace_back(info.key); }
    }
    std::vector<std::string> parts;
    parts.reserve(counts.size());
    for (auto const& [provenance, count] : counts) {
        parts.push_back(std::to_string(count) + " " + std::string{name_of(provenance)});
    }
    std::string text = join(parts, ", ");
    if (guesses.empty()) { return text; }
    std::size_t const shown = std::min<std::size_t>(guesses.size(), 4);
    text += "; guessed: " + join({guesses.begin(), guesses.begin() + static_cast<std::ptrdiff_t>(shown)}, ", ");
    return text + (shown < guesses.size()
                       ? " and " + std::to_string(guesses.size() - shown) + " more (all with values in --format json)"
                       : "");
}

} // namespace headroom::cli
