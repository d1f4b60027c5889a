#include "block_program.hpp"

#include <algorithm>

namespace headroom {
namespace {

constexpr double elements_two_bytes = 2.0;

/// Sizes of one block on one rank, named as in the literature: T tokens, h, a/t heads ...
struct BlockSizes {
    double tokens, hidden, query_width, kv_width, value_width, ffn, heads, sequences;
    double branches; ///< products side by side into the feed-forward width
    double element;  ///< bytes of an activation element
};

BlockSizes sizes_of(Model const& model, BlockKind const& kind, LayerShape const& shape) {
    double const t = shape.tp;
    double const kv_heads = std::max(1.0, model.kv_heads / t); // replicated when t > kv_heads
    auto const& latent = model.latent;
    bool const narrow = kind.mixer == Mixer::latent_attention;
    double const heads = std::max(1.0, model.heads / t);
    return {
        .tokens = tokens_of(shape) * (kind.decoder ? model.decoder_length : 1.0),
        .hidden = static_cast<double>(model.hidden),
        .query_width = narrow ? heads * (latent.nope_dim + latent.rope_dim)
                              : static_cast<double>(model.heads) * model.head_dim / t,
        .kv_width = narrow ? heads * (latent.nope_dim + latent.rope_dim) : kv_heads * model.head_dim,
        .value_width = narrow ? heads * latent.value_dim : kv_heads * model.head_dim,
        .ffn = model.ffn / t,
        .heads = heads,
        .sequences = static_cast<double>(shape.micro_batch),
        .branches = model.feed_forward == FeedForward::gated ? 2.0 : 1.0,
        .element = element_bytes(shape.precision),
    };
}

/// What a rank has of a routed layer: its slice of the tokens, and the experts that it holds.
struct ExpertSizes {
    double tokens;     ///< of this rank before they are sent
    double width;      ///< of a token as it is sent
    double per_expert; ///< tokens that one expert works on, on the fullest rank
    double experts;    ///< held by a rank
    double ffn;        ///< of one expert on one rank
    double shared_ffn; ///< of all shared experts together, on one rank
    double copies;     ///< experts that a token goes to, on the fullest rank
};

ExpertSizes expert_sizes(Model const& model, LayerShape const& shape, BlockSizes const& size) {
    auto const& moe = model.moe;
    double const tokens = size.tokens / shape.tp; // the tensor ranks share the tokens out
    double const copies = moe.top_k * shape.expert_load;
    double const ffn = moe.ffn > 0 ? moe.ffn : model.ffn;
    double const shared = moe.shared_ffn > 0 ? moe.shared_ffn : ffn;
    return {.tokens = tokens,
            .width = moe.latent > 0 ? static_cast<double>(moe.latent) : size.hidden,
            .per_expert = tokens * copies * shape.etp * shape.ep / moe.experts,
            .experts = static_cast<double>(moe.experts) / shape.ep,
            .ffn = ffn / shape.etp,
            .shared_ffn = moe.shared_experts * shared / shape.tp,
            .copies = copies};
}

/// Appends the operations of a block pass by pass, so that a pass is written once and reused for recomputation.
class BlockWriter {
public:
    BlockWriter(LayerProgram& program, Model const& model, BlockKind const& kind, LayerShape const& shape,
                Framework const& framework)
        : program_{program},
          model_{model},
          kind_{kind},
          shape_{shape},
          framework_{framework},
          size_{sizes_of(model, kind, shape)} {}

    void forward(Phase phase) {
        memory("norms and residuals", phase, MemoryClass::hidden, hidden_bytes());
        if (kind_.mixer == Mixer::state_space) {
            scan_forward(phase);
        } else if (kind_.mixer != Mixer::none) {
            attention_forward(phase);
        }
        if (kind_.cross) { cross_forward(phase); }
        if (kind_.channel == Channel::dense) { feed_forward(phase, size_.ffn); }
        if (kind_.channel == Channel::experts) { experts_forward(phase); }
        low_precision_and_adapters(phase, 1.0);
    }

    /// The attention cores alone; nothing in a block without one.
    void recompute_core() {
        if (has_core()) { attention(Phase::recompute, 1.0); }
        if (kind_.cross) { cross_core(Phase::recompute, 1.0); }
    }

    void backward() {
        auto const phase = Phase::backward;
        memory("norms and residuals", phase, MemoryClass::hidden, 2.0 * hidden_bytes());
        if (kind_.channel == Channel::dense) { feed_backward(size_.ffn); }
        if (kind_.channel == Channel::experts) { experts_backward(); }
        if (kind_.cross) { cross_backward(); }
        if (kind_.mixer == Mixer::state_space) {
            scan_backward();
        } else if (kind_.mixer != Mixer::none) {
            attention_backward();
        }
        low_precision_and_adapters(phase, 2.0);
    }

