// Chakra execution traces. Field numbers: schema/protobuf/et_def.proto of github.com/mlcommons/chakra.

#include "graphs/chakra_nodes.hpp"

#include "graphs/graph_draft.hpp"
#include "graphs/graph_formats.hpp"

#include "headroom/error.hpp"

#include <fmt/format.h>

#include <protozero/varint.hpp>

namespace headroom::io {

namespace {

/// Bytes of the smallest node that says anything, so that memory stays in proportion to the file.
constexpr std::size_t least_node = 12, few_nodes = 4096;

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

/// The value of an attribute, of whatever type it is.
struct ChakraValue {
    std::optional<double> number;
    std::string_view text;
};

void set_attribute(ProtoReader const& message, std::string_view name, ChakraValue const& value, ChakraNode& node) {
    if (name == "pg_name" || name == "comm_group") { node.group = value.text; }
    if (!value.number) { return; }
    double const number = *value.number;
    if (name == "num_ops" || name == "comm_size") {
        if (!(number >= 0.0 && number <= 1e30)) {
            message.file().fail(message.place(), fmt::format("'{}' is no amount", name), "negative, or too large");
        }
        (name == "num_ops" ? node.operations : node.bytes) = number;
    }
    if (name == "pg_size" && number >= 1.0 && number <= 1e9) { node.group_size = static_cast<std::int32_t>(number); }
    if (name == "is_cpu_op") { node.on_cpu = number != 0.0; }
    if (name == "comm_type") { node.comm_type = number; }
    if (name == "stream") { node.stream = number; }
    if (name == "tid") { node.thread = number; }
}

void read_attribute(ProtoReader message, ChakraNode& node, bool& from_pytorch) {
    std::string_view name;
    ChakraValue value;
    while (message.next()) {
        switch (message.tag()) {
        case 1: name = message.bytes(); break;
        case 3: value.number = message.fixed64(); break;
        case 5: value.number = message.number(); break;
        case 7:
        case 9: value.number = static_cast<double>(message.signed_whole()); break;
        case 11:
        case 13:
        case 27: value.number = static_cast<double>(message.whole()); break;
        case 29: value.text = message.bytes(); break;
        default: message.skip();
        }
    }
    from_pytorch = from_pytorch || name == "rf_id" || name == "fw_parent" || name == "op_schema";
    set_attribute(message, name, value, node);
}

void read_node(ProtoReader message, ChakraNodes& trace) {
    ChakraNode node{.name = {}, .first_data = trace.data.size(), .first_control = trace.control.size(), .group = {}};
    while (message.next()) {
        switch (message.tag()) {
        case 1: node.id = message.whole(); break;
        case 2: node.name = message.text(); break;
        case 3: node.type = message.whole(); break;
        case 4: message.wholes(trace.control); break;
        case 5: message.wholes(trace.data); break;
        case 6: node.start = message.whole(); break;
        case 7: node.micros = message.whole(); break;
        case 10: read_attribute(message.message(), node, trace.from_pytorch); break;
        default: message.skip();
        }
    }
    trace.nodes.push_back(node);
}

std::vector<std::uint64_t> part_of(std::vector<std::uint64_t> const& ids, ChakraNodes const& trace, std::size_t node,
                                   std::size_t ChakraNode::*first) {
    std::size_t const end = node + 1 < trace.nodes.size() ? trace.nodes[node + 1].*first : ids.size();
    return {ids.begin() + static_cast<std::ptrdiff_t>(trace.nodes[node].*first),
            ids.begin() + static_cast<std::ptrdiff_t>(end)};
}

} // namespace

std::string_view ChakraNode::collective() const {
    bool const known = is(ChakraType::collective) && comm_type && *comm_type >= 0.0 &&
                       *comm_type < static_cast<double>(chakra_collectives.size());
    return known ? chakra_collectives[static_cast<std::size_t>(*comm_type)] : std::string_view{};
}

std::vector<std::uint64_t> ChakraNodes::data_of(std::size_t node) const {
    return part_of(data, *this, node, &ChakraNode::first_data);
}
std::vector<std::uint64_t> ChakraNodes::control_of(std::size_t node) const {
    return part_of(control, *this, node, &ChakraNode::first_control);
}

ChakraNodes read_chakra_nodes(ProtoFile const& file, ChakraDamage const& damaged) {
    ChakraNodes trace;
    std::string_view rest = file.bytes;
    for (std::size_t messages = 0; !rest.empty(); ++messages) {
        char const* const at = rest.data();
        auto const message = next_message(rest);
        bool const whole = message && (messages == 0 || !message->empty()); // zeros are what a power loss leaves
        if (!whole && !damaged) { file.fail(at, "a node is cut short", "the file ends before it does"); }
        if (!whole) {
            damaged(at, "cut short");
            break;
        }
        if (messages == 0) { continue; } // metadata of the whole trace
        auto const read = static_cast<std::size_t>(rest.data() - file.bytes.data());
        if (trace.nodes.size() * least_node > read + few_nodes) {
            file.fail(at, "more nodes than its bytes can hold", "each has a name and attributes");
        }
        if (trace.nodes.size() >= most_tasks) { too_many_tasks(file.where); }
        std::size_t const data = trace.data.size(), control = trace.control.size();
        try {
            read_node({*message, file}, trace);
        } catch (InputError const&) {
            if (!damaged) { throw; }
            trace.data.resize(data), trace.control.resize(control);
            damaged(at, "node that cannot be read");
        }
    }
    return trace;
}

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
        if (!first || first->empty()) { return false; }
        for (ProtoReader node{*first, file}; node.next(); node.skip()) {
            if (node.tag() > 11) { return false; }
        }
        return true;
    } catch (InputError const&) { return false; }
}

} // namespace headroom::io
