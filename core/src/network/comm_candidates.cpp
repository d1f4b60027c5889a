#include "comm_candidates.hpp"

#include "headroom/network/comparison.hpp"
#include "headroom/network/library_collectives.hpp"

#include <algorithm>

namespace headroom::network {
namespace {

constexpr int most_simulated_ranks = 65536;
constexpr double longest_simulated = 1e6; // seconds; picoseconds of more do not add up in 63 bits

/// Whether formulas of libraries hold: they neglect skew, where other receivers get fewer bytes than the busiest.
bool libraries_know(CommQuestion const& question, int ranks) {
    return question.network.cluster && question.skew == 1.0 && !question.network.leaves_pod(ranks);
}

/// Whether a row of the table is this algorithm. On one level, and on full levels unless adding takes time, rows of one
/// name are equal. No hierarchical algorithm runs on one level.
bool doubles_a_row(LibraryAlgorithm const& algorithm, Layout const& layout, SecondsPerByte reduction) {
    if (layout.levels == 1 && algorithm.name.starts_with("hierarchical")) { return true; }
    if (layout.levels > 1 && (!layout.even() || reduction > SecondsPerByte{})) { return false; }
    return std::ranges::any_of(collective_algorithms(), [&](CollectiveAlgorithm const& row) {
        return row.collective == algorithm.collective && row.name == algorithm.name && has_closed_form(row, layout) &&
               row.arrangement == (layout.levels > 1 ? Arrangement::levels : Arrangement::flat);
    });
}

void add_libraries(std::vector<CommCandidate>& candidates, CommQuestion const& question, Collective collective,
                   int ranks) {
    Layout const layout = question.network.layout(ranks);
    Group const group = question.network.group(ranks);
    Fabric const fabric = question.network.fabric;
    for (LibraryAlgorithm const& algorithm : library_algorithms()) {
        if (algorithm.collective != collective || doubles_a_row(algorithm, layout, question.reduction)) { continue; }
        candidates.push_back({.collective = std::string{name_of(collective)},
                              .algorithm = std::string{algorithm.name},
                              .source = std::string{algorithm.source},
                              .holds_for = "two levels, as libraries run it over channels",
                              .priced_by = PricedBy::channels,
                              .time = [=](TotalBytes n) { return algorithm.time(n, group, fabric); },
                              .lower_bound =
                                  [=](TotalBytes n) {
                                      return std::max(bandwidth_lower_bound(collective, n, group, fabric),
                                                      lower_bound(collective, {.size = n, .layout = layout}).latency);
                                  },
                              .bus_factor = bus_bandwidth_factor(collective, Ranks{ranks})});
    }
}

/// The measured curve of this collective on this number of ranks. Its time after the first byte counts as bandwidth.
void add_measured_curve(std::vector<CommCandidate>& candidates, CommQuestion const& question, Collective collective,
                        int ranks) {
    CommNetwork const& network = question.network;
    if (!network.cluster || question.skew != 1.0) { return; }
    int const per_node = std::max(network.cluster->accelerators_per_node, 1);
    MeasuredCurve const* curve = network.measured.curve(collective, ranks, (ranks + per_node - 1) / per_node);
    if (curve == nullptr || curve->segments.empty()) { return; }
    Layout const layout = network.layout(ranks);
    candidates.push_back(
        {.collective = std::string{name_of(collective)},
         .algorithm = curve->algorithm.empty() ? "library" : curve->algorithm,
         .source = curve->source,
         .holds_for = "the machine it was measured on, so many ranks",
         .priced_by = PricedBy::measured,
         .time =
             [curve = *curve](TotalBytes n) {
                 Seconds const total = curve.time(n);
                 Seconds const latency = std::min(curve.segments.front().alpha, total);
                 return CollectiveTime{.latency = latency, .bandwidth = total - latency};
             },
         .lower_bound = // the links' constants are a fit: a time that was measured may be below their bound
         [=, curve = *curve](TotalBytes n) {
             return std::min(lower_bound(collective, {.size = n, .layout = layout}).total(), curve.time(n));
         },
         .bus_factor = bus_bandwidth_factor(collective, Ranks{ranks})});
}

/// Whether a row belongs to the question on such a network.
bool is_asked(CollectiveAlgorithm const& row, CommQuestion const& question, Layout const& layout) {
    bool const torus = !question.network.torus.empty();
    switch (row.arrangement) {
    case Arrangement::torus: return torus;
    case Arrangement::in_network: return question.in_network && !torus;
    case Arrangement::levels: return !torus && layout.levels > 1; // on one level it is one of the flat ones
    case Arrangement::flat: return !torus;
    }
    return false;
}

CommCandidate candidate_of(CollectiveAlgorithm const& row, CommQuestion const& question, int ranks, bool formula) {
    CollectiveCall const call = call_of(question, ranks, {});
    bool const adds_on_the_way = row.arrangement == Arrangement::in_network;
    double const factor = bus_bandwidth_factor(row.collective, Ranks{ranks});
    auto const sized = [call](TotalBytes n) {
        CollectiveCall result = call;
        result.size = n;
        return result;
    };
    CommCandidate candidate{.collective = std::string{name_of(row.collective)},
                            .algorithm = std::string{row.name},
                            .source = std::string{row.source},
                            .holds_for = std::string{row.holds_for},
                            .priced_by = formula ? PricedBy::closed_form : PricedBy::simulated,
                            .time = [sized, &row](TotalBytes n) { return row.time(sized(n)); },
                            .lower_bound =
                                [sized, &row, adds_on_the_way](TotalBytes n) {
                                    return lower_bound(row.collective, sized(n), adds_on_the_way).total();
                                },
                            .bus_factor = row.collective == Collective::barrier ? std::nullopt : std::optional{factor},
                            .row = &row};
    if (!formula) {
        candidate.time = [sized, &row](TotalBytes n) {
            CollectiveCall const one = sized(n);
            return simulate(*row.schedule(one), one.layout, one.reduction).parts;
        };
    }
    return candidate;
}

void add_algorithms(std::vector<CommCandidate>& candidates, CommQuestion const& question, Collective collective,
                    int ranks, std::vector<CommLeftOut>& left_out) {
    Layout const layout = question.network.layout(ranks);
    for (CollectiveAlgorithm const& row : collective_algorithms()) {
        if (row.collective != collective || !is_asked(row, question, layout)) { continue; }
        bool const formula = has_closed_form(row, layout);
        bool const flat_ranks_only = row.arrangement == Arrangement::flat && row.takes != nullptr && !row.takes(layout);
        if (!formula && (row.arrangement != Arrangement::flat || flat_ranks_only)) {
            bool const switched = row.arrangement == Arrangement::in_network;
            left_out.push_back({ranks, std::string{row.name},
                                switched ? CommWhyNot::several_levels : CommWhyNot::other_layouts, row.holds_for});
            continue;
        }
        candidates.push_back(candidate_of(row, question, ranks, formula));
    }
    if (libraries_know(question, ranks)) { add_libraries(candidates, question, collective, ranks); }
    add_measured_curve(candidates, question, collective, ranks);
}

/// Dedicated servers stand outside every domain; those on the ranks are as far as the ranks are.
void add_servers(std::vector<CommCandidate>& candidates, CommServers const& given, Group group,
                 CommNetwork const& network) {
    Ranks const workers{group.size};
    bool const near = given.on_ranks && group.domains() == 1;
    Link const link = near ? network.fabric.scale_up : network.fabric.scale_out;
    ParameterServers const servers{.ports = given.on_ranks ? workers : Ranks{given.count},
                                   .port = link,
                                   .worker = link,
                                   .colocated = given.on_ranks};
    candidates.push_back(
        {.collective = "parameter_server",
         .algorithm = given.on_ranks ? "sharded server" : "parameter server",
         .source = "Li2014",
         .holds_for = "any number of ranks",
         .time = [=](TotalBytes n) { return parameter_server(n, workers, servers); },
         .lower_bound = [=](TotalBytes n) { return parameter_server_lower_bound(n, workers, servers); },
         .bus_factor = bus_bandwidth_factor(Collective::all_reduce, workers),
         .adding_modelled = false});
}

void add_actors(std::vector<CommCandidate>& candidates, CommActors const& given, Group group, Fabric fabric) {
    for (WeightBroadcast const broadcast : weight_broadcasts) {
        auto const update = [=](TotalBytes n) {
            return ActorLearner{
                .weights = n, .experience = given.experience, .ports = Ranks{given.ports}, .broadcast = broadcast};
        };
        candidates.push_back(
            {.collective = "actor_learner",
             .algorithm = std::string{name_of(broadcast)},
             .source = broadcast == WeightBroadcast::direct ? "Espeholt2018" : "Thakur2005",
             .holds_for = "any number of actors",
             .time = [=](TotalBytes n) { return actor_learner(update(n), group, fabric).synchronous(); },
             .lower_bound = [=](TotalBytes n) { return actor_learner_lower_bound(update(n), group, fabric); },
             .bus_factor = std::nullopt,
             .parts = [=](TotalBytes n) { return actor_learner(update(n), group, fabric); }});
    }
}

/// Keeps the algorithms that the question names; the others are not asked about, and so not left out.
template <class T> void keep_named(std::vector<T>& all, std::vector<std::string> const& names) {
    if (names.empty()) { return; }
    std::erase_if(all, [&](T const& one) { return std::ranges::find(names, one.algorithm) == names.end(); });
}

} // namespace

std::vector<TotalBytes> sizes_of(CommQuestion const& question) {
    std::vector<TotalBytes> sizes;
    if (question.sweep) {
        for (Bytes size = units::KiB; size < question.size.size; size *= 2.0) { sizes.push_back({size}); }
    }
    sizes.push_back(question.size);
    return sizes;
}

Layout CommNetwork::layout(int ranks) const {
    Layout result{.level = {}, .levels = 0, .ranks = ranks};
    auto const add = [&](int members, Link link) {
        if (members > 1) { result.level.at(static_cast<std::size_t>(result.levels++)) = {members, link}; }
    };
    for (int const side : torus) { add(side, fabric.scale_up); }
    if (!torus.empty()) { return result; }
    if (!leaves_pod(ranks)) { return Layout::of(group(ranks), fabric.scale_up, fabric.scale_out); }
    add(domain, fabric.scale_up);
    add(pod->ranks / domain, fabric.scale_out);
    add((ranks + pod->ranks - 1) / pod->ranks, pod->link);
    return result;
}

CollectiveCall call_of(CommQuestion const& question, int ranks, TotalBytes size) {
    return {
        .size = size, .layout = question.network.layout(ranks), .reduction = question.reduction, .skew = question.skew};
}

std::optional<double> messages_of(CollectiveAlgorithm const& row, CollectiveCall const& call) {
    if (call.layout.ranks > most_simulated_ranks) { return std::nullopt; }
    auto const schedule = row.schedule(call);
    auto const rounds = static_cast<double>(schedule->rounds());
    Seconds slowest{};
    for (int i = 0; i < call.layout.levels; ++i) {
        Link const& link = call.layout.level.at(static_cast<std::size_t>(i)).link;
        slowest = std::max(slowest, link.latency + call.size.size / link.bandwidth + call.size.size * call.reduction);
    }
    if (!(rounds * slowest.base() < longest_simulated)) { return std::nullopt; }
    return rounds * schedule->participants();
}

std::vector<CommCandidate> candidates_of(CommQuestion const& question, int ranks, std::vector<CommLeftOut>& left_out) {
    std::vector<CommCandidate> candidates;
    std::vector<CommLeftOut> without;
    CommNetwork const& network = question.network;
    if (question.actors) { // the learner is one more
        add_actors(candidates, *question.actors, network.group(ranks + 1), network.fabric);
    } else {
        if (question.servers) { add_servers(candidates, *question.servers, network.group(ranks), network); }
        add_algorithms(candidates, question, *question.listed(), ranks, without);
    }
    keep_named(candidates, question.algorithms);
    keep_named(without, question.algorithms);
    left_out.insert(left_out.end(), without.begin(), without.end());
    return candidates;
}

CommPriced cheapest(CommQuestion const& question, Collective collective, TotalBytes size, int ranks) {
    std::vector<CommCandidate> candidates;
    std::vector<CommLeftOut> without;
    add_algorithms(candidates, question, collective, ranks, without);
    if (collective == question.listed()) { keep_named(candidates, question.algorithms); }
    // Simulations would take long, and measured times are compared with this price.
    std::erase_if(candidates, [](CommCandidate const& one) {
        return one.priced_by == PricedBy::simulated || one.priced_by == PricedBy::measured;
    });
    std::vector<TimeOfSize> times;
    times.reserve(candidates.size());
    for (CommCandidate const& one : candidates) {
        times.emplace_back([&one](TotalBytes n) { return one.time(n).total(); });
    }
    if (candidates.empty()) { throw CommRefused{CommRefusal::no_formula, ranks, std::string{name_of(collective)}}; }
    CommCandidate const& best = candidates[fastest_of(times, size)];
    return {best.algorithm, best.time(size)};
}

} // namespace headroom::network
