#include "laws/graph/paths.hpp"
#include "trace/path_pieces.hpp"
#include "trace/wide_time.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom::trace::path {

using namespace headroom::laws;

namespace {

constexpr std::size_t told_kernels = 5, told_calls = 3, told_families = 3, told_groups = 4;

bool is_host(SpanKind kind) {
    return kind == SpanKind::launch || kind == SpanKind::synchronization || kind == SpanKind::host;
}

/// Costs of vertices under a change: `change(task or delay of the vertex, its cost)`, never more.
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

/// Questions about one graph: collected first, then asked by whoever runs them, answered in the order in which they
/// were put.
class Questions {
public:
    Questions(JoinedSteps const& joined, Ticks depth)
        : joined_(joined), depth_(depth), short_times_(depth <= std::numeric_limits<std::uint32_t>::max()) {}

    template <class Change> void ask(StepChange what, Change change, std::string kernel = {}) {
        put(
            what,
            [this, change] {
                ChangedCost<Change> const cost{joined_, change};
                return short_times_ ? longest<std::uint32_t>(joined_.dag, cost) : longest<Ticks>(joined_.dag, cost);
            },
            std::move(kernel));
    }

    /// A step that is found in another way; below zero where there is none.
    void put(StepChange what, std::function<Ticks()> step, std::string kernel = {}) {
        asked_.push_back({what, std::move(kernel), std::move(step)});
    }

