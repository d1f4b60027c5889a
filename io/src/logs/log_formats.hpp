#pragma once

#include "logs/log_builder.hpp"

namespace headroom::io {

/// One row a format: whether a text is of it, and how it is read. Readers return what `LogBuilder::finish` needs:
/// the name of the format and the count of lines.
struct ReadLog {
    std::string_view format;
    std::size_t lines = 0;
};

bool looks_like_csv_log(std::string_view text);
/// A table of measurements: columns of any order, units in their names or in the cells. Sizes are total bytes.
/// Errors: InputError{unreadable} where the table itself cannot be read.
ReadLog read_csv_log(std::string_view text, LogBuilder& log);

} // namespace headroom::io
