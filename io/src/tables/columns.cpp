#include "tables/columns.hpp"

#include "records/record.hpp"
#include "tables/cell_text.hpp"
#include "tables/head_brackets.hpp"
#include "tables/quotient.hpp"

#include "headroom/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace headroom::io {
namespace {

bool is_letter(char c) {
    return is_decimal_digit(c) || (lowered(c) >= 'a' && lowered(c) <= 'z') || static_cast<unsigned char>(c) >= 0x80;
}
bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }

/// A head without the word that may be its unit.
struct HeadReading {
    std::string_view stem, unit;
    bool slashed = false; ///< "time/ms"
};

/// "_ms", " ms", "/ms", "Ms": what a head without brackets may end in.
std::vector<HeadReading> readings_of(std::string_view head) {
    std::vector<HeadReading> readings{{.stem = head, .unit = {}}};
    if (auto const slash = head.rfind('/'); slash != std::string_view::npos) {
        readings.push_back({head.substr(0, slash), trimmed_line(head.substr(slash + 1)), true});
    }
    auto const cut = head.find_last_of(" _-.");
    std::string_view const tail = cut == std::string_view::npos ? head : head.substr(cut + 1);
    readings.push_back({head.substr(0, head.size() - tail.size()), tail});
    std::size_t hump = tail.size();
    while (hump > 0 && !(is_capital(tail[hump - 1]) && (hump == 1 || !is_capital(tail[hump - 2])))) { --hump; }
    if (hump > 1) { readings.push_back({head.substr(0, head.size() - tail.size() + hump - 1), tail.substr(hump - 1)}); }
    return readings;
}

struct HeadKey {
    std::string key;
    int rank = 0;
    int words = 0; ///< that the key is made of
};

/// Letters and digits of a head in lower case, without the words that are passed over; those where there are no others.
HeadKey key_of(std::string_view stem, std::span<HeadWords const> words) {
    HeadKey found;
    std::string word, all;
    for (std::size_t i = 0; i <= stem.size(); ++i) {
        if (i < stem.size() && is_letter(stem[i])) {
            word += lowered(stem[i]);
            continue;
        }
        auto const known = rank_of_word(words, word);
        (known ? all : found.key) += word;
        found.words += known || word.empty() ? 0 : 1;
        found.rank += known.value_or(0);
        word.clear();
    }
    if (found.key.empty()) { found.key = all; }
    return found;
}

int place_of_name(std::string_view names, HeadKey const& head) {
    constexpr std::size_t shortest = 3; // "Tp (s)" is no "tps"
    std::string_view const key = head.key;
    if (key.empty() || (head.words > 1 && key.size() <= shortest)) { return -1; }
    for (int place = 0; !names.empty(); ++place) {
        if (next_word(names) == key) { return place; }
    }
    return -1;
}

/// A lone letter is a unit in brackets, and behind a name ("time_s"), but for "m", which may be another word.
std::optional<CellUnit> head_unit(HeadReading const& reading, CellMeasure measure, std::span<HeadWords const> words) {
    bool const letter = reading.unit.size() == 1 && (reading.stem.empty() || same_caseless(reading.unit, "m"));
    bool const other_word = rank_of_word(words, reading.unit).has_value(); // "min"
    if ((letter || other_word) && !reading.slashed) { return std::nullopt; }
    return unit_named(measure, reading.unit);
}

/// Match of a head without brackets.
ColumnMatch match_open(std::string_view head, ColumnRow const& row, std::span<HeadWords const> words) {
    ColumnMatch best;
    int behind = 0;
    for (head = trimmed_line(head); !head.empty();) {
        for (HeadReading const& reading : readings_of(head)) {
            auto const unit = reading.unit.empty() ? std::nullopt : head_unit(reading, row.measure, words);
            bool const label = unit && (row.measure == CellMeasure::size || is_time_label(head));
            if (reading.slashed && !label) { continue; }
            if (!reading.unit.empty() && !unit) { continue; }
            HeadKey const key = key_of(reading.stem, words);
            int const place = place_of_name(row.names, key);
            int const rank = place >= 0 ? place : unit ? ColumnMatch::unit_alone : ColumnMatch::never;
            int const sum = rank + key.rank + behind;
            if (rank < ColumnMatch::never && sum < best.rank) { best = {.column = 0, .rank = sum, .unit = unit}; }
        }
        // "time_us_oop": a word that is passed over may stand behind the unit
        auto const cut = head.find_last_of(" _-.");
        std::string_view const tail = cut == std::string_view::npos ? std::string_view{} : head.substr(cut + 1);
        auto const word = rank_of_word(words, tail);
        if (!word) { break; }
        behind += *word;
        head = head.substr(0, cut);
    }
    return best;
}

} // namespace

