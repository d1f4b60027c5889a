#include "support/random_graphs.hpp"

#include "headroom/laws/schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

namespace headroom {

using namespace headroom::laws;

namespace {

using test::CounterRandom;
using test::RawGraph;

constexpr std::uint64_t graphs = 4000;
constexpr std::array orders{ListOrder::arrival, ListOrder::longest_path};

/// A graph, and resources for its tasks.
struct Job {
    RawGraph graph;
    Dag dag;
    std::vector<Resource> resources;
    std::vector<std::uint16_t> resource_of;

    [[nodiscard]] Ticks work() const { return dag_measure(dag).work; }
    [[nodiscard]] Ticks depth() const { return dag_measure(dag).depth; }
    [[nodiscard]] Ticks work_of(std::size_t resource) const {
        Ticks sum = 0;
        for (std::size_t v = 0; v < graph.size(); ++v) { sum += resource_of[v] == resource ? graph.costs[v] : 0; }
        return sum;
    }
};

Job random_job(std::uint64_t seed, int most_tasks) {
    Job job{.graph = test::random_graph(seed, most_tasks), .dag = {}, .resources = {}, .resource_of = {}};
    DagResult built = build_dag(job.graph.costs, job.graph.edges);
    EXPECT_FALSE(built.fault);
    job.dag = std::move(built.dag);
    CounterRandom random{~seed};
    int const resources = 1 + random.below(4);
    for (int r = 0; r < resources; ++r) {
        job.resources.push_back({"resource " + std::to_string(r), 1 + random.below(4)});
    }
    for (std::size_t v = 0; v < job.graph.size(); ++v) {
        job.resource_of.push_back(static_cast<std::uint16_t>(random.below(resources)));
    }
    return job;
}

template <class Check> void for_random_jobs(int most_tasks, Check check) {
    for (std::uint64_t seed = 0; seed < graphs && !testing::Test::HasFailure(); ++seed) {
        Job const job = random_job(seed, most_tasks);
        SCOPED_TRACE(test::name_of(seed, job.graph));
        for (ListOrder const order : orders) { check(job, order); }
    }
}

// ---- bounds, in whole ticks ----------------------------------------------------------------------------------------

TEST(ScheduleProperty, GreedyKeepsGrahamsBound) {
    for_random_jobs(150, [](Job const& job, ListOrder order) {
        Ticks const work = job.work(), depth = job.depth();
        for (std::int64_t const workers : {1, 2, 3, 4, 7, 16, 61, 1000}) {
            Ticks const time = greedy_schedule(job.dag, workers, order).makespan;
            ASSERT_LE(workers * time, work + (workers - 1) * depth) << workers << " workers";
            ASSERT_GE(workers * time, work) << workers << " workers";
            ASSERT_GE(time, depth) << workers << " workers";
        }
    });
}

TEST(ScheduleProperty, OneWorkerTakesTheWorkAndEnoughTakeTheDepth) {
    for_random_jobs(150, [](Job const& job, ListOrder order) {
        auto const enough = static_cast<std::int64_t>(job.dag.size());
        ASSERT_EQ(greedy_schedule(job.dag, 1, order).makespan, job.work());
        ASSERT_EQ(greedy_schedule(job.dag, enough, order).makespan, job.depth());
        ASSERT_EQ(greedy_schedule(job.dag, std::int64_t{1} << 62, order).makespan, job.depth());
    });
}

TEST(ScheduleProperty, ResourcesKeepTheirBound) {
    for_random_jobs(150, [](Job const& job, ListOrder order) {
        Ticks const time = greedy_schedule(job.dag, job.resources, job.resource_of, order).makespan;
        Ticks const depth = job.depth();
        Ticks const twelve = 12; // a multiple of every capacity here
        Ticks most = twelve * depth;
        for (std::size_t r = 0; r < job.resources.size(); ++r) {
            Ticks const work = job.work_of(r), capacity = job.resources[r].capacity;
            most += twelve / capacity * work;
            ASSERT_GE(capacity * time, work);
        }
        ASSERT_LE(twelve * time, most);
        ASSERT_GE(time, depth);
    });
}

TEST(ScheduleProperty, OneResourceIsEqualWorkers) {
    for_random_jobs(60, [](Job const& job, ListOrder order) {
        std::array const pool{Resource{"worker", 3}};
        std::vector<std::uint16_t> const all(job.graph.size(), 0);
        ScheduleResult const typed = greedy_schedule(job.dag, pool, all, order, true);
        ScheduleResult const equal = greedy_schedule(job.dag, 3, order, true);
        ASSERT_EQ(typed.makespan, equal.makespan);
        ASSERT_EQ(typed.utilization, equal.utilization);
        ASSERT_EQ(typed.timeline.name, equal.timeline.name);
        ASSERT_EQ(typed.timeline.begin, equal.timeline.begin);
        ASSERT_EQ(typed.timeline.lane, equal.timeline.lane);
        ASSERT_EQ(typed.timeline.lanes, equal.timeline.lanes);
    });
}

// ---- the timeline --------------------------------------------------------------------------------------------------

/// When and where each task ran, by task.
struct Placed {
    std::vector<Ticks> begin, end;
    std::vector<std::uint32_t> lane;
};

Placed placed(Job const& job, Timeline const& timeline) {
    Placed result{std::vector<Ticks>(job.graph.size(), -1), std::vector<Ticks>(job.graph.size(), -1),
                  std::vector<std::uint32_t>(job.graph.size())};
    EXPECT_EQ(timeline.size(), job.graph.size());
    for (std::size_t i = 0; i < timeline.size(); ++i) {
        std::uint32_t const task = timeline.name[i];
        EXPECT_EQ(result.begin.at(task), -1) << "task " << task << " ran twice";
        EXPECT_LT(timeline.lane[i], timeline.lanes.size());
        result.begin[task] = timeline.begin[i];
        result.end[task] = timeline.end[i];
        result.lane[task] = timeline.lane[i];
    }
    return result;
}

void expect_no_overlap(Timeline const& timeline) {
    std::vector<std::tuple<std::uint32_t, Ticks, Ticks>> intervals;
    for (std::size_t i = 0; i < timeline.size(); ++i) {
        intervals.emplace_back(timeline.lane[i], timeline.begin[i], timeline.end[i]);
    }
    std::ranges::sort(intervals);
    for (std::size_t i = 1; i < intervals.size(); ++i) {
        auto const& [lane, begin, end] = intervals[i];
        auto const& [lane_before, begin_before, end_before] = intervals[i - 1];
        ASSERT_TRUE(lane != lane_before || end_before <= begin) << "lane " << lane << " at " << begin;
    }
}

TEST(ScheduleProperty, TimelineRespectsOrderCostsAndLanes) {
    for_random_jobs(60, [](Job const& job, ListOrder order) {
        ScheduleResult const result = greedy_schedule(job.dag, job.resources, job.resource_of, order, true);
        expect_no_overlap(result.timeline);
        ASSERT_TRUE(std::ranges::is_sorted(result.timeline.begin));
        Placed const at = placed(job, result.timeline);
        for (std::size_t v = 0; v < job.graph.size(); ++v) {
            ASSERT_EQ(at.end[v] - at.begin[v], job.graph.costs[v]);
            ASSERT_EQ(result.timeline.lanes[at.lane[v]].find(job.resources[job.resource_of[v]].name), 0U);
        }
        for (Edge const& edge : job.graph.edges) { ASSERT_LE(at.end[edge.from], at.begin[edge.to]); }
        ASSERT_EQ(result.makespan, std::ranges::max(at.end));
        std::set<std::string> const different(result.timeline.lanes.begin(), result.timeline.lanes.end());
        ASSERT_EQ(different.size(), result.timeline.lanes.size());
        std::int64_t units = 0;
        for (Resource const& resource : job.resources) { units += resource.capacity; }
        double const busy =
            result.makespan > 0 ? static_cast<double>(job.work()) / static_cast<double>(result.makespan) : 0;
        ASSERT_NEAR(result.utilization, busy / static_cast<double>(units), 1e-12);
    });
}

TEST(ScheduleProperty, NothingWaitsWhileItsResourceIsFree) {
    for_random_jobs(40, [](Job const& job, ListOrder order) {
        ScheduleResult const result = greedy_schedule(job.dag, job.resources, job.resource_of, order, true);
        Placed const at = placed(job, result.timeline);
        std::vector<Ticks> ready(job.graph.size(), 0);
        for (Edge const& edge : job.graph.edges) { ready[edge.to] = std::max(ready[edge.to], at.end[edge.from]); }
        for (std::size_t v = 0; v < job.graph.size(); ++v) {
            Ticks busy = 0;
            for (std::size_t other = 0; other < job.graph.size(); ++other) {
                if (job.resource_of[other] != job.resource_of[v]) { continue; }
                busy += std::max(Ticks{0}, std::min(at.end[other], at.begin[v]) - std::max(at.begin[other], ready[v]));
            }
            ASSERT_EQ(busy, job.resources[job.resource_of[v]].capacity * (at.begin[v] - ready[v])) << "task " << v;
        }
    });
}

// ---- against a scheduler written for reading -----------------------------------------------------------------------

/// The documented schedule, step by step: every set is searched from end to end, every number is the given one.
struct Reference {
    Job const& job;
    std::vector<Ticks> way; ///< by task, the longest to the end of the graph; empty: by arrival
    Timeline timeline = {}; ///< lanes are units of their resource, not yet of all
    std::vector<std::pair<Ticks, TaskId>> ready = {};
    std::vector<std::tuple<Ticks, TaskId, std::uint32_t>> running = {};
    std::vector<std::size_t> waits = {};
    Ticks now = 0;
    Ticks round = 0;

