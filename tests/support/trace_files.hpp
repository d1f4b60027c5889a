#pragma once

// Traces as tests look at them.

#include "traces/trace_formats.hpp"

#include "headroom/error.hpp"
#include "headroom/io/file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace headroom::test {

using TraceReader = std::vector<trace::RankTrace> (*)(io::ByteSource&, std::string const&, io::TraceReading const&);
inline constexpr io::SourceLimits test_limits{std::uint64_t{1} << 30, 1100.0};

inline std::vector<trace::RankTrace> traces_in(TraceReader read, std::string const& bytes,
                                               std::string const& where = "trace") {
    auto const source = io::open_source(bytes, where, test_limits);
    return read(*source, where, {});
}
inline std::vector<trace::RankTrace> traces_in(TraceReader read, std::filesystem::path const& path) {
    auto const source = io::open_source(path, test_limits);
    return read(*source, path.filename().string(), {});
}
/// A sample of our own.
inline std::string trace_sample(std::string const& file) {
    return io::read_file(HEADROOM_SOURCE_DIR "/tests/data/traces/" + file);
}

/// The one line with which bytes are refused.
inline std::string trace_refusal(TraceReader read, std::string const& bytes, Fault fault) {
    try {
        traces_in(read, bytes);
    } catch (InputError const& error) {
        EXPECT_EQ(error.fault(), fault) << error.what();
        return error.what();
    }
    ADD_FAILURE() << "accepted: " << bytes.substr(0, 200);
    return {};
}

/// "compute gemm 0-50 @stream 7" of every interval.
inline std::vector<std::string> spans_of(trace::RankTrace const& trace) {
    std::vector<std::string> spans;
    for (std::size_t i = 0; i < trace.size(); ++i) {
        auto const& line = trace.timeline;
        spans.push_back(std::string{name_of(trace.kind[i])} + " " + line.names[line.name[i]].substr(0, 24) + " " +
                        std::to_string(line.begin[i]) + "-" + std::to_string(line.end[i]) + " @" +
                        line.lanes[line.lane[i]]);
    }
    return spans;
}

inline std::map<std::string, std::uint64_t> issues_of(trace::RankTrace const& trace) {
    std::map<std::string, std::uint64_t> counts;
    for (auto const& issue : trace.issues) { counts[issue.kind] = issue.count; }
    return counts;
}

/// Where the first of a kind stands.
inline std::string first_place(trace::RankTrace const& trace, std::string const& kind) {
    for (auto const& issue : trace.issues) {
        if (issue.kind == kind) { return issue.first_at; }
    }
    return {};
}

/// Sum of durations by kind.
inline Ticks total_of(trace::RankTrace const& trace, trace::SpanKind kind) {
    Ticks sum = 0;
    for (std::size_t i = 0; i < trace.size(); ++i) {
        if (trace.kind[i] == kind) { sum += trace.timeline.end[i] - trace.timeline.begin[i]; }
    }
    return sum;
}

} // namespace headroom::test
