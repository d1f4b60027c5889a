#pragma once

#include "graphs/chakra_nodes.hpp"
#include "traces/byte_source.hpp"

#include "headroom/trace/rank_trace.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// Tensors of a list of values: how many elements all of them have, and how large one is.
struct TensorSizes {
    std::int64_t elements = 0;
    std::int32_t element_bytes = 0;
};

/// One node of an execution trace written as JSON, by Chakra's converter or by PyTorch's observer.
struct ExecutionNode {
    ChakraNode chakra; ///< numbers alone; its texts are below
    std::string name, group, group_about;
    std::vector<std::uint64_t> data, control;
    std::string shapes, types; ///< of the inputs, as they are written
    TensorSizes in, out;
    std::optional<std::int64_t> elements_in, elements_out; ///< as the node states them
    std::string collective, element_type;
    std::int64_t first_rank = -1, rank_stride = 0;
    std::int64_t sequence = -1;
    std::uint64_t at = 0; ///< byte behind the node
};

/// Facts read besides nodes.
struct ExecutionText {
    std::string schema;
    bool from_pytorch = false; ///< the list is called "nodes"
    std::uint64_t nodes = 0, bytes = 0;
    std::string problem; ///< why the parser stopped; empty: it did not
};

/// Reads an execution trace node by node. Damage is reported, not thrown.
ExecutionText read_execution_nodes(ByteSource& source, std::uint64_t most,
                                   std::function<void(ExecutionNode&)> const& take,
                                   std::function<void(std::string_view kind, std::uint64_t at_byte)> const& tell);

/// Puts a node where those of the binary form are.
void add_node(ChakraNodes& to, ExecutionNode const& node);

} // namespace headroom::io
