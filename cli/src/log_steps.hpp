#pragma once

#include "setting.hpp"

#include "headroom/io/training_log.hpp"
#include "headroom/training/logged_steps.hpp"

#include <stop_token>
#include <string>
#include <vector>

namespace headroom::cli {

/// Reads a log and finds its steady step; `known` has what the options state of its run.
/// Errors: those of `io::read_training_log`.
training::LogAnswer read_log(std::string const& file, io::TrainingLogQuestion const& known,
                             std::stop_token const& stop = {});

/// Facts of a run that options state: workers, batch and length.
io::TrainingLogQuestion facts_of(Arguments const& arguments, Setting const& setting);

/// A fact of a log that an option contradicts.
struct Contradiction {
    training::LogFact fact;
    std::string given;
};
std::vector<Contradiction> contradictions(training::LogAnswer const& log, Arguments const& arguments,
                                          Setting const& setting);

/// Options completed by the facts that a log states and they leave open; the framework where the catalog has it.
Arguments completed_by(training::LogAnswer const& log, Arguments const& arguments, io::Catalog const& catalog);
/// Options that describe the run of the log: its facts hold where options contradict them.
Arguments described_by(training::LogAnswer const& log, Arguments const& arguments, io::Catalog const& catalog);

/// Errors: InputError{usage} where the log is of a model with other layers or another width.
void refuse_other_model(training::LogAnswer const& log, training::Model const& model);

/// Errors: InputError{insufficient} where neither the log nor the options say how many sequences a step has.
void require_batch(training::LogAnswer const& log, Arguments const& description);

/// "sequence_length 8192, recompute none": fields of the run that nobody states and that its step depends on; empty without any.
std::string assumed_words(training::Question const& run);

/// Tokens a second, where the question says how many a step has.
void set_rate(training::LogAnswer& answer, training::Workload const& workload, bool batch_stated);

/// "train.log (Megatron-LM): 6.23 s a step (6.2 to 6.3 s), median of 480 of 500 lines; left out: 8 of warm-up, ..."
std::string log_words(training::LogAnswer const& answer);

} // namespace headroom::cli
