// Columns of tables that hold no samples of latency, though they look like it.

#include "support/latency_texts.hpp"

#include <gtest/gtest.h>

#include <string>

namespace headroom {
namespace {

using namespace test;

io::LatencySamples read_file_named(std::string_view name, std::string_view text,
                                   io::LatencyQuestion const& question = {}) {
    return io::read_latency_text(text, name, question);
}

TEST(LatencyHeads, AQuantityOverItsUnitIsATime) {
    EXPECT_DOUBLE_EQ(read_latencies("latency/ms\n12.5\n13\n").digest.values().most(), 0.013);
}

/// The wall time of a scalar is a moment; its value is a time only where its tag says so.
TEST(LatencyHeads, ScalarsOfTensorBoard) {
    std::string const text = "Wall time,Step,Value\n1714560000,0,0.5\n1714560002,1,0.75\n1714560004,2,0.25\n";
    auto const samples = read_file_named("logs/run-train-tag-step_time.csv", text);
    EXPECT_EQ(samples.column, "Value");
    EXPECT_EQ(samples.digest.values().most(), 0.75);
    EXPECT_EQ(read_file_named("tag-step_time_ms.csv", text).digest.values().most(), 0.75e-3);
    for (std::string const name : {"tag-loss.csv", "tag-tokens_per_sec.csv", "samples"}) {
        try {
            read_file_named(name, text);
            ADD_FAILURE() << name;
        } catch (InputError const& error) {
            EXPECT_NE(std::string{error.what()}.find("'Wall time', 'Step', 'Value'"), std::string::npos)
                << error.what();
        }
    }
    EXPECT_EQ(read_file_named("tag-x.csv", text, {.column = "Value", .unit = "s"}).digest.values().most(), 0.75);
}

TEST(LatencyHeads, MomentsAreNoDurations) {
    expect_refused("start_ms,end_ms\n1714560000000,1714560000006\n1714560000010,1714560000021\n", Fault::usage,
                   "moments (Unix time)");
    expect_refused("end_ms,start_ms\n1714560000021,1714560000006\n1714560000011,1714560000007\n", Fault::usage,
                   "moments (Unix time)"); // in no order
    expect_refused("1714560000\n1714560001\n1714560003\n", Fault::usage, "moments (Unix time)");
    EXPECT_EQ(read_latencies("1714560000\n1713560001\n1714560003\n").unit, "ns"); // 1.7 s, in no order
}

TEST(LatencyHeads, AMinWithoutBracketsIsMinutesOrAMinimum) {
    expect_refused("runtime_min\n1\n2\n", Fault::usage, "may be in minutes or a minimum");
    EXPECT_EQ(read_latencies("runtime (min)\n1\n2\n").digest.values().most(), 120.0);
    EXPECT_EQ(read_latencies("runtime_min\n1\n2\n", {.unit = "s"}).digest.values().most(), 2.0);
    auto const wandb = read_latencies("step_time,step_time__MIN,step_time__MAX\n0.5,0.4,0.6\n0.7,0.6,0.8\n");
    EXPECT_EQ(wandb.digest.values().most(), 0.7);
}

TEST(LatencyHeads, SummariesHoldNoSamples) {
    expect_refused("command,mean,stddev,median,user,system,min,max\nsleep,0.3,0.001,0.3,0,0,0.29,0.31\n"
                   "sleep,0.4,0.001,0.4,0,0,0.39,0.41\n",
                   Fault::unreadable, "columns of statistics");
    expect_refused("Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),Name\n"
                   "45.2,4520000,100,45200,45000,40000,90000,gemm\n30.1,3010000,200,15050,15000,14000,20000,copy\n",
                   Fault::unreadable, "columns of statistics");
    expect_refused("bucket,count\n0-5 ms,90\n5-10 ms,400\n", Fault::usage, "counts samples");
    auto const rows = read_latencies("id,latency_ms\n0,5\n1,7\nAverage,6\nTotal,12\n");
    EXPECT_EQ(rows.digest.values().count(), 2U);
    EXPECT_EQ(dirt_of(rows, "total or a mean"), (DirtSeen{2, 4}));
    EXPECT_EQ(
        read_latencies("name,latency_ms\ntotal,5\ntotal,7\n", {.where = {{"name", "total"}}}).digest.values().count(),
        2U);
}

TEST(LatencyHeads, FailedRowsAreLeftOut) {
    for (std::string const text :
         {"latency_ms,success\n5,true\n7,true\n900,false\n", "latency_ms,error\n5,\n7,\n900,timeout\n",
          "latency_ms,status\n5,200\n7,200\n900,503\n", "latency_ms,status\n5,ok\n7,ok\n900,FAILED\n"}) {
        auto const samples = read_latencies(text);
        EXPECT_EQ(samples.digest.values().count(), 2U) << text;
        EXPECT_EQ(dirt_of(samples, "failed request"), (DirtSeen{1, 4})) << text;
        EXPECT_EQ(read_latencies(text, {.keep_failed = true}).digest.values().count(), 3U) << text;
    }
    auto const asked = read_latencies("latency_ms,status\n5,200\n900,503\n", {.where = {{"status", "503"}}});
    EXPECT_EQ(asked.digest.values().count(), 1U);
}

/// A request of simulation.log takes from its start to its end; one that is KO failed.
TEST(LatencyHeads, LogsOfGatling) {
    auto const samples = read_latencies("RUN\tcomputerdatabase.Sim\tsim\t1714560000000\t \t3.9.5\n"
                                        "USER\tScn\tSTART\t1714560000000\n"
                                        "REQUEST\t\trequest_1\t1714560000000\t1714560000006\tOK\t \n"
                                        "REQUEST\tgroup\trequest_1\t1714560000008\t1714560000022\tOK\t \n"
                                        "REQUEST\t\trequest_1\t1714560000016\t1714560030030\tKO\ttimed out\n");
    EXPECT_EQ(samples.format, "gatling");
    EXPECT_EQ(samples.digest.values().count(), 2U);
    EXPECT_EQ(samples.digest.values().most(), 0.014);
    EXPECT_EQ(dirt_of(samples, "failed request"), (DirtSeen{1, 5}));
}

/// A row is named by a cell that no other row has.
TEST(LatencyHeads, TheHintForOneRowNamesOneRow) {
    expect_refused("Timestamp,Name,50%,99%\n1,Aggregated,10,40\n2,Aggregated,11,41\n", Fault::usage,
                   "--where 'Timestamp=1'");
}

} // namespace
} // namespace headroom
