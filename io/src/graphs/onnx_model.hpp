#pragma once

#include "graphs/proto_reader.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace headroom::io {

// An ONNX model as far as a graph needs it. Texts point into the bytes of the file.
// Field numbers: onnx/onnx.proto of github.com/onnx/onnx.

/// Sizes along the axes of a tensor.
using Dims = std::vector<std::int64_t>;

/// The numbers of a small tensor: shapes, axes and factors are among them.
struct OnnxNumbers {
    std::vector<double> values;
    bool whole = true; ///< of an integer type
};

struct OnnxTensor {
    std::string_view name;
    Dims dims;
    std::optional<OnnxNumbers> numbers; ///< of small tensors that are in the file
};

struct OnnxGraph;

struct OnnxAttribute {
    std::string_view name, text;
    std::optional<std::int64_t> whole;
    std::optional<float> number;
    std::vector<std::int64_t> wholes;
    std::vector<float> numbers;
    std::optional<OnnxTensor> tensor;
    std::vector<OnnxGraph> graphs;
};

struct OnnxNode {
    std::string_view name, op, domain;
    std::vector<std::string_view> inputs, outputs; ///< names of values; empty: left out
    std::vector<OnnxAttribute> attributes;
    char const* place = nullptr;

    /// Null when the node does not state it.
    [[nodiscard]] OnnxAttribute const* attribute(std::string_view called) const;
};

/// One axis of a value: its size, or a name for it, or neither.
struct OnnxDim {
    std::optional<std::int64_t> size;
    std::string_view symbol;
};

struct OnnxValueInfo {
    std::string_view name;
    std::optional<std::vector<OnnxDim>> dims; ///< empty: not stated
};

struct OnnxGraph {
    std::string_view name;
    std::vector<OnnxNode> nodes;
    std::vector<OnnxTensor> initializers;
    std::vector<OnnxValueInfo> inputs, outputs, values;
};

struct OnnxModel {
    OnnxGraph graph;
    std::int64_t opset = 1; ///< of the standard operators
    std::size_t functions = 0;
};

/// Errors: InputError{unreadable} with the byte.
OnnxModel read_onnx_model(ProtoFile const& file);

} // namespace headroom::io
