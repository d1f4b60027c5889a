#pragma once

#include "graphs/onnx_shapes.hpp"

#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

namespace headroom::io {

/// Values by name, as far as they are known; those of a graph around are seen through it.
struct OnnxScope {
    OnnxScope const* outer = nullptr;
    std::unordered_map<std::string_view, OnnxValue> values = {};
    std::unordered_map<std::string_view, OnnxValueInfo const*> stated = {}; ///< shapes that the model states

    [[nodiscard]] OnnxValue const* find(std::string_view name) const;
};

/// Follows the shapes through a model and counts the operations of its nodes.
class OnnxCounter {
public:
    explicit OnnxCounter(std::int64_t opset);

    /// Makes inputs, weights and stated shapes of a graph known; `given`: what its inputs are bound to.
    void open(OnnxGraph const& graph, OnnxScope& scope, std::span<OnnxValue const* const> given = {});
    /// Operations of a node, 0 where they are not known; its outputs become known.
    double node(OnnxNode const& node, OnnxScope& scope);
    /// Assumptions and omissions, in words.
    [[nodiscard]] std::vector<std::string> notes(std::size_t functions) const;

private:
    [[nodiscard]] Dims assumed(std::vector<OnnxDim> const& dims);
    void keep_outputs(OnnxCall& call, OnnxScope& scope);
    double inner_graphs(OnnxCall& call, OnnxScope& scope);

    std::unordered_map<std::string_view, OnnxFamily const*> families_;
    std::int64_t opset_;
    std::size_t nodes_ = 0, without_shape_ = 0, unknown_ = 0, with_graphs_ = 0, unnamed_sizes_ = 0;
    std::set<std::string> unknown_names_, symbols_;
};

} // namespace headroom::io
