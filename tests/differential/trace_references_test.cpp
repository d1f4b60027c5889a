// Answers to recorded traces, against those that others computed from the same files: interval unions in whole
// nanoseconds by a program of its own, and Holistic Trace Analysis where its definitions are these.

#include "support/recorded_traces.hpp"
#include "support/trace_times.hpp"

#include "headroom/io/trace.hpp"
#include "headroom/trace/trace_breakdown.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace headroom {

using namespace headroom::trace;

namespace {

using Json = nlohmann::json;

std::vector<std::filesystem::path> references(std::string const& folder, std::string const& ending) {
    std::vector<std::filesystem::path> found;
    for (auto const& entry : std::filesystem::recursive_directory_iterator(test::recorded_traces())) {
        auto const& path = entry.path();
        bool const wanted = path.parent_path().filename() == folder && path.filename().string().ends_with(ending);
        if (wanted && path.filename().string().find("skew") == std::string::npos) { found.push_back(path); }
    }
    std::sort(found.begin(), found.end());
    return found;
}

Json load(std::filesystem::path const& path) {
    std::ifstream file{path};
    return Json::parse(file);
}

RankTrace read(std::string const& file) {
    auto traces = io::read_traces(test::recorded_traces() / file);
    EXPECT_EQ(traces.size(), 1U) << file;
    return std::move(traces.at(0));
}

void expect_times(DeviceTimes const& times, Json const& expected) {
    EXPECT_EQ(times.window, expected["window_ns"]);
    EXPECT_EQ(times.busy, expected["busy_ns"]);
    EXPECT_EQ(times.idle, expected["idle_ns"]);
    EXPECT_EQ(times.compute, expected["comp_ns"]);
    EXPECT_EQ(times.communication, expected["comm_ns"]);
    EXPECT_EQ(times.memory, expected["mem_ns"]);
    EXPECT_EQ(times.overlap, expected["comm_overlap_comp_ns"]);
    EXPECT_EQ(times.overlap_any, expected["comm_overlap_comp_or_mem_ns"]);
    EXPECT_EQ(times.exposed, expected["comm_exposed_vs_comp_ns"]);
    EXPECT_EQ(times.communication - times.overlap_any, expected["comm_exposed_vs_comp_or_mem_ns"]);
    std::array const kinds{"comp", "comm", "mem"};
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
        EXPECT_EQ(times.count.at(kind), expected["kernel_count"][kinds.at(kind)]) << kinds.at(kind);
        EXPECT_EQ(times.total.at(kind), expected["sum_durations_ns"][kinds.at(kind)]) << kinds.at(kind);
    }
    EXPECT_EQ(times.compute + times.exposed + times.memory_only + times.idle, times.window);
}

/// `zero`: where the reference has tick 0 of the trace.
void expect_place(DeviceTimes const& times, std::int64_t zero, Json const& expected) {
    EXPECT_EQ(zero + times.begin, expected["first_gpu_ns"]);
    EXPECT_EQ(zero + times.end, expected["last_gpu_ns"]);
}

/// `expected` has no times where the device did nothing.
void expect_window(DeviceTimes const& times, std::int64_t zero, Json const& expected) {
    if (expected.is_null()) {
        EXPECT_EQ(times.busy, 0);
        return;
    }
    expect_times(times, expected);
    expect_place(times, zero, expected);
}

void expect_steps(RankBreakdown const& breakdown, std::int64_t zero, Json const& expected) {
    std::size_t annotated = 0;
    for (auto const& step : breakdown.steps) {
        if (step.detected) { continue; }
        ++annotated;
        auto const number = std::to_string(step.step.number);
        SCOPED_TRACE("step " + number);
        ASSERT_TRUE(expected.contains(number));
        EXPECT_EQ(zero + step.step.begin, expected[number]["start_ns"]);
        EXPECT_EQ(step.step.end - step.step.begin, expected[number]["dur_ns"]);
        EXPECT_EQ(step.idle.host_bound + step.idle.waiting + step.idle.other, step.shares.idle);
        if (!breakdown.on_host) { expect_window(step.shares, zero, expected[number]["gpu"]); }
    }
    EXPECT_EQ(annotated, expected.size());
}

/// From the first device work, or the first step.
std::int64_t zero_from(Json const& expected, RankBreakdown const& breakdown) {
    if (!breakdown.on_host) {
        return expected["whole_file"]["first_gpu_ns"].get<std::int64_t>() - breakdown.whole.begin;
    }
    for (auto const& step : breakdown.steps) {
        auto const number = std::to_string(step.step.number);
        auto const& steps = expected["steps_cpu_window"];
        if (steps.contains(number)) { return steps[number]["start_ns"].get<std::int64_t>() - step.step.begin; }
    }
    return 0;
}

