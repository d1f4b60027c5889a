// The kernels that stand under the measured roof compute what they say.

#include "headroom/probe/arithmetic.hpp"
#include "headroom/probe/attention.hpp"
#include "headroom/probe/gemm.hpp"
#include "headroom/probe/gemm_library.hpp"
#include "headroom/probe/pinned_team.hpp"
#include "headroom/probe/roofline_kernels.hpp"
#include "headroom/probe/row_kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <random>
#include <stdexcept>
#include <tuple>
#include <vector>

namespace headroom::probe {
namespace {

std::vector<float> numbers(std::size_t count, unsigned seed) {
    std::mt19937 random{seed};
    std::vector<float> values(count);
    for (float& value : values) { value = static_cast<float>(random() % 2001) / 1000.0F - 1.0F; }
    return values;
}

// ---- products -------------------------------------------------------------------------------------------------------

using Shape = std::tuple<std::size_t, std::size_t, std::size_t>;
class OwnProduct : public testing::TestWithParam<Shape> {};

/// A sum of k rounded products is off by no more than k roundings of their sizes.
TEST_P(OwnProduct, EqualsTheNaiveOneToRounding) {
    auto const [m, n, k] = GetParam();
    auto const a = numbers(m * k, 1), b = numbers(k * n, 2), before = numbers(m * n, 3);
    OwnGemm gemm;
    for (ProductInto const into : {ProductInto::replaces, ProductInto::adds}) {
        auto c = before;
        gemm.multiply(m, n, k, {a.data(), k}, {b.data(), n}, {c.data(), n}, into);
        for (std::size_t i = 0; i < m; ++i) {
            for (std::size_t j = 0; j < n; ++j) {
                double sum = into == ProductInto::adds ? before[i * n + j] : 0.0, size = std::abs(sum);
                for (std::size_t step = 0; step < k; ++step) {
                    double const one = static_cast<double>(a[i * k + step]) * b[step * n + j];
                    sum += one;
                    size += std::abs(one);
                }
                double const allowed = static_cast<double>(k + 2) * 6e-8 * size + 1e-30;
                ASSERT_NEAR(c[i * n + j], sum, allowed) << m << 'x' << n << 'x' << k << " at " << i << ',' << j;
            }
        }
    }
}

// Below, at and beyond tiles and blocks of every instruction set, and where there is nothing to do.
INSTANTIATE_TEST_SUITE_P(Shapes, OwnProduct,
                         testing::Values(Shape{1, 1, 1}, Shape{6, 16, 8}, Shape{12, 32, 512}, Shape{13, 33, 513},
                                         Shape{5, 7, 3}, Shape{97, 65, 520}, Shape{100, 2049, 5}, Shape{200, 40, 1030},
                                         Shape{3, 4, 0}, Shape{0, 4, 4}));

TEST(OwnProduct, LeavesWhatLiesBesideTheResult) {
    std::size_t const m = 7, n = 9, k = 5, stride = 20;
    auto const a = numbers(m * k, 1), b = numbers(k * n, 2);
    std::vector<float> c(m * stride, 42.0F);
    OwnGemm{}.multiply(m, n, k, {a.data(), k}, {b.data(), n}, {c.data(), stride});
    for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t j = n; j < stride; ++j) { ASSERT_EQ(c[i * stride + j], 42.0F); }
    }
}

TEST(ProductSpaces, KnowAWrongProduct) {
    for (char const* precision : {"fp64", "fp32", "bf16", "int8"}) {
        ProductSpace space{precision, 9};
        EXPECT_GT(space.error(), 0.0) << precision << ": nothing was computed yet";
    }
    ProductSpace space{"fp32", 33};
    OwnGemm{}.multiply(33, 33, 33, {static_cast<float const*>(space.a()), 33},
                       {static_cast<float const*>(space.b()), 33}, {static_cast<float*>(space.c()), 33});
    EXPECT_EQ(space.error(), 0.0) << "whole numbers have an exact product";
}

/// Whatever is installed: no library with a wrong product is timed.
TEST(GemmLibraries, MultiplyRightOrAreRefused) {
    for (GemmLibrary const& library : gemm_libraries()) {
        EXPECT_FALSE(library.name.empty());
        // Expectation: whatever this machine's library gets wrong is refused, and is not among what is timed.
        for (std::string const& precision : library.precisions) {
            for (std::string const& refused : library.refused) {
                EXPECT_FALSE(refused.starts_with(precision + ":")) << library.name << ' ' << refused;
            }
            ProductSpace space{precision, 50};
            library.multiply(space);
            EXPECT_EQ(space.error(), 0.0) << library.name << ' ' << precision;
        }
    }
}

