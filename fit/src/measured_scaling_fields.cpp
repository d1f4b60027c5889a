#include "headroom/fit/measured_scaling.hpp"
#include "headroom/measure/campaign_comparison.hpp"

namespace headroom::fit {

using namespace headroom::measure;

namespace {

/// Statistics of a row's values.
struct SummaryOfRow {
    SampleSummary const* of;
};
template <auto Member> constexpr auto statistic() {
    return [](SummaryOfRow const& summary) { return summary.of->*Member; };
}
constexpr Field summary_rows[] = {
    {"median", "Median.", statistic<&SampleSummary::median>()},
    {"low", "Lower end of the median's interval.", statistic<&SampleSummary::low>()},
    {"high", "Upper end of the median's interval.", statistic<&SampleSummary::high>()},
    {"coverage", "Probability that the interval holds the median.", statistic<&SampleSummary::coverage>()},
    {"least", "Smallest value.", statistic<&SampleSummary::least>()},
    {"most", "Largest value.", statistic<&SampleSummary::most>()},
    {"mean", "Mean.", statistic<&SampleSummary::mean>()},
    {"spread", "Median distance from the median, times 1.4826, over the median.", statistic<&SampleSummary::spread>()},
};
constexpr FieldTable summary_table = field_table<SummaryOfRow>("run_summary", summary_rows);
FieldTable const& field_table_of(SummaryOfRow const*) { return summary_table; }

using Row = MeasuredScalingRow;
constexpr Field row_rows[] = {
    {"workers", "Number of workers.", member<&Row::workers>},
    {"size", "Size of the problem; null without --problem.", member<&Row::size>},
    {"command", "Command as it was run.", member<&Row::command>},
    {"runs", "Number of runs, warm-ups apart.", member<&Row::taken>},
    {"planned", "Number of runs that were asked for.", member<&Row::planned>},
    {"warm_ups", "Number of warm-ups.", member<&Row::warm_ups>},
    {"failed", "Runs that ended with an error.", member<&Row::failed>},
    {"timed_out", "Runs that exceeded --timeout.", member<&Row::timed_out>},
    {"unreadable", "Runs that printed no number above zero.", member<&Row::unreadable>},
    {"first_message", "Reason of the first run without a value; null where all have one.",
     [](Row const& r) { return if_known(r.first_message); }},
    {"values", "Values in the unit of the answer, in the order in which they were taken.", member<&Row::values>},
    {"summary", "Statistics of the values; null without any.",
     [](Row const& r) { return r.summary ? std::optional{SummaryOfRow{&*r.summary}} : std::nullopt; }},
    {"speedup", "Speedup over the smallest count with a value; of weak scaling, the scaled speedup.",
     member<&Row::speedup>},
    {"speedup_low", "Lower end of its 95 % interval; null below four runs.", member<&Row::speedup_low>},
    {"speedup_high", "Upper end of its 95 % interval; null below four runs.", member<&Row::speedup_high>},
    {"efficiency", "Speedup over the ratio of worker counts.", member<&Row::efficiency>, Unit{"share"}},
};
constexpr FieldTable row_table = field_table<Row>("scaling_row", row_rows);

constexpr Field warning_rows[] = {
    {"kind", "Name of the warning.", member<&ScalingWarning::kind>},
    {"text", "Warning in a sentence.", member<&ScalingWarning::text>},
};
constexpr FieldTable warning_table = field_table<ScalingWarning>("scaling_warning", warning_rows);

struct SerialFraction {
    double value, at, over;
};
constexpr Field serial_rows[] = {
    {"value", "Serial fraction (Karp-Flatt).", member<&SerialFraction::value>},
    {"at_workers", "Number of workers that it belongs to.", member<&SerialFraction::at>},
    {"over_workers", "Number of workers that the speedup is over.", member<&SerialFraction::over>},
};
constexpr FieldTable serial_table = field_table<SerialFraction>("serial_fraction", serial_rows);
FieldTable const& field_table_of(SerialFraction const*) { return serial_table; }

using Answer = MeasuredScaling;
std::optional<SerialFraction> serial_fraction(Answer const& answer) {
    auto const* last = last_serial_fraction(answer);
    if (last == nullptr) { return std::nullopt; }
    return SerialFraction{last->serial_fraction, last->workers, answer.fit->report.karp_flatt->baseline};
}
std::optional<std::string> first_message(Answer const& answer) {
    std::string text = answer.first_message();
    return text.empty() ? std::nullopt : std::optional{std::move(text)};
}

constexpr Field answer_rows[] = {
    {"dry_run", "Whether nothing was run.", [](Answer const&) { return false; }},
    {"question", "Question that was asked.", member<&Answer::question>},
    {"campaign", "Number of the campaign in the store; null with --store none.",
     [](Answer const& a) { return a.store.empty() ? std::nullopt : std::optional{a.campaign.id}; }},
    {"store", "File of the measurements; null with --store none.", [](Answer const& a) { return if_known(a.store); }},
    {"state", "State of the campaign: done or interrupted.", [](Answer const& a) { return a.campaign.state; }},
    {"complete", "Whether all runs were made; if not, the same command goes on.",
     [](Answer const& a) { return a.complete(); }},
    {"samples", "Number of runs that are kept.", [](Answer const& a) { return a.campaign.samples.size(); }},
    {"resumed_samples", "Number of runs that an earlier call had made.", member<&Answer::resumed>},
    {"machine", "Facts of the machine.", [](Answer const& a) { return unique_facts(a.campaign.machine); }},
    {"load_before", "Processes that wanted to run before the first run; null where that is not known.",
     [](Answer const& a) { return a.noticed.load_before; }},
    {"unit", "Unit of the values: seconds or items/second.", [](Answer const& a) { return a.question.sample_unit(); }},
    {"rows", "Runs at each worker count.", member<&Answer::rows>},
    {"failures", "Number of runs without a value.", [](Answer const& a) { return a.failures(); }},
    {"first_message", "Reason of the first of them; null where all runs have a value.", from<first_message>},
    {"warnings", "Reasons to be careful with the numbers.", member<&Answer::warnings>},
    {"serial_fraction", "Serial fraction at the largest count; null without a fit.", from<serial_fraction>},
    {"stop", "Worker count from which on more are not worth it, in a sentence; null without a fit.", from<stop_words>},
    {"fit", "Laws fitted to the values; null where too few counts have one.", member<&Answer::fit>},
    {"why_no_fit", "Reason why no law was fitted; null where one was.",
     [](Answer const& a) { return a.fit ? std::nullopt : std::optional{a.why_no_fit}; }},
};
constexpr FieldTable answer_table = field_table<Answer>("measured_scaling", answer_rows);

} // namespace

FieldTable const& field_table_of(MeasuredScalingRow const*) { return row_table; }
FieldTable const& field_table_of(ScalingWarning const*) { return warning_table; }
FieldTable const& field_table_of(MeasuredScaling const*) { return answer_table; }

} // namespace headroom::fit
