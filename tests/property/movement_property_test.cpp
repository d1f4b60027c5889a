// Parameter servers, actors, compressed gradients and experts: bounds and laws.

#include "headroom/network/compression.hpp"
#include "headroom/network/expert_exchange.hpp"
#include "headroom/network/local_updates.hpp"
#include "headroom/network/server.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <random>
#include <set>
#include <vector>

namespace headroom {

using namespace headroom::network;

namespace {

constexpr double slack = 1.0 + 1e-9;

double spread(double low, double high) {
    double const share = *rc::gen::inRange(0, 1 << 20) / static_cast<double>(1 << 20);
    return low * std::pow(high / low, share);
}

bool near(double a, double b, double tolerance = 1e-9) {
    return std::abs(a - b) <= tolerance * std::max(std::abs(a), std::abs(b));
}

int any_count(int most) { return *rc::gen::inRange(1, most + 1); }
TotalBytes any_size() { return {Bytes{spread(1.0, 1e13)}}; }
Link any_link() { return {.latency = Seconds{spread(1e-7, 1e-4)}, .bandwidth = BytesPerSecond{spread(1e8, 2e12)}}; }
Fabric any_fabric() { return {.scale_up = any_link(), .scale_out = any_link()}; }
Group any_group() { return group_of(any_count(2000), any_count(10), any_count(100)); }

// ---- servers ------------------------------------------------------------------------------------------------------

RC_GTEST_PROP(ServerProperty, OneWorkerIsAPushAndAPull, ()) {
    TotalBytes const n = any_size();
    Link const link = any_link();
    Seconds const time = parameter_server(n, Ranks{1}, {.port = link, .worker = link}).total();
    RC_ASSERT(near(time.base(), 2.0 * point_to_point(n, link).total().base()));
}

RC_GTEST_PROP(ServerProperty, TwiceThePortsHalveTheirTerm, ()) {
    TotalBytes const n = any_size();
    Link const port = any_link();
    Link const worker{.latency = Seconds{}, .bandwidth = 1e9 * port.bandwidth}; // never decides
    int const count = any_count(1000);
    Ranks const workers{any_count(1000)};
    Seconds const once =
        parameter_server(n, workers, {.ports = Ranks{count}, .port = port, .worker = worker}).bandwidth;
    Seconds const twice =
        parameter_server(n, workers, {.ports = Ranks{2 * count}, .port = port, .worker = worker}).bandwidth;
    RC_ASSERT(near(once.base(), 2.0 * twice.base()));
}

RC_GTEST_PROP(ServerProperty, NeverBelowTheWorkersOwnPort, ()) {
    ParameterServers const servers{.ports = Ranks{any_count(3000)},
                                   .port = any_link(),
                                   .worker = any_link(),
                                   .colocated = *rc::gen::arbitrary<bool>()};
    TotalBytes const n = any_size();
    Ranks const workers{any_count(3000)};
    RC_ASSERT(parameter_server_lower_bound(n, workers, servers) <=
              slack * parameter_server(n, workers, servers).bandwidth);
}

RC_GTEST_PROP(ServerProperty, GrowsLinearlyWhereARingIsBounded, ()) {
    TotalBytes const n = any_size();
    Link const link = any_link();
    int const workers = any_count(100000);
    Seconds const one = parameter_server(n, Ranks{1}, {.port = link, .worker = link}).bandwidth;
    Seconds const all = parameter_server(n, Ranks{workers}, {.port = link, .worker = link}).bandwidth;
    RC_ASSERT(near(all.base(), workers * one.base()));
    RC_ASSERT(ring_all_reduce(n, Ranks{workers}, link).bandwidth <= slack * one); // one is 2 n / B
}

RC_GTEST_PROP(ServerProperty, OneShardAWorkerIsARingsTime, ()) {
    TotalBytes const n = any_size();
    Link const link = any_link();
    Ranks const workers{any_count(3000)};
    ParameterServers const servers{.ports = workers, .port = link, .worker = link, .colocated = true};
    RC_ASSERT(near(parameter_server(n, workers, servers).bandwidth.base(),
                   ring_all_reduce(n, workers, link).bandwidth.base()));
}

RC_GTEST_PROP(ActorLearnerProperty, OneActorIsTwoMessages, ()) {
    Link const link = any_link();
    TotalBytes const weights = any_size(), experience = any_size();
    for (WeightBroadcast const broadcast : {WeightBroadcast::direct, WeightBroadcast::binomial}) {
        ActorLearnerTime const time = actor_learner(
            {.weights = weights, .experience = experience.size, .broadcast = broadcast}, {2, 2}, {link, link});
        RC_ASSERT(near(time.broadcast.total().base(), point_to_point(weights, link).total().base()));
        RC_ASSERT(near(time.gather.total().base(), point_to_point(experience, link).total().base()));
    }
}

RC_GTEST_PROP(ActorLearnerProperty, OverlappedNeverTakesLongerAndMorePortsNeverHurt, ()) {
    ActorLearner update{.weights = any_size(), .experience = any_size().size, .ports = Ranks{any_count(64)}};
    Group const group = any_group();
    Fabric const fabric = any_fabric();
    ActorLearnerTime const time = actor_learner(update, group, fabric);
    RC_ASSERT(time.asynchronous() <= slack * time.synchronous().total());
    update.ports = Ranks{2 * update.ports.count()};
    RC_ASSERT(actor_learner(update, group, fabric).synchronous().total() <= slack * time.synchronous().total());
}

RC_GTEST_PROP(ActorLearnerProperty, NothingBeatsTheBound, ()) {
    ActorLearner const update{.weights = any_size(),
                              .experience = any_size().size,
                              .ports = Ranks{any_count(64)},
                              .broadcast = *rc::gen::elementOf(weight_broadcasts)};
    Group const group = any_group();
    Fabric const fabric = any_fabric();
    RC_ASSERT(actor_learner_lower_bound(update, group, fabric) <=
              slack * actor_learner(update, group, fabric).synchronous().total());
}

// ---- compression --------------------------------------------------------------------------------------------------

RC_GTEST_PROP(CompressionProperty, NoneIsTheAllReduce, ()) {
    double const elements = spread(1.0, 1e12);
    Group const group = any_group();
    Fabric const fabric = any_fabric();
    CompressedGradients const plain = compressed_gradients({}, elements, 2.0, Ranks{group.size});
    RC_ASSERT(near(plain.byte_ratio, 1.0));
    RC_ASSERT(plain.rounds == 1.0);
    RC_ASSERT(plain.touched_per_parameter == 0.0);
    RC_ASSERT(plain.kept_per_parameter == 0.0);
    RC_ASSERT(near(compressed_time(plain, group, fabric).total().base(),
                   fastest(Collective::all_reduce, {Bytes{2.0 * elements}}, group, fabric).time.total().base()));
}

RC_GTEST_PROP(CompressionProperty, RatiosFollowTheirFormulas, ()) {
    double const width = *rc::gen::element(2.0, 4.0), share = spread(1e-4, 1.0), bits = spread(1.0, 16.0);
    Ranks const p{any_count(4096)};
    double const elements = 1e12; // the scales of one_bit vanish
    RC_ASSERT(near(compressed_gradients({.kind = Compression::quantised, .bits = bits}, elements, width, p).byte_ratio,
                   bits / (8.0 * width)));
    RC_ASSERT(near(compressed_gradients({.kind = Compression::top_k, .share = share}, elements, width, p).byte_ratio,
                   p.count() * share * (width + 4.0) / (2.0 * width)));
    double const warm = spread(0.01, 1.0);
    CompressedGradients const signs =
        compressed_gradients({.kind = Compression::one_bit, .warm_up = warm}, elements, 2.0, p);
    RC_ASSERT(near(1.0 / signs.byte_ratio, 1.0 / (warm + (1.0 - warm) / 16.0), 1e-6));
}

RC_GTEST_PROP(CompressionProperty, LowRankRatioIsThatOfItsFactors, ()) {
    double const rows = any_count(20000), columns = any_count(20000);
    GradientCompression const compression{.kind = Compression::low_rank, .rank = any_count(64)};
    double const rank = std::min({static_cast<double>(compression.rank), rows, columns});
    double const rate = rows * columns / (rank * (rows + columns));
    std::vector<GradientMatrix> const matrices{{.rows = rows, .columns = columns, .count = 3.0}};
    double const ratio = compressed_gradients(compression, matrices, 2.0, Ranks{8}).byte_ratio;
    RC_ASSERT(near(ratio, rate < compression.minimum_rate ? 1.0 : 1.0 / rate));
}

RC_GTEST_PROP(CompressionProperty, MoreOfAnythingNeverSendsLess, ()) {
    Compression const kind =
        *rc::gen::element(Compression::low_rank, Compression::quantised, Compression::top_k, Compression::one_bit);
    GradientCompression const less{.kind = kind,
                                   .rank = any_count(32),
                                   .bits = spread(1.0, 8.0),
                                   .share = spread(1e-4, 0.1),
                                   .warm_up = spread(0.01, 0.5)};
    GradientCompression more = less;
    more.rank += any_count(32);
    more.bits *= spread(1.0, 4.0);
    more.share *= spread(1.0, 10.0);
    more.warm_up *= spread(1.0, 2.0);
    double const elements = spread(1e6, 1e12); // so many that the scales of one_bit never outweigh the signs
    Ranks const p{any_count(4096)};
    RC_ASSERT(compressed_gradients(less, elements, 2.0, p).byte_ratio <=
              slack * compressed_gradients(more, elements, 2.0, p).byte_ratio);
}

RC_GTEST_PROP(LocalUpdateProperty, TwiceThePeriodHalvesTheTraffic, ()) {
    double const parameters = spread(1e3, 1e12);
    int const period = any_count(1000);
    RC_ASSERT(near(local_updates(parameters, {.period = period}).per_step.base(),
                   2.0 * local_updates(parameters, {.period = 2 * period}).per_step.base()));
}

// ---- experts ------------------------------------------------------------------------------------------------------

ExpertExchange any_exchange(int ranks) {
    int const experts = ranks * any_count(8);
    return {.tokens = spread(1.0, 1e5),
            .token = Bytes{spread(1.0, 1e5)},
            .top_k = *rc::gen::inRange(1, std::min(experts, 16) + 1),
            .experts = experts};
}

RC_GTEST_PROP(ExpertProperty, OneRankIsFree, ()) {
    ExpertExchange exchange = any_exchange(1);
    exchange.deduplicated = *rc::gen::arbitrary<bool>();
    ExpertTraffic const traffic = expert_exchange(exchange, {}, any_fabric());
    RC_ASSERT(traffic.time.total() == Seconds{});
    RC_ASSERT(traffic.sent == Bytes{});
}

RC_GTEST_PROP(ExpertProperty, PlainIsThePairwiseExchange, ()) {
    int const p = any_count(500);
    ExpertExchange exchange = any_exchange(p);
    TotalBytes const held{exchange.tokens * exchange.top_k * exchange.token};
    Fabric const fabric = any_fabric();
    RC_ASSERT(near(expert_exchange(exchange, {p, p}, fabric).time.total().base(),
                   ring_half(held, Ranks{p}, fabric.scale_up).total().base()));
    exchange.pipelined = false;
    Group const group = group_of(p, 1, any_count(100));
    RC_ASSERT(near(expert_exchange(exchange, group, fabric).time.total().base(),
                   fastest(Collective::all_to_all, held, group, fabric).time.total().base()));
}

RC_GTEST_PROP(ExpertProperty, OnceADomainNeverCrossesMore, ()) {
    Group const group = group_of(any_count(500), 1, any_count(100));
    ExpertExchange exchange = any_exchange(group.size);
    Fabric const fabric = any_fabric();
    ExpertTraffic const plain = expert_exchange(exchange, group, fabric);
    exchange.deduplicated = true;
    ExpertTraffic const once = expert_exchange(exchange, group, fabric);
    RC_ASSERT(once.crossing <= slack * plain.crossing);
    if (group.domains() == 1 || group.per_domain == 1) { RC_ASSERT(once.sent <= slack * plain.sent); }
    exchange.group_limit = any_count(group.domains());
    RC_ASSERT(expert_exchange(exchange, group, fabric).crossing <= slack * once.crossing);
}

RC_GTEST_PROP(ExpertProperty, PipelinedNeverTakesLonger, ()) {
    Group const group = group_of(any_count(500), 1, any_count(100));
    ExpertExchange exchange = any_exchange(group.size);
    exchange.deduplicated = *rc::gen::arbitrary<bool>();
    Fabric const fabric = any_fabric();
    Seconds const together = expert_exchange(exchange, group, fabric).time.total();
    exchange.pipelined = false;
    RC_ASSERT(together <= slack * expert_exchange(exchange, group, fabric).time.total());
}

TEST(ExpertProperty, DrawnExpertsReachTheExpectedPlaces) {
    // Expectation: 40,000 draws of k experts from a shuffled deck agree with the closed form to 1 %.
    std::mt19937_64 generator{7};
    for (auto const& [places, each, top_k] : {std::array{8, 32, 8}, {4, 2, 3}, {16, 1, 4}, {9, 28, 8}, {32, 8, 6}}) {
        std::vector<int> deck(static_cast<std::size_t>(places * each));
        std::iota(deck.begin(), deck.end(), 0);
        double reached = 0.0;
        constexpr int draws = 40000;
        for (int draw = 0; draw < draws; ++draw) {
            std::set<int> distinct;
            for (int card = 0; card < top_k; ++card) {
                auto const last = static_cast<int>(deck.size()) - 1;
                int const other = std::uniform_int_distribution<int>{card, last}(generator);
                std::swap(deck[static_cast<std::size_t>(card)], deck[static_cast<std::size_t>(other)]);
                distinct.insert(deck[static_cast<std::size_t>(card)] / each);
            }
            reached += static_cast<double>(distinct.size());
        }
        EXPECT_NEAR(expected_places(places, places * each, top_k) / (reached / draws), 1.0, 0.01)
            << places << " places, " << top_k << " experts";
    }
}

} // namespace
} // namespace headroom
