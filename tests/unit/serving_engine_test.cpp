#include "support/serving.hpp"

#include "headroom/error.hpp"
#include "headroom/fit/serving_validation.hpp"

#include <gmock/gmock.h>

#include <utility>

namespace headroom {
namespace {

using namespace serving;

constexpr Seconds us{1e-6};

ServingLaw law_of(Seconds layer, Seconds prompt_layer, Seconds sequence) {
    ServingLaw law;
    law.overhead = {.layer = layer, .prompt_layer = prompt_layer, .sequence = sequence};
    return law;
}

TEST(ServingLaw, AddsTimesByHand) {
    ServingLoad load{.products = 4000.0 * us,
                     .memory = 1000.0 * us,
                     .prefill_attention = 200.0 * us,
                     .decode_work = 100.0 * us,
                     .decode_read = 400.0 * us,
                     .communication = 900.0 * us,
                     .exchange_floors = 640.0 * us,
                     .exchanges = 20.0,
                     .layers = 10.0,
                     .sequences = 8.0,
                     .prefill_share = 0.5};
    auto law = law_of(30.0 * us, 100.0 * us, 5.0 * us);
    law.factors = {.prefill = 0.8, .cache_share = 1.0, .grouped_cache_share = 0.5, .exchange = 12.0 * us};
    // 0.9 x 5000 + 400 + 0.8 x 200 + (900 - 640 + 20 x 12) + 10 x 100 + 8 x 5
    EXPECT_NEAR(law_time(load, law) / us, 4500.0 + 400.0 + 160.0 + 500.0 + 1000.0 + 40.0, 1e-9);
    load.grouped = true; // 400 at half the rate
    EXPECT_NEAR(law_time(load, law) / us, 6600.0 + 400.0, 1e-9);
    load.prefill_share = 0.0; // 1.0 x 5000, a decode step's layers
    EXPECT_NEAR(law_time(load, law) / us, 7000.0 + 500.0 - 700.0, 1e-9);
    law.factors.exchange = 40.0 * us; // own kernels are taken where they are faster
    EXPECT_NEAR(law_time(load, law) / us, 6800.0 + 400.0, 1e-9);
    load.peer_traffic = 200.0 * us, load.peer_rate = 80.0 * us; // the library moves it at 0.4 of the link's rate
    EXPECT_NEAR(law_time(load, law) / us, 7200.0, 1e-9);
    law.factors.peer_share = 0.8;
    EXPECT_NEAR(law_time(load, law) / us, 7200.0 - 100.0, 1e-9);
}

TEST(ServingLaw, IsThatOfPriceAndTables) {
    auto law = law_of(50.0 * us, 200.0 * us, 30.0 * us);
    law.factors = {.prefill = 0.9, .cache_share = 1.1, .grouped_cache_share = 0.7, .exchange = 15.0 * us};
    for (auto const* name : {"llama-3-8b", "llama-2-7b", "gemma-3-12b", "nemotron-h-8b"}) {
        for (int const tp : {1, 4}) {
            auto const pricer = pricer_of(name, {.tp = tp, .prefill_chunk = 8192, .law = law});
            for (ServingBatch const& batch :
                 {ServingBatch{.decoding = 1, .decode_context = 700.0},
                  ServingBatch{.decoding = 200, .decode_context = 2e5},
                  ServingBatch{.prefill_tokens = 1500.0, .prefill_context = 1e6},
                  ServingBatch{.decoding = 31, .decode_context = 9e4, .prefill_tokens = 512, .prefill_context = 4e5}}) {
                EXPECT_NEAR(pricer.iteration(batch) / pricer.price(batch).total, 1.0, 1e-9) << name << " " << tp;
                EXPECT_NEAR(law_time(pricer.load(batch), law) / pricer.price(batch).total, 1.0, 1e-9) << name;
            }
        }
    }
}

TEST(ServingLaw, OwnExchangesNeedALinkOfTheirOwn) {
    auto fast = law_of(25.0 * us, 25.0 * us, Seconds{});
    fast.factors.exchange = 10.0 * us;
    ServingBatch const one{.decoding = 1, .decode_context = 1.0};
    auto const model = training::catalog().model("llama-3-8b");
    auto const communication = [&](char const* node, ServingLaw const& law) {
        auto const cluster = training::catalog().cluster(node);
        return ServingPricer{model, cluster, stack(), fitted_values(), {.tp = 4, .law = law}}.price(one).communication;
    };
    EXPECT_LT(communication("dgx-h100", fast), 0.6 * communication("dgx-h100", {}));
    EXPECT_NEAR(communication("dgx-h100", fast) / us, 66.0 * 10.0, 1.0); // two a layer, look-up and logits
    EXPECT_EQ(communication("l40s-pcie-8", fast), communication("l40s-pcie-8", {}));
}

TEST(ServingLaw, CardsThatWriteToEachOtherHaveARateOfTheirOwn) {
    ServingLaw law;
    law.factors.peer_share = 2.0 * fitted_values()[training::Constant::pcie];
    ServingBatch const prompt{.prefill_tokens = 2048.0, .prefill_context = 2e6};
    auto const model = training::catalog().model("llama-3-8b");
    auto const ratio = [&](char const* node, int peers) {
        auto cluster = training::catalog().cluster(node);
        cluster.accelerator.peer_to_peer = peers != 0;
        auto const with = [&](ServingLaw const& by) {
            return ServingPricer{model, cluster, stack(), fitted_values(), {.tp = 4, .law = by}}.price(prompt);
        };
        return with(law).communication / with({}).communication;
    };
    EXPECT_NEAR(ratio("l40s-pcie-8", 1), 0.5, 0.03); // latencies stay
    EXPECT_EQ(ratio("l40s-pcie-8", 0), 1.0);
    EXPECT_EQ(ratio("dgx-h100", 1), 1.0);
}

TEST(ServingLaw, ManyQueriesOfAKeyHaveARateOfTheirOwn) {
    ServingBatch const batch{.decoding = 64, .decode_context = 64.0 * 4096.0};
    auto const attention = [&](char const* model, double share) {
        ServingLaw law;
        law.factors.wide_share = share;
        return pricer_of(model, {.tp = 4, .law = law}).price(batch).attention;
    };
    EXPECT_NEAR(attention("falcon-180b", 0.01) / attention("falcon-180b", 0.02), 2.0, 1e-9); // 29 queries a key
    EXPECT_EQ(attention("falcon-40b", 0.01), attention("falcon-40b", 0.02));                 // 16
    EXPECT_EQ(attention("llama-3-8b", 0.01), attention("llama-3-8b", 0.02));
}

TEST(ServingPricer, ABlockSideBySideExchangesOnce) {
    ServingBatch const one{.decoding = 1, .decode_context = 1.0};
    auto model = training::catalog().model("falcon-40b");
    ASSERT_TRUE(model.parallel_block);
    double const once = pricer_of(model, {.tp = 4}).load(one).exchanges;
    model.parallel_block = false;
    double const twice = pricer_of(model, {.tp = 4}).load(one).exchanges;
    EXPECT_EQ(once, 60.0 + 2.0); // look-up and logits besides
    EXPECT_EQ(twice, 120.0 + 2.0);
}

TEST(ServingCalibration, TakesAnotherReleaseAndThenTheMean) {
    ServingCalibration set;
    set.mean.sequence = 3.0 * us;
    set.engines["vllm-2024"].sequence = 80.0 * us;
    set.guessed.pace.high = 2.0;
    EXPECT_EQ(set.law("vllm").overhead.sequence, 80.0 * us);
    EXPECT_EQ(set.law("vllm-2024").overhead.sequence, 80.0 * us);
    EXPECT_EQ(set.law("vllmix").overhead.sequence, 3.0 * us);
    EXPECT_EQ(set.law("tgi").overhead.sequence, 3.0 * us);
    EXPECT_FALSE(set.knows("vllm"));
    EXPECT_EQ(set.bands("vllm").pace.high, 2.0);
    EXPECT_EQ(set.bands("vllm-2024").pace.high, 1.0);
}

TEST(ServingRecords, AreReadAsTheyAreWritten) {
    auto const set = training::catalog().serving_calibration();
    auto const text = io::write_serving_calibration(set, {"a comment"});
    auto const again = io::read_serving_calibration(text, "again.toml");
    EXPECT_EQ(io::write_serving_calibration(again, {"a comment"}), text);
    EXPECT_EQ(again.engines.size(), set.engines.size());
    EXPECT_THROW(static_cast<void>(io::read_serving_calibration(text + "[guesses]\nx = 1\n", "x.toml")), InputError);
    for (auto const& name : training::catalog().names(io::RecordKind::engine)) {
        auto const engine = training::catalog().engine(name);
        EXPECT_EQ(engine.name, name);
        EXPECT_GT(engine.memory_share, 0.5) << name;
    }
    for (auto const& [name, overhead] : set.engines) {
        EXPECT_NO_THROW((void)training::catalog().engine(name)) << name;
    }
}

/// Runs that a law of one's own made, in two families of two engines.
std::vector<PublishedServing> planted(std::map<std::string, ServingLaw> const& laws) {
    std::vector<PublishedServing> runs;
    for (auto const& [engine, law] : laws) {
        for (char const* family : {"first ", "second "}) {
            for (double const batch : {1.0, 4.0, 16.0, 64.0}) {
                for (double const prompt : {128.0, 1024.0}) {
                    PublishedServing run{.family = family + engine,
                                         .engine = engine,
                                         .batch = batch,
                                         .prompt_tokens = prompt,
                                         .output_tokens = 128.0};
                    run.model = training::catalog().model(batch > 8.0 ? "llama-3-8b" : "llama-2-7b");
                    run.cluster = dgx();
                    run.framework = stack();
                    run.plan.tp = prompt > 500.0 ? 2 : 1;
                    run.plan.most_sequences = run.plan.prefill_chunk = 1;
                    auto const figures = served_figures(run, *served_loads(run, pricer_of(*run.model, run.plan)), law);
                    run.first_token = figures.first_token, run.per_token = figures.per_token;
                    run.tokens_per_second = figures.tokens_per_second;
                    runs.push_back(std::move(run));
                }
            }
        }
    }
    return runs;
}

TEST(Engine, HasTheDefaultLimitsOfAnAccelerator) {
    auto const limits = [](char const* engine, char const* accelerator) {
        Engine const record = training::catalog().engine(engine);
        auto const& found = record.limits_on(training::catalog().accelerator(accelerator));
        return std::pair{found.most_sequences, found.prefill_chunk};
    };
    EXPECT_EQ(limits("vllm", "h100-sxm-80gb"), std::pair(1024, 8192));
    EXPECT_EQ(limits("vllm", "a100-sxm-80gb"), std::pair(256, 2048)); // by name, although its memory would do
    EXPECT_EQ(limits("vllm", "l40s"), std::pair(256, 2048));
    EXPECT_EQ(limits("sglang", "rtx-4090"), std::pair(2048, 2048));
    EXPECT_EQ(limits("sglang", "l40s"), std::pair(2048, 8192));
    EXPECT_EQ(limits("sglang", "t4"), std::pair(2048, 2048));
    EXPECT_EQ(limits("lmdeploy", "a100-sxm-40gb"), std::pair(384, 2048));
    EXPECT_EQ(limits("deepspeed-mii", "h100-sxm-80gb"), std::pair(512, 768));
}

TEST(ServingFit, FindsWhatWasPlantedAndLeavesFamiliesOut) {
    ServingLaw slow = law_of(80.0 * us, 250.0 * us, 80.0 * us), quick = law_of(25.0 * us, 100.0 * us, 8.0 * us);
    slow.factors =
        quick.factors = {.prefill = 0.95, .cache_share = 1.0, .grouped_cache_share = 0.75, .exchange = 20.0 * us};
    auto const runs = planted({{"slow", slow}, {"quick", quick}});
    auto samples = fit::serving_samples(runs, fitted_values());
    ASSERT_EQ(samples.samples.size(), runs.size());
    auto const folds = fit::fit_serving_folds(samples.samples);
    EXPECT_NEAR(folds.all.engines.at("slow").layer->base() * 1e6, 80.0, 8.0);
    EXPECT_NEAR(folds.all.engines.at("slow").sequence.base() * 1e6, 80.0, 8.0);
    EXPECT_NEAR(folds.all.engines.at("quick").layer->base() * 1e6, 25.0, 5.0);
    EXPECT_NEAR(folds.all.factors.prefill, 0.95, 0.03);
    EXPECT_NEAR(folds.all.factors.exchange->base() * 1e6, 20.0, 4.0);
    EXPECT_EQ(folds.without.size(), 4U);
    auto const validation = fit::validate_serving(std::move(samples), folds.all, folds.without);
    for (auto const metric : fit::serving_metrics) {
        auto const* errors = validation.errors("all", "all", metric);
        ASSERT_NE(errors, nullptr);
        EXPECT_LT(errors->left_out.families_p90_absolute_error, 0.05) << name_of(metric);
        EXPECT_EQ(errors->left_out.families, 4);
    }
    EXPECT_THROW((void)fit::fit_serving_folds({}), InputError);
}

} // namespace
} // namespace headroom
