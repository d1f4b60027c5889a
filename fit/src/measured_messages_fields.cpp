#include "headroom/fit/communication_fit_answer.hpp"
#include "headroom/fit/measured_messages.hpp"
#include "headroom/measure/campaign_comparison.hpp"

namespace headroom::fit {

using namespace headroom::measure;
using namespace headroom::network;

namespace {

std::string parameter(TimedMessage const& timed, std::string_view name) {
    return std::string{fact(timed.point->parameters, name).value_or("")};
}

constexpr Field timed_rows_of_table[] = {
    {"label", "Name of the point.", [](TimedMessage const& t) -> std::string const& { return t.point->label; }},
    {"parameters", "Settings of the point.", [](TimedMessage const& t) { return unique_facts(t.point->parameters); }},
    {"count", "Number of repetitions that count.", [](TimedMessage const& t) { return t.seconds.count; }},
    {"least_seconds",
     "Least time: half a round trip, from a barrier (hot) or an agreed instant (cold) until the last rank is done.",
     [](TimedMessage const& t) { return t.seconds.least; }},
    {"median_seconds", "Median time.", [](TimedMessage const& t) { return t.seconds.median; }},
    {"median_low_seconds", "Lower end of the interval of the median.",
     [](TimedMessage const& t) { return t.seconds.low; }},
    {"median_high_seconds", "Upper end of the interval of the median.",
     [](TimedMessage const& t) { return t.seconds.high; }},
    {"coverage", "Probability that the interval holds the median.",
     [](TimedMessage const& t) { return t.seconds.coverage; }},
    {"most_seconds", "Longest time.", [](TimedMessage const& t) { return t.seconds.most; }},
    {"spread", "Median distance from the median, times 1.4826, over the median.",
     [](TimedMessage const& t) { return finite(t.seconds.spread); }},
    {"usual_buffers", "Whether programs send so many bytes with buffers in this state.", member<&TimedMessage::usual>},
    {"late_median_seconds", "Median delay of the last rank to begin after the agreed instant.",
     member<&TimedMessage::late_median>},
    {"late_most_seconds", "Longest such delay.", member<&TimedMessage::late_most>},
};
constexpr FieldTable timed_table = field_table<TimedMessage>("timed_message", timed_rows_of_table);

constexpr Field csv_rows[] = {
    {"pattern", "Pattern of messages.", [](TimedMessageRow const& r) { return parameter(*r.timed, "pattern"); }},
    {"link", "Link between two ranks; empty for other patterns.",
     [](TimedMessageRow const& r) { return parameter(*r.timed, "link"); }},
    {"collective", "Collective; empty for messages.",
     [](TimedMessageRow const& r) { return parameter(*r.timed, "collective"); }},
    {"algorithm", "Algorithm of the collective.",
     [](TimedMessageRow const& r) { return parameter(*r.timed, "algorithm"); }},
    {"buffers", "State of the buffers: hot or cold; empty where there is one only.",
     [](TimedMessageRow const& r) { return parameter(*r.timed, "buffers"); }},
    {"bytes", "Size of a message, or of the whole vector.", [](TimedMessageRow const& r) { return r.timed->bytes; }},
    {"*", "The point.", [](TimedMessageRow const& r) -> TimedMessage const& { return *r.timed; }},
};
constexpr FieldTable csv_table = field_table<TimedMessageRow>("timed_message_row", csv_rows);

constexpr Field failure_rows[] = {
    {"point", "Name of the point.", member<&FailedMessage::point>},
    {"message", "Last reason of failure.", member<&FailedMessage::message>},
    {"count", "Number of repetitions that failed.", member<&FailedMessage::count>},
};
constexpr FieldTable failure_table = field_table<FailedMessage>("failed_point", failure_rows);

constexpr Field ratio_rows[] = {
    {"link", "Link: inside a host, or between hosts.", member<&MessageRatio::link>},
    {"buffers", "State of the buffers: hot or cold.", member<&MessageRatio::buffers>},
    {"bytes", "Size of a message.", member<&MessageRatio::bytes>},
    {"one_way_seconds", "Median time of one way.", member<&MessageRatio::one_way>},
    {"both_ways_ratio", "Median time of both ways at once over that of one way; null where not measured.",
     member<&MessageRatio::both_ways>},
    {"shifted_ratio", "Median time of a shift of all ranks over that of one way; null where not measured.",
     member<&MessageRatio::shifted>},
};
constexpr FieldTable ratio_table = field_table<MessageRatio>("message_ratio", ratio_rows);

/// A fit with the measured times that its residuals refer to.
struct FitOfMessages {
    MeasuredMessages const* answer;
    CommunicationFit const* fit;
};
struct ResidualOfMessages {
    MeasuredCollective const* row;
    FitResidual const* residual;
};
constexpr Field residual_rows[] = {
    {"bytes", "Size of the whole vector.", [](ResidualOfMessages const& r) { return r.row->size.size; }},
    {"measured_seconds", "Measured time; of probes of other patterns the median.",
     [](ResidualOfMessages const& r) { return r.row->time; }},
    {"predicted_seconds", "Fitted time.", [](ResidualOfMessages const& r) { return r.residual->predicted; }},
    {"relative_error", "Fitted over measured time, less one.",
     [](ResidualOfMessages const& r) { return r.residual->relative_error; }},
    {"outlier", "Whether the measured time did not move the fit.",
     [](ResidualOfMessages const& r) { return r.residual->outlier; }},
};
constexpr FieldTable residual_table = field_table<ResidualOfMessages>("message_residual", residual_rows);
FieldTable const& field_table_of(ResidualOfMessages const*) { return residual_table; }

std::vector<ResidualOfMessages> residuals_of(FitOfMessages const& view) {
    std::vector<ResidualOfMessages> all;
    for (FitResidual const& one : view.fit->residuals) { all.push_back({&view.answer->fit.rows[one.row], &one}); }
    return all;
}

constexpr Field fit_rows[] = {
    {"collective", "Collective; point_to_point for messages.",
     [](FitOfMessages const& f) { return f.fit->collective; }},
    {"algorithm", "Algorithm by the library's name, library where that chose, or the pattern of messages.",
     [](FitOfMessages const& f) -> std::string const& { return f.fit->algorithm; }},
    {"ranks", "Ranks that took part.", [](FitOfMessages const& f) { return f.fit->ranks; }},
    {"nodes", "Hosts of these ranks.", [](FitOfMessages const& f) { return f.fit->nodes; }},
    {"segments", "Straight segments, by rising size.", [](FitOfMessages const& f) { return f.fit->segments; }},
    {"median_relative_error", "Median of the absolute relative errors, without outliers.",
     [](FitOfMessages const& f) { return f.fit->median_relative_error; }},
    {"residuals", "Measured and fitted times, by rising size.", from<residuals_of>},
    {"notes", "Remarks on the fit.", [](FitOfMessages const& f) { return remarks_of(*f.fit); }},
};
constexpr FieldTable fit_table = field_table<FitOfMessages>("message_fit", fit_rows);
FieldTable const& field_table_of(FitOfMessages const*) { return fit_table; }

std::vector<FitOfMessages> fits_of(MeasuredMessages const& answer) {
    std::vector<FitOfMessages> all;
    for (CommunicationFit const& one : answer.fit.result.fits) { all.push_back({&answer, &one}); }
    return all;
}

constexpr Field train_rows[] = {
    {"bytes", "Size of a message.", member<&LogGpResidual::size>},
    {"messages", "Number of messages of the train.", member<&LogGpResidual::messages>},
    {"paced", "Whether there were pauses between the messages.", member<&LogGpResidual::paced>},
    {"repeats", "Number of repetitions.", member<&LogGpResidual::repeats>},
    {"measured_seconds", "Median of the measured times.", member<&LogGpResidual::measured>},
    {"predicted_seconds", "Fitted time.", member<&LogGpResidual::predicted>},
    {"relative_error", "Fitted over measured time, less one.", member<&LogGpResidual::relative_error>},
};
constexpr FieldTable train_table = field_table<LogGpResidual>("message_train", train_rows);

constexpr Field loggp_rows[] = {
    {"link", "Link: inside a host, or between hosts.", member<&LinkLogGp::link>},
    {"latency_seconds", "Latency L of the network.", [](LinkLogGp const& l) { return l.fit.latency_seconds; }},
    {"overhead_seconds", "Overhead o of the processor for a message.",
     [](LinkLogGp const& l) { return l.fit.overhead_seconds; }},
    {"overhead_seconds_per_byte", "Overhead O of the processor for each byte.",
     [](LinkLogGp const& l) { return l.fit.overhead_seconds_per_byte; }},
    {"gap_seconds", "Gap g between messages.", [](LinkLogGp const& l) { return l.fit.gap_seconds; }},
    {"gap_seconds_per_byte", "Gap G between bytes.", [](LinkLogGp const& l) { return l.fit.gap_seconds_per_byte; }},
    {"median_relative_error", "Median of the absolute relative errors of the trains.",
     [](LinkLogGp const& l) { return l.fit.median_relative_error; }},
    {"residuals", "Measured and fitted times of the trains.", [](LinkLogGp const& l) { return l.fit.residuals; }},
    {"notes", "Remarks on the fit.", [](LinkLogGp const& l) { return l.fit.notes; }},
};
constexpr FieldTable loggp_table = field_table<LinkLogGp>("loggp", loggp_rows);

constexpr Field load_rows[] = {
    {"link", "Link: inside a host, or between hosts.", member<&LoadedMessage::link>},
    {"load", "Load: others transfer, or cores compute.", member<&LoadedMessage::load>},
    {"bytes", "Size of a message.", member<&LoadedMessage::bytes>},
    {"alone_seconds", "Median time of one way without load.", member<&LoadedMessage::alone>},
    {"loaded_seconds", "Median time of one way under load.", member<&LoadedMessage::loaded>},
    {"ratio", "Time under load over that without.", [](LoadedMessage const& l) { return l.loaded / l.alone; }},
};
constexpr FieldTable load_table = field_table<LoadedMessage>("loaded_message", load_rows);

// ---- pairs --------------------------------------------------------------------------------------------------------------

constexpr Field pair_rows[] = {
    {"first", "First rank.", member<&PairTime::first>},
    {"second", "Second rank.", member<&PairTime::second>},
    {"same_host", "Whether both are on one host.", member<&PairTime::same_host>},
    {"least_seconds", "Least time of one way.", member<&PairTime::least_seconds>},
    {"median_seconds", "Median time of one way.", member<&PairTime::median_seconds>},
};
constexpr FieldTable pair_table = field_table<PairTime>("pair_time", pair_rows);

constexpr Field slow_link_rows[] = {
    {"first", "First rank.", member<&SlowPair::first>},
    {"first_host", "Host of the first rank.", member<&SlowPair::first_host>},
    {"second", "Second rank.", member<&SlowPair::second>},
    {"second_host", "Host of the second rank.", member<&SlowPair::second_host>},
    {"factor", "Time over that of healthy links.", member<&SlowPair::factor>},
    {"always", "Whether the least time is long too.", member<&SlowPair::always>},
};
constexpr FieldTable slow_link_table = field_table<SlowPair>("slow_link", slow_link_rows);

constexpr Field slow_rank_rows[] = {
    {"rank", "Number of the rank.", member<&SlowHostRank::rank>},
    {"host", "Host of the rank.", member<&SlowHostRank::host>},
    {"factor", "Median factor of its slow links.", member<&SlowHostRank::factor>},
    {"slow_links", "Number of its slow links.", member<&SlowHostRank::slow>},
    {"links", "Number of its links that were judged.", member<&SlowHostRank::links>},
};
constexpr FieldTable slow_rank_table = field_table<SlowHostRank>("slow_rank", slow_rank_rows);

constexpr Field pairs_rows[] = {
    {"bytes", "Size of a message.", member<&MeasuredPairs::bytes>},
    {"times", "Times of all pairs.", member<&MeasuredPairs::times>},
    {"judged", "Number of pairs that could be compared with others.", member<&MeasuredPairs::judged>},
    {"slow_links", "Links that are slower than the others, the slowest first.", member<&MeasuredPairs::slow_links>},
    {"slow_ranks", "Ranks most of whose links are slow.", member<&MeasuredPairs::slow_ranks>},
};
constexpr FieldTable pairs_table = field_table<MeasuredPairs>("pairs", pairs_rows);

// ---- the answer -----------------------------------------------------------------------------------------------------------

constexpr Field prediction_rows[] = {
    {"point", "Name of the collective's point.", member<&PredictedCollective::point>},
    {"algorithm", "Algorithm that the prediction is of.", member<&PredictedCollective::algorithm>},
    {"chosen_as_cheapest", "Whether the algorithm is the cheapest, since the library does not say which it took.",
     member<&PredictedCollective::chosen>},
    {"least_seconds", "Time by the least times of the probes.", member<&PredictedCollective::least_seconds>},
    {"median_seconds", "Time by the medians of the probes.", member<&PredictedCollective::median_seconds>},
    {"least_ratio", "Predicted over measured least time.", member<&PredictedCollective::least_ratio>},
    {"median_ratio", "Predicted over measured median time.", member<&PredictedCollective::median_ratio>},
};
constexpr FieldTable prediction_table = field_table<PredictedCollective>("predicted_collective", prediction_rows);

using Answer = MeasuredMessages;
constexpr Field answer_rows[] = {
    {"campaign", "Number of the campaign in the store; null with --store none.",
     [](Answer const& a) { return a.campaign.id > 0 ? std::optional{a.campaign.id} : std::nullopt; }},
    {"complete", "Whether the measurement came to its end.", member<&Answer::complete>},
    {"resumed_samples", "Number of samples that an earlier call had taken.", member<&Answer::resumed>},
    {"settings", "Options of the measurement.", [](Answer const& a) { return unique_facts(a.campaign.settings); }},
    {"machine", "Facts of the first rank's machine and the job.",
     [](Answer const& a) { return unique_facts(a.campaign.machine); }},
    {"world", "Ranks of the job.", member<&Answer::world>},
    {"clock_error_seconds", "Largest disagreement between clocks of hosts; 0 with one clock.",
     member<&Answer::clock_error_seconds>},
    {"points", "Times of each point.", member<&Answer::timed>},
    {"failures", "Points of which repetitions failed.", member<&Answer::failures>},
    {"ratios", "Times of both ways and of shifts over those of one way.", member<&Answer::ratios>},
    {"fits", "Lines alpha + n beta through the times with the buffers that programs have, in straight segments.",
     from<fits_of>},
    {"loggp", "Constants of LogGP, one set for each link.", member<&Answer::loggp>},
    {"load", "Times under load.", member<&Answer::load>},
    {"pairs_small", "All pairs of ranks with small messages; null where not measured.", member<&Answer::pairs_small>},
    {"pairs_large", "All pairs of ranks with large messages; null where not measured.", member<&Answer::pairs_large>},
    {"predictions", "Times of collectives as the probes of messages predict them.", member<&Answer::predictions>},
    {"median_prediction_error",
     "Median absolute error of least times from 256 KiB on, usual buffers, forced algorithms.",
     member<&Answer::median_prediction_error>},
    {"notes", "Remarks on the measurement.", member<&Answer::notes>},
    {"saved", "Table that was written; null without --save.", [](Answer const& a) { return if_known(a.saved); }},
};
constexpr FieldTable answer_table = field_table<Answer>("measured_messages", answer_rows);

} // namespace

FieldTable const& field_table_of(TimedMessage const*) { return timed_table; }
FieldTable const& field_table_of(TimedMessageRow const*) { return csv_table; }
FieldTable const& field_table_of(MessageRatio const*) { return ratio_table; }
FieldTable const& field_table_of(LoadedMessage const*) { return load_table; }
FieldTable const& field_table_of(PredictedCollective const*) { return prediction_table; }
FieldTable const& field_table_of(FailedMessage const*) { return failure_table; }
FieldTable const& field_table_of(LogGpResidual const*) { return train_table; }
FieldTable const& field_table_of(LinkLogGp const*) { return loggp_table; }
FieldTable const& field_table_of(PairTime const*) { return pair_table; }
FieldTable const& field_table_of(SlowPair const*) { return slow_link_table; }
FieldTable const& field_table_of(SlowHostRank const*) { return slow_rank_table; }
FieldTable const& field_table_of(MeasuredPairs const*) { return pairs_table; }
FieldTable const& field_table_of(MeasuredMessages const*) { return answer_table; }

std::vector<TimedMessageRow> timed_rows(MeasuredMessages const& answer) {
    std::vector<TimedMessageRow> rows;
    for (TimedMessage const& one : answer.timed) { rows.push_back({&one}); }
    return rows;
}

} // namespace headroom::fit
