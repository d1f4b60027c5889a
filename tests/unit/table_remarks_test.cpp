// Brackets of heads, rows of units and heads of one worker: read as they mean, or refused by name.

#include "support/benchmark_logs.hpp"
#include "support/latency_texts.hpp"
#include "support/training.hpp"

#include "headroom/error.hpp"
#include "headroom/io/request_trace.hpp"
#include "headroom/io/runs.hpp"
#include "headroom/io/scaling_table.hpp"
#include "headroom/io/serving_runs.hpp"
#include "headroom/training/validation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace headroom::io {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

ScalingTable read(std::string_view text) { return read_scaling_table(text, "t.csv", {}); }

std::string refusal(std::function<void()> const& reading) {
    try {
        reading();
    } catch (InputError const& error) { return error.what(); }
    return "it was read";
}
std::string refused(std::string const& text) {
    return refusal([&] { static_cast<void>(read(text)); });
}

/// Whatever stands in brackets is a unit or a remark that changes nothing.
TEST(TableRemarks, BracketsThatAreNotUnderstoodAreRefusedByName) {
    for (std::string const text : {"ks", "weeks", "ps", "x", "10^-3 s", "x1000 s", "log2 s", "ms/epoch", "arb"}) {
        EXPECT_THAT(refused("gpus,time (" + text + ")\n1,100\n2,51\n"), HasSubstr("which is no unit of time")) << text;
    }
    for (std::string const head : {"speedup (%)", "Speedup (vs A100)", "throughput (log2 img/s)"}) {
        EXPECT_THAT(refused("gpus," + head + "\n1,1.0\n2,1.9\n"), HasSubstr("is not understood")) << head;
    }
    EXPECT_THAT(refused("gpus (x1000),time (s)\n1,100\n2,51\n"), HasSubstr("'x1000' of 'gpus (x1000)'"));
    EXPECT_THAT(test::error_of_log("collective,ranks,size (elements),time_us\nall_reduce,8,65536,21.5\n"),
                HasSubstr("'elements' of 'size (elements)' is not understood"));
    EXPECT_THAT(test::error_of_log("collective,ranks,size,time (x)\nall_reduce,8,65536,21.5\n"),
                HasSubstr("'x' of 'time (x)' is not understood"));
    EXPECT_THAT(refusal([] {
                    static_cast<void>(read_request_text("arrival (s),prompt (characters),output\n0,100,10\n1,90,9\n",
                                                        "requests", {}));
                }),
                HasSubstr("'characters' of 'prompt (characters)'"));
    EXPECT_THAT(refusal([] { static_cast<void>(test::read_latencies("latency (ks)\n1.5\n1.6\n")); }),
                HasSubstr("is in ks, which is no unit of time"));
}

TEST(TableRemarks, UnitsAndRemarksInBracketsAreRead) {
    for (std::string const text : {"ms", "in ms", "ms/step", "ms per iteration", "ms, lower is better",
                                   "avg of 5 runs, ms", "$m$s", "\\si{\\milli\\second}"}) {
        EXPECT_DOUBLE_EQ(read("gpus;time (" + text + ")\n1;100\n2;52\n").rows[1].value, 0.052) << text;
    }
    EXPECT_DOUBLE_EQ(read("gpus,time ($\\mu$s)\n1,100\n2,52\n").rows[1].value, 52e-6);
    EXPECT_DOUBLE_EQ(read("gpus,time (d)\n1,10\n2,5\n").rows[1].value, 5.0 * 86400.0);
    for (std::string const text : {"avg of 5", "wall clock", "bf16", "A100", "batch 32", "n=3", "hh:mm:ss"}) {
        EXPECT_DOUBLE_EQ(read("gpus,time (" + text + ")\n1,100\n2,52\n").rows[1].value, 52.0) << text;
    }
    EXPECT_DOUBLE_EQ(read("gpus (A100),time [s] (lower is better)\n1,100\n2,52\n").rows[1].value, 52.0);
    EXPECT_EQ(read("p,Tp (s)\n1,100\n2,52\n").quantity, ScalingQuantity::seconds);
    EXPECT_EQ(read("gpus,throughput (k img/s)\n1,100\n2,190\n").quantity, ScalingQuantity::throughput);
    auto const trace = read_request_text("arrival (d),prompt (tokens),output (tokens)\n0,100,10\n1,90,9\n", "r", {});
    EXPECT_DOUBLE_EQ(trace.span().base(), 86400.0);
    EXPECT_DOUBLE_EQ(test::read_latencies("latency (d)\n1\n2\n").digest.values().most(), 2.0 * 86400.0);
}

TEST(TableRemarks, ARowOfUnitsBelowTheHeadIsReadOrRefused) {
    EXPECT_DOUBLE_EQ(read("nodes,time\n-,ms\n1,100000\n2,52000\n").rows[1].value, 52.0);
    EXPECT_DOUBLE_EQ(read("nodes,time\n,[us]\n1,100000\n2,52000\n").rows[1].value, 0.052);
    EXPECT_THAT(refusal([] { static_cast<void>(test::read_latencies("id,latency\n-,ms\n0,0.5\n1,7.9\n")); }),
                HasSubstr("a row of units below the head"));
    EXPECT_THAT(refusal([] {
                    static_cast<void>(read_request_text("arrival,prompt,output\nms,tokens,tokens\n0,9,9\n", "r", {}));
                }),
                HasSubstr("a row of units below the head"));
}

