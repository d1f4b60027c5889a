#include "headroom/io/command_result.hpp"

#include "headroom/error.hpp"
#include "headroom/quantity.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <re2/re2.h>

namespace headroom::io {

using namespace headroom::measure;

namespace {

constexpr std::size_t longest_pattern = 4096;
constexpr std::int64_t most_memory = 16 << 20;     ///< of a compiled expression
constexpr double largest = 1e18, smallest = 1e-12; ///< no time or rate of a run lies beyond

/// Seconds of the unit; 1 of throughputs.
double scale_of(ResultUnit unit) {
    constexpr std::array scales{1.0, 1e-3, 1e-6, 1e-9, 1.0};
    return scales.at(static_cast<std::size_t>(unit));
}

re2::RE2::Options options() {
    re2::RE2::Options chosen;
    chosen.set_log_errors(false);
    chosen.set_encoding(re2::RE2::Options::EncodingLatin1);
    chosen.set_max_mem(most_memory);
    return chosen;
}

std::string_view without_spaces(std::string_view text) {
    constexpr std::string_view spaces = " \t";
    auto const first = text.find_first_not_of(spaces);
    return first == std::string_view::npos ? std::string_view{}
                                           : text.substr(first, text.find_last_not_of(spaces) - first + 1);
}

/// A plain number of the whole text; what from_chars takes as infinity or no number is one here, for the message.
std::optional<double> plain_number(std::string_view text) {
    if (text.starts_with('+')) { text.remove_prefix(1); }
    double value = 0.0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    bool const whole = end == text.data() + text.size() && !text.empty();
    if (whole && error == std::errc::result_out_of_range) { return INFINITY; }
    return whole && error == std::errc{} ? std::optional{value} : std::nullopt;
}

std::optional<double> time_with_unit(std::string_view text) {
    try {
        return parse_base(text, {.seconds = 1}, "result");
    } catch (InputError const&) { return std::nullopt; }
}

/// The word that follows a number on its line: its unit, where it is one.
std::string_view word_after(std::string_view rest) {
    rest = without_spaces(rest);
    return rest.substr(0, rest.find_first_of(" \t,;)]}|\""));
}

/// `rest` is what follows on the line: "22 ms" is 22 ms in whatever part of it the pattern took.
CommandResult number_of(std::string_view text, std::string_view rest, ResultUnit unit) {
    std::string_view const word = without_spaces(text);
    std::optional<double> value = plain_number(word);
    if (value && unit == ResultUnit::seconds) {
        std::string_view const after = word_after(rest);
        if (after.ends_with("/s") || after.ends_with("/sec")) {
            return {{}, quoted(word) + " is followed by " + quoted(after) + ": a rate takes --result-unit throughput"};
        }
        *value *= time_with_unit("1 " + std::string{after}).value_or(1.0);
    } else if (value) {
        *value *= scale_of(unit);
    } else if (unit != ResultUnit::throughput) {
        value = time_with_unit(word);
    }
    if (!value) { return {{}, quoted(word) + " is no number"}; }
    if (!std::isfinite(*value) || !(*value > 0.0)) { return {{}, quoted(word) + " is no number above zero"}; }
    if (*value > largest || *value < smallest) { return {{}, quoted(word) + " is beyond any time or rate"}; }
    return {value, ""};
}

/// Takes the last line off `text`, whatever ends it.
std::string_view take_last_line(std::string_view& text) {
    auto const end = text.find_last_of("\n\r");
    std::string_view const line = end == std::string_view::npos ? text : text.substr(end + 1);
    text = end == std::string_view::npos ? std::string_view{} : text.substr(0, end);
    return line;
}

} // namespace

struct ResultPattern::Expression {
    re2::RE2 compiled;
    explicit Expression(std::string_view pattern)
        : compiled{re2::StringPiece{pattern.data(), pattern.size()}, options()} {}
};

ResultPattern::ResultPattern(std::string_view pattern, ResultUnit unit, std::string_view where) : unit_{unit} {
    auto const fail = [&](std::string why) {
        refuse(where, quoted(pattern) + " is no regular expression of RE2", std::move(why),
               "look-around and back-references are not in it");
    };
    if (pattern.empty()) { fail("it is empty"); }
    if (pattern.size() > longest_pattern) { fail("it is longer than 4096 bytes"); }
    expression_ = std::make_unique<Expression>(pattern);
    if (!expression_->compiled.ok()) { fail(expression_->compiled.error()); }
}

ResultPattern::~ResultPattern() = default;
ResultPattern::ResultPattern(ResultPattern&&) noexcept = default;
ResultPattern& ResultPattern::operator=(ResultPattern&&) noexcept = default;

CommandResult ResultPattern::read(std::string_view output) const {
    re2::RE2 const& expression = expression_->compiled;
    int const groups = std::min(expression.NumberOfCapturingGroups(), 1) + 1;
    while (!output.empty()) {
        std::string_view const line = take_last_line(output);
        std::array<re2::StringPiece, 2> found;
        re2::StringPiece const text{line.data(), line.size()};
        if (!expression.Match(text, 0, line.size(), re2::RE2::UNANCHORED, found.data(), groups)) { continue; }
        re2::StringPiece const& number = found.at(static_cast<std::size_t>(groups - 1));
        if (number.data() == nullptr) { return {{}, "the group of the pattern took no part in its match"}; }
        auto const end = static_cast<std::size_t>(number.data() + number.size() - line.data());
        return number_of({number.data(), number.size()}, line.substr(end), unit_);
    }
    return {{}, "the pattern matches no line of its output"};
}

} // namespace headroom::io
