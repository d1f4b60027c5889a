#include "support/serving.hpp"

#include "headroom/error.hpp"
#include "headroom/serving/queue.hpp"

#include <gmock/gmock.h>

namespace headroom {
namespace {

using namespace serving;

std::vector<ServingRequest> traffic(double rate, double seconds, double prompt, double output, double variation = 0.0,
                                    std::uint64_t seed = 1) {
    return draw_requests({.requests_per_second = rate,
                          .prompt_tokens = prompt,
                          .output_tokens = output,
                          .prompt_variation = variation,
                          .output_variation = variation,
                          .duration = Seconds{seconds},
                          .seed = seed});
}

// ---- requests ------------------------------------------------------------------------------------------------------

TEST(ServingTraffic, HasTheMomentsThatWereAsked) {
    for (double const burstiness : {0.0, 0.5, 1.0, 4.0}) {
        auto const requests = draw_requests({.requests_per_second = 100.0,
                                             .burstiness = burstiness,
                                             .prompt_tokens = 800.0,
                                             .output_tokens = 200.0,
                                             .prompt_variation = 0.5,
                                             .output_variation = 2.0,
                                             .duration = Seconds{2000.0},
                                             .seed = 7});
        double const n = static_cast<double>(requests.size());
        double gap = 0.0, gap2 = 0.0, prompt = 0.0, prompt2 = 0.0, output = 0.0, before = 0.0;
        for (auto const& r : requests) {
            gap += r.arrives - before, gap2 += (r.arrives - before) * (r.arrives - before);
            prompt += r.prompt, prompt2 += static_cast<double>(r.prompt) * r.prompt, output += r.output;
            before = r.arrives;
        }
        EXPECT_NEAR(n / 2000.0, 100.0, 2.0) << burstiness;
        EXPECT_NEAR(gap2 * n / gap / gap - 1.0, burstiness, 0.03 * burstiness + 1e-9);
        EXPECT_NEAR(prompt / n, 800.0, 8.0);
        EXPECT_NEAR(prompt2 * n / prompt / prompt - 1.0, 0.5, 0.03);
        EXPECT_NEAR(output / n, 200.0, 4.0);
    }
}

TEST(ServingTraffic, IsTheSameForASeedAndKeepsArrivalsWhateverTheLengths) {
    auto const one = traffic(10.0, 50.0, 100.0, 30.0, 1.0), again = traffic(10.0, 50.0, 100.0, 30.0, 1.0);
    auto const longer = traffic(10.0, 50.0, 900.0, 30.0, 0.2), other = traffic(10.0, 50.0, 100.0, 30.0, 1.0, 2);
    ASSERT_EQ(one.size(), again.size());
    ASSERT_EQ(one.size(), longer.size());
    for (std::size_t i = 0; i < one.size(); ++i) {
        EXPECT_EQ(one[i].arrives, again[i].arrives);
        EXPECT_EQ(one[i].prompt, again[i].prompt);
        EXPECT_EQ(one[i].arrives, longer[i].arrives);
    }
    EXPECT_NE(one.front().arrives, other.front().arrives);
}

TEST(ServingTraffic, RefusesNonsense) {
    EXPECT_THROW(draw_requests({.requests_per_second = 0.0}), InputError);
    EXPECT_THROW(draw_requests({.requests_per_second = 1.0, .burstiness = -1.0}), InputError);
    EXPECT_THROW(draw_requests({.requests_per_second = 1.0, .prompt_tokens = 0.5}), InputError);
    EXPECT_THROW(draw_requests({.requests_per_second = 1.0, .output_variation = std::nan("")}), InputError);
    EXPECT_THROW(draw_requests({.requests_per_second = 1e9, .duration = Seconds{3600.0}}), InputError);
}

// ---- against one iteration after the other ------------------------------------------------------------------------

void expect_same(LatencyHistogram const& histogram, LatencyHistogram const& plain) {
    ASSERT_EQ(histogram.count(), plain.count());
    if (plain.empty()) { return; }
    EXPECT_NEAR(histogram.least() / plain.least(), 1.0, 1e-9);
    EXPECT_NEAR(histogram.most() / plain.most(), 1.0, 1e-9);
    EXPECT_NEAR(histogram.mean() / plain.mean(), 1.0, 1e-6); // a value may fall into the cell beside
    EXPECT_NEAR(histogram.variance(), plain.variance(), 1e-5 * plain.variance() + 1e-15);
}

void expect_as_plain(std::span<ServingRequest const> requests, ServingPricer const& pricer) {
    auto const plain = PlainReplica{pricer}.run(requests);
    LatencyHistogram first, each, whole;
    for (auto const& s : plain.served) {
        first.record(s.first - s.arrives);
        whole.record(s.done - s.arrives);
        if (s.output > 1) { each.record((s.done - s.first) / (s.output - 1.0)); }
    }
    for (bool const one_by_one : {false, true}) {
        auto const result = simulate_serving(requests, pricer, {.one_by_one = one_by_one});
        EXPECT_EQ(result.requests, plain.served.size());
        EXPECT_EQ(result.refused, plain.refused);
        EXPECT_EQ(result.iterations, plain.iterations);
        EXPECT_EQ(result.preemptions, plain.preemptions);
        expect_same(result.first_token, first);
        expect_same(result.per_token, each);
        expect_same(result.whole, whole);
    }
}

TEST(ServingSimulation, IsAsOneIterationAfterTheOther) {
    auto const pricer = pricer_of("llama-3-8b");
    expect_as_plain(traffic(2.0, 60.0, 512.0, 128.0), pricer);
    expect_as_plain(traffic(30.0, 60.0, 512.0, 128.0, 1.0), pricer);
}

TEST(ServingSimulation, OfLongPromptsInShortChunks) {
    expect_as_plain(traffic(4.0, 60.0, 3000.0, 40.0, 1.0), pricer_of("llama-3-8b", {.prefill_chunk = 256}));
}

TEST(ServingSimulation, OfABatchThatIsFull) {
    expect_as_plain(traffic(20.0, 30.0, 100.0, 100.0, 0.5), pricer_of("llama-3-8b", {.most_sequences = 8}));
}

TEST(ServingSimulation, OfACacheThatRunsOut) {
    auto const model = training::catalog().model("llama-3-8b");
    ServingPricer const pricer{model, with_room(model, {}, 8000.0), stack(), fitted_values(), {}};
    auto const requests = traffic(25.0, 30.0, 300.0, 300.0, 1.0);
    EXPECT_GT(simulate_serving(requests, pricer, {}).preemptions, 100U);
    EXPECT_GT(simulate_serving(traffic(5.0, 30.0, 3000.0, 300.0, 2.0), pricer, {}).refused, 10U);
    expect_as_plain(requests, pricer);
    expect_as_plain(traffic(5.0, 30.0, 3000.0, 300.0, 2.0), pricer);
}

TEST(ServingSimulation, OfWindowsAndOfScans) {
    expect_as_plain(traffic(6.0, 40.0, 700.0, 400.0, 0.7), pricer_of("gemma-3-12b"));
    expect_as_plain(traffic(6.0, 40.0, 700.0, 400.0, 0.7), pricer_of("nemotron-h-8b"));
    auto const model = training::catalog().model("gemma-3-12b");
    ServingPricer const narrow{model, with_room(model, {}, 9000.0), stack(), fitted_values(), {}};
    EXPECT_GT(simulate_serving(traffic(6.0, 40.0, 700.0, 400.0, 0.7), narrow, {}).preemptions, 10U);
    expect_as_plain(traffic(6.0, 40.0, 700.0, 400.0, 0.7), narrow);
}

TEST(ServingSimulation, OfAHostThatIsInTheWay) {
    expect_as_plain(traffic(30.0, 40.0, 200.0, 200.0, 0.5), pricer_of("llama-3.2-1b", {.graphs = false}));
}

TEST(ServingSimulation, OfRequestsThatComeTogetherAndAskForOneToken) {
    std::vector<ServingRequest> requests;
    for (int i = 0; i < 300; ++i) {
        requests.push_back({.arrives = 0.5 * (i / 100), .prompt = 1 + i, .output = 1 + i % 3});
    }
    expect_as_plain(requests, pricer_of("llama-3-8b"));
}

TEST(ServingSimulation, SumsOfManyReplicasAreThoseOfOneByOne) {
    auto const pricer = pricer_of("llama-3-8b");
    auto const requests = traffic(100.0, 60.0, 512.0, 128.0, 1.0);
    for (auto const dispatch :
         {Dispatch::round_robin, Dispatch::random, Dispatch::two_choices, Dispatch::shortest_line}) {
        ServingExperiment experiment{.replicas = 7, .dispatch = dispatch, .warm_up = Seconds{10.0}};
        auto const fast = simulate_serving(requests, pricer, experiment);
        experiment.one_by_one = true;
        auto const slow = simulate_serving(requests, pricer, experiment);
        EXPECT_EQ(fast.iterations, slow.iterations);
        EXPECT_LT(fast.events, slow.events);
        EXPECT_EQ(fast.met, slow.met);
        EXPECT_NEAR(fast.busy, slow.busy, 1e-9);
        EXPECT_NEAR(fast.mean_batch / slow.mean_batch, 1.0, 1e-9);
        EXPECT_NEAR(fast.cache_use / slow.cache_use, 1.0, 1e-9);
        EXPECT_NEAR(fast.mean_present / slow.mean_present, 1.0, 1e-9);
        EXPECT_NEAR(fast.mean_waiting / slow.mean_waiting, 1.0, 1e-9);
        EXPECT_NEAR(fast.output_tokens_per_second / slow.output_tokens_per_second, 1.0, 1e-12);
        EXPECT_NEAR(fast.prompt_tokens_per_second / slow.prompt_tokens_per_second, 1.0, 1e-12);
        expect_same(fast.whole, slow.whole);
    }
}

} // namespace
} // namespace headroom
