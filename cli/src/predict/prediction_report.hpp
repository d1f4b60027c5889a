#pragma once

#include "gate.hpp"
#include "output.hpp"
#include "setting.hpp"

#include "headroom/training/combinations.hpp"
#include "headroom/training/pass_picture.hpp"
#include "headroom/training/training_answers.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headroom::cli {

/// Answer of `predict` with what its document draws.
struct PredictionReport {
    Setting const& setting;
    training::PredictAnswer answer;
    std::optional<CallStats> stats;
    std::optional<training::PassPicture> passes = {};    ///< where they are drawn, in the text or on the page
    std::vector<training::StageMemoryCurve> memory = {}; ///< of every stage over the passes
    bool draws_in_text = false;
};

/// Where a document is read: a page has every figure.
enum class Medium { text, page };

/// The unit that a step reads best in.
struct TimeScale {
    Seconds unit;
    std::string name;
};
TimeScale scale_of(Seconds step);

/// "48.5 s" and "29.1 to 82.3 s", in one unit, chosen by the step.
std::string step_words(training::Prediction const& prediction);
std::string interval_words(training::Prediction const& prediction);

/// "; computation x0.61: the factor fitted to this framework"; empty where there is none.
std::string pace_words(double pace);

/// Numbers that --require may ask about; without values where `answer` is null.
std::vector<Metric> metrics_of(training::PredictAnswer const* answer);

/// The parts of the memory, by name: what tables and bars show; those of a step are `training::named_parts`.
std::vector<std::pair<std::string, Bytes>> parts_of(training::MemoryUse const& memory);

Document document_of(PredictionReport const& report, Medium medium = Medium::text);
/// One screen: the answer, its parts in a sentence each, and what was asked for by an option; longer where that is a drawing or an explanation.
Document screen_document(PredictionReport const& report, ScreenSize screen);
/// First sentence of the answer: --brief.
std::string verdict_of(PredictionReport const& report);

} // namespace headroom::cli
