#pragma once

#include "headroom/fields.hpp"
#include "headroom/measure/measurement.hpp"
#include "headroom/sample_statistics.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::measure {

/// Facts without later ones of a name that occurred before.
Facts unique_facts(Facts const& facts);

// ---- one campaign ---------------------------------------------------------------------------------------------------

/// Number of samples of each outcome, in the order of `SampleOutcome`.
using OutcomeCounts = std::array<std::size_t, 5>;

/// Statistics of the samples of one point.
struct PointSummary {
    MeasuredPoint point;
    OutcomeCounts outcomes{};
    std::vector<double> values;           ///< of outcome `measured`, in the order in which they were taken
    std::optional<SampleSummary> summary; ///< nothing without a value
    std::optional<Drift> drift;
    double drift_probability = 1.0; ///< adjusted for all points of the campaign
};
FieldTable const& field_table_of(PointSummary const*);
/// In the order of the points.
std::vector<PointSummary> summarize_points(Campaign const& campaign);

// ---- two campaigns --------------------------------------------------------------------------------------------------

/// A fact on which two campaigns differ; nothing on the side that does not state it.
struct FactDifference {
    std::string name;
    std::optional<std::string> first, second;
};
/// In the order of the first, then of the second.
std::vector<FactDifference> differences(Facts const& first, Facts const& second);

/// Whether a fact changes from moment to moment: load, clock, free memory.
bool is_momentary(std::string_view name);

/// Whether two sets of facts describe one machine in one state, but for momentary facts.
bool same_machine(Facts const& first, Facts const& second);

/// Result of comparing the samples of a point. Times and rates are faster or slower, other units more or less.
enum class SampleVerdict { faster, slower, more, less, no_difference, too_few };
/// "faster", "no difference shown", "too few samples"
std::string_view name_of(SampleVerdict verdict);

/// Samples of one point in two campaigns.
struct ComparedPoint {
    std::string label, unit;
    SampleSummary first, second;
    std::optional<SampleComparison> comparison = {}; ///< nothing where a side has fewer than four samples
    std::optional<SampleRatio> ratio = {};           ///< nothing, too, where a sample is not positive
    double probability = 1.0;                        ///< adjusted for all points that were compared
    SampleVerdict verdict = SampleVerdict::too_few;  ///< of the second
};
FieldTable const& field_table_of(ComparedPoint const*);

struct CampaignComparison {
    Campaign first, second;
    std::vector<ComparedPoint> points = {};
    std::vector<std::string> only_first = {}, only_second = {}; ///< labels of points that only one side has
    std::vector<std::string> other_units = {};                  ///< labels of points whose units differ
    std::vector<FactDifference> settings = {}, machine = {};
};
FieldTable const& field_table_of(CampaignComparison const*);
/// Compares the points of the same label and unit that have samples on both sides. A difference is shown where its
/// probability by chance, adjusted for all points, is below 5 %.
CampaignComparison compare_campaigns(Campaign first, Campaign second);

} // namespace headroom::measure
