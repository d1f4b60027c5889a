#include "history/history.hpp"

#include "headroom/document/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace headroom::cli {
namespace {

std::string counts_in_words(std::vector<ComparedPoint> const& points) {
    std::vector<std::pair<SampleVerdict, std::size_t>> counts; // in the order in which verdicts occur
    for (ComparedPoint const& point : points) {
        auto const known = std::ranges::find(counts, point.verdict, &std::pair<SampleVerdict, std::size_t>::first);
        if (known == counts.end()) {
            counts.emplace_back(point.verdict, 1);
        } else {
            ++known->second;
        }
    }
    std::vector<std::string> words;
    for (auto const& [verdict, count] : counts) { words.push_back(fmt::format("{} {}", count, name_of(verdict))); }
    return join(words, ", ");
}

std::string ratio_in_words(ComparedPoint const& point) {
    if (!point.ratio) { return "-"; }
    return fmt::format("{} ({} to {})", significant(point.ratio->ratio), significant(point.ratio->low),
                       significant(point.ratio->high));
}

Table points_table(std::vector<ComparedPoint> const& points) {
    Table table{
        "Points", {wrapped("point"), "first", "second", "second / first", "chance", wrapped("the second is")}, {}};
    for (ComparedPoint const& point : points) {
        table.rows.push_back({printable(point.label), in_words(point.first.median, point.unit),
                              in_words(point.second.median, point.unit), ratio_in_words(point),
                              point.comparison ? probability_in_words(point.probability) : "-",
                              std::string{name_of(point.verdict)}});
    }
    return table;
}

void add_differences(std::vector<Block>& blocks, std::string title, std::vector<FactDifference> const& rows) {
    if (rows.empty()) { return; }
    Table table{std::move(title), {wrapped("fact"), wrapped("first"), wrapped("second")}, {}};
    for (FactDifference const& row : rows) {
        table.rows.push_back(
            {printable(row.name), printable(row.first.value_or("-")), printable(row.second.value_or("-"))});
    }
    blocks.emplace_back(std::move(table));
}

void add_labels(std::vector<Block>& blocks, std::string title, std::vector<std::string> const& labels) {
    if (labels.empty()) { return; }
    Items items{std::move(title), {}};
    for (std::string const& label : labels) { items.items.push_back(printable(label)); }
    blocks.emplace_back(std::move(items));
}

std::string line_of(std::string const& which, Campaign const& campaign) {
    std::string const host{fact(campaign.machine, "host").value_or("")};
    return fmt::format("{}: {} ({}, {}{})", which, campaign.id,
                       campaign.name.empty() ? printable(campaign.kind) : "'" + printable(campaign.name) + "'",
                       time_in_words(campaign.began_ns), host.empty() ? "" : ", host " + printable(host));
}

} // namespace

Document compare_document(CampaignComparison const& comparison) {
    Document document{fmt::format("Measurements {} and {}", comparison.first.id, comparison.second.id), {}, ""};
    auto& blocks = document.blocks;
    blocks.emplace_back(Items{"", {line_of("first", comparison.first), line_of("second", comparison.second)}});
    blocks.emplace_back(Paragraph{
        fmt::format("Of {}: {}.", counted(comparison.points.size(), "point"), counts_in_words(comparison.points)), "",
        true});
    blocks.emplace_back(points_table(comparison.points));
    blocks.emplace_back(
        Paragraph{"The ratio is the median of all ratios, with its interval of 95 %. Chance is that of ranks so far "
                  "apart if both were the same (Mann and Whitney), raised for the number of points (Holm); below 5 % "
                  "a difference counts as shown. Where none is shown there may be one as large as the interval. A "
                  "difference may also be that of two days: repetitions of one run do not show it."});
    add_differences(blocks, "What was asked differs", comparison.settings);
    add_differences(blocks, "The machine differs, which may explain it", comparison.machine);
    add_labels(blocks, "Only in the first", comparison.only_first);
    add_labels(blocks, "Only in the second", comparison.only_second);
    add_labels(blocks, "Measured in different units", comparison.other_units);
    return document;
}

} // namespace headroom::cli
