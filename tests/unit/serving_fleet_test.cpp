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

// ---- laws that hold whatever is simulated --------------------------------------------------------------------------

/// Time of one request where nothing else is served.
double alone(ServingPricer const& pricer, ServingRequest const& request) {
    double const prompt = request.prompt;
    double const first =
        pricer.iteration({.prefill_tokens = prompt, .prefill_context = 0.5 * prompt * (prompt + 1.0)}).base();
    return first + pricer.iterations({.decoding = 1, .decode_context = prompt + 1.0}, request.output - 1).base();
}

/// With one sequence at a time a replica is a server, and requests come as a Poisson stream: M/G/1.
TEST(ServingFleet, OneSequenceAtATimeIsTheQueueOfPollaczekAndKhinchine) {
    auto const pricer = pricer_of("llama-3-8b", {.most_sequences = 1});
    for (double const variation : {0.0, 1.0}) {
        for (double const load : {0.3, 0.7}) {
            double const service = alone(pricer, {.prompt = 200, .output = 20});
            double sum = 0.0, squares = 0.0;
            constexpr int runs = 20;
            for (int run = 0; run < runs; ++run) {
                auto const requests =
                    traffic(load / service, 20000.0 * service, 200.0, 20.0, variation, static_cast<std::uint64_t>(run));
                double all = 0.0, all2 = 0.0;
                for (auto const& request : requests) {
                    double const one = alone(pricer, request);
                    all += one, all2 += one * one;
                }
                double const n = static_cast<double>(requests.size()), mean = all / n;
                auto const expected = queue_answer({.arrivals_per_second = n / (20000.0 * service),
                                                    .service = Seconds{mean},
                                                    .service_variation = std::max(0.0, all2 / n / mean / mean - 1.0)},
                                                   {});
                auto const result = simulate_serving(requests, pricer, {});
                double const ratio = result.whole.mean() / expected.latency.base();
                sum += ratio, squares += ratio * ratio;
                EXPECT_NEAR(result.busy, expected.utilization, 0.01);
            }
            double const mean = sum / runs;
            double const error = std::sqrt((squares / runs - mean * mean) / (runs - 1));
            EXPECT_LT(error, 0.02) << load << " " << variation;
            EXPECT_NEAR(mean, 1.0, 3.5 * error) << load << " " << variation;
        }
    }
}

TEST(ServingFleet, ObeysLittlesLaw) {
    auto const pricer = pricer_of("llama-3-8b");
    for (double const rate : {5.0, 40.0, 160.0}) {
        auto const requests = traffic(rate, 900.0, 512.0, 128.0, 1.0);
        auto const result = simulate_serving(requests, pricer, {.replicas = 4, .warm_up = Seconds{100.0}});
        double const arrivals = static_cast<double>(result.requests) / result.span.base();
        EXPECT_NEAR(result.mean_present / (arrivals * result.whole.mean()), 1.0, 0.01) << rate;
        EXPECT_NEAR(result.span.base(), requests.back().arrives - 100.0, 1e-9);
    }
}

TEST(ServingFleet, EveryTokenIsCounted) {
    auto const requests = traffic(10.0, 1000.0, 512.0, 128.0);
    auto const result = simulate_serving(requests, pricer_of("llama-3-8b"), {.replicas = 2});
    double const each = static_cast<double>(requests.size()) / result.span.base();
    EXPECT_EQ(result.requests, requests.size());
    EXPECT_NEAR(result.output_tokens_per_second / (128.0 * each), 1.0, 0.002);
    EXPECT_NEAR(result.prompt_tokens_per_second / (512.0 * each), 1.0, 0.002);
    EXPECT_TRUE(result.stable);
    EXPECT_EQ(result.unfinished, 0U);
}

TEST(ServingFleet, RequestsThatAllCameAtOnceAreCountedToTheLastAnswer) {
    std::vector<ServingRequest> const requests(500, {.arrives = 0.0, .prompt = 100, .output = 50});
    auto const result = simulate_serving(requests, pricer_of("llama-3-8b"), {});
    EXPECT_DOUBLE_EQ(result.span.base(), result.whole.most());
    EXPECT_NEAR(result.output_tokens_per_second * result.span.base(), 500.0 * 50, 1e-6);
    EXPECT_NEAR(result.busy, 1.0, 1e-9);
    EXPECT_TRUE(result.stable);
}

TEST(ServingFleet, NoticesThatItDoesNotKeepUp) {
    auto const pricer = pricer_of("llama-3-8b");
    auto const fits = simulate_serving(traffic(30.0, 300.0, 512.0, 128.0), pricer, {});
    auto const too_much = simulate_serving(traffic(90.0, 300.0, 512.0, 128.0), pricer, {});
    EXPECT_TRUE(fits.stable);
    EXPECT_FALSE(too_much.stable);
    EXPECT_GT(too_much.unfinished, 1000U);
    // so much that nothing counted is served before the last has come
    auto const far_too_much = simulate_serving(traffic(900.0, 60.0, 512.0, 128.0), pricer, {.warm_up = Seconds{20.0}});
    EXPECT_FALSE(far_too_much.stable);
    EXPECT_GT(far_too_much.whole.least(), far_too_much.span.base());
    EXPECT_NEAR(far_too_much.span.base(), 40.0, 0.1);
    EXPECT_EQ(too_much.requests, traffic(90.0, 300.0, 512.0, 128.0).size()); // served all the same
}

