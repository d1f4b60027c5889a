#include "headroom/training/step.hpp"

#include <gtest/gtest.h>

namespace headroom {

using namespace headroom::training;

namespace {

/// One second of an exposed collective, then one of kernels, then one of a collective that follows them.
PassOutline collective_kernels_collective() {
    PassOutline pass;
    for (std::size_t i = 0; i <= PassOutline::parts; ++i) {
        double const time = 3.0 * static_cast<double>(i) / static_cast<double>(PassOutline::parts);
        pass.kernels[i] = time < 1.0 ? 0.0 : time < 2.0 ? time - 1.0 : 1.0;
    }
    pass.part = 3.0 / PassOutline::parts;
    return pass;
}

constexpr double loss = 0.25, coarse = 3.0 / PassOutline::parts; // a part may hold an end of kernels

TEST(PassOutline, TrafficBesideCollectivesSlowsNothing) {
    EXPECT_EQ(collective_kernels_collective().beside(0.9, loss).lost, 0.0);
}

TEST(PassOutline, KernelsLoseTheirShareWhileTrafficLasts) {
    EXPECT_NEAR(collective_kernels_collective().beside(1.8, loss).lost, loss * 0.8, loss * coarse);
}

TEST(PassOutline, NoMoreIsLostThanKernelsSlowedAllAlong) {
    auto const pass = collective_kernels_collective();
    EXPECT_NEAR(pass.beside(2.5, loss).lost, loss / (1.0 - loss), 1e-12);
    auto const longer = pass.beside(10.0, loss);
    EXPECT_NEAR(longer.lost + longer.idle, 10.0 - 3.0, 1e-12); // it outlasts the pass
}

} // namespace
} // namespace headroom
