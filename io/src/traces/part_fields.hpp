#pragma once

#include "records/record.hpp"

#include "headroom/io/trace.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

// The fields of everything in a part, once for writing and reading. Each structure is taken apart by its number of
// fields, so that one that gains a field does not compile before it is written here; then the version goes up.

namespace headroom::io {

template <class Value>
concept Enumeration = std::is_enum_v<Value>;

template <class Value>
concept Number = std::is_arithmetic_v<Value> && !std::same_as<Value, bool>;

/// The last name of an enumeration: what a byte may mean at most. One overload each, next to the fields.
template <Enumeration Kind> constexpr Kind last_of();

/// Values as bytes: numbers in their width, the smallest byte first; texts and lists with their length before them.
class PartWriter {
public:
    template <class... Values> void operator()(Values const&... values) { (put(values), ...); }
    [[nodiscard]] std::string& bytes() { return bytes_; }

private:
    std::string bytes_;

    void put(bool const& value) { bytes_ += static_cast<char>(value); }
    template <Enumeration Kind> void put(Kind const& value) { bytes_ += static_cast<char>(value); }
    template <Number Value> void put(Value const& value) {
        static_assert(std::endian::native == std::endian::little, "numbers would have to be turned round");
        bytes_.append(reinterpret_cast<char const*>(&value), sizeof value);
    }
    void put(std::string const& text) {
        put(std::uint64_t{text.size()});
        bytes_ += text;
    }
    template <class Value> void put(std::optional<Value> const& value) {
        put(value.has_value());
        if (value) { put(*value); }
    }
    template <class Value, std::size_t size> void put(std::array<Value, size> const& values) {
        for (Value const& value : values) { put(value); }
    }
    template <class Value> void put(std::vector<Value> const& values) {
        put(std::uint64_t{values.size()});
        if constexpr (Number<Value>) {
            bytes_.append(reinterpret_cast<char const*>(values.data()), values.size() * sizeof(Value));
        } else {
            for (Value const& value : values) { put(value); }
        }
    }
    template <class Value>
    requires std::is_class_v<Value>
    void put(Value const& value) { fields(*this, value); }
};

/// Reads values from bytes, the inverse of `PartWriter`. No length is believed before its bytes are there, so memory
/// stays a small multiple of the input.
/// Errors: InputError{unreadable} with the place.
class PartReader {
public:
    PartReader(std::string_view bytes, std::size_t from, std::string const& where)
        : bytes_{bytes}, at_{from}, where_{where} {}

    template <class... Values> void operator()(Values&... values) { (get(values), ...); }
    [[nodiscard]] bool at_end() const { return at_ == bytes_.size(); }
    [[noreturn]] void fail(std::string const& why) const {
        unreadable_error(where_ + ": byte " + std::to_string(at_), "no part of a set of traces", why, "write it again");
    }

private:
    std::string_view bytes_;
    std::size_t at_;
    std::string const& where_;

