#include "block_pieces.hpp"

#include "lora_matrices.hpp"

#include "headroom/training/host_launches.hpp"

#include <algorithm>

namespace headroom::training {

using namespace headroom::network;

namespace {

BlockSizes sizes_of(Model const& model, BlockKind const& kind, LayerShape const& shape) {
    double const t = shape.tp;
    auto const attention = attention_shape(model, kind);
    double const kv_heads = std::max(1.0, attention.kv_heads / t); // replicated when t > kv_heads
    auto const& latent = model.latent;
    bool const narrow = kind.mixer == Mixer::latent_attention;
    double const heads = std::max(1.0, attention.heads / t);
    return {
        .tokens = tokens_of(shape) * (kind.decoder ? model.decoder_length : 1.0),
        .hidden = static_cast<double>(model.hidden),
        .query_width = narrow ? heads * (latent.nope_dim + latent.rope_dim) : attention.heads * attention.head_dim / t,
        .kv_width = narrow ? heads * (latent.nope_dim + latent.rope_dim) : kv_heads * attention.head_dim,
        .value_width = narrow ? heads * latent.value_dim : kv_heads * attention.value_dim,
        .output_width = heads * (narrow ? latent.value_dim : attention.value_dim),
        .ffn = ffn_of(model, kind) / t,
        .heads = heads,
        .sequences = static_cast<double>(shape.micro_batch),
        .branches = model.feed_forward == FeedForward::gated ? 2.0 : 1.0,
        .element = element_bytes(shape.precision),
    };
}

} // namespace

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

BlockPieces::BlockPieces(LayerProgram& program, Model const& model, BlockKind const& kind, LayerShape const& shape,
                         Framework const& framework)
    : program_{program},
      model_{model},
      kind_{kind},
      shape_{shape},
      framework_{framework},
      size_{sizes_of(model, kind, shape)},
      scan_{scans(kind.mixer) ? scan_sizes(model) : ScanSizes{}} {}

bool BlockPieces::has_core() const { return attends(kind_.mixer); }

double BlockPieces::output_width() const { return size_.output_width; }

double BlockPieces::hidden_bytes() const {
    int const parts =
        (kind_.mixer != Mixer::none ? 1 : 0) + (kind_.channel != Channel::none ? 1 : 0) + (kind_.cross ? 1 : 0);
    double const per_token = 4.5 * parts * size_.element * size_.hidden;
    return size_.tokens * per_token / (shape_.sequence_parallel ? shape_.tp : 1);
}

double BlockPieces::attention_bytes() const {
    return size_.tokens * 2.0 * size_.element * (size_.query_width + size_.kv_width + size_.value_width);
}

double BlockPieces::activation_bytes(double ffn) const {
    return size_.tokens * size_.element * (size_.branches + 1.0) * ffn;
}

void BlockPieces::memory(std::string_view name, Phase phase, MemoryClass kind, double bytes) {
    program_.add({.name = name, .kind = OperationKind::memory, .phase = phase, .bytes = Bytes{bytes}, .memory = kind});
}

void BlockPieces::product(std::string_view name, Phase phase, double out, double in) {
    product_over(name, phase, size_.tokens, out, in);
}

void BlockPieces::product_over(std::string_view name, Phase phase, double tokens, double out, double in) {
    program_.add({.name = name, .kind = OperationKind::gemm, .phase = phase, .m = tokens, .n = out, .k = in});
}

void BlockPieces::gradient_products(std::string_view name, double out, double in) {
    gradient_products_over(name, size_.tokens, out, in);
}

void BlockPieces::gradient_products_over(std::string_view name, double tokens, double out, double in) {
    product_over(name, Phase::backward, tokens, in, out);
    if (shape_.trained == Trained::lora) { return; }
    program_.add({.name = name,
                  .kind = OperationKind::gemm,
                  .phase = Phase::backward,
                  .m = in,
                  .n = out,
                  .k = tokens,
                  .weight_gradient = true});
}

void BlockPieces::collective(std::string_view name, Phase phase, Collective kind, Traffic traffic, double bytes,
                             double times) {
    program_.add({.name = name,
                  .kind = OperationKind::collective,
                  .phase = phase,
                  .times = times,
                  .bytes = Bytes{bytes},
                  .collective = kind,
                  .traffic = traffic});
}

double BlockPieces::hidden_vector() const { return size_.tokens * size_.hidden * size_.element; }

void BlockPieces::gather(std::string_view name, Phase phase) {
    if (shape_.tp > 1 && shape_.sequence_parallel) {
        collective(name, phase, Collective::all_gather, Traffic::tensor, hidden_vector());
    }
}

void BlockPieces::gather_kept_input(std::string_view name) {
    if (shape_.trained != Trained::lora) { gather(name, Phase::backward); }
}

void BlockPieces::reduce(std::string_view name, Phase phase) {
    if (shape_.tp > 1) {
        collective(name, phase, shape_.sequence_parallel ? Collective::reduce_scatter : Collective::all_reduce,
                   Traffic::tensor, hidden_vector());
    }
}

void BlockPieces::exchange_keys(std::string_view name, Phase phase, double times) {
    exchange_of(name, phase, size_.tokens * (size_.kv_width + size_.value_width) * size_.element, times);
}

void BlockPieces::exchange_of(std::string_view name, Phase phase, double of_a_rank, double times) {
    if (shape_.cp == 1 || shape_.exchange == ContextExchange::all_to_all) { return; }
    if (shape_.exchange == ContextExchange::ring) {
        collective(name, phase, Collective::point_to_point, Traffic::context, times * of_a_rank, shape_.cp - 1.0);
    } else {
        collective(name, phase, Collective::all_gather, Traffic::context, times * of_a_rank * shape_.cp);
    }
}

void BlockPieces::trade_heads(std::string_view name, Phase phase, bool inputs) {
    double const width = inputs ? size_.query_width + size_.kv_width + size_.value_width : output_width();
    trade_of(name, phase, size_.tokens * width * size_.element);
}

void BlockPieces::trade_cross(std::string_view name, Phase phase, bool inputs) {
    trade_of(name, phase, size_.tokens * size_.query_width * size_.element + (inputs ? cross_key_bytes() : 0.0));
}

void BlockPieces::trade_of(std::string_view name, Phase phase, double bytes) {
    if (shape_.cp == 1 || shape_.exchange != ContextExchange::all_to_all) { return; }
    collective(name, phase, Collective::all_to_all, Traffic::context, bytes);
}

double BlockPieces::cross_key_bytes() const { return tokens_of(shape_) * 2.0 * size_.kv_width * size_.element; }

void BlockPieces::low_precision_and_adapters(Phase phase, double passes) {
    if (shape_.precision == Precision::fp8 || shape_.precision == Precision::mxfp8 ||
        shape_.precision == Precision::nvfp4) {
        memory("conversion to 8 bits", phase, MemoryClass::cast, passes * 4.0 * converted_elements());
    }
    if (shape_.trained == Trained::lora) {
        bool const eager = framework_.host == HostPace::eager;
        double const moved = eager ? eager_adapter_bytes(phase == Phase::backward) : passes * fused_lora_bytes();
        if (moved > 0.0) { memory("lora", phase, MemoryClass::adapter, moved); }
        double const products = lora_products(model_, kind_, shape_.adapter_modules, shape_.adapter_rank, shape_.tp);
        if (products > 0.0) { product("lora", phase, passes * products / size_.hidden, size_.hidden); }
    }
    magnitudes(phase);
}

double BlockPieces::fused_lora_bytes() const {
    constexpr double element = 2.0;
    double elements = 0.0;
    for (auto const& matrix : adapted_matrices(model_, kind_, shape_.adapter_modules)) {
        elements += matrix.in_of(shape_.tp) + 2.0 * matrix.out_of(shape_.tp);
    }
    return size_.tokens * element * elements;
}

double BlockPieces::eager_adapter_bytes(bool backward) const {
    bool const wide = autocasts(framework_, shape_.precision); // 32-bit matrices, their inputs are converted
    double const of_input = wide ? (backward ? 29.0 : 21.0) : (backward ? 15.0 : 7.0);
    double const of_output = backward ? 6.0 : 12.0;
    double bytes = 0.0;
    for (auto const& matrix : adapted_matrices(model_, kind_, shape_.adapter_modules)) {
        bytes += of_input * matrix.in_of(shape_.tp) + of_output * matrix.out_of(shape_.tp);
    }
    return size_.tokens * bytes;
}

void BlockPieces::magnitudes(Phase phase) {
    if (!trains_magnitudes(shape_.trained, shape_.adapter_modules)) { return; }
    bool const backward = phase == Phase::backward;
    double of_outputs = 0.0, of_matrices = 0.0;
    for (auto const& matrix : adapted_matrices(model_, kind_, shape_.adapter_modules)) {
        of_outputs += size_.tokens * matrix.out_of(shape_.tp) *
                      (backward ? magnitude_cost::backward_bytes : magnitude_cost::forward_bytes);
        of_matrices += matrix.in * matrix.out / shape_.tp;
    }
    double const of_copy = magnitude_cost::bytes_an_element + dequantised_bytes(framework_);
    memory("lengths of rows", phase, MemoryClass::adapter, of_outputs + (backward ? 0.0 : of_matrices * of_copy));
}

double BlockPieces::matrix_elements() const {
    double elements = 0.0;
    if (has_core()) {
        elements += size_.hidden * (size_.query_width + size_.kv_width + size_.value_width + size_.output_width);
    }
    if (kind_.channel == Channel::dense) { elements += (size_.branches + 1.0) * size_.hidden * size_.ffn; }
    return elements;
}

double BlockPieces::converted_elements() const {
    double elements = 0.0;
    if (has_core()) { elements += size_.tokens * (size_.hidden + output_width()); }
    if (scans(kind_.mixer)) { elements += size_.tokens * (size_.hidden + scan_.inner / shape_.tp); }
    if (kind_.channel == Channel::dense) { elements += size_.tokens * (size_.hidden + size_.ffn); }
    if (kind_.channel == Channel::experts) {
        auto const e = expert_sizes(model_, shape_, size_);
        elements += e.per_expert * e.experts * (e.width + e.ffn);
        if (e.shared_ffn > 0.0) { elements += size_.tokens * (size_.hidden + e.shared_ffn); }
    }
    return elements;
}

} // namespace headroom::training
