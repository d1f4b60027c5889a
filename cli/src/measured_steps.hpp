#pragma once

#include "output.hpp"
#include "setting.hpp"

#include "headroom/io/catalog.hpp"
#include "headroom/training/prediction.hpp"

#include <optional>
#include <string>

namespace headroom::cli {

/// Measured steps of --calibration: each [[measured]] table is read like a call of `headroom predict`, predicted, and
/// added to the constants. Those outside of their own interval are listed in the notes.
void use_measured_steps(Arguments const& arguments, Setting& setting);

/// A step to be kept, with the file that it goes to.
struct SavedStep {
    std::string file;
    io::MeasuredEntry entry;
};

/// --measured-step of this question joins the measured steps; what is to be saved of it.
/// Errors: InputError{usage} for --save-calibration without a step.
std::optional<SavedStep> read_measured_step(Arguments const& arguments, training::Question const& question,
                                            Setting& setting);

/// Adds it at the end of its file, which is made when there is none.
void save_measured_step(SavedStep const& step, Output const& output);

/// "2 measured steps make it x1.08: 8.1 s (7.6 to 8.9 s) instead of 7.5 s (6.0 to 10.5 s)"; empty without any.
std::string warm_words(training::Prediction const& prediction);

} // namespace headroom::cli
