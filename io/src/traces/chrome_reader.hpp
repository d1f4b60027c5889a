#pragma once

#include "traces/chrome_event.hpp"
#include "traces/chrome_metadata.hpp"
#include "traces/chrome_part.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string_view>

namespace headroom::io {

/// Reads the text of a trace, window by window. Where windows begin and end changes nothing.
class ChromeReader {
public:
    enum class Mode : std::uint8_t {
        beginning,
        members, ///< of the object around the events
        events,
        lost, ///< looks for the next event
        done,
    };
    static constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();
    /// An event, or another member, that is longer is left out: so much text is held at most.
    static constexpr std::size_t longest = std::size_t{16} << 20;

    ChromeReader(ChromePart& part, ChromeMetadata& metadata) : part_(part), metadata_(metadata) {}
    /// Goes on among events at a place in the text, whose window comes next.
    void resume(std::uint64_t at) {
        mode_ = Mode::events;
        after_event_ = comma_ = false;
        at_ = at;
    }
    /// Stops before the first event at `at` or after it.
    void stop_at(std::uint64_t at) {
        stop_at_ = at;
        stopped_ = false;
    }
    /// Stops behind the bracket that closes the events.
    void stop_behind_events() { stop_behind_events_ = true; }
    /// Whether it stopped, and where: the place of an event, or behind the events.
    [[nodiscard]] bool stopped() const { return stopped_; }
    [[nodiscard]] std::uint64_t place() const { return at_; }
    [[nodiscard]] Mode mode() const { return mode_; }
    /// Goes on where another reader of the same text stopped, among events or at the end of the text.
    void go_on_from(ChromeReader const& other) {
        mode_ = other.mode_;
        at_ = other.at_;
        after_event_ = other.after_event_;
        comma_ = other.comma_;
        stopped_ = other.stopped_;
    }
    /// Goes on behind the bracket that closes the events.
    void leave_events(std::uint64_t at) {
        mode_ = bare_ ? Mode::done : Mode::members;
        at_ = at;
    }

    /// Reads from a window of text that begins at byte `base`, with padding around it (see `JsonIndex`); `last`: no text
    /// comes after it. Returns how much of it is done with; the rest must begin the next window.
    std::size_t feed(char const* text, std::size_t size, std::uint64_t base, bool last);

private:
    struct Window {
        char const* text;
        std::size_t size;
        std::uint64_t base;
        bool last;
        [[nodiscard]] std::string_view view() const { return {text, size}; }
    };
    // Each reads from `from` on and returns the place that it came to; `more_` is set where more text is needed.
    std::size_t begin(Window const& window, std::size_t from);
    std::size_t read_member(Window const& window, std::size_t from);
    std::size_t read_events(Window const& window, std::size_t from);
    std::size_t separate(Window const& window, std::size_t at, std::size_t end);
    std::size_t pass_value(Window const& window, std::size_t at);
    std::size_t scan_event(Window const& window, std::size_t from, std::size_t at);
    std::size_t lose(Window const& window, ChromeFault fault, std::size_t at, std::size_t search);
    std::size_t find_again(Window const& window, std::size_t from);
    std::size_t pass_rest(Window const& window, std::size_t from);
    std::size_t end_early(Window const& window, ChromeFault fault, std::size_t at);
    std::size_t wait(std::size_t at);
    void keep_event(Window const& window, std::size_t from, std::size_t at);

    ChromePart& part_;
    ChromeMetadata& metadata_;
    ChromeScanner scanner_;
    ChromeEvent event_{};
    Mode mode_ = Mode::beginning;
    bool bare_ = true; ///< no object around the events
    bool after_event_ = false, comma_ = false;
    bool more_ = false, reopen_ = false, stopped_ = false, stop_behind_events_ = false, rest_counted_ = false;
    std::uint64_t at_ = 0, stop_at_ = never, lost_at_ = 0;
    std::size_t reach_ = longest; ///< of the next look ahead
};

/// Bytes of the text from a place on, in order: as many as there are, up to `size`.
using ChromeText = std::function<std::size_t(char* into, std::size_t size)>;
/// Feeds a reader with the text from byte `base` on, until it stops or the text ends. `block` bounds what is held.
void feed_all(ChromeReader& reader, ChromeText const& text, std::uint64_t base, std::size_t block);

} // namespace headroom::io
