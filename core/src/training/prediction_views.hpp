#pragma once

#include "headroom/training/training_answers.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headroom::training {

// Parts of a prediction as results nest them: each view is an object with a field table.

/// Exposed communication by parallel dimension.
struct ExposedCommunication {
    StepTime time;
};
FieldTable const& field_table_of(ExposedCommunication const*);

/// Memory of the fullest stage with the limits that it is held against.
struct MemoryOfPrediction {
    Prediction const* prediction;
};
FieldTable const& field_table_of(MemoryOfPrediction const*);

/// A critical batch's effect on the run.
struct StatisticsOfRun {
    Prediction const* prediction;
};
FieldTable const& field_table_of(StatisticsOfRun const*);

FieldTable const& field_table_of(StepTime const*);
FieldTable const& field_table_of(CommunicationRow const*);
FieldTable const& field_table_of(MemoryRemedy const*);
FieldTable const& field_table_of(MemoryUse const*);
FieldTable const& field_table_of(WarmEffect const*);
FieldTable const& field_table_of(Goodput const*);
FieldTable const& field_table_of(TimeShares const*);
FieldTable const& field_table_of(LeftOutTerm const*);
FieldTable const& field_table_of(SerialFraction const*);
FieldTable const& field_table_of(SearchCounts const*);
FieldTable const& field_table_of(ComparisonRow const*);
FieldTable const& field_table_of(Stop const*);
FieldTable const& field_table_of(ChecklistItem const*);
FieldTable const& field_table_of(Simulation const*);
FieldTable const& field_table_of(SimulatedStage const*);
FieldTable const& field_table_of(ScheduleOutcome const*);
FieldTable const& field_table_of(LeverOutcome const*);

inline std::optional<double> days_of(std::optional<Seconds> const& time) {
    return time ? std::optional{time->in(units::day)} : std::nullopt;
}
inline std::optional<std::string> if_stated(std::string const& text) {
    return text.empty() ? std::nullopt : std::optional{text};
}
inline std::optional<StatisticsOfRun> statistics_of(Prediction const& prediction) {
    return prediction.statistics ? std::optional{StatisticsOfRun{&prediction}} : std::nullopt;
}
inline StrategyInUse strategy_of(Prediction const& prediction) {
    return {prediction.question.strategy, prediction.question.workload};
}
inline std::pair<Seconds, Seconds> ends_of(Interval const& interval) { return {interval.low, interval.high}; }

} // namespace headroom::training

namespace headroom {

FieldTable const& field_table_of(Term const*);

} // namespace headroom
