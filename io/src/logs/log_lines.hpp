#pragma once

#include "tables/cell_text.hpp"
#include "tables/numbers.hpp"

#include <cstddef>
#include <string_view>

namespace headroom::io {

/// Lines of a log, numbered from 1, without their ends and without what a launcher puts before each:
/// "[1,0]<stdout>:", "[1,0]<stdout> ", "0: ", "[0] ", a date and a time of day.
class LogLines {
public:
    explicit LogLines(std::string_view text) : lines_{text} {}
    bool next(std::string_view& line);
    [[nodiscard]] std::size_t number() const { return lines_.number(); }
    [[nodiscard]] bool unfinished() const { return lines_.unfinished(); }

private:
    TextLines lines_;
};

} // namespace headroom::io