    [[nodiscard]] bool has_core() const {
        return kind_.mixer == Mixer::attention || kind_.mixer == Mixer::latent_attention;
    }

private:
    // Attention --------------------------------------------------------------------------------------------------

    void attention_forward(Phase phase) {
        gather("gather before attention", phase);
        for (auto const& p : projections()) { product(p.name, phase, p.out, p.in); }
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
        reduce("gradient before attention", phase);
    }

    struct Projection {
        std::string_view name;
        double out = 0.0, in = 0.0;
    };
    /// Into queries, keys and values: one product, or a narrow and a wide one each of latent attention.
    [[nodiscard]] std::vector<Projection> projections() const {
        if (kind_.mixer == Mixer::attention) {
            return {{"query, key, value", size_.query_width + size_.kv_width + size_.value_width, size_.hidden}};
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
    [[nodiscard]] double output_width() const {
        return kind_.mixer == Mixer::latent_attention ? size_.value_width : size_.query_width;
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
                      .d = core_head_dim(model_),
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

    [[nodiscard]] double inner_width() const {
        return static_cast<double>(model_.state_space.heads) * model_.state_space.head_dim / shape_.tp;
    }
    [[nodiscard]] double scan_width() const {
        auto const& m = model_.state_space;
        return 2.0 * inner_width() + (2.0 * m.groups * m.state + m.heads) / shape_.tp;
    }
    /// Convolution, scan and gated norm: the projected tensor and the inner one, read and written once each.
    [[nodiscard]] double scan_bytes() const {
        return size_.tokens * 2.0 * size_.element * (scan_width() + 2.0 * inner_width());
    }

    void scan_forward(Phase phase) {
        gather("gather before scan", phase);
        product("scan input", phase, scan_width(), size_.hidden);
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
        if (shape_.trained != Trained::adapters) { grouped(name, Phase::backward, e, in, out, e.per_expert, true); }
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

    // Pieces -----------------------------------------------------------------------------------------------------

    // Reads and writes of h-wide tensors per token: a norm (read, write) and a residual sum (read two, write one)
    // for each part of a block; of a norm's reads and the sum before it one in two is shared.
    [[nodiscard]] double hidden_bytes() const {
        int const parts =
            (kind_.mixer != Mixer::none ? 1 : 0) + (kind_.channel != Channel::none ? 1 : 0) + (kind_.cross ? 1 : 0);
        double const per_token = 4.5 * parts * size_.element * size_.hidden;
        return size_.tokens * per_token / (shape_.sequence_parallel ? shape_.tp : 1);
    }
    // Rotary positions or bias on queries and keys, and the layout change of all three: read, write.
    [[nodiscard]] double attention_bytes() const {
        return size_.tokens * 2.0 * size_.element * (size_.query_width + size_.kv_width + size_.value_width);
    }
    [[nodiscard]] double activation_bytes(double ffn) const {
        return size_.tokens * size_.element * (size_.branches + 1.0) * ffn;
    }

    void memory(std::string_view name, Phase phase, MemoryClass kind, double bytes) {
        program_.add(
            {.name = name, .kind = OperationKind::memory, .phase = phase, .bytes = Bytes{bytes}, .memory = kind});
    }

    void product(std::string_view name, Phase phase, double out, double in) {
        product_over(name, phase, size_.tokens, out, in);
    }
    void product_over(std::string_view name, Phase phase, double tokens, double out, double in) {
        program_.add({.name = name, .kind = OperationKind::gemm, .phase = phase, .m = tokens, .n = out, .k = in});
    }

    /// Gradient of the input (T x in, inner dimension out) and of the weight (in x out, inner T).
    void gradient_products(std::string_view name, double out, double in) {
        gradient_products_over(name, size_.tokens, out, in);
    }
    void gradient_products_over(std::string_view name, double tokens, double out, double in) {
        product_over(name, Phase::backward, tokens, in, out);
        if (shape_.trained == Trained::adapters) { return; }
        program_.add({.name = name,
                      .kind = OperationKind::gemm,
                      .phase = Phase::backward,
                      .m = in,
                      .n = out,
                      .k = tokens,
                      .weight_gradient = true});
    }

    void collective(std::string_view name, Phase phase, Collective kind, Traffic traffic, double bytes,
                    double times = 1.0) {
        program_.add({.name = name,
                      .kind = OperationKind::collective,
                      .phase = phase,
                      .times = times,
                      .bytes = Bytes{bytes},
                      .collective = kind,
                      .traffic = traffic});
    }

    [[nodiscard]] double hidden_vector() const { return size_.tokens * size_.hidden * size_.element; }

    /// With sequence parallelism the input is gathered before a column-parallel product.
    void gather(std::string_view name, Phase phase) {
        if (shape_.tp > 1 && shape_.sequence_parallel) {
            collective(name, phase, Collective::all_gather, Traffic::tensor, hidden_vector());
        }
    }
    /// Inputs are kept split along the sequence; the weight gradient needs them whole. Frozen weights have none.
    /// Source: [Korthikanti2022]
    void gather_kept_input(std::string_view name) {
        if (shape_.trained != Trained::adapters) { gather(name, Phase::backward); }
    }
    /// Partial sums of a row-parallel product: reduced to all ranks, or scattered along the sequence.
    void reduce(std::string_view name, Phase phase) {
        if (shape_.tp > 1) {
            collective(name, phase, shape_.sequence_parallel ? Collective::reduce_scatter : Collective::all_reduce,
                       Traffic::tensor, hidden_vector());
        }
    }

    /// Keys and values of the rest of the sequence: gathered whole, or passed round rank by rank.
    void exchange_keys(std::string_view name, Phase phase, double times) {
        exchange_of(name, phase, size_.tokens * (size_.kv_width + size_.value_width) * size_.element, times);
    }
    void exchange_of(std::string_view name, Phase phase, double of_a_rank, double times) {
        if (shape_.cp == 1 || shape_.exchange == ContextExchange::all_to_all) { return; }
        if (shape_.exchange == ContextExchange::ring) {
            collective(name, phase, Collective::point_to_point, Traffic::context, times * of_a_rank, shape_.cp - 1.0);
        } else {
            collective(name, phase, Collective::all_gather, Traffic::context, times * of_a_rank * shape_.cp);
        }
    }
    /// Heads for tokens: queries, keys and values before the core, its output after.
    void trade_heads(std::string_view name, Phase phase, bool inputs) {
        double const width = inputs ? size_.query_width + size_.kv_width + size_.value_width : output_width();
        trade_of(name, phase, size_.tokens * width * size_.element);
    }
    /// The same around cross attention: keys and values are those of the encoder's tokens.
    void trade_cross(std::string_view name, Phase phase, bool inputs) {
        trade_of(name, phase, size_.tokens * size_.query_width * size_.element + (inputs ? cross_key_bytes() : 0.0));
    }
    void trade_of(std::string_view name, Phase phase, double bytes) {
        if (shape_.cp == 1 || shape_.exchange != ContextExchange::all_to_all) { return; }
        collective(name, phase, Collective::all_to_all, Traffic::context, bytes);
    }
    [[nodiscard]] double cross_key_bytes() const { return tokens_of(shape_) * 2.0 * size_.kv_width * size_.element; }

    /// Conversions of linear inputs to 8 bits (read 16, write 8 and its transpose), and low-rank
    /// adapters: the thin products are bound by reading the input and updating the output.
    void low_precision_and_adapters(Phase phase, double passes) {
        if (shape_.precision == Precision::fp8 || shape_.precision == Precision::mxfp8 ||
            shape_.precision == Precision::nvfp4) {
            memory("conversion to 8 bits", phase, MemoryClass::cast, passes * 4.0 * converted_elements());
        }
        if (shape_.trained == Trained::adapters && has_core()) {
            double const adapted = 2.0 * size_.hidden + 3.0 * size_.query_width + 4.0 * size_.kv_width + size_.hidden;
            memory("adapters", phase, MemoryClass::adapter, passes * size_.tokens * elements_two_bytes * adapted);
        }
    }
    [[nodiscard]] double converted_elements() const {
        double elements = 0.0;
        if (has_core()) { elements += size_.tokens * (size_.hidden + output_width()); }
        if (kind_.mixer == Mixer::state_space) { elements += size_.tokens * (size_.hidden + inner_width()); }
        if (kind_.channel == Channel::dense) { elements += size_.tokens * (size_.hidden + size_.ffn); }
        if (kind_.channel == Channel::experts) {
            auto const e = expert_sizes(model_, shape_, size_);
            elements += e.per_expert * e.experts * (e.width + e.ffn);
            if (e.shared_ffn > 0.0) { elements += size_.tokens * (size_.hidden + e.shared_ffn); }
        }
        return elements;
    }

    LayerProgram& program_;
    Model const& model_;
    BlockKind const& kind_;
    LayerShape const& shape_;
    Framework const& framework_;
    BlockSizes size_;
};

} // namespace

BlockProgram block_program(Model const& model, BlockKind const& kind, LayerShape const& shape,
                           Framework const& framework, BlockTraining training) {
    BlockProgram block;
    block.routed = kind.channel == Channel::experts;
    BlockWriter writer{block.program, model, kind, shape, framework};
    writer.forward(Phase::forward);
    block.passes = 1.0;
    if (training == BlockTraining::frozen) { return block; }
    if (training == BlockTraining::recomputed && shape.recompute == Recompute::full) {
        writer.forward(Phase::recompute);
        block.passes += 1.0;
    }
    if (training == BlockTraining::recomputed && shape.recompute == Recompute::selective) { writer.recompute_core(); }
    block.recomputes_core = training == BlockTraining::recomputed && shape.recompute == Recompute::selective;
    writer.backward();
    block.passes += 2.0; // two products for one
    return block;
}

} // namespace headroom
