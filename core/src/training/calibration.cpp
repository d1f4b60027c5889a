#include "headroom/training/calibration.hpp"

#include <algorithm>
#include <iterator>

namespace headroom::training {
namespace {

using enum Constant;

constexpr std::array<ConstantInfo, constant_count> constant_infos{{
    {gemm_volta, "gemm_volta", "sustained fraction of dense peak, large 16-bit product, Volta", "ratio"},
    {gemm_ampere, "gemm_ampere", "sustained fraction of dense peak, large 16-bit product, Ampere", "ratio"},
    {gemm_ada, "gemm_ada", "sustained fraction of dense peak, large 16-bit product, Ada data-centre parts", "ratio"},
    {gemm_hopper, "gemm_hopper", "sustained fraction of dense peak, large 16-bit product, Hopper", "ratio"},
    {gemm_blackwell, "gemm_blackwell", "sustained fraction of dense peak, large 16-bit product, Blackwell", "ratio"},
    {gemm_blackwell_ultra, "gemm_blackwell_ultra",
     "sustained fraction of dense peak, large 16-bit product, Blackwell Ultra", "ratio"},
    {gemm_consumer, "gemm_consumer", "sustained fraction of dense peak, large 16-bit product, GeForce and RTX parts",
     "ratio"},
    {gemm_tpu, "gemm_tpu", "sustained fraction of dense peak, large 16-bit product, TPU", "ratio"},
    {gemm_cdna, "gemm_cdna", "sustained fraction of dense peak, large 16-bit product, AMD Instinct", "ratio"},
    {gemm_other, "gemm_other", "sustained fraction of dense peak, large 16-bit product, any other chip", "ratio"},
    {gemm_fp32, "gemm_fp32", "sustained fraction of the 32-bit peak of a large product outside the tensor units",
     "ratio"},
    {power_exponent, "power_exponent",
     "exponent of a part's power over that of the part its generation is known by, in its sustained rate", "ratio"},
    {untuned_exponent, "untuned_exponent",
     "exponent of an A100's peak over a faster chip's, in what that sustains in software that nobody tuned", "ratio"},
    {nvfp4, "nvfp4", "NVFP4 product: fraction of its peak over the 16-bit fraction", "ratio"},
    {grouped_gemm, "grouped_gemm", "products of the experts of a rank in one launch: rate over one product's", "ratio"},
    {attention_ampere, "attention_ampere", "asymptotic fraction of 16-bit peak of fused attention, Ampere", "ratio"},
    {attention_hopper, "attention_hopper",
     "asymptotic fraction of 16-bit peak of fused attention, Hopper and Blackwell", "ratio"},
    {attention_consumer, "attention_consumer",
     "asymptotic fraction of 16-bit peak of fused attention, GeForce and RTX parts", "ratio"},
    {attention_tpu, "attention_tpu", "asymptotic fraction of 16-bit peak of fused attention, TPU", "ratio"},
    {attention_other, "attention_other", "asymptotic fraction of 16-bit peak of fused attention, any other chip",
     "ratio"},
    {attention_half_length, "attention_half_length",
     "sequence length at which fused attention reaches half its asymptote", "tokens"},
    {flash1_factor, "flash1_factor",
     "rate of first-generation fused attention over the chip's best kernel, before Hopper", "ratio"},
    {flash1_hopper, "flash1_hopper",
     "rate of first-generation fused attention over the chip's best kernel, Hopper and later", "ratio"},
    {flash2_hopper, "flash2_hopper", "rate of FlashAttention-2 over the chip's best kernel, Hopper and later", "ratio"},
    {attention_backward, "attention_backward", "efficiency of the fused backward pass over the forward pass", "ratio"},
    {attention_small_head, "attention_small_head", "efficiency of fused attention with head dimension up to 80",
     "ratio"},
    {unfused_passes, "unfused_passes", "16-bit passes over the score matrix that unfused attention makes, forward",
     "passes"},
    {unfused_gemm, "unfused_gemm", "batched score products: fraction of the large-product rate", "ratio"},
    {memory_fraction, "memory_fraction", "sustained fraction of memory bandwidth", "ratio"},
    {bytes_elementwise, "bytes_elementwise",
     "element-wise traffic of norms, layouts and activations over its counted minimum", "ratio"},
    {fused_bytes, "fused_bytes", "element-wise traffic of frameworks with fused kernels over eager ones", "ratio"},
    {bytes_logit, "bytes_logit", "bytes moved for each logit by the loss, forward and backward", "bytes"},
    {scan_bytes, "scan_bytes", "traffic of state-space scans and their convolutions over its counted minimum", "ratio"},
    {host_eager, "host_eager", "CPU time to launch one layer's forward pass, eager frameworks of 2021-22", "seconds"},
    {host_modern, "host_modern", "CPU time to launch one layer's forward pass, later frameworks", "seconds"},
    {host_launch, "host_launch", "time to issue a kernel from Python, on a host of 2019", "seconds"},
    {host_gather, "host_gather", "time of the host to gather and free a part of a block, ZeRO-3, on a host of 2019",
     "seconds"},
    {host_unaligned, "host_unaligned", "CPU launch time without the fused softmax kernel over that with it", "ratio"},
    {kernel_gap, "kernel_gap", "idle time between kernels of one layer's forward pass, serving", "seconds"},
    {host_experts, "host_experts", "CPU time to route one layer's tokens to experts, forward", "seconds"},
    {nvlink_volta, "nvlink_volta", "bus bandwidth of large collectives over NVLink rate, Volta", "ratio"},
    {nvlink_ampere, "nvlink_ampere", "bus bandwidth of large collectives over NVLink rate, Ampere", "ratio"},
    {nvlink_hopper, "nvlink_hopper", "bus bandwidth of large collectives over NVLink rate, Hopper", "ratio"},
    {nvlink_blackwell, "nvlink_blackwell", "bus bandwidth of large collectives over NVLink rate, Blackwell", "ratio"},
    {pcie, "pcie", "bus bandwidth of large collectives over PCIe rate", "ratio"},
    {host_path, "host_path",
     "bus bandwidth of large collectives between cards that reach each other through the host's memory",
     "bytes per second"},
    {other_scale_up, "other_scale_up",
     "bus bandwidth of large collectives over the rate of torus, mesh and other scale-up links", "ratio"},
    {scale_out, "scale_out", "bus bandwidth of large collectives over the NIC's rate", "ratio"},
    {base_latency, "base_latency", "time to start a collective", "seconds"},
    {tensor_exposed, "tensor_exposed",
     "exposed share of tensor-parallel collectives, with overlap, and of context-parallel exchange", "ratio"},
    {gradients_exposed_old, "gradients_exposed_old",
     "exposed share of gradient reduction when it runs after the backward pass", "ratio"},
    {gradients_exposed, "gradients_exposed",
     "slowdown of the backward pass by gradient reduction, over the duration of the overlap", "ratio"},
    {shard_overlap_loss, "shard_overlap_loss",
     "slowdown of computation by ZeRO-3 traffic, over the duration of the overlap", "ratio"},
    {unbucketed_traffic, "unbucketed_traffic",
     "measured over computed time of ZeRO-3 traffic in frameworks that send layer by layer without buckets", "ratio"},
    {experts_exposed, "experts_exposed", "exposed share of the all-to-all of tokens to experts", "ratio"},
    {accumulate_bytes, "accumulate_bytes", "bytes moved per local parameter and micro-batch to accumulate gradients",
     "bytes"},
    {optimizer_traffic, "optimizer_traffic", "bytes moved per updated parameter by the optimizer", "bytes"},
    {host_update, "host_update", "update on the host: bandwidth that it reaches over that of the host's memory",
     "ratio"},
    {step_overhead, "step_overhead", "fixed time of a step: data, loss reduction, logging", "seconds"},
    {rank_spread, "rank_spread",
     "standard deviation of a rank's step time over its mean, frameworks with their own kernels and data pipelines",
     "ratio"},
}};

} // namespace

std::string_view name_of(Provenance provenance) {
    switch (provenance) {
    case Provenance::given: return "given";
    case Provenance::measured: return "measured";
    case Provenance::fitted: return "fitted";
    case Provenance::cited: return "cited";
    case Provenance::datasheet: return "datasheet";
    case Provenance::guessed: return "guessed";
    }
    return "guessed";
}

std::optional<Provenance> provenance_from(std::string_view name) {
    for (Provenance const candidate : provenances) {
        if (name == name_of(candidate)) { return candidate; }
    }
    return std::nullopt;
}

std::span<ConstantInfo const> constants() { return constant_infos; }

std::string explain(TermBook& book, Calibration const& constants, Constant id) {
    auto const info = std::ranges::find(constant_infos, id, &ConstantInfo::id);
    book.add(TermKind::constant, std::string{info->key}, std::string{info->unit}, std::string{info->meaning},
             constants[id]);
    return std::string{info->key};
}

std::optional<Constant> constant_from(std::string_view key) {
    auto const found = std::ranges::find(constant_infos, key, &ConstantInfo::key);
    if (found == constant_infos.end()) { return std::nullopt; }
    return found->id;
}

Calibration CalibrationSet::values() const {
    Calibration result;
    for (auto const& info : constant_infos) { result[info.id] = constant[static_cast<std::size_t>(info.id)].value; }
    return result;
}

int free_constants(CalibrationSet const& set) {
    auto const moves = [](CalibratedConstant const& constant) { return constant.spread > 0.0; };
    return static_cast<int>(std::ranges::count_if(set.constant, moves) + std::ssize(set.pace));
}

} // namespace headroom::training
