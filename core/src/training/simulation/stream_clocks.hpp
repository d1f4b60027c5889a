#pragma once

#include "base/events/alarms.hpp"
#include "base/events/event_queue.hpp"
#include "stream_order.hpp"

#include "headroom/training/stream_simulation.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace headroom::training::simulation {

inline constexpr std::uint32_t no_influence = 0xFFFFFFFF;
/// Causes of a lower rate of a stream's tasks: network traffic on its chip, and a link shared with other streams.
struct Influence {
    std::uint32_t chip = no_influence, link = no_influence;
    [[nodiscard]] bool any() const { return chip != no_influence || link != no_influence; }
    auto operator<=>(Influence const&) const = default;
};
/// Influences on each stream.
std::vector<Influence> influences_on(StreamProgram const& program);
/// Whether any task may ever be slower than alone.
bool can_be_slowed(StreamProgram const& program);

/// Ends of the tasks under way. Tasks whose rates are always equal share a clock that counts their progress: the plain
/// clock, which is time itself, or one for the kernels of a chip, for the traffic of a link, or for both. A change of
/// rate is then one change, however many tasks it concerns: the order of a clock's tasks stays, and only the clock's
/// next end moves. Ends at one tick are in no order, because all of them are removed before the next event is handled.
class StreamClocks {
public:
    explicit StreamClocks(StreamProgram const& program);

    using Ends = events::Alarms<Ticks, events::Ties::any>;

    /// The ticks at which the next task of each clock ends, once rates are settled.
    [[nodiscard]] Ends& ends() { return ends_; }
    /// Removes the tasks of a clock that end at `now`, and appends them to `ended`.
    void take_ended(std::uint32_t clock, Ticks now, std::vector<laws::TaskId>& ended);
    /// Begins a task.
    void begin(laws::TaskId task, StreamProgram const& program, Ticks now);
    /// Sets the rates of all clocks, after the ends and begins at `now`.
    void settle(Ticks now);

private:
    static constexpr std::uint32_t none = no_influence;
    struct Running {
        laws::TaskId task;
        StreamId stream;
    };
    struct Clock {
        Ticks shows = 0, at = 0; ///< its count when last read, and that time
        Ticks gains = 1, in = 1; ///< rate: `gains` ticks of progress in `in` ticks of time
        Influence influence;
        events::EventQueue<Ticks, Running, events::Ties::any> running = {}; ///< by the clock's count at their ends
        bool noted = false;                                                 ///< to be settled
    };
    struct Route {
        std::uint32_t clock, clock_of_waits, link, network; ///< of a stream; `network`: the chip that it keeps busy
    };

    void make_clocks(StreamProgram const& program);
    void advance(Clock& clock, Ticks now) const;
    void note(std::uint32_t clock);
    void note_all(std::span<std::uint32_t const> clocks);
    void count(StreamId stream, std::uint32_t clock, int tasks);
    void set_rate(Clock& clock, Ticks now) const;
    [[nodiscard]] Ticks end_of_first(Clock const& clock) const;

    Ticks slowed_, whole_; ///< rate of a kernel while the network of its chip is busy: slowed_ / whole_
    std::vector<Clock> clocks_;
    std::vector<Route> routes_;                                 ///< by stream
    std::vector<Ticks> sharers_;                                ///< by link: tasks under way
    std::vector<std::uint32_t> network_;                        ///< by chip: network tasks under way
    std::vector<std::vector<std::uint32_t>> of_chip_, of_link_; ///< clocks
    std::vector<std::uint32_t> noted_;
    Ends ends_;
};

} // namespace headroom::training::simulation
