#include "headroom/io/catalog_answer.hpp"

#include "headroom/error.hpp"
#include "headroom/io/support.hpp"

#include <fmt/format.h>

namespace headroom::io {

using namespace headroom::training;

namespace {

/// The 16-bit rate, of the format that the chip has.
std::string fastest_words(PeakRates const& peak) {
    if (peak.bf16.base() > 0.0) { return "bf16 " + format(peak.bf16); }
    if (peak.fp16.base() > 0.0) { return "no bf16, fp16 " + format(peak.fp16); }
    return "fp32 " + format(peak.fp32);
}

std::string facts_of(Accelerator const& chip) {
    return chip.vendor + ", " + std::to_string(chip.year) + ", " + format_binary(chip.memory) + ", " +
           format(chip.memory_bandwidth) + ", " + fastest_words(chip.peak);
}

std::string facts_of(Cluster const& cluster) {
    std::string text = std::to_string(cluster.accelerators_per_node) + " x " + cluster.accelerator.name +
                       ", scale-up " + format(cluster.scale_up.bandwidth) + " over " + std::to_string(cluster.domain) +
                       ", scale-out " + format(cluster.scale_out.bandwidth);
    if (cluster.price) { text += ", " + format(*cluster.price) + " an accelerator"; }
    return text;
}

std::string facts_of(Model const& model) {
    ParameterCount const count = count_parameters(model);
    std::string text = format_count(count.total) + " parameters, ";
    if (!model.operators.empty()) { return text + std::to_string(model.operators.size()) + " kinds of operators"; }
    text += std::to_string(model.layers) + " layers, hidden " + std::to_string(model.hidden);
    if (count.active < count.total * 0.999) { text += ", " + format_count(count.active) + " active"; }
    return text;
}

std::string facts_of(StrategyRecord const& record) {
    std::vector<std::string> fields;
    for (auto const& [name, value] : record.given) {
        fields.push_back(name);
        fields.back().append(" ").append(value);
    }
    return record.title + ": " + fmt::format("{}", fmt::join(fields, ", "));
}

/// The folder of calibrations also keeps what was fitted without each source.
std::string calibration_facts(Catalog const& catalog, RecordText const& record) {
    if (record.name == "folds") {
        return "constants fitted without one of " +
               std::to_string(read_folds(record.content, record.origin).without.size()) + " sources each";
    }
    if (record.name == "memory") {
        MemorySpread const spread = read_memory_spread(record.content, record.origin);
        return "spread of measured memory, from " + std::to_string(spread.seen.rows) + " runs of seen frameworks and " +
               std::to_string(spread.unseen.rows) + " others";
    }
    if (record.name == "evidence") {
        int runs = 0;
        for (RunGroup const& group : read_run_groups(record.content, record.origin)) { runs += group.runs; }
        return std::to_string(runs) + " measured runs, counted by accelerator generation, framework and mode";
    }
    if (record.name == "serving") {
        auto const set = read_serving_calibration(record.content, record.origin);
        return "factors of serving and overheads of " + std::to_string(set.engines.size()) + " engines, from " +
               std::to_string(set.named.pace.families) + " families of published runs";
    }
    CalibrationSet const set = catalog.calibration(record.name);

    Band const band = band_of(set.bands, Extrapolation::seen);
    std::string const words = fmt::format("{:#.3g} to {:#.3g} of the prediction", band.low, band.high);
    if (!set.seen) { return "not fitted to any run: independent values; assumed 90 % band " + words; }
    return "90 % band " + words + " on hardware and frameworks with published runs, from " + std::to_string(band.rows) +
           " runs";
}

/// The text of the first line `key = "text"` of a record; empty without one.
std::string text_of(std::string_view record, std::string const& key) {
    std::string const wanted = "\n" + key + " = \"";
    auto const at = record.find(wanted);
    if (at == std::string_view::npos) { return {}; }
    std::string_view const rest = record.substr(at + wanted.size());
    return std::string{rest.substr(0, rest.find('"'))};
}

/// A key of a record, and the words after its value.
using KeyWords = std::array<std::pair<char const*, char const*>, 3>;
// Links and hosts have no reader of their own: what nodes use of them.
constexpr KeyWords link_words{{{"kind", ""}, {"bandwidth", " one way"}, {"latency", " a hop"}}};
constexpr KeyWords host_words{{{"vendor", ""}, {"capacity", " of memory"}, {"bandwidth", ""}}};

std::string facts_at(std::string_view record, KeyWords const& keys) {
    std::vector<std::string> facts;
    for (auto const& [key, words] : keys) {
        std::string const value = text_of(record, key);
        if (!value.empty()) { facts.push_back(value + words); }
    }
    return fmt::format("{}", fmt::join(facts, ", "));
}

/// One line about a record; where it comes from when nothing else is known.
std::string facts(Catalog const& catalog, RecordText const& record) {
    try {
        switch (record.kind) {
        case RecordKind::accelerator: return facts_of(catalog.accelerator(record.name));
        case RecordKind::node: return facts_of(catalog.cluster(record.name));
        case RecordKind::model: return facts_of(catalog.model(record.name));
        case RecordKind::framework: return catalog.framework(record.name).title;
        case RecordKind::optimizer: return catalog.optimizer(record.name).title;
        case RecordKind::engine: return catalog.engine(record.name).title;
        case RecordKind::strategy: return facts_of(catalog.strategy(record.name));
        case RecordKind::calibration: return calibration_facts(catalog, record);
        case RecordKind::price:
            if (auto const price = catalog.price(record.name)) {
                return format(price->median) + ", median of " + std::to_string(price->offers) +
                       (price->offers == 1 ? " on-demand offer" : " on-demand offers") +
                       (price->newest.empty() ? "" : ", up to " + price->newest);
            }
            break;
        case RecordKind::library:
            static_cast<void>(read_nccl_tuning(record.content, record.origin)); // refuses a broken one
            return "constants by which it chooses an algorithm and a protocol";
        case RecordKind::link:
            if (std::string text = facts_at(record.content, link_words); !text.empty()) { return text; }
            break;
        case RecordKind::host:
            if (std::string text = facts_at(record.content, host_words); !text.empty()) { return text; }
            break;
        }
    } catch (InputError const& error) { return error.what(); }
    return record.origin;
}

std::string scan_words(ScanKind kind) {
    switch (kind) {
    case ScanKind::mamba2: return "Mamba-2 state space";
    case ScanKind::mamba1: return "Mamba state space";
    case ScanKind::gated_delta: return "gated delta rule";
    case ScanKind::kimi_delta: return "Kimi delta attention";
    case ScanKind::lightning: return "lightning attention";
    case ScanKind::convolution: return "short convolution";
    }
    return {};
}

std::string mixer_words(Model const& model, BlockKind const& kind) {
    if (kind.mixer == Mixer::none) { return "none"; }
    if (kind.mixer == Mixer::state_space) { return scan_words(model.state_space.kind); }
    auto const shape = attention_shape(model, kind);
    std::string words = kind.mixer == Mixer::latent_attention
                            ? fmt::format("latent attention, {} heads", shape.heads)
                            : fmt::format("attention, {} heads of {}, {} of keys", shape.heads, shape.head_dim,
                                          kind.borrows_keys ? "borrowed ones" : fmt::format("{}", shape.kv_heads));
    if (kind.window > 0) { words += fmt::format(", window {}", kind.window); }
    if (model.indexer.heads > 0) { words += fmt::format(", best {} keys", model.indexer.top_k); }
    if (kind.cross) { words += ", cross attention"; }
    if (kind.mixer == Mixer::attention_and_scan) { words += " + " + scan_words(model.state_space.kind); }
    return words;
}

std::string channel_words(Model const& model, BlockKind const& kind) {
    if (kind.channel == Channel::none) { return "none"; }
    if (kind.channel == Channel::dense) { return fmt::format("dense {}", ffn_of(model, kind)); }
    auto const& moe = model.moe;
    std::string words =
        fmt::format("{} of {} experts of {}", moe.top_k, moe.experts, moe.ffn > 0 ? moe.ffn : model.ffn);
    if (moe.shared_experts > 0) { words += fmt::format(", {} shared", moe.shared_experts); }
    return words;
}

/// Stretches of blocks of one kind, from 1; of many the first few.
std::string positions_words(std::vector<BlockKind> const& kinds, BlockKind const& kind) {
    constexpr std::size_t most = 4;
    std::vector<std::string> stretches;
    for (std::size_t first = 0; first < kinds.size(); ++first) {
        if (!(kinds[first] == kind)) { continue; }
        std::size_t last = first;
        while (last + 1 < kinds.size() && kinds[last + 1] == kind) { ++last; }
        stretches.push_back(first == last ? fmt::format("{}", first + 1) : fmt::format("{}-{}", first + 1, last + 1));
        first = last;
    }
    std::size_t const more = stretches.size() > most ? stretches.size() - most : 0;
    stretches.resize(stretches.size() - more);
    std::string words = fmt::format("{}", fmt::join(stretches, ", "));
    return more > 0 ? words + fmt::format(" and {} more", more) : words;
}

std::optional<double> if_published(double count) { return count > 0.0 ? std::optional{count} : std::nullopt; }

constexpr Field model_rows[] = {
    {"name", "Name of the record.", member<&ModelFacts::name>},
    {"kind", "Kind of model: dense, moe, hybrid and so on.", member<&ModelFacts::kind>},
    {"parameters", "Parameters, counted from the dimensions.", member<&ModelFacts::parameters>},
    {"active_parameters", "Parameters that one token passes.", member<&ModelFacts::active>},
    {"published_parameters", "Parameters as published; null where they are not.",
     [](ModelFacts const& m) { return if_published(m.published.total); }},
    {"published_active_parameters", "Active parameters as published; null where they are not.",
     [](ModelFacts const& m) { return if_published(m.published.active); }},
    {"relative_difference", "Counted over published parameters, less 1.",
     [](ModelFacts const& m) { return m.difference(); }},
    {"published_source", "Where they are published; null where they are not.",
     [](ModelFacts const& m) { return m.published.source.empty() ? std::nullopt : std::optional{m.published.source}; }},
};
constexpr FieldTable model_table = field_table<ModelFacts>("model_facts", model_rows);

constexpr Field layer_rows[] = {
    {"mixer", "Layer that mixes tokens.", member<&LayerKind::mixer>},
    {"feed_forward", "Layer that mixes features.", member<&LayerKind::feed_forward>},
    {"count", "Blocks of this kind.", member<&LayerKind::count>},
    {"layers", "Positions of these blocks, from 1.", member<&LayerKind::layers>},
    {"parameters", "Parameters of one such block.", member<&LayerKind::parameters>},
    {"active_parameters", "Parameters of one such block that one token passes.", member<&LayerKind::active>},
};
constexpr FieldTable layer_table = field_table<LayerKind>("layer_kind", layer_rows);

constexpr Field assumption_rows[] = {
    {"field", "Property that the file leaves open.", member<&ModelAssumption::field>},
    {"value", "Value that was assumed.", member<&ModelAssumption::value>},
    {"reason", "Reason for the value.", member<&ModelAssumption::reason>},
};
constexpr FieldTable assumption_table = field_table<ModelAssumption>("model_assumption", assumption_rows);

constexpr Field reading_rows[] = {
    {"read_as", "Architecture that the description was read as.", member<&ModelReading::read_as>},
    {"understood", "False where the architecture is unknown and was guessed.", member<&ModelReading::understood>},
    {"parameters_low", "Lower bound of the parameters; the count itself where the architecture is known.",
     member<&ModelReading::least>},
    {"parameters_high", "Upper bound of the parameters; the count itself where the architecture is known.",
     member<&ModelReading::most>},
    {"embedding_parameters", "Parameters in no block, without the output head.", member<&ModelReading::embedding>},
    {"head_parameters", "Parameters of the output head; 0 where it shares the embedding's.",
     member<&ModelReading::head>},
    {"prediction_layers", "Blocks that predict later tokens, trained besides the parameters.",
     member<&ModelReading::prediction_layers>},
    {"prediction_parameters", "Parameters of the blocks that predict later tokens.", member<&ModelReading::prediction>},
    {"layers", "Kinds of blocks.", member<&ModelReading::layers>},
    {"assumed", "Properties that were assumed.", member<&ModelReading::assumed>},
    {"issues", "Keys that were not read as their author may have meant them.", member<&ModelReading::issues>},
};
constexpr FieldTable reading_table = field_table<ModelReading>("model_reading", reading_rows);

constexpr Field record_rows[] = {
    {"kind", "Kind of record: model, node, accelerator and so on.",
     [](CatalogRecord const& r) { return name_of(r.record->kind); }},
    {"name", "Name of the record.", [](CatalogRecord const& r) -> std::string const& { return r.record->name; }},
    {"facts", "Content in a line, or why it cannot be read.", member<&CatalogRecord::facts>},
    {"origin", "File of the record.", [](CatalogRecord const& r) -> std::string const& { return r.record->origin; }},
    {"model", "Parameters of a model.", member<&CatalogRecord::model>, headroom::Presence::if_any},
    {"reading", "Layers of a model, and each choice made when it was read.", member<&CatalogRecord::reading>,
     headroom::Presence::if_any},
    {"text", "Text of the record.",
     [](CatalogRecord const& r) { return r.with_text ? std::optional{r.record->content} : std::nullopt; },
     headroom::Presence::if_any},
};
constexpr FieldTable record_table = field_table<CatalogRecord>("record", record_rows);

constexpr Field list_rows[] = {
    {"records", "Records, by kind and name.", member<&CatalogList::records>},
};
constexpr FieldTable list_table = field_table<CatalogList>("catalog_list", list_rows);

constexpr Field show_rows[] = {
    {"record", "The record.", member<&CatalogShow::record>},
};
constexpr FieldTable show_table = field_table<CatalogShow>("catalog_show", show_rows);

} // namespace

std::optional<double> ModelFacts::difference() const {
    if (published.total <= 0.0) { return std::nullopt; }
    return parameters / published.total - 1.0;
}

ModelFacts model_facts(Catalog const& catalog, std::string const& name) {
    ParameterCount const count = count_parameters(catalog.model(name));
    return {.name = name,
            .kind = catalog.model_kind(name),
            .parameters = count.total,
            .active = count.active,
            .published = catalog.published_count(name)};
}

CatalogRecord catalog_record(Catalog const& catalog, RecordText const& record) {
    CatalogRecord row{.record = &record, .facts = facts(catalog, record)};
    if (record.kind != RecordKind::model) { return row; }
    try {
        row.model = model_facts(catalog, record.name);
    } catch (InputError const&) { // the facts say why
    }
    return row;
}

ModelReading model_reading(Model const& model) {
    ModelReading reading;
    ParameterCount const count = count_parameters(model);
    auto const kinds = block_kinds(model);
    for (BlockRun const& run : block_runs(model)) {
        auto const one = block_parameters(model, run.kind);
        reading.layers.push_back({mixer_words(model, run.kind), channel_words(model, run.kind), run.count,
                                  positions_words(kinds, run.kind), one.all, one.active});
    }
    reading.embedding = count.embedding + count.final_norm;
    reading.head = count.head;
    reading.prediction_layers = model.prediction_layers;
    reading.prediction = count.prediction;
    reading.least = count.total * model.range.low;
    reading.most = count.total * model.range.high;
    reading.understood = !model.range.open();
    for (Guess const& guess : model.guesses) { reading.assumed.push_back({guess.field, guess.value, guess.reason}); }
    if (model.vision_left_out) {
        reading.assumed.push_back({"vision_tower", "not counted", "the language model alone is read"});
    }
    return reading;
}

CatalogShow show_record(Catalog const& catalog, RecordText const& record) {
    CatalogShow answer;
    answer.record = catalog_record(catalog, record);
    answer.record.with_text = true;
    if (!answer.record.model) { return answer; }
    answer.record.reading = model_reading(catalog.model(record.name));
    answer.record.reading->read_as = "model record";
    return answer;
}

CatalogShow show_model_file(Catalog const& catalog, std::string const& what) {
    ModelFile file = read_model_file(catalog, what);
    Model const& model = file.config.model;
    CatalogShow answer;
    answer.text = std::make_unique<std::string>(std::move(file.text));
    answer.file = std::make_unique<RecordText>(RecordText{RecordKind::model, model.name, file.path, *answer.text});
    answer.record = {.record = answer.file.get(), .facts = facts_of(model)};
    ParameterCount const count = count_parameters(model);
    answer.record.model = ModelFacts{.name = model.name,
                                     .kind = model.state_space.heads > 0 ? "hybrid"
                                             : model.moe.experts > 0     ? "moe"
                                                                         : "dense",
                                     .parameters = count.total,
                                     .active = count.active,
                                     .published = {}};
    answer.record.reading = model_reading(model);
    answer.record.reading->read_as = file.config.read_as;
    answer.record.reading->issues = file.config.issues;
    std::erase_if(answer.record.reading->assumed, [](ModelAssumption const& one) { return one.value == "not read"; });
    return answer;
}

FieldTable const& field_table_of(LayerKind const*) { return layer_table; }
FieldTable const& field_table_of(ModelAssumption const*) { return assumption_table; }
FieldTable const& field_table_of(ModelReading const*) { return reading_table; }
FieldTable const& field_table_of(ModelFacts const*) { return model_table; }
FieldTable const& field_table_of(CatalogRecord const*) { return record_table; }
FieldTable const& field_table_of(CatalogList const*) { return list_table; }
FieldTable const& field_table_of(CatalogShow const*) { return show_table; }

} // namespace headroom::io
