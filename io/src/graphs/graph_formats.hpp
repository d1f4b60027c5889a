#pragma once

#include "headroom/laws/task_graph.hpp"

#include <string>
#include <string_view>

namespace headroom::io {

/// One pair a format: whether bytes are of it, and the graph in them.
/// Errors of `read`: InputError{unreadable} with the place.

/// A JSON text: tasks and edges, a bare list of edges, or what networkx writes as node-link data.
bool looks_like_json_graph(std::string_view bytes);
laws::TaskGraph read_json_graph(std::string_view bytes, std::string const& where);

/// A directed graph in the language of Graphviz.
bool looks_like_dot(std::string_view bytes);
laws::TaskGraph read_dot_graph(std::string_view bytes, std::string const& where);

/// An ONNX model: a task an operator, weighted by the operations that its shapes ask for.
bool looks_like_onnx(std::string_view bytes);
laws::TaskGraph read_onnx_graph(std::string_view bytes, std::string const& where);

/// A Chakra execution trace: messages behind their lengths, the first of metadata, one a node.
bool looks_like_chakra(std::string_view bytes);
laws::TaskGraph read_chakra_graph(std::string_view bytes, std::string const& where);

/// Whether bytes are Chakra nodes as its converter writes them in JSON.
bool looks_like_chakra_json(std::string_view bytes);
laws::TaskGraph read_chakra_json_graph(std::string_view bytes, std::string const& where);

/// A profiler's trace events: the step in the middle, tasks and delays in seconds.
bool looks_like_trace_graph(std::string_view bytes);
laws::TaskGraph read_trace_graph(std::string_view bytes, std::string const& where);

} // namespace headroom::io