TEST(ServingFleet, WarmingUpIsServedButNotCounted) {
    auto const requests = traffic(10.0, 200.0, 512.0, 128.0);
    auto const counted = std::ranges::count_if(requests, [](auto const& r) { return r.arrives >= 50.0; });
    auto const result = simulate_serving(requests, pricer_of("llama-3-8b"), {.warm_up = Seconds{50.0}});
    EXPECT_EQ(result.requests, static_cast<std::uint64_t>(counted));
}

TEST(ServingFleet, GoodputCountsWhatMeetsEveryObjective) {
    auto const pricer = pricer_of("llama-3-8b");
    auto const requests = traffic(30.0, 300.0, 512.0, 128.0, 1.0);
    auto const any = simulate_serving(requests, pricer, {});
    EXPECT_EQ(any.met, 1.0);
    double const limit = any.whole.quantile(0.6);
    auto const some = simulate_serving(requests, pricer, {.objectives = {.whole = Seconds{limit}}});
    EXPECT_NEAR(some.met, 0.6, 0.01);
    EXPECT_DOUBLE_EQ(some.goodput_per_second * some.span.base(), some.met * static_cast<double>(some.requests));
    auto const none =
        simulate_serving(requests, pricer, {.objectives = {.first_token = Seconds{1e-6}, .whole = Seconds{limit}}});
    EXPECT_EQ(none.met, 0.0);
}

TEST(ServingFleet, ShorterLinesAreNoLonger) {
    auto const pricer = pricer_of("llama-3-8b", {.most_sequences = 16});
    auto const requests = traffic(120.0, 400.0, 300.0, 100.0, 1.0);
    auto const waiting = [&](Dispatch dispatch) {
        return simulate_serving(requests, pricer, {.replicas = 8, .dispatch = dispatch, .warm_up = Seconds{40.0}})
            .mean_waiting;
    };
    EXPECT_LT(waiting(Dispatch::shortest_line), waiting(Dispatch::random));
    EXPECT_LT(waiting(Dispatch::two_choices), waiting(Dispatch::random));
    EXPECT_LT(waiting(Dispatch::round_robin), waiting(Dispatch::random));
}

TEST(ServingFleet, ReplicasSideBySideGiveTheSameBytes) {
    auto const pricer = pricer_of("llama-3-8b");
    auto const requests = traffic(50.0, 100.0, 512.0, 128.0, 1.0);
    Executor const backwards = [](int count, std::function<void(int)> const& task) {
        for (int i = count - 1; i >= 0; --i) { task(i); }
    };
    for (auto const dispatch : {Dispatch::round_robin, Dispatch::random}) {
        ServingExperiment const experiment{.replicas = 5, .dispatch = dispatch};
        auto const one = simulate_serving(requests, pricer, experiment);
        auto const other = simulate_serving(requests, pricer, experiment, backwards);
        EXPECT_TRUE(one.whole == other.whole);
        EXPECT_EQ(one.busy, other.busy);
        EXPECT_EQ(one.mean_present, other.mean_present);
        EXPECT_EQ(one.cache_use, other.cache_use);
    }
}

TEST(ServingFleet, RefusesWhatCannotBeSimulated) {
    auto const pricer = pricer_of("llama-3-8b");
    std::vector<ServingRequest> const one{{.arrives = 1.0, .prompt = 10, .output = 10}};
    auto const refused = [&](std::vector<ServingRequest> const& requests, ServingExperiment const& experiment) {
        EXPECT_THROW(simulate_serving(requests, pricer, experiment), InputError);
    };
    refused({}, {});
    refused(one, {.replicas = 0});
    refused(one, {.dispatch = Dispatch::shared_line});
    refused(one, {.warm_up = Seconds{-1.0}});
    refused(one, {.warm_up = Seconds{2.0}});
    refused({{.arrives = 1.0, .prompt = 0, .output = 10}}, {});
    refused({{.arrives = 1.0, .prompt = 5, .output = 0}}, {});
    refused({{.arrives = -1.0, .prompt = 5, .output = 1}}, {});
    refused({{.arrives = std::nan(""), .prompt = 5, .output = 1}}, {});
    refused({{.arrives = 2.0, .prompt = 5, .output = 1}, {.arrives = 1.0, .prompt = 5, .output = 1}}, {});
    EXPECT_THROW(simulate_serving(one, pricer_of("llama-3-70b"), {}), InputError); // does not fit
}

TEST(ServingFleet, AFleetThatCanHoldNoRequestRefusesAll) {
    auto const pricer = pricer_of("llama-3-8b");
    std::vector<ServingRequest> const one{{.arrives = 1.0, .prompt = 10'000'000, .output = 10}};
    auto const result = simulate_serving(one, pricer, {});
    EXPECT_EQ(result.refused, 1U);
    EXPECT_EQ(result.requests, 0U);
    EXPECT_TRUE(result.whole.empty());
}

} // namespace
} // namespace headroom