TEST(TraceReferences, AreMetToTheNanosecond) {
    if (test::recorded_traces().empty()) { GTEST_SKIP() << "recorded traces are not beside the source tree"; }
    std::size_t ranks = 0, windows = 0;
    for (auto const& path : references("exact_reference", ".json")) {
        auto const reference = load(path);
        for (auto const& [rank, expected] : reference["ranks"].items()) {
            SCOPED_TRACE(path.filename().string() + " rank " + rank);
            auto const trace = read(expected["file"]);
            auto const breakdown = breakdown_of(trace);
            EXPECT_EQ(breakdown.on_host, expected["whole_file"].is_null());
            // where the file states what its times count from, the reference does not add that
            auto const& whole = expected["whole_file"];
            auto const zero =
                breakdown.on_host || trace.clock_is_absolute ? zero_from(expected, breakdown) : trace.epoch_ns;
            if (!breakdown.on_host) { expect_window(breakdown.whole, zero, whole); }
            EXPECT_EQ(breakdown.without_launch, expected["gpu_events_without_launch"]);
            auto const& idle = breakdown.idle;
            EXPECT_EQ(idle.host_bound + idle.waiting + idle.other, breakdown.whole.idle);
            expect_steps(breakdown, zero, expected["steps_cpu_window"]);
            ++ranks;
            windows += 1 + breakdown.steps.size();
        }
    }
    EXPECT_GE(ranks, 40U);
    EXPECT_GE(windows, 100U);
}

// ---- Holistic Trace Analysis ----------------------------------------------------------------------------------------

/// Where it means something else, by set, and what.
std::map<std::string, std::string> const& other_definitions() {
    static std::map<std::string, std::string> const sets{
        {"alexnet", "rows of cuda_sync count as device time"},
        {"simple_add__benchmark", "rows of cuda_sync count as device time"},
        {"cuda_event_sync__", "rows of cuda_sync count as device time"},
        {"cuda_event_sync_multi_stream__", "rows of cuda_sync count as device time"},
        {"triton_example", "operators of the host that state a stream count as device time"},
        {"mtia_inference", "command processors count as a device"},
    };
    return sets;
}

bool has_other_definition(std::string const& set) {
    auto const& sets = other_definitions();
    return std::any_of(sets.begin(), sets.end(),
                       [&](auto const& known) { return set.find(known.first) != std::string::npos; });
}

/// It leaves out kernels whose launch is not in the file, but only where the file has two steps.
RankTrace as_it_selects(RankTrace trace) {
    if (trace.steps.size() < 2) { return trace; }
    std::vector<std::uint32_t> launched;
    for (std::size_t i = 0; i < trace.size(); ++i) {
        bool const call = trace.kind[i] == SpanKind::launch || trace.kind[i] == SpanKind::synchronization;
        if (call) { launched.push_back(trace.correlation[i]); }
    }
    std::sort(launched.begin(), launched.end());
    for (std::size_t i = 0; i < trace.size(); ++i) {
        bool const known = std::binary_search(launched.begin(), launched.end(), trace.correlation[i]);
        if (occupies_device(trace.kind[i]) && !known) { trace.kind[i] = SpanKind::device_wait; }
    }
    return trace;
}

TEST(TraceReferences, AgreeWithHolisticTraceAnalysisWhereDefinitionsDo) {
    if (test::recorded_traces().empty()) { GTEST_SKIP() << "recorded traces are not beside the source tree"; }
    int compared = 0, explained = 0;
    for (auto const& path : references("hta_reference", "__incl_last__no_ns_rounding.json")) {
        auto const set = path.filename().string();
        auto const reference = load(path);
        auto const rows = reference.value("temporal_breakdown", Json{});
        if (!rows.is_array()) { continue; } // it failed: no device, or a bare array
        for (auto const& row : rows) {
            auto const rank = std::to_string(row["rank"].get<int>());
            SCOPED_TRACE(set + " rank " + rank);
            if (has_other_definition(set)) {
                ++explained;
                continue;
            }
            auto const times = device_times(as_it_selects(read(reference["files"][rank])));
            auto const microseconds = [](Ticks time) { return static_cast<double>(time) / 1000.0; };
            EXPECT_NEAR(microseconds(times.compute), row["compute_time(us)"].get<double>(), 1.0);
            EXPECT_NEAR(microseconds(times.idle), row["idle_time(us)"].get<double>(), 1.0);
            EXPECT_NEAR(microseconds(times.window), row["kernel_time(us)"].get<double>(), 1.0);
            EXPECT_NEAR(microseconds(times.exposed + times.memory_only), row["non_compute_time(us)"].get<double>(),
                        1.0);
            ++compared;
        }
    }
    EXPECT_GE(compared, 34);
    EXPECT_EQ(explained, 6);
}

