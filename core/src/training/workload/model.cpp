#include "headroom/training/model.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::training {

namespace {

/// Weights of the channel part of a block.
struct ChannelWeights {
    double held = 0.0;   ///< all of them
    double routed = 0.0; ///< of those, in routed experts
    double active = 0.0; ///< that one token passes
    double bias = 0.0, routed_bias = 0.0, active_bias = 0.0;
};

/// The two or three matrices of a feed-forward layer of width f on inputs of width h, and their biases.
struct FeedForwardSize {
    double weights = 0.0, biases = 0.0;
};
FeedForwardSize feed_forward_size(Model const& model, double h, double f) {
    double const matrices = model.feed_forward == FeedForward::gated ? 3.0 : 2.0;
    return {matrices * h * f, model.mlp_bias ? (matrices - 1.0) * f + h : 0.0};
}

ChannelWeights expert_weights(Model const& model) {
    auto const& moe = model.moe;
    double const h = model.hidden;
    double const width = moe.latent > 0 ? moe.latent : h;
    double const f = moe.ffn > 0 ? moe.ffn : model.ffn;
    auto const routed = feed_forward_size(model, width, f);
    auto const shared = feed_forward_size(model, h, moe.shared_ffn > 0 ? moe.shared_ffn : f);
    double const around = h * (moe.experts + (moe.shared_gate ? 1.0 : 0.0)) +
                          (moe.latent > 0 ? 2.0 * h * moe.latent : 0.0) +
                          moe.shared_experts * shared.weights; // router, projections to the latent width, shared
    double const around_bias = (moe.router_bias ? moe.experts : 0.0) + moe.shared_experts * shared.biases;
    ChannelWeights weights;
    weights.routed = moe.experts * routed.weights;
    weights.held = weights.routed + around;
    weights.active = moe.top_k * routed.weights + around;
    weights.routed_bias = moe.experts * routed.biases;
    weights.bias = weights.routed_bias + around_bias;
    weights.active_bias = moe.top_k * routed.biases + around_bias;
    return weights;
}

ChannelWeights channel_weights(Model const& model, BlockKind const& kind) {
    switch (kind.channel) {
    case Channel::none: return {};
    case Channel::experts: return expert_weights(model);
    case Channel::dense: break;
    }
    auto const size = feed_forward_size(model, model.hidden, ffn_of(model, kind));
    return {.held = size.weights,
            .routed = 0.0,
            .active = size.weights,
            .bias = size.biases,
            .routed_bias = 0.0,
            .active_bias = size.biases};
}

double norm_parameters(Model const& model, double width) {
    return width * ((model.norm_affine ? 1.0 : 0.0) + (model.norm_bias ? 1.0 : 0.0));
}

/// Products into queries, keys, values and the gate, and out of the heads.
double attention_matrices(Model const& model, BlockKind const& kind) {
    double const h = model.hidden;
    auto const a = attention_shape(model, kind);
    double const queries = a.heads * a.head_dim, output = a.heads * a.value_dim;
    double const keys = a.kv_heads * a.head_dim, values = kind.keys_are_values ? 0.0 : a.kv_heads * a.value_dim;
    double const gate = model.output_gate == OutputGate::element ? output
                        : model.output_gate == OutputGate::head  ? a.heads
                                                                 : 0.0;
    return h * (queries + (kind.borrows_keys ? 0.0 : keys + values) + gate) + output * h;
}

double latent_matrices(Model const& model) {
    auto const& l = model.latent;
    double const h = model.hidden, a = model.heads;
    double const query = a * (l.nope_dim + l.rope_dim);
    double const queries = l.q_rank > 0 ? h * l.q_rank + l.q_rank * query : h * query;
    return queries + h * (l.kv_rank + l.rope_dim) + l.kv_rank * a * (l.nope_dim + l.value_dim) + a * l.value_dim * h;
}

/// Queries of the indexer come from the latent vector, or from the input where queries are projected directly.
double indexer_matrices(Model const& model) {
    auto const& i = model.indexer;
    double const from = model.latent.q_rank > 0 ? model.latent.q_rank : model.hidden;
    return from * i.heads * i.head_dim + static_cast<double>(model.hidden) * (i.head_dim + i.heads);
}

double scan_matrices(ScanSizes const& scan, double h) {
    double between = 0.0;
    for (auto const& one : scan.between) { between += one.in * one.out; }
    return h * scan.projected + between + scan.inner * h;
}

double attention_extras(Model const& model, BlockKind const& kind) {
    auto const a = attention_shape(model, kind);
    double const keys = kind.borrows_keys ? 0.0 : a.kv_heads * a.head_dim;
    double const values = kind.borrows_keys || kind.keys_are_values ? 0.0 : a.kv_heads * a.value_dim;
    double extras = 0.0;
    if (model.qkv_bias) { extras += a.heads * a.head_dim + (model.key_bias ? keys : 0.0) + values; }
    if (model.out_bias) { extras += model.hidden; }
    if (model.qk_norm && model.qk_norm_whole) { extras += norm_parameters(model, a.heads * a.head_dim + keys); }
    if (model.qk_norm && !model.qk_norm_whole) {
        extras += norm_parameters(model, (kind.borrows_keys ? 1.0 : 2.0) * a.head_dim);
    }
    if (model.sinks || kind.sinks) { extras += a.heads; }
    return extras;
}

/// Parameters of a mixer: its matrices, and all smaller tensors.
struct MixerWeights {
    double matrices = 0.0, extras = 0.0;
    void add(double more_matrices, double more_extras) { matrices += more_matrices, extras += more_extras; }
};
MixerWeights mixer_weights(Model const& model, BlockKind const& kind) {
    MixerWeights weights;
    if (kind.mixer == Mixer::latent_attention) {
        auto const& l = model.latent;
        weights.add(latent_matrices(model), norm_parameters(model, l.q_rank) + norm_parameters(model, l.kv_rank));
    } else if (attends(kind.mixer)) {
        weights.add(attention_matrices(model, kind), attention_extras(model, kind));
    }
    if (attends(kind.mixer) && model.indexer.heads > 0) {
        weights.add(indexer_matrices(model), 2.0 * model.indexer.head_dim); // its keys have a layer norm
    }
    if (scans(kind.mixer)) {
        auto const scan = scan_sizes(model);
        weights.add(scan_matrices(scan, model.hidden), scan.extras);
    }
    if (kind.cross) {
        weights.add(attention_matrices(model, kind),
                    attention_extras(model, kind) + norm_parameters(model, model.hidden));
    }
    return weights;
}

/// Gate and projection of the second embedding, and the norm after them.
double per_layer_input_matrices(Model const& model) {
    return 2.0 * static_cast<double>(model.hidden) * model.per_layer_input;
}

/// A block of a single part has one norm, whatever the others have.
double block_norms(Model const& model, BlockKind const& kind) {
    int const parts = (kind.mixer != Mixer::none ? 1 : 0) + (kind.channel != Channel::none ? 1 : 0);
    return parts == 2 ? model.norms_per_layer : parts;
}

ParameterCount count_operators(Model const& model) {
    ParameterCount count;
    for (auto const& one : model.operators) { count.layer += one.shared ? 0.0 : parameters_of(one); }
    count.total = count.active = count.layer + model.other_parameters;
    count.embedding = model.other_parameters;
    return count;
}

/// A block like the last one, the product that joins it to the embedding of the next token, and three norms.
BlockParameters count_prediction(Model const& model, BlockKind const& last) {
    double const h = model.hidden;
    BlockParameters block = block_parameters(model, last);
    double const joint = 2.0 * h * h + 3.0 * norm_parameters(model, h);
    return {block.all + joint, block.routed, block.active + joint};
}

Channel channel_of(Model const& model, int layer) {
    auto const& moe = model.moe;
    if (moe.experts == 0 || layer < moe.first_dense) { return Channel::dense; }
    return (layer - moe.first_dense + 1) % std::max(1, moe.every) == 0 ? Channel::experts : Channel::dense;
}

BlockKind kind_of(Model const& model, int layer) {
    if (!model.plan.empty()) { return model.plan[static_cast<std::size_t>(layer) % model.plan.size()]; }
    BlockKind kind;
    kind.causal = model.causal;
    if (!model.pattern.empty()) {
        char const letter = model.pattern[static_cast<std::size_t>(layer) % model.pattern.size()];
        kind.mixer = letter == 'M' ? Mixer::state_space : letter == '*' ? Mixer::attention : Mixer::none;
        kind.channel = letter == 'E' ? Channel::experts : letter == '-' ? Channel::dense : Channel::none;
        return kind;
    }
    kind.mixer = model.latent.used() ? Mixer::latent_attention : Mixer::attention;
    kind.channel = channel_of(model, layer);
    bool const full = model.window == 0 || (model.full_every > 0 && (layer + 1) % model.full_every == 0);
    if (!full) { kind.window = model.window; }
    if (model.encoder_layers > 0) {
        kind.decoder = kind.cross = layer >= model.encoder_layers;
        kind.causal = kind.decoder;
    }
    return kind;
}

/// Tokens of one sequence that reach the output projection.
double head_tokens(Model const& model, double tokens) {
    return tokens * model.head_share * (model.encoder_layers > 0 ? model.decoder_length : 1.0);
}

SequenceFlops operator_flops(Model const& model, double samples) {
    SequenceFlops flops;
    for (auto const& one : model.operators) {
        bool const product = one.kind == OperatorKind::convolution || one.kind == OperatorKind::linear ||
                             one.kind == OperatorKind::recurrent;
        if (!product) { continue; }
        double const positions = one.kind == OperatorKind::recurrent ? one.height : one.positions();
        Operator bare = one;
        bare.bias = false; // a sum, not a product
        flops.matrix += Flops{samples * 2.0 * parameters_of(bare) * positions};
    }
    return flops;
}

} // namespace

