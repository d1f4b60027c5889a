#include "trace/trace_report.hpp"

#include "headroom/document/chrome_trace.hpp"
#include "headroom/trace/trace_clock.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace headroom::cli {
namespace {

constexpr Ticks picoseconds_per_tick = 1000; // ticks of traces are nanoseconds

/// A place of the drawing that an arrow may lead from or to.
struct DrawnTask {
    int process = 0, thread = 0;
    Ticks begin = 0, duration = 0;
};

std::string microseconds(Ticks ns) {
    return ns < 0 ? "-" + microseconds_of(-ns * picoseconds_per_tick) : microseconds_of(ns * picoseconds_per_tick);
}

/// Durations that end no later than the next task of a lane begins: the own time of what nests is drawn where it begins.
std::vector<Ticks> drawn_durations(StepGraph const& graph) {
    std::vector<std::uint32_t> order(graph.cost.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(order, {}, [&](std::uint32_t task) {
        return std::pair{graph.lane[task], graph.begin[task]};
    });
    std::vector<Ticks> durations = graph.cost;
    for (std::size_t i = 0; i + 1 < order.size(); ++i) {
        std::uint32_t const task = order[i], next = order[i + 1];
        if (graph.lane[task] != graph.lane[next]) { continue; }
        durations[task] = std::min(durations[task], graph.begin[next] - graph.begin[task]);
    }
    return durations;
}

void add_rank(ChromeTrace& trace, RankDigest const& rank, int process, Ticks shift, std::vector<DrawnTask>& drawn) {
    StepGraph const& graph = *rank.graph;
    trace.name_process(process, "rank " + std::to_string(rank.rank));
    for (std::size_t lane = 0; lane < graph.lanes.size(); ++lane) {
        trace.name_thread(process, static_cast<int>(lane), graph.lanes[lane]);
    }
    std::vector<Ticks> const durations = drawn_durations(graph);
    drawn.resize(graph.cost.size());
    for (std::size_t task = 0; task < graph.cost.size(); ++task) {
        drawn[task] = {process, static_cast<int>(graph.lane[task]), graph.begin[task] + shift, durations[task]};
        std::string_view const kind = name_of(graph.kind[task]);
        TraceArgument const argument{"kind", kind};
        trace.add({.process = process,
                   .thread = drawn[task].thread,
                   .name = graph.names[graph.name[task]],
                   .category = kind,
                   .begin = microseconds(drawn[task].begin),
                   .duration = microseconds(durations[task])},
                  {&argument, 1});
    }
}

void add_path(ChromeTrace& trace, PathAnswer const& path) {
    trace.name_process(0, "critical path");
    trace.name_thread(0, 0, "critical path");
    std::vector<Ticks> const ends = drawn_ends(path);
    for (std::size_t i = 0; i < path.pieces.size(); ++i) {
        PathPiece const& piece = path.pieces[i];
        std::vector<TraceArgument> const arguments{{"kind", name_of(piece.kind)},
                                                   {"rank", piece.rank},
                                                   {"lane", std::string_view{piece.lane}},
                                                   {"after", name_of(piece.why)},
                                                   {"tasks", std::int64_t{piece.tasks}},
                                                   {"work_ns", piece.duration},
                                                   {"delay_ns", piece.delay}};
        trace.add({.process = 0,
                   .thread = 0,
                   .name = piece.name,
                   .category = name_of(piece.kind),
                   .begin = microseconds(piece.begin),
                   .duration = microseconds(ends[i] - piece.begin)},
                  arguments);
    }
}

/// The last task of a piece: of those on its lane the last that begins before the next piece does.
DrawnTask const& last_of(std::vector<DrawnTask> const& tasks, std::uint32_t first, Ticks next) {
    std::uint32_t last = first;
    for (std::uint32_t task = first + 1; task < tasks.size() && tasks[task].begin < next; ++task) {
        if (tasks[task].thread == tasks[first].thread) { last = task; }
    }
    return tasks[last];
}

/// An arrow from every piece of the path to the one after it.
void add_arrows(ChromeTrace& trace, TraceAnswer const& answer, std::vector<std::vector<DrawnTask>> const& drawn) {
    auto const tasks_of = [&](PathPiece const& piece) -> std::vector<DrawnTask> const* {
        auto const rank = std::ranges::find(answer.ranks, piece.rank, &RankDigest::rank);
        if (rank == answer.ranks.end()) { return nullptr; }
        auto const& tasks = drawn[static_cast<std::size_t>(rank - answer.ranks.begin())];
        return piece.task < tasks.size() ? &tasks : nullptr;
    };
    auto const& pieces = answer.path->pieces;
    for (std::size_t i = 0; i + 1 < pieces.size(); ++i) {
        auto const* const here = tasks_of(pieces[i]);
        auto const* const there = tasks_of(pieces[i + 1]);
        if (here == nullptr || there == nullptr) { continue; }
        DrawnTask const& to = (*there)[pieces[i + 1].task];
        DrawnTask const& from =
            pieces[i].tasks > 1 ? last_of(*here, pieces[i].task, to.begin) : (*here)[pieces[i].task];
        Ticks const leaves =
            from.begin + std::max<Ticks>(0, from.duration - 1); // inside of the task, so that viewers tie it
        trace.add_arrow({.name = "critical path",
                         .number = static_cast<std::int64_t>(i),
                         .from_process = from.process,
                         .from_thread = from.thread,
                         .from_time = microseconds(leaves),
                         .to_process = to.process,
                         .to_thread = to.thread,
                         .to_time = microseconds(to.begin)});
    }
}

} // namespace

std::string analysis_trace(TraceAnswer const& answer) {
    std::size_t tasks = 0;
    for (RankDigest const& rank : answer.ranks) { tasks += rank.graph ? rank.graph->cost.size() : 0; }
    ChromeTrace trace{"time", tasks};
    StepClock const clock = step_clock_of(answer);
    std::vector<std::vector<DrawnTask>> drawn(answer.ranks.size());
    if (answer.path) { add_path(trace, *answer.path); }
    for (std::size_t i = 0; i < answer.ranks.size(); ++i) {
        if (answer.ranks[i].graph) {
            add_rank(trace, answer.ranks[i], static_cast<int>(i) + 1, clock.shift[i], drawn[i]);
        }
    }
    if (answer.path) { add_arrows(trace, answer, drawn); }
    return std::move(trace).text();
}

namespace {

constexpr std::uint32_t nowhere = 0xffffffff;

/// Tasks and lanes of all ranks on their way to a timeline.
class TimelineMaker {
public:
    explicit TimelineMaker(TraceAnswer const& answer) : answer_(answer), clock_(step_clock_of(answer)) {
        for (SpanKind const kind : span_kinds) { timeline_.kinds.emplace_back(kind_words(kind)); }
        lane_of_.resize(answer.ranks.size());
        for (std::size_t i = 0; i < answer.ranks.size(); ++i) {
            if (answer.ranks[i].graph) { add_rank(i); }
        }
        timeline_.end = clock_.end;
    }

