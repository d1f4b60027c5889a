#include "headroom/model.hpp"

namespace headroom {

namespace {

/// Weights of the matrices of one block that a token passes through, and of all of them.
struct BlockWeights {
    double attention = 0.0;    ///< h a d + 2 h g d + a d h
    double feed_forward = 0.0; ///< all experts, the shared ones and the router
    double active = 0.0;       ///< feed-forward weights that one token touches
    double feed_forward_bias = 0.0, active_bias = 0.0;
};

BlockWeights block_weights(Model const& model) {
    double const h = model.hidden;
    double const queries = static_cast<double>(model.heads) * model.head_dim;
    double const keys = static_cast<double>(model.kv_heads) * model.head_dim;
    double const matrices = model.feed_forward == FeedForward::gated ? 3.0 : 2.0;
    auto const mlp = [&](double f) { return matrices * h * f; };
    auto const bias = [&](double f) { return model.mlp_bias ? (matrices - 1.0) * f + h : 0.0; };

    BlockWeights weights;
    weights.attention = h * queries + 2.0 * h * keys + queries * h;
    if (model.moe.experts == 0) {
        weights.feed_forward = weights.active = mlp(model.ffn);
        weights.feed_forward_bias = weights.active_bias = bias(model.ffn);
        return weights;
    }
    double const f = model.moe.ffn > 0 ? model.moe.ffn : model.ffn;
    double const router = h * model.moe.experts;
    double const held = model.moe.experts + model.moe.shared_experts;
    double const used = model.moe.top_k + model.moe.shared_experts;
    weights.feed_forward = held * mlp(f) + router;
    weights.active = used * mlp(f) + router;
    weights.feed_forward_bias = held * bias(f);
    weights.active_bias = used * bias(f);
    return weights;
}

double norm_parameters(Model const& model) {
    return model.hidden * ((model.norm_affine ? 1.0 : 0.0) + (model.norm_bias ? 1.0 : 0.0));
}

} // namespace

ParameterCount count_parameters(Model const& model) {
    double const h = model.hidden, v = model.vocab, layers = model.layers;
    BlockWeights const weights = block_weights(model);

    double shared = weights.attention + model.norms_per_layer * norm_parameters(model);
    if (model.qkv_bias) { shared += (model.heads + 2.0 * model.kv_heads) * model.head_dim; }
    if (model.out_bias) { shared += h; }

    ParameterCount count;
    count.layer = shared + weights.feed_forward + weights.feed_forward_bias;
    count.embedding = v * h;
    if (model.positions == Positions::learned) {
        count.embedding += (static_cast<double>(model.max_positions) + model.extra_positions) * h;
    }
    if (model.embedding_norm) { count.embedding += norm_parameters(model); }
    count.head = (model.tied_embeddings ? 0.0 : v * h) + (model.head_bias ? v : 0.0);
    count.final_norm = model.final_norm ? norm_parameters(model) : 0.0;

    double const outside = count.embedding + count.head + count.final_norm;
    count.total = layers * count.layer + outside;
    count.active = layers * (shared + weights.active + weights.active_bias) + outside;
    return count;
}

std::string_view name_of(AttentionConvention convention) {
    switch (convention) {
    case AttentionConvention::full: return "full";
    case AttentionConvention::causal: return "causal";
    case AttentionConvention::none: return "6n";
    }
    return "";
}

SequenceFlops forward_flops(Model const& model, int sequence_length, AttentionConvention convention) {
    double const s = sequence_length, layers = model.layers;
    double const head = 2.0 * static_cast<double>(model.hidden) * model.vocab;
    if (convention == AttentionConvention::none) {
        // 2 N T as a whole: every parameter counts, lookups, biases and norms too.
        double const all = 2.0 * count_parameters(model).active;
        return {.matrix = Flops{s * (all - head)}, .attention = Flops{}, .head = Flops{s * head}};
    }
    BlockWeights const weights = block_weights(model);
    double const scores = 4.0 * s * model.heads * model.head_dim;
    double const kept = convention == AttentionConvention::causal ? 0.5 : 1.0;
    return {.matrix = Flops{s * layers * 2.0 * (weights.attention + weights.active)},
            .attention = Flops{s * layers * kept * scores},
            .head = Flops{s * head}};
}

} // namespace headroom