BlockParameters block_parameters(Model const& model, BlockKind const& kind) {
    auto const mixer = mixer_weights(model, kind);
    auto const channel = channel_weights(model, kind);
    double norms = block_norms(model, kind) * norm_parameters(model, model.hidden);
    if (model.per_layer_input > 0) { norms += per_layer_input_matrices(model) + norm_parameters(model, model.hidden); }
    double const shared = mixer.matrices + mixer.extras + norms;
    return {.all = shared + channel.held + channel.bias,
            .routed = channel.routed + channel.routed_bias,
            .active = shared + channel.active + channel.active_bias};
}

std::vector<BlockKind> block_kinds(Model const& model) {
    std::vector<BlockKind> kinds;
    if (!model.operators.empty()) { return kinds; }
    for (int layer = 0; layer < model.layers; ++layer) { kinds.push_back(kind_of(model, layer)); }
    return kinds;
}

std::vector<BlockRun> block_runs(Model const& model) {
    std::vector<BlockRun> runs;
    for (BlockKind const& kind : block_kinds(model)) {
        auto const known = std::ranges::find(runs, kind, &BlockRun::kind);
        if (known == runs.end()) {
            runs.push_back({kind, 1});
        } else {
            ++known->count;
        }
    }
    return runs;
}

std::vector<BlockSum> block_sums(Model const& model) {
    std::vector<BlockSum> sums;
    if (block_runs(model).size() < 2) { return sums; }
    bool unlike = false;
    BlockSum sum;
    double first = 0.0;
    sums.push_back(sum);
    for (BlockKind const& kind : block_kinds(model)) {
        auto const block = block_parameters(model, kind);
        if (sums.size() == 1) { first = block.all; }
        unlike = unlike || block.all != first;
        sum.dense += block.all - block.routed, sum.experts += block.routed;
        sums.push_back(sum);
    }
    return unlike ? sums : std::vector<BlockSum>{};
}

