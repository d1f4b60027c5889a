#include "headroom/training/host_launches.hpp"

#include "lora_matrices.hpp"

#include "headroom/precision.hpp"
#include "headroom/training/model.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::training {
namespace {

// Kernels of the parts of a block in primitives of PyTorch, counted in the blocks of Transformers.
constexpr double of_rms_norm = 7.0, of_layer_norm = 1.0, of_positions = 10.0;
constexpr double of_fused_core = 3.0; // layout of queries, keys and values; the kernel
constexpr double of_core = 11.0;      // layouts 3, products 2, scale, mask, softmax, conversion, dropout, layout
constexpr double of_gated = 5.0, of_plain = 4.0, of_sum = 1.0;
constexpr double of_casts = 2.0, of_bias_cast = 1.0; // of a matrix and of its input; of a bias
constexpr double of_adapter = 8.0, of_dropout = 2.0; // after attention and feed-forward
constexpr double of_expert = 12.0; // tokens found 3, gathered 2, products and gate 5, scaled, added to their places
// GPTQ: zeros 4, weights 3, subtraction, scale: 9 kernels in two of the three passes of recomputed blocks
constexpr double of_block_quantised = 3.0, of_group_quantised = 6.0;

// Once a micro-batch, kernels of both ends: inputs 6, mask 14, positions and their tables 10, embedding 2, last norm 7,
// projection 3, loss 9; and Python's time, in launches, to fetch and collate the batch, to start a graph and to read the loss.
constexpr double of_ends = 51.0, of_loop = 150.0;

/// Bytes of a logit in a compiled loss: read in 16 bits for the largest one, for the sum and for the gradient, converted
/// on the way (6), the gradient written (2) and read once more to be scaled (2).
constexpr double of_compiled_loss = 10.0;

double norm_launches(Model const& model, Framework const& framework) {
    bool const one = framework.fused_elementwise || model.norm == Normalisation::layer;
    return one ? of_layer_norm : of_rms_norm;
}

/// Matrices of a block: query, key, value, output, and two or three of the feed-forward part.
double matrices(Model const& model, BlockKind const& kind) {
    double const dense = model.feed_forward == FeedForward::gated ? 3.0 : 2.0;
    return (attends(kind.mixer) ? 4.0 : 0.0) + (kind.channel == Channel::dense ? dense : 0.0);
}

double biases(Model const& model, BlockKind const& kind) {
    double const of_attention = (model.qkv_bias ? 3.0 : 0.0) + (model.out_bias ? 1.0 : 0.0);
    double const of_channel = model.feed_forward == FeedForward::gated ? 3.0 : 2.0;
    return (attends(kind.mixer) ? of_attention : 0.0) +
           (kind.channel == Channel::dense && model.mlp_bias ? of_channel : 0.0);
}

double dequantisation_launches(FrozenFormat format) {
    switch (format) {
    case FrozenFormat::sixteen_bit: return 0.0;
    case FrozenFormat::int4: return of_group_quantised;
    case FrozenFormat::int8:
    case FrozenFormat::nf4: break;
    }
    return of_block_quantised;
}

} // namespace

Framework with_kernels(Framework framework, KernelChoice const& choice) {
    if (choice.compiled && framework.compiled && *choice.compiled != *framework.compiled) {
        framework.compiled = choice.compiled;
        framework.host = *choice.compiled ? HostPace::modern : HostPace::eager;
        framework.fused_elementwise = *choice.compiled;
        framework.loss_bytes = *choice.compiled ? of_compiled_loss : 0.0;
        if (*choice.compiled) {
            framework.logit_copy_bytes = std::min(framework.logit_copy_bytes, framework.compiled_copy_bytes);
        }
    }
    framework.fused_elementwise = choice.fused.value_or(framework.fused_elementwise);
    if (choice.fused == false && framework.host == HostPace::modern) { framework.host = HostPace::eager; }
    framework.attention = choice.attention.value_or(framework.attention);
    framework.fp8_recipe = choice.fp8_recipe.value_or(framework.fp8_recipe);
    return framework;
}

