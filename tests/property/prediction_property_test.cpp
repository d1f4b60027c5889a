// Figures of a prediction that follow from each other, over models, machines, frameworks and strategies.

#include "support/training.hpp"

#include "headroom/training/prediction.hpp"

#include <gtest/gtest.h>

namespace headroom {
namespace {

using namespace training;

/// Whatever is trained, on any machine with any software, the operations counted fit into the peak.
void expect_utilizations_below_one(Prediction const& p) {
    EXPECT_GT(p.mfu, 0.0);
    EXPECT_GE(p.hfu, p.mfu);
    EXPECT_LT(p.hfu, 1.0);
}

/// Serial share: time that more workers do not shorten, that is communication, bubble, the slowest of them and the
/// fixed part.
void expect_gamma_serial_share_and_ceiling_agree(Prediction const& p) {
    Seconds communication;
    for (auto const& row : p.communication) { communication += row.seconds; }
    EXPECT_NEAR(p.gamma, communication / p.time.compute, 1e-12 * (1.0 + p.gamma));
    EXPECT_EQ(p.gamma > 0.0, p.question.strategy.workers() > 1);
    EXPECT_EQ(p.serial.at_workers, p.question.strategy.workers());
    EXPECT_GE(p.serial.value, 0.0);
    EXPECT_LT(p.serial.value, 1.0);
    Seconds const fixed = p.time.exposed_communication() + p.time.pipeline_bubble + p.time.stragglers + p.time.overhead;
    EXPECT_NEAR(p.serial.value, fixed / p.step(), 1e-12);
    if (p.serial.value > 0.0) { EXPECT_NEAR(p.speedup_ceiling * p.serial.value, 1.0, 1e-12); }
    EXPECT_GE(p.speedup_ceiling, 1.0);
}

TEST(PredictProperty, UtilizationsGammaAndCeilingFitTogether) {
    for_some_questions([](Question const& question) {
        SCOPED_TRACE(name_of(question));
        auto const p = predict(question, fitted());
        expect_utilizations_below_one(p);
        expect_gamma_serial_share_and_ceiling_agree(p);
    });
}

} // namespace
} // namespace headroom
