#include "headroom/network/expert_exchange.hpp"

#include <gtest/gtest.h>

namespace headroom {

using namespace headroom::network;

namespace {

using namespace units;

Fabric const h100{.scale_up = {.latency = 1.0 * us, .bandwidth = 450.0 * GB / s},
                  .scale_out = {.latency = 5.0 * us, .bandwidth = 50.0 * GB / s}};

TEST(ExpectedPlaces, CountsByHand) {
    // Expectation: 2 of 4 experts on 2 places: the second lands next to the first in 1 of 3 draws.
    EXPECT_NEAR(expected_places(2.0, 4.0, 2.0), 1.0 + 2.0 / 3.0, 1e-12);
    EXPECT_NEAR(expected_places(8.0, 256.0, 1.0), 1.0, 1e-9);  // one expert is in one place
    EXPECT_NEAR(expected_places(1.0, 256.0, 8.0), 1.0, 1e-12); // one place has them all
    EXPECT_NEAR(expected_places(8.0, 8.0, 8.0), 8.0, 1e-12);   // all of them are everywhere
}

TEST(ExpertExchange, PlainSendsACopyForEveryExpert) {
    // Expectation: 4096 tokens of 14 kB to 8 experts hold 470 MB; of 32 ranks 24 are outside the node.
    ExpertExchange const exchange{.tokens = 4096, .token = 14336.0 * byte, .top_k = 8, .experts = 256};
    ExpertTraffic const traffic = expert_exchange(exchange, {32, 8}, h100);
    double const held = 4096.0 * 14336.0 * 8.0;
    EXPECT_NEAR(traffic.sent.base(), held * 31.0 / 32.0, 1e-3);
    EXPECT_NEAR(traffic.crossing.base(), held * 24.0 / 32.0, 1e-3);
    EXPECT_NEAR(traffic.time.bandwidth.base(), held * 0.75 / 50e9, 1e-12); // the slower level decides
    EXPECT_NEAR(traffic.time.latency.in(us), 7 * 1.0 + 24 * 5.0, 1e-9);
}

TEST(ExpertExchange, OnceADomainCutsTheCrossing) {
    // Expectation: 8 of 256 experts over 4 nodes reach all but 0.1 of a node each: D = 4 (1 - C(192,8)/C(256,8)),
    // 3.62; three quarters of these cross instead of three quarters of 8.
    ExpertExchange const exchange{
        .tokens = 4096, .token = 14336.0 * byte, .top_k = 8, .experts = 256, .deduplicated = true};
    ExpertTraffic const traffic = expert_exchange(exchange, {32, 8}, h100);
    EXPECT_NEAR(traffic.crossing.base(), 4096.0 * 14336.0 * 0.75 * expected_places(4.0, 256.0, 8.0), 1e-3);
    EXPECT_NEAR(expected_places(4.0, 256.0, 8.0), 3.61, 0.02);
    EXPECT_NEAR(traffic.time.latency.in(us), 7 * 1.0 + 3 * 5.0, 1e-9);
}

TEST(ExpertExchange, ALimitOfDomainsCapsTheCrossing) {
    // Expectation: at most 4 of 8 nodes, experts drawn from the 128 there.
    ExpertExchange const exchange{
        .tokens = 4096, .token = 14336.0 * byte, .top_k = 8, .experts = 256, .deduplicated = true, .group_limit = 4};
    ExpertTraffic const traffic = expert_exchange(exchange, {64, 8}, h100);
    EXPECT_NEAR(traffic.crossing.base(), 4096.0 * 14336.0 * 7.0 / 8.0 * expected_places(4.0, 128.0, 8.0), 1e-3);
}

} // namespace
} // namespace headroom
