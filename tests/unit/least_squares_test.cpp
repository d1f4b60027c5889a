// The solver of every fit, on problems that are solved by hand.

#include "least_squares.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace headroom::fit {
namespace {

/// Columns 1 and x at x = 0, 1, 2.
Matrix line() {
    Matrix a{3, 2};
    for (std::size_t i = 0; i < 3; ++i) {
        a(i, 0) = 1.0;
        a(i, 1) = static_cast<double>(i);
    }
    return a;
}

TEST(LeastSquares, OfALineIsItsTextbookSolution) {
    // Expectation: through (0, 1), (1, 2), (2, 4) the slope is 3/2 and the start 5/6.
    auto const x = linear_least_squares(line(), std::array{1.0, 2.0, 4.0});
    EXPECT_NEAR(x[0], 5.0 / 6.0, 1e-14);
    EXPECT_NEAR(x[1], 1.5, 1e-14);
}

TEST(LeastSquares, InformationIsInvertedUnlessColumnsDepend) {
    // Expectation: J'J = (3 3; 3 5), its inverse (5 -3; -3 3) / 6.
    auto const inverse = inverse_information(line());
    ASSERT_TRUE(inverse.has_value());
    EXPECT_NEAR((*inverse)(0, 0), 5.0 / 6.0, 1e-14);
    EXPECT_NEAR((*inverse)(0, 1), -0.5, 1e-14);
    EXPECT_NEAR((*inverse)(1, 1), 0.5, 1e-14);
    EXPECT_NEAR(dot(std::array{1.0, 2.0}, *inverse, std::array{1.0, 2.0}), 5.0 / 6.0 - 2.0 + 2.0, 1e-14);
    Matrix twice = line();
    for (std::size_t i = 0; i < 3; ++i) { twice(i, 1) = -2.0 * twice(i, 0); }
    EXPECT_FALSE(inverse_information(twice).has_value());
    Matrix nothing = line();
    for (double& value : nothing.column(1)) { value = 0.0; }
    EXPECT_FALSE(inverse_information(nothing).has_value());
    EXPECT_FALSE(inverse_information(Matrix{3, 0}).has_value());
}

/// Rosenbrock's valley: r = (10 (y - x^2), 1 - x), least at (1, 1).
Residuals valley() {
    return {.count = 2, .values = [](std::span<double const> z, std::span<double> r) {
                r[0] = 10.0 * (z[1] - z[0] * z[0]);
                r[1] = 1.0 - z[0];
            }};
}

TEST(LeastSquares, FollowsANarrowValleyByDifferencesAndBySlopes) {
    Residuals given = valley();
    given.slopes = [](std::span<double const> z, Matrix& jacobian) {
        jacobian(0, 0) = -20.0 * z[0];
        jacobian(0, 1) = 10.0;
        jacobian(1, 0) = -1.0;
        jacobian(1, 1) = 0.0;
    };
    for (Residuals const& residuals : {valley(), given}) {
        auto const found = least_squares(residuals, {-1.2, 1.0});
        EXPECT_NEAR(found.z[0], 1.0, 1e-9);
        EXPECT_NEAR(found.z[1], 1.0, 1e-9);
    }
    auto const found = polished(given, {1.01, 1.02});
    EXPECT_NEAR(found[0], 1.0, 1e-15);
}

TEST(LeastSquares, DoesNotDependOnThreads) {
    auto const one = least_squares(valley(), {-1.2, 1.0}, {.iterations = 7});
    auto const three = least_squares(valley(), {-1.2, 1.0}, {.iterations = 7, .threads = 3});
    EXPECT_EQ(one.z, three.z);
    for (std::size_t j = 0; j < 2; ++j) {
        EXPECT_TRUE(std::ranges::equal(one.jacobian.column(j), three.jacobian.column(j)));
    }
}

TEST(LeastSquares, StaysWhereNothingImproves) {
    Residuals const flat{.count = 1, .values = [](std::span<double const>, std::span<double> r) { r[0] = 3.0; }};
    EXPECT_EQ(least_squares(flat, {0.5}).z, (std::vector<double>{0.5}));
}

TEST(LeastSquares, RobustResidualsAreLinearFarOut) {
    EXPECT_NEAR(robust(1e-4, 0.05), 1e-4, 1e-9);
    EXPECT_NEAR(robust(-50.0, 0.05), -std::sqrt(2.0 * 0.05 * (50.0 - 0.05)), 1e-5);
}

} // namespace
} // namespace headroom::fit
