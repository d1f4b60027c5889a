#pragma once

#include "headroom/error.hpp"

#include <stop_token>

namespace headroom::events {

/// Time goes from one moment at which something happens to the next. All that happens at one is taken off the queue,
/// what that puts in for the same moment too, before `settle()` makes of it what follows.
/// `happens(event)` and `settle()` put nothing in that was before `now`: going back is a ContractError. Whether it came
/// to the end: nobody asked to stop, which is looked at between moments.
template <class Events, class Time, class Happens, class Settle>
bool run_moments(Events& events, Time& now, std::stop_token const& stop, Happens happens, Settle settle) {
    while (!events.empty()) {
        if (stop.stop_requested()) { return false; }
        if (events.next() < now) { throw ContractError{"time goes back in a simulation"}; }
        now = events.next();
        do { happens(events.take()); } while (!events.empty() && events.next() == now);
        settle();
    }
    return true;
}

} // namespace headroom::events
