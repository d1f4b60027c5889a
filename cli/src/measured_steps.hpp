#pragma once

#include "output.hpp"
#include "setting.hpp"

#include "headroom/io/measured_steps.hpp"
#include "headroom/training/prediction.hpp"

#include <string>

namespace headroom::cli {

using io::assumed_words;
using io::completed_by;
using io::Contradiction;
using io::contradictions;
using io::keep_measured_step;
using io::MeasuredLogs;
using io::MeasuredTime;
using io::read_log;
using io::read_logs;
using io::read_measured_step;
using io::refuse_other_model;
using io::require_batch;
using io::SavedStep;
using io::set_rate;
using io::use_logs;
using io::use_measured_steps;

/// "train.log (Megatron-LM): 6.23 s a step (6.2 to 6.3 s), median of 480 of 500 lines; left out: 8 of warm-up, ..."
std::string log_words(training::LogAnswer const& answer);
/// Words on a log for the first screen; empty unless its steps changed, over a fifth of its lines is left out, or one
/// line is all.
std::string log_doubts(training::LogAnswer const& answer);

/// Adds it at the end of its file, which is made when there is none.
void save_measured_step(SavedStep const& step, Output const& output);

/// "2 measured steps make it x1.08: 8.1 s (7.6 to 8.9 s) instead of 7.5 s (6.0 to 10.5 s)"; empty without any.
std::string warm_words(training::Prediction const& prediction);

} // namespace headroom::cli
