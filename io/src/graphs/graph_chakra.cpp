// Chakra execution traces. Field numbers: schema/protobuf/et_def.proto of github.com/mlcommons/chakra.

#include "graphs/graph_draft.hpp"
#include "graphs/graph_formats.hpp"
#include "graphs/proto_reader.hpp"
#include "records/record.hpp"

#include "headroom/error.hpp"
#include "headroom/quantity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <protozero/varint.hpp>
#include <set>
#include <unordered_map>

namespace headroom::io {

namespace {

enum NodeType : std::uint64_t { metadata = 1, mem_load, mem_store, compute, send, receive, collective };
constexpr std::array<std::string_view, 11> type_names{"invalid", "metadata", "memory load", "memory store",
                                                      "compute", "send",     "receive",     "collective",
                                                      "storage", "batch",    "checkpoint"};
constexpr std::array<std::string_view, 10> collective_names{
    "all_reduce", "reduce",         "all_gather",           "gather", "scatter", "broadcast",
    "all_to_all", "reduce_scatter", "reduce_scatter_block", "barrier"};

/// One node as far as it is read.
struct ChakraNode {
    std::uint64_t id = 0, type = 0, micros = 0;
    std::string_view name;
    std::size_t first_data = 0, first_control = 0; ///< into the trace's lists of dependencies
    double operations = 0.0, bytes = 0.0;
    std::optional<double> comm_type = {}, stream = {}, thread = {};
    std::optional<bool> on_cpu = {};
};

/// The lanes on which tasks run, in the order in which they are listed.
enum class Lane : std::uint8_t { cpu, gpu, compute, memory, network };
constexpr std::array<std::string_view, 5> lane_names{"cpu", "gpu", "compute", "memory", "network"};

class ChakraTrace {
public:
    ChakraTrace(std::string_view bytes, std::string const& where) : file_{bytes, where} {}

    TaskGraph read();

private:
    void read_nodes();
    void read_node(ProtoReader message);
    void read_attribute(ProtoReader message, ChakraNode& node);
    void number_nodes();
    void link(std::vector<std::uint64_t> const& ids, std::size_t ChakraNode::*first);
    void cost_nodes();
    void count_unmeasured();
    void assign_lanes();
    [[nodiscard]] std::string say(Place place) const;
    [[nodiscard]] static Lane lane_of(ChakraNode const& node);
    [[nodiscard]] static std::string_view kind_of(ChakraNode const& node);
    [[nodiscard]] static bool communicates(ChakraNode const& node) { return lane_of(node) == Lane::network; }

