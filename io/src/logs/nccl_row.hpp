#pragma once

#include "logs/log_builder.hpp"

#include <string>
#include <string_view>

namespace headroom::io {

/// Layout of the columns of nccl-tests, as its header states it.
struct NcclColumns {
    bool known = false;   ///< a header was seen
    bool root = false;    ///< a column of it before the times
    bool error = false;   ///< a largest deviation ("error", "res") in place of the count of wrong elements
    int groups = 2;       ///< out-of-place and in-place
    int width = 4;        ///< columns of a group: time, two bandwidths, wrong; and four more where it prints iterations
    bool stamped = false; ///< a date and a time at the end
    double time_unit = 1e-6; ///< the first releases printed milliseconds, under "res"
};

/// Reads the line that names the columns, with its mark # or, as web pages leave it, without; false when the line is another.
bool read_nccl_header(std::string_view line, NcclColumns& columns);

/// One line of results.
struct NcclRow {
    double bytes = 0.0, root = -1.0; ///< root: the rank that sends or receives; -1 where none does
    std::string type, operation;     ///< the operator "sum", "none"; empty where none is printed
    double seconds = 0.0;
    PrintedBandwidths printed;
    bool checked = true, wrong = false;
};

/// Outcome of reading a line of results.
enum class NcclLine { row, not_a_row, cut, unreadable, not_available };
NcclLine read_nccl_row(std::string_view line, NcclColumns const& columns, bool in_place, NcclRow& row);

/// Whether a largest deviation shows a wrong result of a data type.
/// Source: [NcclTests] src/common.cu of its releases before 2.13: 1e-2 for half precision, 1e-5, 1e-12, none for integers.
bool is_wrong_deviation(std::string_view type, double deviation);

} // namespace headroom::io
