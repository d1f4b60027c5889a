#include "history/history_words.hpp"

#include "document/text.hpp"

#include "headroom/error.hpp"
#include "headroom/quantity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>

namespace headroom::cli {

namespace {

struct KnownUnit {
    std::string_view name;
    Dimension dimension;
};

constexpr std::array known_units{
    KnownUnit{"seconds", {.seconds = 1}},
    KnownUnit{"bytes", {.bytes = 1}},
    KnownUnit{"flops", {.flops = 1}},
    KnownUnit{"bytes/second", {.bytes = 1, .seconds = -1}},
    KnownUnit{"flops/second", {.flops = 1, .seconds = -1}},
};

/// What a calendar says of it.
struct CalendarTime {
    int year = 0;
    unsigned month = 0, day = 0;
    long hour = 0, minute = 0, second = 0;
};

CalendarTime calendar(std::int64_t ns) {
    std::chrono::sys_time<std::chrono::nanoseconds> const time{std::chrono::nanoseconds{ns}};
    auto const day = std::chrono::floor<std::chrono::days>(time);
    std::chrono::year_month_day const date{day};
    std::chrono::hh_mm_ss const clock{std::chrono::floor<std::chrono::seconds>(time - day)};
    return {static_cast<int>(date.year()),
            static_cast<unsigned>(date.month()),
            static_cast<unsigned>(date.day()),
            static_cast<long>(clock.hours().count()),
            static_cast<long>(clock.minutes().count()),
            static_cast<long>(clock.seconds().count())};
}

std::string time_with(std::int64_t ns, char const* between, char const* end) {
    CalendarTime const at = calendar(ns);
    return fmt::format("{:04}-{:02}-{:02}{}{:02}:{:02}:{:02}{}", at.year, at.month, at.day, between, at.hour, at.minute,
                       at.second, end);
}

} // namespace

std::string in_words(double value, std::string_view unit) {
    auto const known = std::ranges::find(known_units, unit, &KnownUnit::name);
    if (known != known_units.end() && std::isfinite(value)) { return format_base(value, known->dimension, 4); }
    return significant(value, 4) + " " + printable(unit);
}

std::string time_in_words(std::int64_t ns) { return ns == 0 ? "-" : time_with(ns, " ", ""); }

std::optional<std::string> time_text(std::int64_t ns) {
    return ns == 0 ? std::nullopt : std::optional{time_with(ns, "T", "Z")};
}

std::string probability_in_words(double probability) {
    return probability < 0.001 ? "< 0.001" : significant(probability, 2);
}

std::string change_in_words(double change) {
    if (!std::isfinite(change)) { return "-"; }
    return (change < 0.0 ? "-" : "+") + percent(std::abs(change), 2) + " %";
}

std::string_view state_word(Campaign const& campaign, bool in_hands) {
    bool const broken_off = campaign.state == CampaignState::running && !in_hands;
    return broken_off ? "broken-off" : name_of(campaign.state);
}

std::vector<PointSummary> summarize_points(Campaign const& campaign) {
    std::vector<PointSummary> points(campaign.points.size());
    for (std::size_t at = 0; at < points.size(); ++at) { points[at].point = &campaign.points[at]; }
    for (Sample const& sample : campaign.samples) {
        PointSummary& point = points.at(sample.point);
        ++point.outcomes.at(static_cast<std::size_t>(sample.outcome));
        if (sample.outcome == SampleOutcome::measured) { point.values.push_back(sample.value); }
    }
    std::vector<double> probabilities;
    for (PointSummary& point : points) {
        if (point.values.empty()) { continue; }
        point.summary = summarize(point.values);
        point.drift = find_drift(point.values);
        if (point.drift) { probabilities.push_back(point.drift->probability); }
    }
    auto const adjusted = adjusted_for_many(probabilities);
    auto next = adjusted.begin();
    for (PointSummary& point : points) {
        if (point.drift) { point.drift_probability = *next++; }
    }
    return points;
}

Json json_of(Facts const& facts) {
    Json object = Json::object();
    std::set<std::string_view> seen;
    for (auto const& [name, value] : facts) {
        if (seen.insert(name).second) { object.set(name, value); }
    }
    return object;
}

Json json_of(OutcomeCounts const& outcomes) {
    Json object = Json::object();
    for (std::size_t at = 0; at < outcomes.size(); ++at) {
        std::string name{name_of(static_cast<SampleOutcome>(at))};
        std::ranges::replace(name, '-', '_');
        object.set(name, outcomes[at]);
    }
    return object;
}

Json head_json(Campaign const& campaign, bool in_hands, std::size_t samples) {
    auto const seconds = [](std::int64_t ns) { return ns == 0 ? Json{} : Json{1e-9 * static_cast<double>(ns)}; };
    return Json::object()
        .set("id", campaign.id)
        .set("kind", campaign.kind)
        .set("name", campaign.name.empty() ? Json{} : Json{campaign.name})
        .set("state", state_word(campaign, in_hands))
        .set("began", time_text(campaign.began_ns))
        .set("ended", time_text(campaign.ended_ns))
        .set("began_unix_seconds", seconds(campaign.began_ns))
        .set("ended_unix_seconds", seconds(campaign.ended_ns))
        .set("samples", samples);
}

Table facts_table(std::string title, Facts const& facts) {
    Table table{std::move(title), {{"fact", Align::left, true}, {"value", Align::left, true}}, {}};
    for (auto const& [name, value] : facts) { table.rows.push_back({printable(name), printable(value)}); }
    return table;
}

std::string title_of(Campaign const& campaign) {
    std::string title = fmt::format("Measurements {}: {}", campaign.id, printable(campaign.kind));
    if (!campaign.name.empty()) { title += " '" + printable(campaign.name) + "'"; }
    return title;
}

} // namespace headroom::cli
