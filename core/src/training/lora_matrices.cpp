#include "lora_matrices.hpp"

#include <algorithm>

namespace headroom::training {

std::vector<AdaptedMatrix> adapted_matrices(Model const& model, BlockKind const& kind, unsigned modules) {
    std::vector<AdaptedMatrix> found;
    auto const add = [&](unsigned module, double in, double out, bool by_rows) {
        if ((modules & module) != 0) { found.push_back({.in = in, .out = out, .by_rows = by_rows}); }
    };
    double const h = model.hidden;
    if (attends(kind.mixer)) {
        auto const a = attention_shape(model, kind);
        add(adapter_module::query, h, a.heads * a.head_dim, false);
        add(adapter_module::key, h, a.kv_heads * a.head_dim, false);
        add(adapter_module::value, h, a.kv_heads * a.value_dim, false);
        add(adapter_module::output, a.heads * a.value_dim, h, true);
    }
    if (kind.channel != Channel::dense) { return found; }
    double const f = ffn_of(model, kind);
    if (model.feed_forward == FeedForward::gated) { add(adapter_module::gate, h, f, false); }
    add(adapter_module::up, h, f, false);
    add(adapter_module::down, f, h, true);
    return found;
}

double lora_products(Model const& model, BlockKind const& kind, unsigned modules, int rank, double tensor_ranks) {
    double products = 0.0;
    for (auto const& matrix : adapted_matrices(model, kind, modules)) { products += rank * (matrix.in + matrix.out); }
    return products / tensor_ranks;
}

Flops lora_flops(Model const& model, Strategy const& strategy, double recomputed) {
    if (strategy.trained != Trained::lora) { return {}; }
    double products = 0.0;
    for (auto const& run : block_runs(model)) {
        products += run.count * lora_products(model, run.kind, strategy.adapter_modules, strategy.adapter_rank, 1.0);
    }
    return Flops{(6.0 + 2.0 * recomputed) * products};
}

double largest_adapted(Model const& model, unsigned modules) {
    double most = 0.0;
    for (auto const& run : block_runs(model)) {
        for (auto const& matrix : adapted_matrices(model, run.kind, modules)) {
            most = std::max(most, matrix.in * matrix.out);
        }
    }
    return most;
}

} // namespace headroom::training
