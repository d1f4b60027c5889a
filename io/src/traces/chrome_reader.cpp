#include "traces/chrome_reader.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

namespace headroom::io {
namespace {

constexpr std::size_t careful_reach = 4096; ///< after damage: what follows may be damaged, too

bool is_white(char byte) { return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t'; }

} // namespace

std::size_t ChromeReader::feed(char const* text, std::size_t size, std::uint64_t base, bool last) {
    Window const window{text, size, base, last};
    std::size_t at = at_ > base ? static_cast<std::size_t>(at_ - base) : 0;
    more_ = stopped_ = false;
    while (!more_ && !stopped_) {
        switch (mode_) {
        case Mode::beginning: at = begin(window, at); break;
        case Mode::members: at = read_member(window, at); break;
        case Mode::events: at = read_events(window, at); break;
        case Mode::lost: at = find_again(window, at); break;
        case Mode::done: at = pass_rest(window, at); break;
        }
    }
    at_ = base + at;
    // To look for an event one must see what stands before it.
    return mode_ == Mode::lost ? at - std::min(at, event_reach) : at;
}

std::size_t ChromeReader::wait(std::size_t at) {
    more_ = true;
    return at;
}

std::size_t ChromeReader::begin(Window const& window, std::size_t from) {
    constexpr std::string_view mark = "\xef\xbb\xbf";
    if (window.base + from == 0) {
        if (window.size < mark.size() && !window.last) { return wait(from); }
        if (window.view().substr(0, mark.size()) == mark) {
            part_.faults.count(ChromeFault::byte_order_mark, 0);
            from += mark.size();
        }
    }
    while (from < window.size && is_white(window.text[from])) { ++from; }
    if (from == window.size) {
        more_ = true;
        if (window.last) { mode_ = Mode::done; }
        return from;
    }
    char const first = window.text[from];
    bare_ = first != '{';
    after_event_ = comma_ = false;
    if (first != '{' && first != '[') { return lose(window, ChromeFault::lost_text, from, from); }
    mode_ = bare_ ? Mode::events : Mode::members;
    return from + 1;
}

/// Text ends where it should not.
std::size_t ChromeReader::end_early(Window const& window, ChromeFault fault, std::size_t at) {
    part_.faults.count(fault, window.base + at);
    mode_ = Mode::done;
    return window.size;
}

std::size_t ChromeReader::read_member(Window const& window, std::size_t from) {
    auto const text = window.view();
    while (from < text.size() && (is_white(text[from]) || text[from] == ',')) { ++from; }
    if (from == text.size()) {
        if (window.last) { return end_early(window, ChromeFault::missing_end, from); }
        return wait(from);
    }
    if (text[from] == '}') {
        mode_ = Mode::done;
        return from + 1;
    }
    if (text[from] != '"') { return lose(window, ChromeFault::lost_text, from, from); }
    ChromeFaults faults; // counted once the member is whole
    auto const key_end = value_end(text, from, window.last, window.base, &faults);
    std::size_t at = std::min(key_end, text.size());
    while (at < text.size() && is_white(text[at])) { ++at; }
    bool const colon = at < text.size() && text[at] == ':';
    if (at < text.size() && !colon) { return lose(window, ChromeFault::lost_text, at, at); }
    if (colon) { ++at; }
    while (at < text.size() && is_white(text[at])) { ++at; }
    if (at < text.size() && text[at] == '[' && text.substr(from, key_end - from) == "\"traceEvents\"") {
        mode_ = Mode::events;
        after_event_ = comma_ = false;
        part_.faults.add(faults);
        return at + 1;
    }
    auto const end = at < text.size() ? value_end(text, at, window.last, window.base, &faults) : std::string_view::npos;
    bool const whole = end != std::string_view::npos && (end < text.size() || window.last);
    if ((whole ? end : text.size()) - from > longest) { return lose(window, ChromeFault::long_text, from, from + 1); }
    if (!whole && window.last) { return end_early(window, ChromeFault::cut_short, from); }
    if (!whole) { return wait(from); }
    metadata_.take(text.substr(from + 1, key_end - from - 2), text.substr(at, end - at));
    part_.faults.add(faults);
    return end;
}

std::size_t ChromeReader::pass_rest(Window const& window, std::size_t from) {
    auto const text = window.view();
    while (from < text.size() && is_white(text[from])) { ++from; }
    if (from < text.size() && !rest_counted_) {
        part_.faults.count(ChromeFault::after_end, window.base + from);
        rest_counted_ = true;
    }
    more_ = true;
    return text.size();
}

/// Counts a fault at `at`; looks for an event from `search` on.
std::size_t ChromeReader::lose(Window const& window, ChromeFault fault, std::size_t at, std::size_t search) {
    part_.faults.count(fault, window.base + at);
    mode_ = Mode::lost;
    lost_at_ = window.base + at;
    return search;
}

std::size_t ChromeReader::find_again(Window const& window, std::size_t from) {
    // Text before the damage may be gone already: it must not matter.
    std::size_t const floor = lost_at_ > window.base ? static_cast<std::size_t>(lost_at_ - window.base) : 0;
    auto const text = window.view().substr(floor);
    std::size_t const sure = window.last ? text.size() : text.size() - std::min(text.size(), event_reach);
    from -= floor;
    if (from < sure) {
        auto const event = find_event(text, from, sure);
        for (auto close = text.find(']', from); close < event; close = text.find(']', close + 1)) {
            if (!ends_events(text, close)) { continue; }
            leave_events(0);
            stopped_ = stop_behind_events_;
            return floor + close + 1;
        }
        if (event < sure) {
            mode_ = Mode::events;
            after_event_ = false;
            reach_ = careful_reach;
            return floor + event;
        }
        from = sure;
    }
    if (window.last) { mode_ = Mode::done; }
    more_ = !window.last;
    return window.last ? window.size : floor + from;
}

std::size_t ChromeReader::read_events(Window const& window, std::size_t from) {
    std::size_t const left = window.size - from;
    std::size_t const reach = reach_ < left ? reach_ / 64 * 64 : left;
    scanner_.open(window.text + from, static_cast<std::uint32_t>(reach));
    reopen_ = false;
    std::size_t at = from;
    while (mode_ == Mode::events && !more_ && !reopen_ && !stopped_) {
        at = separate(window, at, from + reach);
        bool const event = mode_ == Mode::events && !more_ && !reopen_ && !stopped_;
        if (event) { at = scan_event(window, from, at); }
    }
    if (reach == left || more_) { reach_ = std::max(reach_, longest); }
    if (reopen_) { reach_ = std::max<std::size_t>(reach * 2, careful_reach); }
    return at;
}

/// Passes what stands between events; comes to the brace of the next one.
std::size_t ChromeReader::separate(Window const& window, std::size_t at, std::size_t end) {
    char const* const text = window.text;
    for (;; ++at) {
        while (at < end && is_white(text[at])) { ++at; }
        if (at >= end) {
            reopen_ = end < window.size;
            if (reopen_) { return at; }
            if (!window.last) { return wait(at); }
            if (comma_) { part_.faults.count(ChromeFault::trailing_comma, window.base + at); }
            return end_early(window, ChromeFault::missing_end, at);
        }
        if (text[at] != ',') { break; }
        if (comma_) { part_.faults.count(ChromeFault::lost_text, window.base + at); }
        comma_ = true;
    }
    if (text[at] == '{') {
        stopped_ = window.base + at >= stop_at_;
        if (stopped_) { return at; }
        if (after_event_ && !comma_) { part_.faults.count(ChromeFault::missing_comma, window.base + at); }
        comma_ = true; // it was looked for
        return at;
    }
    if (text[at] == ']') {
        if (comma_) { part_.faults.count(ChromeFault::trailing_comma, window.base + at); }
        leave_events(0);
        stopped_ = stop_behind_events_;
        return at + 1;
    }
    return pass_value(window, at);
}

/// Passes a value that is no event.
std::size_t ChromeReader::pass_value(Window const& window, std::size_t at) {
    auto const text = window.view();
    auto const value = value_end(text, at, window.last, window.base, nullptr);
    bool const whole = value != std::string_view::npos && (value < text.size() || window.last);
    bool const long_one = (whole ? value : text.size()) - at > longest;
    if (!whole && !window.last && !long_one) { return wait(at); }
    if (!whole || long_one || value == at) { return lose(window, ChromeFault::lost_text, at, at + 1); }
    part_.faults.count(ChromeFault::no_event, window.base + at);
    after_event_ = true;
    comma_ = false;
    reopen_ = true;
    return value;
}

std::size_t ChromeReader::scan_event(Window const& window, std::size_t from, std::size_t at) {
    std::size_t const local = at - from;
    ChromeScan const result = scanner_.scan(static_cast<std::uint32_t>(local), event_);
    std::size_t const place = from + scanner_.end();
    if (place - at > longest) { return lose(window, ChromeFault::long_event, at, at + 1); }
    switch (result) {
    case ChromeScan::whole: keep_event(window, from, at); break;
    case ChromeScan::incomplete:
        reopen_ = place < window.size;
        if (reopen_) { return at; }
        return window.last ? end_early(window, ChromeFault::cut_short, at) : wait(at);
    case ChromeScan::faulty:
        ++part_.events;
        return lose(window, ChromeFault::unreadable_event, place, std::max(place, at + 1));
    case ChromeScan::unclosed:
        ++part_.events;
        part_.faults.count(ChromeFault::unclosed_event, window.base + at);
        comma_ = true; // it stands before the brace
        break;
    case ChromeScan::deep: ++part_.events; return lose(window, ChromeFault::deep_event, at, place + 1);
    }
    return place;
}

void ChromeReader::keep_event(Window const& window, std::size_t from, std::size_t at) {
    event_.at = window.base + at;
    after_event_ = true;
    comma_ = false;
    if (scanner_.unusual(static_cast<std::uint32_t>(at - from))) {
        inspect_text(window.view().substr(at, event_.size), event_.at, part_.faults);
    }
    part_.keep(event_, scanner_);
}

void feed_all(ChromeReader& reader, ChromeText const& text, std::uint64_t base, std::size_t block) {
    std::size_t room = std::max<std::size_t>(block, 1), kept = 0;
    std::vector<char> buffer(room + 2 * json_padding, ' ');
    for (bool last = false; !last && !reader.stopped();) {
        char* const begin = buffer.data() + json_padding;
        auto const got = text(begin + kept, room - kept);
        last = got < room - kept;
        std::size_t const size = kept + got;
        std::fill_n(begin + size, json_padding, ' ');
        auto const done = std::min(reader.feed(begin, size, base, last), size);
        base += done;
        kept = size - done;
        std::memmove(begin, begin + done, kept);
        if (kept > room / 2) {
            room *= 2;
            buffer.resize(room + 2 * json_padding, ' ');
        }
    }
}

} // namespace headroom::io
