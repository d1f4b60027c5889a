#pragma once

#include "traces/json_index.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace headroom::io {

/// Keys of an event that are read. Up to `arguments` they stand in the event itself, the others in its arguments.
enum class ChromeKey : std::uint8_t {
    other,
    phase,
    category,
    name,
    process,
    thread,
    time,
    duration,
    id,
    arguments,
    correlation,
    external,
    stream,
    device,
    bytes,
    rank,
    label,
    collective,
    elements_in,
    elements_out,
    element_type,
    group_size,
    group_name,
    group_description,
    group_ranks,
    sequence,
    shapes,
    types,
    awaited_stream,
    awaited_record,
    step_number,
    operation_category,
    to_rank = awaited_stream, ///< of a send or receive, which waits for no stream
    from_rank = awaited_record,
};
inline constexpr std::size_t chrome_keys = static_cast<std::size_t>(ChromeKey::operation_category) + 1;
static_assert(chrome_keys <= 32, "a bit of `ChromeEvent::seen` each");

/// One event: which keys it has and where, and the values of those that were read (`ChromeScanner::read`). Of a value
/// that is a number only `number` is set, of any other only `text`, without the quotes of strings; times are whole
/// nanoseconds.
struct ChromeEvent {
    std::uint32_t seen = 0;         ///< keys, a bit each
    std::uint32_t numbers = 0;      ///< of those that were read the ones whose value is a number
    std::uint32_t quoted = 0;       ///< and those whose value stood between quotes
    std::uint32_t repeated = 0;     ///< keys that were there already
    std::uint32_t broken = 0;       ///< of those that were read the ones whose value begins like a number and is none
    std::uint64_t at = 0, size = 0; ///< bytes
    std::array<std::uint32_t, chrome_keys> colon; ///< where the value of a key follows
    std::array<std::int64_t, chrome_keys> number;
    std::array<std::string_view, chrome_keys> text;

    static constexpr std::uint32_t bit(ChromeKey key) { return 1U << static_cast<unsigned>(key); }
    template <class... Keys> static constexpr std::uint32_t bits(Keys... keys) { return (bit(keys) | ...); }
    [[nodiscard]] bool has(ChromeKey key) const { return (seen & bit(key)) != 0; }
    [[nodiscard]] bool is_number(ChromeKey key) const { return (numbers & bit(key)) != 0; }
    [[nodiscard]] std::string_view text_of(ChromeKey key) const {
        return has(key) && !is_number(key) ? text[static_cast<unsigned>(key)] : std::string_view{};
    }
    [[nodiscard]] std::int64_t number_of(ChromeKey key, std::int64_t otherwise = 0) const {
        return is_number(key) ? number[static_cast<unsigned>(key)] : otherwise;
    }
};

/// Why a scan of an event ended.
enum class ChromeScan : std::uint8_t {
    whole,
    incomplete, ///< the window ends within it
    faulty,     ///< places of values are not sure; see `ChromeScanner::fault_at`
    unclosed,   ///< another event begins within it; at `fault_at`
    deep,       ///< more objects within objects than `deepest_event`
};
inline constexpr std::uint32_t deepest_event = 512;

/// Reads events from a window of text, one after the other.
class ChromeScanner {
public:
    /// A window that begins outside of strings, with padding around it: see `JsonIndex`.
    void open(char const* text, std::uint32_t size);
    /// The event whose opening brace is at `at`; places must not fall from call to call.
    ChromeScan scan(std::uint32_t at, ChromeEvent& event);
    /// Reads values of an event that was scanned last and is whole: those of `keys` that it has.
    void read(ChromeEvent& event, std::uint32_t keys) const;
    /// Reads phase or category, which most events have.
    void read_phase(ChromeEvent& event) const;
    void read_category(ChromeEvent& event) const;
    /// Reads those of `keys` that are strings.
    void read_strings(ChromeEvent& event, std::uint32_t keys) const;
    /// Where the scan stopped: behind the event, or where it went wrong.
    [[nodiscard]] std::uint32_t end() const { return end_; }
    /// Whether the bytes from `from` up to `end()` hold anything but plain strings and numbers; `from` must not fall.
    [[nodiscard]] bool unusual(std::uint32_t from) { return index_.unusual(from / 64 * 64) < end_; }

private:
    [[nodiscard]] std::uint32_t value_at(std::uint32_t colon) const;
    template <bool careful> ChromeScan scan_keys(std::uint32_t at, ChromeEvent& event);
    template <bool careful> ChromeScan pass_objects(std::uint32_t start, std::uint32_t place, ChromeEvent& event);
    void read_value(ChromeKey key, ChromeEvent& event) const;
    template <ChromeKey key> void read_known(ChromeEvent& event) const;
    template <ChromeKey key> void read_known_text(ChromeEvent& event) const; ///< of keys that are never numbers
    void read_odd_value(ChromeKey key, std::uint32_t at, ChromeEvent& event) const;
    [[nodiscard]] std::string_view brackets(std::uint32_t at) const;
    void read_text(ChromeKey key, std::uint32_t at, ChromeEvent& event) const;
    bool begins_another(std::uint32_t start, std::uint32_t brace);
    ChromeScan stopped(std::uint32_t start, ChromeScan otherwise);

    JsonIndex index_;
    char const* text_ = nullptr;
    std::uint32_t size_ = 0, end_ = 0;
    std::uint32_t const* token_ = nullptr;
    std::string open_; ///< brackets that are open at `walked_` within the event at `walked_from_`
    std::uint32_t walked_ = 0, walked_from_ = ~0U;
};

} // namespace headroom::io
