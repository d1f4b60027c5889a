#include "laws/graph/paths.hpp"
#include "trace/path_pieces.hpp"
#include "trace/step_names.hpp"

#include "headroom/text.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace headroom::trace::path {
namespace {

constexpr double least_speedup = 1.02, least_before_kernel = 1.1;
constexpr double noticeable = 0.1; ///< of the path on the host
constexpr double mostly = 0.9;     ///< of the host's chain: worth saying that nobody knows what it is

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

/// Length of the longest path where a task or delay costs what `change(vertex, its cost)` says, never more.
template <class Change> Ticks step_with(JoinedSteps const& joined, Change const& change) {
    struct Cost {
        JoinedSteps const& joined;
        Change const& change;
        [[nodiscard]] Ticks operator()(laws::TaskId vertex) const {
            Ticks const now = joined.dag.costs()[vertex];
            auto const& what = joined.vertices[vertex];
            return now == 0 || what.task == no_task ? now : change(what, now);
        }
        void fetch(laws::TaskId vertex) const { laws::graph::fetch(joined.dag.costs().data() + vertex); }
    };
    auto const finish =
        laws::graph::longest_paths<laws::graph::From::sources>(joined.dag, Cost{joined, change}, Ticks{0});
    return *std::max_element(finish.get(), finish.get() + joined.dag.size());
}

/// Length of the longest path where what `free` names costs nothing.
template <class Free> Ticks step_without(JoinedSteps const& joined, Free const& free) {
    return step_with(joined, [&](Vertex const& vertex, Ticks now) { return free(vertex) ? 0 : now; });
}

/// Whether a name is that of a step: its own time is that of no operator or call in it.
bool names_step(std::string_view name) { return step_number(name) || named_step(name); }

bool is_gap(Vertex const& vertex) { return vertex.delay && vertex.edge == TraceEdge::program; }

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
        if (rule == AdviceRule::allocator) { tell(StepChange::free_allocator, step); }
        add(rule, subject, inside ? std::max(time, answer_.depth - step) : time, step);
        counted_.resize(chosen.size());
        for (std::size_t i = 0; i < chosen.size(); ++i) { counted_[i] = static_cast<char>(counted_[i] | chosen[i]); }
    }

    void without_copies() {
        auto const is_copy = [](auto const& one) { return one.kind == SpanKind::memory; };
        auto const [subject, time] = largest(is_copy);
        if (time == 0) { return; }
        AdviceRule rule = AdviceRule::copies;
        if (subject.find("DtoD") != std::string::npos) { rule = AdviceRule::device_copies; }
        if (subject.find("Pageable") != std::string::npos) { rule = AdviceRule::pageable_copies; }
        Ticks const step =
            step_without(joined_, [&](Vertex const& vertex) { return !vertex.delay && is_copy(vertex); });
        tell(StepChange::free_copies, step);
        add(rule, subject, time, step);
    }

    void without_communication() {
        auto const [subject, time] = largest([](PathName const& one) { return one.kind == SpanKind::communication; });
        auto const free = std::ranges::find(answer_.what_if, StepChange::free_communication, &StepIf::change);
        if (time == 0 || free == answer_.what_if.end()) { return; }
        add(AdviceRule::exposed_communication, subject, time, free->step);
    }

    void without_host_waits(std::string const& call, Ticks step) {
        if (call.empty()) { return; }
        tell(StepChange::no_host_waits, step);
        add(AdviceRule::blocking_calls, call, 0, step);
    }

    /// Half of the host's work, without what allocator and data loaders have of it.
    void halve_host() {
        auto const [subject, time] = largest([](PathName const& name) {
            return is_host(name.kind) && !takes_memory(name.name) && !names_data_loading(name.name);
        });
        Ticks const gaps = answer_.delays_by[static_cast<std::size_t>(TraceEdge::program)];
        Ticks const step = step_with(joined_, [&](Vertex const& vertex, Ticks now) {
            bool const host = vertex.delay ? vertex.edge == TraceEdge::program : is_host(vertex.kind);
            return host && (counted_.empty() || counted_[vertex.task] == 0) ? now / 2 : now;
        });
        bool const known = time > gaps && !names_step(subject);
        add(AdviceRule::launches, known ? subject : "time in which no call was recorded", time + gaps, step);
    }

    /// Calls of a device's runtime in a trace without a device, where they have a fifth of the path.
    void find_unseen_device() {
        auto const [subject, time] = largest(
            [](PathName const& one) { return one.kind == SpanKind::launch || one.kind == SpanKind::synchronization; });
        if (time == 0 || 5 * time < answer_.depth) { return; }
        answer_.advice.insert(answer_.advice.begin(), {AdviceRule::unseen_device, subject, time, answer_.depth, 1.0});
    }

    /// Traces of devices alone cannot carry advice on the host.
    void note_missing_host() {
        for (StepGraph const& graph : ranks_) {
            if (std::ranges::any_of(graph.kind,
                                    [](SpanKind kind) { return is_host(kind) && kind != SpanKind::annotation; })) {
                return;
            }
        }
        answer_.notes.emplace_back("no host events: launch delays cannot be seen; record ProfilerActivity.CPU, too");
    }

    /// The operator of the host with most of the path twice as fast.
    void halve_operator() {
        auto const is_operator = [](PathName const& one) {
            return (one.kind == SpanKind::host || one.kind == SpanKind::compute) && !names_step(one.name);
        };
        std::string const subject = largest(is_operator).first;
        if (subject.empty()) { return; }
        Ticks const time = largest([&](PathName const& one) { return is_operator(one) && one.name == subject; }).second;
        Ticks const step = step_with(joined_, [&](Vertex const& vertex, Ticks now) {
            return !vertex.delay && !is_wait(vertex) && name_of_task(vertex.task) == subject ? now / 2 : now;
        });
        add(AdviceRule::operators, subject, time, step);
    }

    void fuse_kernels() {
        auto const fused = fused_tasks(ranks_, joined_);
        if (fused.kernels == 0) { return; }
        Ticks const step = step_without(joined_, [&](Vertex const& vertex) { return fused.chosen[vertex.task] != 0; });
        add(AdviceRule::small_kernels, fused.name, 0, step);
    }

    /// Computation at the pace that it had early in the run.
    void at_first_pace(double slowing) {
        if (slowing <= 1.0) { return; }
        Ticks const step = step_with(joined_, [&](Vertex const& vertex, Ticks now) {
            bool const computes = !vertex.delay && vertex.kind == SpanKind::compute;
            return computes ? static_cast<Ticks>(static_cast<double>(now) / slowing) : now;
        });
        add(AdviceRule::slowing_kernels, text::percent(slowing - 1.0, 2) + " % in the mean", 0, step);
    }

    void at_roof(RunSigns::Roof const& roof) {
        Ticks const time = largest([&](PathName const& one) { return one.name == roof.kernel; }).second;
        if (time == 0) { return; }
        Ticks const step = step_with(joined_, [&](Vertex const& vertex, Ticks now) {
            bool const it =
                !vertex.delay && vertex.kind == SpanKind::compute && name_of_task(vertex.task) == roof.kernel;
            return it ? static_cast<Ticks>(static_cast<double>(now) * roof.share) : now;
        });
        add(AdviceRule::below_roof,
            roof.kernel + " " + roof.shape + " (" + text::percent(roof.share, 2) + " % of the roofline)", time, step);
    }

    /// Ranks that are late for a reason of their own could be as fast as the median one; unequal work can be shared out.
    void balance(RunSigns const& signs) {
        bool const own_fault = signs.late == AdviceRule::slow_rank || signs.late == AdviceRule::late_host;
        if (own_fault) { return add(signs.late, signs.late_ranks, 0, answer_.median_alone); }
        from_what_if(signs.late, StepChange::no_late_ranks, signs.late_ranks);
    }

    void from_what_if(AdviceRule rule, StepChange change, std::string const& subject = {}) {
        for (StepIf const& one : answer_.what_if) {
            if (one.change != change) { continue; }
            Ticks const time = largest([&](PathName const& name) { return name.name == one.kernel; }).second;
            add(rule, one.kernel.empty() ? subject : one.kernel, time, one.step);
        }
    }

    /// Whether gaps in which nothing was recorded have this share of the path, and it would be shorter without them.
    bool is_unrecorded(double share) {
        Ticks const gaps = answer_.delays_by[static_cast<std::size_t>(TraceEdge::program)];
        if (static_cast<double>(gaps) < share * static_cast<double>(answer_.depth)) { return false; }
        std::size_t const before = answer_.advice.size();
        add(AdviceRule::unrecorded, {}, gaps, step_without(joined_, is_gap));
        return answer_.advice.size() > before;
    }

    /// Delays between launches, streams and events where they are half of the path.
    void find_unexplained_delays() {
        constexpr std::array edges{TraceEdge::launch, TraceEdge::stream, TraceEdge::wait};
        Ticks time = 0;
        for (TraceEdge const edge : edges) { time += answer_.delays_by[static_cast<std::size_t>(edge)]; }
        if (2 * time < answer_.depth) { return; }
        add(AdviceRule::unexplained_delays, {}, time, step_without(joined_, [&](Vertex const& vertex) {
                return vertex.delay && std::ranges::find(edges, vertex.edge) != edges.end();
            }));
    }

    /// Time before the first device work of any rank, where it is a tenth of the file.
    void skip_start() {
        Ticks start = answer_.depth;
        for (StepGraph const& graph : ranks_) {
            for (std::size_t i = 0; i < graph.cost.size(); ++i) {
                if (!occupies_device(graph.kind[i])) { continue; }
                start = std::min(start, graph.begin[i] - graph.begin.front());
                break;
            }
        }
        if (start <= answer_.depth / 10 || start == answer_.depth) { return; }
        add(AdviceRule::idle_start, {}, start, answer_.depth - start);
    }

    /// Where nothing gains: whether the host alone and the device alone take as long as the step.
    void compare_chains() {
        if (!answer_.advice.empty()) { return; }
        auto const on_device = [](Vertex const& vertex) { return !vertex.delay && occupies_device(vertex.kind); };
        auto const on_host = [](Vertex const& vertex) {
            return is_gap(vertex) || (!vertex.delay && is_host(vertex.kind));
        };
        double const depth = static_cast<double>(answer_.depth);
        double const host = static_cast<double>(step_without(joined_, on_device));
        double const device = static_cast<double>(step_without(joined_, on_host));
        if (host * least_speedup < depth || device * least_speedup < depth) { return; }
        double const recorded = static_cast<double>(
            step_without(joined_, [&](Vertex const& vertex) { return on_device(vertex) || is_gap(vertex); }));
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
    void tell(StepChange change, Ticks step) {
        double const speedup = step > 0 ? static_cast<double>(answer_.depth) / static_cast<double>(step) : 1.0;
        answer_.what_if.push_back({change, {}, step, speedup});
    }

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

    [[nodiscard]] std::string const& name_of_task(std::uint32_t task) const {
        auto const rank = joined_.rank_of(task);
        return ranks_[rank].names[ranks_[rank].name[task - joined_.first_task[rank]]];
    }
    static bool is_wait(Vertex const& vertex) {
        return vertex.kind == SpanKind::synchronization || vertex.kind == SpanKind::device_wait;
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
    std::vector<char> counted_; ///< host tasks that a cause of their own has, by task of all ranks
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
        bool const is_wait = what.delay && what.edge == TraceEdge::wait && what.task != no_task;
        if (is_wait && is_host(kind_of(what.task))) {
            count(what.task);
            return finish_[vertex] = 0;
        }
        bool const of_host = !what.delay && what.task != no_task && is_host(what.kind);
        auto const before = joined_.dag.predecessors();
        Ticks begin = 0;
        for (std::uint32_t e = before.first[vertex]; e < before.first[vertex + 1]; ++e) {
            Vertex const& other = joined_.vertices[before.tasks[e]];
            bool const of_device = !other.delay && other.task != no_task && !is_host(other.kind);
            if (of_host && of_device && waits(what.task, other.task)) {
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

void tell_advice(std::vector<StepGraph> const& ranks, JoinedSteps const& joined, RunSigns const& signs,
                 PathAnswer& answer) {
    if (answer.depth <= 0) { return; }
    Adviser adviser{ranks, joined, answer};
    // Between kernels of a device the host's gaps are those of Python, which `halve_host` names; on the host they are a wait.
    bool const unrecorded = adviser.is_unrecorded(signs.on_host ? noticeable : mostly);
    adviser.without(AdviceRule::data_loading, names_data_loading, true);
    adviser.without_communication();
    adviser.balance(signs);
    if (signs.uneven) { answer.advice.push_back(*signs.uneven); }
    if (signs.on_host) { // no device that could be launched late, and its work is the host's
        adviser.halve_operator();
        adviser.sort();
        return adviser.find_unseen_device();
    }
    adviser.note_missing_host();
    adviser.without(AdviceRule::allocator, takes_memory, false);
    adviser.without_copies();
    HostsUnheld unheld{ranks, joined};
    Ticks const without_waits = unheld.measure();
    adviser.without_host_waits(unheld.most_frequent(), without_waits);
    if (!signs.has_steps) { adviser.skip_start(); }
    adviser.find_unexplained_delays();
    adviser.fuse_kernels();
    adviser.at_first_pace(signs.slowing);
    for (RunSigns::Roof const& roof : signs.roofs) { adviser.at_roof(roof); }
    if (!unrecorded) { adviser.halve_host(); }
    adviser.from_what_if(AdviceRule::kernel, StepChange::faster_kernel);
    adviser.sort();
    adviser.compare_chains();
}

} // namespace headroom::trace::path
