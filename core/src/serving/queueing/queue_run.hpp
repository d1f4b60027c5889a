#pragma once

#include "base/events/event_queue.hpp"
#include "drawn_times.hpp"
#include "line_choice.hpp"
#include "queue_meter.hpp"

#include "headroom/serving/queue_simulation.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace headroom::serving::queueing {

/// First in, first out, in one block of memory that doubles when it is full.
template <class Item> class WaitingLine {
public:
    [[nodiscard]] bool empty() const { return begin_ == end_; }
    [[nodiscard]] std::size_t size() const { return end_ - begin_; }
    void put(Item const& item) {
        if (size() == items_.size()) { grow(); }
        items_[end_++ & (items_.size() - 1)] = item;
    }
    Item take() { return items_[begin_++ & (items_.size() - 1)]; }

private:
    void grow() {
        std::vector<Item> larger(items_.empty() ? 8 : 2 * items_.size());
        std::size_t const count = size();
        for (std::size_t i = 0; i < count; ++i) { larger[i] = take(); }
        items_.swap(larger);
        begin_ = 0;
        end_ = count;
    }

    std::vector<Item> items_; ///< a power of two of them
    std::size_t begin_ = 0, end_ = 0;
};

/// Streams of random numbers that one seed gives.
enum class Purpose : std::uint64_t { gaps, service, lines };
std::uint64_t seed_for(std::uint64_t seed, Purpose purpose);
/// Lines of an experiment, and places, of which there may be no end.
std::uint32_t lines_of(QueueExperiment const& experiment);
std::uint64_t places_of(QueueExperiment const& experiment);
/// Numbers for the services of a line.
CounterRandom services_of(QueueExperiment const& experiment, std::uint32_t line);

/// Requests that are served once. When one's service begins all its times are known, so that an event only says who is
/// free again. Every line draws its services from numbers of its own.
class QueueRun {
public:
    /// Runs all lines, or, of `groups` groups, the lines number `group`, `group` + `groups`, and so on.
    explicit QueueRun(QueueExperiment const& experiment, std::uint32_t group = 0, std::uint32_t groups = 1);
    /// Ends services up to a time, including those that end when a request arrives.
    void pass(double until);
    void arrive(double now) { arrive(now, choice_.pick()); }
    void arrive(double now, std::uint32_t line);
    QueueMeter& meter() { return meter_; }

private:
    struct Done {
        std::uint32_t line, requests;
    };
    struct Line {
        WaitingLine<double> waiting; ///< since when
        CounterRandom services{0};
        int free = 1; ///< servers
    };

    void end(double now, Done done);
    double serve(Line& line, double now, std::uint32_t requests);

    double growth_;
    std::uint32_t batch_;
    std::uint64_t places_, present_ = 0;
    TimeSource service_;
    std::vector<Line> lines_;
    LineChoice choice_;
    events::EventQueue<double, Done> events_;
    QueueMeter meter_;
};

} // namespace headroom::serving::queueing
