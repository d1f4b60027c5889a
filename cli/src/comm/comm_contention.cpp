#include "comm/comm_candidates.hpp"

#include "headroom/error.hpp"
#include "headroom/io/topology.hpp"

#include <algorithm>
#include <array>

namespace headroom::cli {
namespace {

/// Messages of all groups together: some seconds where many contend.
constexpr double most_messages = 1e6;
constexpr std::size_t busiest_links = 5; // that are shown

/// Ranks and ports that the text of a network need not repeat.
io::TopologyDefaults defaults_of(CommQuestion const& question, int endpoints) {
    CommNetwork const& network = question.network;
    io::TopologyDefaults defaults{.endpoints = endpoints, .port = network.fabric.scale_out, .nodes = {}};
    if (network.domain > 1 && endpoints > network.domain) {
        defaults.nodes = {
            .accelerators = network.domain, .adapters = network.domain, .scale_up = network.fabric.scale_up};
    }
    return defaults;
}

/// How the ranks of one group lie: so many in each domain as the stride leaves room for.
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
    if (best == nullptr) {
        refuse("--topology", "no algorithm of one level is left to put on it", "", "name another --algorithm");
    }
    return best;
}

} // namespace

std::optional<CommContention> read_contention(Arguments const& arguments) {
    auto const topology = arguments.text("--topology");
    if (!topology) { return std::nullopt; }
    CommContention given{.topology = *topology, .groups = arguments.count("--groups").value_or(1)};
    given.stride = arguments.count("--stride").value_or(given.groups);
    if (given.groups % given.stride != 0) {
        refuse("--stride",
               std::to_string(given.stride) + " does not divide " + std::to_string(given.groups) + " groups",
               "as many groups lie between the ranks of one", "leave it out: neighbours are in different groups");
    }
    return given;
}

bool add_contention(CommReport& report, int ranks, std::stop_token const& stop) {
    CommQuestion const& question = report.question;
    CommContention const& given = *question.contention;
    double const wanted = static_cast<double>(ranks) * given.groups;
    constexpr double most_endpoints = 65536;
    if (wanted > most_endpoints) {
        refuse("--groups", std::to_string(given.groups) + " groups of " + std::to_string(ranks) + " are too many",
               "a network has up to 65536 endpoints here", "ask for fewer");
    }
    int const endpoints = ranks * given.groups;
    Topology const topology = io::parse_topology(given.topology, "--topology", defaults_of(question, endpoints));
    CollectiveAlgorithm const* algorithm = fastest_flat(question, ranks);
    CollectiveCall const call = group_call(question, ranks, given.stride);
    auto const messages = messages_of(*algorithm, call);
    if (!messages) {
        refuse("--topology", "the messages of " + std::string{algorithm->name} + " last too long, or are too many",
               "picoseconds count 46 days", "ask for less data or fewer ranks");
    }
    if (*messages * given.groups > most_messages) {
        refuse("--topology", "the messages of " + std::string{algorithm->name} + " in all groups are too many",
               "up to a million share a network here", "ask for fewer ranks or groups");
    }
    std::array const traffic{ContendingGroups{.name = std::string{algorithm->name},
                                              .algorithm = algorithm,
                                              .call = call,
                                              .groups = strided_groups(endpoints, ranks, given.stride, "--groups")}};
    ContendedTime time = contended_time(traffic, topology, busiest_links, stop);
    if (!time.complete) { return false; }
    report.contention.push_back({.ranks = ranks,
                                 .groups = given.groups,
                                 .stride = given.stride,
                                 .topology = std::string{topology.kind()},
                                 .algorithm = std::string{algorithm->name},
                                 .time = std::move(time)});
    return true;
}

} // namespace headroom::cli
