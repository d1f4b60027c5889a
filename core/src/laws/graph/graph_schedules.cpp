#include "headroom/laws/graph_answer.hpp"

#include <algorithm>

namespace headroom::laws {
namespace {

/// Tasks placed one after another by all schedules of an answer: for counts that nobody named, and for those named.
constexpr std::size_t most_placements = 10'000'000, most_named_placements = 400'000'000;
constexpr std::size_t most_bins = 240;

ScheduleResult placed_schedule(GraphAnswer const& answer, bool with_timeline) {
    GraphQuestion const& question = answer.question;
    return greedy_schedule(question.graph.dag, question.resources, question.resource_of, question.order, with_timeline);
}

void add_schedules(GraphAnswer& answer, LevelProfile const& profile) {
    GraphQuestion const& question = answer.question;
    Dag const& dag = question.graph.dag;
    Ticks const work = answer.measured.work, depth = answer.measured.depth;
    bool const named = !question.workers.empty();
    std::size_t to_simulate = 0;
    for (std::int64_t const workers : named ? question.workers : telling_worker_counts(work, depth)) {
        auto const count = static_cast<double>(workers);
        answer.schedules.push_back({.workers = workers,
                                    .lower = lower_bound(work, depth, count),
                                    .brent = brent_bound(work, depth, count),
                                    .graham = graham_bound(work, depth, count),
                                    .greedy = known_greedy_time(dag, answer.measured, profile, workers)});
        to_simulate += answer.schedules.back().greedy ? 0 : 1;
    }
    std::size_t const placements = (to_simulate + (answer.placement ? 1 : 0)) * dag.size();
    if (placements > (named ? most_named_placements : most_placements)) {
        answer.skipped = SkippedSchedules{to_simulate, named};
        return;
    }
    for (GraphSchedule& schedule : answer.schedules) {
        if (!schedule.greedy) { schedule.greedy = greedy_schedule(dag, schedule.workers, question.order).makespan; }
    }
    if (answer.placement) { answer.placement->greedy = placed_schedule(answer, false).makespan; }
}

/// On the graph's resources where it has them, else on the most workers that were named, else where depth takes over.
void add_timeline(GraphAnswer& answer) {
    if (answer.placement) {
        answer.timeline = placed_schedule(answer, true).timeline;
        return;
    }
    auto const crossover = crossover_power_of_two(answer.measured.work, answer.measured.depth);
    GraphQuestion const& question = answer.question;
    answer.timeline_workers = question.workers.empty() ? crossover.value_or(1) : question.workers.back();
    answer.timeline = greedy_schedule(question.graph.dag, *answer.timeline_workers, question.order, true).timeline;
}

double ratio(Ticks part, Ticks whole) { return static_cast<double>(part) / static_cast<double>(whole); }

} // namespace

std::optional<double> GraphAnswer::parallelism() const {
    return measured.depth == 0 ? std::nullopt : std::optional{ratio(measured.work, measured.depth)};
}

std::optional<double> GraphAnswer::speedup(std::optional<Ticks> greedy) const {
    return greedy && *greedy > 0 ? std::optional{ratio(measured.work, *greedy)} : std::nullopt;
}

std::optional<double> GraphAnswer::over_ideal(GraphSchedule const& schedule) const {
    auto const busy = utilization(schedule);
    return busy && *busy > 0.0 ? std::optional{1.0 / *busy} : std::nullopt;
}

std::optional<double> GraphAnswer::worker_hours(GraphSchedule const& schedule) const {
    if (graph().unit != "seconds" || !schedule.greedy) { return std::nullopt; }
    return static_cast<double>(schedule.workers) * amount(*schedule.greedy) / 3600.0;
}

std::optional<double> GraphAnswer::utilization(GraphSchedule const& schedule) const {
    if (!schedule.greedy || *schedule.greedy == 0) { return std::nullopt; }
    return static_cast<double>(measured.work) /
           (static_cast<double>(schedule.workers) * static_cast<double>(*schedule.greedy));
}

std::optional<double> GraphAnswer::busy_share(std::size_t resource) const {
    if (!placement || placement->greedy.value_or(0) == 0) { return std::nullopt; }
    double const places = static_cast<double>(question.resources[resource].capacity);
    return static_cast<double>(placement->bounds.work[resource]) / (places * static_cast<double>(*placement->greedy));
}

std::optional<std::size_t> GraphAnswer::efficient_row() const {
    auto const work = static_cast<double>(measured.work);
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < schedules.size(); ++i) {
        double const time = schedules[i].greedy ? static_cast<double>(*schedules[i].greedy) : schedules[i].graham;
        if (work > 0.0 && work >= question.efficiency * time * static_cast<double>(schedules[i].workers)) { best = i; }
    }
    return best;
}

std::string_view kind_name(TaskGraph const& graph, TaskId task) {
    if (graph.kinds.empty()) { return {}; }
    return graph.kinds[graph.kind_of.empty() ? 0 : graph.kind_of[task]];
}

GraphAnswer answer_of(GraphQuestion question) {
    GraphAnswer answer{.question = std::move(question)};
    TaskGraph const& graph = answer.graph();
    answer.measured = dag_measure(graph.dag);
    if (answer.question.burden) { answer.burdened_depth = dag_measure(graph.dag, *answer.question.burden).depth; }
    LevelProfile const profile = level_profile(graph.dag);
    answer.levels = profile.tasks.size();
    for (std::uint64_t const tasks : profile.tasks) { answer.widest = std::max(answer.widest, tasks); }
    answer.bins = level_bins(profile, most_bins);
    answer.kinds = kind_shares(graph, answer.measured);
    answer.notes = graph.notes;
    if (!answer.question.resources.empty()) {
        answer.placement = GraphPlacement{
            resource_bounds(graph.dag, answer.question.resources, answer.question.resource_of, answer.measured.depth),
            {}};
    }
    add_schedules(answer, profile);
    if (answer.question.wants_timeline) { add_timeline(answer); }
    return answer;
}

} // namespace headroom::laws
