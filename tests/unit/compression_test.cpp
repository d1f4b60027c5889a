#include "headroom/network/compression.hpp"
#include "headroom/network/local_updates.hpp"

#include <gtest/gtest.h>

#include <array>

namespace headroom {

using namespace headroom::network;

namespace {

using namespace units;

Link const one_link{.latency = 1.0 * us, .bandwidth = 100.0 * GB / s};
Fabric const flat{.scale_up = one_link, .scale_out = one_link};
Group const eight{.size = 8, .per_domain = 8};

TEST(LowRank, SendsTwoThinFactors) {
    // Expectation: 4096 x 16384 at rank 4 in 2 bytes: 4096 * 4 * 2 and 16384 * 4 * 2 bytes, 819 times fewer.
    GradientMatrix const matrix{.rows = 4096, .columns = 16384};
    auto const result = compressed_gradients({.kind = Compression::low_rank}, std::array{matrix}, 2.0, Ranks{8});
    ASSERT_EQ(result.sent.size(), 2U);
    EXPECT_EQ(result.sent[0].collective, Collective::all_reduce);
    EXPECT_EQ(result.sent[0].bytes.size, 32768.0 * byte);
    EXPECT_EQ(result.sent[1].bytes.size, 131072.0 * byte);
    EXPECT_DOUBLE_EQ(1.0 / result.byte_ratio, 819.2);
    EXPECT_DOUBLE_EQ(result.products.base(), 6.0 * 4.0 * 4096.0 * 16384.0);
}

TEST(LowRank, LeavesSmallMatricesAndVectorsWhole) {
    // Expectation: a vector gains nothing; 8 x 8 at rank 4 would send as much as it is.
    std::array const matrices{GradientMatrix{.rows = 4096, .columns = 1, .count = 3},
                              GradientMatrix{.rows = 8, .columns = 8}};
    auto const result = compressed_gradients({.kind = Compression::low_rank}, matrices, 4.0, Ranks{8});
    ASSERT_EQ(result.sent.size(), 1U);
    EXPECT_EQ(result.sent[0].bytes.size, (3.0 * 4096.0 + 64.0) * 4.0 * byte);
    EXPECT_DOUBLE_EQ(result.byte_ratio, 1.0);
    EXPECT_EQ(result.touched_per_parameter, 0.0);
}

TEST(LowRank, AHigherMinimumRateLeavesMoreWhole) {
    // Expectation: 64 x 64 at rank 4 is 8 times smaller: enough for a minimum of 2, not for one of 10.
    GradientMatrix const matrix{.rows = 64, .columns = 64};
    GradientCompression compression{.kind = Compression::low_rank};
    EXPECT_DOUBLE_EQ(compressed_gradients(compression, std::array{matrix}, 2.0, Ranks{4}).byte_ratio, 0.125);
    compression.minimum_rate = 10.0;
    EXPECT_DOUBLE_EQ(compressed_gradients(compression, std::array{matrix}, 2.0, Ranks{4}).byte_ratio, 1.0);
}

TEST(OneBit, SavesFivefoldWithTheUsualWarmUp) {
    // Expectation: 15 % of the steps whole and the rest a sixteenth of 16 bits: 1 / (0.15 + 0.85/16) = 4.92.
    auto const result = compressed_gradients({.kind = Compression::one_bit}, 1e9, 2.0, Ranks{8});
    EXPECT_NEAR(1.0 / result.byte_ratio, 4.9231, 1e-3);
    EXPECT_NEAR(result.rounds, 0.15 + 2 * 0.85, 1e-12);
    EXPECT_DOUBLE_EQ(result.kept_per_parameter, 2.0 + 2.0 / 8.0);
}

TEST(TopK, GrowsWithTheRanks) {
    // Expectation: 1 % of 10^9 as 2 + 4 bytes from each of 8 ranks gathers 480 MB; ratio 8 * 0.01 * 6 / 4.
    auto const result = compressed_gradients({.kind = Compression::top_k}, 1e9, 2.0, Ranks{8});
    ASSERT_EQ(result.sent.size(), 1U);
    EXPECT_EQ(result.sent[0].collective, Collective::all_gather);
    EXPECT_NEAR(result.sent[0].bytes.size.in(MB), 480.0, 1e-6);
    EXPECT_NEAR(result.byte_ratio, 0.12, 1e-12);
}

TEST(Quantised, HalvesSixteenBits) {
    auto const result = compressed_gradients({.kind = Compression::quantised}, 1e9, 2.0, Ranks{8});
    EXPECT_DOUBLE_EQ(result.byte_ratio, 0.5);
    // 2 GB in 8 bits over 8 ranks: all-to-all and all-gather of 7/8 GB each
    EXPECT_NEAR(compressed_time(result, eight, flat).bandwidth.in(ms), 2 * 8.75, 1e-9);
}

TEST(CompressionNames, ReadBack) {
    for (Compression const kind : compressions) { EXPECT_EQ(compression_from(name_of(kind)), kind); }
    EXPECT_EQ(compression_from("Quantized"), Compression::quantised);
    EXPECT_EQ(compression_from("zip"), std::nullopt);
}

TEST(LocalUpdates, SpreadAnExchangeOverItsSteps) {
    // Expectation: 10^9 parameters of 4 bytes every 500 steps are 8 MB a step; 8 GB of outer state over 4 ranks.
    LocalUpdateCost const cost = local_updates(1e9, {.period = 500, .shards = 4});
    EXPECT_EQ(cost.exchanged.size, 4.0 * GB);
    EXPECT_NEAR(cost.per_step.in(MB), 8.0, 1e-9);
    EXPECT_EQ(cost.outer_state, 2.0 * GB);
}

TEST(LocalUpdates, OneStepIsDataParallel) {
    LocalUpdateCost const every = local_updates(1e9, {.period = 1, .bytes_per_element = 2.0});
    EXPECT_EQ(every.outer_state, Bytes{});
    EXPECT_EQ(every.per_step, 2.0 * GB);
}

} // namespace
} // namespace headroom
