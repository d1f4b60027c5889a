// Bursts, users, prefixes, stages and drafts: figures by hand from prices of single iterations.

#include "support/serving.hpp"

#include "headroom/error.hpp"
#include "headroom/serving/inference_answer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

namespace headroom {
namespace {

using namespace serving;

std::vector<ServingRequest> alike(int count, ServingRequest const& one) {
    return std::vector<ServingRequest>(static_cast<std::size_t>(count), one);
}

/// Prompt tokens from + 1 to `to` of one sequence.
ServingBatch chunk(double from, double to) {
    return {.prefill_tokens = to - from, .prefill_context = 0.5 * (to * (to + 1.0) - from * (from + 1.0))};
}

TEST(ServingBurst, TakesWhatOneReplicaTakesOneIterationAfterTheOther) {
    auto const pricer = pricer_of("llama-3-8b", {.most_sequences = 8});
    auto const requests = draw_burst({.prompt_tokens = 300.0, .output_tokens = 40.0, .output_variation = 1.0}, 50);
    auto const plain = PlainReplica{pricer}.run(requests);
    double last = 0.0;
    for (auto const& one : plain.served) { last = std::max(last, one.done); }
    auto const result = simulate_serving(requests, pricer, {});
    EXPECT_EQ(result.requests, 50U);
    EXPECT_NEAR(result.span.base(), last, 1e-9 * last);
    EXPECT_TRUE(result.stable);
    // eight at a time: the others wait in line
    EXPECT_GT(result.mean_waiting, 10.0);
    EXPECT_LE(result.mean_batch, 8.0);
}

TEST(ServingUsers, OneUserWaitsForEveryAnswer) {
    auto const pricer = pricer_of("llama-3-8b");
    auto const requests = alike(50, {.prompt = 500, .output = 20});
    auto const result = simulate_serving(requests, pricer, {.concurrency = 1});
    Seconds whole = pricer.price(chunk(0, 500)).total;
    for (int token = 1; token < 20; ++token) {
        whole += pricer.price({.decoding = 1, .decode_context = 500.0 + token}).total;
    }
    EXPECT_NEAR(result.whole.most(), whole.base(), 1e-6 * whole.base());
    EXPECT_EQ(result.requests, 40U) << "the first fifth is not counted";
    EXPECT_NEAR(result.mean_present, 1.0, 1e-3) << "the next request follows a microsecond after the answer";
}

TEST(ServingUsers, AreAllThereAllTheTime) {
    auto const pricer = pricer_of("llama-3-8b");
    auto const requests = draw_burst({.prompt_tokens = 200.0, .output_tokens = 60.0, .output_variation = 1.0}, 1500);
    for (auto const dispatch : {Dispatch::shortest_line, Dispatch::round_robin}) {
        auto const result =
            simulate_serving(requests, pricer, {.replicas = 2, .dispatch = dispatch, .concurrency = 24});
        EXPECT_NEAR(result.mean_present, 24.0, 0.1);
        EXPECT_NEAR(result.whole.mean() * static_cast<double>(result.requests) / result.span.base(), 24.0, 2.0)
            << "Little's law, but for the answers after the last arrival";
    }
}

TEST(ServingPrefix, ComputesTheRestOfThePrompt) {
    auto const pricer = pricer_of("llama-3-8b");
    auto const all = simulate_serving(alike(1, {.prompt = 1500, .output = 2}), pricer, {});
    auto const rest = simulate_serving(alike(1, {.prompt = 1500, .output = 2, .cached = 1000}), pricer, {});
    EXPECT_NEAR(all.first_token.most(), pricer.price(chunk(0, 1500)).total.base(), 1e-9);
    EXPECT_NEAR(rest.first_token.most(), pricer.price(chunk(1000, 1500)).total.base(), 1e-9);
    EXPECT_NEAR(rest.cache_peak, all.cache_peak, 1e-12) << "its cache is held all the same";
    EXPECT_EQ(cached_tokens(1000, 0.6), 600);
    EXPECT_EQ(cached_tokens(1000, 1.0), 999) << "a token is computed, which gives the first one";
}

TEST(ServingInTwo, SendsTheCacheBetweenPromptAndTokens) {
    auto const pricer = pricer_of("llama-3-8b");
    auto const result = simulate_serving(alike(1, {.prompt = 600, .output = 11}), pricer, {.prefill_replicas = 1});
    double const first = pricer.price(chunk(0, 600)).total.base();
    // 131,072 bytes a token on one NIC
    double const sent = dgx().scale_out.latency.base() + 600 * 131072.0 / dgx().scale_out.bandwidth.base();
    double others = 0.0;
    for (int token = 1; token <= 10; ++token) {
        others += pricer.price({.decoding = 1, .decode_context = 600.0 + token}).total.base();
    }
    EXPECT_NEAR(result.first_token.most(), first, 1e-9);
    EXPECT_NEAR(result.whole.most(), first + sent + others, 1e-8);
    EXPECT_NEAR(result.per_token.most(), (sent + others) / 10.0, 1e-9);
}

TEST(ServingInTwo, KeepsPromptsOutOfTheWayOfTokens) {
    auto const pricer = pricer_of("llama-3-8b");
    auto const requests = draw_requests({.requests_per_second = 8.0,
                                         .prompt_tokens = 2000.0,
                                         .output_tokens = 100.0,
                                         .prompt_variation = 1.0,
                                         .duration = Seconds{60.0}});
    auto const both = simulate_serving(requests, pricer, {.replicas = 2});
    auto const apart = simulate_serving(requests, pricer, {.replicas = 1, .prefill_replicas = 1});
    EXPECT_EQ(apart.requests + apart.refused, requests.size());
    EXPECT_LT(apart.per_token.quantile(0.99), both.per_token.quantile(0.99));
}

TEST(ServingInTwo, EndsABurstWithItsLastAnswer) {
    auto const pricer = pricer_of("llama-3-8b");
    auto const requests = draw_burst({.prompt_tokens = 300.0, .output_tokens = 40.0}, 64);
    auto const result = simulate_serving(requests, pricer, {.prefill_replicas = 1});
    EXPECT_NEAR(result.span.base(), result.whole.most(), 1e-9);
    EXPECT_NEAR(result.output_tokens_per_second * result.span.base(), 64 * 40.0, 1e-6);
    EXPECT_TRUE(result.stable);
}

TEST(ServingStages, HalveWeightsAndAddSends) {
    auto const one = pricer_of("llama-3-8b"), two = pricer_of("llama-3-8b", {.pp = 2});
    // blocks are halved; the embedding and the output projection, 128,256 x 4,096 each, are on different stages
    double const tables = 2.0 * 128256 * 4096;
    EXPECT_NEAR(two.memory().weights.base(), (one.memory().weights.base() - 2 * tables) / 2 + tables, 1e3);
    EXPECT_EQ(two.memory().cache_per_token, one.memory().cache_per_token) << "of a batch, in both stages";
    ServingBatch const batch{.decoding = 16, .decode_context = 16 * 500.0};
    double const send = dgx().scale_up.latency.base() + 16 * 4096 * 2.0 / dgx().scale_up.bandwidth.base();
    EXPECT_NEAR((two.price(batch).total - one.price(batch).total).base(), send, 1e-12);
}

TEST(ServingStages, AreAsLongAsTheLongest) {
    ServingLaw const law{.overhead = {.layer = Seconds{1e-3}}};
    // 32 layers in 3 stages are 11 in the longest: 33 of them are waited for
    auto const time = pricer_of("llama-3-8b", {.pp = 3, .law = law}).price({.decoding = 1, .decode_context = 100.0});
    EXPECT_NEAR(time.gaps.base(), 33e-3, 1e-12);
    EXPECT_THROW(pricer_of("llama-3-8b", {.pp = 33}), InputError);
}

TEST(ServingStages, HaveABatchEach) {
    auto const pricer = pricer_of("llama-3-8b", {.pp = 2, .most_sequences = 8});
    auto const result = simulate_serving(alike(8, {.prompt = 100, .output = 100}), pricer, {});
    EXPECT_LE(result.mean_batch, 4.0) << "four in each of two batches";
    EXPECT_EQ(result.requests, 8U);
    auto const alone = simulate_serving(alike(4, {.prompt = 100, .output = 100}),
                                        pricer_of("llama-3-8b", {.pp = 2, .most_sequences = 8}), {});
    EXPECT_LT(result.span.base(), 2.0 * alone.span.base()) << "batches in different stages do not wait for each other";
}

TEST(ServingDrafts, GiveWhatIsAccepted) {
    EXPECT_DOUBLE_EQ((Speculation{.draft_tokens = 4, .acceptance = 0.5}).tokens(), 1.9375);
    EXPECT_DOUBLE_EQ((Speculation{.draft_tokens = 4, .acceptance = 1.0}).tokens(), 5.0);
    EXPECT_DOUBLE_EQ((Speculation{.draft_tokens = 4, .acceptance = 0.0}).tokens(), 1.0);
    EXPECT_DOUBLE_EQ(Speculation{}.tokens(), 1.0);
}

TEST(ServingDrafts, OneRequestGetsTheTokensOfAnIterationInItsTime) {
    auto const pricer = pricer_of("llama-3-8b", {.speculation = {.draft_tokens = 3, .acceptance = 0.8}});
    double const given = 1.0 + 0.8 + 0.64 + 0.512;
    auto const result = simulate_serving(alike(1, {.prompt = 400, .output = 11}), pricer, {});
    double sum = 0.0;
    for (int token = 1; token <= 10; ++token) {
        sum += pricer.price({.decoding = 1, .decode_context = 400.0 + token}).total.base() / given;
    }
    EXPECT_NEAR(result.per_token.mean(), sum / 10.0, 1e-9);
}

TEST(ServingDrafts, VerifyAsManyTokensAndReadTheCacheOnce) {
    ServingBatch const batch{.decoding = 8, .decode_context = 8 * 1000.0};
    auto const plain = pricer_of("llama-3-8b").price(batch);
    auto const four = pricer_of("llama-3-8b", {.speculation = {.draft_tokens = 3, .acceptance = 0.8}}).price(batch);
    auto const wide = pricer_of("llama-3-8b").price({.decoding = 32, .decode_context = 8 * 1000.0});
    EXPECT_NEAR(four.products / wide.products, 1.0, 1e-12) << "as a batch of 32 tokens";
    EXPECT_NEAR(four.attention / plain.attention, 1.0, 1e-12) << "reads bind: one pass over the cache";
    EXPECT_EQ(four.draft, Seconds{});
}

TEST(ServingDrafts, TakeTheStepsOfTheirModel) {
    auto const draft = std::make_shared<training::Model const>(training::catalog().model("llama-3.2-1b"));
    ServingPlan const plan{.speculation = {.draft_tokens = 3, .acceptance = 0.8, .draft = draft}};
    ServingBatch const batch{.decoding = 8, .decode_context = 8 * 1000.0};
    auto const with = pricer_of("llama-3-8b", plan), without = pricer_of("llama-3-8b");
    EXPECT_NEAR(with.price(batch).draft / (3.0 * pricer_of("llama-3.2-1b").price(batch).total), 1.0, 1e-9);
    auto const memory = serving_memory(*draft, dgx(), {});
    EXPECT_NEAR(with.memory().weights / (without.memory().weights + memory.weights), 1.0, 1e-12);
    EXPECT_NEAR(with.memory().cache_per_token / (without.memory().cache_per_token + memory.cache_per_token), 1.0,
                1e-12);
    // a batch of one with most drafts accepted is faster; one that accepts none only loses the drafts' time
    ServingBatch const one{.decoding = 1, .decode_context = 1000.0};
    EXPECT_LT(with.price(one).total / plan.speculation.tokens(), without.price(one).total);
    ServingPlan none = plan;
    none.speculation.acceptance = 0.0;
    EXPECT_GT(pricer_of("llama-3-8b", none).price(one).total / none.speculation.tokens(), without.price(one).total);
}

TEST(ServingWeights, OfFourBitsAreReadInFourAndComputedInSixteen) {
    auto const formats = weight_formats();
    auto const four = std::ranges::find(formats, "int4", &WeightFormat::name);
    ASSERT_NE(four, formats.end());
    EXPECT_DOUBLE_EQ(four->bytes, 0.51953125); // 4 bits, and 20 bits for 128 elements
    auto const wide = pricer_of("llama-3-8b"), kept = pricer_of("llama-3-8b", {.kept = &*four});
    // blocks have 6.979e9 elements in matrices
    double const matrices = 32.0 * (2 * 4096 * 4096 + 2 * 4096 * 1024 + 3.0 * 4096 * 14336);
    EXPECT_NEAR((wide.memory().weights - kept.memory().weights).base(), matrices * (2.0 - four->bytes), 1e3);
    ServingBatch const one{.decoding = 1, .decode_context = 100.0};
    EXPECT_LT(kept.price(one).products / wide.price(one).products, 0.45);
    EXPECT_NEAR(kept.price(chunk(0, 2048)).products / wide.price(chunk(0, 2048)).products, 1.0, 0.05)
        << "prompts compute in 16 bits";
}

TEST(ServingBatchEvidence, OfAnEngineWithoutRunsIsTheBatchThatAllReached) {
    ServingCalibration constants;
    constants.mean.sequence = Seconds{30e-6}, constants.mean.largest_batch = 2048;
    constants.engines["wide"] = {.sequence = Seconds{10e-6}, .largest_batch = 1024};
    constants.engines["narrow"] = {.sequence = Seconds{80e-6}, .largest_batch = 64};
    constants.engines["unsaid"] = {.sequence = Seconds{20e-6}, .largest_batch = 0};
    EXPECT_EQ(constants.evidence("wide").largest_batch, 1024.0);
    for (char const* name : {"never seen", "unsaid"}) {
        EXPECT_EQ(constants.evidence(name).largest_batch, 64.0) << name;
        EXPECT_EQ(constants.evidence(name).least, Seconds{10e-6});
        EXPECT_EQ(constants.evidence(name).most, Seconds{80e-6});
    }
}

TEST(ServingBatchEvidence, WidensBeyondTheLargestPublishedBatch) {
    InferenceQuestion question{.model = training::catalog().model("llama-3-8b"),
                               .cluster = dgx(),
                               .framework = stack(),
                               .calibration = training::fitted()};
    question.plan.law.overhead = {.layer = Seconds{40e-6}, .sequence = Seconds{50e-6}};
    question.degrees = {1};
    question.bands = {{0.5, 2.0}, {0.8, 1.5}};
    auto const interval = [&](double largest_batch) {
        question.evidence = {.largest_batch = largest_batch, .least = Seconds{10e-6}, .most = Seconds{80e-6}};
        return *answer_inference(question, {}).decode_interval;
    };
    auto const known = interval(256.0), unknown = interval(0.0), beyond = interval(156.0);
    EXPECT_DOUBLE_EQ(known.high / known.value, 1.5);
    EXPECT_DOUBLE_EQ(unknown.high / unknown.value, 1.5) << "of nothing known it is not widened";
    // a hundred sequences more than any run: each 40 us less or 30 us more
    EXPECT_NEAR(beyond.low.base(), 0.8 * (known.value.base() - 100 * 40e-6), 1e-12);
    EXPECT_NEAR(beyond.high.base(), 1.5 * (known.value.base() + 100 * 30e-6), 1e-12);
}

} // namespace
} // namespace headroom