    void add_path() {
        if (!answer_.path || answer_.path->pieces.empty()) { return; }
        timeline_.path_name = "critical path";
        std::vector<Ticks> const ends = drawn_ends(*answer_.path);
        for (std::size_t i = 0; i < ends.size(); ++i) {
            PathPiece const& piece = answer_.path->pieces[i];
            timeline_.end = std::max(timeline_.end, ends[i]);
            timeline_.path.push_back({lane_of(piece), name(piece.name), static_cast<std::uint32_t>(piece.kind),
                                      piece.begin, ends[i] - piece.begin});
        }
    }

    /// Leaves the longest tasks, and returns the shortest duration that is left; -1 where all are.
    Ticks limit(std::size_t most) {
        auto& spans = timeline_.spans;
        if (spans.size() <= most) { return -1; }
        std::vector<Ticks> durations;
        for (TimelineSpan const& span : spans) { durations.push_back(span.duration); }
        auto const at = durations.begin() + static_cast<std::ptrdiff_t>(most);
        std::ranges::nth_element(durations, at, std::ranges::greater{});
        std::erase_if(spans, [shortest = *at](TimelineSpan const& span) { return span.duration <= shortest; });
        return *at + 1;
    }

    SpanTimeline& timeline() { return timeline_; }

private:
    std::uint32_t name(std::string const& text) {
        auto const [at, is_new] = names_.try_emplace(text, static_cast<std::uint32_t>(timeline_.names.size()));
        if (is_new) { timeline_.names.push_back(text); }
        return at->second;
    }