// ---- steps without annotations --------------------------------------------------------------------------------------

double median_length(std::vector<StepShares> const& steps) {
    std::vector<Ticks> lengths;
    for (auto const& step : steps) { lengths.push_back(step.shares.window); }
    std::sort(lengths.begin(), lengths.end());
    return static_cast<double>(lengths[lengths.size() / 2]);
}

RankTrace without_steps(RankTrace trace) {
    trace.steps.clear();
    for (auto& name : trace.timeline.names) {
        if (name.starts_with("ProfilerStep")) { name = "range"; }
    }
    return trace;
}

TEST(TraceReferences, StepsDetectedFromRepetitionAreThoseThatWereAnnotated) {
    if (test::recorded_traces().empty()) { GTEST_SKIP() << "recorded traces are not beside the source tree"; }
    struct Recorded {
        char const* file;
        std::size_t fewest; ///< periods that the kernels show whole
        double within;      ///< of the median step
    };
    // Windows of the host vary more than periods of the device: from 118 to 207 ms in the last of these.
    for (auto const& [file, fewest, within] : {
             Recorded{"hta/df_index_resolver/df_index_resolver.json.gz", 4, 0.01},
             Recorded{"hta/trace_diff/control/control.json.gz", 5, 0.01},
             Recorded{"hta/nccl_parser_config/nccl_data.json.gz", 2, 0.01},
             Recorded{"hta/negative_queue_length_values_check/rank0.json.gz", 4, 0.01},
             Recorded{"hta/ns_resolution_trace/rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz", 4, 0.01},
             Recorded{"kineto_tb/resnet50_num_workers_0__383a0664.pt.trace.json.gz", 5, 0.02},
             Recorded{"kineto_tb/resnet50_num_workers_0__2d19c634.pt.trace.json.gz", 5, 0.02},
             Recorded{"kineto_tb/resnet50_num_workers_4__3e633b5f.pt.trace.json.gz", 5, 0.05},
         }) {
        SCOPED_TRACE(file);
        auto const trace = read(file);
        auto const annotated = breakdown_of(trace), detected = breakdown_of(without_steps(trace));
        EXPECT_FALSE(annotated.steps_detected);
        EXPECT_TRUE(detected.steps_detected);
        ASSERT_GE(detected.steps.size(), fewest);
        EXPECT_LE(detected.steps.size(), annotated.steps.size());
        EXPECT_NEAR(median_length(detected.steps) / median_length(annotated.steps), 1.0, within);
    }
    for (int rank = 0; rank < 8; ++rank) { // one step each: its layers and micro-batches are none
        auto const number = std::to_string(rank);
        for (auto const& file : {"astrasim_megatron_tp8/megatron_kineto_" + number + ".json.gz",
                                 "param_dlrm/rank" + number + ".pt.trace.json.gz"}) {
            EXPECT_TRUE(detected_steps(without_steps(read(file))).empty()) << file;
        }
    }
}

// ---- without a device -----------------------------------------------------------------------------------------------

TEST(TraceReferences, StepsOnCpusAddUp) {
    // Recorded with the traces: a step of the network in two processes takes 55 to 58 ms without the profiler, of
    // which 44 to 47 ms pass between the first launch and the last end of its two transfers.
    if (test::recorded_traces().empty()) { GTEST_SKIP() << "recorded traces are not beside the source tree"; }
    for (auto const* rank : {"0", "1"}) {
        auto const breakdown =
            breakdown_of(read(std::string("ddp_gloo_cpu/mlp_n2_b25_1g200us/rank") + rank + ".chrome.json.gz"));
        EXPECT_TRUE(breakdown.on_host);
        EXPECT_FALSE(breakdown.steps_detected);
        ASSERT_EQ(breakdown.steps.size(), 3U);
        for (auto const& step : breakdown.steps) {
            auto const& times = step.shares;
            auto const ms = [](Ticks time) { return static_cast<double>(time) / 1e6; };
            EXPECT_NEAR(ms(times.window), 57.5, 3.0);
            EXPECT_NEAR(ms(times.communication), 45.5, 2.0);
            EXPECT_NEAR(ms(times.compute), 12.5, 1.5);
            EXPECT_LT(ms(times.overlap), 2.5); // the first bucket is ready when little is left to compute
            EXPECT_LT(ms(times.idle), 1.0);
            EXPECT_EQ(times.memory, 0);
        }
    }
    auto const alone = breakdown_of(read("ddp_gloo_cpu/mlp_n1_b25_1g200us/rank0.chrome.json.gz"));
    EXPECT_LT(alone.whole.communication, alone.whole.window / 100); // no peer
}

} // namespace
} // namespace headroom
