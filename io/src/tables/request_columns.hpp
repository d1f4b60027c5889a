#pragma once

#include "tables/request_cells.hpp"

#include "headroom/io/request_trace.hpp"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// What a request is read from, in this order everywhere.
enum class RequestField { time, prompt, output };
inline constexpr std::size_t request_fields = 3;

/// Which columns of a file (or keys of its objects) hold a request, and what a bare time is in.
struct RequestColumns {
    std::array<std::size_t, request_fields> at{};    ///< indices into the header
    std::array<std::string, request_fields> names{}; ///< as the file has them
    double unit_seconds = 0.0;                       ///< of bare times; 0: nothing tells
    std::string unit, unit_from;                     ///< what tells it
    std::vector<std::string> notes;
};

/// Finds them: those asked for, else the usual names.
/// Errors: InputError{usage} where one is not there, or --time-unit is no unit of time.
RequestColumns find_request_columns(std::vector<std::string> const& header, std::string_view where, bool objects,
                                    RequestTraceQuestion const& question);

} // namespace headroom::io
