#pragma once

#include "headroom/issue.hpp"
#include "headroom/training/logged_steps.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// Facts that its owner knows, for logs that state rates and not times; 0: not known.
struct TrainingLogQuestion {
    int workers = 0, global_batch = 0, sequence_length = 0;
    int accumulation = 0; ///< micro-batches of a step and replica
};

/// The log of a training run: the lines that time steps, and the facts that it states.
struct TrainingLog {
    std::string format;    ///< "Megatron-LM", "torchtitan", ...
    std::string framework; ///< name of the catalog that the format suggests; empty: none
    std::vector<training::LoggedStep> steps;
    std::vector<training::LogFact> facts; ///< by options of `predict`; "layers" and "hidden" of the model
    std::optional<double> memory_bytes;   ///< largest that an accelerator reported
    std::uint64_t lines = 0, bytes = 0;
    bool complete = true;                 ///< false where reading was stopped
    std::vector<training::LogRate> rates; ///< work of a step by the rates that its lines print in addition
    std::vector<Issue> issues;
    std::vector<std::string> warnings; ///< figures that contradict each other
    std::vector<std::string> notes;
    /// The value of a fact; empty where the log does not state it.
    [[nodiscard]] std::string fact(std::string_view option) const;
};

/// Longest text that is held in memory: of JSON, and of what is no plain file. Logs of lines are read a block at a time.
inline constexpr std::uintmax_t training_log_limit = 256U << 20; ///< bytes

/// Reads one training log, of whatever framework wrote it: the format is that whose lines it holds.
///
///     Megatron-LM, NeMo, torchtitan, nanotron, MaxText, Composer, DeepSpeed     lines with the time or the rate of steps
///     Hugging Face Trainer     printed dictionaries and progress bars; trainer_state.json; trainer_log.jsonl
///     MLPerf                   :::MLLOG, blocks between evaluations
///     tables                   Lightning's metrics.csv; exports of W&B, TensorBoard and MLflow; any with steps and times
///     labelled lines           of any other software: "step 10 | dt: 250 ms"; a time needs a unit, or time stamps that show it
///
/// Lines of several ranks are distinguished by the marks of launchers, restarts by step numbers that fall. Of runs with other
/// facts than the last one (batch, degrees) the steps are counted and not used.
/// Times are compared with the time stamps of their lines: milliseconds that are called seconds, and seconds that are called
/// milliseconds, are read as what they are, and other factors above 1.5 are warnings. Times of micro-batches are joined to steps.
/// Throws:  Interrupted where `stop` comes before the first step; later the log is incomplete.
/// Errors: InputError{unreadable} when the text is none of these, or times and time stamps differ by a factor above 100;
///         InputError{insufficient} when it times no step, or states
///         rates that need a fact which neither it nor `question` has.
TrainingLog read_training_log(std::filesystem::path const& path, TrainingLogQuestion const& question = {},
                              std::stop_token const& stop = {});
/// Reads a log that is in memory.
TrainingLog read_training_log_text(std::string_view text, std::string const& where,
                                   TrainingLogQuestion const& question = {});

} // namespace headroom::io
