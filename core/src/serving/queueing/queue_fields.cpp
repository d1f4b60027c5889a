#include "headroom/fields.hpp"
#include "headroom/serving/queue.hpp"

#include <cmath>

namespace headroom::serving {
namespace {

/// A time that a queue settles to; nothing where it grows without end.
std::optional<Seconds> settled(Seconds time) { return std::isfinite(time.base()) ? std::optional{time} : std::nullopt; }

} // namespace

FieldTable const& field_table_of(LoadPoint const*) {
    static constexpr Field rows[] = {
        {"arrivals_per_second", "Rate of requests.", member<&LoadPoint::arrivals_per_second>},
        {"stable", "Whether the servers keep up with it; else no time is known.",
         [](LoadPoint const& point) { return point.answer.stable; }},
        {"utilization", "Share of time that a server works.",
         [](LoadPoint const& point) { return point.answer.utilization; }, Unit{"share"}},
        {"throughput_per_second", "Rate of requests that are served.",
         [](LoadPoint const& point) { return point.answer.throughput_per_second; }},
        {"wait_seconds", "Mean wait.", [](LoadPoint const& point) { return settled(point.answer.wait); }},
        {"latency_seconds", "Mean time until served.",
         [](LoadPoint const& point) { return settled(point.answer.latency); }},
        {"p50_seconds", "Median time until served.", [](LoadPoint const& point) { return settled(point.p50); }},
        {"p99_seconds", "99th percentile of the time until served.",
         [](LoadPoint const& point) { return settled(point.p99); }},
    };
    static constexpr FieldTable table = field_table<LoadPoint>("load_point", rows);
    return table;
}

FieldTable const& field_table_of(Doubling const*) {
    static constexpr Field rows[] = {
        {"now", "The servers and the load of now.", member<&Doubling::now>},
        {"shared_line", "Twice the servers behind one line.", member<&Doubling::shared_line>},
        {"own_lines", "One of two lines, to which half of the requests go by chance.", member<&Doubling::own_lines>},
        {"twice_traffic", "Twice the servers and twice the load.", member<&Doubling::twice_traffic>},
        {"service_p99_seconds", "99th percentile of service alone.", member<&Doubling::service_p99>},
    };
    static constexpr FieldTable table = field_table<Doubling>("doubling", rows);
    return table;
}

} // namespace headroom::serving
