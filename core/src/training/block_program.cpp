#include "block_program.hpp"

#include "block_pieces.hpp"

#include "headroom/training/host_launches.hpp"

#include <string_view>
#include <vector>

namespace headroom::training {

using namespace headroom::network;

namespace {

/// Appends the operations of a block pass by pass, so that a pass is written once and reused for recomputation.
class BlockWriter : BlockPieces {
public:
    BlockWriter(LayerProgram& program, Model const& model, BlockKind const& kind, LayerShape const& shape,
                Framework const& framework)
        : BlockPieces{program, model, kind, shape, framework} {}

    void forward(Phase phase) {
        memory("norms and residuals", phase, MemoryClass::hidden, hidden_bytes());
        if (scans(kind_.mixer)) { scan_forward(phase); }
        if (attends(kind_.mixer)) { attention_forward(phase); }
        if (kind_.cross) { cross_forward(phase); }
        if (kind_.channel == Channel::dense) { feed_forward(phase, size_.ffn); }
        if (kind_.channel == Channel::experts) { experts_forward(phase); }
        if (model_.per_layer_input > 0) {
            product("gate of per-layer input", phase, static_cast<double>(model_.per_layer_input) / shape_.tp,
                    size_.hidden);
            product("per-layer input", phase, size_.hidden, static_cast<double>(model_.per_layer_input) / shape_.tp);
        }
        low_precision_and_adapters(phase, 1.0);
    }

    /// Sixteen-bit copies of quantised matrices, made before the products of a pass.
    void dequantise(Phase phase) {
        if (shape_.trained != Trained::lora || framework_.frozen == FrozenFormat::sixteen_bit) { return; }
        if (phase == Phase::backward && keeps_dequantised(framework_)) { return; }
        memory("dequantisation", phase, MemoryClass::adapter, matrix_elements() * dequantised_bytes(framework_));
    }

    /// The attention cores alone; nothing in a block without one.
    void recompute_core() {
        if (has_core()) { attention(Phase::recompute, 1.0); }
        if (kind_.cross) { cross_core(Phase::recompute, 1.0); }
    }

    /// Every second matrix product of a block in the order of its weights - keys, attention output, up - and what is no
    /// product. Experts keep their products.
    void recompute_alternate() {
        auto const phase = Phase::recompute;
        memory("norms and residuals", phase, MemoryClass::hidden, hidden_bytes());
        if (attends(kind_.mixer)) {
            gather("gather before attention", phase);
            if (kind_.mixer == Mixer::latent_attention) {
                up_projections(phase);
            } else {
                product("key", phase, size_.kv_width, size_.hidden);
            }
            memory("positions and layout", phase, MemoryClass::sharded, attention_bytes());
            product("attention output", phase, size_.hidden, output_width());
            reduce("after attention", phase);
        }
        if (kind_.channel == Channel::dense) {
            gather("gather before feed-forward", phase);
            product("feed-forward up", phase, size_.ffn, size_.hidden);
            memory("activation function", phase, MemoryClass::feed_forward, activation_bytes(size_.ffn));
        }
        if (kind_.channel == Channel::experts) { expert_activations(phase); }
    }

    /// The parts of `recompute_module`.
    void recompute_parts(unsigned parts) {
        auto const phase = Phase::recompute;
        bool const dense = kind_.channel == Channel::dense && (parts & recompute_module::mlp) != 0;
        bool const experts = kind_.channel == Channel::experts && (parts & recompute_module::moe) != 0;
        if ((parts & recompute_module::layernorm) != 0) {
            memory("norms and residuals", phase, MemoryClass::hidden, hidden_bytes());
        }
        if ((parts & recompute_module::mla_up_proj) != 0 && kind_.mixer == Mixer::latent_attention) {
            up_projections(phase);
            memory("positions and layout", phase, MemoryClass::sharded, attention_bytes());
        }
        if ((parts & recompute_module::core_attn) != 0) { recompute_core(); }
        if (dense) { feed_forward(phase, size_.ffn); }
        if (experts) { experts_forward(phase); }
        if (kind_.channel != Channel::experts || experts) { return; }
        if ((parts & recompute_module::moe_act) != 0) { expert_activations(phase); }
        auto const e = expert_sizes(model_, shape_, size_);
        if ((parts & recompute_module::shared_experts) != 0 && e.shared_ffn > 0.0) {
            feed_forward(phase, e.shared_ffn);
        }
    }

