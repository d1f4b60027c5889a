#pragma once

#include "arguments.hpp"
#include "verb.hpp"

#include "headroom/fit/scaling_fit.hpp"
#include "headroom/io/command_result.hpp"
#include "headroom/measure/measurement.hpp"
#include "headroom/measure/run_order.hpp"
#include "headroom/probe/run_command.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace headroom::cli {

/// What `headroom measure scaling` is asked: a command, the worker counts it runs at, and how its result is told.
struct ScalingQuestion {
    std::vector<std::string> words; ///< with {workers}, {size} and {per_worker} in them
    bool shell = false;             ///< then `words` is one text that /bin/sh reads
    std::string prepare = {};       ///< a line for /bin/sh before each run; empty: none
    std::vector<int> workers;
    fit::Scaling scaling = fit::Scaling::strong;
    std::optional<std::int64_t> problem = {}; ///< of all workers together (strong) or of each (weak)
    std::uint32_t repeats = 5, warm_up = 0;
    std::uint64_t seed = 1;
    std::optional<double> timeout_seconds = {};
    std::string pattern = {}; ///< of the result; empty: the wall clock
    io::ResultUnit unit = io::ResultUnit::seconds;
    bool example = false;

    [[nodiscard]] bool throughput() const { return !pattern.empty() && unit == io::ResultUnit::throughput; }
    [[nodiscard]] fit::Measured measured() const {
        return throughput() ? fit::Measured::throughput : fit::Measured::seconds;
    }
};

std::span<Option const> scaling_options();
/// Errors: InputError{usage}, before anything runs: no command, no {workers} in it, a program that is not there.
ScalingQuestion read_scaling_question(Arguments const& arguments);

/// A point a worker count, in rising order.
std::vector<measure::MeasuredPoint> points_of(ScalingQuestion const& question);
/// What tells this campaign from others: everything but where results go.
measure::Facts settings_of(ScalingQuestion const& question);
std::vector<measure::PlannedRun> order_of(ScalingQuestion const& question);

/// A text with its placeholders filled for a worker count.
std::string filled(ScalingQuestion const& question, std::string text, int workers);
/// The command of a worker count, and the one that prepares it.
probe::CommandQuestion command_at(ScalingQuestion const& question, int workers);
probe::CommandQuestion prepare_at(ScalingQuestion const& question, int workers);
/// As a person would type it.
std::string command_words(std::vector<std::string> const& words);

} // namespace headroom::cli
