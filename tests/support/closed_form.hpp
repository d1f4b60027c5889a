#pragma once

// The work of a model in a few lines that know nothing of the library's blocks and programs: layer by layer, from the
// shapes of its matrices. What tests compare the library with.

#include "headroom/training/model.hpp"

#include <algorithm>
#include <cstddef>

namespace headroom::closed_form {

/// One layer's place in the model.
struct Layer {
    char mixer = 'A'; ///< A attention, L latent attention, M state space, or none
    bool experts = false, dense = true, decoder = false;
    int window = 0;
    bool causal = true;
};

inline Layer layer_at(training::Model const& m, int i) {
    Layer layer;
    if (!m.pattern.empty()) {
        char const letter = m.pattern[static_cast<std::size_t>(i) % m.pattern.size()];
        return {.mixer = letter == '*'   ? 'A'
                         : letter == 'M' ? 'M'
                                         : ' ',
                .experts = letter == 'E',
                .dense = letter == '-',
                .causal = m.causal};
    }
    layer.mixer = m.latent.kv_rank > 0 ? 'L' : 'A';
    layer.experts =
        m.moe.experts > 0 && i >= m.moe.first_dense && (i - m.moe.first_dense) % m.moe.every == m.moe.every - 1;
    layer.dense = !layer.experts;
    layer.decoder = m.encoder_layers > 0 && i >= m.encoder_layers;
    layer.causal = m.encoder_layers > 0 ? layer.decoder : m.causal;
    bool const sees_all = m.full_every > 0 && (i + 1) % m.full_every == 0;
    layer.window = sees_all ? 0 : m.window;
    return layer;
}

inline double feed_forward(training::Model const& m, double width, double ffn) {
    return (m.feed_forward == training::FeedForward::gated ? 3.0 : 2.0) * width * ffn;
}
inline double expert_ffn(training::Model const& m) { return m.moe.ffn > 0 ? m.moe.ffn : m.ffn; }
inline double expert_width(training::Model const& m) { return m.moe.latent > 0 ? m.moe.latent : m.hidden; }

/// Weights that a token multiplies with on all of `tp` tensor ranks together. Key-value heads fewer than ranks, and the
/// narrow products of latent attention, are on several ranks.
inline double mixer_weights(training::Model const& m, Layer const& layer, double tp) {
    double const h = m.hidden, a = m.heads, d = m.head_dim;
    double const g = std::max<double>(m.kv_heads, m.kv_heads > 0 ? tp : 0.0);
    auto const& l = m.latent;
    auto const& s = m.state_space;
    double const inner = static_cast<double>(s.heads) * s.head_dim;
    switch (layer.mixer) {
    case 'A': return 2.0 * h * a * d + 2.0 * h * g * d;
    case 'L': {
        double const query = a * (l.nope_dim + l.rope_dim);
        double const queries = l.q_rank > 0 ? tp * h * l.q_rank + l.q_rank * query : h * query;
        return queries + tp * h * (l.kv_rank + l.rope_dim) + l.kv_rank * a * (l.nope_dim + l.value_dim) +
               a * l.value_dim * h;
    }
    case 'M': return h * (2.0 * inner + 2.0 * s.groups * s.state + s.heads) + inner * h;
    default: return 0.0;
    }
}

/// Weights that a token uses: top_k experts, times `load`.
inline double channel_weights(training::Model const& m, Layer const& layer, double load) {
    if (layer.dense) { return feed_forward(m, m.hidden, m.ffn); }
    if (!layer.experts) { return 0.0; }
    double const f = expert_ffn(m), w = expert_width(m), h = m.hidden;
    double const shared = m.moe.shared_experts * feed_forward(m, h, m.moe.shared_ffn > 0 ? m.moe.shared_ffn : f);
    return load * m.moe.top_k * feed_forward(m, w, f) + h * m.moe.experts + shared +
           (m.moe.latent > 0 ? 2.0 * h * m.moe.latent : 0.0);
}

/// Pairs of a query and a key that it sees in a document of s tokens, over s: by summing up every query.
inline double keys_seen(Layer const& layer, double s) {
    double const w = layer.window > 0 ? std::min<double>(layer.window, s) : s;
    if (!layer.causal) { return w; }
    return (w * w / 2.0 + (s - w) * w) / s; // the first w queries see a triangle, the others w each
}

struct Work {
    double matrix = 0.0, core = 0.0;
};

/// Forward operations of one layer over `tokens` tokens of documents of `attended`.
inline Work layer_work(training::Model const& m, Layer const& layer, double tokens, double attended, double tp = 1.0,
                       double load = 1.0) {
    double const own = tokens * (layer.decoder ? m.decoder_length : 1.0);
    double const length = attended * (layer.decoder ? m.decoder_length : 1.0);
    auto const& l = m.latent;
    double const dims = layer.mixer == 'L' ? l.nope_dim + l.rope_dim + l.value_dim : 2.0 * m.head_dim;
    Work work;
    work.matrix = 2.0 * own * (mixer_weights(m, layer, tp) + channel_weights(m, layer, load));
    bool const attends = layer.mixer == 'A' || layer.mixer == 'L';
    if (attends) { work.core = 2.0 * own * m.heads * dims * (keys_seen(layer, length) + m.memory_tokens); }
    if (layer.decoder) { // queries and output of its own tokens, keys and values of the encoder's
        double const h = m.hidden, g = std::max<double>(m.kv_heads, tp);
        work.matrix += 2.0 * own * 2.0 * h * m.heads * m.head_dim + 2.0 * tokens * 2.0 * h * g * m.head_dim;
        work.core += 2.0 * own * m.heads * 2.0 * m.head_dim * attended;
    }
    return work;
}

/// Work of all layers, with the multi-token-prediction blocks and the products that join them.
inline Work stack_work(training::Model const& m, double tokens, double attended, double tp = 1.0, double load = 1.0) {
    Work sum;
    auto const add = [&](Layer const& layer, double times) {
        Work const one = layer_work(m, layer, tokens, attended, tp, load);
        sum.matrix += times * one.matrix;
        sum.core += times * one.core;
    };
    for (int i = 0; i < m.layers; ++i) { add(layer_at(m, i), 1.0); }
    if (m.prediction_layers > 0) {
        add(layer_at(m, m.layers - 1), m.prediction_layers);
        sum.matrix += m.prediction_layers * 2.0 * tokens * 2.0 * m.hidden * m.hidden;
    }
    return sum;
}

/// The output projection, once more for each block that predicts a later token.
inline double head_work(training::Model const& m, double tokens) {
    double const reach = m.head_share * (m.encoder_layers > 0 ? m.decoder_length : 1.0);
    return 2.0 * tokens * reach * m.hidden * m.vocab * (1.0 + m.prediction_layers);
}

/// Products of an operator list, forward, for so many samples.
inline double operator_work(training::Model const& m, double samples) {
    double sum = 0.0;
    for (auto const& o : m.operators) {
        double const in = o.in, out = o.out, rows = o.height * static_cast<double>(o.width > 0 ? o.width : o.height);
        double const taps = o.kernel * static_cast<double>(o.kernel_width > 0 ? o.kernel_width : o.kernel);
        double weights = 0.0, positions = rows;
        if (o.kind == training::OperatorKind::convolution) { weights = taps * in * out / o.groups; }
        if (o.kind == training::OperatorKind::linear) { weights = in * out; }
        if (o.kind == training::OperatorKind::recurrent) { weights = 4.0 * out * (in + out), positions = o.height; }
        sum += 2.0 * samples * o.repeats * weights * positions;
    }
    return sum;
}

} // namespace headroom::closed_form