    void backward() {
        auto const phase = Phase::backward;
        memory("norms and residuals", phase, MemoryClass::hidden, 2.0 * hidden_bytes());
        if (model_.per_layer_input > 0) {
            gradient_products("per-layer input", size_.hidden, static_cast<double>(model_.per_layer_input) / shape_.tp);
            gradient_products("gate of per-layer input", static_cast<double>(model_.per_layer_input) / shape_.tp,
                              size_.hidden);
        }
        if (kind_.channel == Channel::dense) { feed_backward(size_.ffn); }
        if (kind_.channel == Channel::experts) { experts_backward(); }
        if (kind_.cross) { cross_backward(); }
        if (attends(kind_.mixer)) { attention_backward(); }
        if (scans(kind_.mixer)) { scan_backward(); }
        low_precision_and_adapters(phase, 2.0);
    }

private:
    // Attention --------------------------------------------------------------------------------------------------

    void attention_forward(Phase phase) {
        gather("gather before attention", phase);
        for (auto const& p : projections()) { product(p.name, phase, p.out, p.in); }
        if (sparse()) { index(phase, 1.0); }
        memory("positions and layout", phase, MemoryClass::sharded, attention_bytes());
        trade_heads("queries, keys and values by head", phase, true);
        attention(phase, 1.0);
        trade_heads("outputs by token", phase, false);
        exchange_keys("keys and values of other ranks", phase, 1.0);
        product("attention output", phase, size_.hidden, output_width());
        reduce("after attention", phase);
    }

    void attention_backward() {
        auto const phase = Phase::backward;
        gather("gather gradient after attention", phase);
        gradient_products("attention output", size_.hidden, output_width());
        trade_heads("gradient of outputs by head", phase, false);
        attention(phase, 2.0);
        trade_heads("gradients by token", phase, true);
        exchange_keys("keys, values and their gradients", phase, 2.0);
        memory("positions and layout", phase, MemoryClass::sharded, 2.0 * attention_bytes());
        gather_kept_input("gather attention input again");
        for (auto const& p : projections()) { gradient_products(p.name, p.out, p.in); }
        if (sparse()) { index(phase, 2.0); }
        reduce("gradient before attention", phase);
    }

    /// Products of latent attention from the narrow vectors to queries, keys and values of every head.
    void up_projections(Phase phase) {
        for (auto const& p : projections()) {
            if (p.name.ends_with("up")) { product(p.name, phase, p.out, p.in); }
        }
    }

    struct Projection {
        std::string_view name;
        double out = 0.0, in = 0.0;
    };
    /// Into queries, keys and values: one product, or a narrow and a wide one each of latent attention.
    [[nodiscard]] std::vector<Projection> projections() const {
        if (kind_.mixer != Mixer::latent_attention) {
            double const gate = model_.output_gate == OutputGate::element ? size_.output_width
                                : model_.output_gate == OutputGate::head  ? size_.heads
                                                                          : 0.0;
            double const keys = kind_.borrows_keys ? 0.0 : size_.kv_width;
            double const values = kind_.borrows_keys || kind_.keys_are_values ? 0.0 : size_.value_width;
            return {{"query, key, value", size_.query_width + keys + values + gate, size_.hidden}};
        }
        auto const& latent = model_.latent;
        double const keys_and_values = size_.heads * (latent.nope_dim + latent.value_dim);
        std::vector<Projection> all;
        if (latent.q_rank > 0) {
            all.push_back({"query down", static_cast<double>(latent.q_rank), size_.hidden});
            all.push_back({"query up", size_.query_width, static_cast<double>(latent.q_rank)});
        } else {
            all.push_back({"query", size_.query_width, size_.hidden});
        }
        all.push_back({"key and value down", static_cast<double>(latent.kv_rank) + latent.rope_dim, size_.hidden});
        all.push_back({"key and value up", keys_and_values, static_cast<double>(latent.kv_rank)});
        return all;
    }
    [[nodiscard]] bool sparse() const { return model_.indexer.heads > 0; }
    /// Scores of every key within reach, by heads that every tensor rank has whole: the half of a core that meets queries
    /// with keys, and the products into them.
    void index(Phase phase, double passes) {
        auto const& indexer = model_.indexer;
        double const from = model_.latent.q_rank > 0 ? model_.latent.q_rank : size_.hidden;
        double const width = static_cast<double>(indexer.heads) * indexer.head_dim;
        double const narrow = static_cast<double>(indexer.head_dim) + indexer.heads;
        if (phase == Phase::backward) {
            gradient_products("indexer query", width, from);
            gradient_products("indexer key and weight", narrow, size_.hidden);
        } else {
            product("indexer query", phase, width, from);
            product("indexer key and weight", phase, narrow, size_.hidden);
        }
        double const length = shape_.attended, keys = kind_.causal ? length / 2.0 : length;
        program_.add({.name = "indexer scores",
                      .kind = OperationKind::attention,
                      .phase = phase,
                      .m = size_.sequences * indexer.heads,
                      .n = size_.tokens / size_.sequences,
                      .k = length,
                      .times = 0.5 * passes,
                      .d = static_cast<double>(indexer.head_dim),
                      .keys = keys});
    }
    /// The core over this rank's queries; by all-to-all a rank has all queries of some heads.
    void attention(Phase phase, double matrix_passes) {
        double const length = shape_.attended * (kind_.decoder ? model_.decoder_length : 1.0);
        double const keys = mean_keys(model_, kind_, length);
        // a causal query sees half of what is within reach; of a window as much as of a sequence with as many keys
        core("attention core", phase, matrix_passes, length, keys, kind_.causal ? 2.0 * keys : keys);
    }