    void answer(Executor const& run, std::vector<StepIf>& told) const {
        std::vector<Ticks> steps(asked_.size());
        auto const task = [&](int i) {
            steps[static_cast<std::size_t>(i)] = asked_[static_cast<std::size_t>(i)].step();
        };
        run_each(run, static_cast<int>(asked_.size()), task);
        for (std::size_t i = 0; i < asked_.size(); ++i) {
            if (steps[i] < 0) { continue; }
            double const speedup = steps[i] > 0 ? static_cast<double>(depth_) / static_cast<double>(steps[i]) : 1.0;
            told.push_back({asked_[i].what, asked_[i].kernel, steps[i], speedup});
        }
    }

private:
    struct Asked {
        StepChange what;
        std::string kernel;
        std::function<Ticks()> step;
    };
    JoinedSteps const& joined_;
    Ticks depth_;
    bool short_times_; ///< no path is longer than the one with the graph's own costs
    std::vector<Asked> asked_;
};

void ask_about_kinds(Questions& questions) {
    auto const is_communication = [](Vertex const& vertex) {
        return !vertex.delay && vertex.kind == SpanKind::communication;
    };
    questions.ask(StepChange::free_communication,
                  [=](Vertex const& vertex, Ticks cost) { return is_communication(vertex) ? 0 : cost; });
    questions.ask(StepChange::faster_communication,
                  [=](Vertex const& vertex, Ticks cost) { return is_communication(vertex) ? cost / 2 : cost; });
    questions.ask(StepChange::faster_host, [](Vertex const& vertex, Ticks cost) {
        bool const host = vertex.delay ? vertex.edge == TraceEdge::program : is_host(vertex.kind);
        return host ? cost / 2 : cost;
    });
    questions.ask(StepChange::no_launch_delays, [](Vertex const& vertex, Ticks cost) {
        return vertex.delay && vertex.edge == TraceEdge::launch ? 0 : cost;
    });
}

/// The work of devices, and the calls and operators of hosts, that have most of the path.
void ask_about_names(std::vector<StepGraph> const& ranks, JoinedSteps const& joined, Questions& questions,
                     PathAnswer const& answer) {
    std::size_t kernels = 0, calls = 0;
    for (auto const& name : answer.names) {
        bool const of_device = occupies_device(name.kind);
        if (of_device ? kernels == told_kernels : calls == told_calls || !is_host(name.kind)) { continue; }
        ++(of_device ? kernels : calls);
        std::vector<std::uint32_t> number; // of the name, by rank
        for (auto const& rank : ranks) {
            number.push_back(static_cast<std::uint32_t>(std::find(rank.names.begin(), rank.names.end(), name.name) -
                                                        rank.names.begin()));
        }
        questions.ask(
            of_device ? StepChange::faster_kernel : StepChange::faster_call,
            [&ranks, &joined, kind = name.kind, number](Vertex const& vertex, Ticks cost) {
                if (vertex.delay || vertex.kind != kind) { return cost; }
                auto const rank = joined.rank_of(vertex.task);
                auto const task = vertex.task - joined.first_task[rank];
                return ranks[rank].name[task] == number[rank] ? cost / 2 : cost;
            },
            name.name);
    }
}

/// The families of several kernels that have most of the path.
std::vector<std::string_view> families_of(PathAnswer const& answer) {
    struct Family {
        std::string_view name;
        Ticks time = 0;
        int kernels = 0;
    };
    std::vector<Family> families;
    for (PathName const& one : answer.names) {
        std::string_view const name = kernel_family(one.name);
        if (one.kind != SpanKind::compute || name.empty() || one.duration == 0) { continue; }
        auto at = std::ranges::find(families, name, &Family::name);
        if (at == families.end()) { at = families.insert(at, {name}); }
        at->time += one.duration;
        ++at->kernels;
    }
    std::erase_if(families, [](Family const& one) { return one.kernels < 2; }); // a single kernel is asked about alone
    std::ranges::stable_sort(families, std::ranges::greater{}, &Family::time);
    families.resize(std::min(families.size(), told_families));
    std::vector<std::string_view> names;
    for (Family const& one : families) { names.push_back(one.name); }
    return names;
}

void ask_about_families(std::vector<StepGraph> const& ranks, JoinedSteps const& joined, Questions& questions,
                        PathAnswer const& answer) {
    for (std::string_view const family : families_of(answer)) {
        std::vector<std::vector<char>> belongs; // by rank and name
        for (StepGraph const& rank : ranks) {
            auto& names = belongs.emplace_back();
            for (std::string const& name : rank.names) { names.push_back(kernel_family(name) == family ? 1 : 0); }
        }
        questions.ask(
            StepChange::faster_family,
            [&ranks, &joined, belongs = std::move(belongs)](Vertex const& vertex, Ticks cost) {
                if (vertex.delay || vertex.kind != SpanKind::compute) { return cost; }
                auto const rank = joined.rank_of(vertex.task);
                return belongs[rank][ranks[rank].name[vertex.task - joined.first_task[rank]]] != 0 ? cost / 2 : cost;
            },
            std::string{family});
    }
}

/// The process groups that communicate longest; nothing where all communication is of one.
void ask_about_groups(std::vector<StepGraph> const& ranks, CollectiveGroups const& groups, JoinedSteps const& joined,
                      Questions& questions) {
    std::vector<std::int32_t> group(joined.rank.size(), -1); // by task of all ranks
    std::vector<std::pair<Ticks, std::int32_t>> time;
    for (std::size_t g = 0; g < groups.names.size(); ++g) { time.emplace_back(0, static_cast<std::int32_t>(g)); }
    for (std::size_t r = 0; r < std::min(ranks.size(), groups.of_run.size()); ++r) {
        StepGraph const& rank = ranks[r];
        for (std::size_t task = 0; task < rank.collective.size(); ++task) {
            auto const run = static_cast<std::size_t>(rank.collective[task]);
            if (rank.collective[task] < 0 || run >= groups.of_run[r].size()) { continue; }
            auto const number = groups.of_run[r][run];
            group[joined.first_task[r] + task] = number;
            if (number >= 0) { time[static_cast<std::size_t>(number)].first += rank.cost[task]; }
        }
    }
    std::erase_if(time, [](auto const& one) { return one.first == 0; });
    if (time.size() < 2) { return; }
    std::ranges::stable_sort(time, [](auto const& a, auto const& b) { return a.first > b.first; });
    time.resize(std::min(time.size(), told_groups));
    auto const shared = std::make_shared<std::vector<std::int32_t> const>(std::move(group));
    for (auto const& one : time) {
        questions.ask(
            StepChange::free_group,
            [shared, number = one.second](Vertex const& vertex, Ticks cost) {
                bool const sends = !vertex.delay && vertex.kind == SpanKind::communication;
                return sends && (*shared)[vertex.task] == number ? 0 : cost;
            },
            groups.names[static_cast<std::size_t>(one.second)]);
    }
}

/// Asks for the mean over ranks of their steps alone, with the transfers as they are; keeps their median.
void ask_about_balance(std::vector<StepGraph> const& ranks, std::vector<CollectiveLink> const& links,
                       Questions& questions, PathAnswer& answer) {
    questions.put(StepChange::no_late_ranks, [&] {
        auto steps = steps_alone(ranks, links);
        if (steps.empty()) { return Ticks{-1}; }
        auto const middle = steps.begin() + static_cast<std::ptrdiff_t>((steps.size() - 1) / 2);
        std::nth_element(steps.begin(), middle, steps.end());
        answer.median_alone = *middle;
        return std::accumulate(steps.begin(), steps.end(), Ticks{0}, wide_sum) / static_cast<Ticks>(ranks.size());
    });
}

} // namespace

void tell_what_if(std::vector<StepGraph> const& ranks, std::vector<CollectiveLink> const& links,
                  CollectiveGroups const& groups, JoinedSteps const& joined, Executor const& run, PathAnswer& answer) {
    Questions questions(joined, answer.depth);
    // the longest first: it runs along with all others
    if (joined.joined > 0) { ask_about_balance(ranks, links, questions, answer); }
    ask_about_kinds(questions);
    ask_about_names(ranks, joined, questions, answer);
    ask_about_families(ranks, joined, questions, answer);
    ask_about_groups(ranks, groups, joined, questions);
    questions.answer(run, answer.what_if);
    if (joined.joined > 0 && answer.what_if.front().change == StepChange::no_late_ranks) { // told last
        std::rotate(answer.what_if.begin(), answer.what_if.begin() + 1, answer.what_if.end());
    }
}

} // namespace headroom::trace::path
