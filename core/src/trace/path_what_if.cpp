#include "graph/paths.hpp"
#include "trace/path_pieces.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string_view>

namespace headroom::path {
namespace {

constexpr std::size_t told_kernels = 5;

bool is_host(SpanKind kind) {
    return kind == SpanKind::launch || kind == SpanKind::synchronization || kind == SpanKind::host;
}

template <class Time> std::vector<Ticks> finishes(Dag const& dag, std::vector<Ticks> const& costs) {
    auto const finish = graph::longest_paths<graph::From::sources>(dag, graph::OwnCost{costs.data()}, Time{0});
    return {finish.get(), finish.get() + dag.size()};
}
template <class Time> Ticks longest(Dag const& dag, std::vector<Ticks> const& costs) {
    auto const finish = graph::longest_paths<graph::From::sources>(dag, graph::OwnCost{costs.data()}, Time{0});
    return static_cast<Ticks>(*std::max_element(finish.get(), finish.get() + dag.size()));
}

/// The longest path with other costs, none above the graph's own.
Ticks depth_with(Dag const& dag, std::vector<Ticks> const& costs, bool short_times) {
    return short_times ? longest<std::uint32_t>(dag, costs) : longest<Ticks>(dag, costs);
}

/// Asks one question after the other about one graph.
class Questions {
public:
    Questions(JoinedSteps const& joined, PathAnswer& answer) : joined_(joined), answer_(answer) {
        auto const costs = joined.dag.costs();
        costs_.resize(costs.size());
        short_times_ =
            std::accumulate(costs.begin(), costs.end(), Ticks{0}) <= std::numeric_limits<std::uint32_t>::max();
    }

    /// `cost(vertex, what it stands for, its cost)` is the new cost.
    template <class Cost> void ask(std::string what, Cost const& cost) {
        for (std::size_t v = 0; v < costs_.size(); ++v) {
            Ticks const now = joined_.dag.costs()[v];
            costs_[v] = now == 0 ? 0 : cost(joined_.vertices[v], now);
        }
        tell(std::move(what), depth_with(joined_.dag, costs_, short_times_));
    }

    void tell(std::string what, Ticks step) {
        double const speedup = step > 0 ? static_cast<double>(answer_.depth) / static_cast<double>(step) : 1.0;
        answer_.what_if.push_back({std::move(what), step, speedup});
    }

private:
    JoinedSteps const& joined_;
    PathAnswer& answer_;
    std::vector<Ticks> costs_;
    bool short_times_ = false;
};

void ask_about_kinds(Questions& questions) {
    auto const is_communication = [](Vertex const& vertex) {
        return !vertex.delay && vertex.kind == SpanKind::communication;
    };
    questions.ask("communication is free",
                  [&](Vertex const& vertex, Ticks cost) { return is_communication(vertex) ? 0 : cost; });
    questions.ask("communication twice as fast",
                  [&](Vertex const& vertex, Ticks cost) { return is_communication(vertex) ? cost / 2 : cost; });
    questions.ask("host twice as fast", [](Vertex const& vertex, Ticks cost) {
        bool const host = vertex.delay ? vertex.edge == TraceEdge::program : is_host(vertex.kind);
        return host ? cost / 2 : cost;
    });
    questions.ask("no launch delays", [](Vertex const& vertex, Ticks cost) {
        return vertex.delay && vertex.edge == TraceEdge::launch ? 0 : cost;
    });
}

/// The work of devices that has most of the path.
void ask_about_names(std::vector<StepGraph> const& ranks, JoinedSteps const& joined, Questions& questions,
                     PathAnswer const& answer) {
    std::size_t told = 0;
    for (auto const& name : answer.names) {
        if (!occupies_device(name.kind) || told == told_kernels) { continue; }
        ++told;
        std::vector<std::uint32_t> number; // of the name, by rank
        for (auto const& rank : ranks) {
            number.push_back(static_cast<std::uint32_t>(std::find(rank.names.begin(), rank.names.end(), name.name) -
                                                        rank.names.begin()));
        }
        questions.ask(name.name + " twice as fast", [&](Vertex const& vertex, Ticks cost) {
            if (vertex.delay || vertex.kind != name.kind) { return cost; }
            auto const rank = joined.rank_of(vertex.task);
            auto const task = vertex.task - joined.first_task[rank];
            return ranks[rank].name[task] == number[rank] ? cost / 2 : cost;
        });
    }
}

/// Each rank alone, the transfers as they are: the mean of what is left.
void ask_about_balance(std::vector<StepGraph> const& ranks, std::vector<CollectiveLink> const& links,
                       std::vector<Ticks> const& clock_offset, Questions& questions) {
    auto const alone = join_steps(ranks, links, clock_offset, false);
    if (alone.vertices.empty()) { return; }
    auto const costs = std::vector<Ticks>(alone.dag.costs().begin(), alone.dag.costs().end());
    auto const finish = finishes<Ticks>(alone.dag, costs);
    std::vector<Ticks> step(ranks.size(), 0);
    for (std::size_t v = 0; v < finish.size(); ++v) {
        if (alone.vertices[v].task == no_task) { continue; }
        auto& end = step[alone.rank_of(alone.vertices[v].task)];
        end = std::max(end, finish[v]);
    }
    questions.tell("no waiting for late ranks",
                   std::accumulate(step.begin(), step.end(), Ticks{0}) / static_cast<Ticks>(ranks.size()));
}

} // namespace

void tell_what_if(std::vector<StepGraph> const& ranks, std::vector<CollectiveLink> const& links,
                  std::vector<Ticks> const& clock_offset, JoinedSteps const& joined, PathAnswer& answer) {
    Questions questions(joined, answer);
    ask_about_kinds(questions);
    ask_about_names(ranks, joined, questions, answer);
    if (joined.joined > 0) { ask_about_balance(ranks, links, clock_offset, questions); }
}

} // namespace headroom::path