ColumnMatch match_head(std::string_view head, ColumnRow const& row, std::span<HeadWords const> words) {
    if (row.measure == CellMeasure::time && (is_rate_head(head) || is_time_of_time(head))) { return {}; }
    auto const bracket = bracket_of(head, row, words);
    if (!bracket) { return match_open(head, row, words); }
    ColumnMatch match;
    HeadKey const key = key_of(bracket->stem, words);
    int const place = place_of_name(row.names, key);
    if (bracket->unit) {
        match = {.column = 0, .rank = (place >= 0 ? place : ColumnMatch::unit_alone) + key.rank, .unit = bracket->unit};
    } else if (bracket->unread.empty()) { // "time [s] (lower is better)"
        match = match_head(bracket->stem, row, words);
    } else if (place >= 0) {
        match = {.column = 0, .rank = place + key.rank + ColumnMatch::unread_later, .unread = true};
    }
    match.rank = std::min(match.rank + bracket->rank, ColumnMatch::never);
    bool const other_rate = row.measure == CellMeasure::rate && bracket->unread.find('/') != std::string::npos;
    return match.rank < ColumnMatch::never && !other_rate ? match : ColumnMatch{};
}

ColumnMatch match_column(std::vector<std::string> const& header, ColumnRow const& row,
                         std::span<HeadWords const> words) {
    ColumnMatch best;
    for (std::size_t i = 0; i < header.size(); ++i) {
        ColumnMatch const match = match_head(header[i], row, words);
        if (match.rank >= best.rank) { continue; }
        best = match;
        best.column = static_cast<int>(i);
    }
    return best;
}

ColumnMatch asked_column(std::vector<std::string> const& header, bool named, std::string const& asked,
                         CellMeasure measure, std::string_view where) {
    auto const found = [&](std::size_t i) {
        ColumnMatch const match = named ? match_head(header[i], {.names = "", .measure = measure}) : ColumnMatch{};
        return ColumnMatch{.column = static_cast<int>(i), .unit = match.unit, .unread = match.unread};
    };
    for (bool const exactly : {true, false}) {
        for (std::size_t i = 0; named && i < header.size(); ++i) {
            if (exactly ? header[i] == asked : normalised(header[i]) == normalised(asked)) { return found(i); }
        }
    }
    std::size_t number = 0;
    auto const [stop, error] = std::from_chars(asked.data(), asked.data() + asked.size(), number);
    bool const whole = error == std::errc{} && stop == asked.data() + asked.size();
    if (whole && number >= 1 && number <= header.size()) { return found(number - 1); }
    std::string const hint = named ? did_you_mean(asked, header) : std::string{};
    refuse(where, "no column " + headroom::quoted(asked),
           named ? listed_columns(header) : fmt::format("there are {}, without names", header.size()),
           hint.empty() ? "columns are named or numbered from 1" : hint);
}

std::string other_unit(std::string_view head) {
    constexpr std::string_view units = "cycle cycles kcycles mcycles gcycles clk clks clocks tick ticks tsc jiffies % "
                                       "percent normalized normalised relative ratio a.u.";
    for (head = trimmed_line(head);;) {
        auto const bracket = bracket_of(head, {.names = "", .measure = CellMeasure::time});
        if (!bracket) { break; }
        if (!bracket->unread.empty()) { return bracket->unread; }
        if (bracket->unit) { return {}; }
        head = trimmed_line(bracket->stem);
    }
    for (HeadReading const& reading : readings_of(head)) {
        if (reading.slashed) { continue; }
        for (std::string_view left = units; !left.empty();) {
            if (same_caseless(next_word(left), reading.unit)) { return std::string{reading.unit}; }
        }
    }
    return {};
}

void refuse_other_unit(std::string_view head, std::string_view place) {
    if (is_rate_head(head)) {
        refuse(place, headroom::quoted(std::string{head}) + " is a rate, not a time", {},
               "name a column of times; --unit 1 takes its numbers as they are");
    }
    std::string const unit = other_unit(head);
    if (unit.empty()) { return; }
    refuse(place, fmt::format("{} is in {}, which is no unit of time", headroom::quoted(std::string{head}), unit), {},
           "convert it to seconds and name it so: time (s)");
}

void refuse_unread(std::string_view head, ColumnRow const& row, std::string_view place) {
    for (auto bracket = bracket_of(head, row); bracket; bracket = bracket_of(bracket->stem, row)) {
        if (bracket->unread.empty()) { continue; }
        refuse(place,
               fmt::format("{} of {} is not understood", headroom::quoted(bracket->unread),
                           headroom::quoted(std::string{head})),
               "brackets hold a unit or a known remark", "convert the column, or leave the brackets out");
    }
}

