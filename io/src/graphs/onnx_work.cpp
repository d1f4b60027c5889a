// Operators that compute: the shapes of what they make and the operations they take. A multiplication and the addition
// after it are two operations; an element-wise function is one; what is made of several is counted as their sum.

#include "graphs/onnx_shapes.hpp"

#include <algorithm>
#include <array>

namespace headroom::io {

namespace {

constexpr std::int64_t largest_window = std::int64_t{1} << 20; ///< of a kernel, its steps and what is padded

// ---- work that follows from one shape -------------------------------------------------------------------------------

template <int Each> std::optional<double> per_output(OnnxCall const& call) {
    if (call.outputs.empty() || !call.outputs[0].dims) { return std::nullopt; }
    return Each * elements(*call.outputs[0].dims);
}

template <int Each> std::optional<double> per_input(OnnxCall const& call) {
    if (call.dims(0) == nullptr) { return std::nullopt; }
    return Each * elements(*call.dims(0));
}

/// Min, Sum and the like take any number of inputs.
std::optional<double> per_pair_of_inputs(OnnxCall const& call) {
    auto const each = per_output<1>(call);
    if (!each) { return std::nullopt; }
    return *each * std::max(1.0, static_cast<double>(call.input_count()) - 1.0);
}

// ---- matrix products ------------------------------------------------------------------------------------------------

/// Input that holds the second factor: quantised operators carry scales between the two.
std::size_t second_factor(OnnxCall const& call) { return call.node.op.starts_with("QLinear") ? 3 : 1; }

/// [..., M, K] x [..., K, N]; a factor of one axis is a row or a column, and its axis goes.
void matmul_shape(OnnxCall& call) {
    if (call.dims(0) == nullptr || call.dims(second_factor(call)) == nullptr) { return; }
    Dims a = *call.dims(0), b = *call.dims(second_factor(call));
    if (a.empty() || b.empty()) { return; }
    bool const row = a.size() == 1, column = b.size() == 1;
    if (row) { a.insert(a.begin(), 1); }
    if (column) { b.push_back(1); }
    if (a.back() != b[b.size() - 2]) { return; }
    auto dims = broadcast({a.begin(), a.end() - 2}, {b.begin(), b.end() - 2});
    if (!dims) { return; }
    if (!row) { dims->push_back(a[a.size() - 2]); }
    if (!column) { dims->push_back(b.back()); }
    call.give(std::move(*dims));
}

/// 2 M N K of each product.
std::optional<double> matmul_work(OnnxCall const& call) {
    if (!call.outputs[0].dims || call.dims(0) == nullptr || call.dims(0)->empty()) { return std::nullopt; }
    return 2.0 * elements(*call.outputs[0].dims) * static_cast<double>(call.dims(0)->back());
}

void gemm_shape(OnnxCall& call) {
    auto const *a = call.dims(0), *b = call.dims(1);
    if (a == nullptr || b == nullptr || a->size() != 2 || b->size() != 2) { return; }
    bool const turn_a = call.whole("transA", 0) != 0, turn_b = call.whole("transB", 0) != 0;
    if ((*a)[turn_a ? 0 : 1] != (*b)[turn_b ? 1 : 0]) { return; }
    call.give({(*a)[turn_a ? 1 : 0], (*b)[turn_b ? 0 : 1]});
}

/// 2 M N K, and M N for what is added.
std::optional<double> gemm_work(OnnxCall const& call) {
    if (!call.outputs[0].dims || call.dims(0) == nullptr || call.dims(0)->size() != 2) { return std::nullopt; }
    double const k = static_cast<double>((*call.dims(0))[call.whole("transA", 0) != 0 ? 0 : 1]);
    return (2.0 * k + (call.has(2) ? 1.0 : 0.0)) * elements(*call.outputs[0].dims);
}

/// Letters of the terms of "ij,jk->ik"; empty when it is not that simple.
std::vector<std::string_view> einsum_terms(OnnxCall const& call) {
    std::string_view const equation = call.text("equation", "");
    auto const arrow = equation.find("->");
    if (arrow == std::string_view::npos || equation.find('.') != std::string_view::npos) { return {}; }
    std::vector<std::string_view> terms;
    for (std::string_view left = equation.substr(0, arrow);;) {
        auto const comma = left.find(',');
        terms.push_back(left.substr(0, comma));
        if (comma == std::string_view::npos) { break; }
        left.remove_prefix(comma + 1);
    }
    terms.push_back(equation.substr(arrow + 2));
    return terms;
}

/// The size of each letter; empty when terms and shapes do not fit.
std::optional<std::array<std::int64_t, 128>> einsum_sizes(OnnxCall const& call,
                                                          std::vector<std::string_view> const& terms) {
    std::array<std::int64_t, 128> sizes{};
    if (terms.size() != call.input_count() + 1) { return std::nullopt; }
    for (std::size_t i = 0; i < call.input_count(); ++i) {
        std::size_t axis = 0;
        for (char const letter : terms[i]) {
            if (letter == ' ') { continue; }
            auto const* const dims = call.dims(i);
            if (dims == nullptr || axis >= dims->size() || static_cast<unsigned char>(letter) >= 128U) {
                return std::nullopt;
            }
            sizes[static_cast<unsigned char>(letter)] = (*dims)[axis++];
        }
    }
    return sizes;
}

void einsum_shape(OnnxCall& call) {
    auto const terms = einsum_terms(call);
    auto const sizes = einsum_sizes(call, terms);
    if (!sizes) { return; }
    Dims dims;
    for (char const letter : terms.back()) {
        if (letter == ' ') { continue; }
        if (static_cast<unsigned char>(letter) >= 128U) { return; }
        dims.push_back((*sizes)[static_cast<unsigned char>(letter)]);
    }
    call.give(std::move(dims));
}

/// Two operations for each combination of the letters of two factors; more factors are multiplied at once.
std::optional<double> einsum_work(OnnxCall const& call) {
    auto const terms = einsum_terms(call);
    auto const sizes = einsum_sizes(call, terms);
    if (!sizes) { return std::nullopt; }
    double combinations = 1.0;
    for (std::int64_t const size : *sizes) { combinations *= size > 0 ? static_cast<double>(size) : 1.0; }
    return combinations * std::max(1.0, static_cast<double>(call.input_count()));
}

// ---- windows: convolutions and pools ----------------------------------------------------------------------------------

/// The steps of a window over the axes of an image.
struct Window {
    Dims kernel, strides, dilations, pads;
    std::string_view auto_pad;
};

bool plausible(Dims const& list, std::int64_t least) {
    return std::ranges::all_of(list, [&](auto value) { return value >= least && value <= largest_window; });
}

std::optional<Window> window_of(OnnxCall const& call, Dims kernel) {
    std::size_t const axes = kernel.size();
    Window window{std::move(kernel), call.list("strides", axes, 1), call.list("dilations", axes, 1),
                  call.list("pads", 2 * axes, 0), call.text("auto_pad", "NOTSET")};
    bool const good = plausible(window.kernel, 1) && plausible(window.strides, 1) && plausible(window.dilations, 1) &&
                      plausible(window.pads, 0);
    return good ? std::optional{window} : std::nullopt;
}

std::int64_t positions(Window const& window, std::size_t axis, std::int64_t size, bool round_up) {
    std::int64_t const stride = window.strides[axis];
    std::int64_t const span = window.dilations[axis] * (window.kernel[axis] - 1) + 1;
    if (window.auto_pad.starts_with("SAME")) { return (size + stride - 1) / stride; }
    std::int64_t const pads =
        window.auto_pad == "VALID" ? 0 : window.pads[axis] + window.pads[axis + window.kernel.size()];
    std::int64_t const room = size + pads - span;
    return room < 0 ? -1 : (room + (round_up ? stride - 1 : 0)) / stride + 1;
}

/// [N, C, image] with weights [M, C / groups, kernel]: [N, M, positions].
void conv_shape(OnnxCall& call) {
    auto const *input = call.dims(0), *weights = call.dims(second_factor(call));
    if (input == nullptr || weights == nullptr || input->size() < 3 || input->size() != weights->size()) { return; }
    auto const window = window_of(call, {weights->begin() + 2, weights->end()});
    if (!window) { return; }
    Dims dims{(*input)[0], (*weights)[0]};
    for (std::size_t i = 2; i < input->size(); ++i) { dims.push_back(positions(*window, i - 2, (*input)[i], false)); }
    call.give(std::move(dims));
}

/// Each output takes a product with the weights of its channel, and one addition of a bias.
std::optional<double> conv_work(OnnxCall const& call) {
    auto const* const weights = call.dims(second_factor(call));
    if (!call.outputs[0].dims || weights == nullptr || weights->empty()) { return std::nullopt; }
    double const channels = std::max(1.0, static_cast<double>(weights->front()));
    bool const bias = call.has(call.node.op == "QLinearConv" ? 8 : 2) && call.node.op != "ConvInteger";
    return (2.0 * elements(*weights) / channels + (bias ? 1.0 : 0.0)) * elements(*call.outputs[0].dims);
}

/// [N, C, image] with weights [C, M / groups, kernel]: [N, M, a larger image].
void conv_transpose_shape(OnnxCall& call) {
    auto const *input = call.dims(0), *weights = call.dims(1);
    if (input == nullptr || weights == nullptr || input->size() < 3 || input->size() != weights->size()) { return; }
    std::size_t const axes = input->size() - 2;
    auto const window = window_of(call, {weights->begin() + 2, weights->end()});
    Dims const added = call.list("output_padding", axes, 0), stated = call.list("output_shape", axes, -1);
    std::int64_t const groups = call.whole("group", 1);
    if (!window || !plausible(added, 0) || groups < 1 || groups > largest_window) { return; }
    Dims dims{(*input)[0], (*weights)[1] * groups};
    for (std::size_t i = 0; i < axes; ++i) {
        std::int64_t const size = (*input)[i + 2], stride = window->strides[i];
        if (size > largest_window) { return; }
        std::int64_t const span = window->dilations[i] * (window->kernel[i] - 1) + 1;
        std::int64_t const pads = window->auto_pad == "VALID" ? 0 : window->pads[i] + window->pads[i + axes];
        bool const same = window->auto_pad.starts_with("SAME");
        std::int64_t const grown = same ? size * stride : stride * (size - 1) + added[i] + span - pads;
        dims.push_back(stated[i] >= 0 ? stated[i] : grown);
    }
    call.give(std::move(dims));
}

/// Each input is multiplied with the weights of its channel, and each output takes a bias.
std::optional<double> conv_transpose_work(OnnxCall const& call) {
    auto const *input = call.dims(0), *weights = call.dims(1);
    if (input == nullptr || weights == nullptr || weights->empty()) { return std::nullopt; }
    double const channels = std::max(1.0, static_cast<double>(weights->front()));
    if (call.has(2) && !call.outputs[0].dims) { return std::nullopt; }
    return 2.0 * elements(*input) * elements(*weights) / channels +
           (call.has(2) ? elements(*call.outputs[0].dims) : 0.0);
}

std::optional<Window> pool_window(OnnxCall const& call) {
    auto const* const kernel = call.node.attribute("kernel_shape");
    auto const* const input = call.dims(0);
    if (kernel == nullptr || input == nullptr || input->size() != kernel->wholes.size() + 2) { return std::nullopt; }
    return window_of(call, kernel->wholes);
}

void pool_shape(OnnxCall& call) {
    auto const window = pool_window(call);
    if (!window) { return; }
    Dims dims = *call.dims(0);
    bool const round_up = call.whole("ceil_mode", 0) != 0;
    for (std::size_t i = 2; i < dims.size(); ++i) { dims[i] = positions(*window, i - 2, dims[i], round_up); }
    if (call.outputs.size() > 1) { call.give(dims, 1); }
    call.give(std::move(dims));
}

/// One operation for each element under the window.
std::optional<double> pool_work(OnnxCall const& call) {
    auto const window = pool_window(call);
    if (!window || !call.outputs[0].dims) { return std::nullopt; }
    return elements(window->kernel) * elements(*call.outputs[0].dims);
}

void global_pool_shape(OnnxCall& call) {
    if (call.dims(0) == nullptr || call.dims(0)->size() < 2) { return; }
    Dims dims(call.dims(0)->size(), 1);
    dims[0] = (*call.dims(0))[0], dims[1] = (*call.dims(0))[1];
    call.give(std::move(dims));
}

// ---- reductions -------------------------------------------------------------------------------------------------------

void reduce_shape(OnnxCall& call) {
    auto const* const input = call.dims(0);
    auto axes = call.list("axes", 1);
    if (call.node.op.starts_with("Arg")) { axes = Dims{call.whole("axis", 0)}; }
    if (input == nullptr || !axes) { return; }
    bool const keep = call.whole("keepdims", 1) != 0;
    if (axes->empty() && call.whole("noop_with_empty_axes", 0) != 0) { return call.give(*input); }
    std::vector<bool> goes(input->size(), axes->empty());
    for (std::int64_t const axis : *axes) {
        auto const at = axis_of(axis, input->size());
        if (!at) { return; }
        goes[*at] = true;
    }
    Dims dims;
    for (std::size_t i = 0; i < input->size(); ++i) {
        if (!goes[i] || keep) { dims.push_back(goes[i] ? 1 : (*input)[i]); }
    }
    call.give(std::move(dims));
}

// ---- recurrent layers -------------------------------------------------------------------------------------------------

/// X [steps, batch, input]; with layout 1 [batch, steps, input]. R [directions, gates x hidden, hidden].
void recurrent_shape(OnnxCall& call) {
    auto const *x = call.dims(0), *r = call.dims(2);
    if (x == nullptr || r == nullptr || x->size() != 3 || r->size() != 3) { return; }
    std::int64_t const directions = (*r)[0], hidden = (*r)[2];
    if (call.whole("layout", 0) != 0) {
        call.give({(*x)[0], (*x)[1], directions, hidden});
        for (std::size_t i = 1; i < 3; ++i) { call.give({(*x)[0], directions, hidden}, i); }
        return;
    }
    call.give({(*x)[0], directions, (*x)[1], hidden});
    for (std::size_t i = 1; i < 3; ++i) { call.give({directions, (*x)[1], hidden}, i); }
}

/// 2 steps x batch x (weights of the input + weights of the state): the matrix products.
std::optional<double> recurrent_work(OnnxCall const& call) {
    auto const *x = call.dims(0), *w = call.dims(1), *r = call.dims(2);
    if (x == nullptr || w == nullptr || r == nullptr || x->size() != 3) { return std::nullopt; }
    return 2.0 * static_cast<double>((*x)[0]) * static_cast<double>((*x)[1]) * (elements(*w) + elements(*r));
}

// ---- normalisation ------------------------------------------------------------------------------------------------------

/// Normalising operators with a sum before them hand it on as their last output.
void skip_norm_shape(OnnxCall& call) {
    same_shape(call);
    if (call.dims(0) != nullptr && call.outputs.size() > 3) { call.give(*call.dims(0), 3); }
}

std::optional<double> local_norm_work(OnnxCall const& call) {
    auto const each = per_output<1>(call);
    if (!each) { return std::nullopt; }
    return *each * static_cast<double>(std::clamp<std::int64_t>(call.whole("size", 1), 1, largest_window) + 3);
}

constexpr std::array families{
    OnnxFamily{"Abs Acos Acosh Asin Asinh Atan Atanh BitwiseNot Ceil Celu Clip Cos Cosh CumSum Elu Erf Exp Floor "
               "HardSigmoid HardSwish IsInf IsNaN LeakyRelu Log Neg Not Reciprocal Relu Round Selu Shrink Sigmoid Sign "
               "Sin Sinh Softplus Softsign Sqrt Tan Tanh ThresholdedRelu",
               same_shape, per_output<1>},
    OnnxFamily{"Add And BitShift BitwiseAnd BitwiseOr BitwiseXor Div Equal Greater GreaterOrEqual Less LessOrEqual Mod "
               "Mul Or PRelu Pow Sub Where Xor",
               broadcast_shape, per_output<1>},
    OnnxFamily{"Max Mean Min Sum", broadcast_shape, per_pair_of_inputs},
    OnnxFamily{"Swish DequantizeLinear QuantizeLinear BatchNormalization", same_shape, per_output<2>},
    OnnxFamily{"Mish QuickGelu RotaryEmbedding", same_shape, per_output<3>},
    OnnxFamily{"RMSNormalization SimplifiedLayerNormalization", same_shape, per_output<4>},
    OnnxFamily{"Gelu Hardmax LogSoftmax Softmax", same_shape, per_output<5>},
    OnnxFamily{"SkipSimplifiedLayerNormalization", skip_norm_shape, per_output<5>},
    OnnxFamily{"BiasGelu", same_shape, per_output<6>},
    OnnxFamily{"GroupNormalization InstanceNormalization LayerNormalization LpNormalization MeanVarianceNormalization",
               same_shape, per_output<7>},
    OnnxFamily{"FastGelu", same_shape, per_output<8>},
    OnnxFamily{"SkipLayerNormalization", skip_norm_shape, per_output<8>},
    OnnxFamily{"LRN", same_shape, local_norm_work},
    OnnxFamily{"MatMul MatMulInteger QLinearMatMul", matmul_shape, matmul_work},
    OnnxFamily{"Gemm", gemm_shape, gemm_work},
    OnnxFamily{"Einsum", einsum_shape, einsum_work},
    OnnxFamily{"Conv ConvInteger QLinearConv", conv_shape, conv_work},
    OnnxFamily{"ConvTranspose", conv_transpose_shape, conv_transpose_work},
    OnnxFamily{"AveragePool LpPool MaxPool", pool_shape, pool_work},
    OnnxFamily{"GlobalAveragePool GlobalLpPool GlobalMaxPool", global_pool_shape, per_input<1>},
    OnnxFamily{"ArgMax ArgMin ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum", reduce_shape, per_input<1>},
    OnnxFamily{"ReduceL1 ReduceL2 ReduceLogSum ReduceSumSquare", reduce_shape, per_input<2>},
    OnnxFamily{"ReduceLogSumExp", reduce_shape, per_input<4>},
    OnnxFamily{"GRU LSTM RNN", recurrent_shape, recurrent_work},
    OnnxFamily{"Attention GroupQueryAttention MultiHeadAttention", attention_shape, attention_work},
};

} // namespace

std::span<OnnxFamily const> onnx_computing() { return families; }

} // namespace headroom::io
