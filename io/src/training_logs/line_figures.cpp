#include "training_logs/line_figures.hpp"

#include "tables/cell_text.hpp"
#include "tables/numbers.hpp"
#include "tables/step_rate.hpp"
#include "training_logs/label_words.hpp"
#include "training_logs/log_text.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace headroom::io {

bool is_latin_letter(char c) { return lowered(c) >= 'a' && lowered(c) <= 'z'; }

bool is_name_sign(char c) { return is_latin_letter(c) || is_decimal_digit(c) || c == '_'; }

namespace {

/// A unit of time as heads have it, and the words for it.
struct TimeUnit {
    std::string_view name, words;
};
constexpr std::array time_units{
    TimeUnit{"s", "s sec secs second seconds"},   TimeUnit{"ms", "ms msec msecs millisecond milliseconds"},
    TimeUnit{"us", "us usec usecs microseconds"}, TimeUnit{"ns", "ns nanoseconds"},
    TimeUnit{"min", "min mins minute minutes"},   TimeUnit{"h", "h hr hrs hour hours"},
};

/// The name of the unit that a word is of; the word itself where it is none of time.
std::string_view unit_word(std::string_view word) {
    for (TimeUnit const& unit : time_units) {
        for (std::string_view words = unit.words; !words.empty();) {
            if (same_caseless(next_word(words), word)) { return unit.name; }
        }
    }
    return word;
}
bool is_time_unit(std::string_view word) {
    return std::ranges::find(time_units, unit_word(word), &TimeUnit::name) != time_units.end();
}

/// Whether a number and the word before it are no part of the label behind them: "loss 2.1", "step 5", but not "stage 1".
bool is_figure(std::string_view number, std::string_view word) {
    bool const whole = number.find_first_not_of("0123456789-") == number.npos;
    return !whole || word.empty() || is_known_word(word.substr(word.find_last_of("_/.") + 1));
}

/// The words directly before a number: behind the last separator, figure or gap.
std::string_view label_before(std::string_view text) {
    for (std::string_view const dots : {"... (", "... ", "..."}) { // Flax: "Step... (10 | Loss: 2.1"
        if (text.ends_with(dots)) { text.remove_suffix(dots.size()); }
    }
    std::size_t const end = text.find_last_not_of(" =:'\"[#") + 1;
    text = text.substr(0, end);
    if (text.empty() || !(is_name_sign(text.back()) || text.back() == ')')) { return {}; }
    constexpr std::size_t longest = 64;
    std::size_t begin = end, depth = 0;
    for (; begin > 0 && end - begin < longest; --begin) {
        char const c = text[begin - 1];
        if (c == ')') { ++depth; }
        if (c == '(' && depth-- == 0) { break; }
        if (is_name_sign(c)) { continue; }
        bool const gap = c == ' ' && begin > 1 && (text[begin - 2] == ' ' || text[begin - 2] == '-');
        if (gap || std::string_view{"|,;:{}[]<>\t\"'="}.find(c) != std::string_view::npos) { break; }
    }
    std::string_view label = trimmed_line(text.substr(begin));
    std::string_view last;
    for (std::string_view rest = label; !rest.empty();) {
        std::string_view const before = std::exchange(last, next_word(rest));
        bool const number = is_decimal_digit(last.front()) || same_caseless(last, "nan") || same_caseless(last, "inf");
        if (!number) { continue; }
        std::string_view behind = rest; // its unit
        bool const timed = is_time_unit(next_word(behind)) && !behind.empty();
        if (timed) { rest = behind; }
        if (timed || is_figure(last, before)) {
            label = trimmed_line(rest);
            last = {};
        }
    }
    return label;
}

/// The unit that a text begins with: a word directly behind a number, or one behind a blank that is a unit.
std::string_view unit_of(std::string_view text) {
    if (text.starts_with('%')) { return text.substr(0, 1); }
    std::size_t const blank = text.starts_with(' ') ? 1 : 0;
    auto end = blank;
    while (end < text.size() && (is_latin_letter(text[end]) || text[end] == '/')) { ++end; }
    std::string_view const word = text.substr(blank, end - blank);
    bool const rate = word.find('/') != word.npos && step_rate(word);
    bool const label = end < text.size() && (text[end] == '=' || text[end] == ':'); // of the next number
    if (blank > 0 && (label || (!rate && !is_time_unit(word)))) { return {}; }
    constexpr std::string_view per = " per ";
    if (rate && text.substr(end).starts_with(per)) { // "tokens/s per GPU"
        end += per.size();
        while (end < text.size() && is_latin_letter(text[end])) { ++end; }
    }
    return unit_word(text.substr(blank, end - blank));
}

/// Length of "1:23:45.6" or "1m 50s" at the beginning of a text; 0: it begins with another number.
std::size_t clock_length(std::string_view text) {
    std::size_t const end = std::min(text.find_first_not_of("0123456789:."), text.size());
    if (text.substr(0, end).find(':') != text.npos && clock_duration(text.substr(0, end))) { return end; }
    std::string_view units{"dhms"}; // each smaller than the one before
    std::size_t at = 0, parts = 0;
    while (at < text.size()) {
        std::size_t const letter = at + number_length(text.substr(at));
        std::size_t const unit = letter > at && letter < text.size() ? units.find(text[letter]) : units.npos;
        if (unit == units.npos || (letter + 1 < text.size() && is_latin_letter(text[letter + 1]))) { break; }
        units.remove_prefix(unit + 1);
        ++parts;
        at = letter + 1;
        if (at + 1 < text.size() && text[at] == ' ' && is_decimal_digit(text[at + 1])) { ++at; }
    }
    return parts > 1 ? at : 0;
}

/// Length of "/ 5000" behind a count; 0: no total stands there.
std::size_t total_length(std::string_view text) {
    std::size_t const slash = std::min(text.find_first_not_of(' '), text.size());
    if (!text.substr(slash).starts_with('/')) { return 0; }
    std::size_t const begin = std::min(text.find_first_not_of(' ', slash + 1), text.size());
    std::size_t const end = std::min(text.find_first_not_of("0123456789", begin), text.size());
    return end > begin ? end : 0;
}

/// Length of "8.003", "1'234'567" at the beginning of a text, whose marks part groups of three digits; 0: it begins with no group.
std::size_t groups_length(std::string_view text) {
    auto const digits_at = [&](std::size_t at) {
        return std::min(text.find_first_not_of("0123456789", at), text.size()) - at;
    };
    std::size_t const first = digits_at(0);
    std::size_t end = first;
    bool const marked = first >= 1 && first <= 3 && end < text.size() &&
                        std::string_view{".'_"}.find(text[end]) != std::string_view::npos;
    char const mark = marked ? text[end] : '\0';
    while (marked && end < text.size() && text[end] == mark && digits_at(end + 1) == 3) { end += 4; }
    return end > first ? end : 0;
}

/// Length of ",30" behind the digits of "4,30 s" and "65.507,30", whose comma is a decimal mark, and of ".5" behind groups; 0: none
/// stands there. Numbers alone in brackets are a list.
std::size_t decimals_length(std::string_view text, std::size_t end, char before) {
    bool const groups = groups_length(text) == end;
    bool const whole = groups || text.substr(0, end).find_first_not_of("0123456789") == text.npos;
    std::size_t const stop = std::min(text.find_first_not_of("0123456789", end + 1), text.size());
    bool const mark = end < text.size() && (text[end] == ',' || (text[end] == '.' && groups)) && stop > end + 1;
    bool const brackets =
        (before == '[' || before == '(') && stop < text.size() && (text[stop] == ']' || text[stop] == ')');
    bool const list = brackets || (stop < text.size() && std::string_view{",.:"}.find(text[stop]) != text.npos);
    return whole && mark && !list ? stop - end : 0;
}

} // namespace

