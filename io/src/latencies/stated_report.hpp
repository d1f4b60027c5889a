#pragma once

#include "latencies/sample_builder.hpp"

#include <nlohmann/json_fwd.hpp>

#include <array>
#include <span>
#include <string_view>

namespace headroom::io {

class HeadSource;

/// A line of a report. Each capture of its shape (see `fits_shape`) has a meaning, between blanks and in their order:
/// a statistic of the times ("p50", "mean", "min"); `name`, which names the statistic of a later `value`; `metric`, which
/// names the times of the lines below; `count` of requests, `sent` with those that failed; `failed`, without a time among
/// the others; `among`, failed with one; `unit` of the bare numbers of this line and those below; `status` of the responses that `answers` counts; `verdict` on the run; `-` nothing.
struct StatedLine {
    std::string_view shape;
    std::string_view meanings = {};
    int part = 0;                 ///< of the report in which it stands; 0: in any
    int opens = 0;                ///< part that begins with it; 0: none does
    std::string_view metric = {}; ///< times of this line and of those below
};

/// A report that one tool writes, known by words that it alone writes. A text is read from the line that `begin` is in,
/// and each line from there must have one of these shapes; JSON is read by its own function.
struct StatedReport {
    std::string_view tool;
    std::array<std::string_view, 2> marks = {}; ///< both in the text
    std::string_view begin = {};
    std::span<StatedLine const> lines = {};
    std::string_view unit = {};                ///< of bare numbers
    std::string_view usual = {};               ///< times that are taken where none are asked for
    std::string_view condition = {};           ///< column by which `--where` chooses them
    bool many = false;                         ///< several may begin, each with its own metric
    std::array<std::string_view, 2> keys = {}; ///< both in the JSON
    void (*read_json)(nlohmann::json const& whole, SampleBuilder& samples) = nullptr;
};
/// Part of a report behind its end: what stands there is not used.
inline constexpr int behind_report = 99;

/// The tools, in the order of `stated_reports`.
enum class StatedTool {
    llmperf,
    guidellm,
    vllm_latency,
    trtllm_bench,
    gptmanager,
    mlperf,
    trtexec,
    perf_analyzer,
    tgi,
    fortio,
    autocannon,
    artillery,
    gatling,
    sysbench,
    redis,
    memtier,
    sockperf,
    hyperfine,
    pytest,
    ycsb,
    fio,
};
StatedReport const& stated_report(StatedTool tool);

bool looks_like_stated(StatedReport const& report, std::string_view head);
/// Quantiles, mean and count that the report states of the metric that is asked for, the usual or the only one.
/// Errors: InputError{unreadable} at a line that the tool does not write, at a figure that is stated twice, and where the
/// last line has no end; InputError{usage} where several metrics could be meant.
void read_stated(StatedReport const& report, HeadSource& source, SampleBuilder& samples);

void read_llmperf_json(nlohmann::json const& whole, SampleBuilder& samples);
void read_guidellm_json(nlohmann::json const& whole, SampleBuilder& samples);
void read_vllm_latency_json(nlohmann::json const& whole, SampleBuilder& samples);
void read_fortio_json(nlohmann::json const& whole, SampleBuilder& samples);
void read_autocannon_json(nlohmann::json const& whole, SampleBuilder& samples);
void read_artillery_json(nlohmann::json const& whole, SampleBuilder& samples);
void read_gatling_json(nlohmann::json const& whole, SampleBuilder& samples);
void read_hyperfine_json(nlohmann::json const& whole, SampleBuilder& samples);
void read_pytest_json(nlohmann::json const& whole, SampleBuilder& samples);

} // namespace headroom::io
