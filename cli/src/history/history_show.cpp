#include "history/history.hpp"

#include "headroom/document/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace headroom::cli {
namespace {

constexpr double wanted_coverage = 0.95, rarely = 0.05;
constexpr std::size_t most_series = 8, most_marks = 400, most_failures = 20;

std::string counts_in_words(std::vector<PointSummary> const& points) {
    OutcomeCounts sum{};
    for (PointSummary const& point : points) {
        for (std::size_t at = 0; at < sum.size(); ++at) { sum[at] += point.outcomes[at]; }
    }
    std::vector<std::string> words;
    for (std::size_t at = 0; at < sum.size(); ++at) {
        if (sum[at] > 0) { words.push_back(fmt::format("{} {}", sum[at], name_of(static_cast<SampleOutcome>(at)))); }
    }
    return words.empty() ? "no samples" : join(words, ", ");
}

std::string state_in_words(io::CampaignHead const& head) {
    std::string const began = "began " + time_in_words(head.began_ns) + " UTC";
    if (head.state == io::StoredState::running) { return began + ", is being measured now"; }
    if (head.state == io::StoredState::broken_off) {
        return began + ", broken off without a word: its process was killed or lost power";
    }
    double const seconds = 1e-9 * (static_cast<double>(head.ended_ns) - static_cast<double>(head.began_ns));
    return fmt::format("{}, {} after {}", began, name_of(head.state), in_words(seconds, "seconds"));
}

std::string drift_in_words(PointSummary const& point) {
    if (!point.drift) { return "-"; }
    return point.drift_probability < rarely ? change_in_words(point.drift->change) : "none shown";
}

std::vector<std::string> row_of(PointSummary const& point) {
    std::string const label = printable(point.point.label);
    std::string const counted_of = fmt::format("{}", point.outcomes[static_cast<std::size_t>(SampleOutcome::measured)]);
    if (!point.summary) { return {label, "-", "-", "-", "-", "-", counted_of}; }
    SampleSummary const& summary = *point.summary;
    std::string_view const unit = point.point.unit;
    return {label,
            in_words(summary.median, unit),
            in_words(summary.low, unit),
            in_words(summary.high, unit) + (summary.coverage < wanted_coverage ? "*" : ""),
            percent(summary.spread, 2),
            drift_in_words(point),
            counted_of};
}

Table points_table(std::vector<PointSummary> const& points) {
    Table table{"Points", {wrapped("point"), "median", "from", "to", "spread %", "drift", "samples"}, {}};
    for (PointSummary const& point : points) { table.rows.push_back(row_of(point)); }
    return table;
}

/// Adds notes on the meaning of the columns, and on points where they hold less well.
void add_notes(std::vector<Block>& blocks, std::vector<PointSummary> const& points) {
    bool few = false, drifts = false;
    for (PointSummary const& point : points) {
        few = few || (point.summary && point.summary->coverage < wanted_coverage);
        drifts = drifts || (point.drift && point.drift_probability < rarely);
    }
    blocks.emplace_back(Paragraph{"The interval holds the median of endless repetitions with 95 %, whatever their "
                                  "distribution, as long as they do not depend on each other. Spread is the median "
                                  "distance from the median, scaled to a standard deviation. Other runs, other times "
                                  "of day and other machines are not in it."});
    if (few) {
        blocks.emplace_back(
            Paragraph{"* fewer than six samples: the interval is all of them, and covers less than 95 %.", "", true});
    }
    if (drifts) {
        blocks.emplace_back(Paragraph{"Where a drift is shown, samples depend on their order: the interval promises "
                                      "too much there. Warm up longer, or leave the machine alone.",
                                      "", true});
    }
}

void add_failures(std::vector<Block>& blocks, Campaign const& campaign) {
    Items items{"Without a value", {}};
    std::size_t failed = 0;
    for (Sample const& sample : campaign.samples) {
        if (sample.has_value() || ++failed > most_failures) { continue; }
        items.items.push_back(fmt::format("{}, repetition {}: {}{}", printable(campaign.points[sample.point].label),
                                          sample.repetition, name_of(sample.outcome),
                                          sample.message.empty() ? "" : ": " + printable(sample.message)));
    }
    if (failed > most_failures) { items.items.push_back(fmt::format("and {} more", failed - most_failures)); }
    if (failed > 0) { blocks.emplace_back(std::move(items)); }
}

/// The points that spread most, as they were taken: what drifts, falls into steps or has strays is seen here.
std::optional<Chart> order_chart(std::vector<PointSummary> const& points) {
    std::vector<PointSummary const*> drawn;
    for (PointSummary const& point : points) {
        if (point.summary && point.summary->median > 0.0 && point.values.size() > 1) { drawn.push_back(&point); }
    }
    std::ranges::stable_sort(drawn, std::ranges::greater{}, [](auto const* point) { return point->summary->spread; });
    bool const all = drawn.size() <= most_series;
    drawn.resize(std::min(drawn.size(), most_series));
    std::ranges::sort(drawn); // the legend lists them as the table does
    if (drawn.empty()) { return std::nullopt; }
    Chart chart{"Samples in the order in which they were taken",
                all ? "Each over the median of its point."
                    : "Each over the median of its point; the points that spread most.",
                {"sample"},
                {"over the median"},
                {}};
    for (auto const* const point : drawn) {
        Series series{printable(point->point.label), Mark::points};
        std::size_t const step = point->values.size() / most_marks + 1;
        for (std::size_t at = 0; at < point->values.size(); at += step) {
            series.x.push_back(static_cast<double>(at + 1));
            series.y.push_back(point->values[at] / point->summary->median);
        }
        if (step > 1) { chart.caption += fmt::format(" Every {}th of {}.", step, series.name); }
        chart.series.push_back(std::move(series));
    }
    chart.rules.push_back({.vertical = false, .at = 1.0, .label = "median"});
    return chart;
}

} // namespace

Document show_document(io::StoredCampaign const& shown, bool chart) {
    Campaign const& campaign = shown.campaign;
    auto const& points = shown.points;
    Document document{title_of(shown.head), {}, ""};
    auto& blocks = document.blocks;
    blocks.emplace_back(Paragraph{document.title + ", " + state_in_words(shown.head) + "; " +
                                      counted(points.size(), "point") + ", " + counts_in_words(points) + ".",
                                  "", true});
    if (!points.empty()) {
        blocks.emplace_back(points_table(points));
        add_notes(blocks, points);
    }
    if (auto figure = chart ? order_chart(points) : std::nullopt) { blocks.emplace_back(std::move(*figure)); }
    add_failures(blocks, campaign);
    if (!campaign.settings.empty()) { blocks.emplace_back(facts_table("What was asked", campaign.settings)); }
    if (!campaign.machine.empty()) { blocks.emplace_back(facts_table("Machine", campaign.machine)); }
    return document;
}

} // namespace headroom::cli
