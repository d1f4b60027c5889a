#include "launch/other_formats.hpp"

#include "headroom/io/habit_words.hpp"

#include <array>

namespace headroom::io::launch {

namespace {

using Text = std::string_view;

std::string precision(Text value) {
    return value == "bfloat16" ? "bf16" : value == "float16" || value == "16" ? "fp16" : std::string{value};
}
std::string offload(Text value) { return switch_in(value).value_or(false) ? std::string{"parameters"} : std::string{}; }

constexpr std::array neox{
    KeyRow{"pipe_parallel_size",
           "--pp",
           {},
           [](Text value) { return value == "0" ? std::string{"1"} : std::string{value}; }},
    KeyRow{"model_parallel_size", "--tp"},
    KeyRow{"train_micro_batch_size_per_gpu", "--micro-batch"},
    KeyRow{"train_batch_size", "--global-batch"},
    KeyRow{"gradient_accumulation_steps", "--grad-accum"},
    KeyRow{"seq_length", "--sequence-length"},
    KeyRow{"zero_optimization.stage", "--zero"},
    KeyRow{"zero_optimization.cpu_offload",
           "--offload",
           {},
           [](Text value) { return switch_in(value).value_or(false) ? std::string{"optimizer"} : std::string{}; }},
    KeyRow{"fp16.enabled", "fp16"},
    KeyRow{"bf16.enabled", "bf16"},
    KeyRow{"precision", "--precision", {}, precision},
    KeyRow{"checkpoint_activations", "gradient-checkpointing"},
    KeyRow{"checkpoint_num_layers", "", "size of a group: all layers are recomputed"},
    KeyRow{"optimizer.type", "--optimizer"},
    KeyRow{"train_iters", "--steps"},
    KeyRow{"zero_optimization.*", "", "tunes buckets and pinning, which are not modelled"},
};
constexpr std::array neox_implied{Implied{"--framework", "gpt-neox"},
                                  Implied{"--tp", "1"},
                                  Implied{"--pp", "1"},
                                  Implied{"--cp", "1"},
                                  Implied{"--ep", "1"},
                                  Implied{"--zero", "0"},
                                  Implied{"--recompute", "none"},
                                  Implied{"--precision", "fp32"},
                                  Implied{"--grad-accum", "1"}};

constexpr std::array torchtune{
    KeyRow{"batch_size", "--micro-batch"},
    KeyRow{"gradient_accumulation_steps", "--grad-accum"},
    KeyRow{"enable_activation_checkpointing", "gradient-checkpointing"},
    KeyRow{"enable_activation_offloading", "activation-offload"},
    KeyRow{"fsdp_cpu_offload", "--offload", "nothing is offloaded", offload},
    KeyRow{"tensor_parallel_dim", "--tp"},
    KeyRow{"dtype", "dtype"},
    KeyRow{"tokenizer.max_seq_len", "--sequence-length"},
    KeyRow{"max_steps_per_epoch", "--steps"},
    KeyRow{"model.lora_rank", "lora-rank"},
    KeyRow{"epochs", "--epochs"},
    KeyRow{"device", "", "it names no machine"},
    KeyRow{"tune", "", "a recipe is a second file: what it sets is not here", nullptr,
           "--micro-batch --grad-accum --recompute --precision --train"},
};
constexpr std::array torchtune_implied{Implied{"--framework", "torchtune"},
                                       Implied{"--tp", "1"},
                                       Implied{"--pp", "1"},
                                       Implied{"--cp", "1"},
                                       Implied{"--ep", "1"},
                                       Implied{"--zero", "3"},
                                       Implied{"--recompute", "none"},
                                       Implied{"--grad-accum", "1"}};

} // namespace

Format neox_format() {
    return Format{.name = "GPT-NeoX configuration",
                  .signs = "pipe_parallel_size model_parallel_size pipe-parallel-size model-parallel-size",
                  .rows = neox,
                  .implied = neox_implied,
                  .words = true};
}
Format torchtune_format() {
    return Format{.name = "torchtune YAML",
                  .signs = "model._component_ tokenizer._component_ enable_activation_checkpointing tune",
                  .rows = torchtune,
                  .implied = torchtune_implied,
                  .words = true};
}

} // namespace headroom::io::launch
