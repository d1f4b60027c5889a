#pragma once

#include "log_steps.hpp"
#include "output.hpp"
#include "setting.hpp"

#include "headroom/io/catalog.hpp"
#include "headroom/training/prediction.hpp"

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace headroom::cli {

/// Measured steps of --calibration: each [[measured]] table is read like a call of `headroom predict`, predicted, and
/// added to the constants. Those outside of their own interval are listed in the notes.
void use_measured_steps(Arguments const& arguments, Setting& setting);

/// A measured step with its 90 % interval, both of whose ends are the step where nothing is known of it.
struct MeasuredTime {
    Seconds step, low, high;
    [[nodiscard]] double deviation() const; ///< standard deviation of its logarithm
};

/// Steps to be kept, with the file that they go to.
struct SavedStep {
    std::string file;
    std::vector<io::MeasuredEntry> entries;
};

/// The logs of --log, and the options completed by what they state.
struct MeasuredLogs {
    Arguments arguments;
    std::vector<training::LogAnswer> logs;
};
MeasuredLogs read_logs(Arguments const& arguments, Setting const& setting, std::stop_token const& stop);

/// The steps of logs join the measured steps; as entries of a calibration file. Notes say where the options that were
/// `given` contradict a log. Errors: InputError{usage} where a log is of another model, or its run cannot be described.
std::vector<io::MeasuredEntry> use_logs(MeasuredLogs& logs, Arguments const& given, Setting& setting);

/// --measured-step of this question joins the measured steps; what is to be saved of it.
/// Errors: InputError{usage} for --save-calibration without a step.
std::optional<SavedStep> read_measured_step(Arguments const& arguments, training::Question const& question,
                                            Setting& setting);

/// Adds a measured step to the constants; as an entry of a calibration file, described by `call`.
io::MeasuredEntry keep_measured_step(Arguments const& call, training::Question const& question,
                                     MeasuredTime const& time, std::string name, Setting& setting);

/// Adds it at the end of its file, which is made when there is none.
void save_measured_step(SavedStep const& step, Output const& output);

/// "2 measured steps make it x1.08: 8.1 s (7.6 to 8.9 s) instead of 7.5 s (6.0 to 10.5 s)"; empty without any.
std::string warm_words(training::Prediction const& prediction);

} // namespace headroom::cli
