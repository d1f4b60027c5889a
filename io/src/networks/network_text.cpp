#include "networks/network_text.hpp"

#include "networks/network_clause.hpp"

#include "headroom/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace headroom::io {

namespace {

void take_rule(NetworkRule rule, std::vector<NetworkRule>& rules) {
    if (std::ranges::find(rules, rule) == rules.end()) { rules.push_back(rule); }
}

/// Clauses that name the network for computing; else those that name no other network.
std::vector<NetworkClause> networks_of(std::vector<NetworkClause> clauses) {
    bool const labelled = std::ranges::any_of(clauses, [](auto const& one) { return one.compute && one.has_rate(); });
    std::erase_if(clauses, [&](NetworkClause const& one) {
        return one.is_inside() || (labelled ? !one.compute : one.other && !one.compute);
    });
    return clauses;
}

/// "8 NICs, 400 Gb/s each" and "400 Gb/s, 8 NICs" are one statement.
void join_halves(std::vector<NetworkClause>& clauses) {
    for (std::size_t i = 1; i < clauses.size(); ++i) {
        NetworkClause &before = clauses[i - 1], &here = clauses[i];
        bool const named_before =
            before.rates.empty() && before.count <= 0.0 && here.family.empty() && !here.rates.empty();
        bool const whole = before.has_rate() && here.has_rate() && !named_before; // "NDR InfiniBand, 400 Gb/s" is one
        bool const elsewhere = before.is_inside() || here.is_inside();
        if (whole || elsewhere || before.other != here.other || before.compute != here.compute) { continue; }
        if (here.count > 0.0 && before.count > 0.0 && here.has_rate()) { continue; }
        here.join(before);
        before = {};
    }
    std::erase_if(clauses, [](NetworkClause const& one) { return one.is_empty(); });
}

/// Rate of one NIC and of a node from all rates of a clause: "8x 400G (3.2 Tbps)".
void settle_rates(NetworkClause& clause) {
    auto& rates = clause.rates;
    if (rates.size() < 2) { return; }
    double const count = clause.nics();
    auto const of_nic = std::ranges::find_if(rates, [&](ClauseRate const& one) {
        return std::ranges::any_of(
            rates, [&](ClauseRate const& all) { return count > 1.0 && all.gigabits == count * one.gigabits; });
    });
    auto const generation = std::ranges::find(rates, clause.generation, &ClauseRate::gigabits);
    auto const chosen = of_nic != rates.end() ? of_nic : generation != rates.end() ? generation : rates.begin();
    for (ClauseRate const& one : rates) {
        bool const agrees = one.gigabits == chosen->gigabits || one.gigabits == count * chosen->gigabits;
        if (!agrees) { clause.left_over.push_back(one.word); }
    }
    rates = {*chosen};
}

/// A rate without a count: of a NIC, of a node or of each accelerator.
void take_bare_rate(NetworkClause const& clause, double rate, NetworkText& network) {
    double const generation = clause.generation;
    bool const beyond = generation > 0.0 && rate > generation && std::fmod(rate, generation) == 0.0;
    if (clause.scope == ClauseScope::accelerator) {
        network.per_accelerator = true;
        network.nics = 1.0;
        network.nic = rate;
    } else if (clause.scope == ClauseScope::node) {
        network.total = rate;
        network.nic = beyond ? generation : 0.0;
    } else if (beyond || !is_nic_rate(rate) || network.family == "efa") {
        network.total = rate;
        network.nic = beyond ? generation : 0.0;
        take_rule(NetworkRule::total, network.rules);
    } else if (network.family == "ethernet" && !network.rdma) {
        network.total = network.nic = rate;
        take_rule(NetworkRule::host_nic, network.rules);
    } else {
        network.nic = rate;
    }
}

NetworkText network_of(NetworkClause clause) {
    settle_rates(clause);
    NetworkText network;
    network.family = clause.family;
    network.rdma = clause.rdma;
    network.rules = clause.rules;
    network.sharers = clause.sharers;
    network.left_over = std::move(clause.left_over);
    double const rate = clause.rates.empty() ? clause.generation : clause.rates.front().gigabits, count = clause.nics();
    network.generation = clause.rates.empty() && rate > 0.0;
    if (count <= 0.0 && !network.generation && rate > 0.0) {
        take_bare_rate(clause, rate, network);
        return network;
    }
    network.nic = rate;
    network.nics = count;
    if (count > 0.0 && rate > most_of_accelerator && is_nic_rate(rate / count)) { // "8 NICs, 3200 Gb/s"
        network.nic = rate / count;
        take_rule(NetworkRule::total, network.rules);
    }
    if (count <= 0.0 && clause.scope != ClauseScope::none) { network.nics = 1.0; } // "HDR per node"
    network.per_accelerator = clause.scope == ClauseScope::accelerator;
    if (network.per_accelerator && network.nics * rate / network.sharers > most_of_accelerator) {
        network.per_accelerator = false;
        take_rule(NetworkRule::of_node, network.rules);
    }
    return network;
}

/// Gbit/s that networks of one text are compared by.
double weight_of(NetworkText const& network) {
    return std::max(network.total, std::max(1.0, network.nics) * network.nic);
}

} // namespace

