#include "support/random_questions.hpp"

#include "headroom/training/step_roofline.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace headroom {

using namespace headroom::laws;

namespace {

using namespace training;

/// Questions of every family without pipeline stages; the message says the seed, which is part of the model's name.
template <class Check> void for_questions_of_one_stage(int count, Check check) {
    int asked = 0;
    for_random_questions(count, [&](Question question) {
        question.strategy.pp = question.strategy.virtual_pp = 1;
        if (!is_legal(question)) { return; }
        ++asked;
        check(question);
    });
    EXPECT_GT(asked, count / 2);
}

TEST(StepRooflineProperty, TheTimeOfTheKernelsIsThatOfThePrediction) {
    for_questions_of_one_stage(600, [](Question const& question) {
        // layers that are trained or computed again are taken one by one, not as a mean of all
        bool const some =
            question.strategy.trained == training::Trained::last_layers || question.strategy.recompute_layers > 0;
        if (some && block_runs(question.model).size() != 1) { return; }
        auto const step = step_kernels(question, fitted());
        auto const& time = step.prediction.time;
        double const expected = (time.compute + time.optimizer).base();
        // each of up to some thousand tasks, some of nanoseconds, is rounded to a picosecond
        EXPECT_NEAR(step.predicted().base(), expected, 1e-5 * expected) << training::name_of(question);
    });
}

TEST(StepRooflineProperty, EveryKernelHasAPlaceUnderTheRoof) {
    for_questions_of_one_stage(400, [](Question const& question) {
        auto const step = step_kernels(question, fitted());
        for (auto const& one : step.kernels) {
            auto const at = attained(one.kernel, step.processor);
            EXPECT_TRUE(std::isfinite(at.time.base()) && at.time.base() > 0.0)
                << one.name << " " << training::name_of(question);
            EXPECT_LE(at.of_peak, 1.0 + 1e-12) << one.name << " " << training::name_of(question);
            EXPECT_LE(one.kernel.handed_over, one.kernel.moved) << one.name;
            if (!one.kernel.batched) { continue; }
            auto const& rows = *one.kernel.batched;
            EXPECT_NEAR((rows.rows * rows.moved + rows.fixed).base(), one.kernel.moved.base(),
                        1e-9 * one.kernel.moved.base())
                << one.name;
            EXPECT_GE(rows.fixed.base(), -1e-9 * one.kernel.moved.base()) << one.name;
        }
    });
}

TEST(StepRooflineProperty, NamesTellKernelsOfAPartApart) {
    for_questions_of_one_stage(200, [](Question const& question) {
        if (!question.model.operators.empty()) { return; } // layers of a list may share a name
        std::map<std::string, int> seen;
        for (auto const& one : step_kernels(question, fitted()).kernels) {
            std::string const key = one.part + "/" + std::to_string(static_cast<int>(one.phase)) + "/" + one.name;
            if (one.group == "matrix products") { EXPECT_EQ(++seen[key], 1) << key << training::name_of(question); }
        }
    });
}

/// Two ways to the same seconds: kernel by kernel, and the layer costs of the closed form.
void expect_kernels_to_add_up_to_the_layer_costs(Question const& asked, StepKernels const& step) {
    auto const& time = step.prediction.time;
    double const expected = (time.compute + time.optimizer).base();
    double launches = 0.0;
    for (auto const& one : step.kernels) { launches += one.count; }
    EXPECT_NEAR(step.predicted().base(), expected, 0.5e-12 * launches + 1e-12 * expected) << "ticks of a picosecond";
    double kernels = 0.0;
    for (auto const& one : step.kernels) {
        if (one.part != "optimizer") { kernels += (one.predicted * one.count).base(); }
    }
    auto const& costs = step.prediction.costs;
    auto const of = [](LayerCost const& c) { return (c.gemm + c.attention + c.memory).base(); };
    double const micro_batches = micro_batch_count(asked.strategy, asked.workload);
    double const layers =
        micro_batches * (depth_of(asked.model) * of(costs.block) + of(costs.embedding) + of(costs.head));
    EXPECT_NEAR(kernels, layers, 1e-9 * layers);
}

void expect_no_product_to_beat_the_roof(StepKernels const& step) {
    if (step.prediction.pace != 1.0) { return; }
    for (auto const& one : step.kernels) {
        if (one.group != "matrix products") { continue; }
        EXPECT_LE(attained(one.kernel, step.processor).time.base(), one.predicted.base() * (1.0 + 1e-12)) << one.name;
    }
}

TEST(StepRooflineProperty, KernelsAddUpAndStayBelowTheRoof) {
    int seen = 0;
    for_some_questions([&](Question const& asked) {
        if (asked.strategy.pp > 1) { return; }
        ++seen;
        SCOPED_TRACE(training::name_of(asked));
        auto const step = step_kernels(asked, fitted());
        expect_kernels_to_add_up_to_the_layer_costs(asked, step);
        expect_no_product_to_beat_the_roof(step);
    });
    EXPECT_GT(seen, 500);
}

} // namespace
} // namespace headroom
