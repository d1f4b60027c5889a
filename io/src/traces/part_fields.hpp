#pragma once

// The fields of everything in a part, once for writing and reading. Each structure is taken apart by its number of
// fields, so that one that gains a field does not compile before it is written here; then the version goes up.

#include "traces/part_archive.hpp"

#include "headroom/io/trace.hpp"

namespace headroom::io {

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
template <class Archive> void fields(Archive& archive, Either<TraceSet> auto& set) {
    auto& [ranks, unread, faults] = set;
    archive(ranks, unread, faults);
}

} // namespace headroom::io
