// Reference results of tests/data/textbook.json, each to the digits it shows.

#include "headroom/laws/laws.hpp"
#include "headroom/network/collective.hpp"
#include "headroom/network/server.hpp"
#include "headroom/order_statistics.hpp"
#include "headroom/training/goodput.hpp"
#include "headroom/training/laws.hpp"
#include "headroom/training/model.hpp"
#include "headroom/training/operation.hpp"
#include "headroom/training/prediction.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

namespace headroom {

using namespace headroom::laws;
using namespace headroom::network;
using namespace headroom::training;

namespace {

using nlohmann::json;
using namespace units;

json const& textbook() {
    static json const document =
        json::parse(std::ifstream{std::string{HEADROOM_SOURCE_DIR} + "/tests/data/textbook.json"});
    return document;
}

/// Equal to the decimals shown: within half of the last one.
void expect_shown(double value, json const& shown, int digits, std::string const& what) {
    EXPECT_NEAR(value, shown.get<double>(), 0.5 * std::pow(10.0, -digits) * (1.0 + 1e-9)) << what;
}

/// Equal to 1e-6 relative: results that were not rounded.
void expect_exact(double value, json const& shown, std::string const& what) {
    double const expected = shown.get<double>();
    EXPECT_NEAR(value, expected, 1e-6 * std::abs(expected)) << what;
}

Ranks ranks(json const& count) { return Ranks{count.get<int>()}; }
double number(json const& value) { return value.get<double>(); }

// ---- speed-up laws ------------------------------------------------------------------------------------------------

TEST(Textbook, SpeedupLaws) {
    // Expectation: a problem of fixed size stops at 1/s; one that grows with the workers does not.
    json const& book = textbook().at("speedup_laws");
    json const& fractions = book.at("serial_fractions");
    int const digits = book.at("digits").get<int>();
    for (std::size_t i = 0; i < book.at("workers").size(); ++i) {
        for (std::size_t j = 0; j < fractions.size(); ++j) {
            Ranks const workers = ranks(book.at("workers")[i]);
            double const s = number(fractions[j]);
            std::string const what = "s = " + std::to_string(s) + ", K = " + std::to_string(workers.count());
            expect_shown(amdahl_speedup(s, workers), book.at("amdahl_speedup")[i][j], digits, "Amdahl, " + what);
            expect_shown(gustafson_speedup(s, workers), book.at("gustafson_speedup")[i][j], digits,
                         "Gustafson, " + what);
        }
    }
    for (std::size_t j = 0; j < fractions.size(); ++j) {
        double const s = number(fractions[j]);
        double const ceiling = amdahl_ceiling(s).value();
        expect_exact(ceiling, book.at("amdahl_ceiling")[j], "ceiling");
        expect_shown(100.0 * amdahl_speedup(s, Ranks{1024}) / ceiling, book.at("percent_of_ceiling_at_1024")[j], 1,
                     "percent of the ceiling");
    }
}

TEST(Textbook, FivePercentSerial) {
    // Expectation: one part in twenty caps the gain at 20 and leaves 64 workers three quarters idle.
    json const& book = textbook().at("five_percent_serial");
    double const s = number(book.at("serial_fraction"));
    for (auto const& [workers, speedup] : book.at("speedup").items()) {
        Ranks const count{std::stoi(workers)};
        expect_shown(amdahl_speedup(s, count), speedup, 1, workers + " workers");
        expect_shown(100.0 * amdahl_speedup(s, count) / count.count(), book.at("efficiency_percent").at(workers), 0,
                     workers + " workers, percent");
    }
    expect_exact(amdahl_ceiling(s).value(), book.at("ceiling"), "ceiling");
}

TEST(Textbook, SerialFractionFromAProfileOnOneNode) {
    // Expectation: measured on one node, the share that stays is Amdahl's own fraction.
    json const& book = textbook().at("serial_fraction_from_profile");
    Profile const profile{.compute = number(book.at("compute_ms")) * ms,
                          .communication = number(book.at("communication_ms")) * ms,
                          .workers = ranks(book.at("at_workers"))};
    expect_exact(serial_share_at(profile, Ranks{1}), book.at("serial_fraction"), "serial fraction");
    expect_exact(ceiling_over_one_worker(profile).value(), book.at("ceiling"), "ceiling");
    expect_shown(speedup_over_k0(profile, Ranks{16}), book.at("speedup_at_16"), 1, "16 nodes");
    expect_shown(speedup_over_k0(profile, Ranks{1024}), book.at("speedup_at_1024"), 2, "1024 nodes");
}

TEST(Textbook, ProfileAtK0) {
    // Expectation: a fifth of the step stays, so eight GPUs can become five times as fast, not eightfold more.
    json const& book = textbook().at("profile_at_k0");
    Profile const profile{.compute = number(book.at("compute_ms")) * ms,
                          .communication = number(book.at("communication_ms")) * ms,
                          .workers = ranks(book.at("k0"))};
    expect_exact(serial_share_at(profile, profile.workers), book.at("share_at_k0"), "share at K0");
    expect_exact(ceiling_over_k0(profile).value(), book.at("ceiling_over_k0"), "ceiling over K0");
    for (auto const& [workers, speedup] : book.at("speedup_over_k0").items()) {
        expect_exact(speedup_over_k0(profile, Ranks{std::stoi(workers)}), speedup, workers + " workers");
    }
    // Expectation: 288 is a tie at 90 %, and a tie counts.
    EXPECT_EQ(workers_for_share_of_ceiling(serial_share_at(profile, Ranks{1}), 0.9),
              book.at("smallest_k_with_90_percent_of_ceiling").get<std::int64_t>());
}

TEST(Textbook, ProfileAt256) {
    // Expectation: 22 % at 256 workers is a ceiling of 909 over one worker, not of 4.5.
    json const& book = textbook().at("profile_at_256");
    Profile const profile{.compute = Seconds{0.78}, .communication = Seconds{0.22}, .workers = Ranks{256}};
    expect_shown(ceiling_over_one_worker(profile).value(), book.at("ceiling_over_one_worker"), 1, "ceiling");
    expect_shown(step_at(profile, Ranks{8}) / step_at(profile, Ranks{256}), book.at("step_8_over_step_256"), 2,
                 "step on 8 over step on 256");
}

TEST(Textbook, FixedCommunicationShrinkingCompute) {
    // Expectation: the step keeps getting shorter; only the share fed back into Amdahl's formula turns over.
    json const& book = textbook().at("fixed_communication_shrinking_compute");
    Profile const profile{.compute = 1800.0 * ms, .communication = 20.0 * ms, .workers = Ranks{1}};
    int const digits = book.at("digits").get<int>();
    for (std::size_t i = 0; i < book.at("workers").size(); ++i) {
        Ranks const workers = ranks(book.at("workers")[i]);
        double const share = serial_share_at(profile, workers);
        std::string const what = std::to_string(workers.count()) + " workers";
        expect_shown(share, book.at("serial_fraction")[i], digits, what);
        expect_exact(amdahl_speedup(share, workers), book.at("amdahl_of_s")[i], what); // last digit not rounded
        expect_shown(step_at(profile, workers).in(ms), book.at("step_ms")[i], digits, what);
        expect_shown(speedup_over_k0(profile, workers), book.at("speedup")[i], digits, what);
    }
}

// ---- data parallelism ---------------------------------------------------------------------------------------------

DataParallel data_parallel(json const& book, double parameters) {
    return {.parameters = parameters,
            .rate = number(book.at("flops_per_s")) * flop / s,
            .bandwidth = number(book.at("bytes_per_s")) * byte / s,
            .per_parameter = number(book.at("bytes_per_parameter")) * byte};
}

double local_batch(double global_batch, int workers) { return std::max(std::floor(global_batch / workers), 1.0); }

Seconds gradient_all_reduce(DataParallel const& step, Ranks workers) {
    return ring_all_reduce({step.per_parameter * step.parameters}, workers, {.bandwidth = step.bandwidth}).total();
}

double gamma(DataParallel const& step, double batch, Ranks workers) {
    return communication_to_computation(gradient_all_reduce(step, workers), compute_time_data_parallel(step, batch));
}

TEST(Textbook, CommunicationToComputationRatio) {
    // Expectation: a fixed global batch is divided away; between 4 and 16 workers gradients begin to decide.
    json const& book = textbook().at("communication_to_computation_ratio");
    DataParallel const step = data_parallel(book, number(book.at("parameters")));
    double const global_batch = number(book.at("global_batch"));
    for (json const& row : book.at("rows")) {
        Ranks const workers = ranks(row.at("k"));
        double const batch = local_batch(global_batch, workers.count());
        std::string const what = std::to_string(workers.count()) + " workers";
        EXPECT_EQ(batch, number(row.at("local_batch"))) << what;
        expect_shown(compute_time_data_parallel(step, batch).in(ms), row.at("compute_ms"), 2, what);
        expect_shown(gradient_all_reduce(step, workers).in(ms), row.at("all_reduce_ms"), 2, what);
        expect_shown(gamma(step, batch, workers), row.at("gamma"), 3, what);
        EXPECT_EQ(gamma(step, batch, workers) > 1.0, row.at("communication_bound").get<bool>()) << what;
    }
    expect_exact(break_even_workers(step, global_batch), book.at("break_even_workers"), "break-even");
}

TEST(Textbook, GammaDoesNotDependOnTheModelsSize) {
    // Expectation: both times are proportional to P, so every row has the same ratio.
    json const& book = textbook().at("communication_to_computation_ratio");
    json const& sweep = book.at("model_size_sweep");
    Ranks const workers = ranks(sweep.at("k"));
    double const batch = number(sweep.at("local_batch"));
    for (json const& row : sweep.at("rows")) {
        DataParallel const step = data_parallel(book, number(row.at("p")));
        std::string const what = row.at("p").dump() + " parameters";
        expect_shown(compute_time_data_parallel(step, batch).in(ms), row.at("compute_ms"), 2, what);
        expect_shown(gradient_all_reduce(step, workers).in(ms), row.at("all_reduce_ms"), 2, what);
        expect_shown(gamma(step, batch, workers), row.at("gamma"), 2, what);
    }
}

TEST(Textbook, LatencyFloorOfARing) {
    // Expectation: 2 * 1023 hops of 5 us cost 10.23 ms whatever is sent.
    json const& book = textbook().at("communication_to_computation_ratio");
    json const& floor = book.at("latency_floor");
    DataParallel const step = data_parallel(book, number(book.at("parameters")));
    Link const link{.latency = 5.0 * us, .bandwidth = step.bandwidth};
    expect_shown(ring_all_reduce({1.0 * byte}, Ranks{1024}, link).latency.in(ms), floor.at("latency_ms"), 2, "latency");
    expect_exact(parameters_at_latency_crossover(Ranks{1024}, link.latency, link.bandwidth, step.per_parameter),
                 floor.at("latency_equals_bandwidth_at_parameters"), "crossover");
}

TEST(Textbook, TheStoryNeedsItsGlobalBatch) {
    // Expectation: a quarter of the batch is four times the ratio; a gamma without its batch says nothing.
    json const& book = textbook().at("communication_to_computation_ratio");
    json const& story = book.at("story");
    DataParallel const step = data_parallel(book, number(book.at("parameters")));
    double const global_batch = number(story.at("global_batch"));
    expect_shown(gamma(step, local_batch(global_batch, 16), Ranks{16}), story.at("gamma_at_16"), 2, "16 workers");
    expect_shown(gamma(step, local_batch(global_batch, 64), Ranks{64}), story.at("gamma_at_64"), 2, "64 workers");
}

TEST(Textbook, WeakScalingGamma) {
    // Expectation: with 512 tokens a worker the ratio settles at 0.677; with 347 it would settle at 1.
    json const& book = textbook().at("weak_scaling_gamma");
    DataParallel const step = data_parallel(textbook().at("communication_to_computation_ratio"), 7e9);
    expect_shown(weak_scaling_gamma(step, number(book.at("b"))), book.at("gamma_infinity"), 3, "gamma");
    expect_shown(local_batch_at_break_even(step), book.at("b_where_gamma_infinity_is_1"), 2, "local batch");
}

TEST(Textbook, LatencySweep) {
    // Expectation: the model that a ring of K makes latency-bound grows in proportion to K.
    json const& book = textbook().at("latency_sweep");
    for (std::size_t i = 0; i < book.at("workers").size(); ++i) {
        expect_exact(
            parameters_at_latency_crossover(ranks(book.at("workers")[i]), 5.0 * us, 600.0 * GB / s, 2.0 * byte),
            book.at("parameters")[i], book.at("workers")[i].dump() + " workers");
    }
}

TEST(Textbook, ParameterServerAgainstRing) {
    // Expectation: one port serves 8 workers in turn, 2 K n / B; a ring loads every port with 2(K-1)/K n / B.
    json const& book = textbook().at("parameter_server_against_ring");
    Link const link{.latency = Seconds{}, .bandwidth = number(book.at("bandwidth_bytes_per_s")) * byte / s};
    TotalBytes const gradients{number(book.at("n_bytes")) * byte};
    Ranks const workers = ranks(book.at("k"));
    expect_exact(parameter_server(gradients, workers, {.port = link, .worker = link}).total().in(s),
                 book.at("server_seconds"), "server");
    expect_exact(ring_all_reduce(gradients, workers, link).total().in(s), book.at("ring_seconds"), "ring");
}

TEST(Textbook, RingAllReduceOf70BillionGradients) {
    // Expectation: each of 8 devices sends 2 * 7/8 of 140 GB, 245 GB, and needs 0.54 s at 450 GB/s.
    json const& book = textbook().at("ring_all_reduce_70b");
    TotalBytes const gradients{number(book.at("parameters")) * number(book.at("bytes_per_gradient")) * byte};
    Ranks const devices = ranks(book.at("gpus"));
    Link const link{.latency = Seconds{}, .bandwidth = number(book.at("bandwidth_each_way_bytes_per_s")) * byte / s};
    expect_exact(ring_all_reduce_bytes(gradients, devices).base(), book.at("bytes_per_device"), "bytes");
    expect_shown(ring_all_reduce(gradients, devices, link).total().in(s), book.at("seconds"),
                 book.at("digits").get<int>(), "seconds");
}

// ---- pipeline, memory, tensor parallelism -------------------------------------------------------------------------

TEST(Textbook, PipelineBubble) {
    // Expectation: 7 of 39 slots wait; eight stages are worth six and a half.
    json const& book = textbook().at("pipeline_bubble");
    Ranks const stages = ranks(book.at("stages")), micro_batches = ranks(book.at("micro_batches"));
    expect_exact(pipeline_bubble_fraction(stages, micro_batches), book.at("bubble_fraction"), "bubble");
    expect_shown(pipeline_speedup(stages, micro_batches), book.at("speedup"), book.at("digits").get<int>(), "speed-up");
}

/// Bytes that each rank sends for the tensor-parallel collectives of one block's forward pass.
Bytes forward_tensor_bytes(LayerProgram const& block, Ranks tensor) {
    Bytes sent;
    for (Operation const& operation : block.operations()) {
        if (operation.traffic != Traffic::tensor || operation.phase != Phase::forward) { continue; }
        Bytes const both_halves = ring_all_reduce_bytes({operation.bytes}, tensor);
        sent += operation.collective == Collective::all_reduce ? both_halves : both_halves / 2.0;
    }
    return sent;
}

TEST(Textbook, ColumnRowPairing) {
    // Expectation: column then row needs one all-reduce for the pair; two separately parallel layers would gather and
    // reduce h-wide tensors twice. A block has two pairs, attention and feed-forward, of equal size.
    json const& book = textbook().at("column_row_pairing");
    Model const model{.name = "dense",
                      .layers = 2,
                      .hidden = 8192,
                      .heads = 64,
                      .kv_heads = 64,
                      .head_dim = 128,
                      .ffn = 32768,
                      .vocab = 32000,
                      .moe = {},
                      .latent = {},
                      .state_space = {},
                      .pattern = {},
                      .operators = {}};
    Ranks const tensor{8};
    for (bool const sequence_parallel : {false, true}) {
        LayerShape const shape{
            .sequence_length = 2048, .micro_batch = 1, .tp = tensor.count(), .sequence_parallel = sequence_parallel};
        Bytes const n = 2048.0 * model.hidden * element_bytes(shape.precision) * byte;
        Bytes const one_pair =
            forward_tensor_bytes(step_program(model, shape, Framework{}).blocks.front().program, tensor) / 2.0;
        EXPECT_DOUBLE_EQ(one_pair.base(), ring_all_reduce_bytes({n}, tensor).base());
        Bytes const apart = 2.0 * ring_all_reduce_bytes({n}, tensor);
        EXPECT_DOUBLE_EQ(one_pair / apart, number(book.at("ratio"))) << "sequence parallel: " << sequence_parallel;
    }
}

// ---- tails and failures -------------------------------------------------------------------------------------------

TEST(Textbook, SlowestOfMany) {
    // Expectation: 256 times as many ranks make the slowest 2.4 times as far from the mean, not 256 times.
    json const& book = textbook().at("tail");
    for (auto const& [count, maximum] : book.at("expected_max_standard_normal").items()) {
        expect_shown(expected_maximum_normal(Ranks{std::stoi(count)}), maximum, 4, "of " + count);
    }
    // Expectation: what is rare for one is the rule for many.
    expect_shown(probability_any_slow(0.01, Ranks{100}), book.at("one_percent_slow_at_100"), 3, "1 % of 100");
    expect_shown(probability_any_slow(0.001, Ranks{4096}), book.at("tenth_percent_slow_at_4096"), 4, "0.1 % of 4096");
}

TEST(Textbook, Checkpointing) {
    // Expectation: the percentages are those of Young's interval; the best one, 1118 s and shown as 1120, saves less
    // than a hundredth of a point.
    json const& book = textbook().at("checkpointing");
    FailureModel model{.checkpoint = 60.0 * s, .restart = {}, .mtbf = 3.1 * hour};
    Seconds const young = young_interval(model), best = exact_interval(model);
    expect_shown(young.in(s), book.at("young_interval_seconds"), 0, "Young");
    expect_shown(best.in(s), book.at("exact_optimum_seconds"), -1, "best");
    for (int const restart : {0, 300, 600}) {
        json const& shown = book.at("time_over_work_minus_1_percent").at("restart_" + std::to_string(restart) + "_s");
        model.restart = restart * s;
        double const at_young = 100.0 * (time_over_work(model, young) - 1.0);
        double const at_best = 100.0 * (time_over_work(model, best) - 1.0);
        expect_shown(at_young, shown, 2, "restart " + std::to_string(restart));
        EXPECT_LT(at_best, at_young);
        EXPECT_NEAR(at_best, at_young, 0.01);
        EXPECT_EQ(exact_interval(model), best); // whatever a restart takes
    }
}

// ---- models -------------------------------------------------------------------------------------------------------

Model llama(std::string name, int layers, int hidden, int heads, int kv_heads, int ffn, int vocab) {
    Model model;
    model.name = std::move(name);
    model.layers = layers;
    model.hidden = hidden;
    model.heads = heads;
    model.kv_heads = kv_heads;
    model.head_dim = hidden / heads;
    model.ffn = ffn;
    model.vocab = vocab;
    return model;
}

TEST(Textbook, ParameterCounts) {
    // Expectation: exact to the last parameter, from the public dimensions.
    json const& book = textbook().at("parameter_counts");
    for (Model const& model :
         {llama("llama-2-7b", 32, 4096, 32, 32, 11008, 32000), llama("llama-3.1-8b", 32, 4096, 32, 8, 14336, 128256),
          llama("llama-3.1-70b", 80, 8192, 64, 8, 28672, 128256),
          llama("llama-3.1-405b", 126, 16384, 128, 8, 53248, 128256),
          llama("mistral-7b", 32, 4096, 32, 8, 14336, 32000)}) {
        EXPECT_EQ(count_parameters(model).total, number(book.at(model.name))) << model.name;
    }
    Model mixtral = llama("mixtral-8x7b", 32, 4096, 32, 8, 14336, 32000);
    mixtral.moe = {.experts = 8, .top_k = 2, .ffn = 14336, .shared_experts = 0};
    EXPECT_EQ(count_parameters(mixtral).total, number(book.at("mixtral-8x7b").at("total")));
    EXPECT_EQ(count_parameters(mixtral).active, number(book.at("mixtral-8x7b").at("active")));
}

TEST(Textbook, Llama65bOn2048A100) {
    // Expectation: 380 tokens/s a GPU is 47.7 % of 312 TFLOP/s by 6N; attention scores add one point when half of
    // them are counted and two when all are - near the 50 % that was published.
    json const& book = textbook().at("llama_65b_on_2048_a100");
    Model const model =
        llama("llama-65b", book.at("layers").get<int>(), book.at("hidden").get<int>(), 64, 64, 22016, 32000);
    double const parameters = count_parameters(model).total;
    EXPECT_NEAR(parameters / number(book.at("parameters")), 1.0, 1e-3);

    int const length = book.at("sequence_length").get<int>();
    FlopsPerSecond const peak = number(book.at("peak_flops_per_s")) * flop / s;
    Seconds const sequence_time = length / number(book.at("tokens_per_second_per_gpu")) * s;
    Flops const six_n = training_flops_6n(parameters, length);
    auto const percent = [&](AttentionConvention convention) {
        Flops const attention = 3.0 * forward_flops(model, length, convention).attention;
        return 100.0 * flops_utilization(six_n + attention, sequence_time, 1, peak);
    };
    expect_shown(percent(AttentionConvention::none), book.at("mfu_percent_6n"), 1, "6N");
    expect_shown(percent(AttentionConvention::causal), book.at("mfu_percent_causal_attention"), 1, "causal");
    expect_shown(percent(AttentionConvention::full), book.at("mfu_percent_full_attention"), 1, "full");
    EXPECT_NEAR(percent(AttentionConvention::full), number(book.at("mfu_percent_published")), 0.5);
    // Expectation: the three conventions of forward_flops agree with the sum up to tables and norms, 0.4 % of N.
    EXPECT_DOUBLE_EQ(3.0 * forward_flops(model, length, AttentionConvention::none).total() / six_n, 1.0);
    EXPECT_NEAR(3.0 * forward_flops(model, length, AttentionConvention::full).total() /
                    (six_n + 3.0 * forward_flops(model, length, AttentionConvention::full).attention),
                1.0, 0.005);
}

} // namespace
} // namespace headroom
