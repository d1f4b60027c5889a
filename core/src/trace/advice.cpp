#include "laws/graph/paths.hpp"
#include "trace/path_pieces.hpp"
#include "trace/wide_time.hpp"

#include "headroom/quantity.hpp"
#include "headroom/text.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace headroom::trace {
namespace {

/// Words of a rule. A finding holds {s}, the subject, {t}, its time on the path, {d}, the length of the path, {x}, the
/// speedup without it.
struct AdviceRow {
    AdviceRule rule;
    std::string_view name, finding, remedy;
};

// Sources of the remedies: documentation of PyTorch (CUDA semantics, performance tuning guide, DataLoader) and of NCCL.
constexpr std::array rows{
    AdviceRow{AdviceRule::allocator, "allocator",
              "The memory allocator stops the device: {s} has {t} of the {d} on the critical path; without it {x}x.",
              "Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, or reuse buffers."},
    AdviceRow{AdviceRule::blocking_calls, "blocking_calls",
              "The host waits for the device ({s}) and then launches late; without these waits {x}x.",
              "Read values (.item(), .cpu(), a printed loss) once in many steps; copy from pinned memory with "
              "non_blocking=True."},
    AdviceRow{AdviceRule::data_loading, "data_loading",
              "Data loading holds the step up: {s} has {t} of the {d} on the critical path; without it {x}x.",
              "Raise num_workers and prefetch_factor, or prepare the data before the run."},
    AdviceRow{AdviceRule::late_ranks, "late_ranks", "Ranks wait for late ones; without that {x}x.",
              "See which rank arrives last, and whether it computes longer or launches later than the others."},
    AdviceRow{AdviceRule::exposed_communication, "exposed_communication",
              "Communication has {t} of the {d} on the critical path, most of it {s}; hidden, {x}x.",
              "Overlap it with computation (buckets of gradients, prefetched weights), send less, or less often."},
    AdviceRow{AdviceRule::copies, "copies",
              "Copies have {t} of the {d} on the critical path, most of it {s}; hidden, {x}x.",
              "Copy from pinned memory with non_blocking=True, on a stream of its own."},
    AdviceRow{AdviceRule::device_copies, "device_copies",
              "Copies have {t} of the {d} on the critical path, most of it inside the device ({s}); without them {x}x.",
              "Write results in place: .contiguous(), .clone() and cat of large tensors copy."},
    AdviceRow{AdviceRule::launches, "launches",
              "The host has {t} of the {d} on the critical path, most of it {s}; twice as fast, {x}x.",
              "Launch less: CUDA graphs, torch.compile, fused optimizers, a larger micro-batch."},
    AdviceRow{AdviceRule::kernel, "kernel",
              "Computation decides: {s} has {t} of the {d} on the critical path; twice as fast, {x}x.", ""},
    AdviceRow{AdviceRule::two_chains, "two_chains",
              "Two chains are equally long, the device's and the host's{s}: no single change shortens the step.",
              "A gap of the host shows what fills it when it is recorded with with_stack=True."},
};

AdviceRow const& row_of(AdviceRule rule) { return *std::ranges::find(rows, rule, &AdviceRow::rule); }

} // namespace

std::string_view name_of(AdviceRule rule) { return row_of(rule).name; }

std::string finding_words(Advice const& advice, Ticks depth) {
    std::string words{row_of(advice.rule).finding};
    std::array const parts{std::pair{"{s}", advice.subject},
                           std::pair{"{t}", format(Seconds{static_cast<double>(advice.on_path) / 1e9})},
                           std::pair{"{d}", format(Seconds{static_cast<double>(depth) / 1e9})},
                           std::pair{"{x}", text::significant(advice.speedup)}};
    for (auto const& [mark, text] : parts) {
        if (auto const at = words.find(mark); at != std::string::npos) { words.replace(at, 3, text); }
    }
    return words;
}

std::string_view remedy_words(AdviceRule rule) { return row_of(rule).remedy; }

