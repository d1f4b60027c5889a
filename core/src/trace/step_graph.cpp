#include "trace/merge_runs.hpp"
#include "trace/step_draft.hpp"
#include "trace/with_launches.hpp"

#include <algorithm>
#include <tuple>

namespace headroom::trace::path {
namespace {

constexpr Ticks microsecond = 1000;
/// Limits for a wait that nobody states to be believed: the work could have begun at least `unexplained` earlier, and
/// begins at most `wait_latency` after the end of its cause, or at most a tenth of the time that it explains.
constexpr Ticks wait_latency = 5 * microsecond, unexplained = 10 * microsecond, latency_part = 10;
/// Delays of work beyond which its begin is reported as unexplained.
constexpr Ticks late_work = 20 * microsecond;

/// A task on its way to its number.
struct Place {
    Ticks begin = 0, end = 0;
    std::uint32_t at = 0; ///< threads first, one after the other, then lanes of work
};

struct Waiting {
    std::uint32_t from = 0, to = 0;
    TraceEdge why = TraceEdge::program;
    Ticks least = 0;
};

struct WorkEnd {
    Ticks end = 0;
    std::uint32_t task = 0;
};

class Finisher {
public:
    Finisher(StepDraft& draft, TraceStep const& step) : draft_(draft), trace_(draft.trace) {
        graph_.step = step;
        graph_.rank = trace_.rank.value_or(0);
        graph_.epoch_ns = trace_.epoch_ns;
    }
    StepGraph run(CollectiveRuns const& runs);

private:
    void number_tasks();
    void add_tasks(std::vector<Place> const& places);
    void name_tasks();
    void number_collectives(CollectiveRuns const& runs);
    void collect_programs();
    void collect_ties();
    void sort_by_end_task();
    void finish_edges();
    void finish_task(std::uint32_t task, std::size_t first, std::size_t last);
    void infer_wait(std::uint32_t task, Ticks ready);
    void tell();
    [[nodiscard]] Ticks end_of(std::uint32_t task) const { return graph_.begin[task] + graph_.cost[task]; }
    [[nodiscard]] bool is_work(std::uint32_t task) const { return place_of_[task] >= first_work_.front(); }
    [[nodiscard]] std::uint32_t task_at(TieEnd const& end, bool from) const;

