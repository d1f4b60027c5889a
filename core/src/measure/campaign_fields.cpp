#include "headroom/measure/campaign_comparison.hpp"

#include <utility>

namespace headroom::measure {

FieldTable const& field_table_of(FactDifference const*);

namespace {

constexpr Field measured_point_rows[] = {
    {"label", "Name of the point, unique in its campaign.", member<&MeasuredPoint::label>},
    {"unit", "Unit of the samples.", member<&MeasuredPoint::unit>},
    {"parameters", "Settings of the point.", [](MeasuredPoint const& p) { return unique_facts(p.parameters); }},
};
constexpr FieldTable measured_point_table = field_table<MeasuredPoint>("measured_point", measured_point_rows);

constexpr Field sample_rows[] = {
    {"point", "Index of the point.", member<&Sample::point>},
    {"repetition", "Number of the repetition of this point, from 0.", member<&Sample::repetition>},
    {"outcome", "Outcome: measured, warm-up, failed, timed-out or unreadable.", member<&Sample::outcome>},
    {"value", "Value in the point's unit; null where there is none.",
     [](Sample const& s) { return s.has_value() ? std::optional{s.value} : std::nullopt; }},
    {"began_unix_ns", "Begin, nanoseconds since 1970.", member<&Sample::began_ns>},
    {"load", "Processes that wanted to run; null where that is not known.", member<&Sample::load>},
    {"message", "Reason why there is no value; null with one.", [](Sample const& s) { return if_known(s.message); }},
};
constexpr FieldTable sample_table = field_table<Sample>("sample", sample_rows);

/// The counts of a point, as an object of their own.
struct OutcomesOfPoint {
    PointSummary const* point;
};
template <SampleOutcome Outcome> constexpr auto outcome() {
    return [](OutcomesOfPoint const& outcomes) { return outcomes.point->outcomes[static_cast<std::size_t>(Outcome)]; };
}
constexpr Field outcome_rows[] = {
    {"measured", "Samples that count.", outcome<SampleOutcome::measured>()},
    {"warm_up", "Samples of warm-ups, which do not count.", outcome<SampleOutcome::warm_up>()},
    {"failed", "Repetitions that ended with an error.", outcome<SampleOutcome::failed>()},
    {"timed_out", "Repetitions that exceeded their time.", outcome<SampleOutcome::timed_out>()},
    {"unreadable", "Repetitions whose result is not a number.", outcome<SampleOutcome::unreadable>()},
};
constexpr FieldTable outcome_table = field_table<OutcomesOfPoint>("sample_outcomes", outcome_rows);
FieldTable const& field_table_of(OutcomesOfPoint const*) { return outcome_table; }

constexpr Field sample_summary_rows[] = {
    {"count", "Number of samples.", member<&SampleSummary::count>},
    {"median", "Median of the samples.", member<&SampleSummary::median>},
    {"interval", "Interval that holds the median with the probability coverage.",
     [](SampleSummary const& s) {
         return std::pair{s.low, s.high};
     }},
    {"coverage", "Probability that the interval holds.", member<&SampleSummary::coverage>},
    {"spread", "Median distance from the median, times 1.4826, over the median; null where that is 0.",
     [](SampleSummary const& s) { return finite(s.spread); }},
    {"least", "Smallest sample.", member<&SampleSummary::least>},
    {"most", "Largest sample.", member<&SampleSummary::most>},
    {"mean", "Mean of the samples.", member<&SampleSummary::mean>},
};
constexpr FieldTable sample_summary_table = field_table<SampleSummary>("sample_summary", sample_summary_rows);

/// Drift of a point with its adjusted probability.
struct DriftOfPoint {
    PointSummary const* point;
};
constexpr Field drift_rows[] = {
    {"change", "Change from the first to the last sample over the median; null where that is 0.",
     [](DriftOfPoint const& d) { return finite(d.point->drift->change); }},
    {"probability", "Probability of so much order by chance.",
     [](DriftOfPoint const& d) { return d.point->drift->probability; }},
    {"adjusted_probability", "The probability, raised for the number of points.",
     [](DriftOfPoint const& d) { return d.point->drift_probability; }},
};
constexpr FieldTable drift_table = field_table<DriftOfPoint>("sample_drift", drift_rows);
FieldTable const& field_table_of(DriftOfPoint const*) { return drift_table; }

constexpr Field point_summary_rows[] = {
    {"*", "The point.", member<&PointSummary::point>},
    {"outcomes", "Number of repetitions by outcome.", [](PointSummary const& p) { return OutcomesOfPoint{&p}; }},
    {"summary", "Statistics of the samples; null without any.", member<&PointSummary::summary>},
    {"drift", "Trend of the samples in their order; null below eight samples.",
     [](PointSummary const& p) { return p.drift ? std::optional{DriftOfPoint{&p}} : std::nullopt; }},
};
constexpr FieldTable point_summary_table = field_table<PointSummary>("point_summary", point_summary_rows);

/// An estimate with its interval of 95 %.
struct Estimate {
    double value, low, high;
};
constexpr Field estimate_rows[] = {
    {"value", "Estimate.", member<&Estimate::value>},
    {"interval", "Interval that holds it with 95 %.",
     [](Estimate const& e) {
         return std::pair{e.low, e.high};
     }},
};
constexpr FieldTable estimate_table = field_table<Estimate>("sample_estimate", estimate_rows);
FieldTable const& field_table_of(Estimate const*) { return estimate_table; }

std::optional<Estimate> shift_of(ComparedPoint const& point) {
    auto const& found = point.comparison;
    return found ? std::optional{Estimate{found->shift, found->low, found->high}} : std::nullopt;
}
std::optional<Estimate> ratio_of(ComparedPoint const& point) {
    auto const& found = point.ratio;
    return found ? std::optional{Estimate{found->ratio, found->low, found->high}} : std::nullopt;
}

constexpr Field compared_point_rows[] = {
    {"label", "Name of the point.", member<&ComparedPoint::label>},
    {"unit", "Unit of the samples.", member<&ComparedPoint::unit>},
    {"first", "Samples of the first campaign.", member<&ComparedPoint::first>},
    {"second", "Samples of the second campaign.", member<&ComparedPoint::second>},
    {"shift", "Median of all differences, second less first; null with too few samples.", from<shift_of>},
    {"ratio", "Median of all ratios, second over first; null with too few samples, and where one is not positive.",
     from<ratio_of>},
    {"probability", "Probability of so large a difference by chance; null with too few samples.",
     [](ComparedPoint const& p) { return p.comparison ? std::optional{p.comparison->probability} : std::nullopt; }},
    {"adjusted_probability", "The probability, raised for the number of points.",
     [](ComparedPoint const& p) { return p.comparison ? std::optional{p.probability} : std::nullopt; }},
    {"verdict", "Result for the second campaign: faster, slower, more, less, no difference shown, too few samples.",
     member<&ComparedPoint::verdict>},
};
constexpr FieldTable compared_point_table = field_table<ComparedPoint>("compared_point", compared_point_rows);

constexpr Field difference_rows[] = {
    {"name", "Name of the fact.", member<&FactDifference::name>},
    {"first", "Value of the first campaign; null where it does not state the fact.", member<&FactDifference::first>},
    {"second", "Value of the second campaign; null where it does not state the fact.", member<&FactDifference::second>},
    {"momentary", "Whether the fact changes from moment to moment.",
     [](FactDifference const& difference) { return is_momentary(difference.name); }},
};
constexpr FieldTable difference_table = field_table<FactDifference>("fact_difference", difference_rows);

constexpr Field campaign_comparison_rows[] = {
    {"first", "Number of the first campaign.", [](CampaignComparison const& c) { return c.first.id; }},
    {"second", "Number of the second campaign.", [](CampaignComparison const& c) { return c.second.id; }},
    {"points", "Points that both have.", member<&CampaignComparison::points>},
    {"only_first", "Points that only the first has.", member<&CampaignComparison::only_first>},
    {"only_second", "Points that only the second has.", member<&CampaignComparison::only_second>},
    {"other_units", "Points whose units differ.", member<&CampaignComparison::other_units>},
    {"settings", "Settings that differ.", member<&CampaignComparison::settings>},
    {"machine", "Facts of the machine that differ.", member<&CampaignComparison::machine>},
};
constexpr FieldTable campaign_comparison_table =
    field_table<CampaignComparison>("campaign_comparison", campaign_comparison_rows);

} // namespace

FieldTable const& field_table_of(MeasuredPoint const*) { return measured_point_table; }
FieldTable const& field_table_of(Sample const*) { return sample_table; }
FieldTable const& field_table_of(FactDifference const*) { return difference_table; }
FieldTable const& field_table_of(PointSummary const*) { return point_summary_table; }
FieldTable const& field_table_of(ComparedPoint const*) { return compared_point_table; }
FieldTable const& field_table_of(CampaignComparison const*) { return campaign_comparison_table; }

} // namespace headroom::measure

namespace headroom {

FieldTable const& field_table_of(SampleSummary const*);
FieldTable const& field_table_of(SampleSummary const*) { return measure::sample_summary_table; }

} // namespace headroom
