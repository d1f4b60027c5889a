#include "graph/paths.hpp"
#include "trace/path_pieces.hpp"
#include "trace/wide_time.hpp"

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

/// What vertices cost if something were different: `change(what a vertex stands for, its cost)`, never more.
template <class Change> struct ChangedCost {
    JoinedSteps const& joined;
    Change const& change;
    [[nodiscard]] Ticks operator()(TaskId vertex) const {
        Ticks const now = joined.dag.costs()[vertex];
        return now == 0 ? 0 : change(joined.vertices[vertex], now);
    }
    void fetch(TaskId vertex) const { graph::fetch(joined.dag.costs().data() + vertex); }
};

template <class Time, class Cost> Ticks longest(Dag const& dag, Cost const& cost) {
    auto const finish = graph::longest_paths<graph::From::sources>(dag, cost, Time{0});
    return static_cast<Ticks>(*std::max_element(finish.get(), finish.get() + dag.size()));
}

/// Asks one question after the other about one graph.
class Questions {
public:
    Questions(JoinedSteps const& joined, PathAnswer& answer)
        : joined_(joined), answer_(answer), short_times_(answer.depth <= std::numeric_limits<std::uint32_t>::max()) {}

    template <class Change> void ask(std::string what, Change const& change) {
        ChangedCost<Change> const cost{joined_, change};
        tell(std::move(what),
             short_times_ ? longest<std::uint32_t>(joined_.dag, cost) : longest<Ticks>(joined_.dag, cost));
    }

    void tell(std::string what, Ticks step) {
        double const speedup = step > 0 ? static_cast<double>(answer_.depth) / static_cast<double>(step) : 1.0;
        answer_.what_if.push_back({std::move(what), step, speedup});
    }

private:
    JoinedSteps const& joined_;
    PathAnswer& answer_;
    bool short_times_; ///< no path is longer than the one with the graph's own costs
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
                       Questions& questions) {
    auto const steps = steps_alone(ranks, links);
    if (steps.empty()) { return; }
    questions.tell("no waiting for late ranks",
                   std::accumulate(steps.begin(), steps.end(), Ticks{0}, wide_sum) / static_cast<Ticks>(ranks.size()));
}

} // namespace

void tell_what_if(std::vector<StepGraph> const& ranks, std::vector<CollectiveLink> const& links,
                  JoinedSteps const& joined, PathAnswer& answer) {
    Questions questions(joined, answer);
    ask_about_kinds(questions);
    ask_about_names(ranks, joined, questions, answer);
    if (joined.joined > 0) { ask_about_balance(ranks, links, questions); }
}

} // namespace headroom::path
