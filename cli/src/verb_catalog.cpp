#include "setting.hpp"

#include "headroom/document/text.hpp"
#include "headroom/error.hpp"
#include "headroom/io/catalog_answer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

namespace headroom::cli::verb_catalog {
namespace {

using io::CatalogRecord;
using io::ModelFacts;
using io::RecordKind;

/// Signed, in percent, to a hundredth: "+0.04"; "0" where every digit agrees.
std::string difference_words(ModelFacts const& facts) {
    auto const difference = facts.difference();
    if (!difference) { return "-"; }
    if (*difference == 0.0) { return "0"; }
    std::string digits = whole(std::abs(*difference) * 1e4);
    if (digits.size() < 3) { digits.insert(0, 3 - digits.size(), '0'); }
    return (*difference > 0.0 ? "+" : "-") + digits.insert(digits.size() - 2, ".");
}

std::string count_words(double count) { return count > 0.0 ? scaled(count, 4) : "-"; }

/// Two tables: the counts, and where the published ones are printed.
std::vector<Block> tables_of(std::vector<ModelFacts> const& models) {
    Table counts{.title = "Models: parameters counted from dimensions, and as published",
                 .columns = {wrapped("name"), wrapped("kind"), "counted", "active", "published", "diff %"}};
    Table sources{.title = "Where totals are published", .columns = {left("name"), wrapped("source")}};
    for (auto const& model : models) {
        counts.rows.push_back({model.name, model.kind, count_words(model.parameters), count_words(model.active),
                               count_words(model.published.total), difference_words(model)});
        if (!model.published.source.empty()) { sources.rows.push_back({model.name, model.published.source}); }
    }
    std::vector<Block> blocks{std::move(counts)};
    add_table(blocks, std::move(sources));
    return blocks;
}

constexpr std::array all_kinds{RecordKind::model,     RecordKind::node,      RecordKind::accelerator,
                               RecordKind::link,      RecordKind::host,      RecordKind::price,
                               RecordKind::framework, RecordKind::optimizer, RecordKind::strategy,
                               RecordKind::library,   RecordKind::engine,    RecordKind::calibration};

constexpr std::array positionals{
    Positional{"ACTION", "list, show or search; without one the kinds are listed"},
    Positional{"NAME",
               "a kind to list; a record, a config.json (file or folder) or a .toml file to show; a word to search"},
};

constexpr std::array options{
    Option{
        "--kind", "KIND",
        "model, node, accelerator, link, host, price, framework, optimizer, strategy, library, engine or calibration",
        "Question"},
    Option{"--catalog", "DIR", "records that replace or extend the built-in ones", "Data"},
};

constexpr char const* examples = "  headroom catalog\n"
                                 "  headroom catalog search 4090\n"
                                 "  headroom catalog list\n"
                                 "  headroom catalog list models\n"
                                 "  headroom catalog list accelerators --format json\n"
                                 "  headroom catalog show dgx-h100\n"
                                 "  headroom catalog show examples/config.json\n"
                                 "  headroom catalog show h100 --kind price";

RecordKind parse_kind(std::string_view text, std::string_view where) {
    constexpr std::array others{
        std::pair{"gpu", RecordKind::accelerator},    std::pair{"gpus", RecordKind::accelerator},
        std::pair{"chips", RecordKind::accelerator},  std::pair{"cluster", RecordKind::node},
        std::pair{"clusters", RecordKind::node},      std::pair{"machines", RecordKind::node},
        std::pair{"software", RecordKind::framework}, std::pair{"networks", RecordKind::link}};
    for (auto const& [name, kind] : others) {
        if (normalised(text) == name) { return kind; }
    }
    std::vector<std::string> names;
    for (RecordKind const kind : all_kinds) {
        std::string const name{io::name_of(kind)};
        std::string const many = name.ends_with('y') ? name.substr(0, name.size() - 1) + "ies" : name + "s";
        if (normalised(text) == name || normalised(text) == many) { return kind; }
        names.push_back(name);
    }
    refuse(where, "unknown kind " + headroom::quoted(text), "", did_you_mean_one_of(text, names));
}

Document document_of(std::vector<CatalogRecord> const& rows, io::Catalog const& catalog) {
    Document document{"Catalog", {}, footer(catalog, "")};
    for (RecordKind const kind : all_kinds) {
        Table table{.title = std::string{io::name_of(kind)} + " records", .columns = {left("name"), wrapped("facts")}};
        for (CatalogRecord const& row : rows) {
            if (row.record->kind == kind) { table.rows.push_back({row.record->name, row.facts}); }
        }
        add_table(document.blocks, std::move(table));
    }
    return document;
}

/// Facts of the models of a listing of models alone, all of which read: then their counts are its columns. Else none.
std::vector<ModelFacts> only_models(std::vector<CatalogRecord> const& rows) {
    std::vector<ModelFacts> models;
    for (CatalogRecord const& row : rows) {
        if (!row.model) { return {}; }
        models.push_back(*row.model);
    }
    return models;
}

int list(Arguments const& arguments, io::Catalog const& catalog, Output const& output) {
    std::vector<RecordKind> kinds{all_kinds.begin(), all_kinds.end()};
    auto const named = arguments.text("NAME"), asked = arguments.text("--kind");
    if (named) { kinds = {parse_kind(*named, "catalog list")}; }
    if (asked) {
        RecordKind const kind = parse_kind(*asked, "--kind");
        if (named && kinds.front() != kind) {
            refuse("--kind", headroom::quoted(*asked) + " and " + headroom::quoted(*named),
                   "a list is of one kind or of all", "keep one of the two");
        }
        kinds = {kind};
    }
    io::CatalogList answer;
    std::vector<CatalogRecord>& rows = answer.records;
    for (RecordKind const kind : kinds) {
        for (std::string const& name : catalog.names(kind)) {
            rows.push_back(io::catalog_record(catalog, catalog.text(kind, name)));
        }
    }
    auto const models = only_models(rows);
    auto const document = [&] {
        return models.empty() ? document_of(rows, catalog)
                              : Document{"Catalog: models", tables_of(models), footer(catalog, "")};
    };
    auto const sheet = [&] { return models.empty() ? row_sheet(rows) : row_sheet(models); };
    write_result(output, result_of(head_of("catalog", catalog, ""), answer, document, {{}, stats_of(output)}, sheet));
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
    refuse("catalog show", "unknown record " + headroom::quoted(name), "",
           did_you_mean(name, names, "see headroom catalog list"));
}

/// Reading of a model that was guessed or left a key out.
std::vector<Block> reading_blocks(io::ModelReading const& reading) {
    std::vector<Block> blocks;
    Table layers{.title = "Layers, read as " + reading.read_as,
                 .columns = {wrapped("tokens mixed by"), wrapped("features by"), "blocks", wrapped("which"),
                             "parameters", "active"}};
    for (io::LayerKind const& kind : reading.layers) {
        layers.rows.push_back({kind.mixer, kind.feed_forward, std::to_string(kind.count), kind.layers,
                               scaled(kind.parameters, 4), scaled(kind.active, 4)});
    }
    if (reading.prediction_layers > 0) {
        layers.rows.push_back({"as the last block, for later tokens", "and a product that joins them",
                               std::to_string(reading.prediction_layers), "not in the total",
                               scaled(reading.prediction / reading.prediction_layers, 4), "-"});
    }
    add_table(blocks, std::move(layers));
    Table assumed{.title = "Assumed: the file does not say it",
                  .columns = {left("field"), left("value"), wrapped("reason")}};
    for (auto const& one : reading.assumed) { assumed.rows.push_back({one.field, one.value, one.reason}); }
    add_table(blocks, std::move(assumed));
    Table issues{.title = "Issues: keys that may change what is counted", .columns = {left("key"), wrapped("problem")}};
    for (auto const& one : reading.issues) { issues.rows.push_back({one.column, one.kind}); }
    add_table(blocks, std::move(issues));
    return blocks;
}

std::string headline_of(CatalogRecord const& row) {
    std::string text;
    if (row.reading && !row.reading->understood) {
        text = "Architecture not understood: between " + scaled(row.reading->least, 4) + " and " +
               scaled(row.reading->most, 4) + " parameters. ";
    }
    text += std::string{io::name_of(row.record->kind)} + " " + row.record->name + ": " + row.facts;
    if (row.reading && !row.reading->issues.empty()) {
        std::size_t const keys = row.reading->issues.size();
        text += "; " + std::to_string(keys) + (keys == 1 ? " issue" : " issues") + " (below)";
    }
    return text;
}

Document document_of(CatalogRecord const& row, io::Catalog const& catalog) {
    Document page{"Catalog: " + row.record->name, {Paragraph{headline_of(row), "", true}}, footer(catalog, "")};
    if (row.model) {
        for (auto& block : tables_of({*row.model})) { page.blocks.push_back(std::move(block)); }
    }
    if (row.reading) {
        for (auto& block : reading_blocks(*row.reading)) { page.blocks.push_back(std::move(block)); }
    }
    page.blocks.emplace_back(Paragraph{row.record->origin, "origin"});
    if (row.with_text) { page.blocks.emplace_back(Verbatim{"", std::string{row.record->content}}); }
    return page;
}

/// A record by name; where no record has this name, the model of a file.
io::CatalogShow shown(Arguments const& arguments, io::Catalog const& catalog) {
    std::string const name = arguments.required("NAME", "which record? see headroom catalog list");
    std::vector<RecordKind> kinds{all_kinds.begin(), all_kinds.end()};
    bool models = true;
    if (auto const kind = arguments.text("--kind")) {
        kinds = {parse_kind(*kind, "--kind")};
        models = kinds.front() == RecordKind::model;
    }
    if (models && io::names_model_file(name)) { return io::show_model_file(catalog, name); }
    return io::show_record(catalog, record_named(name, kinds, catalog));
}

int show(Arguments const& arguments, io::Catalog const& catalog, Output const& output) {
    io::CatalogShow const answer = shown(arguments, catalog);
    CatalogRecord const& row = answer.record;
    auto const document = [&] { return document_of(row, catalog); };
    auto const sheet = [&] {
        return row.model ? row_sheet(std::vector<ModelFacts>{*row.model}) : row_sheet(std::vector<CatalogRecord>{row});
    };
    write_result(output, result_of(head_of("catalog", catalog, ""), answer, document, {{}, stats_of(output)}, sheet));
    return Exit::done;
}

std::vector<CatalogRecord> records_of(io::Catalog const& catalog, std::vector<RecordKind> const& kinds,
                                      std::function<bool(io::RecordText const&)> const& wanted) {
    std::vector<CatalogRecord> rows;
    for (RecordKind const kind : kinds) {
        for (std::string const& name : catalog.names(kind)) {
            io::RecordText const& record = catalog.text(kind, name);
            if (wanted(record)) { rows.push_back(io::catalog_record(catalog, record)); }
        }
    }
    return rows;
}

/// `headroom catalog`: the kinds of records, with their number.
int overview_of(io::Catalog const& catalog, Output const& output) {
    io::CatalogList const answer{
        records_of(catalog, {all_kinds.begin(), all_kinds.end()}, [](io::RecordText const&) { return true; })};
    Table table{.title = "", .columns = {left("kind"), "records", left("command")}};
    for (RecordKind const kind : all_kinds) {
        std::string const name{io::name_of(kind)};
        std::string const many = name.ends_with('y') ? name.substr(0, name.size() - 1) + "ies" : name + "s";
        table.rows.push_back({name, std::to_string(catalog.names(kind).size()), "headroom catalog list " + many});
    }
    auto const document = [&] {
        return Document{"Catalog",
                        {table, Paragraph{"headroom catalog search WORD finds records by a part of their name"}},
                        footer(catalog, "")};
    };
    write_result(output, result_of(head_of("catalog", catalog, ""), answer, document, {{}, stats_of(output)},
                                   [&] { return row_sheet(answer.records); }));
    return Exit::done;
}

/// Whether a record's name, title or an alias has the letters of a word.
bool is_called(io::RecordText const& record, std::string const& word) {
    if (normalised(record.name).find(word) != std::string::npos) { return true; }
    for (std::string const& line : split(record.content, '\n')) {
        bool const names = line.starts_with("name") || line.starts_with("title") || line.starts_with("aliases");
        if (names && normalised(line.substr(line.find('=') + 1)).find(word) != std::string::npos) { return true; }
        if (line.starts_with("[")) { return false; }
    }
    return false;
}

int search(Arguments const& arguments, io::Catalog const& catalog, Output const& output) {
    std::string const word = arguments.required("NAME", "what is searched? headroom catalog search 4090");
    std::vector<RecordKind> kinds{all_kinds.begin(), all_kinds.end()};
    if (auto const kind = arguments.text("--kind")) { kinds = {parse_kind(*kind, "--kind")}; }
    std::string const wanted = normalised(word);
    io::CatalogList const answer{
        records_of(catalog, kinds, [&](io::RecordText const& record) { return is_called(record, wanted); })};
    if (answer.records.empty()) {
        std::vector<std::string> names;
        for (RecordKind const kind : kinds) {
            for (std::string& name : catalog.names_and_aliases(kind)) { names.push_back(std::move(name)); }
        }
        refuse("catalog search", "no record is called " + headroom::quoted(word), "",
               did_you_mean(word, names, "headroom catalog lists the kinds"));
    }
    auto const document = [&] { return document_of(answer.records, catalog); };
    write_result(output, result_of(head_of("catalog", catalog, ""), answer, document, {{}, stats_of(output)},
                                   [&] { return row_sheet(answer.records); }));
    return Exit::done;
}

int run(Arguments const& arguments) {
    Output const output = read_output(arguments);
    io::Catalog const catalog = open_catalog(arguments);
    if (!arguments.has("ACTION")) { return overview_of(catalog, output); }
    std::string const action = parse_choice(*arguments.text("ACTION"), {"list", "show", "search"}, "catalog");
    if (action == "search") { return search(arguments, catalog, output); }
    return action == "list" ? list(arguments, catalog, output) : show(arguments, catalog, output);
}

Verb described() {
    Verb verb{"catalog", "the records known: models, clusters, accelerators, prices", positionals, examples, run};
    verb.options = {options, output_options()};
    verb.answers = cli::tables_of<io::CatalogList, io::CatalogShow>();
    return verb;
}

} // namespace
} // namespace headroom::cli::verb_catalog

headroom::cli::Verb headroom::cli::catalog_verb() { return verb_catalog::described(); }