bool has_time_unit(LineFigure const& figure) {
    bool const letters = figure.clock && std::ranges::any_of(figure.cell, is_latin_letter); // "1m 50s"
    return letters || is_time_unit(figure.unit);
}

bool is_bare_time(LineFigure const& figure) {
    return figure.label.empty() && !figure.clock && is_time_unit(figure.unit);
}

bool is_before_number(LineFigure const& figure) {
    std::string_view behind = figure.behind;
    static_cast<void>(next_word(behind));
    return !behind.empty() && is_decimal_digit(behind.front());
}

bool is_time_of_line(LineFigure const& figure, std::string_view line) {
    std::string_view behind = figure.behind;
    std::size_t const unit = std::min(behind.find_first_not_of(' '), behind.size());
    behind.remove_prefix(unit);
    while (!behind.empty() && is_latin_letter(behind.front())) { behind.remove_prefix(1); }
    return is_bare_time(figure) && has_known_words_alone(behind) &&
           has_known_words_alone(line.substr(0, line.size() - figure.behind.size()));
}

bool next_figure(std::string_view line, std::size_t& at, LineFigure& figure) {
    for (; at < line.size(); ++at) {
        if (!is_decimal_digit(line[at])) { continue; }
        std::size_t begin = at;
        if (begin > 0 && line[begin - 1] == '.') { --begin; }
        char const before = begin > 0 ? line[begin - 1] : ' ';
        std::string_view const rest = line.substr(begin);
        std::size_t length = clock_length(rest);
        figure = {};
        figure.clock = length > 0;
        if (length == 0) { length = std::max({number_length(rest), groups_length(rest), std::size_t{1}}); }
        std::size_t const decimals = figure.clock ? 0 : decimals_length(rest, length, before);
        length += decimals;
        figure.cell = rest.substr(0, length);
        if (figure.clock) { std::erase(figure.cell, ' '); }
        if (figure.cell.ends_with('.')) { figure.cell.pop_back(); }
        if (figure.cell.starts_with('.')) { figure.cell.insert(0, "0"); }
        at = begin + length;
        bool const negative =
            before == '-' && begin > 1 && !is_decimal_digit(line[begin - 2]) && line[begin - 2] != ' ';
        std::string_view const front = trimmed_line(line.substr(0, begin));
        bool const scatter = front.ends_with("±") || front.ends_with("+/-") || front.ends_with("+-");
        if (is_name_sign(before) || negative || scatter) { // a part of a word, or how far a number scatters
            while (at < line.size() && is_name_sign(line[at])) { ++at; }
            continue;
        }
        figure.label = label_before(line.substr(0, begin));
        figure.whole =
            decimals == 0 && !figure.clock && figure.cell.find_first_not_of("0123456789,'_") == std::string::npos;
        if (std::size_t const total = figure.whole ? total_length(line.substr(at)) : 0; total > 0) {
            std::string_view const behind = line.substr(at + total);
            std::size_t const open = line.find_last_not_of(' ', begin > 0 ? begin - 1 : 0);
            bool const bracket = begin > 0 && open != line.npos && line[open] == '[' &&
                                 (behind.starts_with(']') || behind.starts_with(" ("));
            bool const bar = trimmed_line(line.substr(0, begin)).empty() &&
                             (behind.starts_with(" [") || behind.starts_with(" ━") || behind.starts_with(" - "));
            figure.counts_batches = bracket || bar || behind.starts_with(" batches");
            at += total;
        } else if (!figure.clock) {
            std::string_view behind = line.substr(at);
            bool const scaled = !behind.empty() && std::string_view{"kKM"}.find(behind[0]) != behind.npos &&
                                (behind.size() == 1 || !is_latin_letter(behind[1]));
            if (scaled) {
                auto const mark = figure.cell.find_first_of(",."); // of decimals: "65,591k" is no 65591k
                if (mark != std::string::npos && figure.cell.find_first_of(",.", mark + 1) == std::string::npos) {
                    figure.cell += "000"; // never three
                }
                figure.cell += behind[0] == 'M' ? "e6" : "e3";
                figure.whole = false;
                behind.remove_prefix(1);
            }
            figure.unit = unit_of(behind);
        }
        figure.behind = line.substr(std::min(at, line.size()));
        return true;
    }
    return false;
}

} // namespace headroom::io
