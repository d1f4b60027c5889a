#include "traces/chrome_text.hpp"

#include <algorithm>

namespace headroom::io {
namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";

bool is_white(char byte) { return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t'; }

/// Length of the well-formed UTF-8 character that `text` begins with; 0: there is none.
std::size_t character(std::string_view text) {
    auto const byte = [&](std::size_t at) {
        return at < text.size() ? static_cast<unsigned char>(text[at]) : static_cast<unsigned char>(0);
    };
    auto const follows = [&](std::size_t at) { return (byte(at) & 0xc0U) == 0x80; };
    unsigned const first = byte(0), second = byte(1);
    if (first < 0x80) { return 1; }
    if (first >= 0xc2 && first <= 0xdf) { return follows(1) ? 2 : 0; }
    if (first >= 0xe0 && first <= 0xef) {
        bool const overlong = first == 0xe0 && second < 0xa0, surrogate = first == 0xed && second > 0x9f;
        return follows(1) && follows(2) && !overlong && !surrogate ? 3 : 0;
    }
    if (first >= 0xf0 && first <= 0xf4) {
        bool const outside = (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f);
        return follows(1) && follows(2) && follows(3) && !outside ? 4 : 0;
    }
    return 0;
}

void append_character(std::string& text, std::uint32_t code) {
    auto const put = [&](std::uint32_t byte) { text.push_back(static_cast<char>(byte)); };
    if (code < 0x80) {
        put(code);
    } else if (code < 0x800) {
        put(0xc0U | code >> 6);
        put(0x80U | (code & 0x3fU));
    } else if (code < 0x10000) {
        put(0xe0U | code >> 12);
        put(0x80U | (code >> 6 & 0x3fU));
        put(0x80U | (code & 0x3fU));
    } else {
        put(0xf0U | code >> 18);
        put(0x80U | (code >> 12 & 0x3fU));
        put(0x80U | (code >> 6 & 0x3fU));
        put(0x80U | (code & 0x3fU));
    }
}

/// The four hexadecimal digits that `text` begins with; false where there are none.
bool four_digits(std::string_view text, std::uint32_t& code) {
    if (text.size() < 4) { return false; }
    code = 0;
    for (char const byte : text.substr(0, 4)) {
        char const lower = static_cast<char>(byte | 0x20);
        bool const digit = byte >= '0' && byte <= '9';
        if (!digit && (lower < 'a' || lower > 'f')) { return false; }
        code = code * 16 + static_cast<std::uint32_t>(digit ? byte - '0' : lower - 'a' + 10);
    }
    return true;
}

char plain_escape(char letter) {
    constexpr std::string_view letters = "\"\\/bfnrt", meant = "\"\\/\b\f\n\r\t";
    auto const at = letters.find(letter);
    return at == std::string_view::npos ? '\0' : meant[at];
}

/// Resolves the escape that `text` begins with; returns its length, 0 where JSON does not know it.
std::size_t append_escape(std::string& into, std::string_view text) {
    if (text.size() < 2) { return 0; }
    if (char const meant = plain_escape(text[1]); meant != '\0') {
        into.push_back(meant);
        return 2;
    }
    std::uint32_t code = 0, low = 0;
    if (text[1] != 'u' || !four_digits(text.substr(2), code)) { return 0; }
    bool const high = code >= 0xd800 && code < 0xdc00;
    bool const pair = high && text.size() >= 12 && text[6] == '\\' && text[7] == 'u' &&
                      four_digits(text.substr(8), low) && low >= 0xdc00 && low < 0xe000;
    if (pair) {
        append_character(into, 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00));
        return 12;
    }
    if (code >= 0xd800 && code < 0xe000) {
        into += replacement;
    } else {
        append_character(into, code);
    }
    return 6;
}

bool is_word(char byte) { return (byte | 0x20) >= 'a' && (byte | 0x20) <= 'z'; }

/// Whether the beginning of `text` names a number that is none.
bool no_number(std::string_view word) {
    constexpr std::array words{"nan", "inf", "infinity"};
    return std::any_of(words.begin(), words.end(), [&](std::string_view known) {
        return word.size() == known.size() && std::equal(word.begin(), word.end(), known.begin(),
                                                         [](char left, char right) { return (left | 0x20) == right; });
    });
}

} // namespace

std::string_view name_of(ChromeFault fault) {
    constexpr std::array<std::string_view, chrome_fault_kinds> names{
        "unreadable event",   "event without end",      "event too long",
        "nested too deep",    "not an event",           "text between events",
        "comma missing",      "comma at the end",       "closing bracket missing",
        "cut short",          "text after the end",     "byte order mark",
        "text too long",      "not a number",           "bad escape",
        "control character",  "invalid UTF-8",          "quote in a text",
        "duplicate key",      "number in quotes",       "number out of range",
        "event without time", "event without duration", "negative duration",
        "event without name", "event without thread",   "begin without end",
        "end without begin",  "duplicate event",        "event of another epoch"};
    return names[static_cast<std::size_t>(fault)];
}