    ProtoFile file_;
    std::vector<ChakraNode> nodes_;
    std::vector<std::uint64_t> data_, control_; ///< dependencies of all nodes
    std::unordered_map<std::uint64_t, TaskId> number_;
    bool from_pytorch_ = false;
    GraphDraft draft_;
};

/// The length before a message; empty when it is cut short or longer than what follows.
std::optional<std::string_view> next_message(std::string_view& rest) {
    char const* at = rest.data();
    try {
        std::uint64_t const length = protozero::decode_varint(&at, rest.data() + rest.size());
        rest.remove_prefix(static_cast<std::size_t>(at - rest.data()));
        if (length > rest.size()) { return std::nullopt; }
        std::string_view const message = rest.substr(0, length);
        rest.remove_prefix(length);
        return message;
    } catch (protozero::exception const&) { return std::nullopt; }
}

void ChakraTrace::read_nodes() {
    std::string_view rest = file_.bytes;
    for (std::size_t messages = 0; !rest.empty(); ++messages) {
        char const* const at = rest.data();
        auto const message = next_message(rest);
        if (!message) { file_.fail(at, "a node is cut short", "the file ends before it does"); }
        if (messages == 0) { continue; } // metadata of the whole trace
        if (nodes_.size() >= most_tasks) { too_many_tasks(file_.where); }
        read_node({*message, file_});
    }
}

void ChakraTrace::read_node(ProtoReader message) {
    ChakraNode node{.name = {}, .first_data = data_.size(), .first_control = control_.size()};
    while (message.next()) {
        switch (message.tag()) {
        case 1: node.id = message.whole(); break;
        case 2: node.name = message.text(); break;
        case 3: node.type = message.whole(); break;
        case 4: message.wholes(control_); break;
        case 5: message.wholes(data_); break;
        case 7: node.micros = message.whole(); break;
        case 10: read_attribute(message.message(), node); break;
        default: message.skip();
        }
    }
    nodes_.push_back(node);
}

void ChakraTrace::read_attribute(ProtoReader message, ChakraNode& node) {
    std::string_view name;
    std::optional<double> value;
    while (message.next()) {
        switch (message.tag()) {
        case 1: name = message.bytes(); break;
        case 3: value = message.fixed64(); break;
        case 5: value = message.number(); break;
        case 7:
        case 9: value = static_cast<double>(message.signed_whole()); break;
        case 11:
        case 13:
        case 27: value = static_cast<double>(message.whole()); break;
        default: message.skip();
        }
    }
    from_pytorch_ = from_pytorch_ || name == "rf_id" || name == "fw_parent" || name == "op_schema";
    if (!value) { return; }
    if (name == "num_ops" || name == "comm_size") {
        if (!(*value >= 0.0 && *value <= 1e30)) {
            message.file().fail(message.place(), fmt::format("'{}' is no amount", name), "negative, or too large");
        }
        (name == "num_ops" ? node.operations : node.bytes) = *value;
    }
    if (name == "is_cpu_op") { node.on_cpu = *value != 0.0; }
    if (name == "comm_type") { node.comm_type = value; }
    if (name == "stream") { node.stream = value; }
    if (name == "tid") { node.thread = value; }
}

std::string ChakraTrace::say(Place place) const {
    return place < nodes_.size() ? fmt::format("{}: node {}", file_.where, nodes_[place].id) : file_.where;
}

/// Names and numbers; the places of tasks are their numbers.
void ChakraTrace::number_nodes() {
    number_.reserve(nodes_.size());
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        auto const task = static_cast<TaskId>(i);
        if (!number_.emplace(nodes_[i].id, task).second) {
            unreadable_error(say(task), "an id that an earlier node has", "nodes are told apart by id");
        }
        std::string const id = std::to_string(nodes_[i].id);
        draft_.names.push_back(nodes_[i].name.empty() ? id : fmt::format("{} ({})", nodes_[i].name, id));
        draft_.labels.emplace_back(nodes_[i].name);
        draft_.places.push_back(task);
        draft_.kind_of.push_back(draft_.kind(kind_of(nodes_[i])));
    }
}

void ChakraTrace::link(std::vector<std::uint64_t> const& ids, std::size_t ChakraNode::*first) {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        std::size_t const end = i + 1 < nodes_.size() ? nodes_[i + 1].*first : ids.size();
        for (std::size_t k = nodes_[i].*first; k < end; ++k) {
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
    if (node.type == collective && node.comm_type && *node.comm_type >= 0.0 &&
        *node.comm_type < static_cast<double>(collective_names.size())) {
        return collective_names[static_cast<std::size_t>(*node.comm_type)];
    }
    return node.type < type_names.size() ? type_names[node.type] : "unknown";
}

Lane ChakraTrace::lane_of(ChakraNode const& node) {
    if (node.on_cpu.value_or(false)) { return Lane::cpu; }
    if (node.type >= send && node.type <= collective) { return Lane::network; }
    if (node.type == mem_load || node.type == mem_store) { return Lane::memory; }
    if (node.type == metadata || !node.on_cpu) { return node.type == compute ? Lane::compute : Lane::cpu; }
    return Lane::gpu;
}

/// Durations where the trace has any; else operations; else one for each.
void ChakraTrace::cost_nodes() {
    bool const timed = std::ranges::any_of(nodes_, [](auto const& node) { return node.micros > 0; });
    bool const counted = std::ranges::any_of(nodes_, [](auto const& node) { return node.operations > 0.0; });
    for (ChakraNode const& node : nodes_) {
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
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        ChakraNode const& node = nodes_[i];
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
    for (ChakraNode const& node : nodes_) {
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
    for (ChakraNode const& node : nodes_) {
        draft_.resource_of.push_back(number[static_cast<std::size_t>(lane_of(node))]);
    }
}

TaskGraph ChakraTrace::read() {
    read_nodes();
    number_nodes();
    link(data_, &ChakraNode::first_data);
    if (!from_pytorch_) {
        link(control_, &ChakraNode::first_control);
    } else if (!control_.empty()) {
        draft_.notes.push_back(counted(control_.size(), "caller") +
                               " left out: in a trace of PyTorch control dependencies are no order");
    }
    cost_nodes();
    assign_lanes();
    return finish_graph(std::move(draft_), file_.where, [this](Place place) { return say(place); });
}

} // namespace

bool looks_like_chakra(std::string_view bytes) {
    if (!looks_binary(bytes)) { return false; }
    try {
        ProtoFile const file{bytes, {}};
        auto const head = next_message(bytes);
        if (!head || bytes.empty()) { return false; }
        for (ProtoReader global{*head, file}; global.next(); global.bytes()) {
            if (global.tag() > 2) { return false; }
        }
        auto const first = next_message(bytes);
        if (!first) { return false; }
        for (ProtoReader node{*first, file}; node.next(); node.skip()) {
            if (node.tag() > 11) { return false; }
        }
        return true;
    } catch (InputError const&) { return false; }
}

TaskGraph read_chakra_graph(std::string_view bytes, std::string const& where) {
    return ChakraTrace{bytes, where}.read();
}

} // namespace headroom::io
