#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace headroom::io {

/// What a command printed as its result, or why there is none.
struct CommandResult {
    std::optional<double> value = {}; ///< finite and above zero, in what was asked for
    std::string problem = {};         ///< "'nan' is no number above zero"; empty where there is a value
};

/// What a bare number of a result counts. With a unit behind it ("180ms") a time says so itself.
enum class ResultUnit { seconds, milliseconds, microseconds, nanoseconds, throughput };
std::string_view name_of(ResultUnit unit);

/// Finds a command's result in what it printed, by a regular expression of RE2 (linear in the output, whatever pattern
/// and output are; no look-around and no back-references).
///
/// The last line in which the pattern matches counts, and in it the first match: programs print what is final last.
/// Carriage returns end lines too, so that progress bars are many. The first group is the number, or the whole match
/// where there is no group. Bytes are matched as they are, whatever their encoding.
class ResultPattern {
public:
    /// Errors: InputError{usage} at `where` for what is no such expression, or too large a one.
    ResultPattern(std::string_view pattern, ResultUnit unit, std::string_view where);
    ~ResultPattern();
    ResultPattern(ResultPattern&&) noexcept;
    ResultPattern& operator=(ResultPattern&&) noexcept;

    [[nodiscard]] CommandResult read(std::string_view output) const;

private:
    struct Expression;
    std::unique_ptr<Expression> expression_;
    ResultUnit unit_;
};

} // namespace headroom::io
