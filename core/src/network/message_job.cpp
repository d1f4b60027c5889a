#include "headroom/network/message_job.hpp"

#include "headroom/fields.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace headroom::network {

namespace {

constexpr std::array<std::string_view, 10> pattern_names{
    "one_way", "both_ways", "shifted", "all_at_once", "pairs", "loaded", "computing", "train", "adding", "collective"};

constexpr Field algorithm_rows[] = {
    {"collective", "Collective.", member<&CommAlgorithm::collective>},
    {"name", "Name of the algorithm in the library.", member<&CommAlgorithm::name>},
};
constexpr FieldTable algorithm_table = field_table<CommAlgorithm>("forced_algorithm", algorithm_rows);

constexpr Field world_rows[] = {
    {"ranks", "Number of ranks.", [](CommWorld const& w) { return w.ranks(); }},
    {"nodes", "Number of hosts.", [](CommWorld const& w) { return w.nodes(); }},
    {"hosts", "Host of each rank.", member<&CommWorld::hosts>},
    {"cores", "Number of cores of each rank's host that its processes may use.", member<&CommWorld::cores>},
    {"library", "MPI library, by the first line of its version.", member<&CommWorld::implementation>},
    {"more_ranks_than_cores", "Whether a host has more ranks than cores.",
     [](CommWorld const& w) { return w.crowded(); }},
    {"algorithms_that_can_be_forced", "Algorithms that the library can be forced to use.",
     member<&CommWorld::algorithms>},
};
constexpr FieldTable world_table = field_table<CommWorld>("job", world_rows);

} // namespace

FieldTable const& field_table_of(CommAlgorithm const*) { return algorithm_table; }
FieldTable const& field_table_of(CommWorld const*) { return world_table; }

std::string_view name_of(CommPattern pattern) { return pattern_names[static_cast<std::size_t>(pattern)]; }

std::optional<CommPattern> comm_pattern_from(std::string_view name) {
    auto const found = std::ranges::find(pattern_names, name);
    if (found == pattern_names.end()) { return {}; }
    return static_cast<CommPattern>(found - pattern_names.begin());
}

std::optional<int> CommWorld::near_peer() const {
    for (int rank = 1; rank < ranks(); ++rank) {
        if (host_of(rank) == hosts.front()) { return rank; }
    }
    return {};
}

std::optional<int> CommWorld::far_peer() const {
    for (int rank = 1; rank < ranks(); ++rank) {
        if (host_of(rank) != hosts.front()) { return rank; }
    }
    return {};
}

std::string CommWorld::link_to(int peer) const {
    return host_of(peer) == hosts.front() ? "inside a host" : "between hosts";
}

bool CommWorld::crowded() const {
    std::map<std::string, int> here;
    for (std::string const& host : hosts) { ++here[host]; }
    for (std::size_t i = 0; i < hosts.size(); ++i) {
        if (here[hosts[i]] > cores[i]) { return true; }
    }
    return false;
}

int CommWorld::nodes() const { return static_cast<int>(std::set<std::string>{hosts.begin(), hosts.end()}.size()); }

} // namespace headroom::network
