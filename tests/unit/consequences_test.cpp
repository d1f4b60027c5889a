#include "support/training.hpp"

#include "headroom/training/consequences.hpp"

#include <gtest/gtest.h>

#include <string>

namespace headroom {

using namespace headroom::training;

namespace {

std::string said(std::string const& field, Strategy const& strategy, Model const& model, Workload const& workload,
                 int domain = 8) {
    for (auto const& one : consequences(strategy, model, workload, domain)) {
        EXPECT_FALSE(one.structural) << "nothing is decided here";
        if (one.field == field) { return one.value + ": " + one.reason; }
    }
    return {};
}

constexpr Workload usual{.sequence_length = 4096, .global_batch = 256};

TEST(Consequences, NameStagesThatAreUneven) {
    Model const model = training::catalog().model("deepseek-v3"); // 61 layers, the ends lighter
    EXPECT_EQ(said("stages", {.pp = 4}, model, usual), "uneven: 61 layers over 4 stages: 15, 16, 16, 14");
    EXPECT_EQ(said("stages", {.pp = 16}, model, usual), "uneven: 61 layers over 16 stages: 3, 14 stages of 4, 2");
    EXPECT_EQ(said("stages", {.pp = 61}, model, usual), "");
    EXPECT_EQ(said("stages", {.pp = 1}, model, usual), "");
}

TEST(Consequences, NameAWindowThatIsNeverFilled) {
    Model model = training::catalog().model("llama-3-8b");
    model.window = 4096;
    EXPECT_NE(said("window", {}, model, usual), "");
    EXPECT_EQ(said("window", {}, model, {.sequence_length = 8192, .global_batch = 1}), "");
    EXPECT_NE(said("window", {}, model, {.sequence_length = 8192, .global_batch = 1, .documents = 2048}), "");
}

TEST(Consequences, SayHowExpertsAreSpread) {
    Model const model = training::catalog().model("deepseek-v3");
    EXPECT_EQ(said("experts", {.dp = 64, .ep = 64}, model, usual),
              "4 a rank: 256 experts of a layer over ep 64, each whole");
    EXPECT_EQ(said("expert_skew", {.capacity = 1.25}, model, usual), "") << "a capacity bounds it";
    EXPECT_NE(said("prediction_layers", {}, training::catalog().model("deepseek-v3-mtp"), usual), "");
    EXPECT_TRUE(consequences({}, training::catalog().model("llama-3-8b"), usual, 8).empty());
}

TEST(Consequences, SayThatGroupsLeaveGapsInDomainsThatTheyDoNotDivide) {
    Model const model = training::catalog().model("llama-3-8b");
    auto const gaps = [&](Strategy const& strategy, int domain) {
        return said("domain", strategy, model, usual, domain);
    };
    // 64 ranks (tp 8 on cp 8) of 72
    EXPECT_EQ(
        gaps({.dp = 4, .tp = 8, .cp = 8}, 72),
        "72: groups of 64 ranks in domains of 72: priced as placed within a domain, which leaves 8 accelerators of "
        "each unused (and out of the cost); ranks without gaps would lie across domains and be slower");
    EXPECT_NE(gaps({.dp = 64, .tp = 1, .pp = 2}, 72).find("groups of 64 ranks"), std::string::npos);
    EXPECT_NE(gaps({.dp = 3, .tp = 5, .pp = 2}, 16).find("leaves 1 accelerator of each"), std::string::npos);
    EXPECT_EQ(gaps({.dp = 16, .tp = 8}, 72), "") << "8 divides 72, 128 ranks lie on several domains anyway";
    EXPECT_EQ(gaps({.dp = 1, .tp = 8, .cp = 8}, 72), "") << "one domain has them all";
    EXPECT_EQ(gaps({.dp = 16, .tp = 8, .pp = 2}, 8), "");
    EXPECT_EQ(gaps({.dp = 72, .pp = 2}, 72), "");
}

} // namespace
} // namespace headroom
