#include "training/simulation/one_stage_clock.hpp"

#include <gtest/gtest.h>

namespace headroom::training::simulation {

using namespace headroom::training;

namespace {

constexpr double exact = 1e-9;
std::span<Queued const> const nothing;

void run(StageClock& clock, Leg const& leg, std::span<Queued const> queued = nothing) {
    clock.run(leg, 1.0, 0, queued);
}

Leg kernels(double seconds) {
    Leg leg;
    leg.kernels = leg.last = seconds;
    leg.ends = {seconds};
    return leg;
}

TEST(StageClock, KernelsBesideTrafficLoseTheirShareWhileItLasts) {
    // Expectation: 2 s of traffic have 1.5 s of kernels done at three quarters of their rate; the rest runs alone.
    StageClock clock{StageRules{.loss = 0.25}};
    clock.queue(2.0);
    run(clock, kernels(4.0));
    EXPECT_NEAR(clock.now(), 4.5, exact);
    EXPECT_NEAR(clock.drained(), clock.now(), exact);
}

TEST(StageClock, WhatIsHiddenIsWaitedForByTheNextKernel) {
    StageClock clock{StageRules{}};
    Leg leg = kernels(2.0);
    leg.beside = {3.0, 0.0, 2.5};
    run(clock, leg);
    EXPECT_NEAR(clock.computed(), 2.0, exact);
    EXPECT_NEAR(clock.now(), 3.0, exact);
    run(clock, kernels(1.0));
    EXPECT_NEAR(clock.now(), 4.0, exact);
}

TEST(StageClock, CollectivesAndTrafficThatLeaveShareTheAdapter) {
    // Expectation: 1 s of each take 2 s together; the collective of another NIC is not in anybody's way.
    for (bool const leaves : {true, false}) {
        StageClock clock{StageRules{.data_leaves = true, .leaves = {leaves, false, false}}};
        clock.queue(1.0);
        Leg leg;
        leg.shown = {1.0, 0.0, 0.0};
        run(clock, leg);
        EXPECT_NEAR(clock.now(), leaves ? 2.0 : 1.0, exact);
        EXPECT_NEAR(clock.drained(), clock.now(), exact);
    }
}

TEST(StageClock, TrafficBeginsWhenTheLastKernelHasEndedThoughACollectiveFollows) {
    StageClock clock{StageRules{}};
    Leg leg = kernels(1.0);
    leg.shown = {5.0, 0.0, 0.0};
    run(clock, leg);
    clock.queue(3.0);
    EXPECT_NEAR(clock.now(), 6.0, exact);
    clock.wait_for_traffic(clock.queued());
    EXPECT_NEAR(clock.now(), 6.0, exact); // it was through at 4 s
    clock.queue(4.0);
    clock.wait_for_traffic(clock.queued());
    EXPECT_NEAR(clock.now(), 8.0, exact);
}

TEST(StageClock, KernelsRunNoFasterThanTheHostIssuesThem) {
    // Expectation: the first is issued at 1 s; each of the others when 2 s more have passed, and the last runs for one.
    StageClock clock{StageRules{}};
    Leg leg;
    leg.launch = 1.0, leg.issue = 6.0, leg.kernels = 4.0, leg.last = 1.0, leg.ends = {1.0, 2.0, 3.0, 4.0};
    run(clock, leg);
    EXPECT_NEAR(clock.now(), 8.0, exact);
}

TEST(StageClock, AHostThatIsLateMakesUpForWhatTrafficTakes) {
    StageClock late{StageRules{.loss = 0.5}}, early{StageRules{.loss = 0.5}};
    Leg leg;
    leg.launch = 0.0, leg.issue = 6.0, leg.kernels = 4.0, leg.last = 1.0, leg.ends = {1.0, 2.0, 3.0, 4.0};
    early.queue(2.0), late.queue(2.0);
    run(late, leg);
    leg.issue = 1e-6;
    run(early, leg);
    EXPECT_NEAR(late.now(), 7.0, exact); // as without traffic
    EXPECT_NEAR(early.now(), 5.0, 1e-5);
}

TEST(StageClock, AWaitForTheHostIsNotSlowedAndTheHostStandsStill) {
    StageClock clock{StageRules{.loss = 0.5}};
    Leg wait;
    wait.launch = 1.0, wait.late = 2.0, wait.standing = 2.0, wait.waits = true;
    clock.queue(10.0);
    run(clock, wait);
    EXPECT_NEAR(clock.computed(), 3.0, exact);
    Leg next = kernels(1e-9);
    next.launch = 0.5;
    run(clock, next);
    EXPECT_NEAR(clock.now(), 3.5, 1e-8);
    clock.hold_host(7.0);
    run(clock, next);
    EXPECT_NEAR(clock.now(), 7.5, 1e-8);
}

TEST(StageClock, BucketsAreQueuedWhenTheirKernelsHaveEnded) {
    // Expectation: two kernels of 1 s, the bucket is ready after the first: the second takes twice as long.
    StageClock clock{StageRules{.loss = 0.5}};
    Leg leg;
    leg.kernels = 2.0, leg.last = 1.0, leg.ends = {1.0, 2.0};
    std::vector<Queued> const queued{{.after = 1, .seconds = 10.0}};
    run(clock, leg, queued);
    EXPECT_NEAR(clock.now(), 3.0, exact);
    EXPECT_NEAR(clock.drained(), 11.0, exact);
}

TEST(StageClock, CopiesFollowTheirGradientsOneAfterTheOther) {
    // Expectation: gradients are through at 1 and 3 s; copies of 1.5 s end at 2.5 s and 4.5 s.
    StageClock clock{StageRules{}};
    clock.queue(1.0);
    clock.copy_behind(clock.queued(), clock.computed(), 1.5);
    clock.queue(2.0);
    clock.copy_behind(clock.queued(), clock.computed(), 1.5);
    clock.wait_for_traffic(clock.queued());
    EXPECT_NEAR(clock.copied(0.0), 4.5, exact);
    EXPECT_NEAR(clock.copied(10.0), 13.0, exact);
}

TEST(LegsOfAPass, KernelsThatHideNothingAreOneAndTheOrderOfCollectivesIsKept) {
    UnitPass pass;
    auto const add = [&pass](Role role, WorkKind kind, Ticks cost, Ticks launch = 0) -> PassItem& {
        return pass.items.emplace_back(PassItem{.cost = cost, .role = role, .kind = kind, .launch = launch});
    };
    constexpr Ticks second = 1'000'000'000'000;
    add(Role::compute, WorkKind::gemm, 2 * second, second);
    add(Role::compute, WorkKind::memory, 3 * second, 4 * second);
    add(Role::compute, WorkKind::gemm, second).beside[0] = second;
    add(Role::experts, WorkKind::experts, second);
    add(Role::tensor, WorkKind::tensor, 2 * second);
    add(Role::compute, WorkKind::launch, second, second);
    auto const legs = legs_of(pass);
    ASSERT_EQ(legs.size(), 4U);
    EXPECT_EQ(legs[0].launch, 1.0);
    EXPECT_EQ(legs[0].issue, 4.0);
    EXPECT_EQ(legs[0].ends, (std::vector<double>{2.0, 5.0}));
    EXPECT_EQ(legs[1].beside[0], 1.0);
    EXPECT_EQ(legs[1].shown[2], 1.0);
    EXPECT_EQ(legs[2].shown[0], 2.0);
    EXPECT_TRUE(legs[3].waits);
}

} // namespace
} // namespace headroom::training::simulation
