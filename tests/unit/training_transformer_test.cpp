// The model of the training step: its gradients against finite differences, its products against a triple loop.

#include "step/adam.hpp"
#include "step/transformer.hpp"

#include "headroom/counter_random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace headroom::training {
namespace {

TransformerShape const small{.layers = 2, .hidden = 8, .heads = 2, .sequence = 5, .vocabulary = 11};

Gemm own() { return Gemm::load(GemmChoice::own, 1); }

/// The loss and its slope in every parameter, by central differences.
struct Differences {
    explicit Differences(TransformerShape const& shape) : model{shape, own()} {
        Batch const batch = make_batch(shape, 3, 0, 3);
        double const tokens = static_cast<double>(batch.inputs.size());
        model.forward(batch, tokens);
        model.backward();
        gradients.assign(model.gradients().begin(), model.gradients().end());
        constexpr double h = 1e-5;
        for (double& parameter : model.parameters()) {
            double const value = parameter;
            parameter = value + h;
            double const up = model.forward(batch, tokens);
            parameter = value - h;
            slopes.push_back((up - model.forward(batch, tokens)) / (2.0 * h));
            parameter = value;
        }
    }
    Transformer<double> model;
    std::vector<double> gradients, slopes;
};

class Gradients : public testing::TestWithParam<bool> {};

TEST_P(Gradients, AreTheSlopesOfTheLoss) {
    TransformerShape shape = small;
    shape.tied = GetParam();
    Differences const found{shape};
    ASSERT_EQ(found.gradients.size(), shape.parameters());
    double largest = 0.0;
    for (std::size_t i = 0; i < found.gradients.size(); ++i) {
        // Expectation: rounding over 2h is about 1e-11, the third derivative times h^2 about 1e-10.
        ASSERT_NEAR(found.gradients[i], found.slopes[i], 5e-9) << "parameter " << i;
        largest = std::max(largest, std::abs(found.slopes[i]));
    }
    EXPECT_GT(largest, 0.01);
}

TEST_P(Gradients, AreFinishedFromTheEndAndForGood) {
    TransformerShape shape = small;
    shape.tied = GetParam();
    Transformer<double> model{shape, own()};
    Batch const batch = make_batch(shape, 0, 0, 2);
    model.forward(batch, 10.0);
    model.backward();
    std::vector<double> const whole(model.gradients().begin(), model.gradients().end());
    std::ranges::fill(model.gradients(), -1.0); // nothing of an earlier pass may be taken for finished
    model.forward(batch, 10.0);
    std::size_t last = shape.parameters();
    model.backward([&](std::size_t place) {
        EXPECT_LT(place, last);
        last = place;
        EXPECT_TRUE(std::equal(whole.begin() + static_cast<std::ptrdiff_t>(place), whole.end(),
                               model.gradients().begin() + static_cast<std::ptrdiff_t>(place)))
            << "from " << place;
    });
    EXPECT_EQ(last, 0U);
}

INSTANTIATE_TEST_SUITE_P(Projection, Gradients, testing::Bool(),
                         [](auto const& given) { return given.param ? "Tied" : "Own"; });

TEST(Transformer, SharesOfABatchAddUpToItsGradients) {
    Transformer<double> whole{small, own()}, part{small, own()};
    double const tokens = 7.0 * 5.0;
    double const loss = whole.forward(make_batch(small, 1, 0, 7), tokens);
    whole.backward();
    std::vector<double> sum(small.parameters());
    double losses = 0.0;
    for (auto const& [first, last] : {std::pair{0, 2}, std::pair{2, 4}, std::pair{4, 7}}) {
        losses +=
            part.forward(make_batch(small, 1, static_cast<std::size_t>(first), static_cast<std::size_t>(last)), tokens);
        part.backward();
        for (std::size_t i = 0; i < sum.size(); ++i) { sum[i] += part.gradients()[i]; }
    }
    EXPECT_NEAR(losses, loss, 1e-13);
    for (std::size_t i = 0; i < sum.size(); ++i) { ASSERT_NEAR(sum[i], whole.gradients()[i], 1e-14) << i; }
}

TEST(Transformer, ASequenceSeesNothingThatComesLater) {
    // Expectation: another last token changes the loss of that place alone: by the first four, nothing.
    Batch batch = make_batch(small, 0, 0, 1);
    Transformer<double> model{small, own()};
    Batch other = batch;
    other.inputs.back() = (other.inputs.back() + 1) % 11;
    auto const loss_of_first_four = [&model](Batch const& given) {
        // the loss with the last target moved through all words sums to something that the first four add a constant to
        double sum = 0.0;
        Batch copy = given;
        for (std::uint32_t word = 0; word < 11; ++word) {
            copy.targets.back() = word;
            sum += std::exp(-model.forward(copy, 1.0));
        }
        return -std::log(sum); // the last place's probabilities add up to 1
    };
    EXPECT_NEAR(loss_of_first_four(batch), loss_of_first_four(other), 1e-12);
}

TEST(Transformer, LearnsWhatFollows) {
    TransformerShape const shape{.layers = 1, .hidden = 16, .heads = 2, .sequence = 8, .vocabulary = 16};
    Transformer<float> model{shape, own()};
    Adam<float> adam{shape.parameters()};
    double first = 0.0, last = 0.0;
    for (std::size_t step = 0; step < 120; ++step) {
        last = model.forward(make_batch(shape, step, 0, 16), 16.0 * 8.0);
        if (step == 0) { first = last; }
        model.backward();
        adam.step(model.parameters(), model.gradients());
    }
    EXPECT_NEAR(first, std::log(16.0), 0.2); // at first all words are alike
    EXPECT_LT(last, 0.8 * first);
}

TEST(Batch, IsTheSameWhoeverMakesIt) {
    Batch const whole = make_batch(small, 9, 0, 6), part = make_batch(small, 9, 2, 4);
    EXPECT_TRUE(std::equal(part.inputs.begin(), part.inputs.end(), whole.inputs.begin() + 10));
    EXPECT_TRUE(std::equal(part.targets.begin(), part.targets.end(), whole.targets.begin() + 10));
    EXPECT_NE(make_batch(small, 8, 0, 6).inputs, whole.inputs);
    EXPECT_TRUE(std::equal(whole.inputs.begin() + 1, whole.inputs.begin() + 5, whole.targets.begin()));
}

/// Products of every transposition and of sizes beside the blocks' and tiles', against their definition.
void expect_products(Gemm const& gemm) {
    CounterRandom random{5};
    for (ProductSize const size : {ProductSize{1, 1, 1}, ProductSize{5, 9, 3}, ProductSize{65, 257, 300}}) {
        for (int const way : {0, 1, 2, 3}) {
            bool const of_a = (way & 1) != 0, of_b = (way & 2) != 0;
            std::size_t const a_row = (of_a ? size.m : size.k) + 2, b_row = (of_b ? size.k : size.n) + 1;
            std::vector<double> a((of_a ? size.k : size.m) * a_row), b((of_b ? size.n : size.k) * b_row);
            std::vector<double> c(size.m * (size.n + 3), 2.0);
            for (double& value : a) { value = random.uniform() - 0.5; }
            for (double& value : b) { value = random.uniform() - 0.5; }
            gemm.multiply<double>(size, {a.data(), a_row, of_a ? Transpose::yes : Transpose::no},
                                  {b.data(), b_row, of_b ? Transpose::yes : Transpose::no}, 0.5, c.data(), size.n + 3);
            for (std::size_t i = 0; i < size.m; ++i) {
                for (std::size_t j = 0; j < size.n; ++j) {
                    double sum = 1.0;
                    for (std::size_t p = 0; p < size.k; ++p) {
                        sum +=
                            (of_a ? a[p * a_row + i] : a[i * a_row + p]) * (of_b ? b[j * b_row + p] : b[p * b_row + j]);
                    }
                    ASSERT_NEAR(c[i * (size.n + 3) + j], sum, 1e-12) << i << ' ' << j << " way " << way;
                }
                ASSERT_EQ(c[i * (size.n + 3) + size.n], 2.0); // what lies between rows stays
            }
        }
    }
}

TEST(Gemm, OwnProductsAreProducts) { expect_products(own()); }

TEST(Gemm, ProductsOfThePlatformAreTheSame) {
    Gemm const gemm = Gemm::load(GemmChoice::platform, 1);
    if (gemm.name().empty()) { GTEST_SKIP() << "no BLAS on this machine"; }
    expect_products(gemm);
}

TEST(Adam, TakesTheFirstStepAlongTheSign) {
    // Expectation: at t = 1 both averages, corrected, are g and g^2: the step is r g / (|g| + e).
    Adam<double> adam{2};
    std::vector<double> parameters{1.0, 1.0};
    std::vector<double> const gradients{0.5, -0.001};
    adam.step(parameters, gradients);
    EXPECT_NEAR(parameters[0], 1.0 - 1e-3 * 0.5 / (0.5 + 1e-6), 1e-15);
    EXPECT_NEAR(parameters[1], 1.0 + 1e-3 * 0.001 / (0.001 + 1e-6), 1e-15);
}

} // namespace
} // namespace headroom::training