    [[nodiscard]] std::uint32_t lane_of(PathPiece const& piece) const {
        auto const rank = std::ranges::find(answer_.ranks, piece.rank, &RankDigest::rank);
        if (rank == answer_.ranks.end() || !rank->graph || piece.task >= rank->graph->lane.size()) { return 0; }
        auto const& lanes = lane_of_[static_cast<std::size_t>(rank - answer_.ranks.begin())];
        std::uint32_t const lane = lanes[rank->graph->lane[piece.task]];
        return lane == nowhere ? 0 : lane;
    }

    void add_rank(std::size_t i) {
        StepGraph const& graph = *answer_.ranks[i].graph;
        std::vector<std::uint32_t> tasks(graph.cost.size()), names;
        std::iota(tasks.begin(), tasks.end(), 0U);
        std::erase_if(tasks, [&](std::uint32_t task) { return graph.cost[task] <= 0; });
        std::ranges::stable_sort(tasks, {}, [&](std::uint32_t task) {
            return std::pair{graph.lane[task], graph.begin[task]};
        });
        for (std::string const& text : graph.names) { names.push_back(name(text)); }
        lane_of_[i].assign(graph.lanes.size(), nowhere);
        for (std::size_t k = 0; k < tasks.size(); ++k) {
            std::uint32_t const task = tasks[k];
            std::uint32_t& lane = lane_of_[i][graph.lane[task]];
            if (lane == nowhere) {
                lane = static_cast<std::uint32_t>(timeline_.lanes.size());
                timeline_.lanes.push_back(
                    {"rank " + std::to_string(answer_.ranks[i].rank), graph.lanes[graph.lane[task]]});
            }
            bool const last = k + 1 == tasks.size() || graph.lane[tasks[k + 1]] != graph.lane[task];
            Ticks const room = last ? graph.cost[task] : graph.begin[tasks[k + 1]] - graph.begin[task];
            timeline_.spans.push_back({lane, names[graph.name[task]], static_cast<std::uint32_t>(graph.kind[task]),
                                       graph.begin[task] + clock_.shift[i], std::min(graph.cost[task], room)});
        }
    }

    TraceAnswer const& answer_;
    StepClock clock_;
    SpanTimeline timeline_;
    std::map<std::string, std::uint32_t> names_;
    std::vector<std::vector<std::uint32_t>> lane_of_; ///< by rank of the answer and lane of its graph
};

} // namespace

std::optional<SpanTimeline> step_timeline(TraceAnswer const& answer, std::size_t most_tasks) {
    TimelineMaker maker(answer);
    SpanTimeline& timeline = maker.timeline();
    if (timeline.lanes.empty()) { return std::nullopt; }
    std::size_t const all = timeline.spans.size();
    Ticks const shortest = maker.limit(most_tasks);
    maker.add_path();
    auto const rank = std::ranges::find_if(answer.ranks, [](RankDigest const& one) { return one.graph.has_value(); });
    timeline.title =
        (answer.step_ns ? "Step " + std::to_string(rank->graph->step.number) : std::string{"The whole file"}) +
        ", lane by lane";
    timeline.file = "step.json";
    timeline.caption =
        "The critical path is the longest chain of work and delays: only what lies on it, in the first row and "
        "underlined in the others, makes the step shorter when it becomes faster. There, tasks of one kind in a row "
        "are "
        "one bar with the delays between them. A call of the host is drawn where nothing runs inside of it.";
    if (shortest >= 0) {
        timeline.caption += " Of " + std::to_string(all) + " intervals the " + std::to_string(timeline.spans.size()) +
                            " of " + time_words(static_cast<double>(shortest)) +
                            " or more are drawn; --timeline FILE writes all.";
    }
    return std::move(timeline);
}

} // namespace headroom::cli
