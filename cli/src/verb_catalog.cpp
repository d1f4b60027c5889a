#include "document/text.hpp"
#include "model_facts.hpp"
#include "setting.hpp"

#include "headroom/error.hpp"
#include "headroom/validation.hpp"

#include <algorithm>
#include <array>

namespace headroom::cli {
namespace {

using io::RecordKind;

constexpr std::array all_kinds{
    RecordKind::model, RecordKind::node,      RecordKind::accelerator, RecordKind::link,    RecordKind::host,
    RecordKind::price, RecordKind::framework, RecordKind::strategy,    RecordKind::library, RecordKind::calibration};

constexpr std::array positionals{
    Positional{"ACTION", "list or show"},
    Positional{"NAME", "a kind to list, or a record to show"},
};

constexpr std::array options{
    Option{"--kind", "KIND", "model, node, accelerator, link, host, price, framework, strategy, library or calibration",
           "Question"},
    Option{"--catalog", "DIR", "records that go before the built-in ones", "Data"},
};

constexpr char const* examples = "  headroom catalog list\n"
                                 "  headroom catalog list models\n"
                                 "  headroom catalog list accelerators --format json\n"
                                 "  headroom catalog show dgx-h100\n"
                                 "  headroom catalog show h100 --kind price";

RecordKind parse_kind(std::string_view text, std::string_view where) {
    std::vector<std::string> names;
    for (RecordKind const kind : all_kinds) {
        std::string const name{io::name_of(kind)};
        std::string const many = name.ends_with('y') ? name.substr(0, name.size() - 1) + "ies" : name + "s";
        if (normalised(text) == name || normalised(text) == many) { return kind; }
        names.push_back(name);
    }
    std::string const near = nearest(text, names);
    throw InputError{Fault::usage,
                     {.where = std::string{where},
                      .problem = "unknown kind " + headroom::quoted(text),
                      .why = "",
                      .hint = near.empty() ? "choose from " + join(names, ", ") : "did you mean '" + near + "'?"}};
}

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
    std::string text = scaled(count.total) + " parameters, ";
    if (!model.operators.empty()) { return text + std::to_string(model.operators.size()) + " kinds of operators"; }
    text += std::to_string(model.layers) + " layers, hidden " + std::to_string(model.hidden);
    if (count.active < count.total * 0.999) { text += ", " + scaled(count.active) + " active"; }
    return text;
}

std::string facts_of(io::StrategyRecord const& record) {
    std::vector<std::string> fields;
    for (auto const& [name, value] : record.given) {
        fields.push_back(name);
        fields.back().append(" ").append(value);
    }
    return record.title + ": " + join(fields, ", ");
}

/// The folder of calibrations also keeps what was fitted without each source.
std::string calibration_facts(io::Catalog const& catalog, io::RecordText const& record) {
    if (record.name == "folds") {
        return "constants fitted without one of " +
               std::to_string(io::read_folds(record.content, record.origin).without.size()) + " sources each";
    }
    CalibrationSet const set = catalog.calibration(record.name);

    Band const band = band_of(set.bands, Extrapolation::seen);
    std::string const words = significant(band.low) + " to " + significant(band.high) + " of the prediction";
    if (!set.seen) { return "not fitted to any run: independent values; assumed 90 % band " + words; }
    return "90 % band " + words + " on seen hardware and framework, from " + std::to_string(band.rows) + " runs";
}

/// The text of the first line `key = "text"` of a record; empty without one.
std::string text_of(std::string_view record, std::string const& key) {
    std::string const wanted = "\n" + key + " = \"";
    auto const at = record.find(wanted);
    if (at == std::string_view::npos) { return {}; }
    std::string_view const rest = record.substr(at + wanted.size());
    return std::string{rest.substr(0, rest.find('"'))};
}

/// Links and hosts have no reader of their own: what nodes use of them.
std::string link_facts(std::string_view record) {
    std::vector<std::string> facts;
    for (auto const& [key, words] : {std::pair{"kind", ""}, {"bandwidth", " one way"}, {"latency", " a hop"}}) {
        std::string const value = text_of(record, key);
        if (!value.empty()) { facts.push_back(value + words); }
    }
    return join(facts, ", ");
}

std::string host_facts(std::string_view record) {
    std::vector<std::string> facts;
    for (auto const& [key, words] : {std::pair{"vendor", ""}, {"capacity", " of memory"}, {"bandwidth", ""}}) {
        std::string const value = text_of(record, key);
        if (!value.empty()) { facts.push_back(value + words); }
    }
    return join(facts, ", ");
}

/// One line about a record; where it comes from when nothing else is known.
std::string facts(io::Catalog const& catalog, io::RecordText const& record) {
    try {
        switch (record.kind) {
        case RecordKind::accelerator: return facts_of(catalog.accelerator(record.name));
        case RecordKind::node: return facts_of(catalog.cluster(record.name));
        case RecordKind::model: return facts_of(catalog.model(record.name));
        case RecordKind::framework: return catalog.framework(record.name).title;
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
            static_cast<void>(io::read_nccl_tuning(record.content, record.origin)); // refuses a broken one
            return "constants by which it chooses an algorithm and a protocol";
        case RecordKind::link:
            if (std::string text = link_facts(record.content); !text.empty()) { return text; }
            break;
        case RecordKind::host:
            if (std::string text = host_facts(record.content); !text.empty()) { return text; }
            break;
        }
    } catch (InputError const& error) { return error.what(); }
    return record.origin;
}

struct Row {
    io::RecordText const* record;
    std::string facts;
    std::optional<ModelFacts> model = {}; ///< of a model that reads
};

Row row_of(io::Catalog const& catalog, io::RecordText const& record) {
    Row row{&record, facts(catalog, record)};
    if (record.kind != RecordKind::model) { return row; }
    try {
        row.model = model_facts(catalog, record.name);
    } catch (InputError const&) { // the facts say why
    }
    return row;
}

Json json_of(Row const& row) {
    Json record = Json::object();
    record.set("kind", io::name_of(row.record->kind))
        .set("name", row.record->name)
        .set("facts", row.facts)
        .set("origin", row.record->origin);
    if (row.model) { record.set("model", json_of(*row.model)); }
    return record;
}

Json json_of(std::vector<Row> const& rows, io::Catalog const& catalog) {
    Json records = Json::array();
    for (Row const& row : rows) { records.push(json_of(row)); }
    return result_head("catalog", catalog, "").set("records", records);
}

Json with_stats(Json json, Output const& output, Stopwatch const& stopwatch) {
    if (output.stats) { json.set("stats", stats_json(stopwatch.seconds())); }
    return json;
}

Document document_of(std::vector<Row> const& rows, io::Catalog const& catalog) {
    Document document{"Catalog", {}, footer(catalog, "")};
    for (RecordKind const kind : all_kinds) {
        Table table{.title = std::string{io::name_of(kind)} + " records",
                    .columns = {{"name", Align::left}, {"facts", Align::left, true}},
                    .rows = {}};
        for (Row const& row : rows) {
            if (row.record->kind == kind) { table.rows.push_back({row.record->name, row.facts}); }
        }
        if (!table.rows.empty()) { document.blocks.emplace_back(std::move(table)); }
    }
    return document;
}

/// Whether a listing is of models alone, all of which read: then their counts are what it shows.
std::vector<ModelFacts> only_models(std::vector<Row> const& rows) {
    std::vector<ModelFacts> models;
    for (Row const& row : rows) {
        if (!row.model) { return {}; }
        models.push_back(*row.model);
    }
    return models;
}

Sheet sheet_of(std::vector<Row> const& rows) {
    Sheet sheet{{"kind", "name", "facts", "origin"}, {}};
    for (Row const& row : rows) {
        sheet.rows.push_back(
            {std::string{io::name_of(row.record->kind)}, row.record->name, row.facts, row.record->origin});
    }
    return sheet;
}

int list(Arguments const& arguments, io::Catalog const& catalog, Output const& output, Stopwatch const& stopwatch) {
    std::vector<RecordKind> kinds{all_kinds.begin(), all_kinds.end()};
    auto const named = arguments.text("NAME"), asked = arguments.text("--kind");
    if (named) { kinds = {parse_kind(*named, "catalog list")}; }
    if (asked) {
        RecordKind const kind = parse_kind(*asked, "--kind");
        if (named && kinds.front() != kind) {
            throw InputError{Fault::usage,
                             {.where = "--kind",
                              .problem = headroom::quoted(*asked) + " beside " + headroom::quoted(*named),
                              .why = "a list is of one kind or of all",
                              .hint = "keep one of the two"}};
        }
        kinds = {kind};
    }
    std::vector<Row> rows;
    for (RecordKind const kind : kinds) {
        for (std::string const& name : catalog.names(kind)) {
            rows.push_back(row_of(catalog, catalog.text(kind, name)));
        }
    }
    auto const models = only_models(rows);
    auto const document = [&] {
        return models.empty() ? document_of(rows, catalog)
                              : Document{"Catalog: models", tables_of(models), footer(catalog, "")};
    };
    write_result(output, {document, [&] { return with_stats(json_of(rows, catalog), output, stopwatch); },
                          [&] { return models.empty() ? sheet_of(rows) : sheet_of(models); }});
    return Exit::done;
}

/// The record by name: first of the kinds that has exactly this file, then of those that know it by an alias.
io::RecordText const& record_named(std::string const& name, std::vector<RecordKind> const& kinds,
                                   io::Catalog const& catalog) {
    std::vector<std::string> names;
    for (RecordKind const kind : kinds) {
        for (std::string const& known : catalog.names(kind)) {
            if (known == name) { return catalog.text(kind, name); }
            names.push_back(known);
        }
    }
    for (RecordKind const kind : kinds) {
        try {
            return catalog.text(kind, name);
        } catch (InputError const&) { // not of this kind
        }
    }
    // a price is filed under the accelerator's name
    bool const prices = std::find(kinds.begin(), kinds.end(), RecordKind::price) != kinds.end();
    if (prices && catalog.has_accelerator(name)) {
        return catalog.text(RecordKind::price, catalog.text(RecordKind::accelerator, name).name);
    }
    std::string const near = nearest(name, names);
    throw InputError{Fault::usage,
                     {.where = "catalog show",
                      .problem = "unknown record " + headroom::quoted(name),
                      .why = "",
                      .hint = near.empty() ? "see headroom catalog list" : "did you mean '" + near + "'?"}};
}

int show(Arguments const& arguments, io::Catalog const& catalog, Output const& output, Stopwatch const& stopwatch) {
    std::string const name = arguments.required("NAME", "which record? see headroom catalog list");
    std::vector<RecordKind> kinds{all_kinds.begin(), all_kinds.end()};
    if (auto const kind = arguments.text("--kind")) { kinds = {parse_kind(*kind, "--kind")}; }
    io::RecordText const& record = record_named(name, kinds, catalog);
    Row const row = row_of(catalog, record);
    auto const document = [&] {
        Document page{
            "Catalog: " + record.name,
            {Paragraph{std::string{io::name_of(record.kind)} + " " + record.name + ": " + row.facts, "", true}},
            footer(catalog, "")};
        if (row.model) {
            for (auto& block : tables_of({*row.model})) { page.blocks.push_back(std::move(block)); }
        }
        page.blocks.emplace_back(Paragraph{record.origin, "origin"});
        page.blocks.emplace_back(Verbatim{"", std::string{record.content}});
        return page;
    };
    auto const json = [&] {
        Json shown = json_of(row);
        shown.set("text", record.content);
        Json result = result_head("catalog", catalog, "");
        result.set("record", std::move(shown));
        return with_stats(std::move(result), output, stopwatch);
    };
    auto const sheet = [&] {
        return row.model ? sheet_of(std::vector<ModelFacts>{*row.model}) : sheet_of(std::vector<Row>{row});
    };
    write_result(output, {document, json, sheet});
    return Exit::done;
}

int run(Arguments const& arguments) {
    Stopwatch const stopwatch;
    Output const output = read_output(arguments);
    io::Catalog const catalog = open_catalog(arguments);
    std::string const action = parse_choice(arguments.required("ACTION", "list or show"), {"list", "show"}, "catalog");
    return action == "list" ? list(arguments, catalog, output, stopwatch) : show(arguments, catalog, output, stopwatch);
}

} // namespace

Verb catalog_verb() {
    return {"catalog",   "the records known: models, clusters, accelerators, prices",
            positionals, {options, output_options()},
            examples,    run};
}

} // namespace headroom::cli
