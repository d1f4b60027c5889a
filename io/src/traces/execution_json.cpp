// Execution traces as JSON. Those of Chakra's converter have durations and dependencies and are laid out as their
// binary form is; those of PyTorch's observer (schemas 1.0.1 to 1.1.1) say what ran with which shapes, never when.

#include "traces/chakra_layout.hpp"
#include "traces/execution_nodes.hpp"
#include "traces/trace_formats.hpp"
#include "traces/trace_text.hpp"

#include "headroom/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace headroom::io {

using namespace headroom::trace;

namespace {

constexpr std::uint64_t most_text = std::uint64_t{1} << 30;
constexpr std::int64_t most_listed_ranks = 65'536;

std::int32_t element_bytes(ExecutionNode const& node) {
    constexpr std::array<std::pair<std::string_view, std::int32_t>, 13> sizes{{{"Float", 4},
                                                                               {"Half", 2},
                                                                               {"BFloat16", 2},
                                                                               {"Double", 8},
                                                                               {"Long", 8},
                                                                               {"Int", 4},
                                                                               {"Short", 2},
                                                                               {"Byte", 1},
                                                                               {"Char", 1},
                                                                               {"Bool", 1},
                                                                               {"Float8_e4m3fn", 1},
                                                                               {"Float8_e5m2", 1},
                                                                               {"ComplexFloat", 8}}};
    auto const row = std::ranges::find(sizes, node.element_type, &std::pair<std::string_view, std::int32_t>::first);
    if (row != sizes.end()) { return row->second; }
    return node.in.element_bytes > 0 ? node.in.element_bytes : node.out.element_bytes;
}

TraceGroup group_of(ExecutionNode const& node) {
    TraceGroup group{node.group, node.group_about, {}};
    bool const listed = node.first_rank >= 0 && node.first_rank < most_listed_ranks && node.rank_stride > 0 &&
                        node.rank_stride < most_listed_ranks && node.chakra.group_size > 0 &&
                        node.chakra.group_size <= 4096;
    for (std::int32_t i = 0; listed && i < node.chakra.group_size; ++i) {
        group.ranks.push_back(static_cast<std::int32_t>(node.first_rank + node.rank_stride * i));
    }
    return group;
}

/// The observer writes one collective as three nodes: the call, `record_param_comms`, and a range of the library. The
/// second knows most and stands for it.
SpanKind kind_of(ExecutionNode const& node) {
    if (node.name == "record_param_comms" && !node.collective.empty() && node.collective != "wait") {
        return SpanKind::communication;
    }
    bool const range = node.name.starts_with("##") || node.name.starts_with("[pytorch|") ||
                       node.name.starts_with("nccl:") || node.name.starts_with("ProfilerStep");
    return range ? SpanKind::annotation : SpanKind::host;
}

void add_observed(TraceBuilder& builder, ExecutionNode const& node) {
    SpanKind const kind = kind_of(node);
    double const thread = node.chakra.thread.value_or(0.0);
    auto const lane =
        builder.lane({false, 0, thread >= 0.0 && thread < 0x1p53 ? static_cast<std::int64_t>(thread) : 0});
    auto const span = builder.span(kind, builder.name(node.name.empty() ? "node" : node.name), lane, 0, 0);
    if (node.shapes.find_first_of("0123456789") != std::string::npos) {
        builder.shape(span, node.types.empty() ? node.shapes : node.shapes + " " + node.types);
    }
    if (kind != SpanKind::communication) { return; }
    TracedCollective call{.span = span};
    call.what = builder.collective_name(node.collective);
    call.group = builder.group(group_of(node));
    call.group_size = node.chakra.group_size;
    call.elements_in = std::max<std::int64_t>(0, node.elements_in.value_or(node.in.elements));
    call.elements_out = std::max<std::int64_t>(0, node.elements_out.value_or(node.out.elements));
    call.element_bytes = element_bytes(node);
    builder.collective(call);
}

} // namespace

bool looks_like_execution_json(std::string_view head) {
    constexpr std::string_view mark = "\xEF\xBB\xBF";
    if (head.starts_with(mark)) { head.remove_prefix(mark.size()); }
    auto const first = head.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos || head[first] != '{') { return false; }
    if (head.find("\"traceEvents\"") != std::string_view::npos) { return false; }
    if (head.find("\"workload_graph\"") != std::string_view::npos) { return true; }
    return head.find("\"schema\"") != std::string_view::npos && head.find("\"nodes\"") != std::string_view::npos;
}

std::vector<RankTrace> read_execution_json(ByteSource& source, std::string const& where, TraceReading const& reading) {
    TraceBuilder builder{where, "execution_json"};
    ChakraNodes chakra;
    auto const take = [&](ExecutionNode& node) {
        if (node.chakra.type == 0) { return add_observed(builder, node); } // the observer has no types
        add_node(chakra, node);
    };
    auto const tell = [&](std::string_view kind, std::uint64_t at) { builder.issue(kind, at); };
    ExecutionText const about = read_execution_nodes(source, std::min(most_text, reading.text_limit), take, tell);
    RankTrace& trace = builder.trace();
    trace.events = about.nodes, trace.text_bytes = about.bytes,
    trace.bytes_read = std::max(source.bytes_read(), source.in_memory().size());
    if (auto const damage = source.damage(); !damage.empty()) { builder.issue(damage, about.bytes); }
    if (about.nodes == 0 && !about.problem.empty()) {
        throw InputError{
            Fault::unreadable,
            {fmt::format("{}: byte {}", where, about.bytes), "no node before the text breaks", about.problem, {}}};
    }
    if (about.nodes == 0) {
        no_events(where, "an execution trace without nodes", "its list of nodes is empty or missing");
    }
    if (!chakra.nodes.empty()) {
        lay_out_chakra(chakra, builder,
                       [&](std::size_t node) { return fmt::format("{}: node {}", where, chakra.nodes[node].id); });
    }
    if (chakra.nodes.empty()) {
        trace.no_times = true;
        builder.issue_at("no times: the observer writes what ran, not when", where);
    }
    std::vector<RankTrace> traces;
    traces.push_back(builder.finish());
    return traces;
}

} // namespace headroom::io