    void core(std::string_view name, Phase phase, double matrix_passes, double length, double keys, double reach) {
        bool const by_head = shape_.cp > 1 && shape_.exchange == ContextExchange::all_to_all;
        double const queries = size_.tokens / size_.sequences * (by_head ? shape_.cp : 1.0);
        double const heads = size_.sequences * size_.heads / (by_head ? shape_.cp : 1.0);
        bool const fused = framework_.attention != AttentionKernel::unfused;
        program_.add({.name = name,
                      .kind = fused ? OperationKind::attention : OperationKind::unfused_attention,
                      .phase = phase,
                      .m = heads,
                      .n = queries,
                      .k = fused ? reach : length,
                      .times = matrix_passes,
                      .d = core_head_dim(model_, kind_),
                      .keys = keys});
        if (!fused) {
            memory("scores, mask and softmax", phase, MemoryClass::scores,
                   matrix_passes * size_.element * heads * queries * length);
        }
    }

    // Cross attention: queries of the decoder against keys and values of the encoder's tokens --------------------

    void cross_forward(Phase phase) {
        gather("gather before cross attention", phase);
        product("cross query", phase, size_.query_width, size_.hidden);
        product_over("cross key and value", phase, tokens_of(shape_), 2.0 * size_.kv_width, size_.hidden);
        trade_cross("cross queries, keys and values by head", phase, true);
        cross_core(phase, 1.0);
        trade_cross("cross outputs by token", phase, false);
        exchange_of("encoder keys and values of other ranks", phase, cross_key_bytes(), 1.0);
        product("cross output", phase, size_.hidden, size_.query_width);
        reduce("after cross attention", phase);
    }

    void cross_core(Phase phase, double matrix_passes) {
        double const keys = shape_.attended;
        core("cross attention core", phase, matrix_passes, keys, keys, keys);
    }

    void cross_backward() {
        auto const phase = Phase::backward;
        gather("gather gradient after cross attention", phase);
        gradient_products("cross output", size_.hidden, size_.query_width);
        trade_cross("gradient of cross outputs by head", phase, false);
        cross_core(phase, 2.0);
        trade_cross("cross gradients by token", phase, true);
        exchange_of("encoder keys, values and their gradients", phase, cross_key_bytes(), 2.0);
        gradient_products_over("cross key and value", tokens_of(shape_), 2.0 * size_.kv_width, size_.hidden);
        gather_kept_input("gather cross attention input again");
        gradient_products("cross query", size_.query_width, size_.hidden);
        reduce("gradient before cross attention", phase);
    }

    // State space ------------------------------------------------------------------------------------------------

    [[nodiscard]] double scan_width() const { return scan_.projected / shape_.tp; }
    [[nodiscard]] double inner_width() const { return scan_.inner / shape_.tp; }
    /// Convolution, scan and gated norm: the projected tensor and the inner one, read and written once each.
    [[nodiscard]] double scan_bytes() const {
        return size_.tokens * 2.0 * size_.element * (scan_width() + 2.0 * inner_width());
    }

