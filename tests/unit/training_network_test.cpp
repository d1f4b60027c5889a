// The network of the training step: its gradients against finite differences.

#include "step/network.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace headroom::step_example {
namespace {

NetworkShape const small{.layers = 3, .hidden = 7, .sequence = 5};

void nobody(std::size_t /*place*/) {}

TEST(Network, GradientsAreTheSlopesOfTheLoss) {
    Network<double> network{small};
    auto const batch = make_batch<double>(small, 3, 0, 3);
    network.forward(batch, 15.0);
    network.backward(nobody);
    std::vector<double> const gradients(network.gradients().begin(), network.gradients().end());
    ASSERT_EQ(gradients.size(), 3U * 7U * 7U);
    constexpr double h = 1e-5;
    double largest = 0.0;
    for (std::size_t i = 0; i < gradients.size(); ++i) {
        double& parameter = network.parameters()[i];
        double const value = parameter;
        parameter = value + h;
        double const up = network.forward(batch, 15.0);
        parameter = value - h;
        double const slope = (up - network.forward(batch, 15.0)) / (2.0 * h);
        parameter = value;
        // Expectation: rounding over 2h is about 1e-12, the third derivative times h^2 about 1e-11.
        ASSERT_NEAR(gradients[i], slope, 1e-10) << "parameter " << i;
        largest = std::max(largest, std::abs(slope));
    }
    EXPECT_GT(largest, 1e-3);
}

TEST(Network, GradientsAreFinishedFromTheEndAndForGood) {
    Network<double> network{small};
    auto const batch = make_batch<double>(small, 0, 0, 2);
    network.forward(batch, 10.0);
    network.backward(nobody);
    std::vector<double> const whole(network.gradients().begin(), network.gradients().end());
    std::ranges::fill(network.gradients(), -1.0); // nothing of an earlier pass may be taken for finished
    network.forward(batch, 10.0);
    std::vector<std::size_t> places;
    network.backward([&](std::size_t place) {
        places.push_back(place);
        EXPECT_TRUE(std::equal(whole.begin() + static_cast<std::ptrdiff_t>(place), whole.end(),
                               network.gradients().begin() + static_cast<std::ptrdiff_t>(place)))
            << "from " << place;
    });
    EXPECT_EQ(places, (std::vector<std::size_t>{98, 49, 0})); // layer by layer
}

TEST(Network, SharesOfABatchAddUpToItsGradients) {
    Network<double> whole{small}, part{small};
    double const tokens = 7.0 * 5.0;
    double const loss = whole.forward(make_batch<double>(small, 1, 0, 7), tokens);
    whole.backward(nobody);
    std::vector<double> sum(small.parameters());
    double losses = 0.0;
    for (auto const& [first, last] : {std::pair{0U, 2U}, std::pair{2U, 4U}, std::pair{4U, 7U}}) {
        losses += part.forward(make_batch<double>(small, 1, first, last), tokens);
        part.backward(nobody);
        for (std::size_t i = 0; i < sum.size(); ++i) { sum[i] += part.gradients()[i]; }
    }
    EXPECT_NEAR(losses, loss, 1e-13);
    for (std::size_t i = 0; i < sum.size(); ++i) { ASSERT_NEAR(sum[i], whole.gradients()[i], 1e-14) << i; }
}

TEST(Network, ProductsDoNotDependOnWhoSharesARow) {
    // Expectation: a token's row of each product adds up in one order whatever the other rows: the same bits. Widths
    // with blocks of 64 and groups of 4.
    for (std::size_t const hidden : {1U, 5U, 66U, 131U}) {
        NetworkShape const shape{.layers = 2, .hidden = hidden, .sequence = 1};
        Network<double> network{shape};
        double sum = 0.0;
        for (std::size_t i = 0; i < 3; ++i) { sum += network.forward(make_batch<double>(shape, 0, i, i + 1), 1.0); }
        EXPECT_NEAR(network.forward(make_batch<double>(shape, 0, 0, 3), 1.0), sum, 1e-14 * sum) << hidden;
    }
}

TEST(Network, LearnsToMoveValuesOnePlaceOn) {
    NetworkShape const shape{.layers = 2, .hidden = 8, .sequence = 16};
    Network<float> network{shape};
    double first = 0.0, last = 0.0;
    for (std::size_t step = 0; step < 300; ++step) {
        last = network.forward(make_batch<float>(shape, step, 0, 4), 4.0 * 16.0);
        if (step == 0) { first = last; }
        network.backward(nobody);
        network.optimize();
    }
    // Expectation: two independent values of variance 1/12 differ by 1/6 in the mean square; layers add little to it.
    EXPECT_NEAR(first, 1.0 / 6.0, 0.05);
    EXPECT_LT(last, 0.7 * first);
}

TEST(Network, TakesItsFirstStepAlongTheSign) {
    // Expectation: at t = 1 both averages, corrected, are g and g^2: the step is r g / (|g| + e).
    Network<double> network{small};
    network.forward(make_batch<double>(small, 0, 0, 2), 10.0);
    network.backward(nobody);
    std::vector<double> const before(network.parameters().begin(), network.parameters().end());
    network.optimize();
    for (std::size_t i = 0; i < before.size(); ++i) {
        double const slope = network.gradients()[i];
        ASSERT_NEAR(network.parameters()[i], before[i] - 1e-3 * slope / (std::abs(slope) + 1e-6), 1e-15) << i;
    }
}

TEST(Batch, IsTheSameWhoeverMakesIt) {
    auto const whole = make_batch<float>(small, 9, 0, 6), part = make_batch<float>(small, 9, 2, 4);
    EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + 2 * 5 * 7));
    EXPECT_EQ(whole.size(), 6U * 5U * 7U);
    EXPECT_NE(make_batch<float>(small, 8, 0, 6), whole);
}

} // namespace
} // namespace headroom::step_example
