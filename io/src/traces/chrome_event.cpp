#include "traces/chrome_event.hpp"

#include "traces/chrome_numbers.hpp"

#include <algorithm>

namespace headroom::io {
namespace {

using enum ChromeKey;

struct KeyRow {
    std::string_view text;
    ChromeKey key;
};

/// Rows whose texts end alike stand together.
constexpr std::array event_rows{KeyRow{"ph", phase},     KeyRow{"cat", category}, KeyRow{"name", name},
                                KeyRow{"pid", process},  KeyRow{"tid", thread},   KeyRow{"ts", time},
                                KeyRow{"dur", duration}, KeyRow{"id", id},        KeyRow{"args", arguments}};
constexpr std::array argument_rows{KeyRow{"correlation", correlation},
                                   KeyRow{"Process Group Description", group_description},
                                   KeyRow{"External id", external},
                                   KeyRow{"external id", external},
                                   KeyRow{"stream", stream},
                                   KeyRow{"wait_on_stream", awaited_stream},
                                   KeyRow{"wait_on_cuda_event_record_corr_id", awaited_record},
                                   KeyRow{"device", device},
                                   KeyRow{"agent", device}, // of rocprofv3, and that of a copy
                                   KeyRow{"dst_agent", device},
                                   KeyRow{"hlo_category", operation_category},
                                   KeyRow{"step_num", step_number},
                                   KeyRow{"bytes", bytes},
                                   KeyRow{"rank", rank},
                                   KeyRow{"name", label},
                                   KeyRow{"Collective name", collective},
                                   KeyRow{"Process Group Name", group_name},
                                   KeyRow{"In msg nelems", elements_in},
                                   KeyRow{"Out msg nelems", elements_out},
                                   KeyRow{"dtype", element_type},
                                   KeyRow{"Input type", types},
                                   KeyRow{"Group size", group_size},
                                   KeyRow{"Process Group Ranks", group_ranks},
                                   KeyRow{"Src Rank", from_rank},
                                   KeyRow{"Dst Rank", to_rank},
                                   KeyRow{"Seq", sequence},
                                   KeyRow{"Input Dims", shapes},
                                   KeyRow{"Input dims", shapes}};

/// The four bytes that end a key, its closing quote the last; shorter keys begin with their opening quote.
constexpr std::uint32_t tail_of(std::string_view key) {
    std::uint32_t tail = 0;
    for (std::size_t back = 4; back-- > 0;) {
        char const byte = back == 0 ? '"' : back <= key.size() ? key[key.size() - back] : '"';
        tail = tail >> 8 | static_cast<std::uint32_t>(static_cast<unsigned char>(byte)) << 24;
    }
    return tail;
}

/// Keys by their ends: most keys of arguments are none that is read, and a look at one slot says so, mostly without a
/// branch.
class KeyTable {
public:
    template <std::size_t count> explicit constexpr KeyTable(std::array<KeyRow, count> const& rows) {
        for (KeyRow const& row : rows) {
            std::size_t slot = slot_of(tail_of(row.text));
            while (slots_[slot].key != other && slots_[slot].next != 0) { slot = slots_[slot].next; }
            if (slots_[slot].key != other) {
                slots_[slot].unclear |= 1U;
                slot = slots_[slot].next = static_cast<std::uint8_t>(next_++);
            }
            slots_[slot] = slot_for(row);
        }
    }
    /// The key whose closing quote is at `quote`; sixteen bytes up to it must be readable. `careful`: a quote that is
    /// escaped may stand where a key seems to begin.
    template <bool careful> [[gnu::always_inline]] ChromeKey find(char const* quote) const {
        std::uint64_t last = 0, before = 0;
        __builtin_memcpy(&last, quote - 7, 8);
        __builtin_memcpy(&before, quote - 15, 8);
        Slot const& slot = slots_[slot_of(static_cast<std::uint32_t>(last >> 32))];
        auto const alike = static_cast<unsigned>(slot.differs(last, before) == 0);
        if (careful || (slot.unclear >> alike & 1U) != 0) { return search(slot, quote); }
        return static_cast<ChromeKey>(static_cast<unsigned>(slot.key) & (0U - alike));
    }

private:
    /// The last bytes of a key with its quotes, the very last the highest.
    struct Slot {
        std::uint64_t bytes = 1, mask = 0; // nothing is like this
        std::uint64_t bytes_before = 0, mask_before = 0;
        char const* text = nullptr;
        std::uint8_t size = 0; ///< of the key with its quotes
        ChromeKey key = other;
        std::uint8_t unclear = 0; ///< bits: there may be another key with this tail; there are more bytes to compare
        std::uint8_t next = 0;    ///< with the same tail