TEST(FreedLibraries, AnswerAndRefuse) {
    FreedLibraries freed;
    EXPECT_LT(freed.seconds("no such library", "fp32", 16, {0}, 1), 0.0);
    for (GemmLibrary const& library : gemm_libraries()) {
        EXPECT_GT(freed.seconds(library.name, library.precisions.front(), 64, {0}, 2), 0.0) << library.name;
    }
}

// ---- rows -----------------------------------------------------------------------------------------------------------

constexpr std::size_t odd_lengths[] = {1, 2, 7, 16, 17, 31, 64, 127, 1000};

TEST(RowKernels, TriadAndSum) {
    for (std::size_t const n : odd_lengths) {
        auto const a = numbers(n, 1), b = numbers(n, 2);
        std::vector<float> out(n + 1, 42.0F);
        triad(out.data(), a.data(), b.data(), 0.5F, n);
        double sum = 0.0;
        for (std::size_t i = 0; i < n; ++i) {
            ASSERT_FLOAT_EQ(out[i], a[i] + 0.5F * b[i]) << n << " at " << i;
            sum += a[i];
        }
        EXPECT_EQ(out[n], 42.0F) << "one beyond the last of " << n;
        EXPECT_NEAR(sum_of(a.data(), n), sum, 1e-7 * static_cast<double>(n) + 1e-7);
    }
}

TEST(RowKernels, SoftmaxOfRows) {
    for (std::size_t const columns : odd_lengths) {
        std::size_t const rows = 3;
        auto in = numbers(rows * columns, 4);
        for (float& value : in) { value *= 60.0F; } // whose exponentials alone would be infinite
        std::vector<float> out(rows * columns);
        softmax_rows(in.data(), out.data(), rows, columns);
        for (std::size_t row = 0; row < rows; ++row) {
            auto const begin = in.begin() + static_cast<std::ptrdiff_t>(row * columns);
            double const most = *std::max_element(begin, begin + static_cast<std::ptrdiff_t>(columns));
            double sum = 0.0;
            for (std::size_t i = 0; i < columns; ++i) {
                sum += std::exp(static_cast<double>(begin[static_cast<std::ptrdiff_t>(i)]) - most);
            }
            for (std::size_t i = 0; i < columns; ++i) {
                double const right = std::exp(static_cast<double>(in[row * columns + i]) - most) / sum;
                ASSERT_NEAR(out[row * columns + i], right, 8e-6 * right + 1e-30) << columns << " at " << i;
            }
        }
    }
}

TEST(RowKernels, LayerNormOfRows) {
    for (std::size_t const columns : odd_lengths) {
        auto const in = numbers(2 * columns, 5), weight = numbers(columns, 6), bias = numbers(columns, 7);
        std::vector<float> out(2 * columns);
        layer_norm_rows(in.data(), weight.data(), bias.data(), out.data(), 2, columns);
        for (std::size_t row = 0; row < 2; ++row) {
            float const* const x = in.data() + row * columns;
            double mean = 0.0, variance = 0.0;
            for (std::size_t i = 0; i < columns; ++i) { mean += x[i] / static_cast<double>(columns); }
            for (std::size_t i = 0; i < columns; ++i) {
                variance += (x[i] - mean) * (x[i] - mean) / static_cast<double>(columns);
            }
            for (std::size_t i = 0; i < columns; ++i) {
                double const right = (x[i] - mean) / std::sqrt(variance + 1e-5) * weight[i] + bias[i];
                ASSERT_NEAR(out[row * columns + i], right, 2e-5) << columns << " at " << i;
            }
        }
    }
}

// ---- attention ------------------------------------------------------------------------------------------------------

std::vector<float> naive_attention(AttentionCall const& call) {
    std::vector<float> out(call.queries * call.width);
    for (std::size_t row = 0; row < call.queries; ++row) {
        std::vector<double> scores(call.length, 0.0);
        for (std::size_t key = 0; key < call.length; ++key) {
            for (std::size_t d = 0; d < call.width; ++d) {
                scores[key] += static_cast<double>(call.query[row * call.width + d]) * call.keys[d * call.length + key];
            }
            scores[key] /= std::sqrt(static_cast<double>(call.width));
        }
        double const most = *std::max_element(scores.begin(), scores.end());
        double sum = 0.0;
        for (double& score : scores) { sum += score = std::exp(score - most); }
        for (std::size_t d = 0; d < call.width; ++d) {
            double value = 0.0;
            for (std::size_t key = 0; key < call.length; ++key) {
                value += scores[key] * call.values[key * call.width + d];
            }
            out[row * call.width + d] = static_cast<float>(value / sum);
        }
    }
    return out;
}

