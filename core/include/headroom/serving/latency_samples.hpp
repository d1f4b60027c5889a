#pragma once

#include "headroom/issue.hpp"
#include "headroom/serving/latency_digest.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headroom::serving {

/// A quantile that a report states without its samples.
struct StatedQuantile {
    double q = 0.5, value = 0.0;
};

/// A request with the time at which it was sent, both in seconds; NaN where that is not known.
struct SentRequest {
    double sent = 0.0, latency = 0.0;
};

/// Samples of one file.
struct LatencySamples {
    LatencyDigest digest;
    std::string format, column, time_column, unit; ///< as they were found; unit: what values were taken to be in
    std::string unit_from;                         ///< "header", "cells", "--unit", "format", or "assumed"
    std::vector<StatedQuantile> stated;            ///< of reports that hold no samples (wrk, vegeta's and k6's texts)
    std::uint64_t stated_count = 0;                ///< requests that such a report speaks of
    double stated_mean = 0.0;
    std::vector<StatedQuantile> known;       ///< of files that state the distribution at these shares, ascending, and
                                             ///< nothing about where samples lie between two of them
    double histogram_error = 0.0;            ///< relative, that the file's own cells bring with them
    std::optional<double> expected_interval; ///< between requests, where the file states one
    std::vector<SentRequest> requests;       ///< in the file's order, where they were asked for and none is missing
    std::vector<Issue> issues;               ///< rows that are no sample, content that was not used
    std::uint64_t rows = 0, bytes = 0;
    bool complete = true;           ///< false where reading was interrupted
    std::vector<std::string> notes; ///< choices that somebody could have made otherwise
};

} // namespace headroom::serving
