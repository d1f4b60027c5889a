#pragma once

#include "graphs/proto_reader.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// Types of nodes of a Chakra execution trace, by the numbers of its schema.
enum class ChakraType : std::uint8_t { invalid, metadata, mem_load, mem_store, compute, send, receive, collective };
inline constexpr std::array<std::string_view, 10> chakra_collectives{
    "all_reduce", "reduce",         "all_gather",           "gather", "scatter", "broadcast",
    "all_to_all", "reduce_scatter", "reduce_scatter_block", "barrier"};

/// One node as far as it is read.
struct ChakraNode {
    std::uint64_t id = 0, type = 0, micros = 0, start = 0; ///< duration and begin in microseconds
    std::string_view name;
    std::size_t first_data = 0, first_control = 0; ///< into the lists of dependencies
    double operations = 0.0, bytes = 0.0;
    std::optional<double> comm_type = {}, stream = {}, thread = {};
    std::optional<bool> on_cpu = {};
    std::string_view group;      ///< of processes, by name
    std::int32_t group_size = 0; ///< 0: not stated
    [[nodiscard]] bool is(ChakraType what) const { return type == static_cast<std::uint64_t>(what); }
    /// "all_reduce"; empty: it is no collective, or of a kind that the schema does not have.
    [[nodiscard]] std::string_view collective() const;
};

/// The nodes of a trace and what they wait for.
struct ChakraNodes {
    std::vector<ChakraNode> nodes;
    std::vector<std::uint64_t> data, control; ///< dependencies of all nodes, by id
    bool from_pytorch = false;                ///< control dependencies say who called, not who waits
    std::deque<std::string> texts;            ///< names that do not lie in the file as they are
    /// The dependencies of one node.
    [[nodiscard]] std::vector<std::uint64_t> data_of(std::size_t node) const;
    [[nodiscard]] std::vector<std::uint64_t> control_of(std::size_t node) const;
};

/// Receives a node that cannot be read, with its begin; such a node is left out.
using ChakraDamage = std::function<void(char const* at, std::string_view problem)>;

/// Reads the messages of a file.
/// Errors: InputError{unreadable} at the first node that cannot be read, unless `damaged` is there to receive it.
ChakraNodes read_chakra_nodes(ProtoFile const& file, ChakraDamage const& damaged = {});

} // namespace headroom::io
