#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace headroom::document {

/// One argument of an event, in addition to its name and time.
struct TraceArgument {
    std::string_view name;
    std::variant<std::int64_t, std::string_view> value;
};

/// An event from `begin` on, both in microseconds as they are printed.
struct TraceEvent {
    int process = 0, thread = 0;
    std::string_view name, category;
    std::string begin, duration;
};

/// Arrow from one event to another: each end lies in the event that it belongs to. `number` is its own.
struct TraceArrow {
    std::string_view name;
    std::int64_t number = 0;
    int from_process = 0, from_thread = 0;
    std::string from_time;
    int to_process = 0, to_thread = 0;
    std::string to_time;
};

/// Value of a counter of a process from `time` on, in microseconds as they are printed.
struct TraceCounter {
    int process = 0;
    std::string_view name, quantity; ///< "memory", "bytes"
    std::string time;
    std::int64_t value = 0;
};

/// A Chrome trace in the making: JSON that trace viewers (chrome://tracing, Perfetto) open. Whatever names hold, the
/// text is valid JSON.
class ChromeTrace {
public:
    /// `tick` says what a microsecond stands for: "time", or a unit of a graph's own. `events`: about so many.
    explicit ChromeTrace(std::string_view tick, std::size_t events = 0);
    /// The process and the thread as viewers show them, processes in the order of their numbers.
    void name_process(int process, std::string_view name);
    void name_thread(int process, int thread, std::string_view name);
    void add(TraceEvent const& event, std::span<TraceArgument const> arguments);
    void add_arrow(TraceArrow const& arrow);
    void add_counter(TraceCounter const& counter);
    [[nodiscard]] std::string text() &&;

private:
    void begin_event();
    std::string out_;
    bool empty_ = true;
};

/// Picoseconds as microseconds, every digit: 1234567 -> "1.234567", 2000000 -> "2".
std::string microseconds_of(std::int64_t picoseconds);

} // namespace headroom::document
