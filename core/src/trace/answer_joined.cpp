#include "trace/answer.hpp"
#include "trace/wide_time.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace headroom::trace {
namespace {

/// The digests that stand for their ranks: the first of each.
std::vector<std::size_t> first_of_each(std::vector<RankDigest> const& ranks) {
    std::vector<std::size_t> first;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        if (i == 0 || ranks[i].rank != ranks[i - 1].rank) { first.push_back(i); }
    }
    return first;
}

/// The step of most graphs, of several the smallest number.
std::optional<std::int64_t> common_step(std::vector<RankDigest> const& ranks, std::vector<std::size_t> const& members) {
    std::map<std::int64_t, int> count;
    for (auto const member : members) {
        if (ranks[member].graph) { ++count[ranks[member].graph->step.number]; }
    }
    auto const most =
        std::max_element(count.begin(), count.end(), [](auto const& a, auto const& b) { return a.second < b.second; });
    return most == count.end() ? std::nullopt : std::optional(most->first);
}

/// Nanoseconds to subtract from the times of a rank in its step, where its clock is off.
Ticks correction_of(RankDigest const& rank, CollectiveAnswer const& collectives) {
    auto const clock = std::ranges::find(collectives.clocks, rank.rank, &ClockOffset::rank);
    if (clock == collectives.clocks.end() || !clock->corrected) { return 0; }
    return offset_near(*clock, wide_difference(wide_sum(rank.epoch_ns, rank.graph->step.begin), clock->offset));
}

/// Runs that have a task in a graph.
std::vector<bool> runs_in(StepGraph const& graph, std::size_t runs) {
    std::vector<bool> in(runs, false);
    for (auto const run : graph.collective) {
        if (run >= 0 && static_cast<std::size_t>(run) < runs) { in[static_cast<std::size_t>(run)] = true; }
    }
    return in;
}

/// Ties the runs in graphs to the collectives in which they met. `members` are the digests of the graphs.
std::vector<CollectiveLink> links_between(std::vector<RankDigest> const& ranks, std::vector<StepGraph> const& graphs,
                                          std::vector<std::size_t> const& members,
                                          CollectiveAnswer const& collectives) {
    std::map<std::int64_t, std::uint32_t> graph_of;
    std::vector<std::vector<bool>> in_graph;
    for (std::uint32_t i = 0; i < members.size(); ++i) {
        auto const& rank = ranks[members[i]];
        graph_of.emplace(rank.rank, i);
        in_graph.push_back(runs_in(graphs[i], rank.runs.size()));
    }
    std::vector<CollectiveLink> links;
    for (std::uint32_t m = 0; m < collectives.matched.size(); ++m) {
        auto const& matched = collectives.matched[m];
        for (std::size_t i = 0; i < matched.members.size() && i < matched.runs.size(); ++i) {
            auto const graph = graph_of.find(matched.members[i]);
            auto const run = matched.runs[i];
            if (graph == graph_of.end() || run >= in_graph[graph->second].size() || !in_graph[graph->second][run]) {
                continue;
            }
            links.push_back({graph->second, static_cast<std::int32_t>(run), m, matched.transfer});
        }
    }
    return links;
}

/// "the group of all 8 ranks", "groups of 4 ranks, 2 apart", "group tp"; empty where neither size nor name is stated.
std::string group_words(CollectiveLabel const& label, std::optional<std::int64_t> workers) {
    auto const& members = label.group_ranks;
    auto const size = members.empty() ? static_cast<std::size_t>(std::max(0, label.group_size)) : members.size();
    if (size == 0) { return label.group.empty() ? std::string{} : "group " + label.group; }
    std::string const count = std::to_string(size);
    if (workers && size > 1 && static_cast<std::int64_t>(size) == *workers) {
        return "the group of all " + count + " ranks";
    }
    std::string const words = "groups of " + count + (size == 1 ? " rank" : " ranks");
    if (members.size() < 2) { return words; }
    std::int32_t const apart = members[1] - members[0];
    for (std::size_t i = 1; i < members.size(); ++i) {
        if (members[i] - members[i - 1] != apart) { return words; }
    }
    return apart == 1 ? "groups of " + count + " neighbouring ranks" : words + ", " + std::to_string(apart) + " apart";
}

