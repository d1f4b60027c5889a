#pragma once

#include "document/document.hpp"
#include "document/json.hpp"

#include "headroom/measurement.hpp"
#include "headroom/sample_statistics.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::cli {

/// A value in a unit of the store ("seconds"), as people read it: "1.23 ms". Of an unknown unit: the number and its unit.
std::string in_words(double value, std::string_view unit);
/// "2026-03-01 12:00:05", UTC; "-" for none.
std::string time_in_words(std::int64_t ns);
/// "2026-03-01T12:00:05Z"; nothing for none.
std::optional<std::string> time_text(std::int64_t ns);
/// A probability: "0.032", "< 0.001".
std::string probability_in_words(double probability);
/// A change with its sign: "+3.2 %".
std::string change_in_words(double change);

/// `running` of a campaign that nobody measures any more is "broken-off".
std::string_view state_word(Campaign const& campaign, bool in_hands);

/// How many samples of each outcome, in the order of `SampleOutcome`.
using OutcomeCounts = std::array<std::size_t, 5>;

/// What the samples of one point say.
struct PointSummary {
    MeasuredPoint const* point = nullptr;
    OutcomeCounts outcomes{};
    std::vector<double> values;
    std::optional<SampleSummary> summary; ///< nothing without a sample that counts
    std::optional<Drift> drift;
    double drift_probability = 1.0; ///< adjusted for all points of the campaign
};
/// In the order of the points, which outlive them.
std::vector<PointSummary> summarize_points(Campaign const& campaign);

/// A fact of the store as an object's members; a name that stands there twice counts once.
Json json_of(Facts const& facts);
Json json_of(OutcomeCounts const& outcomes);
/// id, kind, name, state, began, ended and samples: of every answer.
Json head_json(Campaign const& campaign, bool in_hands, std::size_t samples);
Table facts_table(std::string title, Facts const& facts);
/// "Measurements 12, comm 'before the change'"
std::string title_of(Campaign const& campaign);

} // namespace headroom::cli
