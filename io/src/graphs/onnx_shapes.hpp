#pragma once

#include "graphs/onnx_model.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace headroom::io {

/// Known properties of a value: its shape, and its numbers where they are few and follow from the shapes.
struct OnnxValue {
    std::optional<Dims> dims;
    std::optional<OnnxNumbers> numbers;
};

/// Number of elements of a shape.
double elements(Dims const& dims);

/// A node with what is known of its inputs; rules fill its outputs.
class OnnxCall {
public:
    OnnxCall(OnnxNode const& called, std::vector<OnnxValue const*> given, std::int64_t version)
        : node{called},
          opset{version},
          outputs(std::max<std::size_t>(1, called.outputs.size())),
          inputs_{std::move(given)} {}

    OnnxNode const& node;
    std::int64_t opset;
    std::vector<OnnxValue> outputs; ///< at least one

    /// Null where the input is left out or nothing is known of its shape.
    [[nodiscard]] Dims const* dims(std::size_t input) const;
    [[nodiscard]] OnnxNumbers const* numbers(std::size_t input) const;
    [[nodiscard]] std::size_t input_count() const { return inputs_.size(); }
    [[nodiscard]] bool has(std::size_t input) const { return input < inputs_.size() && inputs_[input] != nullptr; }

    [[nodiscard]] std::int64_t whole(std::string_view attribute, std::int64_t otherwise) const;
    [[nodiscard]] std::string_view text(std::string_view attribute, std::string_view otherwise) const;
    /// A list of an attribute or, in newer versions, of an input. Empty optional: stated and not known.
    [[nodiscard]] std::optional<Dims> list(std::string_view attribute, std::size_t input) const;
    /// The list of an attribute; as many of `otherwise` where it is not stated.
    [[nodiscard]] Dims list(std::string_view attribute, std::size_t length, std::int64_t otherwise) const;

    /// The shape of an output. A size below 0 or above 2^40 makes it unknown, and so do more than 64 axes.
    void give(Dims dims, std::size_t output = 0);

private:
    std::vector<OnnxValue const*> inputs_;
};

using ShapeRule = void (*)(OnnxCall&);
/// Operations of a call whose outputs are filled; empty where a shape is missing.
using WorkRule = std::optional<double> (*)(OnnxCall const&);

/// Operators that follow the same rules; the names are separated by spaces.
struct OnnxFamily {
    std::string_view names;
    ShapeRule shape;
    WorkRule work;
};
/// Families of operators that compute, and of operators that move data.
std::span<OnnxFamily const> onnx_computing();
std::span<OnnxFamily const> onnx_moving();

/// Works out the numbers of small outputs from those of the inputs: shapes that are computed on the way.
void propagate_numbers(OnnxCall& call);

/// `axis` counted from the front; empty where there is none.
std::optional<std::size_t> axis_of(std::int64_t axis, std::size_t rank);
/// Two shapes by the rules of broadcasting; empty where they do not fit.
std::optional<Dims> broadcast(Dims const& a, Dims const& b);
void same_shape(OnnxCall& call);
void broadcast_shape(OnnxCall& call);
void attention_shape(OnnxCall& call);
std::optional<double> attention_work(OnnxCall const& call);

} // namespace headroom::io
