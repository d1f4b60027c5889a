#include "arguments.hpp"
#include "document/text.hpp"
#include "graph/graph_report.hpp"

#include "headroom/error.hpp"

#include <algorithm>

namespace headroom::cli {
namespace {

/// Tasks placed one after another by all schedules of an answer: for counts that nobody named, and for those named.
constexpr std::size_t most_placements = 10'000'000, most_named_placements = 400'000'000;
constexpr std::size_t most_bins = 240;

// ---- resources ----------------------------------------------------------------------------------------------------

std::vector<std::string> names_of(std::vector<Resource> const& resources) {
    std::vector<std::string> names;
    for (Resource const& resource : resources) {
        names.push_back(resource.name);
        std::string family = family_of(resource.name);
        if (family != resource.name) { names.push_back(std::move(family)); }
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

/// A capacity goes to the resource of that name, or to all of that sort: "port" is "port 0", "port 1", ...
void set_capacity(std::vector<Resource>& resources, std::string const& name, std::int64_t capacity) {
    bool found = false;
    for (Resource& resource : resources) {
        if (normalised(resource.name) != normalised(name) && normalised(family_of(resource.name)) != normalised(name)) {
            continue;
        }
        resource.capacity = capacity;
        found = true;
    }
    if (found) { return; }
    std::string const near = nearest(name, names_of(resources));
    refuse("--resources", "unknown resource " + headroom::quoted(name), "",
           near.empty() ? "choose from " + join(names_of(resources), ", ").substr(0, 200)
                        : "did you mean '" + near + "'?");
}

/// Where a graph names no resources, each kind of task can be given one.
void add_kinds(GraphPlacement& placement, GraphReport const& report) {
    TaskGraph const& graph = report.graph();
    if (graph.kinds.empty()) {
        refuse("--resources", "the graph names neither resources nor kinds of tasks", "", "leave it out");
    }
    for (std::string const& kind : graph.kinds) { placement.resources.push_back({.name = kind, .capacity = 0}); }
    placement.resource_of = graph.kind_of;
    placement.resource_of.resize(graph.dag.size(), 0);
}

void check_kinds(GraphPlacement const& placement, GraphReport const& report) {
    for (KindShare const& share : report.kinds) {
        auto const found = std::find_if(placement.resources.begin(), placement.resources.end(),
                                        [&](Resource const& resource) { return resource.name == share.kind; });
        if (found->capacity == 0) {
            refuse("--resources", "no number for " + headroom::quoted(share.kind),
                   "every kind of task needs a place to run", "add " + std::string{share.kind} + "=1");
        }
    }
}

std::optional<GraphPlacement> placement_of(GraphReport const& report) {
    GraphQuestion const& question = report.question;
    TaskGraph const& graph = question.graph;
    if (graph.resources.empty() && question.capacities.empty()) { return std::nullopt; }
    GraphPlacement placement;
    bool const by_kind = graph.resources.empty();
    if (by_kind) {
        add_kinds(placement, report);
    } else {
        placement.resources = graph.resources;
        placement.resource_of = graph.resource_of;
    }
    for (auto const& [name, capacity] : question.capacities) { set_capacity(placement.resources, name, capacity); }
    if (by_kind) {
        check_kinds(placement, report);
        for (Resource& resource : placement.resources) {
            resource.capacity = std::max<std::int64_t>(1, resource.capacity);
        }
    }
    placement.bounds = resource_bounds(graph.dag, placement.resources, placement.resource_of, report.measured.depth);
    return placement;
}

// ---- schedules ----------------------------------------------------------------------------------------------------

GraphSchedule bounds_on(GraphReport const& report, std::int64_t workers) {
    Ticks const work = report.measured.work, depth = report.measured.depth;
    auto const count = static_cast<double>(workers);
    return {.workers = workers,
            .lower = lower_bound(work, depth, count),
            .brent = brent_bound(work, depth, count),
            .graham = graham_bound(work, depth, count),
            .greedy = std::nullopt};
}

void add_schedules(GraphReport& report, LevelProfile const& profile) {
    GraphQuestion const& question = report.question;
    Dag const& dag = question.graph.dag;
    bool const named = !question.workers.empty();
    std::size_t to_simulate = 0;
    for (std::int64_t const workers :
         named ? question.workers : telling_worker_counts(report.measured.work, report.measured.depth)) {
        report.schedules.push_back(bounds_on(report, workers));
        report.schedules.back().greedy = known_greedy_time(dag, report.measured, profile, workers);
        to_simulate += report.schedules.back().greedy ? 0 : 1;
    }
    std::size_t const places = question.graph.resources.empty() && question.capacities.empty() ? 0 : 1;
    std::size_t const placements = (to_simulate + places) * dag.size();
    if (placements > (named ? most_named_placements : most_placements)) {
        report.notes.push_back(
            "greedy schedules of " + std::to_string(to_simulate) + " worker counts are left out: each places " +
            std::to_string(dag.size()) + " tasks. " +
            (named ? "Name fewer counts to have them" : "Name the counts to have them: --workers 8,64"));
        return;
    }
    for (GraphSchedule& schedule : report.schedules) {
        if (!schedule.greedy) { schedule.greedy = greedy_schedule(dag, schedule.workers, question.order).makespan; }
    }
    if (report.placement) {
        report.placement->greedy =
            greedy_schedule(dag, report.placement->resources, report.placement->resource_of, question.order).makespan;
    }
}

/// On the graph's resources where it has them, else on the most workers that were named, else where depth takes over.
void add_timeline(GraphReport& report) {
    Dag const& dag = report.graph().dag;
    ListOrder const order = report.question.order;
    if (report.placement) {
        report.timeline =
            greedy_schedule(dag, report.placement->resources, report.placement->resource_of, order, true).timeline;
        return;
    }
    auto const crossover = crossover_power_of_two(report.measured.work, report.measured.depth);
    std::int64_t const workers =
        report.question.workers.empty() ? crossover.value_or(1) : report.question.workers.back();
    report.timeline = greedy_schedule(dag, workers, order, true).timeline;
    report.notes.push_back("the timeline shows " + std::to_string(workers) + (workers == 1 ? " worker" : " workers"));
}

} // namespace

std::optional<double> GraphReport::parallelism() const {
    if (measured.depth == 0) { return std::nullopt; }
    return static_cast<double>(measured.work) / static_cast<double>(measured.depth);
}

std::string family_of(std::string const& resource) {
    auto const last = resource.find_last_not_of("0123456789");
    if (last == std::string::npos || last + 1 == resource.size()) { return resource; }
    std::string const family = trimmed(std::string_view{resource}.substr(0, last + 1));
    return family.empty() ? resource : family;
}

GraphReport answer_of(GraphQuestion question, io::Catalog const& catalog) {
    GraphReport report{.catalog = catalog,
                       .question = std::move(question),
                       .measured = {},
                       .burdened_depth = {},
                       .bins = {},
                       .kinds = {},
                       .schedules = {},
                       .placement = {},
                       .notes = {},
                       .timeline = {},
                       .wall_seconds = {}};
    TaskGraph const& graph = report.graph();
    report.measured = measure(graph.dag);
    if (report.question.burden) { report.burdened_depth = measure(graph.dag, *report.question.burden).depth; }
    LevelProfile const profile = level_profile(graph.dag);
    report.levels = profile.tasks.size();
    for (std::uint64_t const tasks : profile.tasks) { report.widest = std::max(report.widest, tasks); }
    report.bins = level_bins(profile, most_bins);
    report.kinds = kind_shares(graph, report.measured);
    report.notes = graph.notes;
    report.placement = placement_of(report);
    add_schedules(report, profile);
    if (report.question.wants_timeline) { add_timeline(report); }
    return report;
}

} // namespace headroom::cli