namespace path {
namespace {

constexpr double least_speedup = 1.02, least_before_kernel = 1.05;
constexpr double mostly = 0.9; ///< of the host's chain: worth saying that nobody knows what it is

bool is_host(SpanKind kind) {
    return kind == SpanKind::launch || kind == SpanKind::synchronization || kind == SpanKind::host ||
           kind == SpanKind::annotation;
}

bool takes_memory(std::string_view name) {
    constexpr std::array beginnings{"cudaMalloc", "cudaFree",    "cudaHostAlloc", "cuMemAlloc",   "cuMemFree",
                                    "cuMemMap",   "cuMemCreate", "cuMemUnmap",    "cuMemRelease", "cuMemSetAccess",
                                    "hipMalloc",  "hipFree",     "hipHostMalloc", "hipMem"};
    return std::ranges::any_of(beginnings, [&](auto one) { return name.starts_with(one); });
}

/// Names of host work that a rule is about, by rank and number of the name.
using NameTest = bool (*)(std::string_view);

/// Length of the longest path where the tasks and delays that `free` names cost nothing.
template <class Free> Ticks step_without(JoinedSteps const& joined, Free const& free) {
    struct Cost {
        JoinedSteps const& joined;
        Free const& free;
        [[nodiscard]] Ticks operator()(laws::TaskId vertex) const {
            Ticks const now = joined.dag.costs()[vertex];
            auto const& what = joined.vertices[vertex];
            return now == 0 || what.task == no_task || !free(what) ? now : 0;
        }
        void fetch(laws::TaskId vertex) const { laws::graph::fetch(joined.dag.costs().data() + vertex); }
    };
    auto const finish =
        laws::graph::longest_paths<laws::graph::From::sources>(joined.dag, Cost{joined, free}, Ticks{0});
    return *std::max_element(finish.get(), finish.get() + joined.dag.size());
}

/// Collects advice on one step.
class Adviser {
public:
    Adviser(std::vector<StepGraph> const& ranks, JoinedSteps const& joined, PathAnswer& answer)
        : ranks_(ranks), joined_(joined), answer_(answer) {}

    void add(AdviceRule rule, std::string subject, Ticks on_path, Ticks step) {
        if (step <= 0) { return; }
        double const speedup = static_cast<double>(answer_.depth) / static_cast<double>(step);
        if (speedup >= least_speedup) { answer_.advice.push_back({rule, std::move(subject), on_path, step, speedup}); }
    }

    /// Host work of these names, where the path holds some; `inside`: with all that runs inside of it on its thread.
    void without(AdviceRule rule, NameTest test, bool inside) {
        auto const [subject, time] =
            largest([test](PathName const& one) { return is_host(one.kind) && test(one.name); });
        if (time == 0) { return; }
        std::vector<char> chosen(joined_.rank.size()); // by task of all ranks
        for (std::size_t r = 0; r < ranks_.size(); ++r) {
            choose(ranks_[r], test, inside, &chosen[joined_.first_task[r]]);
        }
        Ticks const step = step_without(joined_, [&](Vertex const& vertex) {
            bool const counts = !vertex.delay || (inside && vertex.edge == TraceEdge::program);
            return counts && chosen[vertex.task] != 0;
        });
        add(rule, subject, inside ? std::max(time, answer_.depth - step) : time, step);
    }

    void without(AdviceRule rule, SpanKind kind) {
        auto const [subject, time] = largest([kind](PathName const& one) { return one.kind == kind; });
        if (time == 0) { return; }
        bool const in_device = kind == SpanKind::memory && subject.find("DtoD") != std::string::npos;
        add(in_device ? AdviceRule::device_copies : rule, subject, answer_.by_kind[static_cast<std::size_t>(kind)],
            step_without(joined_, [kind](Vertex const& vertex) { return !vertex.delay && vertex.kind == kind; }));
    }

    void from_what_if(AdviceRule rule, StepChange change) {
        for (StepIf const& one : answer_.what_if) {
            if (one.change != change) { continue; }
            if (change == StepChange::faster_host) {
                auto const [subject, time] = largest([](PathName const& name) {
                    return is_host(name.kind) && !takes_memory(name.name) && !names_data_loading(name.name);
                });
                Ticks const all = answer_.delays_by[static_cast<std::size_t>(TraceEdge::program)] +
                                  answer_.by_kind[static_cast<std::size_t>(SpanKind::host)] +
                                  answer_.by_kind[static_cast<std::size_t>(SpanKind::launch)] +
                                  answer_.by_kind[static_cast<std::size_t>(SpanKind::synchronization)];
                add(rule, time > 0 ? subject : "time in which no call was recorded", all, one.step);
            } else {
                Ticks const time = largest([&](PathName const& name) { return name.name == one.kernel; }).second;
                add(rule, one.kernel, time, one.step);
            }
        }
    }

