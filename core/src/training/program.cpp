#include "headroom/error.hpp"
#include "headroom/operation.hpp"

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

constexpr double elements_two_bytes = 2.0;

/// Sizes of one block on one rank, named as in the literature: T tokens, h, a/t heads ...
struct BlockSizes {
    double tokens, hidden, query_width, kv_width, ffn_in, ffn, heads, sequences;
    double element; ///< bytes of an activation element
};

BlockSizes sizes_of(Model const& model, LayerShape const& shape) {
    double const t = shape.tp;
    double const kv_heads = std::max(1.0, model.kv_heads / t); // replicated when t > kv_heads
    double const branches = model.feed_forward == FeedForward::gated ? 2.0 : 1.0;
    return {
        .tokens = tokens_of(shape),
        .hidden = static_cast<double>(model.hidden),
        .query_width = static_cast<double>(model.heads) * model.head_dim / t,
        .kv_width = kv_heads * model.head_dim,
        .ffn_in = branches * model.ffn / t,
        .ffn = model.ffn / t,
        .heads = std::max(1.0, model.heads / t),
        .sequences = static_cast<double>(shape.micro_batch),
        .element = element_bytes(shape.precision),
    };
}

/// Appends the operations of a block pass by pass, so that a pass is written once and reused for
/// recomputation.
class BlockWriter {
public:
    BlockWriter(LayerProgram& program, Model const& model, LayerShape const& shape, Framework const& framework)
        : program_{program}, model_{model}, shape_{shape}, framework_{framework}, size_{sizes_of(model, shape)} {}

    void forward(Phase phase) {
        memory("norms and residuals", phase, MemoryClass::hidden, hidden_bytes());
        gather("gather before attention", phase);
        product("query, key, value", phase, size_.query_width + 2.0 * size_.kv_width, size_.hidden);
        memory("positions and layout", phase, MemoryClass::sharded, attention_bytes());
        attention(phase, 1.0);
        exchange_keys("keys and values of other ranks", phase, 1.0);
        product("attention output", phase, size_.hidden, size_.query_width);
        reduce("after attention", phase);
        gather("gather before feed-forward", phase);
        product("feed-forward in", phase, size_.ffn_in, size_.hidden);
        memory("activation function", phase, MemoryClass::feed_forward, activation_bytes());
        product("feed-forward out", phase, size_.hidden, size_.ffn);
        reduce("after feed-forward", phase);
        low_precision_and_adapters(phase, 1.0);
    }

    void selective_recomputation() { attention(Phase::recompute, 1.0); }

    void backward() {
        auto const phase = Phase::backward;
        memory("norms and residuals", phase, MemoryClass::hidden, 2.0 * hidden_bytes());
        gather("gather gradient after feed-forward", phase);
        gradient_products("feed-forward out", size_.hidden, size_.ffn);
        memory("activation function", phase, MemoryClass::feed_forward, 2.0 * activation_bytes());
        gather_kept_input("gather feed-forward input again");
        gradient_products("feed-forward in", size_.ffn_in, size_.hidden);
        reduce("gradient before feed-forward", phase);
        gather("gather gradient after attention", phase);
        gradient_products("attention output", size_.hidden, size_.query_width);
        attention(phase, 2.0);
        exchange_keys("keys, values and their gradients", phase, 2.0);
        memory("positions and layout", phase, MemoryClass::sharded, 2.0 * attention_bytes());
        gather_kept_input("gather attention input again");
        gradient_products("query, key, value", size_.query_width + 2.0 * size_.kv_width, size_.hidden);
        reduce("gradient before attention", phase);
        low_precision_and_adapters(phase, 2.0);
    }

private:
    // Reads and writes of h-wide tensors per token: two norms (read, write) and two residual sums
    // (read two, write one), the last read of each norm shared with the sum before it.
    [[nodiscard]] double hidden_bytes() const {
        double const per_token = 9.0 * size_.element * size_.hidden;
        return size_.tokens * per_token / (shape_.sequence_parallel ? shape_.tp : 1);
    }
    // Rotary positions or bias on queries and keys, and the layout change of all three: read, write.
    [[nodiscard]] double attention_bytes() const {
        return size_.tokens * 2.0 * size_.element * (size_.query_width + 2.0 * size_.kv_width);
    }
    [[nodiscard]] double activation_bytes() const { return size_.tokens * size_.element * (size_.ffn_in + size_.ffn); }

