// Operators that move or make data and compute nothing: only their shapes matter, and the numbers of small ones.

#include "graphs/onnx_shapes.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace headroom::io {

namespace {

constexpr std::size_t most_numbers = 64;

std::optional<double> no_work(OnnxCall const&) { return 0.0; }

void unknown_shape(OnnxCall&) {}

void all_same_shape(OnnxCall& call) {
    if (call.dims(0) == nullptr) { return; }
    for (std::size_t i = 0; i < call.outputs.size(); ++i) { call.give(*call.dims(0), i); }
}

/// Shape of a reshape: 0 keeps a size, -1 takes the remaining elements.
void reshape_shape(OnnxCall& call) {
    auto const* const input = call.dims(0);
    auto const target = call.list("shape", 1);
    if (input == nullptr || !target) { return; }
    Dims dims = *target;
    double known = 1.0;
    std::optional<std::size_t> rest;
    for (std::size_t i = 0; i < dims.size(); ++i) {
        if (dims[i] == 0 && call.whole("allowzero", 0) == 0) {
            if (i >= input->size()) { return; }
            dims[i] = (*input)[i];
        }
        if (dims[i] == -1) {
            rest = i;
        } else {
            known *= static_cast<double>(dims[i]);
        }
    }
    if (rest) {
        double const left = known > 0.0 ? elements(*input) / known : 0.0;
        if (!(left < 0x1p50) || left != std::floor(left)) { return; }
        dims[*rest] = static_cast<std::int64_t>(left);
    }
    call.give(std::move(dims));
}

void flatten_shape(OnnxCall& call) {
    auto const* const input = call.dims(0);
    if (input == nullptr) { return; }
    std::int64_t const axis = call.whole("axis", 1), rank = static_cast<std::int64_t>(input->size());
    if (axis < -rank || axis > rank) { return; }
    auto const cut = input->begin() + (axis < 0 ? axis + rank : axis);
    double const rows = elements({input->begin(), cut}), columns = elements({cut, input->end()});
    if (!(rows < 0x1p50 && columns < 0x1p50)) { return; }
    call.give({static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns)});
}

/// Axes as a sorted list without sign; empty when one is none of `rank`.
std::optional<std::vector<std::size_t>> sorted_axes(Dims const& axes, std::size_t rank) {
    std::vector<std::size_t> sorted;
    for (std::int64_t const axis : axes) {
        auto const at = axis_of(axis, rank);
        if (!at) { return std::nullopt; }
        sorted.push_back(*at);
    }
    std::ranges::sort(sorted);
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    return sorted;
}

void squeeze_shape(OnnxCall& call) {
    auto const* const input = call.dims(0);
    auto const list = call.list("axes", 1);
    if (input == nullptr || !list) { return; }
    auto const axes = sorted_axes(*list, input->size());
    if (!axes) { return; }
    Dims dims;
    for (std::size_t i = 0; i < input->size(); ++i) {
        bool const goes = axes->empty() ? (*input)[i] == 1 : std::ranges::binary_search(*axes, i);
        if (!goes) { dims.push_back((*input)[i]); }
    }
    call.give(std::move(dims));
}

void unsqueeze_shape(OnnxCall& call) {
    auto const* const input = call.dims(0);
    auto const list = call.list("axes", 1);
    if (input == nullptr || !list || list->size() > most_numbers) { return; }
    auto const axes = sorted_axes(*list, input->size() + list->size());
    if (!axes) { return; }
    Dims dims = *input;
    for (std::size_t const axis : *axes) {
        if (axis > dims.size()) { return; }
        dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), 1);
    }
    call.give(std::move(dims));
}

void transpose_shape(OnnxCall& call) {
    auto const* const input = call.dims(0);
    if (input == nullptr) { return; }
    Dims dims{input->rbegin(), input->rend()};
    if (auto const* const order = call.node.attribute("perm")) {
        if (order->wholes.size() != input->size()) { return; }
        for (std::size_t i = 0; i < dims.size(); ++i) {
            auto const from = axis_of(order->wholes[i], dims.size());
            if (!from) { return; }
            dims[i] = (*input)[*from];
        }
    }
    call.give(std::move(dims));
}

void concat_shape(OnnxCall& call) {
    if (call.dims(0) == nullptr) { return; }
    Dims dims = *call.dims(0);
    auto const axis = axis_of(call.whole("axis", 0), dims.size());
    if (!axis) { return; }
    for (std::size_t i = 1; i < call.input_count(); ++i) {
        auto const* const more = call.dims(i);
        if (more == nullptr || more->size() != dims.size()) { return; }
        dims[*axis] += (*more)[*axis];
    }
    call.give(std::move(dims));
}

