#pragma once

// Settings for the tests of the planner, written out here so that they do not move with the catalog.

#include "headroom/training/plan.hpp"

#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom::planning {

inline training::Model llama_3_70b() {
    training::Model model;
    model.name = "llama-3-70b";
    model.layers = 80;
    model.hidden = 8192;
    model.heads = 64;
    model.kv_heads = 8;
    model.head_dim = 128;
    model.ffn = 28672;
    model.vocab = 128256;
    model.max_positions = 8192;
    return model;
}

/// About 1.5 billion parameters; heads, layers and batch with several divisors.
inline training::Model small_model() {
    training::Model model;
    model.name = "small";
    model.layers = 24;
    model.hidden = 2048;
    model.heads = 16;
    model.kv_heads = 8;
    model.head_dim = 128;
    model.ffn = 8192;
    model.vocab = 32000;
    model.max_positions = 4096;
    return model;
}

inline Cluster h100_cluster() {
    Cluster cluster;
    cluster.name = "h100";
    cluster.accelerator.name = "h100-sxm";
    cluster.accelerator.vendor = "NVIDIA";
    cluster.accelerator.year = 2022;
    cluster.accelerator.generation = Generation::hopper;
    cluster.accelerator.memory = 80.0 * units::GiB;
    cluster.accelerator.memory_bandwidth = 3350.0 * units::GB / units::s;
    cluster.accelerator.peak.fp32 = 67.0 * units::TFLOP / units::s;
    cluster.accelerator.peak.tf32 = 494.5 * units::TFLOP / units::s;
    cluster.accelerator.peak.fp16 = 989.0 * units::TFLOP / units::s;
    cluster.accelerator.peak.bf16 = 989.0 * units::TFLOP / units::s;
    cluster.accelerator.peak.fp8 = 1979.0 * units::TFLOP / units::s;
    cluster.accelerator.units = 132;
    cluster.accelerator.scale_up_bandwidth = 450.0 * units::GB / units::s;
    cluster.accelerator.scale_up_domain = 8;
    cluster.accelerators_per_node = 8;
    cluster.domain = 8;
    cluster.scale_up = {1.9 * units::us, 450.0 * units::GB / units::s};
    cluster.scale_out = {5.0 * units::us, 50.0 * units::GB / units::s};
    cluster.scale_up_name = "nvlink4";
    cluster.scale_out_name = "infiniband-ndr";
    cluster.price = 2.5 * units::dollar / units::hour;
    return cluster;
}

inline training::Framework megatron() {
    training::Framework framework;
    framework.name = "megatron-core";
    framework.title = "Megatron Core";
    framework.year = 2024;
    framework.attention = training::AttentionKernel::flash3;
    framework.pads_vocabulary = true;
    framework.tensor_overlap = true;
    framework.sequence_parallel = true;
    framework.interleaves = true;
    framework.recompute = training::Recompute::none;
    return framework;
}

/// Round values of the right size: the tests ask how the planner uses them, not whether they are true.
inline training::CalibrationSet calibration() {
    constexpr std::pair<std::string_view, double> values[]{
        {"gemm_volta", 0.68},
        {"gemm_ampere", 0.78},
        {"gemm_ada", 0.7},
        {"gemm_hopper", 0.72},
        {"gemm_blackwell", 0.64},
        {"gemm_blackwell_ultra", 0.74},
        {"gemm_consumer", 0.85},
        {"gemm_tpu", 0.7},
        {"gemm_cdna", 0.52},
        {"gemm_other", 0.6},
        {"gemm_fp32", 0.9},
        {"power_exponent", 0.35},
        {"untuned_exponent", 0.1},
        {"nvfp4", 0.8},
        {"grouped_gemm", 0.85},
        {"attention_ampere", 0.62},
        {"attention_hopper", 0.68},
        {"attention_consumer", 0.5},
        {"attention_tpu", 0.5},
        {"attention_other", 0.45},
        {"attention_half_length", 600.0},
        {"flash1_factor", 0.7},
        {"flash1_hopper", 0.4},
        {"flash2_hopper", 0.5},
        {"attention_backward", 0.8},
        {"attention_small_head", 0.88},
        {"unfused_passes", 4.0},
        {"unfused_gemm", 0.6},
        {"memory_fraction", 0.85},
        {"bytes_elementwise", 1.4},
        {"fused_bytes", 0.75},
        {"bytes_logit", 44.0},
        {"scan_bytes", 1.5},
        {"host_eager", 8e-4},
        {"host_modern", 1.5e-4},
        {"host_launch", 1.2e-5},
        {"host_gather", 2.5e-4},
        {"host_unaligned", 1.2},
        {"kernel_gap", 2.5e-5},
        {"host_experts", 8e-4},
        {"nvlink_volta", 0.8},
        {"nvlink_ampere", 0.78},
        {"nvlink_hopper", 0.78},
        {"nvlink_blackwell", 0.72},
        {"pcie", 0.7},
        {"host_path", 7e9},
        {"other_scale_up", 0.7},
        {"scale_out", 0.8},
        {"base_latency", 1.4e-5},
        {"tensor_exposed", 0.45},
        {"gradients_exposed_old", 0.8},
        {"gradients_exposed", 0.15},
        {"shard_overlap_loss", 0.2},
        {"unbucketed_traffic", 2.0},
        {"experts_exposed", 0.6},
        {"accumulate_bytes", 6.0},
        {"optimizer_traffic", 28.0},
        {"host_update", 0.15},
        {"step_overhead", 0.015},
        {"rank_spread", 0.02},
    };
    static_assert(std::size(values) == training::constant_count);
    training::CalibrationSet set;
    for (auto const& [key, value] : values) {
        set.constant.at(static_cast<std::size_t>(training::constant_from(key).value())).value =
            value; // throws on a stale key
    }
    set.bands = {{training::Extrapolation::seen, {.low = 0.8, .high = 1.25}},
                 {training::Extrapolation::assumed, {.low = 0.65, .high = 1.5}}};
    return set;
}

/// A plan of the small model over a few sizes: a batch of 64, so that the curve bends early.
inline training::PlanQuestion small_question() {
    training::PlanQuestion question;
    question.model = small_model();
    question.cluster = h100_cluster();
    question.framework = megatron();
    question.workload = {.sequence_length = 4096, .global_batch = 64};
    question.space.workers = {1, 2, 4, 8, 16, 32, 64, 128, 256};
    question.tokens = 30e9;
    return question;
}

inline training::PlanQuestion llama_question() {
    training::PlanQuestion question;
    question.model = llama_3_70b();
    question.cluster = h100_cluster();
    question.framework = megatron();
    question.workload = {.sequence_length = 8192, .global_batch = 1024};
    question.space.workers = {8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096};
    question.tokens = 2e12;
    return question;
}

/// A search and what it was asked.
struct Asked {
    explicit Asked(training::PlanQuestion asked) : question{std::move(asked)} {}
    [[nodiscard]] training::StepSetting setting() const {
        return {question.model, question.cluster, question.framework, constants, question.workload};
    }
    [[nodiscard]] std::vector<training::SearchResult> search(int top = 1) const {
        return headroom::training::search(setting(), question.space, top);
    }
    training::PlanQuestion question;
    training::Calibration constants = calibration().values();
};

} // namespace headroom::planning