NetworkText read_network_text(std::string_view text) {
    ClauseReading reading = read_clauses(text);
    std::vector<NetworkClause> clauses = networks_of(std::move(reading.clauses));
    join_halves(clauses);
    NetworkText best;
    std::string family;
    bool rdma = false;
    int with_rate = 0;
    std::vector<NetworkWord> left_over = std::move(reading.left_over);
    for (NetworkClause const& clause : clauses) {
        NetworkText network = network_of(clause);
        if (family.empty()) { family = network.family; }
        rdma = rdma || (network.rdma && !network.states_rate());
        with_rate += network.states_rate() ? 1 : 0;
        std::ranges::move(network.left_over, std::back_inserter(left_over));
        bool const better = weight_of(network) > weight_of(best) || (best.family.empty() && !best.states_rate());
        if (better) { best = std::move(network); }
    }
    if (best.family.empty()) { best.family = family; }
    best.rdma = best.rdma || rdma;
    if (with_rate > 1) { take_rule(NetworkRule::fastest, best.rules); }
    if (reading.gigabit_alone && !best.states_rate()) { take_rule(NetworkRule::management, best.rules); }
    std::ranges::sort(left_over, {}, &NetworkWord::at);
    best.left_over = std::move(left_over);
    return best;
}

NodeNetwork network_of_node(NetworkText const& text, int accelerators, UsualNics const& usual) {
    double const ranks = std::max(1, accelerators);
    NodeNetwork network{.nic = text.nic, .node = text.total, .rules = text.rules};
    double const count = text.nics * (text.per_accelerator ? std::ceil(ranks / text.sharers) : 1.0);
    auto const by_rule = [&](NetworkRule rule, double node) {
        network.node = node;
        take_rule(rule, network.rules);
    };
    if (text.total > 0.0) {
        bool const share_is_nic = network.nic == 0.0 && text.family != "efa" && is_nic_rate(text.total / ranks);
        if (share_is_nic) { network.nic = text.total / ranks; }
    } else if (count > 0.0 && text.nic > 0.0) {
        network.node = count * text.nic;
    } else if (text.nic > 0.0 && usual.count > 0.0 && (text.generation || text.nic == usual.gigabits)) {
        by_rule(NetworkRule::usual_count, usual.count * text.nic);
    } else if (text.nic > 0.0) {
        by_rule(NetworkRule::whole_node, text.nic);
        bool const several = usual.gigabits > 0.0 && text.nic > usual.gigabits;
        network.nic = several ? usual.gigabits : text.nic;
    } else if (count > 0.0 && usual.gigabits > 0.0 && text.family != "efa") { // EFA's NICs differ by instance
        network.nic = usual.gigabits;
        by_rule(NetworkRule::usual_rate, count * usual.gigabits);
    }
    return network;
}

UsualNics usual_nics(Cluster const& cluster) {
    if (cluster.adapter <= BytesPerSecond{}) { return {}; }
    double const all = cluster.scale_out.bandwidth.base() * std::max(1, cluster.accelerators_per_node);
    return {.count = all / cluster.adapter.base(), .gigabits = cluster.adapter.in(units::Gbit / units::s)};
}

std::string_view words_of(NetworkRule rule) {
    switch (rule) {
    case NetworkRule::usual_count: return "as many NICs as the catalog's node has";
    case NetworkRule::usual_rate: return "NICs as fast as those of the catalog's node";
    case NetworkRule::whole_node: return "no count is stated: taken as the rate of a node";
    case NetworkRule::host_nic: return "Ethernet without RDMA: taken as one NIC a node";
    case NetworkRule::total: return "taken as the rate of all NICs of a node";
    case NetworkRule::lanes: return "4X taken as lanes of one NIC";
    case NetworkRule::not_lanes: return "4X taken as a count of NICs, not as lanes of one";
    case NetworkRule::ports: return "the rate is taken as that of each port";
    case NetworkRule::of_node: return "the count is taken as that of the node";
    case NetworkRule::bits: return "GB taken as Gbit/s";
    case NetworkRule::no_unit: return "a number without a unit taken as Gbit/s";
    case NetworkRule::fastest: return "of several networks the fastest";
    case NetworkRule::management: return "Gigabit Ethernet taken as a network for management";
    }
    return "";
}

std::string words_of(NodeNetwork const& network) {
    std::string text = network.node > 0.0 ? fmt::format("{:g} Gbit/s a node", network.node) : "not stated";
    double const nics = network.nic > 0.0 ? network.node / network.nic : 0.0;
    if (nics >= 1.0 && nics == std::floor(nics)) {
        text = fmt::format("{:g} NIC{} of {:g} Gbit/s a node", nics, nics == 1.0 ? "" : "s", network.nic);
    }
    for (std::size_t i = 0; i < network.rules.size(); ++i) {
        text += fmt::format("{}{}", i == 0 ? " (" : "; ", words_of(network.rules[i]));
    }
    return network.rules.empty() ? text : text + ")";
}

std::string words_of(std::vector<NetworkWord> const& left_over) {
    std::string text;
    for (NetworkWord const& one : left_over) {
        text += fmt::format("{}{} at {}", text.empty() ? "" : ", ", headroom::quoted(one.text), one.at + 1);
    }
    return text;
}

} // namespace headroom::io
