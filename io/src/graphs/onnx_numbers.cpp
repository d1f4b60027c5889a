// Shapes that a model works out on its way: the numbers of small tensors, from Shape to Reshape.

#include "graphs/onnx_shapes.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace headroom::io {

namespace {

constexpr double most_numbers = 64.0;
constexpr double largest_number = 0x1p63;

double applied(std::string_view op, double a, double b, bool whole) {
    if (op == "Add") { return a + b; }
    if (op == "Sub") { return a - b; }
    if (op == "Mul") { return a * b; }
    if (op == "Div") { return whole ? std::trunc(a / b) : a / b; }
    if (op == "Min") { return std::min(a, b); }
    if (op == "Max") { return std::max(a, b); }
    if (op == "Equal") { return a == b ? 1.0 : 0.0; }
    return std::nan("");
}

/// Two lists of equal length, or a list and a single number.
void combine(OnnxCall& call) {
    auto const *a = call.numbers(0), *b = call.numbers(1);
    if (a == nullptr || b == nullptr || call.input_count() != 2) { return; }
    std::size_t const length = std::max(a->values.size(), b->values.size());
    bool const fit =
        (a->values.size() == length || a->values.size() == 1) && (b->values.size() == length || b->values.size() == 1);
    if (!fit) { return; }
    OnnxNumbers numbers{.values = {}, .whole = a->whole};
    for (std::size_t i = 0; i < length; ++i) {
        numbers.values.push_back(applied(call.node.op, a->values[a->values.size() == 1 ? 0 : i],
                                         b->values[b->values.size() == 1 ? 0 : i], a->whole && b->whole));
    }
    call.outputs[0].numbers = std::move(numbers);
}

void choose(OnnxCall& call) {
    auto const *which = call.numbers(0), *a = call.numbers(1), *b = call.numbers(2);
    if (which == nullptr || a == nullptr || b == nullptr) { return; }
    std::size_t const length = std::max({which->values.size(), a->values.size(), b->values.size()});
    for (auto const* const list : {which, a, b}) {
        if (list->values.size() != length && list->values.size() != 1) { return; }
    }
    OnnxNumbers numbers{.values = {}, .whole = a->whole};
    auto const at = [](OnnxNumbers const& list, std::size_t i) { return list.values[list.values.size() == 1 ? 0 : i]; };
    for (std::size_t i = 0; i < length; ++i) { numbers.values.push_back(at(*which, i) != 0.0 ? at(*a, i) : at(*b, i)); }
    call.outputs[0].numbers = std::move(numbers);
}

void shape_numbers(OnnxCall& call) {
    if (call.dims(0) == nullptr || !call.outputs[0].dims) { return; }
    auto const rank = static_cast<std::int64_t>(call.dims(0)->size());
    std::int64_t const start = call.whole("start", 0);
    std::int64_t const first = std::clamp<std::int64_t>(start < 0 ? start + rank : start, 0, rank);
    auto const begin = call.dims(0)->begin() + first;
    OnnxNumbers numbers;
    numbers.values.assign(begin, begin + std::min((*call.outputs[0].dims)[0], rank - first));
    call.outputs[0].numbers = std::move(numbers);
}

void gather_numbers(OnnxCall& call) {
    auto const *data = call.numbers(0), *indices = call.numbers(1);
    if (data == nullptr || indices == nullptr || call.dims(0) == nullptr || call.dims(0)->size() != 1) { return; }
    OnnxNumbers numbers{.values = {}, .whole = data->whole};
    auto const size = static_cast<double>(data->values.size());
    for (double const index : indices->values) {
        double const at = index < 0.0 ? index + size : index;
        if (!(at >= 0.0 && at < size)) { return; }
        numbers.values.push_back(data->values[static_cast<std::size_t>(at)]);
    }
    call.outputs[0].numbers = std::move(numbers);
}

void concat_numbers(OnnxCall& call) {
    OnnxNumbers numbers;
    for (std::size_t i = 0; i < call.input_count(); ++i) {
        auto const* const part = call.numbers(i);
        if (part == nullptr || call.dims(i) == nullptr || call.dims(i)->size() != 1) { return; }
        numbers.values.insert(numbers.values.end(), part->values.begin(), part->values.end());
        numbers.whole = part->whole;
    }
    call.outputs[0].numbers = std::move(numbers);
}

/// Numbers of a slice of a list along its one axis.
void slice_numbers(OnnxCall& call) {
    auto const* const data = call.numbers(0);
    auto const starts = call.list("starts", 1), steps = call.list("steps", 4);
    bool const plain = data != nullptr && call.dims(0) != nullptr && call.dims(0)->size() == 1 && starts && steps &&
                       starts->size() == 1 && steps->size() <= 1 && call.outputs[0].dims;
    if (!plain) { return; }
    auto const size = static_cast<std::int64_t>(data->values.size());
    std::int64_t const step = steps->empty() ? 1 : (*steps)[0];
    std::int64_t at = (*starts)[0] < 0 ? (*starts)[0] + size : (*starts)[0];
    at = std::clamp<std::int64_t>(at, 0, step < 0 ? size - 1 : size);
    OnnxNumbers numbers{.values = {}, .whole = data->whole};
    for (std::int64_t i = 0; i < (*call.outputs[0].dims)[0]; ++i) {
        if (at < 0 || at >= size) { return; }
        numbers.values.push_back(data->values[static_cast<std::size_t>(at)]);
        at += std::clamp<std::int64_t>(step, -size - 1, size + 1);
    }
    call.outputs[0].numbers = std::move(numbers);
}

void filled_numbers(OnnxCall& call) {
    if (!call.outputs[0].dims || elements(*call.outputs[0].dims) > most_numbers) { return; }
    OnnxNumbers numbers{.values = {}, .whole = false};
    double value = 0.0;
    auto const* const stated = call.node.attribute("value");
    if (stated != nullptr && stated->tensor && stated->tensor->numbers && stated->tensor->numbers->values.size() == 1) {
        value = stated->tensor->numbers->values[0];
        numbers.whole = stated->tensor->numbers->whole;
    }
    numbers.values.assign(static_cast<std::size_t>(elements(*call.outputs[0].dims)), value);
    call.outputs[0].numbers = std::move(numbers);
}

void range_numbers(OnnxCall& call) {
    if (!call.outputs[0].dims || elements(*call.outputs[0].dims) > most_numbers) { return; }
    OnnxNumbers numbers{.values = {}, .whole = call.numbers(0)->whole};
    for (std::int64_t i = 0; i < (*call.outputs[0].dims)[0]; ++i) {
        numbers.values.push_back(call.numbers(0)->values[0] + static_cast<double>(i) * call.numbers(2)->values[0]);
    }
    call.outputs[0].numbers = std::move(numbers);
}

void product_numbers(OnnxCall& call) {
    auto const* const data = call.numbers(0);
    if (data == nullptr || !call.outputs[0].dims || elements(*call.outputs[0].dims) != 1.0) { return; }
    double product = 1.0;
    for (double const value : data->values) { product *= value; }
    call.outputs[0].numbers = OnnxNumbers{.values = {product}, .whole = data->whole};
}

void size_numbers(OnnxCall& call) {
    if (call.dims(0) != nullptr) { call.outputs[0].numbers = OnnxNumbers{.values = {elements(*call.dims(0))}}; }
}

template <double (*Function)(double)> void mapped_numbers(OnnxCall& call) {
    auto const* const data = call.numbers(0);
    if (data == nullptr) { return; }
    OnnxNumbers numbers = *data;
    for (double& value : numbers.values) { value = Function(value); }
    call.outputs[0].numbers = std::move(numbers);
}

/// To a whole type numbers are cut; 1 is float, 10 half, 11 double, 16 bfloat16.
void cast_numbers(OnnxCall& call) {
    auto const* const data = call.numbers(0);
    if (data == nullptr) { return; }
    std::int64_t const to = call.whole("to", 1);
    bool const whole = to != 1 && to != 10 && to != 11 && to != 16;
    OnnxNumbers numbers{.values = data->values, .whole = whole};
    if (whole) {
        for (double& value : numbers.values) { value = std::trunc(value); }
    }
    call.outputs[0].numbers = std::move(numbers);
}

double same(double value) { return value; }
double up(double value) { return std::ceil(value); }
double down(double value) { return std::floor(value); }
double root(double value) { return std::sqrt(value); }
double negated(double value) { return -value; }

struct NumberRule {
    std::string_view op;
    void (*propagate)(OnnxCall&);
};
constexpr std::array rules{
    NumberRule{"Add", combine},
    NumberRule{"Cast", cast_numbers},
    NumberRule{"Ceil", mapped_numbers<up>},
    NumberRule{"Concat", concat_numbers},
    NumberRule{"ConstantOfShape", filled_numbers},
    NumberRule{"Div", combine},
    NumberRule{"Equal", combine},
    NumberRule{"Floor", mapped_numbers<down>},
    NumberRule{"Gather", gather_numbers},
    NumberRule{"Identity", mapped_numbers<same>},
    NumberRule{"Max", combine},
    NumberRule{"Min", combine},
    NumberRule{"Mul", combine},
    NumberRule{"Neg", mapped_numbers<negated>},
    NumberRule{"Range", range_numbers},
    NumberRule{"ReduceProd", product_numbers},
    NumberRule{"Reshape", mapped_numbers<same>},
    NumberRule{"Shape", shape_numbers},
    NumberRule{"Size", size_numbers},
    NumberRule{"Slice", slice_numbers},
    NumberRule{"Sqrt", mapped_numbers<root>},
    NumberRule{"Squeeze", mapped_numbers<same>},
    NumberRule{"Sub", combine},
    NumberRule{"Unsqueeze", mapped_numbers<same>},
    NumberRule{"Where", choose},
};

} // namespace

void propagate_numbers(OnnxCall& call) {
    auto const rule = std::ranges::find(rules, call.node.op, &NumberRule::op);
    if (rule == rules.end()) { return; }
    rule->propagate(call);
    auto& [dims, numbers] = call.outputs[0];
    // they are kept only where they are few, exact, and as many as the shape says
    bool const good =
        numbers && dims && static_cast<double>(numbers->values.size()) == elements(*dims) &&
        elements(*dims) <= most_numbers &&
        std::ranges::all_of(numbers->values, [](double value) { return std::abs(value) <= largest_number; });
    if (!good) { numbers.reset(); }
}

} // namespace headroom::io
