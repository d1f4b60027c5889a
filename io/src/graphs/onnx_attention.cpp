// Attention as one operator, in the standard set and in that of ONNX Runtime.

#include "graphs/onnx_shapes.hpp"

namespace headroom::io {

namespace {

/// The sizes that attention's work depends on.
struct Attention {
    double batch = 0.0, heads = 0.0, queries = 0.0, keys = 0.0;
    double key_width = 0.0, value_width = 0.0; ///< of a head
    double projections = 0.0;                  ///< operations of products that make queries, keys and values
    Dims output;
};

/// The operator of ONNX Runtime that makes queries, keys and values itself: x [batch, steps, hidden] times
/// weights [hidden, three widths]; the heads have a third of them.
std::optional<Attention> fused(OnnxCall const& call) {
    auto const *x = call.dims(0), *weights = call.dims(1);
    std::int64_t const heads = call.whole("num_heads", 0);
    if (x == nullptr || weights == nullptr || x->size() != 3 || weights->size() != 2 || heads < 1) {
        return std::nullopt;
    }
    std::int64_t const width = (*weights)[1] / 3;
    auto const steps = static_cast<double>((*x)[1]), each = static_cast<double>(width) / static_cast<double>(heads);
    Attention a{static_cast<double>((*x)[0]), static_cast<double>(heads), steps, steps, each, each, 0.0,
                {(*x)[0], (*x)[1], width}};
    a.projections = 2.0 * elements(*x) * static_cast<double>((*weights)[1]);
    return a;
}

/// Queries, keys and values as inputs: [batch, heads, steps, width], or [batch, steps, heads x width].
std::optional<Attention> separate(OnnxCall const& call) {
    auto const *q = call.dims(0), *k = call.dims(1), *v = call.dims(2);
    if (q == nullptr || k == nullptr || v == nullptr || q->size() != k->size() || k->size() != v->size()) {
        return std::nullopt;
    }
    auto const at = [](Dims const& dims, std::size_t axis) { return static_cast<double>(dims[axis]); };
    double const past =
        call.node.domain.empty() && call.dims(4) != nullptr && call.dims(4)->size() == 4 ? at(*call.dims(4), 2) : 0.0;
    if (q->size() == 4) {
        return Attention{at(*q, 0), at(*q, 1), at(*q, 2), at(*k, 2) + past,
                         at(*q, 3), at(*v, 3), 0.0,       {(*q)[0], (*q)[1], (*q)[2], (*v)[3]}};
    }
    std::int64_t const heads = call.whole("q_num_heads", call.whole("num_heads", 0));
    std::int64_t const kv_heads = call.whole("kv_num_heads", heads);
    if (q->size() != 3 || heads < 1 || kv_heads < 1 || heads > (*q)[2] || kv_heads > (*v)[2]) { return std::nullopt; }
    std::int64_t const value_width = (*v)[2] / kv_heads;
    return Attention{at(*q, 0),
                     static_cast<double>(heads),
                     at(*q, 1),
                     at(*k, 1) + past,
                     at(*q, 2) / static_cast<double>(heads),
                     static_cast<double>(value_width),
                     0.0,
                     {(*q)[0], (*q)[1], heads * value_width}};
}

std::optional<Attention> attention_of(OnnxCall const& call) {
    bool const makes_its_own =
        call.node.op == "Attention" && !call.node.domain.empty() && call.node.domain != "ai.onnx";
    return makes_its_own ? fused(call) : separate(call);
}

} // namespace

void attention_shape(OnnxCall& call) {
    if (auto const attention = attention_of(call)) { call.give(attention->output); }
}

/// Both products, as if nothing were masked, and five operations a score for the softmax.
std::optional<double> attention_work(OnnxCall const& call) {
    auto const a = attention_of(call);
    if (!a) { return std::nullopt; }
    double const scores = a->batch * a->heads * a->queries * a->keys;
    return scores * (2.0 * a->key_width + 2.0 * a->value_width + 5.0) + a->projections;
}

} // namespace headroom::io
