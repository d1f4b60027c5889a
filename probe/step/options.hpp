#pragma once

#include "gemm.hpp"
#include "job.hpp"
#include "transformer.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace headroom::training {

enum class Mode { train, check, predict };

/// What the command line asks for.
struct Options {
    Mode mode = Mode::train;
    bool help = false;
    TransformerShape shape;
    bool has_shape = false; ///< some of it was given
    bool has_batch = false; ///< either of the two was given
    std::size_t batch = 16;
    bool local_batch = false; ///< `batch` is of each worker
    std::size_t steps = 10, warm_up = 2;
    bool is_double = false;
    GemmChoice gemm = GemmChoice::automatic;
    int threads = 1;
    double bucket_bytes = 1e6;
    bool overlap = false;
    AllReduce all_reduce = AllReduce::library;
    std::string replay = {}, profile = {}, json = {}; ///< files; empty: none

    std::string algorithm = "ring"; ///< of `Mode::predict`
    std::vector<int> workers = {};
    std::optional<double> latency, bandwidth; ///< seconds; bytes a second
    double load = 0.0;                        ///< share of a worker's processor that its exchange takes
};

/// Errors: InputError (usage).
Options read_options(std::span<char* const> arguments);

std::string usage();

} // namespace headroom::training
