#include "scaling_statistics.hpp"

#include "headroom/fit/trace_fit.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

namespace headroom::fit {

using namespace headroom::network;
using namespace headroom::trace;

namespace {

constexpr std::size_t most_rows_of_a_size = 32;

/// Host in the name that torch.profiler gives a trace, "HOST_PID.TIME.pt.trace.json"; empty for another name.
std::string host_of_file(std::string_view path) {
    path = path.substr(path.find_last_of('/') + 1);
    path = path.substr(0, path.find(".pt.trace.json"));
    for (char const mark : {'.', '_'}) {
        auto const last = path.find_last_not_of("0123456789");
        if (last == std::string_view::npos || last + 1 == path.size() || path[last] != mark) { return {}; }
        path = path.substr(0, last);
    }
    return std::string{path};
}

std::string host_of(RankDigest const& rank) {
    return rank.host_name.empty() ? host_of_file(rank.source) : rank.host_name;
}

/// Node of each rank: of equal blocks of ranks where their number is stated, else by the names of hosts. Hosts that are
/// not named, or are named alike on more ranks than a node holds, are blocks of a full node each.
class NodesOfRanks {
public:
    NodesOfRanks(TraceAnswer const& answer, TraceFitSettings const& settings) {
        std::map<std::string, std::set<std::int64_t>> hosts;
        for (RankDigest const& rank : answer.ranks) { hosts[host_of(rank)].insert(rank.rank); }
        auto const size = static_cast<std::size_t>(settings.node_size);
        bool const named =
            !hosts.contains("") &&
            (size == 0 || std::ranges::all_of(hosts, [&](auto const& host) { return host.second.size() <= size; }));
        std::int64_t const workers = answer.workers.value_or(static_cast<std::int64_t>(answer.ranks.size()));
        std::int64_t const each = settings.nodes > 0
                                      ? std::max<std::int64_t>(1, (workers + settings.nodes - 1) / settings.nodes)
                                      : settings.node_size;
        for (RankDigest const& rank : answer.ranks) {
            auto const host = std::distance(hosts.begin(), hosts.find(host_of(rank)));
            bool const by_host = settings.nodes == 0 && named;
            node_[rank.rank] = by_host ? host : each > 0 ? rank.rank / each : 0;
        }
    }
    [[nodiscard]] int of(MatchedCollective const& one) const {
        std::set<std::int64_t> nodes;
        for (auto const rank : one.members) {
            auto const known = node_.find(rank);
            nodes.insert(known == node_.end() ? 0 : known->second);
        }
        return static_cast<int>(nodes.size());
    }

private:
    std::map<std::int64_t, std::int64_t> node_;
};

bool ends_on_all_at_once(Collective collective) {
    return collective == Collective::all_reduce || collective == Collective::all_gather ||
           collective == Collective::reduce_scatter || collective == Collective::all_to_all;
}

using SizeKey = std::tuple<Collective, std::int32_t, int, std::int64_t>;

} // namespace

TraceCollectives measured_collectives(TraceAnswer const& answer, TraceFitSettings const& settings) {
    NodesOfRanks const nodes(answer, settings);
    TraceCollectives result;
    std::map<SizeKey, std::vector<Ticks>> times;
    for (MatchedCollective const& one : answer.collectives.matched) {
        if (!one.collective || *one.collective == Collective::barrier || one.bytes <= 0 || one.ranks < 2) {
            ++result.without_size;
            continue;
        }
        if (one.members.size() < static_cast<std::size_t>(one.ranks)) {
            ++result.incomplete;
            continue;
        }
        Ticks const time = ends_on_all_at_once(*one.collective) ? one.shortest : one.transfer;
        if (time <= 0) { continue; }
        times[{*one.collective, one.ranks, nodes.of(one), one.bytes}].push_back(time);
        ++result.used;
    }
    for (auto const& [key, of_size] : times) {
        auto const& [collective, ranks, on_nodes, bytes] = key;
        for (Ticks const time : sorted_and_thinned(of_size, most_rows_of_a_size)) {
            MeasuredCollective row;
            row.system = settings.system;
            row.collective = collective;
            row.size = {Bytes{static_cast<double>(bytes)}};
            row.ranks = ranks;
            row.nodes = on_nodes;
            row.time = Seconds{static_cast<double>(time) * 1e-9};
            row.file = settings.source;
            result.rows.push_back(std::move(row));
        }
    }
    return result;
}

} // namespace headroom::fit