double dequantised_bytes(Framework const& framework) {
    switch (framework.frozen) {
    case FrozenFormat::sixteen_bit: return 0.0;
    case FrozenFormat::int4: return 16.5;
    case FrozenFormat::int8:
    case FrozenFormat::nf4: break;
    }
    return 3.0;
}

bool keeps_dequantised(Framework const& framework) { return framework.frozen == FrozenFormat::int4; }

double update_share(Framework const& framework) {
    constexpr double separate = (20.0 + 3.0) / (7.0 + 3.0);
    return framework.updated_bytes * (framework.foreach_update ? separate : 1.0);
}

double forward_launches(Model const& model, BlockKind const& kind, LayerShape const& shape,
                        Framework const& framework) {
    double const norm = norm_launches(model, framework) + of_sum;
    double launches = 0.0;
    if (attends(kind.mixer)) {
        bool const rotates = model.positions == Positions::rotary;
        double const positions = !rotates ? 0.0 : framework.fused_elementwise ? 2.0 : of_positions;
        launches +=
            norm + 4.0 + positions + (framework.attention == AttentionKernel::unfused ? of_core : of_fused_core);
    } else if (kind.mixer != Mixer::none) {
        launches += norm + 4.0 + of_core; // of a scan as many as of a core
    }
    if (kind.channel != Channel::none) {
        bool const gated = model.feed_forward == FeedForward::gated;
        bool const in_turn = kind.channel == Channel::experts && in_primitives(framework); // one expert after the other
        launches += norm + (gated ? of_gated : of_plain) - (framework.fused_elementwise ? 1.0 : 0.0) +
                    (in_turn ? of_expert * model.moe.experts : 0.0);
    }
    if (framework.dropout) { launches += of_dropout; }
    bool const autocast = autocasts(framework, shape.precision);
    if (shape.trained != Trained::lora) {
        double const casts = of_casts * matrices(model, kind) + of_bias_cast * biases(model, kind);
        return launches + (autocast ? casts : 0.0);
    }
    double const adapted = static_cast<double>(adapted_matrices(model, kind, shape.adapter_modules).size());
    double const scaled = trains_magnitudes(shape.trained, shape.adapter_modules) ? magnitude_cost::launches : 0.0;
    return launches + (of_adapter + scaled) * adapted +
           dequantisation_launches(framework.frozen) * matrices(model, kind);
}

double launches_between_blocks() { return of_ends + of_loop; }

bool in_primitives(Framework const& framework) {
    return framework.host == HostPace::eager && !framework.fused_elementwise;
}

double elementwise_factor(Framework const& framework, Calibration const& constants) {
    return framework.fused_elementwise ? constants[Constant::fused_bytes] : 1.0;
}

std::string explain_elementwise(TermBook& book, Framework const& framework, Calibration const& constants) {
    return framework.fused_elementwise ? " * " + explain(book, constants, Constant::fused_bytes) : std::string{};
}

bool autocasts(Framework const& framework, Precision precision) {
    bool const narrowed_in_gathers = framework.zero == 3 && !framework.gathers_wide;
    return framework.parameter_bytes > element_bytes(precision) && !narrowed_in_gathers;
}

double update_launches(Model const& model, Framework const& framework, Precision precision) {
    if (framework.update_launches <= 0.0 || precision != Precision::fp16) { return 0.0; }
    double const norms = model.norms_per_layer * (model.norm_bias ? 2.0 : 1.0);
    double tensors = 0.0;
    for (auto const& run : block_runs(model)) {
        tensors += run.count * (norms + matrices(model, run.kind) + biases(model, run.kind));
    }
    return framework.update_launches * tensors;
}

double launch_cost(int host_year) {
    constexpr double yearly = 1.06;
    constexpr int reference = 2019, oldest = 2014, newest = 2030;
    return std::pow(yearly, reference - std::clamp(host_year, oldest, newest));
}

} // namespace headroom::training
