#pragma once

#include "event_queue.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace headroom::events {

/// When each of a few sources does something next, which each may put forward or off: events of an `EventQueue`, in
/// which what was set before stays until it is in front, or until such are more than the others.
template <class Time, Ties ties = Ties::by_birth> class Alarms {
public:
    using Limits = std::numeric_limits<Time>;
    static constexpr Time never = Limits::has_infinity ? Limits::infinity() : Limits::max();

    explicit Alarms(std::size_t sources) : alarms_(sources) {}

    [[nodiscard]] bool empty() const { return events_.empty(); }
    /// The next time for which one is set, `never` where none is.
    [[nodiscard]] Time next() const { return events_.empty() ? never : events_.next(); }
    /// The source of it; of several, the one that was set first. Not to be asked where none is set.
    [[nodiscard]] std::uint32_t first() const { return events_.first().source; }
    /// Events in memory: at most two a source, and a few.
    [[nodiscard]] std::size_t held() const { return events_.size(); }

    /// The source does something at a time, and not at the one that was set before.
    void set(std::uint32_t source, Time time) {
        Alarm& alarm = alarms_[source];
        if (time == alarm.time) { return; }
        bool const is_first = !empty() && first() == source;
        alarm = {.time = time, .version = alarm.version + 1};
        Event const event{.source = source, .version = alarm.version};
        if (time != never) { is_first ? events_.replace_first(time, event) : events_.put(time, event); }
        if (is_first) { drop_passed(); }
        if (events_.size() > 2 * alarms_.size() + few) { sweep(); }
    }

    /// Takes off what is next; its source does nothing then until it is set again.
    std::uint32_t take() {
        std::uint32_t const source = events_.take().source;
        alarms_[source].time = never;
        drop_passed();
        return source;
    }

private:
    static constexpr std::size_t few = 16;
    struct Event {
        std::uint32_t source, version;
    };
    struct Alarm {
        Time time = never;
        std::uint32_t version = 0;
    };

    /// The time is asked too, for versions that have gone round.
    [[nodiscard]] bool stands(Time time, Event const& event) const {
        Alarm const& alarm = alarms_[event.source];
        return alarm.version == event.version && alarm.time == time;
    }
    void drop_passed() {
        while (!events_.empty() && !stands(events_.next(), events_.first())) { events_.take(); }
    }
    void sweep() {
        events_.keep_only([this](Time time, Event const& event) { return stands(time, event); });
    }

    std::vector<Alarm> alarms_; ///< by source
    EventQueue<Time, Event, ties> events_;
};

} // namespace headroom::events
