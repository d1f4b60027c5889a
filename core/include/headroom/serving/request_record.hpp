#pragma once

#include "headroom/issue.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace headroom::serving {

/// Format, columns, units and faults of recorded requests.
struct RequestRecord {
    std::string format;                                    ///< "csv" or "jsonl"
    std::string time_column, prompt_column, output_column; ///< as the file names them
    std::string time_unit;                                 ///< "ms", "own units", "date and time"
    std::string unit_from;                                 ///< "cells", "header", "format" or "given"
    std::vector<Issue> issues;                             ///< rows that are no request, columns not used
    std::uint64_t rows = 0;                                ///< below the header, empty lines apart
    std::uint64_t out_of_order = 0; ///< rows before which a later one stands; they are sorted, not left out
    std::uint64_t first_out_of_order = 0;
    std::vector<std::string> notes; ///< choices that somebody could have made otherwise
    std::string file = {};
};

} // namespace headroom::serving