    /// Smaller values go first; ties go to the smaller number.
    void put(TaskId task) { ready.emplace_back(way.empty() ? round : -way[task], task); }

    void run() {
        waits.assign(job.graph.size(), 0);
        for (Edge const& edge : job.graph.edges) { ++waits[edge.to]; }
        for (TaskId v = 0; v < job.graph.size(); ++v) {
            if (waits[v] == 0) { put(v); }
        }
        start();
        while (!running.empty()) {
            now = std::get<0>(*std::ranges::min_element(running));
            end();
            start();
        }
    }

    void end() {
        ++round;
        for (TaskId v = 0; v < job.graph.size(); ++v) { // by number, so that what they release arrives together
            auto const found = std::ranges::find_if(
                running, [&](auto const& r) { return std::get<0>(r) == now && std::get<1>(r) == v; });
            if (found == running.end()) { continue; }
            running.erase(found);
            for (Edge const& edge : job.graph.edges) {
                if (edge.from == v && --waits[edge.to] == 0) { put(edge.to); }
            }
        }
    }

    void start() {
        std::ranges::sort(ready);
        for (std::uint16_t r = 0; r < job.resources.size(); ++r) {
            for (auto next = ready.begin(); next != ready.end();) {
                auto const unit = free_unit(r);
                if (job.resource_of[next->second] != r || unit == job.resources[r].capacity) {
                    ++next;
                    continue;
                }
                place(next->second, static_cast<std::uint32_t>(unit));
                next = ready.erase(next);
            }
        }
    }