void split_shape(OnnxCall& call) {
    auto const* const input = call.dims(0);
    auto parts = call.list("split", 1);
    if (input == nullptr || !parts) { return; }
    auto const axis = axis_of(call.whole("axis", 0), input->size());
    if (!axis) { return; }
    auto const count = static_cast<std::int64_t>(call.outputs.size());
    std::int64_t const size = (*input)[*axis], each = (size + count - 1) / count;
    for (std::int64_t i = static_cast<std::int64_t>(parts->size()); i < count; ++i) {
        parts->push_back(std::clamp<std::int64_t>(size - i * each, 0, each));
    }
    for (std::size_t i = 0; i < call.outputs.size(); ++i) {
        Dims dims = *input;
        dims[*axis] = (*parts)[i];
        call.give(std::move(dims), i);
    }
}

/// Number of elements that a slice takes of `size`, and its begin.
struct Cut {
    std::int64_t begin = 0, count = 0;
};
Cut cut_of(std::int64_t size, std::int64_t start, std::int64_t end, std::int64_t step) {
    if (start < 0) { start += size; }
    if (end < 0) { end += size; }
    if (step > 0) {
        start = std::clamp<std::int64_t>(start, 0, size), end = std::clamp<std::int64_t>(end, 0, size);
        return {start, end <= start ? 0 : (end - start - 1) / step + 1};
    }
    start = std::clamp<std::int64_t>(start, 0, size - 1), end = std::clamp<std::int64_t>(end, -1, size - 1);
    return {start, start <= end ? 0 : (start - end - 1) / -step + 1};
}

/// Starts, ends, axes and steps of a slice: inputs, or attributes in old models.
struct Slices {
    Dims starts, ends, axes, steps;
};
std::optional<Slices> slices_of(OnnxCall const& call) {
    auto starts = call.list("starts", 1), ends = call.list("ends", 2), axes = call.list("axes", 3);
    auto steps = call.list("steps", 4);
    if (!starts || !ends || !axes || !steps || starts->size() != ends->size()) { return std::nullopt; }
    for (std::size_t i = axes->size(); i < starts->size(); ++i) { axes->push_back(static_cast<std::int64_t>(i)); }
    steps->resize(starts->size(), 1);
    constexpr std::int64_t longest = std::int64_t{1} << 40;
    for (std::int64_t& step : *steps) {
        if (step == 0) { return std::nullopt; }
        step = std::clamp(step, -longest, longest);
    }
    return Slices{std::move(*starts), std::move(*ends), std::move(*axes), std::move(*steps)};
}

void slice_shape(OnnxCall& call) {
    auto const slices = slices_of(call);
    if (call.dims(0) == nullptr || !slices) { return; }
    Dims dims = *call.dims(0);
    for (std::size_t i = 0; i < slices->starts.size(); ++i) {
        auto const axis = axis_of(slices->axes[i], dims.size());
        if (!axis) { return; }
        dims[*axis] = cut_of(dims[*axis], slices->starts[i], slices->ends[i], slices->steps[i]).count;
    }
    call.give(std::move(dims));
}

void gather_shape(OnnxCall& call) {
    auto const *data = call.dims(0), *indices = call.dims(1);
    if (data == nullptr || indices == nullptr) { return; }
    auto const axis = axis_of(call.whole("axis", 0), data->size());
    if (!axis) { return; }
    auto const cut = data->begin() + static_cast<std::ptrdiff_t>(*axis);
    Dims dims{data->begin(), cut};
    dims.insert(dims.end(), indices->begin(), indices->end());
    dims.insert(dims.end(), cut + 1, data->end());
    call.give(std::move(dims));
}

void gather_elements_shape(OnnxCall& call) {
    if (call.dims(1) != nullptr) { call.give(*call.dims(1)); }
}

void gather_nd_shape(OnnxCall& call) {
    auto const *data = call.dims(0), *indices = call.dims(1);
    std::int64_t const batch = call.whole("batch_dims", 0);
    if (data == nullptr || indices == nullptr || indices->empty() || batch < 0 || batch > 64) { return; }
    std::int64_t const used = indices->back() + batch;
    if (used > static_cast<std::int64_t>(data->size())) { return; }
    Dims dims{indices->begin(), indices->end() - 1};
    dims.insert(dims.end(), data->begin() + used, data->end());
    call.give(std::move(dims));
}