TEST(Attention, BothKindsEqualTheNaiveOne) {
    for (auto const& [queries, length] : {std::pair<std::size_t, std::size_t>{1, 1}, {5, 9}, {97, 385}, {200, 800}}) {
        std::size_t const width = 24;
        auto query = numbers(queries * width, 1), keys = numbers(width * length, 2),
             values = numbers(length * width, 3);
        for (float& value : query) { value *= 8.0F; } // so that a few keys have most of the weight
        std::vector<float> out(queries * width), scores(queries * length);
        AttentionCall const call{queries, length, width, query.data(), keys.data(), values.data(), out.data()};
        auto const right = naive_attention(call);
        OwnGemm gemm;
        attention_unfused(call, scores.data(), gemm);
        for (std::size_t i = 0; i < out.size(); ++i) { ASSERT_NEAR(out[i], right[i], 2e-5) << "unfused, at " << i; }
        std::ranges::fill(out, 42.0F);
        TiledSpace space{length};
        attention_tiled(call, space, gemm);
        for (std::size_t i = 0; i < out.size(); ++i) { ASSERT_NEAR(out[i], right[i], 2e-5) << "tiled, at " << i; }
    }
}

// ---- peaks, teams, kernels ------------------------------------------------------------------------------------------

/// The value after many rounds is that of the fixed point, which only executed multiply-adds reach.
TEST(ArithmeticChains, ComputeWhatTheyCount) {
    auto const chains = arithmetic_chains();
    ASSERT_FALSE(chains.empty());
    for (ArithmeticChain const& chain : chains) {
        EXPECT_GT(chain.operations, 0.0);
        double const value = chain.run(1000);
        EXPECT_TRUE(std::isfinite(value) && value >= 0.0) << chain.instruction_set << ' ' << chain.precision;
        if (chain.precision == "fp32" || chain.precision == "fp64") {
            // x = x / 2 + 3 / 4 ends at 1.5 in each lane of each chain: their sum is 1.5 for every multiply-add of a round
            EXPECT_DOUBLE_EQ(value, 1.5 * chain.operations / 2.0) << chain.instruction_set << ' ' << chain.precision;
        }
    }
}

TEST(ArithmeticChains, GoOnWithTheirRounds) {
    for (ArithmeticChain const& chain : arithmetic_chains()) {
        EXPECT_NE(chain.run(1), chain.run(3)) << chain.instruction_set << ' ' << chain.precision;
        if (chain.precision != "int8") { continue; }
        // each step of a chain adds 4 x 3 to each sum: the first sums of all chains grow by 12 a chain
        double const lanes = chain.instruction_set == "AVX512-VNNI" ? 64.0 : 32.0;
        EXPECT_EQ(chain.run(8) - chain.run(7), 12.0 * chain.operations / (2.0 * lanes)) << chain.instruction_set;
    }
}

TEST(PinnedTeams, RunEveryPartOnceAndThrowWhatItThrows) {
    PinnedTeam team{{0, 0, 0}};
    std::atomic<int> calls[3] = {};
    for (int i = 0; i < 50; ++i) {
        EXPECT_GE(team.run([&](int part) { ++calls[part]; }), 0.0);
    }
    for (auto const& count : calls) { EXPECT_EQ(count, 50); }
    EXPECT_THROW(team.run([](int part) {
        if (part == 1) { throw std::runtime_error{"no"}; }
    }),
                 std::runtime_error);
    EXPECT_GE(team.run([](int) {}), 0.0) << "it goes on after that";
}

TEST(RooflineKernels, CountAsDocumentedAndRunOnAnyTeam) {
    std::vector<std::string> names;
    for (auto const name : roofline_kernel_names()) { names.emplace_back(name); }
    for (std::size_t const size : {1U, 3U}) {
        PinnedTeam team{std::vector<int>(size, 0)};
        RooflineKernels const kernels{team, {.elements = 5000, .order = 50, .length = 130}, names};
        ASSERT_EQ(kernels.all().size(), names.size());
        for (RooflineKernel const& kernel : kernels.all()) {
            EXPECT_GT(kernel.operations, 0.0) << kernel.name;
            EXPECT_GE(kernel.touched, 1.0) << kernel.name;
            team.run([&](int thread) { kernel.run(thread, 2); });
        }
        auto const& large = kernels.all()[5];
        EXPECT_DOUBLE_EQ(large.operations, 2.0 * 50 * 50 * 50);
        EXPECT_DOUBLE_EQ(large.bytes, 3.0 * 50 * 50 * 4);
    }
}

} // namespace
} // namespace headroom::probe
