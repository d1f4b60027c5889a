#include "prediction_views.hpp"

namespace headroom::training {
namespace {

constexpr Field share_rows[] = {
    {"work", "Fraction of time in work that is done once and kept: the goodput.", member<&TimeShares::work>},
    {"checkpoint", "Fraction of time in checkpoints that are kept.", member<&TimeShares::checkpoint>},
    {"redone", "Fraction of time in work and checkpoints that a failure cut off.", member<&TimeShares::redone>},
    {"restart", "Fraction of time from failures to the next step.", member<&TimeShares::restart>},
};
constexpr FieldTable share_table = field_table<TimeShares>("time_shares", share_rows);

constexpr Field goodput_rows[] = {
    {"cluster_mtbf_seconds", "Mean time between failures of the job.", [](Goodput const& g) { return g.model.mtbf; }},
    {"checkpoint_seconds", "Time that training waits for a checkpoint.",
     [](Goodput const& g) { return g.model.checkpoint; }},
    {"state_bytes", "Size of a checkpoint; null where its time was given.",
     [](Goodput const& g) { return g.state > Bytes{} ? std::optional{g.state} : std::nullopt; }},
    {"restart_seconds", "Time from a failure to the next step.", [](Goodput const& g) { return g.model.restart; }},
    {"interval_seconds", "Work between two checkpoints.", member<&Goodput::interval>},
    {"young_interval_seconds", "Interval by Young's formula.", member<&Goodput::young>},
    {"daly_interval_seconds", "Interval by Daly's formula.", member<&Goodput::daly>},
    {"exact_interval_seconds", "Interval of the least expected time.", member<&Goodput::exact>},
    {"time_over_work", "Expected time of the run over its work.",
     [](Goodput const& g) { return finite(g.time_over_work); }},
    {"goodput", "Fraction of time in work that is kept.", [](Goodput const& g) { return g.shares.work; }},
    {"shares", "Time of the run by cause.", member<&Goodput::shares>},
    {"progresses", "Whether such a run ends.", [](Goodput const& g) { return g.progresses(); }},
    {"why_not", "Reason why it does not end; null where it does.",
     [](Goodput const& g) { return if_stated(g.why_not); }},
};
constexpr FieldTable goodput_table = field_table<Goodput>("goodput", goodput_rows);

constexpr Field statistics_rows[] = {
    {"critical_batch", "Critical batch, in sequences.",
     [](StatisticsOfRun const& s) { return s.prediction->statistics->critical_batch; }},
    {"sample_efficiency", "Worth of a sample over that in a small batch.",
     [](StatisticsOfRun const& s) { return s.prediction->statistics->efficiency; }},
    {"steps_needed", "Steps to the target; null without tokens.",
     [](StatisticsOfRun const& s) { return s.prediction->statistics->steps; }},
    {"tokens_needed", "Tokens to the target; null without tokens.",
     [](StatisticsOfRun const& s) { return s.prediction->statistics->tokens; }},
    {"time_to_target_seconds", "Time to the target; null without tokens.",
     [](StatisticsOfRun const& s) { return time_to_target(*s.prediction); }},
};
constexpr FieldTable statistics_table = field_table<StatisticsOfRun>("statistics", statistics_rows);

constexpr Field left_out_rows[] = {
    {"term", "Effect that speedup laws leave out.", [](LeftOutTerm const& t) { return key_of(t.term); }},
    {"on", "Whether it is counted.", member<&LeftOutTerm::on>},
    {"value", "Its measure: largest over mean, relative spread, rate lost a doubling, time lost, or B/Bc.",
     [](LeftOutTerm const& t) { return finite(t.value); }},
    {"expected_maximum", "Expected largest of as many standard normal numbers as there are ranks.",
     member<&LeftOutTerm::expected_maximum>},
    {"seconds", "Time that it adds to a step; null where the run does not end.",
     [](LeftOutTerm const& t) { return finite(t.seconds.base()); }},
    {"explanation", "How it comes about.", member<&LeftOutTerm::explanation>},
    {"example", "Option that counts it.", [](LeftOutTerm const& t) { return example_option(t.term); }},
};
constexpr FieldTable left_out_table = field_table<LeftOutTerm>("left_out", left_out_rows);

} // namespace

FieldTable const& field_table_of(TimeShares const*) { return share_table; }
FieldTable const& field_table_of(Goodput const*) { return goodput_table; }
FieldTable const& field_table_of(StatisticsOfRun const*) { return statistics_table; }
FieldTable const& field_table_of(LeftOutTerm const*) { return left_out_table; }

} // namespace headroom::training