void ChromeFaults::add(ChromeFaults const& more) {
    for (std::size_t kind = 0; kind < chrome_fault_kinds; ++kind) {
        auto const& row = more.rows_[kind];
        if (row.count != 0) { count(static_cast<ChromeFault>(kind), row.first, row.count); }
    }
}

std::string unescaped(std::string_view raw) {
    std::string text;
    text.reserve(raw.size());
    for (std::size_t at = 0; at < raw.size();) {
        if (raw[at] == '\\') {
            if (auto const length = append_escape(text, raw.substr(at)); length != 0) {
                at += length;
                continue;
            }
        }
        auto const length = character(raw.substr(at, 4));
        text += length == 0 ? replacement : raw.substr(at, length);
        at += std::max<std::size_t>(length, 1);
    }
    return text;
}

void inspect_text(std::string_view text, std::uint64_t base, ChromeFaults& faults) {
    bool within = false;
    std::string scratch;
    for (std::size_t at = 0; at < text.size();) {
        char const byte = text[at];
        std::size_t length = 1;
        if (byte == '"') {
            within = !within;
        } else if (within && byte == '\\') {
            length = append_escape(scratch, text.substr(at, 12));
            if (length == 0) { faults.count(ChromeFault::bad_escape, base + at); }
            if (length == 0) { length = at + 1 < text.size() && (text[at + 1] & 0x80) == 0 ? 2 : 1; }
        } else if (within && static_cast<unsigned char>(byte) < 0x20) {
            faults.count(ChromeFault::control_character, base + at);
        } else if ((byte & 0x80) != 0) {
            length = character(text.substr(at, 4));
            if (length == 0) { faults.count(ChromeFault::invalid_utf8, base + at); }
        } else if (!within && is_word(byte)) {
            while (at + length < text.size() && is_word(text[at + length])) { ++length; }
            if (no_number(text.substr(at, length))) { faults.count(ChromeFault::not_a_number, base + at); }
        }
        at += std::max<std::size_t>(length, 1);
        scratch.clear();
    }
}

namespace {

/// Behind white space at `at`, of which at most so much is passed; `text.size()` at the end.
std::size_t past_white(std::string_view text, std::size_t at, std::size_t most = 128) {
    for (std::size_t passed = 0; at < text.size() && passed < most && is_white(text[at]); ++passed) { ++at; }
    return at;
}

/// The last byte before `at` that is no white space, as a place; `npos`: there is none near.
std::size_t before_white(std::string_view text, std::size_t at, std::size_t most = 128) {
    for (std::size_t passed = 0; at > 0 && passed <= most; ++passed) {
        if (!is_white(text[--at])) { return at; }
    }
    return std::string_view::npos;
}

template <std::size_t count>
bool key_comes(std::string_view text, std::size_t at, std::array<std::string_view, count> const& keys) {
    at = past_white(text, at);
    if (at >= text.size() || text[at] != '"') { return false; }
    std::string_view const rest = text.substr(at + 1, 32);
    auto const known = std::find_if(keys.begin(), keys.end(), [&](std::string_view key) {
        return rest.size() > key.size() && rest.substr(0, key.size()) == key && rest[key.size()] == '"';
    });
    if (known == keys.end()) { return false; }
    at = past_white(text, at + known->size() + 2, 16);
    return at < text.size() && text[at] == ':';
}

constexpr std::array<std::string_view, 10> event_keys{"ph", "name", "cat",  "pid", "tid",
                                                      "ts", "dur",  "args", "id",  "s"};

bool begins_event(std::string_view text, std::size_t at) {
    if (!key_comes(text, at + 1, event_keys)) { return false; }
    auto const separator = before_white(text, at);
    if (separator == std::string_view::npos) { return false; }
    if (text[separator] == '[') { return true; }
    if (text[separator] != ',') { return false; }
    auto const end = before_white(text, separator);
    return end != std::string_view::npos && text[end] == '}';
}

} // namespace

std::size_t find_event(std::string_view text, std::size_t from, std::size_t to) {
    while (from < to) {
        auto const at = text.substr(0, to).find('{', from);
        if (at == std::string_view::npos) { return to; }
        if (begins_event(text, at)) { return at; }
        from = at + 1;
    }
    return to;
}

bool ends_events(std::string_view text, std::size_t at) {
    constexpr std::array<std::string_view, 16> keys{"traceName",     "displayTimeUnit",  "baseTimeNanoseconds",
                                                    "schemaVersion", "deviceProperties", "distributedInfo",
                                                    "INFO",          "WARNING",          "ERROR",
                                                    "host_name",     "trace_id",         "record_shapes",
                                                    "with_stack",    "profile_memory",   "metadata",
                                                    "otherData"};
    auto const before = before_white(text, at);
    if (before == std::string_view::npos || text[before] != '}') { return false; }
    auto const after = past_white(text, at + 1);
    if (after >= text.size()) { return true; }
    if (text[after] == ',') { return key_comes(text, after + 1, keys); }
    return text[after] == '}' && past_white(text, after + 1) >= text.size();
}

} // namespace headroom::io
