#include "graphs/onnx_shapes.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::io {

namespace {

constexpr std::int64_t largest_dim = std::int64_t{1} << 40;
constexpr std::size_t largest_rank = 64;
constexpr std::int64_t most = std::int64_t{1} << 62; ///< "to the end" is written as the largest number there is

} // namespace

double elements(Dims const& dims) {
    double count = 1.0;
    for (std::int64_t const size : dims) { count *= static_cast<double>(size); }
    return count;
}

Dims const* OnnxCall::dims(std::size_t input) const {
    return has(input) && inputs_[input]->dims ? &*inputs_[input]->dims : nullptr;
}

OnnxNumbers const* OnnxCall::numbers(std::size_t input) const {
    return has(input) && inputs_[input]->numbers ? &*inputs_[input]->numbers : nullptr;
}

std::int64_t OnnxCall::whole(std::string_view attribute, std::int64_t otherwise) const {
    auto const* const found = node.attribute(attribute);
    return found == nullptr ? otherwise : found->whole.value_or(otherwise);
}

std::string_view OnnxCall::text(std::string_view attribute, std::string_view otherwise) const {
    auto const* const found = node.attribute(attribute);
    return found == nullptr || found->text.empty() ? otherwise : found->text;
}

std::optional<Dims> OnnxCall::list(std::string_view attribute, std::size_t input) const {
    Dims list;
    if (auto const* const found = node.attribute(attribute)) {
        for (std::int64_t const value : found->wholes) { list.push_back(std::clamp(value, -most, most)); }
        return list;
    }
    if (!has(input)) { return list; }
    auto const* const known = numbers(input);
    if (known == nullptr) { return std::nullopt; }
    for (double const value : known->values) {
        bool const fits = std::abs(value) < static_cast<double>(most);
        list.push_back(fits ? static_cast<std::int64_t>(value) : value > 0.0 ? most : -most);
    }
    return list;
}

Dims OnnxCall::list(std::string_view attribute, std::size_t length, std::int64_t otherwise) const {
    auto const* const found = node.attribute(attribute);
    bool const stated = found != nullptr && found->wholes.size() == length;
    return stated ? found->wholes : Dims(length, otherwise);
}

void OnnxCall::give(Dims dims, std::size_t output) {
    bool const plausible = dims.size() <= largest_rank &&
                           std::ranges::all_of(dims, [](auto size) { return size >= 0 && size <= largest_dim; });
    if (plausible && output < outputs.size()) { outputs[output].dims = std::move(dims); }
}

std::optional<std::size_t> axis_of(std::int64_t axis, std::size_t rank) {
    auto const count = static_cast<std::int64_t>(rank);
    if (axis < -count || axis >= count) { return std::nullopt; }
    return static_cast<std::size_t>(axis < 0 ? axis + count : axis);
}

std::optional<Dims> broadcast(Dims const& a, Dims const& b) {
    Dims const& longer = a.size() >= b.size() ? a : b;
    Dims const& shorter = a.size() >= b.size() ? b : a;
    Dims dims = longer;
    for (std::size_t i = 0; i < shorter.size(); ++i) {
        std::int64_t& size = dims[longer.size() - shorter.size() + i];
        if (size != shorter[i] && size != 1 && shorter[i] != 1) { return std::nullopt; }
        size = size == 1 ? shorter[i] : size;
    }
    return dims;
}

void same_shape(OnnxCall& call) {
    if (auto const* const dims = call.dims(0)) { call.give(*dims); }
}

void broadcast_shape(OnnxCall& call) {
    Dims dims;
    for (std::size_t i = 0; i < call.input_count(); ++i) {
        if (!call.has(i)) { continue; }
        if (call.dims(i) == nullptr) { return; }
        auto both = broadcast(dims, *call.dims(i));
        if (!both) { return; }
        dims = std::move(*both);
    }
    call.give(std::move(dims));
}

} // namespace headroom::io
