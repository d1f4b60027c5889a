#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace headroom::io {

/// Faults of a trace of events in JSON; each is counted with its first place.
enum class ChromeFault : std::uint8_t {
    unreadable_event, ///< a quote that is not escaped, or anything else after which places of values are not sure
    unclosed_event,
    long_event,
    deep_event,
    no_event,
    lost_text,
    missing_comma,
    trailing_comma,
    missing_end,
    cut_short,
    after_end,
    byte_order_mark,
    long_text,
    not_a_number,
    bad_escape,
    control_character,
    invalid_utf8,
    quote_in_text,
    duplicate_key,
    number_as_text,
    out_of_range,
    no_time,
    no_duration,
    negative_duration,
    no_name,
    no_thread,
    begin_alone,
    end_alone,
    duplicate_event,
    other_epoch,
};
inline constexpr std::size_t chrome_fault_kinds = static_cast<std::size_t>(ChromeFault::other_epoch) + 1;
/// In words for people: "unreadable event".
std::string_view name_of(ChromeFault fault);

/// Counts of faults with their first places: bytes of the text.
class ChromeFaults {
public:
    static constexpr std::uint64_t no_place = ~std::uint64_t{0}; ///< of what is found after reading

    void count(ChromeFault fault, std::uint64_t at, std::uint64_t times = 1) {
        auto& row = rows_[static_cast<std::size_t>(fault)];
        if (row.count == 0 || at < row.first) { row.first = at; }
        row.count += times;
    }
    void add(ChromeFaults const& more);
    struct Row {
        std::uint64_t count = 0, first = 0;
    };
    [[nodiscard]] Row const& operator[](ChromeFault fault) const { return rows_[static_cast<std::size_t>(fault)]; }

private:
    std::array<Row, chrome_fault_kinds> rows_{};
};

/// Value of a string between quotes: escapes resolved, those that are none left as they stand, bytes that are no UTF-8
/// replaced by U+FFFD.
std::string unescaped(std::string_view raw);

/// Counts what is odd in the strings and bare words of `text`, which begins outside of strings: escapes that JSON does
/// not know, control characters, bytes that are no UTF-8, words like NaN.
void inspect_text(std::string_view text, std::uint64_t base, ChromeFaults& faults);

/// Distance around a place within which it shows whether an event begins there, bytes.
inline constexpr std::size_t event_reach = 512;
/// The first brace at `from` or after it, and before `to`, with which an event of an array begins, as far as that can
/// be recognised without knowing what came before: "}, {"ph":" and alike. `to` where there is none.
std::size_t find_event(std::string_view text, std::size_t from, std::size_t to);
/// Whether the bracket at `at` closes the array of events: "} ], "traceName":" and alike, or nothing but a brace comes.
bool ends_events(std::string_view text, std::size_t at);

} // namespace headroom::io
