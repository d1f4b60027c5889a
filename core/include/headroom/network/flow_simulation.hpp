#pragma once

#include "headroom/network/collective_algorithm.hpp"
#include "headroom/network/topology.hpp"

#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace headroom::network {

/// A schedule on endpoints of a network: its rank i is endpoint endpoints[i].
struct PlacedSchedule {
    MessageSchedule const* schedule = nullptr;
    Layout const* layout = nullptr; ///< that the schedule was made for
    std::vector<int> endpoints;
    Seconds start = {};
    SecondsPerByte reduction = {};
};

/// Result of simulating several schedules at once on one network.
struct SimulatedFlows {
    std::vector<Ticks> finished;  ///< by schedule: picoseconds from zero until its last rank is done
    std::vector<Bytes> carried;   ///< by link
    std::int64_t messages = 0;    ///< of all
    std::int64_t settlements = 0; ///< times at which rates changed: what the simulation had to do
    [[nodiscard]] Ticks last() const;
};

/// Schedules that share the links of a network max-min fairly.
///
///     a message begins when both ends are through with their rounds before it, pays the latencies of its route's links,
///     and then has, at every moment, the rate that max-min fairness gives its flow among all that are under way
///
/// Where no link has two flows it is `simulate`, to the picosecond. Every finish is rounded to whole picoseconds.
/// Holds for:  schedules without switches that add; routes that do not change; any number of schedules.
/// Assumes:    flows take their fair share at once; no loss, no head-of-line blocking, no bursts.
/// Errors:     InputError{usage} for endpoints that are not there or named twice in a schedule, and for a schedule with
///             more participants than endpoints.
/// Source:     [BertsekasGallager1992], [SimGrid]
SimulatedFlows simulate_flows(std::span<PlacedSchedule const> schedules, Topology const& topology);

/// Groups of a dimension of parallelism: all `endpoints`, `size` to a group, `stride` apart. Errors: InputError{usage} where
/// size x stride does not divide the endpoints.
std::vector<std::vector<int>> strided_groups(int endpoints, int size, int stride, std::string_view where = "groups");

/// Several groups that run one collective, such as the rings of all data-parallel groups.
struct ContendingGroups {
    std::string name; ///< "dp"
    CollectiveAlgorithm const* algorithm = nullptr;
    CollectiveCall call;                  ///< of each group; its layout has as many ranks as a group has endpoints
    std::vector<std::vector<int>> groups; ///< endpoints by rank
    Seconds start = {};
};

/// Time of the slowest group of one kind of traffic, alone and with the other groups.
struct ContendedGroups {
    std::string name;
    Seconds alone = {};     ///< a group by itself on the network
    Seconds among_own = {}; ///< with the other groups of this traffic
    Seconds together = {};  ///< with all groups of all traffic, from its own start
    /// Time with all traffic, over the time alone.
    [[nodiscard]] double slowdown() const { return alone > Seconds{} ? together / alone : 1.0; }
};

struct LinkUse {
    LinkId link = 0;
    std::string name; ///< "leaf 3 -> spine 1"
    Bytes carried;
    double utilisation = 0.0; ///< share of what it could carry until the last group is done
};

struct ContendedTime {
    std::vector<ContendedGroups> groups = {}; ///< one for each traffic
    Seconds last;                             ///< from zero until all are done
    std::vector<LinkUse> busiest;             ///< most used first; equal ones by number
    std::int64_t messages = 0;
    bool complete = true; ///< whether nobody asked to stop before the end; else the times are of no use
};

/// Groups that share a network: each alone, those of each traffic together, and all together. `busiest`: so many links are listed.
/// Errors: as `simulate_flows`; a layout of another size than its groups.
ContendedTime contended_time(std::span<ContendingGroups const> traffic, Topology const& topology,
                             std::size_t busiest = 5, std::stop_token const& stop = {});

} // namespace headroom::network