BlockKind last_block(Model const& model) { return kind_of(model, std::max(1, model.layers) - 1); }

double parameters_of(Operator const& one) {
    double const in = one.in, out = one.out;
    double const taps = static_cast<double>(one.kernel) * (one.kernel_width > 0 ? one.kernel_width : one.kernel);
    double each = 0.0;
    switch (one.kind) {
    case OperatorKind::convolution: each = taps * in / one.groups * out + (one.bias ? out : 0.0); break;
    case OperatorKind::linear: each = in * out + (one.bias ? out : 0.0); break;
    case OperatorKind::recurrent: each = 4.0 * out * (in + out) + (one.bias ? 8.0 * out : 0.0); break;
    case OperatorKind::normalisation: each = 2.0 * out; break;
    case OperatorKind::embedding: each = in * out; break;
    case OperatorKind::elementwise: break;
    }
    return each * one.repeats;
}

double trained_share_of_operators(Model const& model) {
    double all = model.other_parameters, trained = all;
    for (auto const& one : model.operators) {
        double const own = one.shared ? 0.0 : parameters_of(one);
        all += own;
        trained += one.trained ? own : 0.0;
    }
    return all > 0.0 ? trained / all : 1.0;
}

ParameterCount count_parameters(Model const& model) {
    if (!model.operators.empty()) { return count_operators(model); }
    double const h = model.hidden, v = model.vocab;
    ParameterCount count;
    BlockParameters blocks;
    for (auto const& run : block_runs(model)) {
        BlockParameters const one = block_parameters(model, run.kind);
        blocks.all += run.count * one.all;
        blocks.routed += run.count * one.routed;
        blocks.active += run.count * one.active;
    }
    double const layers = std::max(1, model.layers);
    count.layer = blocks.all / layers;
    count.experts = blocks.routed / layers;
    if (model.prediction_layers > 0 && model.layers > 0) {
        BlockParameters const ahead = count_prediction(model, last_block(model));
        count.prediction = model.prediction_layers * ahead.all;
        count.prediction_experts = model.prediction_layers * ahead.routed;
    }
    count.embedding = v * h + model.other_parameters;
    if (model.positions == Positions::learned) {
        count.embedding += (static_cast<double>(model.max_positions) + model.extra_positions) * h;
    }
    if (model.embedding_norm) { count.embedding += norm_parameters(model, h); }
    if (model.has_head) { count.head = (model.tied_embeddings ? 0.0 : v * h) + (model.head_bias ? v : 0.0); }
    count.final_norm = model.final_norm ? norm_parameters(model, h) : 0.0;
    double const outside = count.embedding + count.head + count.final_norm;
    count.total = blocks.all + outside;
    count.active = blocks.active + outside;
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

AttentionShape attention_shape(Model const& model, BlockKind const& kind) {
    double const head_dim = kind.head_dim > 0 ? kind.head_dim : model.head_dim;
    return {.heads = static_cast<double>(kind.heads > 0 ? kind.heads : model.heads),
            .kv_heads = static_cast<double>(kind.kv_heads > 0 ? kind.kv_heads : model.kv_heads),
            .head_dim = head_dim,
            .value_dim = model.value_dim > 0 && kind.head_dim == 0 ? model.value_dim : head_dim};
}

int ffn_of(Model const& model, BlockKind const& kind) { return kind.ffn > 0 ? kind.ffn : model.ffn; }

ScanSizes scan_sizes(Model const& model) {
    auto const& m = model.state_space;
    double const h = model.hidden, a = m.heads, c = a * m.head_dim, n = m.state;
    double const q = static_cast<double>(m.groups) * n, r = m.rank;
    constexpr double a_state = 7.0; // operations for each number kept: decay, update and output [MegatronLM]
    ScanSizes size{.inner = c, .state = n, .operations = a_state * c * n};
    double const norm = m.gated_norm ? 1.0 : 0.0;
    switch (m.kind) {
    case ScanKind::mamba2: // decay, step size and skip of a head
        size.projected = 2.0 * c + 2.0 * q + a, size.convolved = c + 2.0 * q;
        size.extras = 3.0 * a + norm * c;
        break;
    case ScanKind::mamba1: // decay of a state, step size and skip of a channel
        size.projected = 2.0 * c, size.convolved = c;
        size.between = {InnerProduct{c, r + 2.0 * n}, {r, c}};
        size.extras = c * n + 2.0 * c + (m.parameter_norms ? r + 2.0 * n : 0.0);
        break;
    case ScanKind::gated_delta: // decay and step size of a head, a norm that heads share
        size.projected = 2.0 * c + 2.0 * q + 2.0 * a, size.convolved = c + 2.0 * q;
        size.extras = 2.0 * a + m.head_dim;
        break;
    case ScanKind::kimi_delta: // decay of a head, step size of a channel
        size.projected = c + 2.0 * q + a + 2.0 * r, size.convolved = c + 2.0 * q;
        size.between = {InnerProduct{r, q}, {r, c}};
        size.extras = a + q + m.head_dim;
        break;
    case ScanKind::lightning: size.projected = 4.0 * c, size.extras = norm * c; break;
    case ScanKind::convolution:
        size.projected = 3.0 * c, size.convolved = c, size.state = 0.0;
        size.operations = 2.0 * c * m.convolution;
        break;
    }
    size.extras += size.convolved * (m.convolution + (m.convolution_bias ? 1.0 : 0.0));
    if (m.projection_bias) { size.extras += size.projected + h; }
    return size;
}

double core_head_dim(Model const& model, BlockKind const& kind) {
    auto const& l = model.latent;
    if (l.used()) { return 0.5 * (l.nope_dim + l.rope_dim + l.value_dim); }
    auto const a = attention_shape(model, kind);
    return 0.5 * (a.head_dim + a.value_dim);
}

double mean_keys(Model const& model, BlockKind const& kind, double sequence_length) {
    double const s = sequence_length, memory = model.memory_tokens;
    double const best = model.indexer.heads > 0 ? model.indexer.top_k : 0.0;
    double const w = kind.window > 0 && best > 0.0 ? std::min<double>(kind.window, best) : kind.window + best;
    if (model.chunked && w > 0.0 && w < s) {
        double const whole = std::floor(s / w), last = s - whole * w;
        double const keys = (whole * w * w + last * last) / s; // each token has all keys of its chunk
        return memory + (kind.causal ? keys / 2.0 : keys);
    }
    if (w > 0.0 && w < s) { return memory + (kind.causal ? w - w * w / (2.0 * s) : w); }
    return memory + (kind.causal ? s / 2.0 : s);
}

BlockWork block_work(Model const& model, BlockKind const& kind, double keys, double cross_keys) {
    BlockWork work;
    work.matrix = mixer_weights(model, kind).matrices + channel_weights(model, kind).active;
    if (model.per_layer_input > 0) { work.matrix += per_layer_input_matrices(model); }
    auto const a = attention_shape(model, kind);
    double const an_attended_key = 4.0 * a.heads * core_head_dim(model, kind);
    if (attends(kind.mixer)) { work.core = an_attended_key * keys; }
    if (scans(kind.mixer)) { work.core += scan_sizes(model).operations; }
    if (kind.cross) {
        work.core += an_attended_key * cross_keys;
        // keys and values of the encoder's tokens, of which there are 1 / decoder_length for each of the decoder's
        double const keys_and_values = model.hidden * a.kv_heads * (a.head_dim + a.value_dim);
        work.matrix += keys_and_values * (1.0 / model.decoder_length - 1.0);
    }
    return work;
}

SequenceFlops forward_flops(Model const& model, int sequence_length, AttentionConvention convention) {
    return forward_flops(model, sequence_length, sequence_length, convention);
}

SequenceFlops forward_flops(Model const& model, double tokens, double attended, AttentionConvention convention) {
    if (!model.operators.empty()) { return operator_flops(model, tokens / std::max(1, model.nominal_length)); }
    double const heads = 1.0 + model.prediction_layers;
    double const a_head = model.has_head ? 2.0 * static_cast<double>(model.hidden) * model.vocab : 0.0;
    double const head = head_tokens(model, tokens) * a_head * heads;
    if (convention == AttentionConvention::none) {
        // 2 N T as a whole: every parameter counts, lookups, biases and norms too.
        double const all = 2.0 * tokens * count_parameters(model).active;
        return {.matrix = Flops{all - tokens * a_head}, .attention = Flops{}, .head = Flops{tokens * a_head}};
    }
    SequenceFlops flops;
    flops.head = Flops{head};
    auto const add = [&](BlockKind const& kind, double count) {
        double const length = kind.decoder ? model.decoder_length : 1.0;
        BlockKind counted = kind;
        if (convention == AttentionConvention::full) { counted.causal = false; }
        auto const work = block_work(model, kind, mean_keys(model, counted, attended * length), attended);
        flops.matrix += Flops{count * tokens * length * 2.0 * work.matrix};
        flops.attention += Flops{count * tokens * length * work.core};
    };
    for (auto const& run : block_runs(model)) { add(run.kind, run.count); }
    if (model.prediction_layers > 0 && model.layers > 0) {
        add(last_block(model), model.prediction_layers);
        double const joint = 2.0 * model.hidden * static_cast<double>(model.hidden);
        flops.matrix += Flops{model.prediction_layers * tokens * 2.0 * joint};
    }
    return flops;
}

} // namespace headroom::training
