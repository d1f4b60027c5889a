#include "model_facts.hpp"

#include "headroom/document/text.hpp"

#include <cmath>

namespace headroom::cli {
namespace {

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
    if (!sources.rows.empty()) { blocks.emplace_back(std::move(sources)); }
    return blocks;
}

} // namespace headroom::cli