        /// Zero where the last sixteen bytes are those of the key, or its all.
        [[nodiscard]] constexpr std::uint64_t differs(std::uint64_t last, std::uint64_t before) const {
            return ((last & mask) ^ bytes) | ((before & mask_before) ^ bytes_before);
        }
    };
    static constexpr std::uint64_t byte_of(KeyRow const& row, std::size_t back) {
        bool const quote = back == 0 || back == row.text.size() + 1;
        return static_cast<unsigned char>(quote ? '"' : row.text[row.text.size() - back]);
    }
    static constexpr Slot slot_for(KeyRow const& row) {
        Slot slot;
        std::size_t const size = row.text.size() + 2;
        slot.text = row.text.data();
        slot.size = static_cast<std::uint8_t>(size);
        slot.key = row.key;
        slot.unclear = size > 16 ? 2 : 0;
        slot.bytes = 0;
        for (std::size_t back = 0; back < std::min<std::size_t>(size, 16); ++back) {
            auto const shift = 56 - 8 * (back % 8);
            (back < 8 ? slot.bytes : slot.bytes_before) |= byte_of(row, back) << shift;
            (back < 8 ? slot.mask : slot.mask_before) |= std::uint64_t{0xff} << shift;
        }
        return slot;
    }
    [[gnu::noinline]] ChromeKey search(Slot const& first, char const* quote) const {
        std::uint64_t last = 0, before = 0;
        __builtin_memcpy(&last, quote - 7, 8);
        __builtin_memcpy(&before, quote - 15, 8);
        for (Slot const* slot = &first;; slot = &slots_[slot->next]) {
            char const* const begin = quote + 1 - slot->size;
            bool same = slot->differs(last, before) == 0 && begin[-1] != '\\';
            if (same && slot->size > 16) {
                same = *begin == '"' && __builtin_memcmp(begin + 1, slot->text, slot->size - 17U) == 0;
            }
            if (same) { return slot->key; }
            if (slot->next == 0) { return other; }
        }
    }
    static constexpr std::size_t slot_of(std::uint32_t tail) { return (tail * 0x9e3779b1U) >> 25; }