CollectiveGroups groups_of(std::vector<RankDigest> const& ranks, std::vector<std::size_t> const& members,
                           std::optional<std::int64_t> workers) {
    CollectiveGroups groups;
    for (auto const member : members) {
        CollectiveRuns const& runs = ranks[member].runs;
        std::vector<std::int32_t> of_label;
        for (CollectiveLabel const& label : runs.labels) {
            std::string const words = group_words(label, workers);
            auto const at = std::ranges::find(groups.names, words);
            of_label.push_back(words.empty() ? -1 : static_cast<std::int32_t>(at - groups.names.begin()));
            if (!words.empty() && at == groups.names.end()) { groups.names.push_back(words); }
        }
        auto& of_run = groups.of_run.emplace_back();
        for (CollectiveRun const& run : runs.runs) { of_run.push_back(of_label[run.label]); }
    }
    return groups;
}

} // namespace

void add_collectives(TraceAnswer& answer) {
    auto const members = first_of_each(answer.ranks);
    std::vector<RankRuns> lent;
    for (auto const member : members) {
        auto& rank = answer.ranks[member];
        lent.push_back({rank.rank, rank.epoch_ns, rank.clock_is_absolute, rank.host_name, std::move(rank.runs)});
    }
    answer.collectives = match_collectives(lent);
    for (std::size_t i = 0; i < members.size(); ++i) { answer.ranks[members[i]].runs = std::move(lent[i].runs); }
    bool const on_host = std::ranges::all_of(answer.ranks, [](auto const& rank) { return rank.breakdown.on_host; });
    for (auto const& clock : answer.collectives.clocks) {
        if (clock.drift != 0 && !on_host) { // a host's transfers do not end together
            bool const line = clock.rate != 0.0;
            count_issue(answer.issues,
                        line ? "clock drifts, corrected along a line"
                             : "clock drifts, so that late ranks may be others",
                        "rank " + std::to_string(clock.rank) + ": by " + std::to_string(clock.drift) +
                            " ns between the halves of the run");
        }
        if (!clock.corrected) { continue; }
        count_issue(answer.issues, "clock off",
                    "rank " + std::to_string(clock.rank) + ": by " + std::to_string(clock.offset) + " ns");
    }
}

void add_path(TraceAnswer& answer, Executor const& run, RunSigns signs) {
    auto members = first_of_each(answer.ranks);
    auto const step = common_step(answer.ranks, members);
    if (!step) { return; }
    auto const without = std::erase_if(members, [&](std::size_t member) {
        auto const& graph = answer.ranks[member].graph;
        return !graph || graph->step.number != *step;
    });
    if (without > 0) {
        answer.notes.push_back("the critical path of step " + std::to_string(*step) + " is without " +
                               std::to_string(without) + (without == 1 ? " rank that has" : " ranks that have") +
                               " no such step, or an unusually long one");
    }
    signs.groups = groups_of(answer.ranks, members, answer.workers);
    std::vector<StepGraph> lent;
    std::vector<Ticks> offsets; // a graph counts from the epoch of its rank, and the ranks have epochs of their own
    for (auto const member : members) {
        auto& rank = answer.ranks[member];
        auto const later = wide_difference(rank.epoch_ns, answer.ranks[members.front()].epoch_ns);
        offsets.push_back(wide_difference(correction_of(rank, answer.collectives), later));
        lent.push_back(std::move(*rank.graph));
    }
    answer.path =
        critical_path(lent, links_between(answer.ranks, lent, members, answer.collectives), offsets, run, signs);
    for (std::size_t i = 0; i < members.size(); ++i) { answer.ranks[members[i]].graph = std::move(lent[i]); }
}

} // namespace headroom::trace
