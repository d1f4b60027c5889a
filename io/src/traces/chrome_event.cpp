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
constexpr std::array event_rows{KeyRow{"ph", phase},     KeyRow{"cat", category},  KeyRow{"name", name},
                                KeyRow{"pid", process},  KeyRow{"tid", thread},    KeyRow{"ts", time},
                                KeyRow{"dur", duration}, KeyRow{"args", arguments}};
constexpr std::array argument_rows{KeyRow{"correlation", correlation},
                                   KeyRow{"Process Group Description", group_description},
                                   KeyRow{"External id", external},
                                   KeyRow{"external id", external},
                                   KeyRow{"stream", stream},
                                   KeyRow{"device", device},
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

/// Keys by their ends: most keys of arguments are none that is read, and a look at one slot says so.
class KeyTable {
public:
    template <std::size_t count>
    explicit constexpr KeyTable(std::array<KeyRow, count> const& rows) : rows_(rows.data()) {
        for (std::size_t row = 0; row < count; ++row) {
            std::uint32_t const tail = tail_of(rows[row].text);
            std::size_t slot = slot_of(tail);
            while (slots_[slot].count != 0 && slots_[slot].tail != tail) { slot = (slot + 1) % slots_.size(); }
            if (slots_[slot].count == 0) { slots_[slot] = {tail, static_cast<std::uint16_t>(row), 0}; }
            ++slots_[slot].count;
            ends_[row] = end_of(rows[row].text);
        }
    }
    /// The key whose closing quote is at `quote`.
    [[nodiscard]] ChromeKey find(char const* quote) const {
        std::uint32_t tail = 0;
        __builtin_memcpy(&tail, quote - 3, 4);
        for (std::size_t at = slot_of(tail); slots_[at].count != 0; at = (at + 1) % slots_.size()) {
            if (slots_[at].tail == tail) { return among(slots_[at], quote); }
        }
        return other;
    }

private:
    struct Slot {
        std::uint32_t tail = 0;
        std::uint16_t first = 0, count = 0;
    };
    /// Up to eight bytes that end a key with its quotes; the last is the highest.
    struct KeyEnd {
        std::uint64_t bytes = 0, mask = 0;
    };
    static constexpr KeyEnd end_of(std::string_view key) {
        KeyEnd end;
        std::size_t const size = key.size() + 2 < 8 ? key.size() + 2 : 8;
        for (std::size_t back = 0; back < size; ++back) {
            bool const quote = back == 0 || back == key.size() + 1;
            char const byte = quote ? '"' : key[key.size() - back];
            end.bytes |= static_cast<std::uint64_t>(static_cast<unsigned char>(byte)) << (56 - 8 * back);
            end.mask |= std::uint64_t{0xff} << (56 - 8 * back);
        }
        return end;
    }
    static bool begins(std::string_view text, char const* quote) {
        char const* const begin = quote - text.size();
        bool const opens = begin[-1] == '"' && begin[-2] != '\\';
        return opens && (text.size() < 7 || __builtin_memcmp(begin, text.data(), text.size() - 7) == 0);
    }
    static constexpr std::size_t slot_of(std::uint32_t tail) { return (tail * 0x9e3779b1U) >> 26; }
    [[nodiscard]] ChromeKey among(Slot const& slot, char const* quote) const {
        for (auto row = slot.first; row < slot.first + slot.count; ++row) {
            KeyEnd const& end = ends_[row];
            std::uint64_t last = 0;
            __builtin_memcpy(&last, quote - 7, 8);
            if ((last & end.mask) == end.bytes && begins(rows_[row].text, quote)) { return rows_[row].key; }
        }
        return other;
    }

    std::array<Slot, 64> slots_{};
    std::array<KeyEnd, 24> ends_{};
    KeyRow const* rows_;
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

ChromeScan ChromeScanner::scan(std::uint32_t at, ChromeEvent& event) {
    while (*token_ <= at && *token_ < size_) { ++token_; }
    event.seen = event.numbers = event.quoted = event.repeated = 0;
    std::uint32_t depth = 1;
    arguments_ = size_;
    bool arguments_open = false, within = false; // in the arguments themselves, not in objects in them
    for (;;) {
        std::uint32_t const place = *token_++;
        char const byte = text_[place];
        if (place >= size_) {
            --token_;
            end_ = size_;
            return stopped(at, ChromeScan::incomplete);
        }
        if (byte == ':') {
            if (depth > 1 && !within) { continue; }
            char const* quote = text_ + place - 1;
            while (is_white(*quote)) { --quote; }
            ChromeKey const key = depth == 1 ? event_table.find(quote) : argument_table.find(quote);
            if (key == other || read_value(key, place, event)) { continue; }
            end_ = size_;
            return stopped(at, ChromeScan::incomplete);
        }
        if (byte == '{') {
            if (++depth == 2) { arguments_open = place == arguments_; }
            within = depth == 2 && arguments_open;
            end_ = place;
            if (begins_another(at, place)) { return stopped(at, ChromeScan::unclosed); }
            if (depth > deepest_event) { return stopped(at, ChromeScan::deep); }
            continue;
        }
        within = --depth == 2 && arguments_open;
        if (depth == 0) {
            end_ = place + 1;
            event.size = end_ - at;
            return stopped(at, ChromeScan::whole);
        }
    }
}

/// The value behind the colon; false where the window ends within it.
bool ChromeScanner::read_value(ChromeKey key, std::uint32_t colon, ChromeEvent& event) {
    std::uint32_t at = colon + 1;
    while (at < size_ && is_white(text_[at])) { ++at; }
    std::uint32_t const bit = ChromeEvent::bit(key);
    event.repeated |= event.seen & bit;
    event.seen |= bit;
    event.numbers &= ~bit;
    event.quoted &= ~bit;
    char const first = text_[at];
    if (first == '"') { return read_text(key, at, event); }
    char const* digits = text_ + at;
    std::uint64_t whole = 0;
    read_digits(digits, whole);
    if (digits == text_ + at || (whole == 0 && digits > text_ + at + 1)) { return read_odd_value(key, at, event); }
    bool const is_time = key == time || key == duration;
    if (is_time) {
        whole *= 1000; // of at most 16 digits
        if (*digits == '.') {
            char const* const point = digits++;
            std::uint64_t decimals = 0;
            read_digits(digits, decimals);
            auto const count = digits - point - 1;
            if (count < 1 || count > 3) { return read_odd_value(key, at, event); }
            whole += decimals * (count == 3 ? 1 : count == 2 ? 10 : 100);
        }
    }
    if (!ends_value(*digits) || whole > std::uint64_t{1} << 62) { return read_odd_value(key, at, event); }
    event.number[static_cast<unsigned>(key)] = static_cast<std::int64_t>(whole);
    event.numbers |= bit;
    return true;
}

/// Strings; those that are numbers, too.
bool ChromeScanner::read_text(ChromeKey key, std::uint32_t at, ChromeEvent& event) {
    std::uint32_t const quote = index_.quote(at + 1);
    if (quote >= size_) { return false; }
    std::string_view const text(text_ + at + 1, quote - at - 1);
    event.text[static_cast<unsigned>(key)] = text;
    event.quoted |= ChromeEvent::bit(key);
    bool const is_time = key == time || key == duration;
    bool const may_be_number = is_time || (key >= process && key <= rank && key != arguments) || key == elements_in ||
                               key == elements_out || key == group_size || key == sequence;
    if (!may_be_number || text.empty()) { return true; }
    auto& number = event.number[static_cast<unsigned>(key)];
    if (is_time ? read_thousandths(text, number) : read_whole(text, number)) { event.numbers |= ChromeEvent::bit(key); }
    return true;
}

/// Objects and arrays, and numbers that are signed, long, or written with an exponent.
bool ChromeScanner::read_odd_value(ChromeKey key, std::uint32_t at, ChromeEvent& event) {
    if (text_[at] == '{') {
        if (key == arguments) { arguments_ = at; }
        event.text[static_cast<unsigned>(key)] = {};
        return true;
    }
    if (text_[at] == '[') { return read_brackets(key, at, event); }
    std::uint32_t end = at;
    while (end < size_ && !ends_value(text_[end]) && text_[end] != ']') { ++end; }
    std::string_view const text(text_ + at, end - at);
    event.text[static_cast<unsigned>(key)] = text;
    auto& number = event.number[static_cast<unsigned>(key)];
    bool const is_time = key == time || key == duration;
    bool const starts = !text.empty() && (text[0] == '-' || (text[0] >= '0' && text[0] <= '9'));
    if (starts && (is_time ? read_thousandths(text, number) : read_whole(text, number))) {
        event.numbers |= ChromeEvent::bit(key);
    }
    return true;
}

/// An array as text. Its braces and colons are tokens as others are.
bool ChromeScanner::read_brackets(ChromeKey key, std::uint32_t at, ChromeEvent& event) {
    event.text[static_cast<unsigned>(key)] = {};
    if (key != shapes && key != types && key != group_ranks) { return true; }
    std::uint32_t depth = 0, end = at;
    for (; end < size_; ++end) {
        if (text_[end] == '"') {
            end = index_.quote(end + 1);
        } else if (text_[end] == '[') {
            ++depth;
        } else if (text_[end] == ']' && --depth == 0) {
            event.text[static_cast<unsigned>(key)] = {text_ + at, end + 1 - at};
            return true;
        } else if (text_[end] == '{' || text_[end] == '}') {
            return true; // no list of shapes
        }
    }
    return false;
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