    /// Where nothing gains: whether the host alone and the device alone take as long as the step.
    void compare_chains() {
        if (!answer_.advice.empty()) { return; }
        auto const on_device = [](Vertex const& vertex) { return !vertex.delay && occupies_device(vertex.kind); };
        auto const of_program = [](Vertex const& vertex) { return vertex.delay && vertex.edge == TraceEdge::program; };
        auto const on_host = [&](Vertex const& vertex) {
            return of_program(vertex) || (!vertex.delay && is_host(vertex.kind));
        };
        double const depth = static_cast<double>(answer_.depth);
        double const host = static_cast<double>(step_without(joined_, on_device));
        double const device = static_cast<double>(step_without(joined_, on_host));
        if (host * least_speedup < depth || device * least_speedup < depth) { return; }
        double const recorded = static_cast<double>(
            step_without(joined_, [&](Vertex const& vertex) { return on_device(vertex) || of_program(vertex); }));
        double const gap = 1.0 - recorded / host;
        std::string const words =
            gap >= mostly ? " (" + text::percent(gap, 2) + " % of it a gap in which nothing was recorded)" : "";
        answer_.advice.push_back({AdviceRule::two_chains, words, 0, answer_.depth, 1.0});
    }

    void sort() {
        auto& all = answer_.advice;
        auto const is_kernel = [](Advice const& one) { return one.rule == AdviceRule::kernel; };
        std::ranges::stable_sort(all, [](Advice const& a, Advice const& b) { return a.speedup > b.speedup; });
        bool const else_gains = std::ranges::any_of(
            all, [&](Advice const& one) { return !is_kernel(one) && one.speedup >= least_before_kernel; });
        if (else_gains) { std::erase_if(all, is_kernel); }
    }

private:
    /// Marks the host tasks of a rank whose names pass, and with `inside` those between their first and last piece.
    static void choose(StepGraph const& graph, NameTest test, bool inside, char* chosen) {
        std::vector<char> named;
        for (std::string const& name : graph.names) { named.push_back(test(name) ? 1 : 0); }
        std::map<std::uint32_t, Ticks> last_end;   // by interval
        std::map<std::uint32_t, Ticks> open_until; // by lane
        auto const passes = [&](std::size_t i) { return is_host(graph.kind[i]) && named[graph.name[i]] != 0; };
        for (std::size_t i = 0; i < graph.cost.size(); ++i) {
            if (passes(i)) { last_end[graph.interval[i]] = graph.begin[i] + graph.cost[i]; }
        }
        for (std::size_t i = 0; i < graph.cost.size(); ++i) { // by begin
            if (passes(i)) {
                chosen[i] = 1;
                Ticks& until = open_until[graph.lane[i]];
                until = std::max(until, last_end[graph.interval[i]]);
            } else if (auto const open = open_until.find(graph.lane[i]);
                       inside && open != open_until.end() && is_host(graph.kind[i]) && graph.begin[i] < open->second) {
                chosen[i] = 1;
            }
        }
    }

    /// The name on the path that has most time of those that pass, and the time of all that do.
    template <class Test> std::pair<std::string, Ticks> largest(Test const& test) const {
        std::pair<std::string, Ticks> found;
        for (PathName const& one : answer_.names) { // longest first
            if (!test(one)) { continue; }
            if (found.second == 0) { found.first = one.name; }
            found.second += one.duration;
        }
        return found;
    }

    std::vector<StepGraph> const& ranks_;
    JoinedSteps const& joined_;
    PathAnswer& answer_;
};

/// The steps where no host waits for its device: edges of that kind do not count.
class HostsUnheld {
public:
    HostsUnheld(std::vector<StepGraph> const& ranks, JoinedSteps const& joined) : ranks_(ranks), joined_(joined) {}

