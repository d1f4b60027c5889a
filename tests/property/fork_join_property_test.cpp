#include "support/fake_clock.hpp"
#include "support/random.hpp"

#include "headroom/laws/dag.hpp"
#include "headroom/probe/fork_join.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace headroom::probe {

using namespace headroom::laws;

namespace {

using test::CounterRandom;
using test::FakeClock;
using FakeScope = BasicScope<Recording<FakeClock>>;

/// A random fork-join program: what a task does, step by step.
struct Program;
struct Step {
    enum class Kind { work, spawn, spawn_above, sync, call } kind = Kind::work;
    std::int64_t cost = 0;
    std::unique_ptr<Program> body = {}; ///< of a child, or of a call with a scope of its own
};
struct Program {
    std::vector<Step> steps;
};

Program random_program(CounterRandom& random, int depth) {
    Program program;
    for (int steps = random.below(7); steps > 0; --steps) {
        Step step{.kind = static_cast<Step::Kind>(random.below(5)), .cost = random.below(40)};
        bool const has_body = step.kind != Step::Kind::work && step.kind != Step::Kind::sync;
        if (has_body && depth == 0) { step.kind = Step::Kind::work; }
        if (has_body && depth > 0) { step.body = std::make_unique<Program>(random_program(random, depth - 1)); }
        program.steps.push_back(std::move(step));
    }
    return program;
}

// ---- run it -------------------------------------------------------------------------------------------------------

void run(Program const& program, FakeScope* above) {
    FakeScope scope;
    for (Step const& step : program.steps) {
        FakeScope& into = step.kind == Step::Kind::spawn_above && above != nullptr ? *above : scope;
        switch (step.kind) {
        case Step::Kind::work: FakeClock::pass(step.cost); break;
        case Step::Kind::sync: scope.sync(); break;
        case Step::Kind::call: run(*step.body, &scope); break;
        case Step::Kind::spawn:
        case Step::Kind::spawn_above: into.spawn([&step, &into] { run(*step.body, &into); }); break;
        }
    }
}

// ---- unroll it ----------------------------------------------------------------------------------------------------

/// The strands of a program and what waits for what, in an order in which everything comes after what it waits for.
struct Strands {
    std::vector<std::int64_t> costs;
    std::vector<std::vector<std::size_t>> waits_for;
    std::uint64_t spawns = 0;
    std::uint64_t syncs = 0;

    std::size_t add(std::vector<std::size_t> before) {
        costs.push_back(0);
        waits_for.push_back(std::move(before));
        return costs.size() - 1;
    }
};

/// Appends a task that goes on in strand `at`; `above` collects the last strands of what it spawns there. Returns its
/// own last strand.
std::size_t unroll(Program const& program, Strands& strands, std::size_t at, std::vector<std::size_t>* above) {
    std::vector<std::size_t> ends;
    auto const sync = [&] {
        if (ends.empty()) { return; }
        ends.push_back(at);
        at = strands.add(std::exchange(ends, {}));
        ++strands.syncs;
    };
    for (Step const& step : program.steps) {
        auto& into = step.kind == Step::Kind::spawn_above && above != nullptr ? *above : ends;
        if (step.kind == Step::Kind::work) { strands.costs[at] += step.cost; }
        if (step.kind == Step::Kind::sync) { sync(); }
        if (step.kind == Step::Kind::call) { at = unroll(*step.body, strands, at, &ends); }
        if (step.kind == Step::Kind::spawn || step.kind == Step::Kind::spawn_above) {
            ++strands.spawns;
            std::size_t const child = strands.add({at});
            std::size_t const end = unroll(*step.body, strands, child, &into);
            into.push_back(end);
            at = strands.add({at});
        }
    }
    sync();
    return at;
}

std::int64_t longest_path(Strands const& strands, std::int64_t burden) {
    std::vector<std::int64_t> end(strands.costs.size(), 0);
    for (std::size_t strand = 0; strand < end.size(); ++strand) {
        for (std::size_t const before : strands.waits_for[strand]) {
            end[strand] = std::max(end[strand], end[before] + burden);
        }
        end[strand] += strands.costs[strand];
    }
    return end.empty() ? 0 : *std::max_element(end.begin(), end.end());
}

Dag graph_of(Strands const& strands) {
    std::vector<Edge> edges;
    for (std::size_t strand = 0; strand < strands.costs.size(); ++strand) {
        for (std::size_t const before : strands.waits_for[strand]) {
            edges.push_back({static_cast<TaskId>(before), static_cast<TaskId>(strand)});
        }
    }
    return build_dag(strands.costs, edges).dag;
}

std::int64_t ticks(double seconds) { return std::llround(seconds * 1e9); }

RC_GTEST_PROP(ForkJoinProperty, WhatIsRecordedIsThatOfTheUnrolledGraph, ()) {
    auto const seed = *rc::gen::arbitrary<std::uint64_t>();
    int const workers = *rc::gen::element(1, 1, 2, 4);
    std::int64_t const burden = *rc::gen::inRange(0, 50);
    CounterRandom random{seed};
    Program const program = random_program(random, 4);
    RC_LOG() << "seed " << seed << ", workers " << workers << ", burden " << burden << '\n';

    Record const record = probe::record<FakeClock>(
        [&] { run(program, nullptr); }, {.workers = workers, .burden_seconds = 1e-9 * static_cast<double>(burden)});

    Strands strands;
    unroll(program, strands, strands.add({}), nullptr);
    std::int64_t work = 0;
    for (std::int64_t const cost : strands.costs) { work += cost; }
    RC_ASSERT(ticks(record.work_seconds) == work);
    RC_ASSERT(ticks(record.span_seconds) == longest_path(strands, 0));
    RC_ASSERT(ticks(record.burdened_span_seconds) == longest_path(strands, burden));
    DagMeasure const plain = dag_measure(graph_of(strands));
    RC_ASSERT(ticks(record.work_seconds) == plain.work);
    RC_ASSERT(ticks(record.span_seconds) == plain.depth);
    RC_ASSERT(ticks(record.burdened_span_seconds) == dag_measure(graph_of(strands), burden).depth);
    RC_ASSERT(record.spawns == strands.spawns);
    RC_ASSERT(record.syncs == strands.syncs);
    RC_ASSERT(probe::strands(record) == strands.costs.size());
}

RC_GTEST_PROP(ForkJoinProperty, PredictionsAreOrderedAndGrowWithWorkers, ()) {
    double const span = *rc::gen::inRange(1, 1000);
    double const burdened = span + *rc::gen::inRange(0, 1000);
    double const work = span + *rc::gen::inRange(0, 100'000);
    int const workers = *rc::gen::inRange(1, 2000);
    Record const record{.work_seconds = work, .span_seconds = span, .burdened_span_seconds = burdened};
    constexpr double slack = 1.0 + 1e-12;
    auto const range = predicted_speedup(record, workers);
    auto const more = predicted_speedup(record, workers + 1);
    RC_ASSERT(range->at_least <= slack * range->at_most);
    RC_ASSERT(range->burdened <= slack * range->at_least);
    RC_ASSERT(range->at_most <= slack * more->at_most);
    RC_ASSERT(range->at_least <= slack * more->at_least);
    RC_ASSERT(range->at_most <= slack * *parallelism(record));
}

} // namespace
} // namespace headroom::probe