    void scan_forward(Phase phase) {
        gather("gather before scan", phase);
        product("scan input", phase, scan_width(), size_.hidden);
        for (auto const& one : scan_.between) {
            if (one.out > 0.0) { product("scan parameters", phase, one.out, one.in / shape_.tp); }
        }
        memory("convolution and scan", phase, MemoryClass::scan, scan_bytes());
        exchange_states(phase);
        product("scan output", phase, size_.hidden, inner_width());
        reduce("after scan", phase);
    }

    void scan_backward() {
        auto const phase = Phase::backward;
        gather("gather gradient after scan", phase);
        gradient_products("scan output", size_.hidden, inner_width());
        memory("convolution and scan", phase, MemoryClass::scan, 2.0 * scan_bytes());
        exchange_states(phase);
        for (auto const& one : scan_.between) {
            if (one.out > 0.0) { gradient_products("scan parameters", one.out, one.in / shape_.tp); }
        }
        gather_kept_input("gather scan input again");
        gradient_products("scan input", scan_width(), size_.hidden);
        reduce("gradient before scan", phase);
    }

    /// Context ranks trade channels for tokens: a scan needs the whole sequence of a channel.
    void exchange_states(Phase phase) {
        if (shape_.cp == 1) { return; }
        collective("channels for tokens and back", phase, Collective::all_to_all, Traffic::context,
                   size_.tokens * (scan_width() + inner_width()) * size_.element);
    }

    // Feed-forward -----------------------------------------------------------------------------------------------

    void feed_forward(Phase phase, double ffn) {
        gather("gather before feed-forward", phase);
        product("feed-forward in", phase, size_.branches * ffn, size_.hidden);
        memory("activation function", phase, MemoryClass::feed_forward, activation_bytes(ffn));
        product("feed-forward out", phase, size_.hidden, ffn);
        reduce("after feed-forward", phase);
    }

    void feed_backward(double ffn) {
        auto const phase = Phase::backward;
        gather("gather gradient after feed-forward", phase);
        gradient_products("feed-forward out", size_.hidden, ffn);
        memory("activation function", phase, MemoryClass::feed_forward, 2.0 * activation_bytes(ffn));
        gather_kept_input("gather feed-forward input again");
        gradient_products("feed-forward in", size_.branches * ffn, size_.hidden);
        reduce("gradient before feed-forward", phase);
    }

    // Mixture of experts -----------------------------------------------------------------------------------------

    void experts_forward(Phase phase) {
        auto const e = expert_sizes(model_, shape_, size_);
        product_over("router", phase, e.tokens, model_.moe.experts, size_.hidden);
        if (model_.moe.latent > 0) { product_over("latent down", phase, e.tokens, e.width, size_.hidden); }
        memory("sort by expert and back", phase, MemoryClass::routing, routing_bytes(e));
        send("tokens to experts", phase, e);
        share_experts(phase, e, true);
        grouped("experts in", phase, e, e.per_expert, size_.branches * e.ffn, e.width);
        memory("expert activation function", phase, MemoryClass::feed_forward, expert_activation_bytes(e));
        grouped("experts out", phase, e, e.per_expert, e.width, e.ffn);
        share_experts(phase, e, false);
        send("tokens back", phase, e);
        if (model_.moe.latent > 0) { product_over("latent up", phase, e.tokens, size_.hidden, e.width); }
        if (e.shared_ffn > 0.0) { feed_forward(phase, e.shared_ffn); }
    }

    void expert_activations(Phase phase) {
        memory("expert activation function", phase, MemoryClass::feed_forward,
               expert_activation_bytes(expert_sizes(model_, shape_, size_)));
    }

    void experts_backward() {
        auto const phase = Phase::backward;
        auto const e = expert_sizes(model_, shape_, size_);
        if (e.shared_ffn > 0.0) { feed_backward(e.shared_ffn); }
        if (model_.moe.latent > 0) { gradient_products_over("latent up", e.tokens, size_.hidden, e.width); }
        send("gradients to experts", phase, e);
        share_experts(phase, e, true);
        grouped_gradients("experts out", e, e.width, e.ffn);
        memory("expert activation function", phase, MemoryClass::feed_forward, 2.0 * expert_activation_bytes(e));
        grouped_gradients("experts in", e, size_.branches * e.ffn, e.width);
        share_experts(phase, e, false);
        send("gradients back", phase, e);
        memory("sort by expert and back", phase, MemoryClass::routing, routing_bytes(e));
        if (model_.moe.latent > 0) { gradient_products_over("latent down", e.tokens, e.width, size_.hidden); }
        gradient_products_over("router", e.tokens, model_.moe.experts, size_.hidden);
    }

