#pragma once

#include "exchange.hpp"
#include "network.hpp"

#include "headroom/machine.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace headroom::step_example {

enum class Mode { train, check, predict };

/// Options of the command line.
struct Options {
    Mode mode = Mode::train;
    std::string help = {}; ///< its text, where it is asked for
    bool schema = false;   ///< the JSON Schema of the results is asked for
    NetworkShape shape = {};
    bool has_batch = false; ///< either of the two was given
    std::size_t batch = 16;
    bool local_batch = false; ///< `batch` is of each worker
    std::size_t steps = 10, warm_up = 2;
    std::string precision = "single"; ///< or "double"
    double bucket_bytes = 1e6;
    bool overlap = false;
    std::string algorithm =
        {}; ///< of the all-reduce: "mpi", "ring"; of `Mode::predict` a row of the table of collectives
    std::string replay = {}, profile = {}, json = {}; ///< files; empty: none

    // of `Mode::predict`
    std::vector<int> workers = {};
    std::optional<double> latency = {}, bandwidth = {}; ///< seconds; bytes a second
    double load = 0.0; ///< share of a worker's processor that its exchange takes while it is under way

    [[nodiscard]] bool is_double() const { return precision == "double"; }
    [[nodiscard]] AllReduce all_reduce() const { return algorithm == "ring" ? AllReduce::ring : AllReduce::library; }
    /// Sequences of the worker that has most of them.
    [[nodiscard]] std::size_t largest_share(std::size_t count) const {
        return local_batch ? batch : (batch + count - 1) / count;
    }
};

/// Errors: InputError (usage).
Options read_options(std::span<char* const> arguments);
} // namespace headroom::step_example
