#pragma once

#include "gate.hpp"
#include "predict/passes.hpp"
#include "predict/schedules.hpp"
#include "predict/simulation.hpp"
#include "setting.hpp"

#include "headroom/memory.hpp"
#include "headroom/prediction.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headroom::cli {

/// A lever and the step it leads to.
struct LeverOutcome {
    std::string name;
    Prediction prediction;
};

/// All that `predict` has to say.
struct PredictionReport {
    Setting const& setting;
    Prediction prediction;
    std::vector<Assumption> assumptions;
    std::vector<LeverOutcome> what_if;
    std::optional<std::vector<Term>> terms; ///< of --explain
    std::vector<GateOutcome> gates;
    std::optional<double> wall_seconds;                   ///< of --stats
    std::vector<ScheduleOutcome> schedules = {};          ///< of --schedule all
    std::optional<PassPicture> passes = {};               ///< where they are drawn, in the text or on the page
    std::vector<StageMemoryCurve> memory = {};            ///< of every stage over the passes
    std::optional<Simulation> simulation = {};            ///< where it was asked for, or for the page
    bool draws_in_text = false, tells_simulation = false; ///< what the page has is asked for in the text, too
};

/// Where a document is read: a page has every figure.
enum class Medium { text, page };

/// Time and money of a run of `tokens`; empty where tokens or the price are unknown.
std::optional<Seconds> duration_of(Prediction const& prediction);
std::optional<Dollars> cost_of(Prediction const& prediction);

/// The unit that a step reads best in.
struct TimeScale {
    Seconds unit;
    std::string name;
};
TimeScale scale_of(Seconds step);

/// "48.5 s" and "29.1 to 82.3 s", in one unit, chosen by the step.
std::string step_words(Prediction const& prediction);
std::string interval_words(Prediction const& prediction);

/// "; computation x0.61: the factor fitted to this stack"; empty where there is none.
std::string pace_words(double pace);

/// What --require may ask about.
std::vector<Metric> metrics_of(Prediction const& prediction);

Json breakdown_json(StepTime const& time);
Json exposed_json(StepTime const& time);
Json memory_json(Prediction const& prediction);
/// Samples of the whole job in a second: sequences, or pictures.
double samples_per_second(Prediction const& prediction);
/// The parts of a step and of the memory, by name: what tables and bars show.
std::vector<std::pair<std::string, Seconds>> parts_of(StepTime const& time);
std::vector<std::pair<std::string, Bytes>> parts_of(MemoryUse const& memory);

Json json_of(PredictionReport const& report);
Document document_of(PredictionReport const& report, Medium medium = Medium::text);
Sheet sheet_of(PredictionReport const& report);

} // namespace headroom::cli
