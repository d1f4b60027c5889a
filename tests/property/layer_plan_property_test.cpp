#include "support/random_questions.hpp"

#include "headroom/training/memory.hpp"
#include "headroom/training/operation.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace headroom {
namespace {

using namespace headroom::training;

/// Models whose layers are of every kind that a plan can have.
template <class Check> void for_every_plan(Check check) {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        CounterRandom random{seed};
        Model model = random_stack(random);
        make_mixed(model, random);
        check(model, seed);
    }
}

TEST(LayerPlanProperty, TheProductsThatAreTimedAreTheMatricesThatAreCounted) {
    LayerShape const shape{.sequence_length = 512, .attended = 512};
    for_every_plan([&](Model const& model, std::uint64_t seed) {
        auto const runs = block_runs(model);
        auto const programs = step_program(model, shape, {}).blocks;
        ASSERT_EQ(runs.size(), programs.size()) << seed;
        for (std::size_t i = 0; i < runs.size(); ++i) {
            double weights = 0.0;
            for (Operation const& one : programs[i].program.operations()) {
                if (one.phase == Phase::forward && one.kind == OperationKind::gemm) { weights += one.n * one.k; }
            }
            double const counted = block_work(model, runs[i].kind, 1.0).matrix;
            EXPECT_NEAR(weights, counted, 1e-9 * counted) << seed;
        }
    });
}

TEST(LayerPlanProperty, TheBlocksOfAllKindsAreTheWhole) {
    for_every_plan([](Model const& model, std::uint64_t seed) {
        ParameterCount const count = count_parameters(model);
        double blocks = 0.0;
        int layers = 0;
        for (auto const& run : block_runs(model)) {
            blocks += run.count * block_parameters(model, run.kind).all;
            layers += run.count;
        }
        EXPECT_EQ(layers, model.layers) << seed;
        EXPECT_NEAR(count.total, blocks + count.embedding + count.head + count.final_norm, 1e-9 * count.total) << seed;
    });
}

TEST(LayerPlanProperty, TensorRanksShareWorkAndMemory) {
    // Expectation: twice the ranks compute and keep no more each.
    for_every_plan([](Model const& model, std::uint64_t seed) {
        auto const of = [&](int ranks) {
            LayerShape const shape{.sequence_length = 512, .attended = 512, .tp = ranks};
            double work = 0.0;
            for (auto const& block : step_program(model, shape, {}).blocks) {
                for (Operation const& one : block.program.operations()) {
                    if (one.kind == OperationKind::gemm) { work += block.count * one.m * one.n * one.k; }
                }
            }
            return std::pair{work, block_activation_bytes(model, shape, {}).base()};
        };
        auto const one = of(1), two = of(2);
        EXPECT_TRUE(std::isfinite(one.first) && one.first > 0.0 && one.second > 0.0) << seed;
        EXPECT_LE(two.first, one.first) << seed;
        EXPECT_LE(two.second, one.second * (1.0 + 1e-12)) << seed;
    });
}

} // namespace
} // namespace headroom
