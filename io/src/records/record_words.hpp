#pragma once

#include "headroom/io/catalog.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// Name of the accelerator, node or optimizer that words mean: "A100 80G" and "NVIDIA A100 80GB HBM2e" are a100-sxm-80gb. Vendors, kinds of
/// memory and a remark in brackets are passed over, a size must be that of its memory, all other words must be those of one
/// name or alias in any order: "RTX 4090 Laptop" and "A100X" are none.
std::optional<std::string> record_in_words(Catalog const& catalog, RecordKind kind, std::string_view text);

/// Accelerator and chips of a slice of TPUs by its name, which counts TensorCores, two a chip, or of v5e and v6e chips: "v5p-128" has
/// 64, "TPU v5litepod-256" 256.
struct TpuSlice {
    std::string accelerator;
    double chips = 0.0;
};
std::optional<TpuSlice> tpu_slice(std::string_view name);

/// Name of the node of which a description holds a name or alias as whole words: "AWS p5.48xlarge, 2 of them".
std::optional<std::string> node_named_in(Catalog const& catalog, std::string_view description);

/// Framework that words mean: "HF Trainer + DeepSpeed ZeRO-3" is hf-deepspeed, "Megatron-LM core_r0.8" megatron-core, "FSDP2
/// (torchtitan 0.1)" torchtitan. None where a word is not understood, or where two frameworks are named.
std::optional<std::string> framework_in_words(Catalog const& catalog, std::string_view text);

/// The one framework that clauses name which say nothing else; empty where none or several are named.
std::string framework_in_clauses(Catalog const& catalog, std::vector<std::string> const& clauses);

} // namespace headroom::io
