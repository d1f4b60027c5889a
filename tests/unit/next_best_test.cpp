#include "training/planner/advice.hpp"
#include "training/planner/choose.hpp"

#include <gtest/gtest.h>

namespace headroom::training {
namespace {

TEST(NextBest, WhatIsLessSimpleHasAReason) {
    Strategy const chosen{.tp = 2, .pp = 4, .virtual_pp = 2, .zero = 1};
    auto const because = [&](auto change) {
        Strategy other = chosen;
        change(other);
        return planner::less_simple_because(other, chosen, 8);
    };
    EXPECT_EQ(because([](Strategy& s) { s.zero = 3; }), "ZeRO 3 instead of 1");
    EXPECT_EQ(because([](Strategy& s) { s.virtual_pp = 10; }), "model chunks a stage: 10 instead of 2");
    EXPECT_EQ(because([](Strategy& s) { s.recompute = Recompute::full; }), "more recomputation");
    EXPECT_EQ(because([](Strategy& s) { s.pp = 8; }), "nodes of a replica: 2 instead of 1");
    EXPECT_EQ(because([](Strategy& s) { s.pp = 2, s.cp = 2; }), "parallel dimensions: 3 instead of 2");
    EXPECT_EQ(because([](Strategy& s) { s.dp = 4; }), "");
}

TEST(NextBest, TheReasonOfTheNextBestNamesItsDearestPart) {
    StepTime const chosen{.compute = Seconds{8.0}, .tensor_communication = Seconds{1.0}};
    auto const reason = [&](Seconds compute, Seconds tensor) {
        NextBest const next{
            .strategy = {.tp = 8}, .time = {.compute = compute, .tensor_communication = tensor}, .chosen = chosen};
        return planner::lost_because(next, {.pp = 2}, 8);
    };
    EXPECT_EQ(reason(Seconds{8.1}, Seconds{1.8}),
              "10.0 % slower: exposed tensor-parallel communication takes 1.8 s of its step instead of 1 s");
    EXPECT_EQ(reason(Seconds{7.9}, Seconds{1.0}), "1.11 % faster");
    EXPECT_EQ(reason(Seconds{8.0}, Seconds{1.0}), "as fast");
}

} // namespace
} // namespace headroom::training
