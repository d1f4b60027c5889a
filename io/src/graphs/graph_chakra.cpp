// Chakra execution traces as graphs: nodes are tasks, and what they wait for are edges.

#include "graphs/chakra_nodes.hpp"
#include "graphs/graph_draft.hpp"
#include "graphs/graph_formats.hpp"
#include "records/record.hpp"
#include "traces/byte_source.hpp"
#include "traces/execution_nodes.hpp"

#include "headroom/quantity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <unordered_map>

namespace headroom::io {

using namespace headroom::laws;

namespace {

constexpr std::array<std::string_view, 11> type_names{"invalid", "metadata", "memory load", "memory store",
                                                      "compute", "send",     "receive",     "collective",
                                                      "storage", "batch",    "checkpoint"};

/// The lanes on which tasks run, in the order in which they are listed.
enum class Lane : std::uint8_t { cpu, gpu, compute, memory, network };
constexpr std::array<std::string_view, 5> lane_names{"cpu", "gpu", "compute", "memory", "network"};

class ChakraTrace {
public:
    ChakraTrace(ChakraNodes nodes, std::string where) : trace_{std::move(nodes)}, where_{std::move(where)} {}

    TaskGraph read();

private:
    void number_nodes();
    void link(std::vector<std::uint64_t> const& ids, std::size_t ChakraNode::*first);
    void cost_nodes();
    void count_unmeasured();
    void assign_lanes();
    [[nodiscard]] std::string say(Place place) const;
    [[nodiscard]] static Lane lane_of(ChakraNode const& node);
    [[nodiscard]] static std::string_view kind_of(ChakraNode const& node);
    [[nodiscard]] static bool communicates(ChakraNode const& node) { return lane_of(node) == Lane::network; }