    StepDraft& draft_;
    RankTrace const& trace_;
    StepGraph graph_;
    std::vector<std::size_t> first_host_, first_work_; ///< places of each lane's first; one more than there are lanes
    std::vector<std::uint32_t> number_;                ///< of the task at a place
    std::vector<std::uint32_t> place_of_;              ///< of a task
    std::vector<std::uint32_t> span_;                  ///< of a task; `none`: begin and end of the step
    std::vector<Waiting> waiting_;
    std::vector<WorkEnd> work_ends_;
};

bool begins_earlier(Place const& a, Place const& b) { return std::tie(a.begin, a.end) < std::tie(b.begin, b.end); }

void Finisher::number_tasks() {
    std::vector<Place> places;
    std::vector<std::size_t> runs;
    auto const put = [&](Ticks begin, Ticks end) {
        places.push_back({begin, end, static_cast<std::uint32_t>(places.size())});
    };
    put(draft_.window.begin, draft_.window.begin); // the begin of the step is first of all
    runs.push_back(0);
    for (std::size_t slot = 0; slot < draft_.hosts.size(); ++slot) {
        first_host_.push_back(places.size());
        runs.push_back(places.size());
        for (auto const& piece : draft_.hosts[slot].pieces()) { put(piece.begin, piece.end); }
        if (slot == 0) { put(draft_.window.host_end, draft_.window.host_end); }
    }
    first_host_.push_back(places.size());
    for (auto const& lane : draft_.window.work) {
        first_work_.push_back(places.size());
        runs.push_back(places.size());
        for (auto const& work : lane) { put(work.begin, work.end); }
    }
    first_work_.push_back(places.size());
    runs.push_back(places.size());
    for (std::size_t i = 0; i + 1 < runs.size(); ++i) { // cut ends of work may turn what begins together around
        auto const from = places.begin() + static_cast<std::ptrdiff_t>(runs[i]);
        auto const to = places.begin() + static_cast<std::ptrdiff_t>(runs[i + 1]);
        if (!std::is_sorted(from, to, begins_earlier)) { std::stable_sort(from, to, begins_earlier); }
    }
    merge_runs(places, std::move(runs), begins_earlier);
    add_tasks(places);
}

void Finisher::add_tasks(std::vector<Place> const& places) {
    auto const tasks = places.size();
    number_.resize(tasks);
    for (std::size_t i = 0; i < tasks; ++i) {
        number_[places[i].at] = static_cast<std::uint32_t>(i);
        place_of_.push_back(places[i].at);
        graph_.begin.push_back(places[i].begin);
        graph_.cost.push_back(places[i].end - places[i].begin);
    }
    span_.assign(tasks, none);
    graph_.kind.assign(tasks, SpanKind::annotation);
    graph_.lane.assign(tasks, 0);
    for (std::size_t slot = 0; slot < draft_.hosts.size(); ++slot) {
        auto const& pieces = draft_.hosts[slot].pieces();
        for (std::size_t i = 0; i < pieces.size(); ++i) { span_[number_[first_host_[slot] + i]] = pieces[i].span; }
    }
    for (std::size_t slot = 0; slot < draft_.window.work.size(); ++slot) {
        auto const& lane = draft_.window.work[slot];
        for (std::size_t i = 0; i < lane.size(); ++i) {
            auto const task = number_[first_work_[slot] + i];
            span_[task] = lane[i].span;
            if (!lane[i].transfer) { work_ends_.push_back({lane[i].end, task}); }
        }
    }
    std::sort(work_ends_.begin(), work_ends_.end(),
              [](auto const& a, auto const& b) { return std::tie(a.end, a.task) < std::tie(b.end, b.task); });
}

/// Names and lanes that the step has, by first use.
void Finisher::name_tasks() {
    auto const& timeline = trace_.timeline;
    std::vector<std::uint32_t> name(timeline.names.size(), none), lane(timeline.lanes.size(), none);
    auto const known = [](std::vector<std::uint32_t>& numbers, std::uint32_t at, std::vector<std::string>& texts,
                          std::string const& text) {
        if (numbers[at] == none) {
            numbers[at] = static_cast<std::uint32_t>(texts.size());
            texts.push_back(text);
        }
        return numbers[at];
    };
    graph_.names = {"begin of the step", "end of the step"};
    auto const main = draft_.window.main_lane;
    if (main != none) { known(lane, main, graph_.lanes, timeline.lanes[main]); }
    for (std::uint32_t task = 0; task < span_.size(); ++task) {
        auto const span = span_[task];
        if (span == none) {
            graph_.name.push_back(task == 0 ? 0 : 1);
            continue;
        }
        graph_.name.push_back(known(name, timeline.name[span], graph_.names, timeline.names[timeline.name[span]]));
        graph_.lane[task] = known(lane, timeline.lane[span], graph_.lanes, timeline.lanes[timeline.lane[span]]);
        graph_.kind[task] = trace_.kind[span];
    }
    if (graph_.lanes.empty()) { graph_.lanes.emplace_back(); }
    graph_.interval = span_;
}

/// Ties each task of a thread to the previous one. The delay between them is the host's own time that was neither
/// recorded nor waiting.
void Finisher::collect_programs() {
    for (std::size_t slot = 0; slot < draft_.hosts.size(); ++slot) {
        auto const& host = draft_.hosts[slot];
        std::uint32_t before = 0; // the begin of the step
        Ticks ended = draft_.window.begin;
        for (std::size_t i = first_host_[slot]; i < first_host_[slot + 1]; ++i) {
            auto const task = number_[i];
            Ticks const begin = graph_.begin[task];
            Ticks const gap = begin - ended;
            waiting_.push_back({before, task, TraceEdge::program, gap > 0 ? gap - host.waited(ended, begin) : 0});
            before = task;
            ended = end_of(task);
        }
    }
}

std::uint32_t Finisher::task_at(TieEnd const& end, bool from) const {
    if (end.work) { return number_[first_work_[end.slot] + end.index]; }
    auto const& host = draft_.hosts[end.slot];
    auto const first = first_host_[end.slot], after = first_host_[end.slot + 1];
    if (from) {
        auto const ended = host.ended_by(end.at);
        return ended == 0 ? 0 : number_[first + ended - 1];
    }
    auto const next = first + host.begun_before(end.at);
    return next < after ? number_[next] : none;
}

void Finisher::collect_ties() {
    for (auto const& tie : draft_.ties) {
        auto const from = task_at(tie.from, true), to = task_at(tie.to, false);
        if (to == none) { continue; }
        waiting_.push_back({from, to, tie.why, tie.least});
    }
    draft_.ties.clear();
}

void Finisher::sort_by_end_task() {
    std::vector<std::uint32_t> first(span_.size() + 2);
    for (auto const& edge : waiting_) { ++first[edge.to + 2]; }
    for (std::size_t i = 2; i < first.size(); ++i) { first[i] += first[i - 1]; }
    std::vector<Waiting> sorted(waiting_.size());
    for (auto const& edge : waiting_) { sorted[first[edge.to + 1]++] = edge; }
    waiting_ = std::move(sorted);
}

/// A wait that nobody states: the task begins right after work of another stream has ended, one of the two moves data
/// between ranks or memories, and nothing else explains that it did not begin before.
void Finisher::infer_wait(std::uint32_t task, Ticks ready) {
    Ticks const begin = graph_.begin[task];
    if (begin - ready < unexplained) { return; }
    Ticks const latency = std::max(wait_latency, (begin - ready) / latency_part);
    auto const later = [](Ticks moment, WorkEnd const& work) { return moment < work.end; };
    auto next = std::upper_bound(work_ends_.begin(), work_ends_.end(), begin, later);
    for (; next != work_ends_.begin() && (next - 1)->end + latency >= begin && (next - 1)->end > ready; --next) {
        auto const before = (next - 1)->task;
        bool const moves = graph_.kind[before] != SpanKind::compute || graph_.kind[task] != SpanKind::compute;
        if (before >= task || graph_.lane[before] == graph_.lane[task] || !moves) { continue; }
        graph_.edges.push_back({before, task});
        graph_.edge_kind.push_back(TraceEdge::wait);
        graph_.edge_delay.push_back(0);
        ++draft_.counts.inferred;
        return;
    }
}

/// Times are as they were: of all that a task waits for, the last to be there is late by what nothing explains.
void Finisher::finish_task(std::uint32_t task, std::size_t first, std::size_t last) {
    Ticks const begin = graph_.begin[task];
    auto const kept = graph_.edges.size();
    Ticks ready = draft_.window.begin;
    for (std::size_t i = first; i < last; ++i) {
        auto const& edge = waiting_[i];
        Ticks const room = begin - end_of(edge.from);
        if (edge.from >= task || room < 0) {
            ++draft_.counts.backward;
            continue;
        }
        graph_.edges.push_back({edge.from, task});
        graph_.edge_kind.push_back(edge.why);
        graph_.edge_delay.push_back(std::clamp(edge.least, Ticks{0}, room));
        ready = std::max(ready, begin - room + graph_.edge_delay.back());
    }
    if (is_work(task)) { infer_wait(task, ready); }
    if (graph_.edges.size() == kept) {
        graph_.edges.push_back({0, task});
        graph_.edge_kind.push_back(is_work(task) ? TraceEdge::launch : TraceEdge::handover);
        graph_.edge_delay.push_back(0);
    }
    auto const arrives = [&](std::size_t edge) { return end_of(graph_.edges[edge].from) + graph_.edge_delay[edge]; };
    std::size_t binding = kept;
    for (std::size_t edge = kept + 1; edge < graph_.edges.size(); ++edge) {
        if (arrives(edge) > arrives(binding)) { binding = edge; }
    }
    Ticks const slack = begin - arrives(binding);
    graph_.edge_delay[binding] += slack;
    if (is_work(task) && slack > late_work) {
        ++draft_.counts.late;
        draft_.counts.late_by += slack;
    }
}

void Finisher::finish_edges() {
    std::size_t next = 0;
    for (std::uint32_t task = 0; task < span_.size(); ++task) {
        auto const first = next;
        while (next < waiting_.size() && waiting_[next].to == task) { ++next; }
        if (task > 0) { finish_task(task, first, next); }
    }
}

void Finisher::tell() {
    auto const count = [&](std::size_t number, std::string const& what) {
        if (number > 0) { graph_.notes.push_back(std::to_string(number) + " " + what); }
    };
    auto const& counts = draft_.counts;
    count(draft_.window.without_launch, "intervals of the device have no launch in the file: they wait for their "
                                        "stream alone");
    count(counts.early, "intervals of the device begin before the call that launched them: it is not waited for");
    count(counts.beside, "intervals overlap with earlier work of their own stream, and do not wait for it");
    count(counts.inferred, "waits between streams are inferred: work began right after that of another stream");
    count(counts.by_order,
          "collectives are taken to wait for the kernel launched before them: no events were recorded");
    count(counts.full_queues, "launches waited for room in the queue of the device");
    count(counts.backward, "dependencies led backward in time and are left out");
    if (counts.late > 0) {
        graph_.notes.push_back(std::to_string(counts.late) + " intervals of the device began later than anything " +
                               "known explains, by " + std::to_string(counts.late_by / microsecond) +
                               " us in all: delays of their launch or stream");
    }
}

/// Assigns to each task its run of a collective.
void Finisher::number_collectives(CollectiveRuns const& runs) {
    graph_.collective.assign(span_.size(), -1);
    if (runs.empty()) { return; }
    std::vector<std::int32_t> run_of(trace_.size(), -1);
    for (std::size_t i = 0; i < runs.runs.size(); ++i) { run_of[runs.runs[i].span] = static_cast<std::int32_t>(i); }
    for (std::uint32_t task = 0; task < span_.size(); ++task) {
        if (span_[task] != none && is_work(task)) { graph_.collective[task] = run_of[span_[task]]; }
    }
}

StepGraph Finisher::run(CollectiveRuns const& runs) {
    number_tasks();
    name_tasks();
    number_collectives(runs);
    collect_programs();
    collect_ties();
    sort_by_end_task();
    finish_edges();
    tell();
    return std::move(graph_);
}

} // namespace

StepGraph finished_graph(StepDraft& draft, TraceStep const& step, CollectiveRuns const& runs) {
    return Finisher(draft, step).run(runs);
}

} // namespace headroom::trace::path

namespace headroom::trace {

StepGraph step_graph(RankTrace const& trace, TraceStep const& step, CollectiveRuns const& runs,
                     Launches const& launches) {
    auto draft = path::step_draft(trace, step, launches);
    path::tie_streams(draft);
    path::tie_launches(draft);
    path::tie_stated_waits(draft);
    path::tie_collectives(draft);
    path::tie_synchronizations(draft);
    path::tie_full_queues(draft);
    path::tie_transfers(draft);
    path::tie_threads(draft);
    for (auto& host : draft.hosts) { host.settle(); }
    return path::finished_graph(draft, step, runs);
}

StepGraph step_graph(RankTrace const& trace, TraceStep const& step, CollectiveRuns const& runs) {
    return step_graph(trace, step, runs, Launches{trace});
}

} // namespace headroom::trace
