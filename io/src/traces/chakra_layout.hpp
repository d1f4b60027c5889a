#pragma once

#include "graphs/chakra_nodes.hpp"
#include "traces/trace_builder.hpp"

#include <cstddef>
#include <functional>
#include <string>

namespace headroom::io {

/// Puts the nodes of a Chakra trace onto a timeline. Where they have begins, by those; else each as soon as what it
/// waits for is done and its stream or thread is free, nodes that come earlier in the file first: an order that could
/// have been, which an issue says. `place` says where a node stands.
void lay_out_chakra(ChakraNodes const& trace, TraceBuilder& builder,
                    std::function<std::string(std::size_t)> const& place);

} // namespace headroom::io
