#pragma once

#include "headroom/measure/measured_scaling.hpp"

#include <memory>
#include <string_view>

namespace headroom::io {

/// Finds a command's result in what it printed, by a regular expression of RE2 (linear in the output, whatever pattern
/// and output are; no look-around and no back-references).
///
/// The last line in which the pattern matches counts, and in it the first match: programs print what is final last.
/// Carriage returns end lines too, so that progress bars are many. The first group is the number, or the whole match
/// where there is no group. Where seconds are asked for, a unit of time that follows the number on its line is its unit. Bytes are matched as they are, whatever their encoding.
class ResultPattern {
public:
    /// Errors: InputError{usage} at `where` for what is no such expression, or too large a one.
    ResultPattern(std::string_view pattern, measure::ResultUnit unit, std::string_view where);
    ~ResultPattern();
    ResultPattern(ResultPattern&&) noexcept;
    ResultPattern& operator=(ResultPattern&&) noexcept;

    [[nodiscard]] measure::CommandResult read(std::string_view output) const;

private:
    struct Expression;
    std::unique_ptr<Expression> expression_;
    measure::ResultUnit unit_;
};

} // namespace headroom::io
