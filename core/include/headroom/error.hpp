#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// Reasons for which an input is refused; each has its own exit code in the command line.
enum class Fault {
    usage,        ///< wrong usage or configuration (exit 2)
    unreadable,   ///< input unreadable or corrupt (exit 4)
    insufficient, ///< too little data for an answer (exit 5)
    impossible,   ///< understood, and nothing can do it (exit 3)
};

/// The parts of an error line. Grammar: `where: problem (why). hint`, lower case, one line.
struct ErrorText {
    std::string where = {};
    std::string problem = {};
    std::string why = {};
    std::string hint = {};
};

/// A mistake in what the user gave: thrown once, at the edge, never inside a search.
class InputError : public std::runtime_error {
public:
    InputError(Fault fault, ErrorText text);
    [[nodiscard]] Fault fault() const { return fault_; }
    [[nodiscard]] ErrorText const& text() const { return text_; }

private:
    Fault fault_;
    ErrorText text_;
};

/// Throws InputError{usage}: "where: problem (why). hint".
[[noreturn]] void refuse(std::string_view where, std::string problem, std::string why = {}, std::string hint = {});
/// Throws InputError{insufficient}, of data that can be read and are too few.
[[noreturn]] void too_little(std::string_view where, std::string problem, std::string why = {}, std::string hint = {});

/// A broken promise inside Headroom itself: a defect of ours, never of the input (exit 1).
class ContractError : public std::logic_error {
public:
    using std::logic_error::logic_error;
};

/// Writes the parts as one line: control characters are replaced and over-long quotes cut.
std::string error_line(ErrorText const& text);

/// `text` between single quotes, shortened and with control characters replaced, for error lines.
std::string quoted(std::string_view text);

/// Lower case without spaces, hyphens, underscores, slashes, brackets and dots (a dot between two
/// digits stays: 1.3B is not 13B): how names compare.
std::string normalised(std::string_view name);

/// The candidate that `name` is a slip of the pen of: at most a quarter of its letters differ, of four or more; empty when
/// there is none. For names whose neighbours mean other things, as options.
std::string misspelled(std::string_view name, std::vector<std::string> const& candidates);

/// The candidate nearest to `name` by edit distance over normalised names, one of its family and size first; empty when none is near.
std::string nearest(std::string_view name, std::vector<std::string> const& candidates);

} // namespace headroom
