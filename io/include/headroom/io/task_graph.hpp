#pragma once

#include "headroom/laws/task_graph.hpp"

#include <string>
#include <string_view>

namespace headroom::io {

/// Reads a graph in whatever format its bytes show: a JSON edge list, DOT, ONNX, a Chakra execution trace.
/// `where` names the file in errors; its ending decides where the bytes are too damaged to show anything.
/// Errors: InputError{unreadable} with the place.
laws::TaskGraph read_task_graph(std::string_view bytes, std::string const& where);

} // namespace headroom::io
