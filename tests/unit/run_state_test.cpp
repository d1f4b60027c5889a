#include "../../io/src/tables/phrases.hpp"
#include "support/training.hpp"

#include "headroom/io/runs.hpp"

#include <gtest/gtest.h>

#include <string>

namespace headroom::io {

using namespace headroom::training;

namespace {

Question read(std::string const& notes, std::string const& precision = "bf16") {
    std::string const table =
        "id,source_family,arch,model_name,layers,hidden,heads,vocab,seq_len,accelerator,accelerators_total,precision,"
        "global_batch_sequences,micro_batch,dp,tp,pp,activation_recompute,measured_step_seconds,notes\n"
        "X1,someone,dense_transformer,a model of our own,24,2048,16,50304,2048,A100-80GB,1," +
        precision + ",8,1,1,1,1,full,1,\"" + notes + "\"\n";
    auto const run = read_runs(table, "runs.csv", training::catalog()).front();
    EXPECT_TRUE(run.question) << run.skipped_reason;
    return *run.question;
}

TEST(NotedState, OptimizersChangeTheBytesOfAParameter) {
    auto const usual = read("AdamW").framework;
    EXPECT_EQ(usual.optimizer_bytes, read("").framework.optimizer_bytes);
    // a 32-bit master copy, and two moments of a byte with their scales
    EXPECT_DOUBLE_EQ(read("8-bit Adam; eager").framework.optimizer_bytes, 4.0 + 2.03);
    EXPECT_DOUBLE_EQ(read("eager; Adafactor instead of AdamW").framework.optimizer_bytes, 4.0 + 0.01);
    EXPECT_DOUBLE_EQ(read("trained without Adafactor").framework.optimizer_bytes, usual.optimizer_bytes);
    EXPECT_DOUBLE_EQ(read("AdamW instead of Adafactor").framework.optimizer_bytes, usual.optimizer_bytes);
    EXPECT_DOUBLE_EQ(read("a million rebellions").framework.optimizer_bytes, usual.optimizer_bytes);
}

TEST(NotedState, PureSixteenBitsHaveNoMasterCopy) {
    auto const pure = read("weights, gradients and AdamW states in bf16 (8 bytes a parameter)").framework;
    EXPECT_DOUBLE_EQ(pure.parameter_bytes, 2.0);
    EXPECT_DOUBLE_EQ(pure.gradient_bytes, 2.0);
    EXPECT_DOUBLE_EQ(pure.optimizer_bytes, 4.0);
    EXPECT_DOUBLE_EQ(read("LoRA; pure_bf16").framework.parameter_bytes, 2.0);
    EXPECT_EQ(read("not pure bf16").framework.optimizer_bytes, read("").framework.optimizer_bytes);
}

TEST(NotedState, AdaptersLieOnTheStatedBase) {
    EXPECT_EQ(read("QLoRA rank 8").framework.frozen, FrozenFormat::nf4);
    EXPECT_EQ(read("Q-LoRA (int4 GPTQ base, fp16 compute)").framework.frozen, FrozenFormat::int4);
    EXPECT_EQ(read("LoRA rank 8", "bf16 (int8 base)").framework.frozen, FrozenFormat::int8);
    EXPECT_EQ(read("LoRA rank 8").framework.frozen, FrozenFormat::sixteen_bit);
    EXPECT_EQ(read("full; the QLoRA rows need 5 GB").framework.frozen, read("").framework.frozen);
}

TEST(NotedState, AdaptersAreOnTheStatedProjections) {
    auto const modules = [](std::string const& notes) { return read(notes).strategy.adapter_modules; };
    EXPECT_EQ(modules("LoRA rank 16 q,k,v,o"), adapter_module::attention);
    EXPECT_EQ(modules("LoRA rank 32 q,v"), adapter_module::query | adapter_module::value);
    EXPECT_EQ(modules("LoRA rank 8 all linear"), adapter_module::linear);
    EXPECT_EQ(modules("LoRA rank 8 on the attention input projection"),
              adapter_module::query | adapter_module::key | adapter_module::value);
    EXPECT_EQ(modules("LoRA (emb): embedding and output layer trained too, all attention and MLP projections"),
              adapter_module::linear | adapter_module::tables);
}

TEST(Phrases, AreWholeAndNotDenied) {
    EXPECT_TRUE(states_phrase("with lora, rank 8", "lora"));
    EXPECT_FALSE(states_phrase("exploratory", "lora"));
    EXPECT_FALSE(states_phrase("non-lora", "lora"));
    EXPECT_FALSE(states_phrase("adamw instead of lion", "lion"));
    EXPECT_TRUE(states_phrase("no lora, then lora", "lora")) << "the second one is not denied";
    EXPECT_TRUE(states_phrase("casino lora", "lora")) << "only a whole word denies";
    EXPECT_EQ(clauses_of("One; two |three"), (std::vector<std::string>{"one", "two ", "three"}));
}

} // namespace
} // namespace headroom::io