namespace {

/// A head without its last or first word where that is an extreme or a mean, in letters and digits; empty for others.
std::string stem_of_statistic(std::string_view head, std::string_view words) {
    std::vector<std::string> parts = words_in(head);
    auto const is_one = [&](std::string const& word) {
        for (std::string_view left = words; !left.empty();) {
            if (next_word(left) == word) { return true; }
        }
        return false;
    };
    if (parts.empty()) { return {}; }
    bool const last = is_one(parts.back());
    if (!last && !is_one(parts.front())) { return {}; }
    parts.erase(last ? parts.end() - 1 : parts.begin());
    std::string stem = ".";
    for (std::string const& part : parts) { stem += part; }
    return stem;
}

} // namespace

bool says_minutes_or_minimum(std::string_view head) {
    head = trimmed_line(head);
    bool const open = !head.ends_with(')') && !head.ends_with(']') && !is_time_label(head);
    return open && !is_rate_head(head) && words_in(head).size() > 0 && words_in(head).back() == "min";
}

bool is_minimum(std::vector<std::string> const& header, std::string_view head) {
    auto const bracketed = [](std::string_view one) { return one.ends_with(')') || one.ends_with(']'); };
    if (bracketed(trimmed_line(head))) { // "time (min)" next to "time (max)"
        std::string const stem = stem_of_statistic(head, "min");
        return !stem.empty() && std::ranges::any_of(header, [&](std::string const& other) {
            return bracketed(trimmed_line(other)) &&
                   stem_of_statistic(other, "max maximum avg average mean median std stddev") == stem;
        });
    }
    if (!says_minutes_or_minimum(head)) { return false; }
    std::string_view const whole = trimmed_line(head);
    constexpr std::size_t word = 3;
    std::string_view const before = trimmed_line(whole.substr(0, whole.size() - std::min(word, whole.size())));
    auto const end = before.find_last_not_of(" _-.");
    bool const of_unit = end != std::string_view::npos &&
                         match_head(before.substr(0, end + 1), {.names = "", .measure = CellMeasure::time}).unit;
    if (of_unit) { return true; } // "time_s_min"
    std::string const stem = stem_of_statistic(head, "min");
    return std::ranges::any_of(header, [&](std::string const& other) {
        return stem_of_statistic(other, "max maximum avg average mean median std stddev") == stem;
    });
}

void refuse_minutes_or_minimum(std::string_view head, std::string_view place) {
    refuse(place, headroom::quoted(std::string{head}) + " may be in minutes or a minimum", "nothing shows which",
           "write 'time (min)' for minutes, 'minimum time (s)' for a minimum");
}

std::string name_at(CsvTable const& table, int column) {
    return headroom::quoted(table.header[static_cast<std::size_t>(column)]);
}

std::string head_place(CsvTable const& table, std::string_view where) {
    return fmt::format("{}:{}", where, table.head_line);
}

std::string listed_columns(std::vector<std::string> const& header) {
    std::string list;
    constexpr std::size_t most = 12;
    for (std::size_t i = 0; i < header.size() && i < most; ++i) {
        list += (i > 0 ? ", " : "") + headroom::quoted(header[i]);
    }
    return "the columns are " + list + (header.size() > most ? ", ..." : "");
}

void refuse_missing_column(std::vector<std::string> const& header, std::string_view place, std::string_view what,
                           std::string hint) {
    refuse(place, fmt::format("no column of {}", what), listed_columns(header), std::move(hint));
}

int unit_column(std::vector<std::string> const& header) {
    return match_column(header, {.names = "timeunit unit units latencyunit"}).column;
}

std::vector<std::string> unused_columns(std::vector<std::string> const& header, std::span<int const> used) {
    std::vector<std::string> unused;
    for (std::size_t i = 0; i < header.size(); ++i) {
        if (std::ranges::find(used, static_cast<int>(i)) == used.end()) { unused.push_back(header[i]); }
    }
    return unused;
}

void report_unused(std::vector<Issue>& issues, std::vector<std::string> const& unused, bool keys) {
    if (unused.empty()) { return; }
    std::string list;
    for (std::string const& name : unused) { list += (list.empty() ? "" : ", ") + name; }
    count_issue(issues, Issue{.kind = keys ? "key not used" : "column not used",
                              .count = unused.size(),
                              .column = shortened(unused.front()),
                              .text = unused.size() > 1 ? shortened(list) : std::string{}});
}

} // namespace headroom::io
