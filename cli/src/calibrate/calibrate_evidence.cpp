#include "calibrate/calibrate_report.hpp"
#include "measured_steps.hpp"

#include "headroom/error.hpp"
#include "headroom/io/file.hpp"
#include "headroom/io/stated_calibration.hpp"
#include "headroom/io/trace.hpp"

#include <algorithm>
#include <filesystem>

namespace headroom::cli {
namespace {

namespace fs = std::filesystem;

bool is_calibration(std::string const& name) { return name.ends_with(".toml"); }

/// Databases and JSON of events, packed or not: not worth reading as a log first.
bool begins_like_a_trace(std::string const& name) {
    std::string const head = io::unpacked_head(name, 64U << 10);
    return head.starts_with("SQLite format 3") || head.find("\"traceEvents\"") != std::string::npos ||
           head.find("\"ph\"") != std::string::npos;
}

/// A benchmark log; empty where the file may be a trace.
std::optional<io::BenchmarkLog> log_in(std::string const& name, io::LogQuestion const& question) {
    constexpr std::uintmax_t longest = io::benchmark_log_limit;
    std::error_code error;
    if (fs::file_size(name, error) > longest || error || begins_like_a_trace(name)) { return {}; }
    try {
        return io::read_benchmark_log(io::read_file(name), name, question);
    } catch (InputError const& fault) {
        if (fault.fault() == Fault::unreadable) { return {}; }
        throw;
    }
}

/// A training log; empty where the file may be a trace.
std::optional<LogAnswer> training_log_in(std::string const& name, io::TrainingLogQuestion const& question) {
    std::error_code error;
    if (!fs::is_regular_file(name, error) || begins_like_a_trace(name)) { return {}; }
    try {
        return read_log(name, question);
    } catch (InputError const& fault) {
        if (fault.fault() == Fault::unreadable) { return {}; }
        throw;
    }
}

fit::FileEvidence read_file_evidence(std::string const& name) {
    std::string const text = io::read_file(name);
    fit::FileEvidence file{.name = name, .states = io::read_stated_calibration(text, name), .whole = {}};
    if (file.states.whole) { file.whole = io::read_calibration(text, name); }
    return file;
}

fit::LogEvidence log_evidence(std::string const& name, io::BenchmarkLog log) {
    return {.file = {.name = name,
                     .format = std::move(log.format),
                     .lines = log.lines,
                     .rows = log.rows.size(),
                     .issues = std::move(log.issues),
                     .notes = std::move(log.notes)},
            .rows = std::move(log.rows)};
}

fit::TraceEvidence read_traces(std::vector<std::string> const& names) {
    io::TraceSet set =
        io::read_trace_set(io::trace_files(names), {.step = {}, .wants_path = false, .wants_slowdown = true}, {});
    io::refuse_several_runs(set.ranks);
    return {.names = names, .unread = std::move(set.unread), .traces = trace_answer(std::move(set.ranks))};
}

/// A folder that holds logs: each is one, files of traces are traces, and others are named. False where it holds no log.
bool read_folder(std::string const& folder, NamedEvidence const& named, fit::CalibrationEvidence& evidence,
                 std::vector<std::string>& traces) {
    std::vector<fit::LogEvidence> logs;
    std::vector<std::string> others;
    bool any = false;
    std::vector<std::string> names;
    try {
        names = io::files_in(folder);
    } catch (InputError const&) { return false; } // what reads traces says why
    for (std::string const& name : names) {
        try {
            auto log = log_in(name, named.log);
            auto run = log || is_calibration(name) ? std::nullopt : training_log_in(name, named.run);
            any = any || log || run;
            if (log) { logs.push_back(log_evidence(name, std::move(*log))); }
            if (run) { evidence.files.emplace_back(std::move(*run)); }
            if (!log && !run) { others.push_back(name); }
        } catch (InputError const& fault) { // a log without a row of use
            if (fault.fault() != Fault::insufficient) { throw; }
            any = true;
            logs.push_back({.file = {.name = name, .refusal = fault.what()}});
        }
    }
    if (!any) { return false; }
    for (std::string const& name : others) {
        if (is_calibration(name)) {
            evidence.files.emplace_back(read_file_evidence(name));
        } else if (begins_like_a_trace(name)) {
            traces.push_back(name);
        } else {
            logs.push_back({.file = {.name = name, .refusal = name + ": neither a log nor a trace"}});
        }
    }
    std::ranges::move(logs, std::back_inserter(evidence.files));
    return true;
}

} // namespace

fit::CalibrationEvidence read_evidence(NamedEvidence const& named) {
    fit::CalibrationEvidence evidence;
    std::vector<std::string> traces;
    std::error_code error;
    for (std::string const& name : named.files) {
        if (fs::is_directory(name, error)) {
            if (!read_folder(name, named, evidence, traces)) { traces.push_back(name); }
        } else if (is_calibration(name)) {
            evidence.files.emplace_back(read_file_evidence(name));
        } else if (auto log = log_in(name, named.log)) {
            evidence.files.emplace_back(log_evidence(name, std::move(*log)));
        } else if (auto run = training_log_in(name, named.run)) {
            evidence.files.emplace_back(std::move(*run));
        } else {
            traces.push_back(name);
        }
    }
    if (!traces.empty()) { evidence.traces = read_traces(traces); }
    evidence.campaigns = chosen_campaigns(named);
    return evidence;
}

} // namespace headroom::cli
