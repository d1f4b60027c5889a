#pragma once

#include "arguments.hpp"
#include "verb.hpp"

#include "headroom/io/latency_samples.hpp"
#include "headroom/serving/tail_answer.hpp"

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace headroom::cli {

/// A question of `headroom tail`, and the samples that it is about.
struct TailRequest {
    serving::TailQuestion question;
    std::vector<std::string> paths, baseline;
    io::LatencyQuestion reading;
    bool traces = false; ///< --format-of trace
    std::filesystem::path store;
    std::string step_name = {};
    std::vector<std::string> needs_samples = {}; ///< given options that a report of quantiles cannot answer
};

std::span<Option const> tail_options();
/// Errors: InputError{usage}, before anything is read.
TailRequest read_tail_request(Arguments const& arguments);

} // namespace headroom::cli