    /// Each token is read and its copies are written on the way out, and the other way round on the way back.
    [[nodiscard]] double routing_bytes(ExpertSizes const& e) const {
        return e.tokens * 2.0 * (1.0 + e.copies) * e.width * size_.element;
    }
    [[nodiscard]] double expert_activation_bytes(ExpertSizes const& e) const {
        return e.per_expert * e.experts * size_.element * (size_.branches + 1.0) * e.ffn;
    }
    void grouped(std::string_view name, Phase phase, ExpertSizes const& e, double m, double n, double k,
                 bool weight_gradient = false) {
        program_.add({.name = name,
                      .kind = OperationKind::grouped_gemm,
                      .phase = phase,
                      .m = m,
                      .n = n,
                      .k = k,
                      .times = e.experts,
                      .weight_gradient = weight_gradient});
    }
    void grouped_gradients(std::string_view name, ExpertSizes const& e, double out, double in) {
        grouped(name, Phase::backward, e, e.per_expert, in, out);
        if (shape_.trained != Trained::lora) { grouped(name, Phase::backward, e, in, out, e.per_expert, true); }
    }
    void send(std::string_view name, Phase phase, ExpertSizes const& e) {
        if (shape_.ep == 1) { return; }
        program_.add({.name = name,
                      .kind = OperationKind::exchange,
                      .phase = phase,
                      .m = e.tokens * shape_.expert_load,
                      .n = static_cast<double>(model_.moe.top_k),
                      .k = static_cast<double>(model_.moe.experts),
                      .limit = static_cast<double>(model_.moe.group_limit),
                      .bytes = Bytes{e.width * size_.element},
                      .traffic = Traffic::experts});
    }
    /// Ranks that share an expert's products gather its tokens before and add its outputs after. Where tokens are sent
    /// in slices, tensor ranks that do not split the sequence put them together again.
    void share_experts(Phase phase, ExpertSizes const& e, bool before) {
        if (shape_.etp > 1) {
            double const copies = shape_.ep > 1 ? e.copies : 1.0;
            collective(before ? "gather tokens of experts" : "add outputs of experts", phase,
                       before ? Collective::all_gather : Collective::reduce_scatter, Traffic::tensor,
                       e.tokens * copies * shape_.etp * e.width * size_.element);
        }
        bool const in_slices = shape_.etp == 1 || shape_.ep > 1; // else the sum of outputs reaches every rank
        if (!before && in_slices && shape_.tp > 1 && !shape_.sequence_parallel) {
            collective("put slices of tokens together", phase, Collective::all_gather, Traffic::tensor,
                       hidden_vector());
        }
    }
};

} // namespace

BlockProgram block_program(Model const& model, BlockKind const& kind, LayerShape const& shape,
                           Framework const& framework, BlockTraining training) {
    BlockProgram block;
    block.routed = kind.channel == Channel::experts;
    block.launches = forward_launches(model, kind, shape, framework) + launches_between_blocks() / depth_of(model);
    BlockWriter writer{block.program, model, kind, shape, framework};
    writer.dequantise(Phase::forward);
    writer.forward(Phase::forward);
    block.passes = 1.0;
    if (training == BlockTraining::frozen) { return block; }
    if (training == BlockTraining::recomputed && shape.recompute == Recompute::full) {
        writer.dequantise(Phase::recompute);
        writer.forward(Phase::recompute);
        block.passes += 1.0;
    }
    bool const again = training == BlockTraining::recomputed;
    bool const parts = again && shape.recompute == Recompute::modules;
    if (again && shape.recompute == Recompute::selective) { writer.recompute_core(); }
    if (again && shape.recompute == Recompute::alternate) { writer.recompute_alternate(); }
    if (parts) { writer.recompute_parts(shape.recomputed); }
    block.recomputes_core = (again && shape.recompute == Recompute::selective) ||
                            (parts && (shape.recomputed & recompute_module::core_attn) != 0);
    writer.dequantise(Phase::backward);
    writer.backward();
    block.passes += 2.0; // two products for one
    return block;
}

} // namespace headroom::training
