#pragma once

#include "headroom/task_graph.hpp"

#include <string>
#include <string_view>

namespace headroom::io {

/// Formats of graphs that are read: a JSON edge list, DOT, ONNX, a Chakra execution trace.
enum class GraphFormat { json, dot, onnx, chakra };

/// Reads a graph in whatever format its first bytes show; `where` names the file in errors and helps the sniffing.
/// Errors: InputError{unreadable} with the place.
TaskGraph read_task_graph(std::string_view bytes, std::string const& where);

} // namespace headroom::io