    std::array<Slot, 160> slots_{}; ///< the first 128 by tail
    std::size_t next_ = 128;
};

constexpr KeyTable event_table{event_rows}, argument_table{argument_rows};

bool is_white(char byte) { return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t'; }
bool ends_value(char byte) { return byte == ',' || byte == '}' || is_white(byte); }

} // namespace

void ChromeScanner::open(char const* text, std::uint32_t size) {
    index_.read(text, size);
    text_ = text;
    size_ = size;
    token_ = index_.tokens();
    end_ = 0;
    walked_from_ = ~0U;
}

ChromeScan ChromeScanner::stopped(std::uint32_t start, ChromeScan otherwise) {
    std::uint32_t const fault = index_.fault(start);
    if (fault >= end_) { return otherwise; }
    end_ = fault;
    return ChromeScan::faulty;
}

inline std::uint32_t ChromeScanner::value_at(std::uint32_t colon) const {
    std::uint32_t at = colon + 1;
    while (at < size_ && is_white(text_[at])) { ++at; }
    return at;
}

/// Notes the key before the colon at `place`. What is no key that is read goes to a row of its own: no branch.
template <bool careful>
[[gnu::always_inline]] inline void note_key(KeyTable const& table, char const* text, std::uint32_t place,
                                            ChromeEvent& event, std::uint32_t& seen, std::uint32_t& repeated) {
    char const* quote = text + place - 1;
    while (is_white(*quote)) { --quote; }
    ChromeKey const key = table.find<careful>(quote);
    std::uint32_t const bit = ChromeEvent::bit(key);
    repeated |= seen & bit;
    seen |= bit;
    event.colon[static_cast<unsigned>(key)] = place;
}

ChromeScan ChromeScanner::scan(std::uint32_t at, ChromeEvent& event) {
    while (*token_ <= at && *token_ < size_) { ++token_; }
    std::uint32_t const* const first = token_;
    ChromeScan const result = scan_keys<false>(at, event);
    if (!unusual(at)) { return stopped(at, result); }
    walked_from_ = ~0U;
    token_ = first; // keys with escapes in them may have been taken for others
    return stopped(at, scan_keys<true>(at, event));
}

template <bool careful> ChromeScan ChromeScanner::scan_keys(std::uint32_t at, ChromeEvent& event) {
    event.seen = event.numbers = event.quoted = event.repeated = event.broken = 0;
    std::uint32_t const* token = token_;
    std::uint32_t seen = 0, repeated = 0;
    for (;;) {
        std::uint32_t const place = *token++;
        if (place >= size_) {
            end_ = size_;
            return ChromeScan::incomplete;
        }
        char const byte = text_[place];
        if (byte == ':') {
            note_key<careful>(event_table, text_, place, event, seen, repeated);
            continue;
        }
        token_ = token;
        event.seen = seen;
        event.repeated = repeated;
        if (byte == '}') { break; }
        ChromeScan const passed = pass_objects<careful>(at, place, event);
        if (passed != ChromeScan::whole) { return passed; }
        token = token_;
        seen = event.seen;
        repeated = event.repeated;
    }
    end_ = *(token - 1) + 1;
    event.size = end_ - at;
    event.seen &= ~ChromeEvent::bit(other);
    event.repeated &= ~ChromeEvent::bit(other);
    return ChromeScan::whole;
}

/// Passes the object that begins at `place` within the event at `start`; the keys of arguments are noted.
template <bool careful>
ChromeScan ChromeScanner::pass_objects(std::uint32_t start, std::uint32_t place, ChromeEvent& event) {
    bool const known = event.has(arguments);
    bool const within = known && value_at(event.colon[static_cast<unsigned>(arguments)]) == place;
    std::uint32_t const* token = token_;
    std::uint32_t seen = event.seen, repeated = event.repeated;
    for (std::uint32_t depth = 2;;) {
        end_ = place;
        if (begins_another(start, place)) { return ChromeScan::unclosed; }
        if (depth > deepest_event) { return ChromeScan::deep; }
        for (char byte = '\0'; byte != '{';) {
            place = *token++;
            if (place >= size_) {
                end_ = size_;
                return ChromeScan::incomplete;
            }
            byte = text_[place];
            if (byte == ':') {
                if (depth == 2 && within) { note_key<careful>(argument_table, text_, place, event, seen, repeated); }
            } else if (byte == '}' && --depth == 1) {
                token_ = token;
                event.seen = seen;
                event.repeated = repeated;
                return ChromeScan::whole;
            }
        }
        ++depth;
    }
}

/// Digits at `at`, of times as thousandths; false where there is more to the value.
template <bool is_time> [[gnu::always_inline]] inline bool read_plain(char const* at, std::int64_t& number) {
    char const* digits = at;
    std::uint64_t whole = 0;
    read_digits(digits, whole);
    if (digits == at || (whole == 0 && digits > at + 1)) { return false; }
    if (is_time) {
        whole *= 1000; // of at most 16 digits
        if (*digits == '.') {
            char const* const point = digits++;
            std::uint64_t decimals = 0;
            read_digits(digits, decimals);
            auto const count = digits - point - 1;
            if (count < 1 || count > 3) { return false; }
            whole += decimals * (count == 3 ? 1 : count == 2 ? 10 : 100);
        }
    }
    if (!ends_value(*digits) || whole > std::uint64_t{1} << 62) { return false; }
    number = static_cast<std::int64_t>(whole);
    return true;
}

template <ChromeKey key> [[gnu::always_inline]] inline void ChromeScanner::read_known(ChromeEvent& event) const {
    if (!event.has(key)) { return; }
    char const* const at = text_ + value_at(event.colon[static_cast<unsigned>(key)]);
    auto& number = event.number[static_cast<unsigned>(key)];
    if (*at != '"' && read_plain < key == time || key == duration > (at, number)) {
        event.numbers |= ChromeEvent::bit(key);
    } else {
        read_value(key, event);
    }
}

template <ChromeKey key> [[gnu::always_inline]] inline void ChromeScanner::read_known_text(ChromeEvent& event) const {
    if (!event.has(key)) { return; }
    std::uint32_t const at = value_at(event.colon[static_cast<unsigned>(key)]);
    if (text_[at] != '"') { return read_value(key, event); }
    event.text[static_cast<unsigned>(key)] = {text_ + at + 1, index_.quote(at + 1) - at - 1};
    event.quoted |= ChromeEvent::bit(key);
}

void ChromeScanner::read_phase(ChromeEvent& event) const { read_known_text<phase>(event); }
void ChromeScanner::read_category(ChromeEvent& event) const { read_known_text<category>(event); }

void ChromeScanner::read(ChromeEvent& event, std::uint32_t keys) const {
    constexpr std::uint32_t usual = ChromeEvent::bits(name, process, thread, time, duration, correlation);
    if ((keys & usual) == usual) { // code of their own: what comes is foreseen better
        read_known_text<name>(event);
        read_known<process>(event);
        read_known<thread>(event);
        read_known<time>(event);
        read_known<duration>(event);
        read_known<correlation>(event);
        keys &= ~usual;
    }
    for (std::uint32_t left = event.seen & keys; left != 0; left &= left - 1) {
        read_value(static_cast<ChromeKey>(__builtin_ctz(left)), event);
    }
}

void ChromeScanner::read_strings(ChromeEvent& event, std::uint32_t keys) const {
    for (std::uint32_t left = event.seen & keys; left != 0; left &= left - 1) {
        auto const key = static_cast<unsigned>(__builtin_ctz(left));
        if (text_[value_at(event.colon[key])] == '"') { read_value(static_cast<ChromeKey>(key), event); }
    }
}

void ChromeScanner::read_value(ChromeKey key, ChromeEvent& event) const {
    std::uint32_t const at = value_at(event.colon[static_cast<unsigned>(key)]);
    if (text_[at] == '"') { return read_text(key, at, event); }
    auto& number = event.number[static_cast<unsigned>(key)];
    bool const is_time = key == time || key == duration;
    bool const plain = is_time ? read_plain<true>(text_ + at, number) : read_plain<false>(text_ + at, number);
    if (!plain) { return read_odd_value(key, at, event); }
    event.numbers |= ChromeEvent::bit(key);
}

/// Strings; those that are numbers, too.
void ChromeScanner::read_text(ChromeKey key, std::uint32_t at, ChromeEvent& event) const {
    std::uint32_t const quote = index_.quote(at + 1);
    std::string_view const text(text_ + at + 1, quote - at - 1);
    event.text[static_cast<unsigned>(key)] = text;
    event.quoted |= ChromeEvent::bit(key);
    bool const is_time = key == time || key == duration;
    bool const may_be_number = is_time || (key >= process && key <= rank && key != arguments) || key == elements_in ||
                               key == elements_out || key == group_size || key == sequence || key == step_number ||
                               key == to_rank || key == from_rank;
    if (!may_be_number || text.empty()) { return; }
    auto& number = event.number[static_cast<unsigned>(key)];
    if (is_time ? read_thousandths(text, number) : read_whole(text, number)) { event.numbers |= ChromeEvent::bit(key); }
}

/// Objects and arrays, and numbers that are signed, long, or written with an exponent.
void ChromeScanner::read_odd_value(ChromeKey key, std::uint32_t at, ChromeEvent& event) const {
    auto& text = event.text[static_cast<unsigned>(key)];
    text = {};
    if (text_[at] == '{') { return; }
    if (text_[at] == '[') {
        if (key == shapes || key == types || key == group_ranks) { text = brackets(at); }
        return;
    }
    std::uint32_t end = at;
    while (end < size_ && !ends_value(text_[end]) && text_[end] != ']') { ++end; }
    text = {text_ + at, end - at};
    auto& number = event.number[static_cast<unsigned>(key)];
    bool const is_time = key == time || key == duration;
    bool const starts = !text.empty() && (text[0] == '-' || (text[0] >= '0' && text[0] <= '9'));
    if (!starts) { return; }
    bool const is_number = is_time ? read_thousandths(text, number) : read_whole(text, number);
    (is_number ? event.numbers : event.broken) |= ChromeEvent::bit(key);
}

/// The array at `at` as text; empty where it holds objects or does not end.
std::string_view ChromeScanner::brackets(std::uint32_t at) const {
    std::uint32_t depth = 0;
    for (std::uint32_t end = at; end < size_; ++end) {
        if (text_[end] == '"') {
            end = index_.quote(end + 1);
        } else if (text_[end] == '[') {
            ++depth;
        } else if (text_[end] == ']' && --depth == 0) {
            return {text_ + at, end + 1 - at};
        } else if (text_[end] == '{' || text_[end] == '}') {
            return {};
        }
    }
    return {};
}

/// Whether the brace cannot open a value of the event at `start`: it stands in an object where a key should.
bool ChromeScanner::begins_another(std::uint32_t start, std::uint32_t brace) {
    char const* before = text_ + brace - 1;
    while (is_white(*before)) { --before; }
    if (*before == ':' || *before == '[') { return false; }
    if (walked_from_ != start) {
        walked_from_ = walked_ = start;
        open_.clear();
    }
    for (; walked_ < brace; ++walked_) {
        char const byte = text_[walked_];
        if (byte == '"') {
            walked_ = std::min(index_.quote(walked_ + 1), brace);
        } else if (byte == '{' || byte == '[') {
            open_.push_back(byte);
        } else if ((byte == '}' || byte == ']') && !open_.empty()) {
            open_.pop_back();
        }
    }
    return open_.empty() || open_.back() != '[';
}

} // namespace headroom::io