void expand_shape(OnnxCall& call) {
    auto const target = call.list("shape", 1);
    if (call.dims(0) == nullptr || !target) { return; }
    auto dims = broadcast(*call.dims(0), *target);
    if (dims) { call.give(std::move(*dims)); }
}

void tile_shape(OnnxCall& call) {
    auto const repeats = call.list("repeats", 1);
    if (call.dims(0) == nullptr || !repeats || repeats->size() != call.dims(0)->size()) { return; }
    Dims dims = *call.dims(0);
    for (std::size_t i = 0; i < dims.size(); ++i) {
        double const size = static_cast<double>(dims[i]) * static_cast<double>((*repeats)[i]);
        if (!(size >= 0.0 && size < 0x1p50)) { return; }
        dims[i] = static_cast<std::int64_t>(size);
    }
    call.give(std::move(dims));
}

void pad_shape(OnnxCall& call) {
    auto const pads = call.list("pads", 1);
    if (call.dims(0) == nullptr || !pads || call.has(3) || pads->size() != 2 * call.dims(0)->size()) { return; }
    Dims dims = *call.dims(0);
    constexpr std::int64_t widest = std::int64_t{1} << 40;
    for (std::size_t i = 0; i < dims.size(); ++i) {
        dims[i] += std::clamp((*pads)[i], -widest, widest) + std::clamp((*pads)[i + dims.size()], -widest, widest);
    }
    call.give(std::move(dims));
}

void shape_shape(OnnxCall& call) {
    if (call.dims(0) == nullptr) { return; }
    auto const rank = static_cast<std::int64_t>(call.dims(0)->size());
    call.give({cut_of(rank, call.whole("start", 0), call.whole("end", rank), 1).count});
}

void scalar_shape(OnnxCall& call) { call.give({}); }

void constant_shape(OnnxCall& call) {
    if (auto const* const value = call.node.attribute("value"); value != nullptr && value->tensor) {
        call.give(value->tensor->dims);
        call.outputs[0].numbers = value->tensor->numbers;
        return;
    }
    for (std::string_view const key : {"value_int", "value_float", "value_ints", "value_floats"}) {
        auto const* const value = call.node.attribute(key);
        if (value == nullptr) { continue; }
        OnnxNumbers numbers{.values = {value->wholes.begin(), value->wholes.end()},
                            .whole = !key.starts_with("value_f")};
        numbers.values.insert(numbers.values.end(), value->numbers.begin(), value->numbers.end());
        if (value->whole) { numbers.values.push_back(static_cast<double>(*value->whole)); }
        if (value->number) { numbers.values.push_back(static_cast<double>(*value->number)); }
        call.give(key.ends_with('s') ? Dims{static_cast<std::int64_t>(numbers.values.size())} : Dims{});
        if (numbers.values.size() <= most_numbers) { call.outputs[0].numbers = std::move(numbers); }
    }
}

void constant_of_shape_shape(OnnxCall& call) {
    auto dims = call.list("shape", 0);
    if (dims && call.has(0)) { call.give(std::move(*dims)); }
}

void range_shape(OnnxCall& call) {
    auto const *start = call.numbers(0), *limit = call.numbers(1), *step = call.numbers(2);
    for (auto const* const number : {start, limit, step}) {
        if (number == nullptr || number->values.size() != 1) { return; }
    }
    double const count = std::ceil((limit->values[0] - start->values[0]) / step->values[0]);
    if (std::isfinite(count) && count < 0x1p40) { call.give({static_cast<std::int64_t>(std::max(0.0, count))}); }
}

/// By sizes, else by factors; both are inputs, and a factor was an attribute in old models.
void resize_shape(OnnxCall& call) {
    auto const* const input = call.dims(0);
    if (input == nullptr || call.node.attribute("axes") != nullptr) { return; }
    auto const* const sizes = call.numbers(3);
    if (sizes != nullptr && sizes->values.size() == input->size()) {
        auto dims = call.list("sizes", 3);
        return call.give(std::move(*dims));
    }
    bool const old = call.node.op == "Upsample" || call.input_count() == 2;
    auto const* const given = call.numbers(old ? 1 : 2);
    std::vector<double> factors = given != nullptr ? given->values : std::vector<double>{};
    if (auto const* const stated = call.node.attribute("scales")) {
        factors.assign(stated->numbers.begin(), stated->numbers.end());
    }
    if (factors.size() != input->size()) { return; }
    Dims dims;
    for (std::size_t i = 0; i < factors.size(); ++i) {
        double const size = std::floor(static_cast<double>((*input)[i]) * factors[i]);
        if (!(size >= 0.0 && size < 0x1p50)) { return; }
        dims.push_back(static_cast<std::int64_t>(size));
    }
    call.give(std::move(dims));
}