    /// Length of the longest path.
    Ticks measure() {
        laws::Dag const& dag = joined_.dag;
        finish_ = std::make_unique_for_overwrite<Ticks[]>(dag.size());
        if (dag.is_ordered()) {
            for (std::size_t v = 0; v < dag.size(); ++v) { leave(static_cast<laws::TaskId>(v)); }
        } else {
            laws::graph::walk_in_order(dag.predecessors(), dag.successors(), *this);
        }
        return *std::max_element(finish_.get(), finish_.get() + dag.size());
    }

    /// The name of most of the waits that were left out; empty where there are none.
    [[nodiscard]] std::string most_frequent() const {
        auto const most = std::ranges::max_element(calls_, {}, &std::pair<std::string_view const, int>::second);
        return most == calls_.end() ? std::string{} : std::string{most->first};
    }

    void fetch_task(laws::TaskId /*task*/) const {}
    void fetch_neighbour(laws::TaskId /*task*/) const {}
    void reach(laws::TaskId /*task*/, Ticks /*begin*/) const {}
    /// Finds the end of a vertex from those before it, which are known.
    Ticks leave(laws::TaskId vertex) {
        Vertex const& what = joined_.vertices[vertex];
        bool const of_host = what.task != no_task && is_host(kind_of(what.task));
        if (of_host && what.delay && what.edge == TraceEdge::wait) {
            count(what.task);
            return finish_[vertex] = 0;
        }
        auto const before = joined_.dag.predecessors();
        Ticks begin = 0;
        for (std::uint32_t e = before.first[vertex]; e < before.first[vertex + 1]; ++e) {
            Vertex const& other = joined_.vertices[before.tasks[e]];
            bool const of_device = !other.delay && other.task != no_task && !is_host(other.kind);
            if (of_host && !what.delay && of_device && waits(what.task, other.task)) {
                count(what.task);
            } else {
                begin = std::max(begin, finish_[before.tasks[e]]);
            }
        }
        return finish_[vertex] = begin + joined_.dag.cost(vertex);
    }

private:
    [[nodiscard]] SpanKind kind_of(std::uint32_t task) const {
        auto const rank = joined_.rank_of(task);
        return ranks_[rank].kind[task - joined_.first_task[rank]];
    }
    /// Whether a task waits for another of its rank, with no delay between them.
    [[nodiscard]] bool waits(std::uint32_t task, std::uint32_t other) const {
        auto const rank = joined_.rank_of(task);
        StepGraph const& graph = ranks_[rank];
        auto const first = joined_.first_task[rank];
        auto edge = std::ranges::lower_bound(graph.edges, task - first, {}, &laws::Edge::to);
        for (; edge != graph.edges.end() && edge->to == task - first; ++edge) {
            if (first + edge->from == other) {
                return graph.edge_kind[static_cast<std::size_t>(edge - graph.edges.begin())] == TraceEdge::wait;
            }
        }
        return false;
    }
    void count(std::uint32_t task) {
        auto const rank = joined_.rank_of(task);
        StepGraph const& graph = ranks_[rank];
        ++calls_[graph.names[graph.name[task - joined_.first_task[rank]]]];
    }

    std::vector<StepGraph> const& ranks_;
    JoinedSteps const& joined_;
    std::unique_ptr<Ticks[]> finish_;
    std::map<std::string_view, int> calls_; ///< that waited
};

} // namespace

void tell_advice(std::vector<StepGraph> const& ranks, JoinedSteps const& joined, PathAnswer& answer) {
    if (answer.depth <= 0) { return; }
    Adviser adviser{ranks, joined, answer};
    adviser.without(AdviceRule::allocator, takes_memory, false);
    adviser.without(AdviceRule::data_loading, names_data_loading, true);
    adviser.without(AdviceRule::exposed_communication, SpanKind::communication);
    adviser.without(AdviceRule::copies, SpanKind::memory);
    HostsUnheld unheld{ranks, joined};
    Ticks const without_waits = unheld.measure();
    if (std::string const call = unheld.most_frequent(); !call.empty()) {
        adviser.add(AdviceRule::blocking_calls, call, 0, without_waits);
    }
    adviser.from_what_if(AdviceRule::late_ranks, StepChange::no_late_ranks);
    adviser.from_what_if(AdviceRule::launches, StepChange::faster_host);
    adviser.from_what_if(AdviceRule::kernel, StepChange::faster_kernel);
    adviser.sort();
    adviser.compare_chains();
}

} // namespace path

} // namespace headroom::trace