TEST(TableRemarks, RatesOfOneWorkerAreTimesTheWorkers) {
    for (std::string const head :
         {"Throughput per GPU (tokens/s)", "per_gpu_tokens_per_s", "tokensPerSecondPerGpu", "tokens/gpu/sec",
          "per-GPU throughput", "tokens/s/chip", "tok/s/NPU", "tok/s/dev", "tokens/s/H100", "tokens/s per H100",
          "GB/s per socket", "Percentage of theoretical peak FLOP/s"}) {
        EXPECT_DOUBLE_EQ(read("workers," + head + "\n1,50\n8,40\n").rows[1].value, 320.0) << head;
    }
    EXPECT_EQ(read("devices,tokens/s/chip,tokens/s\n1,50,50\n8,40,320\n").value_column, "tokens/s");
    EXPECT_NE(refused("gpus,tokens/s/widget\n1,50\n8,40\n"), "it was read");
}

TEST(TableRemarks, TimesOfASimulatedTimeAreTimes) {
    for (std::string const head : {"hour/ns", "h per ns", "hours/us"}) {
        ScalingTable const table = read("cores," + head + "\n1,100\n2,52\n");
        EXPECT_EQ(table.quantity, ScalingQuantity::seconds) << head;
        EXPECT_DOUBLE_EQ(table.rows[1].value, 52.0 * 3600.0) << head;
    }
    EXPECT_EQ(read("cores,hour/ns,ns/day\n1,1,24\n2,0.5,48\n").quantity, ScalingQuantity::seconds);
    EXPECT_EQ(read("cores,ns/day\n1,24\n2,46\n").quantity, ScalingQuantity::throughput);
    EXPECT_EQ(read("cores,SYPD\n1,2.4\n2,4.6\n").quantity, ScalingQuantity::throughput);
    EXPECT_EQ(read("cores,ElapsedRaw\n1,24\n2,13\n").quantity, ScalingQuantity::seconds);
    EXPECT_THAT(refused("cores,s/day\n1,100\n2,52\n"), HasSubstr("may be a time or a rate"));
}

TEST(TableRemarks, SpeedupsOverMoreThanOneWorker) {
    for (std::string const head : {"Speedup (vs 8 GPUs)", "Speedup vs 8 GPUs", "speedup (relative to 8)"}) {
        ScalingTable const table = read("gpus," + head + "\n16,1.92\n32,3.57\n");
        EXPECT_EQ(table.quantity, ScalingQuantity::throughput) << head;
        EXPECT_THAT(table.notes, Contains(HasSubstr("is over 8 workers"))) << head;
    }
    for (std::string const head : {"Speedup (vs 1 GPU)", "speedup over serial", "Speedup vs 1 GPU", "speedup (x)"}) {
        EXPECT_EQ(read("gpus," + head + "\n2,1.92\n4,3.57\n").quantity, ScalingQuantity::speedup) << head;
    }
}

TEST(TableRemarks, SizesAndPrecisionsAreSeriesNotRuns) {
    EXPECT_THAT(refused("gpus,time_1024,time_2048\n1,100,400\n2,52,208\n"), HasSubstr("series of its own"));
    EXPECT_THAT(refused("gpus,tokens/s (fp32),tokens/s (bf16)\n1,100,400\n2,190,780\n"), HasSubstr("series"));
    EXPECT_THAT(refused("gpus,time (A100),time (H100)\n1,100,50\n2,52,26\n"), HasSubstr("series"));
    EXPECT_EQ(read("gpus,time_1,time_2\n1,100,101\n2,52,53\n").rows.size(), 4U);
}

TEST(TableRemarks, TwoCountsAreMultiplied) {
    ScalingTable const table = read("nodes,gpus_per_node,step time (s)\n1,1,100\n2,8,10\n4,8,7\n");
    EXPECT_EQ(table.rows[1].workers, 16.0);
    EXPECT_EQ(table.workers_column, "nodes x gpus_per_node");
    EXPECT_EQ(read("nodes,ppn,time (s)\n1,1,100\n1,2,52\n2,2,28\nTotal,,180\n").rows[2].workers, 4.0);
    EXPECT_EQ(read("ranks,threads per rank,time (s)\n1,1,100\n2,4,20\n").rows[1].workers, 8.0);
    EXPECT_EQ(read("N,P,Q,Gflops\n1000,1,2,10\n1000,2,4,35\n").rows[1].workers, 8.0);
    EXPECT_EQ(read("nodes,gpus_per_node,time (s)\n1,8,100\n2,8,52\n").rows[1].workers, 2.0);
    EXPECT_EQ(read("nodes,ppn,gpus,time (s)\n1,4,4,100\n2,8,16,52\n").workers_column, "gpus");
    EXPECT_EQ(read("Node count,time (s)\n1,100\n2,52\n").rows[1].workers, 2.0);
}