    void memory(std::string_view name, Phase phase, MemoryClass kind, double bytes) {
        program_.add(
            {.name = name, .kind = OperationKind::memory, .phase = phase, .bytes = Bytes{bytes}, .memory = kind});
    }

    void product(std::string_view name, Phase phase, double out, double in) {
        program_.add({.name = name, .kind = OperationKind::gemm, .phase = phase, .m = size_.tokens, .n = out, .k = in});
    }

    /// Gradient of the input (T x in, inner dimension out) and of the weight (in x out, inner T).
    void gradient_products(std::string_view name, double out, double in) {
        program_.add({.name = name,
                      .kind = OperationKind::gemm,
                      .phase = Phase::backward,
                      .m = size_.tokens,
                      .n = in,
                      .k = out});
        if (shape_.trained == Trained::adapters) { return; } // frozen weights have no gradient
        program_.add({.name = name,
                      .kind = OperationKind::gemm,
                      .phase = Phase::backward,
                      .m = in,
                      .n = out,
                      .k = size_.tokens});
    }

    void attention(Phase phase, double matrix_passes) {
        double const queries = static_cast<double>(shape_.sequence_length) / shape_.cp;
        bool const fused = framework_.attention != AttentionKernel::unfused;
        program_.add({.name = "attention core",
                      .kind = fused ? OperationKind::attention : OperationKind::unfused_attention,
                      .phase = phase,
                      .m = size_.sequences * size_.heads,
                      .n = queries,
                      .k = static_cast<double>(shape_.sequence_length),
                      .times = matrix_passes,
                      .d = static_cast<double>(model_.head_dim)});
        if (!fused) {
            double const scores = size_.sequences * size_.heads * queries * shape_.sequence_length;
            memory("scores, mask and softmax", phase, MemoryClass::scores, matrix_passes * size_.element * scores);
        }
    }

