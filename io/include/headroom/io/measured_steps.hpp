#pragma once

#include "headroom/io/training_log.hpp"
#include "headroom/io/training_options.hpp"
#include "headroom/training/logged_steps.hpp"

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace headroom::io {

// Measured steps of runs that options, logs and calibration files describe: predictions of runs that are like them lean on these.

/// Reads a log and finds its steady step; `known` has what the options state of its run.
/// Errors: those of `read_training_log`.
training::LogAnswer read_log(std::string const& file, TrainingLogQuestion const& known,
                             std::stop_token const& stop = {});

/// Facts of a run that options state: workers, batch and length.
TrainingLogQuestion facts_of(Arguments const& arguments, Setting const& setting);

/// A fact of a log that an option contradicts.
struct Contradiction {
    training::LogFact fact;
    std::string given;
};
std::vector<Contradiction> contradictions(training::LogAnswer const& log, Arguments const& arguments,
                                          Setting const& setting);

/// Options completed by the facts that a log states and they leave open; the framework where the catalog has it.
Arguments completed_by(training::LogAnswer const& log, Arguments const& arguments, Catalog const& catalog);
/// Options that describe the run of the log: its facts hold where options contradict them.
Arguments described_by(training::LogAnswer const& log, Arguments const& arguments, Catalog const& catalog);

/// Errors: InputError{usage} where the log is of a model with other layers or another width.
void refuse_other_model(training::LogAnswer const& log, training::Model const& model);

/// Errors: InputError{insufficient} where neither the log nor the options say how many sequences a step has.
void require_batch(training::LogAnswer const& log, Arguments const& description);

/// "sequence_length 8192, recompute none": fields of the run that nobody states and that its step depends on; empty without any.
std::string assumed_words(training::Question const& run);

/// Tokens a second, where the question says how many a step has.
void set_rate(training::LogAnswer& answer, training::Workload const& workload, bool batch_stated);

/// Warns where the rates that a log prints (tokens, samples, FLOP/s) differ from its step by a factor above 1.5, as a run of this
/// question does the work of a step.
void check_rates(training::LogAnswer& answer, training::Question const& run);

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
    std::vector<MeasuredEntry> entries;
};

/// The logs of --log, and the options completed by what they state.
struct MeasuredLogs {
    Arguments arguments;
    std::vector<training::LogAnswer> logs;
};
MeasuredLogs read_logs(Arguments const& arguments, Setting const& setting, std::stop_token const& stop);

/// The steps of logs join the measured steps; as entries of a calibration file. Notes say where the options that were
/// `given` contradict a log. Errors: InputError{usage} where a log is of another model, or its run cannot be described.
std::vector<MeasuredEntry> use_logs(MeasuredLogs& logs, Arguments const& given, Setting& setting);

/// --measured-step of this question joins the measured steps; what is to be saved of it.
/// Errors: InputError{usage} for --save-calibration without a step.
std::optional<SavedStep> read_measured_step(Arguments const& arguments, training::Question const& question,
                                            Setting& setting);

/// Adds a measured step to the constants; as an entry of a calibration file, described by `call`.
MeasuredEntry keep_measured_step(Arguments const& call, training::Question const& question, MeasuredTime const& time,
                                 std::string name, Setting& setting);

} // namespace headroom::io
