#include "comm_candidates.hpp"

#include <algorithm>
#include <array>

namespace headroom::network {
namespace {

/// Messages of all groups together. They take some seconds where many contend.
constexpr double most_messages = 1e6;
constexpr std::size_t busiest_links = 5; // that the answer lists

/// The call of one group. Each domain holds as many of its ranks as the stride leaves room for.
CollectiveCall group_call(CommQuestion const& question, int ranks, int stride) {
    CollectiveCall call = call_of(question, ranks, question.size);
    CommNetwork const& network = question.network;
    if (network.domain > 1) {
        call.layout =
            Layout::of(group_of(ranks, stride, network.domain), network.fabric.scale_up, network.fabric.scale_out);
    }
    return call;
}

/// The fastest flat algorithm, by its formula on one level.
CollectiveAlgorithm const* fastest_flat(CommQuestion const& question, int ranks) {
    CollectiveCall call = call_of(question, ranks, question.size);
    call.layout = Layout::uniform(Ranks{ranks}, question.network.fabric.scale_out);
    CollectiveAlgorithm const* best = nullptr;
    Seconds least{};
    for (CollectiveAlgorithm const& row : collective_algorithms()) {
        bool const named = question.algorithms.empty() ||
                           std::ranges::find(question.algorithms, row.name) != question.algorithms.end();
        if (row.collective != question.collective || row.arrangement != Arrangement::flat || !named ||
            !has_closed_form(row, call.layout)) {
            continue;
        }
        Seconds const time = row.time(call).total();
        if (best == nullptr || time < (1.0 - 1e-9) * least) {
            best = &row;
            least = time;
        }
    }
    if (best == nullptr) { throw CommRefused{CommRefusal::no_flat_algorithm, ranks}; }
    return best;
}

} // namespace

bool add_contention(CommAnswer& answer, int ranks, std::stop_token const& stop) {
    CommQuestion const& question = answer.question;
    CommContention const& given = *question.contention;
    double const wanted = static_cast<double>(ranks) * given.groups;
    constexpr double most_endpoints = 65536;
    if (wanted > most_endpoints) { throw CommRefused{CommRefusal::too_many_endpoints, ranks}; }
    int const endpoints = ranks * given.groups;
    Topology const topology = given.network(endpoints);
    CollectiveAlgorithm const* algorithm = fastest_flat(question, ranks);
    CollectiveCall const call = group_call(question, ranks, given.stride);
    auto const messages = messages_of(*algorithm, call);
    std::string const name{algorithm->name};
    if (!messages) { throw CommRefused{CommRefusal::messages_too_long, ranks, name}; }
    if (*messages * given.groups > most_messages) { throw CommRefused{CommRefusal::too_many_messages, ranks, name}; }
    std::array const traffic{ContendingGroups{
        .name = name, .algorithm = algorithm, .call = call, .groups = strided_groups(endpoints, ranks, given.stride)}};
    ContendedTime time = contended_time(traffic, topology, busiest_links, stop);
    if (!time.complete) { return false; }
    answer.contention.push_back({.ranks = ranks,
                                 .groups = given.groups,
                                 .stride = given.stride,
                                 .topology = std::string{topology.kind()},
                                 .algorithm = name,
                                 .time = std::move(time)});
    return true;
}

} // namespace headroom::network
