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
    explicit LogLines(std::string_view text) : text_{text} {}
    bool next(std::string_view& line);
    [[nodiscard]] std::size_t number() const { return number_; }
    /// Whether the line that was given last has no end: the writer may have stopped in it.
    [[nodiscard]] bool unfinished() const { return unfinished_; }

private:
    std::string_view text_;
    std::size_t number_ = 0;
    bool unfinished_ = false;
};

} // namespace headroom::io
