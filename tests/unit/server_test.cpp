#include "headroom/network/server.hpp"

#include <gtest/gtest.h>

namespace headroom {

using namespace headroom::network;

namespace {

using namespace units;

Link const port{.latency = 3.0 * us, .bandwidth = 10.0 * GB / s};
TotalBytes const gigabyte{1.0 * GB};

TEST(ParameterServer, QueuesAllWorkersAtOnePort) {
    // Expectation: 8 pushes and 8 pulls of 1 GB at 10 GB/s are 1.6 s; a push and a pull have 3 us each.
    CollectiveTime const time = parameter_server(gigabyte, Ranks{8}, {.port = port, .worker = port});
    EXPECT_NEAR(time.bandwidth.in(s), 1.6, 1e-12);
    EXPECT_NEAR(time.latency.in(us), 6.0, 1e-9);
}

TEST(ParameterServer, MorePortsHelpUntilTheWorkersOwnDecides) {
    // Expectation: 4 ports take 0.4 s; with 16 for 8 workers each worker's own port still takes 0.2 s.
    EXPECT_NEAR(parameter_server(gigabyte, Ranks{8}, {.ports = Ranks{4}, .port = port, .worker = port}).bandwidth.in(s),
                0.4, 1e-12);
    EXPECT_NEAR(
        parameter_server(gigabyte, Ranks{8}, {.ports = Ranks{16}, .port = port, .worker = port}).bandwidth.in(s), 0.2,
        1e-12);
}

TEST(ParameterServer, ShardedOverTheWorkersSendsARingsBytes) {
    // Expectation: S = K, each keeps its own eighth: 2 * 7/8 n, as a ring; one colocated server still takes in 7 n.
    ParameterServers servers{.ports = Ranks{8}, .port = port, .worker = port, .colocated = true};
    EXPECT_DOUBLE_EQ(parameter_server(gigabyte, Ranks{8}, servers).bandwidth.base(),
                     ring_all_reduce(gigabyte, Ranks{8}, port).bandwidth.base());
    servers.ports = Ranks{1};
    EXPECT_NEAR(parameter_server(gigabyte, Ranks{8}, servers).bandwidth.in(s), 1.4, 1e-12);
    // with 7 of 8 a server takes in its shard from 7 workers, and the eighth worker still sends everything
    servers.ports = Ranks{7};
    EXPECT_NEAR(parameter_server(gigabyte, Ranks{8}, servers).bandwidth.in(s), 0.2, 1e-12);
}

TEST(ActorLearner, DirectCopiesQueueAtTheLearner) {
    // Expectation: 16 actors, 1 GB of weights and 100 MB of experience each, one port of 10 GB/s: 1.6 s and 0.16 s.
    Fabric const flat{.scale_up = port, .scale_out = port};
    ActorLearnerTime const time = actor_learner({.weights = gigabyte, .experience = 100.0 * MB}, {17, 17}, flat);
    EXPECT_NEAR(time.broadcast.bandwidth.in(s), 1.6, 1e-12);
    EXPECT_NEAR(time.gather.bandwidth.in(s), 0.16, 1e-12);
    EXPECT_NEAR(time.synchronous().total().in(s), 1.76 + 6e-6, 1e-9);
    EXPECT_NEAR(time.asynchronous().in(s), 1.6 + 3e-6, 1e-9);
}

TEST(ActorLearner, ATreeNeedsAsManyRoundsAsTheLogarithm) {
    // Expectation: 17 ranks are 5 rounds of 0.1 s; scattered and gathered it is 2 * 16/17 of 0.1 s.
    Fabric const flat{.scale_up = port, .scale_out = port};
    ActorLearner update{.weights = gigabyte, .experience = Bytes{}, .broadcast = WeightBroadcast::binomial};
    EXPECT_NEAR(actor_learner(update, {17, 17}, flat).broadcast.bandwidth.in(s), 0.5, 1e-12);
    update.broadcast = WeightBroadcast::scatter_all_gather;
    EXPECT_NEAR(actor_learner(update, {17, 17}, flat).broadcast.bandwidth.in(s), 0.2 * 16.0 / 17.0, 1e-12);
}

TEST(ActorLearner, LevelsServeTheirActorsAtOnce) {
    // Expectation: 7 actors in the learner's node at 100 GB/s are faster than the 8 outside it at 10 GB/s: 0.8 s.
    Fabric const fabric{.scale_up = {.latency = 1.0 * us, .bandwidth = 100.0 * GB / s}, .scale_out = port};
    ActorLearner const update{.weights = gigabyte, .experience = Bytes{}};
    EXPECT_NEAR(actor_learner(update, {16, 8}, fabric).broadcast.bandwidth.in(s), 0.8, 1e-12);
}

TEST(ActorLearner, NoActorIsFree) {
    EXPECT_EQ(actor_learner({.weights = gigabyte, .experience = 1.0 * GB}, {}, {}).synchronous().total(), Seconds{});
}

} // namespace
} // namespace headroom