    void collective(std::string_view name, Phase phase, Collective kind, Traffic traffic, double bytes) {
        program_.add({.name = name,
                      .kind = OperationKind::collective,
                      .phase = phase,
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
        if (shape_.trained == Trained::all) { gather(name, Phase::backward); }
    }
    /// Partial sums of a row-parallel product: reduced to all ranks, or scattered along the sequence.
    void reduce(std::string_view name, Phase phase) {
        if (shape_.tp > 1) {
            collective(name, phase, shape_.sequence_parallel ? Collective::reduce_scatter : Collective::all_reduce,
                       Traffic::tensor, hidden_vector());
        }
    }
    void exchange_keys(std::string_view name, Phase phase, double times) {
        if (shape_.cp > 1) {
            double const keys_and_values =
                size_.sequences * shape_.sequence_length * 2.0 * size_.kv_width * size_.element;
            collective(name, phase, Collective::all_gather, Traffic::context, times * keys_and_values);
        }
    }

    /// Conversions of linear inputs to 8 bits (read 16, write 8 and its transpose), and low-rank
    /// adapters: the thin products are bound by reading the input and updating the output.
    void low_precision_and_adapters(Phase phase, double passes) {
        if (shape_.precision == Precision::fp8 || shape_.precision == Precision::mxfp8 ||
            shape_.precision == Precision::nvfp4) {
            double const inputs = 2.0 * size_.hidden + size_.query_width + size_.ffn;
            memory("conversion to 8 bits", phase, MemoryClass::cast, passes * size_.tokens * 4.0 * inputs);
        }
        if (shape_.trained == Trained::adapters) {
            double const adapted = 2.0 * size_.hidden + 3.0 * size_.query_width + 4.0 * size_.kv_width + size_.hidden;
            memory("adapters", phase, MemoryClass::adapter, passes * size_.tokens * elements_two_bytes * adapted);
        }
    }

    LayerProgram& program_;
    Model const& model_;
    LayerShape const& shape_;
    Framework const& framework_;
    BlockSizes size_;
};

void write_head(LayerProgram& head, Model const& model, LayerShape const& shape, Framework const& framework) {
    double const tokens = tokens_of(shape);
    double const words = laid_out_vocabulary(model, shape.tp, framework) / shape.tp;
    double const h = model.hidden;
    auto const product = [&head](Phase phase, double m, double n, double k) {
        head.add({.name = "output projection", .kind = OperationKind::gemm, .phase = phase, .m = m, .n = n, .k = k});
    };
    auto const collective = [&](char const* name, Phase phase, Collective kind) {
        if (shape.tp == 1) { return; }
        head.add({.name = name,
                  .kind = OperationKind::collective,
                  .phase = phase,
                  .bytes = Bytes{tokens * h * element_bytes(shape.precision)},
                  .collective = kind,
                  .traffic = Traffic::tensor});
    };
    if (shape.sequence_parallel) { collective("gather before output", Phase::forward, Collective::all_gather); }
    product(Phase::forward, tokens, words, h);
    head.add({.name = "loss",
              .kind = OperationKind::memory,
              .phase = Phase::forward,
              .bytes = Bytes{tokens * words},
              .memory = MemoryClass::logits});
    product(Phase::backward, tokens, h, words);
    if (shape.trained == Trained::all) { product(Phase::backward, h, words, tokens); }
    collective("gradient before output", Phase::backward,
               shape.sequence_parallel ? Collective::reduce_scatter : Collective::all_reduce);
}

void write_embedding(LayerProgram& embedding, Model const& model, LayerShape const& shape) {
    double const tokens = tokens_of(shape);
    double const vector = tokens * model.hidden * element_bytes(shape.precision);
    embedding.add(
        {.name = "look-up", .kind = OperationKind::memory, .phase = Phase::forward, .bytes = Bytes{2.0 * vector}});
    embedding.add({.name = "scatter gradient",
                   .kind = OperationKind::memory,
                   .phase = Phase::backward,
                   .bytes = Bytes{3.0 * vector}});
    if (shape.tp > 1) {
        embedding.add({.name = "vocabulary-parallel look-up",
                       .kind = OperationKind::collective,
                       .phase = Phase::forward,
                       .bytes = Bytes{vector},
                       .collective = shape.sequence_parallel ? Collective::reduce_scatter : Collective::all_reduce,
                       .traffic = Traffic::tensor});
    }
    if (shape.tp > 1 && shape.sequence_parallel) {
        embedding.add({.name = "gather gradient before scatter",
                       .kind = OperationKind::collective,
                       .phase = Phase::backward,
                       .bytes = Bytes{vector},
                       .collective = Collective::all_gather,
                       .traffic = Traffic::tensor});
    }
}

} // namespace

void LayerProgram::add(Operation const& operation) {
    if (count_ == capacity) { throw ContractError{"a layer program is full"}; }
    operation_[static_cast<std::size_t>(count_++)] = operation;
}

LayerShape shape_of(Strategy const& strategy, int sequence_length) {
    return {.sequence_length = sequence_length,
            .micro_batch = strategy.micro_batch,
            .tp = strategy.tp,
            .cp = strategy.cp,
            .sequence_parallel = strategy.sequence_parallel,
            .recompute = strategy.recompute,
            .precision = strategy.precision,
            .trained = strategy.trained,
            .overlap = strategy.overlap};
}

double tokens_of(LayerShape const& shape) {
    return static_cast<double>(shape.micro_batch) * shape.sequence_length / shape.cp;
}

double laid_out_vocabulary(Model const& model, int tp, Framework const& framework) {
    if (!framework.pads_vocabulary) { return model.vocab; }
    double const unit = 128.0 * tp;
    return std::ceil(model.vocab / unit) * unit;
}

StepProgram step_program(Model const& model, LayerShape const& shape, Framework const& framework) {
    StepProgram program;
    program.blocks = model.layers;
    program.heads = model.heads;
    BlockWriter writer{program.block, model, shape, framework};
    writer.forward(Phase::forward);
    if (shape.recompute == Recompute::full) { writer.forward(Phase::recompute); }
    if (shape.recompute == Recompute::selective) { writer.selective_recomputation(); }
    writer.backward();
    write_head(program.head, model, shape, framework);
    write_embedding(program.embedding, model, shape);
    return program;
}

} // namespace headroom
