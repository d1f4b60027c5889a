#pragma once

#include "arguments.hpp"
#include "verb.hpp"

#include "headroom/io/latency_samples.hpp"
#include "headroom/queue_simulation.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::cli {

/// A place in a distribution as it is asked for: "p95", or a value ("200ms", of plain numbers "200").
struct TailPoint {
    std::string text;
    std::optional<double> q; ///< of a percentile; else the text is a value
};

/// 'p99<=200ms': a share q of all keeps a limit.
struct TailObjective {
    std::string text;
    double q = 0.99;
    std::string limit; ///< as given
};

/// What `headroom tail` is asked.
struct TailQuestion {
    std::vector<std::string> paths, baseline;
    io::LatencyQuestion reading;
    bool traces = false; ///< --format-of trace
    std::filesystem::path store;
    std::string step_name = {};
    bool each = false, fit = false;
    bool service = false; ///< the samples are times of service, without any waiting
    double coverage = 0.95;
    std::optional<double> interval = {}; ///< seconds between requests, as was meant
    std::vector<int> fan_out{1, 8, 64, 512};
    std::optional<TailPoint> slow = {}, hedge = {};
    bool wants_backups = false;
    std::vector<int> backups{1, 2, 4, 8};
    std::optional<TailObjective> objective = {};
    std::optional<double> arrivals_per_second = {};
    std::optional<int> replicas = {};
    Dispatch dispatch = Dispatch::shared_line;
    std::uint64_t seed = 1;
    std::vector<std::string> needs_samples =
        {}; ///< options that were given and that a report of quantiles cannot answer
};

std::span<Option const> tail_options();
/// Errors: InputError{usage}, before anything is read.
TailQuestion read_tail_question(Arguments const& arguments);

/// A value of the samples: with its unit where they are times, else a plain number.
double value_in(std::string const& text, bool times, std::string_view where);

} // namespace headroom::cli
