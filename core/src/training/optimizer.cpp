#include "headroom/training/optimizer.hpp"

#include "lora_matrices.hpp"

#include "headroom/training/operation.hpp"

#include <algorithm>

namespace headroom::training {
namespace {

/// Parameters of a model's blocks over all of them.
double share_of_blocks(Model const& model, ParameterCount const& count) {
    if (count.total <= 0.0 || !model.operators.empty()) { return 1.0; }
    return std::clamp(count.layer * depth_of(model) / count.total, 0.0, 1.0);
}

double touched(Framework const& framework) {
    return framework.parameter_bytes + framework.gradient_bytes + 2.0 * framework.optimizer_bytes;
}

/// FLOPs of an iteration X <- a X + (b A + c A A) X, A = X X^T, for all matrices of a model's blocks.
double orthogonalised(Model const& model) {
    constexpr unsigned every = ~0U;
    double flops = 0.0;
    auto const add = [&](double matrices, double in, double out) {
        double const rows = std::min(in, out), columns = std::max(in, out);
        flops += matrices * (4.0 * rows * rows * columns + 2.0 * rows * rows * rows);
    };
    for (auto const& run : block_runs(model)) {
        for (auto const& matrix : adapted_matrices(model, run.kind, every)) { add(run.count, matrix.in, matrix.out); }
        if (run.kind.channel != Channel::experts) { continue; }
        double const each = model.feed_forward == FeedForward::gated ? 3.0 : 2.0;
        auto const& moe = model.moe;
        add(run.count * each * moe.experts, model.hidden, moe.ffn);
        add(run.count * each * moe.shared_experts, model.hidden, moe.shared_ffn > 0 ? moe.shared_ffn : moe.ffn);
    }
    return flops;
}

/// Whether a record's weights are 16-bit alone: its state has no room for a 32-bit copy of them and a moment.
bool keeps_no_master(Framework const& framework) {
    constexpr double wide = 4.0;
    return framework.parameter_bytes < wide && framework.optimizer_bytes <= wide;
}

} // namespace

bool widens_rest(Framework const& framework) {
    bool const quantised = framework.frozen == FrozenFormat::nf4 || framework.frozen == FrozenFormat::int8;
    return framework.widens_rest && quantised;
}

Framework with_state(Framework framework, StateChoice const& choice, Model const& model) {
    constexpr double narrow = 2.0, wide = 4.0, two_moments = 8.0;
    double const before = touched(framework);
    double const blocks = share_of_blocks(model, count_parameters(model));
    bool const pure = choice.pure.value_or(choice.optimizer && keeps_no_master(framework));
    if (choice.optimizer || choice.pure) {
        Optimizer const optimizer = choice.optimizer.value_or(Optimizer{.name = {}, .title = {}});
        if (pure) {
            framework.parameter_bytes = framework.gradient_bytes = framework.reduced_bytes = narrow;
            framework.bf16_gradient_bytes.reset();
            framework.wide_residual = framework.gathers_wide = false;
        }
        double const in_blocks = pure ? optimizer.pure : optimizer.mixed;
        double const in_ends = (pure ? optimizer.ends_pure : optimizer.ends_mixed).value_or(in_blocks);
        bool const master = !pure && framework.parameter_bytes < wide;
        bool const stated = choice.optimizer.has_value() || pure;
        if (stated) {
            framework.optimizer_bytes = (master ? wide : 0.0) + blocks * in_blocks + (1.0 - blocks) * in_ends;
        } else if (framework.optimizer_bytes < two_moments) { // the record is pure, the user wants a master copy
            framework.optimizer_bytes = (master ? wide : 0.0) + two_moments;
        }
        framework.foreach_update = framework.foreach_update && (!choice.optimizer || optimizer.name == "adamw");
        if (optimizer.iterations > 0 && model.operators.empty()) {
            framework.update_flops = optimizer.iterations * orthogonalised(model) / count_parameters(model).total;
        }
        framework.paged_state = optimizer.paged;
        framework.optimizer = choice.optimizer ? optimizer.name : std::string{};
        framework.updated_bytes = touched(framework) / before;
    }
    framework.frozen = choice.frozen.value_or(FrozenFormat::sixteen_bit);
    bool const loaded_wide = framework.wide_frozen && !pure;
    double const ends = loaded_wide || widens_rest(framework) ? wide : narrow;
    double const kept =
        loaded_wide && framework.frozen == FrozenFormat::sixteen_bit ? wide : bytes_of(framework.frozen);
    framework.frozen_bytes = blocks * kept + (1.0 - blocks) * ends;
    return framework;
}

} // namespace headroom::training
