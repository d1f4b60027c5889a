#include "model_facts.hpp"

#include "document/text.hpp"

#include <cmath>

namespace headroom::cli {
namespace {

std::optional<double> known(double count) { return count > 0.0 ? std::optional{count} : std::nullopt; }

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

} // namespace

std::optional<double> ModelFacts::difference() const {
    if (published.total <= 0.0) { return std::nullopt; }
    return parameters / published.total - 1.0;
}

ModelFacts model_facts(io::Catalog const& catalog, std::string const& name) {
    ParameterCount const count = count_parameters(catalog.model(name));
    return {.name = name,
            .kind = catalog.model_kind(name),
            .parameters = count.total,
            .active = count.active,
            .published = catalog.published_count(name)};
}

Json json_of(ModelFacts const& facts) {
    Json source;
    if (!facts.published.source.empty()) { source = Json(facts.published.source); }
    return Json::object()
        .set("kind", facts.kind)
        .set("parameters", facts.parameters)
        .set("active_parameters", facts.active)
        .set("published_parameters", Json(known(facts.published.total)))
        .set("published_active_parameters", Json(known(facts.published.active)))
        .set("relative_difference", Json(facts.difference()))
        .set("published_source", std::move(source));
}

std::vector<Block> tables_of(std::vector<ModelFacts> const& models) {
    Table counts{.title = "Models: parameters counted from dimensions, and as published",
                 .columns = {{"name", Align::left, true},
                             {"kind", Align::left, true},
                             {"counted"},
                             {"active"},
                             {"published"},
                             {"diff %"}},
                 .rows = {}};
    Table sources{.title = "Where totals are published",
                  .columns = {{"name", Align::left}, {"source", Align::left, true}},
                  .rows = {}};
    for (auto const& model : models) {
        counts.rows.push_back({model.name, model.kind, count_words(model.parameters), count_words(model.active),
                               count_words(model.published.total), difference_words(model)});
        if (!model.published.source.empty()) { sources.rows.push_back({model.name, model.published.source}); }
    }
    std::vector<Block> blocks{std::move(counts)};
    if (!sources.rows.empty()) { blocks.emplace_back(std::move(sources)); }
    return blocks;
}

Sheet sheet_of(std::vector<ModelFacts> const& models) {
    Sheet sheet{{"name", "kind", "parameters", "active_parameters", "published_parameters", "relative_difference",
                 "published_source"},
                {}};
    for (auto const& model : models) {
        auto const difference = model.difference();
        sheet.rows.push_back({model.name, model.kind, whole(model.parameters), whole(model.active),
                              model.published.total > 0.0 ? whole(model.published.total) : "",
                              difference ? significant(*difference, 6) : "", model.published.source});
    }
    return sheet;
}

} // namespace headroom::cli