/// [N, C, H, W] with blocks: DepthToSpace takes channels into the image, SpaceToDepth the other way.
void block_shape(OnnxCall& call) {
    auto const* const input = call.dims(0);
    std::int64_t const block = call.whole("blocksize", 0);
    if (input == nullptr || input->size() != 4 || block < 1 || block > 1024) { return; }
    Dims const& d = *input;
    bool const into_image = call.node.op == "DepthToSpace";
    call.give(into_image ? Dims{d[0], d[1] / (block * block), d[2] * block, d[3] * block}
                         : Dims{d[0], d[1] * block * block, d[2] / block, d[3] / block});
}

void one_hot_shape(OnnxCall& call) {
    auto const* const depth = call.numbers(1);
    if (call.dims(0) == nullptr || depth == nullptr || depth->values.size() != 1) { return; }
    Dims dims = *call.dims(0);
    auto const axis = axis_of(call.whole("axis", -1), dims.size() + 1);
    if (!axis || !(std::abs(depth->values[0]) < 0x1p50)) { return; }
    dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(*axis), static_cast<std::int64_t>(depth->values[0]));
    call.give(std::move(dims));
}

void top_k_shape(OnnxCall& call) {
    auto const* const k = call.numbers(1);
    if (call.dims(0) == nullptr || k == nullptr || k->values.size() != 1 || !(std::abs(k->values[0]) < 0x1p50)) {
        return;
    }
    Dims dims = *call.dims(0);
    auto const axis = axis_of(call.whole("axis", -1), dims.size());
    if (!axis) { return; }
    dims[*axis] = static_cast<std::int64_t>(k->values[0]);
    call.give(dims, 1);
    call.give(std::move(dims));
}

constexpr std::array families{
    OnnxFamily{"Bernoulli Cast CastLike EyeLike Identity RandomNormalLike RandomUniformLike ReverseSequence Scatter "
               "ScatterElements ScatterND Trilu",
               same_shape, no_work},
    OnnxFamily{"Dropout", all_same_shape, no_work},
    OnnxFamily{"Reshape", reshape_shape, no_work},
    OnnxFamily{"Flatten", flatten_shape, no_work},
    OnnxFamily{"Squeeze", squeeze_shape, no_work},
    OnnxFamily{"Unsqueeze", unsqueeze_shape, no_work},
    OnnxFamily{"Transpose", transpose_shape, no_work},
    OnnxFamily{"Concat", concat_shape, no_work},
    OnnxFamily{"Split", split_shape, no_work},
    OnnxFamily{"Slice", slice_shape, no_work},
    OnnxFamily{"Gather", gather_shape, no_work},
    OnnxFamily{"GatherElements", gather_elements_shape, no_work},
    OnnxFamily{"GatherND", gather_nd_shape, no_work},
    OnnxFamily{"Expand", expand_shape, no_work},
    OnnxFamily{"Tile", tile_shape, no_work},
    OnnxFamily{"Pad", pad_shape, no_work},
    OnnxFamily{"Shape", shape_shape, no_work},
    OnnxFamily{"Size", scalar_shape, no_work},
    OnnxFamily{"Constant", constant_shape, no_work},
    OnnxFamily{"ConstantOfShape", constant_of_shape_shape, no_work},
    OnnxFamily{"Range", range_shape, no_work},
    OnnxFamily{"Resize Upsample", resize_shape, no_work},
    OnnxFamily{"DepthToSpace SpaceToDepth", block_shape, no_work},
    OnnxFamily{"OneHot", one_hot_shape, no_work},
    OnnxFamily{"TopK", top_k_shape, no_work},
    OnnxFamily{"Compress NonZero Unique SequenceAt SequenceConstruct SequenceEmpty SequenceInsert SequenceErase "
               "SequenceLength SplitToSequence ConcatFromSequence Optional OptionalGetElement OptionalHasElement",
               unknown_shape, no_work},
};

} // namespace

std::span<OnnxFamily const> onnx_moving() { return families; }

} // namespace headroom::io