    ChakraNodes trace_;
    std::string where_;
    std::unordered_map<std::uint64_t, TaskId> number_;
    GraphDraft draft_;
};

std::string ChakraTrace::say(Place place) const {
    return place < trace_.nodes.size() ? fmt::format("{}: node {}", where_, trace_.nodes[place].id) : where_;
}

/// Names and numbers; the places of tasks are their numbers.
void ChakraTrace::number_nodes() {
    number_.reserve(trace_.nodes.size());
    for (std::size_t i = 0; i < trace_.nodes.size(); ++i) {
        auto const task = static_cast<TaskId>(i);
        if (!number_.emplace(trace_.nodes[i].id, task).second) {
            unreadable_error(say(task), "an id that an earlier node has", "nodes are identified by id");
        }
        std::string const id = std::to_string(trace_.nodes[i].id);
        draft_.names.push_back(trace_.nodes[i].name.empty() ? id : fmt::format("{} ({})", trace_.nodes[i].name, id));
        draft_.labels.emplace_back(trace_.nodes[i].name);
        draft_.places.push_back(task);
        draft_.kind_of.push_back(draft_.kind(kind_of(trace_.nodes[i])));
    }
}

void ChakraTrace::link(std::vector<std::uint64_t> const& ids, std::size_t ChakraNode::*first) {
    for (std::size_t i = 0; i < trace_.nodes.size(); ++i) {
        std::size_t const end = i + 1 < trace_.nodes.size() ? trace_.nodes[i + 1].*first : ids.size();
        for (std::size_t k = trace_.nodes[i].*first; k < end; ++k) {
            auto const before = number_.find(ids[k]);
            auto const task = static_cast<TaskId>(i);
            if (before == number_.end()) {
                unreadable_error(say(task), fmt::format("it waits for node {}", ids[k]), "there is no such node");
            }
            draft_.links.push_back({.edge = {before->second, task}, .place = task});
        }
    }
}

std::string_view ChakraTrace::kind_of(ChakraNode const& node) {
    if (auto const collective = node.collective(); !collective.empty()) { return collective; }
    return node.type < type_names.size() ? type_names[node.type] : "unknown";
}

Lane ChakraTrace::lane_of(ChakraNode const& node) {
    if (node.on_cpu.value_or(false)) { return Lane::cpu; }
    using enum ChakraType;
    if (node.is(send) || node.is(receive) || node.is(collective)) { return Lane::network; }
    if (node.is(mem_load) || node.is(mem_store)) { return Lane::memory; }
    if (node.is(metadata) || !node.on_cpu) { return node.is(compute) ? Lane::compute : Lane::cpu; }
    return Lane::gpu;
}

/// Durations where the trace has any; else operations; else one for each.
void ChakraTrace::cost_nodes() {
    bool const timed = std::ranges::any_of(trace_.nodes, [](auto const& node) { return node.micros > 0; });
    bool const counted = std::ranges::any_of(trace_.nodes, [](auto const& node) { return node.operations > 0.0; });
    for (ChakraNode const& node : trace_.nodes) {
        draft_.costs.push_back(timed ? static_cast<double>(node.micros) / 1e6 : counted ? node.operations : 1.0);
    }
    draft_.unit = timed ? "seconds" : counted ? "operations" : "tasks";
    if (!timed) {
        draft_.notes.emplace_back(counted ? "the trace holds no durations: the operations of its nodes are counted"
                                          : "the trace holds neither durations nor operations: every node counts as 1");
    }
    if (timed || counted) { count_unmeasured(); }
}

void ChakraTrace::count_unmeasured() {
    std::size_t messages = 0, computations = 0;
    double bytes = 0.0;
    for (std::size_t i = 0; i < trace_.nodes.size(); ++i) {
        ChakraNode const& node = trace_.nodes[i];
        if (draft_.costs[i] > 0.0) { continue; }
        if (communicates(node) && node.bytes > 0.0) { ++messages, bytes += node.bytes; }
        if (node.operations > 0.0) { ++computations; }
    }
    if (messages > 0) {
        draft_.notes.push_back(
            fmt::format("{} of communication without a {} ({} in all), counted as 0", counted(messages, "node"),
                        draft_.unit == "seconds" ? "duration" : "number of operations", format(Bytes{bytes})));
    }
    if (computations > 0) {
        draft_.notes.push_back(counted(computations, "node") + " with operations and without a duration, counted as 0");
    }
}

/// One resource a lane; of CPUs and GPUs as many as there are threads and streams.
void ChakraTrace::assign_lanes() {
    std::array<std::set<double>, lane_names.size()> units;
    std::array<bool, lane_names.size()> used{};
    for (ChakraNode const& node : trace_.nodes) {
        Lane const lane = lane_of(node);
        auto const row = static_cast<std::size_t>(lane);
        used[row] = true;
        auto const unit = lane == Lane::gpu && node.stream ? node.stream : node.thread;
        if ((lane == Lane::cpu || lane == Lane::gpu) && unit) { units[row].insert(*unit); }
    }
    std::array<std::uint16_t, lane_names.size()> number{};
    for (std::size_t row = 0; row < lane_names.size(); ++row) {
        if (!used[row]) { continue; }
        number[row] = static_cast<std::uint16_t>(draft_.resources.size());
        auto const capacity = static_cast<std::int64_t>(std::max<std::size_t>(1, units[row].size()));
        draft_.resources.push_back({std::string{lane_names[row]}, capacity});
    }
    for (ChakraNode const& node : trace_.nodes) {
        draft_.resource_of.push_back(number[static_cast<std::size_t>(lane_of(node))]);
    }
}

TaskGraph ChakraTrace::read() {
    number_nodes();
    link(trace_.data, &ChakraNode::first_data);
    if (!trace_.from_pytorch) {
        link(trace_.control, &ChakraNode::first_control);
    } else if (!trace_.control.empty()) {
        draft_.notes.push_back(counted(trace_.control.size(), "caller") +
                               " left out: in a trace of PyTorch control dependencies are no order");
    }
    cost_nodes();
    assign_lanes();
    return finish_graph(std::move(draft_), where_, [this](Place place) { return say(place); });
}

} // namespace

TaskGraph read_chakra_graph(std::string_view bytes, std::string const& where) {
    return ChakraTrace{read_chakra_nodes({bytes, where}), where}.read();
}

bool looks_like_chakra_json(std::string_view bytes) {
    auto const head = bytes.substr(0, 64 << 10);
    return looks_like_json_graph(bytes) && head.find("\"workload_graph\"") != std::string_view::npos &&
           head.find("\"NodeType\"") != std::string_view::npos;
}

TaskGraph read_chakra_json_graph(std::string_view bytes, std::string const& where) {
    ChakraNodes nodes;
    auto const source = open_source(bytes, where, {.text = bytes.size(), .ratio = 2.0});
    auto const take = [&](ExecutionNode& node) {
        if (nodes.nodes.size() >= most_tasks) { too_many_tasks(where); }
        add_node(nodes, node);
    };
    auto const tell = [&](std::string_view problem, std::uint64_t at) {
        unreadable_error(fmt::format("{}: byte {}", where, at), "a node that cannot be read", std::string{problem});
    };
    read_execution_nodes(*source, bytes.size(), take, tell);
    return ChakraTrace{std::move(nodes), where}.read();
}

} // namespace headroom::io