TEST(TableRemarks, TimesOfAllWorkersByOtherNames) {
    for (std::string const head :
         {"H100-hours", "chip-hours", "TPU hours", "total GPU time (h)", "cumulative time (s)"}) {
        EXPECT_THAT(refused("gpus," + head + "\n1,100\n2,101\n"), HasSubstr("time of all workers together")) << head;
    }
}

TEST(TableRemarks, AColumnOfUnitsIsOneUnit) {
    EXPECT_THAT(refusal([] { static_cast<void>(test::read_latencies("latency,unit\n1,us\n7,ms\n8,ms\n")); }),
                HasSubstr("the rows above are in us"));
    auto const log =
        read_benchmark_log("collective,ranks,size,time,time_unit\nall_reduce,8,65536,21.5,us\n", "log.csv");
    ASSERT_EQ(log.rows.size(), 1U);
    EXPECT_DOUBLE_EQ(log.rows[0].time.base(), 21.5e-6);
}

TEST(TableRemarks, RunsWithoutAMeasurementAreNoErrors) {
    std::string const head = "model,accelerator,gpus,seq_len,global_batch,micro_batch,tp,pp,";
    std::string const run = "\nllama-3-8b,H100-80GB,8,8192,64,1,2,1,";
    auto const runs = [](std::string const& text) { return read_runs(text, "own.csv", training::catalog()); };
    for (std::string const cell : {"", "n/a", "OOM", "-"}) {
        auto const one = runs(head + "step time (s)" + run + "7.1" + run + cell + "\n");
        EXPECT_TRUE(one[0].states_enough);
        EXPECT_FALSE(one[1].states_enough) << cell;
        EXPECT_FALSE(one[1].skipped_reason.empty()) << cell;
    }
    for (std::string const column : {"step time (ms/step)", "ms/step", "mean step time (ms)"}) {
        EXPECT_DOUBLE_EQ(runs(head + column + run + "7100\n")[0].measured.base(), 7.1) << column;
    }
    std::string const tokens =
        "model,accelerator,gpus,seq_len,global_batch,tokens/s\nllama-3-8b,H100-80GB,8,8k,64,64k\n";
    EXPECT_DOUBLE_EQ(runs(tokens)[0].measured.base(), 64.0 * 8192.0 / 64'000.0);
    EXPECT_DOUBLE_EQ(runs(head + "throughput (tokens/s)" + run + "65536\n")[0].measured.base(), 8.0);
    EXPECT_THAT(refusal([&] { static_cast<void>(runs(head + "step time (ms/token)" + run + "7100\n")); }),
                HasSubstr("'ms/token' of 'step time (ms/token)'"));
    for (std::string const limit : {"power cap (W),500", "TDP,500W", "power limit (kW),0.5", "power_limit,500 W"}) {
        auto const comma = limit.find(',');
        auto const one =
            runs(head + "step time (s)," + limit.substr(0, comma) + run + "7.1," + limit.substr(comma + 1) + "\n");
        ASSERT_TRUE(one[0].question) << limit << one[0].skipped_reason;
        EXPECT_DOUBLE_EQ(one[0].question->cluster.accelerator.power_limit.base(), 500.0) << limit;
    }
    auto const memory = runs(head + "step time (s),peak memory" + run + "7.1,58 GiB\n");
    ASSERT_TRUE(memory[0].measured_memory);
    EXPECT_DOUBLE_EQ(memory[0].measured_memory->base(), 58.0 * 1024.0 * 1024.0 * 1024.0);
}

TEST(TableRemarks, LatenciesOfServingRunsStateTheirUnit) {
    std::string const head = "engine,model,accelerator,tp,batch,input_tokens,output_tokens,";
    std::string const run = "\nvllm,llama-3-8b,h100-sxm-80gb,1,16,512,128,";
    std::vector<Issue> issues;
    for (std::string const times : {"ttft_ms,tpot_ms|190,9.5", "TTFT (s),TPOT (s)|0.19,0.0095", "ttft,itl|190ms,9.5ms",
                                    "mean TTFT (ms),p99 TTFT (ms)|190,400"}) {
        auto const bar = times.find('|');
        auto const runs = read_serving_runs(head + times.substr(0, bar) + run + times.substr(bar + 1) + "\n", "t.csv",
                                            training::catalog(), issues);
        ASSERT_TRUE(runs[0].first_token) << times << runs[0].skipped_reason;
        EXPECT_DOUBLE_EQ(runs[0].first_token->base(), 0.19) << times;
    }
    EXPECT_THAT(refusal([&] {
                    static_cast<void>(
                        read_serving_runs(head + "ttft" + run + "190\n", "t.csv", training::catalog(), issues));
                }),
                HasSubstr("'ttft' states no unit"));
}

} // namespace
} // namespace headroom::io
