#include "scaling_statistics.hpp"

#include "headroom/fit/trace_fit.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace headroom::fit {

using namespace headroom::network;
using namespace headroom::trace;

namespace {

constexpr std::size_t most_rows_of_a_size = 32;

/// Where each rank was.
class NodesOfRanks {
public:
    NodesOfRanks(TraceAnswer const& answer, int nodes) {
        bool named = true;
        for (RankDigest const& rank : answer.ranks) { named = named && !rank.host_name.empty(); }
        std::map<std::string, std::int64_t> hosts;
        std::int64_t const workers = answer.workers.value_or(static_cast<std::int64_t>(answer.ranks.size()));
        std::int64_t const each = nodes > 0 ? std::max<std::int64_t>(1, (workers + nodes - 1) / nodes) : 0;
        for (RankDigest const& rank : answer.ranks) {
            std::int64_t node = 0;
            if (each > 0) {
                node = rank.rank / each;
            } else if (named) {
                node = hosts.try_emplace(rank.host_name, static_cast<std::int64_t>(hosts.size())).first->second;
            }
            node_[rank.rank] = node;
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
    NodesOfRanks const nodes(answer, settings.nodes);
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