    char const* take(std::uint64_t count) {
        if (count > bytes_.size() - at_) { fail("it is cut short"); }
        char const* const from = bytes_.data() + at_;
        at_ += count;
        return from;
    }
    std::uint64_t length() {
        std::uint64_t count = 0;
        get(count);
        return count;
    }
    void get(bool& value) {
        auto const byte = static_cast<unsigned char>(*take(1));
        if (byte > 1) { fail("neither yes nor no"); }
        value = byte == 1;
    }
    template <Enumeration Kind> void get(Kind& value) {
        auto const byte = static_cast<unsigned char>(*take(1));
        if (byte > static_cast<unsigned char>(last_of<Kind>())) { fail("a kind that is not known"); }
        value = static_cast<Kind>(byte);
    }
    template <Number Value> void get(Value& value) { std::memcpy(&value, take(sizeof value), sizeof value); }
    void get(std::string& text) {
        std::uint64_t const count = length();
        text.assign(take(count), count);
    }
    template <class Value> void get(std::optional<Value>& value) {
        bool there = false;
        get(there);
        value.reset();
        if (there) { get(value.emplace()); }
    }
    template <class Value, std::size_t size> void get(std::array<Value, size>& values) {
        for (Value& value : values) { get(value); }
    }
    template <class Value> void get(std::vector<Value>& values) {
        std::uint64_t const count = length();
        values.clear();
        if constexpr (Number<Value>) {
            if (count > (bytes_.size() - at_) / sizeof(Value)) { fail("it is cut short"); }
            values.resize(count);
            if (count > 0) { std::memcpy(values.data(), take(count * sizeof(Value)), count * sizeof(Value)); }
        } else {
            if (count > bytes_.size() - at_) { fail("it is cut short"); } // each takes a byte at least
            for (std::uint64_t i = 0; i < count; ++i) { get(values.emplace_back()); }
        }
    }
    template <class Value>
    requires std::is_class_v<Value>
    void get(Value& value) { fields(*this, value); }
};

template <> constexpr trace::SpanKind last_of<trace::SpanKind>() { return trace::span_kinds.back(); }
template <> constexpr trace::PhaseKind last_of<trace::PhaseKind>() { return trace::phase_kinds.back(); }
template <> constexpr trace::TraceEdge last_of<trace::TraceEdge>() { return trace::TraceEdge::collective; }
template <> constexpr network::Collective last_of<network::Collective>() { return network::Collective::barrier; }
template <> constexpr Fault last_of<Fault>() { return Fault::insufficient; }

template <class Value, class Structure>
concept Either = std::same_as<std::remove_const_t<Value>, Structure>;

template <class Archive> void fields(Archive& archive, Either<trace::DeviceTimes> auto& times) {
    auto& [begin, end, window, busy, idle, compute, communication, memory, overlap, exposed, memory_only, overlap_any,
           count, total] = times;
    archive(begin, end, window, busy, idle, compute, communication, memory, overlap, exposed, memory_only, overlap_any,
            count, total);
}
template <class Archive> void fields(Archive& archive, Either<trace::IdleShares> auto& idle) {
    auto& [host_bound, waiting, other] = idle;
    archive(host_bound, waiting, other);
}
template <class Archive> void fields(Archive& archive, Either<trace::StepPhase> auto& phase) {
    auto& [kind, requests, tokens] = phase;
    archive(kind, requests, tokens);
}
template <class Archive> void fields(Archive& archive, Either<trace::TraceStep> auto& step) {
    auto& [number, begin, end, phase] = step;
    archive(number, begin, end, phase);
}
template <class Archive> void fields(Archive& archive, Either<trace::StepShares> auto& shares) {
    auto& [step, detected, times, idle] = shares;
    archive(step, detected, times, idle);
}
template <class Archive> void fields(Archive& archive, Either<trace::NameTotal> auto& total) {
    auto& [name, kind, count, sum, shortest, longest] = total;
    archive(name, kind, count, sum, shortest, longest);
}
template <class Archive> void fields(Archive& archive, Either<trace::RankBreakdown> auto& breakdown) {
    auto& [on_host, only_sums, whole, idle, steps_detected, outside_steps, outside_share, steps, names, without_launch,
           launches, without_work, work_missing] = breakdown;
    archive(on_host, only_sums, whole, idle, steps_detected, outside_steps, outside_share, steps, names, without_launch,
            launches, without_work, work_missing);
}
template <class Archive> void fields(Archive& archive, Either<trace::CollectiveLabel> auto& label) {
    auto& [name, what, collective, group, group_ranks, group_size] = label;
    archive(name, what, collective, group, group_ranks, group_size);
}
template <class Archive> void fields(Archive& archive, Either<trace::CollectiveRun> auto& run) {
    auto& [label, lane, span, begin, end, bytes, sequence, step] = run;
    archive(label, lane, span, begin, end, bytes, sequence, step);
}
template <class Archive> void fields(Archive& archive, Either<trace::CollectiveRuns> auto& runs) {
    auto& [labels, all] = runs;
    archive(labels, all);
}
template <class Archive> void fields(Archive& archive, Either<trace::ShapedKernel> auto& kernel) {
    auto& [name, shape, count, total, flops, bytes] = kernel;
    archive(name, shape, count, total, flops, bytes);
}
template <class Archive> void fields(Archive& archive, Either<laws::Edge> auto& edge) {
    auto& [from, to] = edge;
    archive(from, to);
}
template <class Archive> void fields(Archive& archive, Either<trace::StepGraph> auto& graph) {
    auto& [rank, epoch_ns, step, cost, begin, kind, name, lane, interval, collective, edges, edge_kind, edge_delay,
           names, lanes, notes] = graph;
    archive(rank, epoch_ns, step, cost, begin, kind, name, lane, interval, collective, edges, edge_kind, edge_delay,
            names, lanes, notes);
}
template <class Archive> void fields(Archive& archive, Either<trace::TraceIssue> auto& issue) {
    archive(issue.kind, issue.count, issue.first_at); // issues of traces have no more
}
template <class Archive> void fields(Archive& archive, Either<trace::TraceDevice> auto& device) {
    auto& [name, memory_bytes, units] = device;
    archive(name, memory_bytes, units);
}
template <class Archive> void fields(Archive& archive, Either<trace::RunPace> auto& pace) {
    auto& [slowing, long_step_has] = pace;
    archive(slowing, long_step_has);
}
template <class Archive> void fields(Archive& archive, Either<trace::RankDigest> auto& digest) {
    // `beside` is asked for by `calibrate` alone, which makes no parts
    [[maybe_unused]] auto& [source, format, host_name, rank_from, rank, stated_rank, world_size, device, epoch_ns,
                            clock_is_absolute, bytes_read, text_bytes, events, spans, breakdown, pace, runs, kernels,
                            beside, graph, issues] = digest;
    archive(source, format, host_name, rank_from, rank, stated_rank, world_size, device, epoch_ns, clock_is_absolute,
            bytes_read, text_bytes, events, spans, breakdown, pace, runs, kernels, graph, issues);
}
template <class Archive> void fields(Archive& archive, Either<TraceShard> auto& shard) {
    auto& [index, of] = shard;
    archive(index, of);
}
template <class Archive> void fields(Archive& archive, Either<TraceSet> auto& set) {
    auto& [ranks, unread, faults, shards] = set;
    archive(ranks, unread, faults, shards);
}

} // namespace headroom::io
