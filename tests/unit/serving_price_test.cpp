#include "support/serving.hpp"

#include "headroom/error.hpp"
#include "headroom/training/kernel.hpp"
#include "headroom/training/step.hpp"

#include <gmock/gmock.h>

namespace headroom {

using namespace headroom::training;

namespace {

using namespace serving;

ServingBatch decode(int sequences, double context) {
    return {.decoding = sequences, .decode_context = sequences * context};
}
ServingBatch prefill(double tokens) {
    return {.prefill_tokens = tokens, .prefill_context = 0.5 * tokens * (tokens + 1.0)};
}

TEST(ServingPrice, OneSequenceIsBoundByTheWeights) {
    auto const time = pricer_of("llama-3-8b").price(decode(1, 1.0));
    auto const model = training::catalog().model("llama-3-8b");
    auto const count = count_parameters(model);
    double const matrices = 2.0 * (count.total - count.embedding - 65.0 * 4096); // all but the table and norms
    EXPECT_EQ(time.bound, ServingBound::memory);
    EXPECT_NEAR(time.read.base(), matrices + 131072.0, 1.0);
    EXPECT_GT(time.total, time.read / dgx().accelerator.memory_bandwidth);
    EXPECT_NEAR(time.products.base(), matrices / (3.35e12 * fitted_values()[Constant::memory_fraction]), 0.02 * 5e-3);
    EXPECT_GT(time.total, 4.8 * units::ms); // 16.06 GB at 3.35 TB/s
    EXPECT_LT(time.total, 6.5 * units::ms);
}

TEST(ServingPrice, AFewSequencesCostLittleMoreThanOne) {
    auto const pricer = pricer_of("llama-3-8b");
    auto const one = pricer.price(decode(1, 1.0)).products, many = pricer.price(decode(32, 1.0)).products;
    EXPECT_LT(many, 1.05 * one);
    EXPECT_GE(many, one);
}

TEST(ServingPrice, LongPromptsRunAtTheAttainableRate) {
    auto const pricer = pricer_of("llama-3-8b", {.prefill_chunk = 8192});
    auto const time = pricer.price(prefill(8192));
    auto const rates = kernel_rates(dgx().accelerator, Precision::bf16, stack(), fitted_values());
    double const products = 2.0 * (8.03e9 - 2.0 * 128256 * 4096) * 8192; // the head is for one token
    EXPECT_EQ(time.bound, ServingBound::compute);
    EXPECT_GT(time.products.base(), products / rates.gemm.base());
    EXPECT_LT(time.products.base(), 1.1 * products / rates.gemm.base());
    EXPECT_LT(time.total.base(), 1.45 * products / rates.gemm.base());
    EXPECT_GT(time.flops.base(), products);
}

TEST(ServingPrice, ProductsAreThoseOfTheStepModel) {
    auto const rates = kernel_rates(dgx().accelerator, Precision::bf16, stack(), fitted_values());
    auto const product = [&](double m, double n, double k, FlopsPerSecond rate) {
        return product_time({.m = m, .n = n, .k = k}, rate, rates).base();
    };
    double const m = 2048;
    double const block = product(m, 6144, 4096, rates.gemm) + product(m, 4096, 4096, rates.gemm) +
                         product(m, 28672, 4096, rates.gemm) + product(m, 4096, 14336, rates.gemm);
    auto const pricer = pricer_of("llama-3-8b");
    auto const head = pricer.price(prefill(m)).products.base() - 32.0 * block;
    double const words = 128256.0 * 4096 * 2.0 / rates.memory.base();
    EXPECT_NEAR(head, words, 0.02 * words);
}

TEST(ServingPrice, AttentionReadsTheCacheOfAllSequences) {
    auto const pricer = pricer_of("llama-3-70b", {.tp = 8});
    auto const near = pricer.price(decode(64, 1000.0)), far = pricer.price(decode(64, 3000.0));
    EXPECT_NEAR((far.read - near.read).base(), 64.0 * 2000.0 * 40960.0, 1.0);
    double const bandwidth =
        3.35e12 * fitted_values()[Constant::memory_fraction] * ServingFactors{}.grouped_cache_share;
    EXPECT_NEAR((far.total - near.total).base(), 64.0 * 2000.0 * 40960.0 / bandwidth, 1e-9);
    EXPECT_EQ(near.products, far.products);
}

TEST(ServingPrice, ALatentCacheIsReadWholeByEveryRank) {
    for (int const tp : {16, 32}) {
        auto const pricer = pricer_of("deepseek-v3", {.tp = tp, .weights = Precision::fp8});
        auto const near = pricer.price(decode(8, 1000.0)), far = pricer.price(decode(8, 2000.0));
        EXPECT_NEAR((far.read - near.read).base(), 8000.0 * 70272.0, 1.0);
    }
}

TEST(ServingPrice, ABatchReadsTheExpertsThatItTouches) {
    auto const model = training::catalog().model("mixtral-8x7b");
    auto const pricer = pricer_of(model, {.tp = 2});
    double const experts = 32.0 * 8 * 3.0 * 4096 * 14336; // bytes of a rank of two
    auto const read = [&](int b) { return pricer.price(decode(b, 1.0)).read.base() - b * 65536.0; };
    for (int const b : {1, 2, 5, 40}) {
        double const touched = 1.0 - std::pow(0.75, b);
        EXPECT_NEAR(read(b) - read(1), experts * (touched - 0.25), 1.0) << b;
    }
}

TEST(ServingPrice, RanksShareTheProductsAndTalk) {
    auto const alone = pricer_of("llama-3-8b").price(decode(16, 500.0));
    auto const four = pricer_of("llama-3-8b", {.tp = 4}).price(decode(16, 500.0));
    EXPECT_EQ(alone.communication, Seconds{});
    EXPECT_NEAR(four.products / alone.products, 0.25, 0.01);
    EXPECT_NEAR(four.attention / alone.attention, 0.25, 1e-9);
    EXPECT_GT(four.communication, Seconds{64.0 * fitted_values()[Constant::base_latency]});
}

TEST(ServingPrice, RanksInSeveralNodesTalkOverTheNetwork) {
    auto const near = pricer_of("llama-3-70b", {.tp = 8}).price(prefill(2048));
    auto const far = pricer_of("llama-3-70b", {.tp = 16}).price(prefill(2048));
    EXPECT_GT(far.communication, near.communication);
    EXPECT_LT(far.products, near.products);
}

TEST(ServingPrice, WithoutGraphsTheHostIsInTheWay) {
    auto const graphs = pricer_of("llama-3.2-1b"), host = pricer_of("llama-3.2-1b", {.graphs = false});
    EXPECT_EQ(host.price(decode(1, 1.0)).bound, ServingBound::host);
    EXPECT_DOUBLE_EQ(host.iteration(decode(1, 1.0)).base(), 16.0 * fitted_values()[Constant::host_modern]);
    EXPECT_EQ(host.iteration(decode(1, 1.0)), host.iteration(prefill(4)));
    EXPECT_LT(graphs.iteration(decode(1, 1.0)), host.iteration(decode(1, 1.0)));
    EXPECT_EQ(graphs.price(decode(1, 1.0)).host, Seconds{});
    EXPECT_EQ(host.price(prefill(2048)).total, graphs.price(prefill(2048)).total); // it issues faster than that runs
}

TEST(ServingPrice, NarrowWeightsAreWidenedWhereTheChipCannotComputeInThem) {
    auto const wide = pricer_of("llama-3-8b"), narrow = pricer_of("llama-3-8b", {.weights = Precision::nvfp4});
    EXPECT_LT(narrow.price(decode(1, 1.0)).products, 0.4 * wide.price(decode(1, 1.0)).products);
    EXPECT_NEAR(narrow.price(prefill(2048)).products / wide.price(prefill(2048)).products, 1.0, 0.02);
}

TEST(ServingPrice, TablesHoldWhatOperationsAddUpTo) {
    for (auto const* name : {"llama-3-8b", "gpt-oss-20b", "nemotron-h-8b", "olmoe-1b-7b"}) {
        auto const pricer = pricer_of(name, {.prefill_chunk = 8192});
        for (ServingBatch const& batch :
             {decode(1, 10.0), decode(7, 3000.0), decode(256, 900.0), prefill(1.0), prefill(300.0), prefill(3000.0),
              ServingBatch{.decoding = 31, .decode_context = 9e4, .prefill_tokens = 512, .prefill_context = 4e5}}) {
            EXPECT_NEAR(pricer.iteration(batch) / pricer.price(batch).total, 1.0, 1e-9) << name;
        }
        auto const beyond = prefill(7321.0); // between two entries
        EXPECT_NEAR(pricer.iteration(beyond) / pricer.price(beyond).total, 1.0, 0.01) << name;
        auto const outside = prefill(20000.0);
        EXPECT_EQ(pricer.iteration(outside), pricer.price(outside).total) << name;
    }
}

TEST(ServingPrice, IterationsInARowAreASum) {
    for (bool const graphs : {true, false}) {
        for (auto const* name : {"llama-3-8b", "gemma-3-12b", "nemotron-h-8b"}) {
            auto const pricer = pricer_of(name, {.graphs = graphs});
            auto batch = decode(200, 700.0);
            Seconds one_by_one;
            for (int j = 0; j < 1200; ++j, batch.decode_context += 200) { one_by_one += pricer.iteration(batch); }
            EXPECT_NEAR(pricer.iterations(decode(200, 700.0), 1200) / one_by_one, 1.0, 1e-12) << name;
        }
    }
}

TEST(ServingPrice, LongerSequencesAreReadUpToTheWindow) {
    auto const pricer = pricer_of("gemma-3-12b");
    auto const grown = [&](double from, double to) {
        return (pricer.price(decode(4, to)).read - pricer.price(decode(4, from)).read).base() / (4.0 * (to - from));
    };
    EXPECT_NEAR(grown(100.0, 1000.0), 393216.0, 1e-3);
    EXPECT_NEAR(grown(2000.0, 9000.0), 65536.0, 1e-3);
    ServingBatch uneven = decode(2, 1500.0); // one of 100 and one of 2900
    uneven.decode_window_context = 100.0 + 1024.0;
    EXPECT_LT(pricer.iteration(uneven), pricer.iteration(decode(2, 1500.0)));
}

TEST(ServingPrice, MoreWorkNeverTakesLess) {
    auto const pricer = pricer_of("llama-3-8b");
    Seconds before;
    for (int b = 1; b <= 256; ++b) {
        auto const time = pricer.iteration(decode(b, 500.0));
        EXPECT_GE(time.base(), before.base() * (1.0 - 1e-12)) << b;
        before = time;
    }
}

TEST(ServingPrice, NothingTakesNothingAndNonsenseIsRefused) {
    auto const pricer = pricer_of("llama-3-8b");
    EXPECT_EQ(pricer.price({}).total, Seconds{});
    EXPECT_EQ(pricer.iteration({}), Seconds{});
    EXPECT_EQ(pricer.iterations(decode(3, 5.0), 0), Seconds{});
    EXPECT_THROW((void)pricer.price({.decoding = -1}), InputError);
    EXPECT_THROW((void)pricer.price({.decoding = 1, .decode_context = std::nan("")}), InputError);
    EXPECT_THROW((void)pricer.iterations(prefill(3.0), 2), InputError);
    for (auto const& guess : serving_guesses()) { EXPECT_FALSE(guess.why.empty()); }
}

} // namespace
} // namespace headroom
