#include "flow_network.hpp"

#include "headroom/error.hpp"

#include <algorithm>

namespace headroom::network {
namespace {

Seconds seconds_of(Ticks ticks) { return Seconds{static_cast<double>(ticks) * 1e-12}; }

std::vector<PlacedSchedule> place_groups(ContendingGroups const& traffic, MessageSchedule const& schedule) {
    std::vector<PlacedSchedule> placed;
    for (std::vector<int> const& group : traffic.groups) {
        if (std::ssize(group) != traffic.call.layout.ranks) {
            refuse(traffic.name, "a group has " + std::to_string(group.size()) + " endpoints",
                   "the collective is among " + std::to_string(traffic.call.layout.ranks), "make the two equal");
        }
        placed.push_back({.schedule = &schedule,
                          .layout = &traffic.call.layout,
                          .endpoints = group,
                          .start = traffic.start,
                          .reduction = traffic.call.reduction});
    }
    return placed;
}

std::vector<LinkUse> busiest_links(SimulatedFlows const& flows, Topology const& topology, std::size_t count) {
    std::vector<LinkUse> uses;
    double const seconds = seconds_of(flows.last()).base();
    for (LinkId link = 0; link < flows.carried.size(); ++link) {
        if (flows.carried[link] <= Bytes{}) { continue; }
        // times are whole picoseconds: of a few of them, a link may seem busy for longer
        double const most = topology.links()[link].capacity.base() * seconds;
        uses.push_back({.link = link,
                        .name = {},
                        .carried = flows.carried[link],
                        .utilisation = most > 0.0 ? std::min(flows.carried[link].base() / most, 1.0) : 0.0});
    }
    count = std::min(count, uses.size());
    std::partial_sort(uses.begin(), uses.begin() + static_cast<std::ptrdiff_t>(count), uses.end(),
                      [](LinkUse const& a, LinkUse const& b) {
                          return a.utilisation != b.utilisation ? a.utilisation > b.utilisation : a.link < b.link;
                      });
    uses.resize(count);
    for (LinkUse& use : uses) { use.name = name_of(topology.links()[use.link]); }
    return uses;
}

/// `together`: when its groups finish among all.
ContendedGroups time_of(ContendingGroups const& traffic, std::span<PlacedSchedule const> own,
                        std::span<Ticks const> together, flow::FlowNetwork& network, std::stop_token const& stop) {
    ContendedGroups time{.name = traffic.name};
    for (PlacedSchedule const& one : own) {
        if (stop.stop_requested()) { return time; }
        time.alone = std::max(time.alone, seconds_of(network.run({&one, 1}, stop).last()) - traffic.start);
    }
    if (stop.stop_requested()) { return time; }
    time.among_own = seconds_of(network.run(own, stop).last()) - traffic.start;
    for (Ticks const finished : together) {
        time.together = std::max(time.together, seconds_of(finished) - traffic.start);
    }
    return time;
}

} // namespace

std::vector<std::vector<int>> strided_groups(int endpoints, int size, int stride, std::string_view where) {
    if (size < 1 || stride < 1 || endpoints < 1 || endpoints % (std::int64_t{size} * stride) != 0) {
        refuse(where,
               std::to_string(endpoints) + " endpoints are no groups of " + std::to_string(size) + " that are " +
                   std::to_string(stride) + " apart",
               "size x stride must divide them", "give other sizes");
    }
    std::vector<std::vector<int>> groups;
    for (int block = 0; block < endpoints; block += size * stride) {
        for (int first = 0; first < stride; ++first) {
            std::vector<int>& group = groups.emplace_back();
            for (int i = 0; i < size; ++i) { group.push_back(block + first + i * stride); }
        }
    }
    return groups;
}

ContendedTime contended_time(std::span<ContendingGroups const> traffic, Topology const& topology, std::size_t busiest,
                             std::stop_token const& stop) {
    std::vector<std::unique_ptr<MessageSchedule>> schedules;
    std::vector<PlacedSchedule> all;
    std::vector<std::size_t> ends;
    for (ContendingGroups const& one : traffic) {
        schedules.push_back(one.algorithm->schedule(one.call));
        std::vector<PlacedSchedule> const placed = place_groups(one, *schedules.back());
        all.insert(all.end(), placed.begin(), placed.end());
        ends.push_back(all.size());
    }
    flow::FlowNetwork network{topology};
    SimulatedFlows const together = network.run(all, stop);
    ContendedTime result{.last = seconds_of(together.last()),
                         .busiest = busiest_links(together, topology, busiest),
                         .messages = together.messages};
    std::size_t first = 0;
    for (std::size_t i = 0; i < traffic.size() && !stop.stop_requested(); first = ends[i++]) {
        std::span<PlacedSchedule const> const own{all.data() + first, ends[i] - first};
        std::span<Ticks const> const finished{together.finished.data() + first, own.size()};
        result.groups.push_back(time_of(traffic[i], own, finished, network, stop));
    }
    result.complete = !stop.stop_requested();
    return result;
}

} // namespace headroom::network
