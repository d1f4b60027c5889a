#pragma once

#include "headroom/trace/rank_trace.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace headroom::io {

/// Strings by number: each once, in the order in which they came.
class Interner {
public:
    std::uint32_t operator()(std::string_view text);
    [[nodiscard]] std::size_t size() const { return texts_.size(); }
    [[nodiscard]] std::string const& operator[](std::uint32_t number) const { return *texts_[number]; }
    [[nodiscard]] std::vector<std::string> take();

private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
    };
    std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> numbers_;
    std::vector<std::string const*> texts_;
};

/// Puts a rank's trace together, one interval after the other; what all readers share. Times are nanoseconds on the
/// trace's own clock; `finish` moves them to the epoch. Readers that are fast keep tables of their own before it.
class TraceBuilder {
public:
    TraceBuilder(std::string source, std::string format);

    std::uint32_t name(std::string_view text) { return names_(text); }
    std::uint32_t lane(trace::TraceLane lane);
    [[nodiscard]] bool has_lane(trace::TraceLane lane) const {
        return lane_numbers_.contains({lane.device, lane.process, lane.thread});
    }
    /// A name of a lane for people: "stream 7", "thread 1102 (python)".
    void name_lane(trace::TraceLane lane, std::string_view text);
    /// Returns the interval's number. `end` before `begin` is taken as no time at all, counted as an issue by the caller.
    std::uint32_t span(trace::SpanKind kind, std::uint32_t name, std::uint32_t lane, std::int64_t begin_ns,
                       std::int64_t end_ns, std::uint32_t correlation = 0);
    std::uint32_t group(trace::TraceGroup group);
    std::uint32_t collective_name(std::string_view text) { return collective_names_(text); }
    void collective(trace::TracedCollective call) { trace_.collectives.push_back(call); }
    void shape(std::uint32_t span, std::string_view text);
    void copy(std::uint32_t span, std::int64_t bytes) { trace_.copies.push_back({span, bytes}); }
    void issue(std::string_view kind, std::uint64_t at_byte, std::uint64_t count = 1);
    void issue_at(std::string_view kind, std::string first_at, std::uint64_t count = 1);
    void counted(trace::ProfiledKernel kernel) { trace_.counted.push_back(kernel); }
    /// Everything else: rank, world, device, counts.
    trace::RankTrace& trace() { return trace_; }

    /// Epoch, lanes' names, side tables in order, steps from annotations of the host.
    [[nodiscard]] trace::RankTrace finish();

private:
    trace::RankTrace trace_;
    Interner names_, collective_names_, shape_texts_;
    std::vector<trace::TraceLane> lanes_;
    std::map<std::tuple<bool, std::int64_t, std::int64_t>, std::uint32_t> lane_numbers_;
    std::vector<std::string> lane_names_;
};

/// Second half of `TraceBuilder::finish`, after names and lanes are in place, for readers that fill the columns
/// themselves: times move to the epoch, side tables stand by rising span, steps come from annotations of the host,
/// issues by kind.
void finish_trace(trace::RankTrace& trace);

} // namespace headroom::io
