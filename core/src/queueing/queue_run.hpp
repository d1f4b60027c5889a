#pragma once

#include "queueing/drawn_times.hpp"
#include "queueing/line_choice.hpp"
#include "queueing/queue_meter.hpp"
#include "queueing/waiting_line.hpp"
#include "simulation/event_queue.hpp"

#include "headroom/queue_simulation.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

namespace headroom::queueing {

/// What drives any of the simulations: arrivals, one after the other, between the events that they cause. What ends at the
/// time of an arrival has ended before it.
template <class Run> std::uint64_t drive(Run& run, TimeSource& gaps, double end) {
    std::uint64_t arrivals = 0, events = 0;
    double arrival = gaps.next();
    while (true) {
        if (!run.events().empty() && run.events().next() <= arrival) {
            run.happen();
            ++events;
        } else if (arrival < end) {
            run.arrive(arrival);
            ++arrivals;
            arrival += gaps.next();
        } else if (!run.events().empty()) {
            arrival = std::numeric_limits<double>::infinity();
        } else {
            return events + arrivals;
        }
    }
}

/// Requests that are served once. When one's service begins all its times are known, so that an event only says who is
/// free again.
class QueueRun {
public:
    explicit QueueRun(QueueExperiment const& experiment);
    void arrive(double now);
    void happen();
    auto& events() { return events_; }
    SimulatedQueue result(std::uint64_t events) { return meter_.result(events, servers_); }

private:
    struct Done {
        std::uint32_t line, requests;
    };
    struct Line {
        WaitingLine<double> waiting; ///< since when
        int free = 1;                ///< servers
    };

    double serve(double now, std::uint32_t requests);

    double servers_, growth_;
    std::uint32_t batch_;
    std::uint64_t places_, present_ = 0;
    TimeSource service_;
    std::vector<Line> lines_;
    LineChoice choice_;
    simulation::EventQueue<double, Done> events_;
    QueueMeter meter_;
};

/// What of a seed is for what.
enum class Purpose : std::uint64_t { gaps, service, lines };
std::uint64_t seed_for(std::uint64_t seed, Purpose purpose);
/// Lines of an experiment, and places, of which there may be no end.
std::uint32_t lines_of(QueueExperiment const& experiment);
std::uint64_t places_of(QueueExperiment const& experiment);

} // namespace headroom::queueing
