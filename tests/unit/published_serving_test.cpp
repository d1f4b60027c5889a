#include "support/serving.hpp"

#include "headroom/error.hpp"
#include "headroom/io/serving_runs.hpp"
#include "headroom/serving/published_serving.hpp"

#include <gmock/gmock.h>

namespace headroom {
namespace {

using namespace serving;

PublishedServing run_of(RequestSchedule schedule, double batch, double prompt, double output) {
    PublishedServing run{.schedule = schedule, .batch = batch, .prompt_tokens = prompt, .output_tokens = output};
    run.model = training::catalog().model("llama-3-8b");
    run.cluster = dgx();
    run.framework = stack();
    return run;
}
ServingPricer pricer_for(PublishedServing const& run) { return pricer_of(*run.model, run.plan); }
/// Figures by the law of the pricer, whose overheads are resolved.
std::optional<ServedFigures> figures_of(PublishedServing const& run, ServingPricer const& pricer) {
    auto const loads = served_loads(run, pricer);
    return loads ? std::optional{served_figures(run, *loads, pricer.plan().law)} : std::nullopt;
}
ServingBatch prompts(double sequences, double tokens) {
    return {.prefill_tokens = sequences * tokens, .prefill_context = sequences * tokens * (tokens + 1.0) / 2.0};
}

TEST(PublishedServing, AStaticBatchIsItsPromptsAndItsSteps) {
    auto const run = run_of(RequestSchedule::together, 16.0, 512.0, 101.0);
    auto const pricer = pricer_for(run);
    auto const figures = figures_of(run, pricer).value();
    Seconds const first = pricer.price(prompts(16.0, 512.0)).total;
    Seconds const step = pricer.price({.decoding = 16, .decode_context = 16.0 * (512.0 + 50.5)}).total;
    EXPECT_NEAR(figures.first_token / first, 1.0, 1e-12);
    EXPECT_NEAR(figures.per_token / step, 1.0, 1e-12);
    EXPECT_NEAR(figures.tokens_per_second, 16.0 * 101.0 / (first + 100.0 * step).base(), 1e-9);
    EXPECT_EQ(served_loads(run, pricer)->batch, 16.0);
}

TEST(PublishedServing, MemoryBoundsTheBatch) {
    auto const run = run_of(RequestSchedule::saturated, 1e6, 4096.0, 4096.0);
    auto const pricer = pricer_for(run);
    EXPECT_EQ(served_loads(run, pricer)->batch, std::floor(pricer.memory().cache / Bytes{131072.0 * 8192.0}));
    auto const longer = run_of(RequestSchedule::together, 1.0, 1e6, 1.0); // 131 GB of cache
    EXPECT_FALSE(served_loads(longer, pricer_for(longer)));
}

TEST(PublishedServing, RefilledARequestWaitsForTwoIterationsAndTheFirstOnesComeTogether) {
    auto run = run_of(RequestSchedule::refilled, 8.0, 512.0, 100.0);
    auto const pricer = pricer_for(run);
    auto const step = figures_of(run, pricer)->per_token;
    ServingBatch joined = prompts(1.0, 512.0);
    joined.decoding = 8, joined.decode_context = 8.0 * (512.0 + 50.0);
    Seconds const added = pricer.price(joined).total - step;
    // 8 requests in 100 iterations: each iteration has 0.08 prompts of others
    EXPECT_NEAR(figures_of(run, pricer)->first_token / (2.0 * step + 1.16 * added), 1.0, 1e-12);
    run.requests = 80.0;
    Seconds const together = pricer.price(prompts(8.0, 512.0)).total;
    EXPECT_NEAR(figures_of(run, pricer)->first_token / (2.0 * step + 1.16 * added + 0.1 * together), 1.0, 1e-12);
}

TEST(PublishedServing, RoundsBeginWithTheFirstThatComes) {
    auto const run = run_of(RequestSchedule::rounds, 16.0, 512.0, 101.0);
    auto const pricer = pricer_for(run);
    Seconds const alone = pricer.price(prompts(1.0, 512.0)).total, others = pricer.price(prompts(15.0, 512.0)).total;
    EXPECT_NEAR(figures_of(run, pricer)->first_token / (alone + 15.0 / 16.0 * others), 1.0, 1e-12);
    auto const single = run_of(RequestSchedule::rounds, 1.0, 512.0, 101.0);
    EXPECT_NEAR(figures_of(single, pricer)->first_token / alone, 1.0, 1e-12);
    auto const short_prompts = run_of(RequestSchedule::rounds, 2.0, 1.0, 101.0); // a decode step each
    Seconds const one = pricer.price({.decoding = 1, .decode_context = 1.0}).total;
    EXPECT_NEAR(figures_of(short_prompts, pricer)->first_token / (1.5 * one), 1.0, 1e-12);
}

TEST(PublishedServing, RoundsWaitForWavesWhereMemoryAdmitsFewer) {
    auto const run = run_of(RequestSchedule::rounds, 300.0, 2048.0, 2048.0);
    auto const pricer = pricer_for(run);
    auto const loads = served_loads(run, pricer).value();
    double const tokens = pricer.memory().cache / Bytes{131072.0};
    EXPECT_EQ(loads.batch, std::floor(tokens / 4096.0));
    EXPECT_EQ(loads.admitted, std::floor(tokens / 2049.0)); // as long as they are when they are admitted
    ASSERT_LT(300.0 - loads.admitted, loads.batch);         // the rest wait for one wave
    auto const figures = figures_of(run, pricer).value();
    Seconds const wave{loads.batch * 2048.0 / figures.tokens_per_second};
    Seconds const alone = pricer.price(prompts(1.0, 2048.0)).total;
    Seconds const others = pricer.price(prompts(loads.admitted - 1.0, 2048.0)).total;
    Seconds const held = alone + (loads.admitted - 1.0) / loads.admitted * others;
    EXPECT_NEAR((figures.first_token - held) / ((300.0 - loads.admitted) / 300.0 * wave), 1.0, 1e-9);
}

TEST(PublishedServing, PromptsAreComputedInChunks) {
    auto run = run_of(RequestSchedule::together, 4.0, 512.0, 101.0);
    run.prompt_chunk = 768.0; // three iterations of 683 tokens
    auto const pricer = pricer_for(run);
    ServingBatch chunk = prompts(4.0, 512.0);
    chunk.prefill_tokens /= 3.0, chunk.prefill_context /= 3.0;
    EXPECT_NEAR(figures_of(run, pricer)->first_token / (3.0 * pricer.price(chunk).total), 1.0, 1e-12);
    run.prompt_chunk = 2048.0;
    EXPECT_NEAR(figures_of(run, pricer)->first_token / pricer.price(prompts(4.0, 512.0)).total, 1.0, 1e-12);
}

TEST(PublishedServing, APromptOfOneTokenIsADecodeStep) {
    auto const run = run_of(RequestSchedule::together, 4.0, 1.0, 64.0);
    auto const figures = figures_of(run, pricer_for(run)).value();
    EXPECT_EQ(figures.first_token, figures.per_token);
}

TEST(PublishedServing, NothingReadsFasterThanTheMemory) {
    auto run = run_of(RequestSchedule::together, 1.0, 128.0, 128.0);
    auto const loads = served_loads(run, pricer_for(run)).value();
    Seconds const least = loads.read / dgx().accelerator.memory_bandwidth; // 15 GB at 3.35 TB/s: 4.5 ms
    EXPECT_NEAR(least.in(units::ms), 4.5, 0.1);
    run.per_token = 1.01 * least;
    EXPECT_EQ(impossible_serving(run, loads), "");
    run.per_token = 0.99 * least;
    EXPECT_THAT(impossible_serving(run, loads), testing::HasSubstr("at the memory's peak"));
    run.per_token.reset();
    run.tokens_per_second = 1.01 / least.base();
    EXPECT_THAT(impossible_serving(run, loads), testing::StartsWith("an iteration of"));
    run.output_tokens = 1.0; // a first token, whose rate is not one of iterations
    EXPECT_EQ(impossible_serving(run, loads), "");
    run.first_token = 0.5 * least;
    EXPECT_THAT(impossible_serving(run, loads), testing::StartsWith("a first token of"));
}

TEST(ServingRuns, SayWhyTheyAreSkippedAndTakeTheShareOfOutputs) {
    std::vector<Issue> issues;
    auto const runs = io::read_serving_runs("engine,model,accelerator,accelerators,tp,batch,schedule,input_tokens,"
                                            "output_tokens,total_tokens_per_s,weights_precision\n"
                                            "vllm,llama-3-8b,h100-sxm-80gb,1,1,4,,300,100,400,fp8\n"
                                            "vllm,llama-3-8b,h100-sxm-80gb,2,1,4,,300,100,400,\n"
                                            "vllm,llama-3-8b,h100-sxm-80gb,1,1,4,backwards,300,100,400,\n"
                                            "vllm,llama-3-8b,h100-sxm-80gb,1,1,4,,300,,400,\n"
                                            "vllm,llama-3-8b,h100-sxm-80gb,1,1,4,,300,100,,\n"
                                            "vllm,llama-3-8b,h100-sxm-80gb,1,1,4,,300,100,400,int3\n"
                                            "vllm,llama-3-8b,abacus,1,1,4,,300,100,400,\n",
                                            "t.csv", training::catalog(), issues);
    std::vector<std::string> reasons;
    for (auto const& run : runs) { reasons.push_back(run.skipped_reason); }
    EXPECT_THAT(reasons, testing::ElementsAre("", "accelerators that tensor ranks do not explain",
                                              "schedule 'backwards' is not together, saturated, refilled or rounds",
                                              "no output_tokens stated", "no figure stated",
                                              "weights_precision 'int3' is not known",
                                              "accelerator 'abacus' is not in the catalog"));
    EXPECT_EQ(runs[0].tokens_per_second, 100.0);
    EXPECT_EQ(runs[0].plan.weights, Precision::fp8);
    EXPECT_THROW(
        static_cast<void>(io::read_serving_runs("engine,model\nvllm,x\n", "t.csv", training::catalog(), issues)),
        InputError);
}

} // namespace
} // namespace headroom
