#pragma once

#include "tables/cell_text.hpp"
#include "tables/numbers.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace headroom::io {

/// Lines of a log, numbered from 1, without their ends and without what a launcher puts before each:
/// "[1,0]<stdout>:", "[1,0]<stdout> ", "0: ", "[0] ", "node1: ", a date and a time of day. A launcher that marks each piece of
/// output puts its mark inside rows, too; there it is taken out and counted.
class LogLines {
public:
    explicit LogLines(std::string_view text) : lines_{text} {}
    bool next(std::string_view& line);
    [[nodiscard]] std::size_t number() const { return lines_.number(); }
    [[nodiscard]] bool unfinished() const { return lines_.unfinished(); }
    /// Lines with a mark inside.
    [[nodiscard]] std::size_t marked_inside() const { return marked_inside_; }

private:
    TextLines lines_;
    std::string clean_; ///< the line, where a mark was taken out of it
    std::size_t marked_inside_ = 0;
};

} // namespace headroom::io