    [[nodiscard]] std::int64_t free_unit(std::uint16_t r) const {
        std::int64_t unit = 0;
        auto const is_busy = [&](auto const& run) {
            return job.resource_of[std::get<1>(run)] == r && std::get<2>(run) == unit;
        };
        while (std::ranges::any_of(running, is_busy)) { ++unit; }
        return unit;
    }

    void place(TaskId task, std::uint32_t unit) {
        running.emplace_back(now + job.graph.costs[task], task, unit);
        timeline.begin.push_back(now);
        timeline.name.push_back(task);
        timeline.lane.push_back(unit);
    }
};

/// The longest way from each task to the end of the graph, by relaxing every edge until nothing changes.
std::vector<Ticks> ways_to_the_end(RawGraph const& graph) {
    std::vector<Ticks> way = graph.costs;
    for (bool changed = true; changed;) {
        changed = false;
        for (Edge const& edge : graph.edges) {
            Ticks const longer = graph.costs[edge.from] + way[edge.to];
            changed |= longer > way[edge.from];
            way[edge.from] = std::max(way[edge.from], longer);
        }
    }
    return way;
}

TEST(ScheduleProperty, IsTheDocumentedOne) {
    for_random_jobs(30, [](Job const& job, ListOrder order) {
        Reference reference{.job = job, .way = {}};
        if (order == ListOrder::longest_path) { reference.way = ways_to_the_end(job.graph); }
        reference.run();
        Timeline const timeline = greedy_schedule(job.dag, job.resources, job.resource_of, order, true).timeline;
        ASSERT_EQ(timeline.name, reference.timeline.name);
        ASSERT_EQ(timeline.begin, reference.timeline.begin);
        for (std::size_t i = 0; i < timeline.size(); ++i) {
            Resource const& resource = job.resources[job.resource_of[timeline.name[i]]];
            std::string const unit = resource.capacity == 1 ? "" : " " + std::to_string(reference.timeline.lane[i]);
            ASSERT_EQ(timeline.lanes[timeline.lane[i]], resource.name + unit);
        }
    });
}

} // namespace
} // namespace headroom
