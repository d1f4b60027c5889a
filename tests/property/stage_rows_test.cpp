#include "support/simulated_plans.hpp"
#include "training/simulation/step_limit_inputs.hpp"

#include <gtest/gtest.h>

#include <cmath>

// Rows of passes with all that leaves beside them, pass by pass, against the step unrolled kernel by kernel.

namespace headroom {
namespace {

using namespace training;

constexpr std::uint64_t seed = 5'000'000;

/// By what the rows of a pipeline come to another time than its step does when it is run, as a share of that.
double rows_beyond_run(Question const& question) {
    Calibration const constants = fitted().values();
    Cluster const cluster = congested(question.cluster, question.disturbance.congestion, question.strategy.workers());
    StepSetting const setting = step_setting(question, cluster, constants);
    LayerShape const shape = shape_of(question.strategy, question.workload);
    LayerCosts costs = layer_costs(step_program(question.model, shape, question.framework), shape, cluster,
                                   question.framework, constants);
    costs.pace(pace_of(question.framework, question.model, fitted()));
    simulation::Inputs const in{setting, question.strategy, costs};
    auto const& time = in.time;
    double const closed = (time.total() - time.imbalance - time.stragglers - time.overhead).base();
    double const run = simulate_step(setting, question.strategy, costs).makespan.base();
    return (closed + in.rows.differ - run) / run;
}

bool has_rows(Strategy const& strategy) {
    return strategy.pp > 1 && !runs_without_flush(strategy) && !offloads_activations(strategy.offload);
}

TEST(RowsOfStages, TakeAsLongAsTheStepThatIsRunKernelByKernel) {
    int plans = 0, exact = 0, close = 0;
    for (std::uint64_t index = 0; plans < 160; ++index) {
        Question const question = random_plan(simulated_menu(), seed, index);
        if (!has_rows(question.strategy)) { continue; }
        ++plans;
        double const off = std::abs(rows_beyond_run(question));
        exact += off < 1e-6 ? 1 : 0, close += off < 0.003 ? 1 : 0;
    }
    EXPECT_GE(exact, plans * 40 / 100);
    EXPECT_GE(close, plans * 96 / 100); // the rest: transfers beside what the sender's next pass sends
}

} // namespace
} // namespace headroom
