#include "headroom/probe/comm.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace headroom::probe {

using namespace headroom::network;

std::string_view name_of(CommPattern pattern) {
    constexpr std::array<std::string_view, 10> names{"one_way", "both_ways", "shifted", "all_at_once", "pairs",
                                                     "loaded",  "computing", "train",   "adding",      "collective"};
    return names[static_cast<std::size_t>(pattern)];
}

std::uint64_t actual_bytes(CommPattern pattern, Collective collective, std::uint64_t asked, int ranks) {
    auto const p = static_cast<std::uint64_t>(ranks);
    std::uint64_t const floats = std::max<std::uint64_t>(1, asked / 4);
    bool const shards = collective == Collective::all_gather || collective == Collective::reduce_scatter ||
                        collective == Collective::all_to_all;
    if (pattern == CommPattern::all_at_once || (pattern == CommPattern::collective && shards)) {
        return std::max<std::uint64_t>(1, floats / p) * p * 4;
    }
    if (pattern == CommPattern::collective && collective == Collective::barrier) { return 0; }
    return pattern == CommPattern::collective || pattern == CommPattern::adding ? floats * 4 : asked;
}

std::optional<int> CommWorld::near_peer() const {
    for (int rank = 1; rank < ranks(); ++rank) {
        if (hosts[static_cast<std::size_t>(rank)] == hosts.front()) { return rank; }
    }
    return {};
}

std::optional<int> CommWorld::far_peer() const {
    for (int rank = 1; rank < ranks(); ++rank) {
        if (hosts[static_cast<std::size_t>(rank)] != hosts.front()) { return rank; }
    }
    return {};
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

CommJob*& comm_job() {
    static CommJob* job = nullptr;
    return job;
}

} // namespace headroom::probe
