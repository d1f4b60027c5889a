// Words of people for accelerators, nodes, optimizers and frameworks, and the record meant.

#include "records/record_words.hpp"
#include "support/training.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace headroom::io {
namespace {

std::string chip(std::string_view words) {
    return record_in_words(training::catalog(), RecordKind::accelerator, words).value_or("");
}

TEST(RecordWords, AcceleratorsInAnyOrderWithVendorsAndSizes) {
    for (auto const& [words, name] : {
             std::pair{"A100 80G", "a100-sxm-80gb"},
             std::pair{"NVIDIA A100 40GB PCIE", "a100-pcie-40gb"},
             std::pair{"H100 SXM5 80GB HBM3", "h100-sxm-80gb"},
             std::pair{"RTX 4090 24G", "rtx-4090"},
             std::pair{"H100 80GB HBM2e", "h100-pcie-80gb"},
             std::pair{"H100 64GB HBM2e", "h100-sxm-64gb"},
             std::pair{"RTX A6000 48GB", "rtx-a6000"},
             std::pair{"Gaudi2 HL-225H", "gaudi2"},
             std::pair{"T4 (Colab)", "t4"},
             std::pair{"H20-141G", "h20-141gb"},
             std::pair{"A100-SXM-64GB (Leonardo)", "a100-sxm-64gb"},
             std::pair{"NVIDIA B200 180GB HBM3e", "b200-sxm-180gb"},
         }) {
        EXPECT_EQ(chip(words), name) << words;
    }
}

/// A word or a size that no record has makes it another part.
TEST(RecordWords, OtherPartsAreNone) {
    for (auto const* words : {"RTX 4090 Laptop", "RTX 4090 (Laptop)", "A100X", "H100 CNX", "Ascend 910B", "A100 24GB",
                              "H100 94GB", "V100 80GB", "M2 Ultra", "", "GPU", "8", "H100 (half, MIG)",
                              "RTX 4090 (notebook)", "H100 (4 nodes)", "TPU v5", "H100 SXM 80GB HBM2e"}) {
        EXPECT_EQ(chip(words), "") << words;
    }
}

TEST(RecordWords, SizesBeyondAllNumbers) { EXPECT_EQ(chip("A100 " + std::string(400, '9') + " GB"), ""); }

TEST(RecordWords, NodesInDescriptions) {
    auto const& catalog = training::catalog();
    EXPECT_EQ(node_named_in(catalog, "2 of ml p5.48xlarge, spot"), "aws-p5");
    EXPECT_EQ(node_named_in(catalog, "a cluster of somebody"), std::nullopt);
    EXPECT_EQ(record_in_words(catalog, RecordKind::node, "DGX H100"), "dgx-h100");
}

TEST(RecordWords, Optimizers) {
    auto const optimizer = [](std::string_view words) {
        return record_in_words(training::catalog(), RecordKind::optimizer, words).value_or("");
    };
    EXPECT_EQ(optimizer("AdamW (fused)"), "adamw");
    EXPECT_EQ(optimizer("8-bit AdamW"), "adamw-8bit");
    EXPECT_EQ(optimizer("Apex FusedAdam"), "adamw");
    EXPECT_EQ(optimizer("Sophia"), "");
}

TEST(RecordWords, Frameworks) {
    for (auto const& [words, name] : {
             std::pair{"HF Trainer + DeepSpeed ZeRO-3 offload", "hf-deepspeed"},
             std::pair{"Hugging Face Transformers 4.44 with FSDP", "hf-fsdp"},
             std::pair{"FSDP2 (torchtitan 0.1)", "torchtitan"},
             std::pair{"Megatron-LM core_r0.8", "megatron-core"},
             std::pair{"NVIDIA NeMo 24.07", "megatron-core"},
             std::pair{"LLaMA-Factory v0.9", "llama-factory"},
             std::pair{"Megatron + DeepSpeed", "megatron-deepspeed"},
             std::pair{"optimum-habana 1.14", "optimum-habana"},
             std::pair{"PyTorch 2.4", "pytorch"},
             std::pair{"HF Trainer (no FSDP)", "hf-trainer"},
             std::pair{"Megatron-LM without DeepSpeed", "megatron-core"},
             std::pair{"deepspeed-zero", "deepspeed-zero"},
             std::pair{"axolotl + torchtune", ""}, // one of two
             std::pair{"MindSpeed", ""},
             std::pair{"JAX-like thing", ""},
             std::pair{"", ""},
         }) {
        EXPECT_EQ(framework_in_words(training::catalog(), words).value_or(""), name) << words;
    }
}

} // namespace
} // namespace headroom::io
