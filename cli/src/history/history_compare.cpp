#include "document/text.hpp"
#include "history/history.hpp"

#include "headroom/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace headroom::cli {
namespace {

constexpr double rarely = 0.05;
constexpr std::size_t fewest = 4; ///< samples of a side that `compare_samples` takes

constexpr char const* unshown = "no difference shown";
constexpr char const* too_few = "too few samples";

/// What more means: of a time nothing good, of a rate nothing bad.
std::string verdict_of(ComparedPoint const& point) {
    if (!point.comparison) { return too_few; }
    if (point.probability >= rarely || point.comparison->shift == 0.0) { return unshown; }
    bool const more = point.comparison->shift > 0.0;
    if (point.unit == "seconds") { return more ? "slower" : "faster"; }
    if (point.unit.ends_with("/second")) { return more ? "faster" : "slower"; }
    return more ? "more" : "less";
}

bool positive(std::vector<double> const& values) {
    return std::ranges::all_of(values, [](double value) { return value > 0.0; });
}

ComparedPoint compared(PointSummary const& first, PointSummary const& second) {
    ComparedPoint point{
        .label = first.point->label, .unit = first.point->unit, .first = *first.summary, .second = *second.summary};
    if (std::min(first.values.size(), second.values.size()) < fewest) { return point; }
    point.comparison = compare_samples(first.values, second.values);
    if (positive(first.values) && positive(second.values)) { point.ratio = compare_ratio(first.values, second.values); }
    return point;
}

void judge(std::vector<ComparedPoint>& points) {
    std::vector<double> probabilities;
    for (ComparedPoint const& point : points) {
        if (point.comparison) { probabilities.push_back(point.comparison->probability); }
    }
    auto const adjusted = adjusted_for_many(probabilities);
    auto next = adjusted.begin();
    for (ComparedPoint& point : points) {
        if (point.comparison) { point.probability = *next++; }
        point.verdict = verdict_of(point);
    }
}

std::map<std::string, PointSummary const*> by_label(std::vector<PointSummary> const& points) {
    std::map<std::string, PointSummary const*> found;
    for (PointSummary const& point : points) {
        if (point.summary) { found.emplace(point.point->label, &point); }
    }
    return found;
}

std::string counts_in_words(std::vector<ComparedPoint> const& points) {
    std::vector<std::string> order; // of verdicts, as they come
    std::map<std::string, std::size_t> counts;
    for (ComparedPoint const& point : points) {
        if (counts[point.verdict]++ == 0) { order.push_back(point.verdict); }
    }
    std::vector<std::string> words;
    for (std::string const& verdict : order) { words.push_back(fmt::format("{} {}", counts[verdict], verdict)); }
    return join(words, ", ");
}

std::string ratio_in_words(ComparedPoint const& point) {
    if (!point.ratio) { return "-"; }
    return fmt::format("{} ({} to {})", significant(point.ratio->ratio), significant(point.ratio->low),
                       significant(point.ratio->high));
}

Table points_table(std::vector<ComparedPoint> const& points) {
    Table table{"Points",
                {{"point", Align::left, true},
                 {"first"},
                 {"second"},
                 {"second / first"},
                 {"chance"},
                 {"the second is", Align::left, true}},
                {}};
    for (ComparedPoint const& point : points) {
        table.rows.push_back({printable(point.label), in_words(point.first.median, point.unit),
                              in_words(point.second.median, point.unit), ratio_in_words(point),
                              point.comparison ? probability_in_words(point.probability) : "-", point.verdict});
    }
    return table;
}

void add_differences(std::vector<Block>& blocks, std::string title, std::vector<FactDifference> const& rows) {
    if (rows.empty()) { return; }
    Table table{std::move(title),
                {{"fact", Align::left, true}, {"first", Align::left, true}, {"second", Align::left, true}},
                {}};
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

Json json_of(SampleSummary const& summary) {
    return Json::object()
        .set("count", summary.count)
        .set("median", summary.median)
        .set("interval", Json::array().push(summary.low).push(summary.high))
        .set("coverage", summary.coverage);
}

Json json_of(ComparedPoint const& point) {
    Json shift, ratio, probability, adjusted;
    if (point.comparison) {
        shift = Json::object()
                    .set("value", point.comparison->shift)
                    .set("interval", Json::array().push(point.comparison->low).push(point.comparison->high));
        probability = point.comparison->probability;
        adjusted = point.probability;
    }
    if (point.ratio) {
        ratio = Json::object()
                    .set("value", point.ratio->ratio)
                    .set("interval", Json::array().push(point.ratio->low).push(point.ratio->high));
    }
    return Json::object()
        .set("label", point.label)
        .set("unit", point.unit)
        .set("first", json_of(point.first))
        .set("second", json_of(point.second))
        .set("shift", std::move(shift))
        .set("ratio", std::move(ratio))
        .set("probability", std::move(probability))
        .set("adjusted_probability", std::move(adjusted))
        .set("verdict", point.verdict);
}

Json json_of(std::vector<FactDifference> const& rows) {
    Json array = Json::array();
    for (FactDifference const& row : rows) {
        array.push(Json::object()
                       .set("name", row.name)
                       .set("first", row.first)
                       .set("second", row.second)
                       .set("momentary", is_momentary(row.name)));
    }
    return array;
}

} // namespace

HistoryComparison compare(Campaign first, Campaign second) {
    HistoryComparison result{.first = std::move(first), .second = std::move(second)};
    auto const left = summarize_points(result.first), right = summarize_points(result.second);
    auto const others = by_label(right), own = by_label(left);
    for (PointSummary const& point : left) {
        if (!point.summary) { continue; }
        auto const other = others.find(point.point->label);
        if (other == others.end()) {
            result.only_first.push_back(point.point->label);
        } else if (other->second->point->unit != point.point->unit) {
            result.other_units.push_back(point.point->label);
        } else {
            result.points.push_back(compared(point, *other->second));
        }
    }
    for (PointSummary const& point : right) {
        if (point.summary && !own.contains(point.point->label)) { result.only_second.push_back(point.point->label); }
    }
    if (result.points.empty()) {
        throw InputError{
            Fault::insufficient,
            {.where = fmt::format("history compare {} {}", result.first.id, result.second.id),
             .problem = "no point has samples on both sides",
             .why = result.first.kind == result.second.kind
                        ? "they measure different things"
                        : fmt::format("one is of {}, the other of {}", result.first.kind, result.second.kind),
             .hint = "see headroom history list"}};
    }
    judge(result.points);
    result.settings = differences(result.first.settings, result.second.settings);
    result.machine = differences(result.first.machine, result.second.machine);
    return result;
}

Document document_of(HistoryComparison const& comparison) {
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

Json json_of(HistoryComparison const& comparison) {
    Json points = Json::array();
    for (ComparedPoint const& point : comparison.points) { points.push(json_of(point)); }
    return Json::object()
        .set("first", comparison.first.id)
        .set("second", comparison.second.id)
        .set("points", std::move(points))
        .set("only_first", Json::array_of(comparison.only_first))
        .set("only_second", Json::array_of(comparison.only_second))
        .set("other_units", Json::array_of(comparison.other_units))
        .set("settings", json_of(comparison.settings))
        .set("machine", json_of(comparison.machine));
}

Sheet sheet_of(HistoryComparison const& comparison) {
    Sheet sheet{{"label", "unit", "first_median", "second_median", "ratio", "ratio_low", "ratio_high", "shift",
                 "shift_low", "shift_high", "probability", "adjusted_probability", "verdict"},
                {}};
    for (ComparedPoint const& point : comparison.points) {
        std::vector<std::string> row{point.label, point.unit, exact(point.first.median), exact(point.second.median)};
        auto const add = [&row](std::initializer_list<double> values, bool there) {
            for (double const value : values) { row.push_back(there ? exact(value) : std::string{}); }
        };
        SampleRatio const ratio = point.ratio.value_or(SampleRatio{});
        SampleComparison const found = point.comparison.value_or(SampleComparison{});
        add({ratio.ratio, ratio.low, ratio.high}, point.ratio.has_value());
        add({found.shift, found.low, found.high, found.probability, point.probability}, point.comparison.has_value());
        row.push_back(point.verdict);
        sheet.rows.push_back(std::move(row));
    }
    return sheet;
}

} // namespace headroom::cli
