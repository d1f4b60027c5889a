#include "launch/launch_formats.hpp"

#include "headroom/error.hpp"
#include "headroom/io/habit_words.hpp"

#include <algorithm>
#include <array>

namespace headroom::io::launch {

namespace {

using Text = std::string_view;

constexpr Text of_model = "MODEL describes the model";
constexpr Text uneven = "uneven stages are not read: give --layers-per-stage";
constexpr Text of_loading = "threads that load data, mostly: give --workers for accelerators";
constexpr Text of_one_or_all = "of one accelerator or of all: give --micro-batch or --global-batch";
constexpr Text of_script = "means something else in scripts: give it on the command line";
constexpr Text second_file = "a second file: give it with --from, too";
constexpr Text of_deepspeed = "--zero --offload --precision";

std::string lora_modules(Text value) {
    std::string modules{value};
    std::ranges::replace(modules, ',', '+');
    bool const linear = normalised(modules) == "all" || normalised(modules) == "alllinear";
    return "lora:16:" + (linear ? std::string{"linear"} : modules);
}

constexpr std::array shell{
    KeyRow{"--sequence-parallel",
           "--sequence-parallel",
           {},
           [](Text value) { return switch_in(value) == false ? std::string{"off"} : std::string{"on"}; }},
    KeyRow{"--no-sequence-parallel", "--sequence-parallel", {}, [](Text) { return std::string{"off"}; }},
    KeyRow{"--no-gradient-checkpointing", "--recompute", {}, [](Text) { return std::string{"none"}; }},
    KeyRow{"--use-megatron-fsdp", "", "--data-parallel-sharding-strategy says what is sharded"},
    KeyRow{"--use-custom-fsdp", "", "--data-parallel-sharding-strategy says what is sharded"},
    KeyRow{"--recompute-granularity", "--recompute", {}, [](Text value) { return std::string{value}; }},
    KeyRow{"--recompute-method", "", "read with the number of layers"},
    KeyRow{"--recompute-num-layers", "",
           "of uniform recomputation it is the size of a group: all layers are recomputed"},
    KeyRow{"--num-layers", "", of_model},
    KeyRow{"--hidden-size", "", of_model},
    KeyRow{"--ffn-hidden-size", "", of_model},
    KeyRow{"--num-attention-heads", "", of_model},
    KeyRow{"--num-query-groups", "", of_model},
    KeyRow{"--group-query-attention", "", of_model},
    KeyRow{"--max-position-embeddings", "", of_model},
    KeyRow{"--num-experts", "", of_model},
    KeyRow{"--moe-router-topk", "", of_model},
    KeyRow{"--swiglu", "", of_model},
    KeyRow{"--normalization", "", of_model},
    KeyRow{"--position-embedding-type", "", of_model},
    KeyRow{"--untie-embeddings-and-output-weights", "", of_model},
    KeyRow{"#SBATCH --ntasks-per-node", "", "the accelerators of a node are stated elsewhere, or it is 1"},
    KeyRow{"#SBATCH --gres", "", "torchrun states the processes of a node"},
    KeyRow{"#SBATCH --gpus-per-node", "", "torchrun states the processes of a node"},
    KeyRow{"#SBATCH --gpus", "", "torchrun states the processes of a node"},
    KeyRow{"srun --ntasks-per-node", "", "the accelerators of a node are stated elsewhere, or it is 1"},
    KeyRow{"--train-samples", "", "days and dollars need --tokens or steps"},
    KeyRow{"--moe-expert-capacity-factor", "--capacity"},
    KeyRow{"--num-distributed-optimizer-instances", "", "sharding over a part of the replicas: give --shard", nullptr,
           "--shard"},
    KeyRow{"--decoder-first-pipeline-num-layers", "", uneven, nullptr, "--layers-per-stage"},
    KeyRow{"--decoder-last-pipeline-num-layers", "", uneven, nullptr, "--layers-per-stage"},
    KeyRow{"--pipeline-model-parallel-layout", "", uneven, nullptr, "--layers-per-stage"},
    KeyRow{"--deepspeed", "", second_file, nullptr, of_deepspeed},
    KeyRow{"--deepspeed-config", "", second_file, nullptr, of_deepspeed},
    KeyRow{"--deepspeed-config-file", "", second_file, nullptr, of_deepspeed},
    KeyRow{"--use-deepspeed", "", "its stage is in the file of --deepspeed_config_file", nullptr, of_deepspeed},
    KeyRow{"--config-file", "", second_file, nullptr, "--zero --offload --precision --recompute --framework"},
    KeyRow{"--config", "", second_file},
    KeyRow{"--config-name", "", "a second file, whose values are not here"},
    KeyRow{"--fsdp-activation-checkpointing", "gradient-checkpointing"},
    KeyRow{"--fsdp-config", "", second_file, nullptr, "--offload --recompute"},
    KeyRow{"--activation-checkpoint.mode",
           "--recompute",
           {},
           [](Text value) { return value == "selective" ? std::string{"alternate"} : std::string{value}; }},
    KeyRow{"--offload",
           "--offload",
           {},
           [](Text value) { return value.empty() ? std::string{"optimizer"} : std::string{value}; }},
    KeyRow{"--num-train-epochs", "--epochs"},
    KeyRow{"--quantization", "", "how frozen weights are stored: give --base"},
    KeyRow{"--batch-size-training", "--micro-batch"},
    KeyRow{"--lora-target", "--train", {}, lora_modules},
    KeyRow{"--lora-target-modules", "--train", {}, lora_modules},
    KeyRow{"--target-modules", "--train", {}, lora_modules},
    KeyRow{"--train-type", "finetuning-type"},
    KeyRow{"--enable-fsdp", "fsdp"},
    KeyRow{"--use-peft", "finetuning-type", "no LoRA",
           [](Text value) { return switch_in(value) == false ? std::string{} : std::string{"lora"}; }},
    KeyRow{"--multi-gpu", "", "replicas without sharding: the number of processes says how many"},
    KeyRow{"--nproc-per-node", "--accelerators-per-node", "all accelerators of a node",
           [](Text value) { return value == "gpu" || value == "-1" ? std::string{} : std::string{value}; }},
    KeyRow{"--workers", "", of_loading, nullptr, "--workers"},
    KeyRow{"--world-size", "", "processes, or nodes: give --workers", nullptr, "--workers"},
    KeyRow{"--batch-size", "", of_one_or_all, nullptr, "--micro-batch --global-batch"},
    KeyRow{"batch_size", "", of_one_or_all, nullptr, "--micro-batch --global-batch"},
    KeyRow{"--schedule", "", of_script},
    KeyRow{"--train", "", of_script},
    KeyRow{"--base", "", of_script},
    KeyRow{"--servers", "", of_script},
    KeyRow{"--compile", "", of_script},
    KeyRow{"--price", "", of_script},
    KeyRow{"--tokens", "", of_script},
    KeyRow{"mpirun -np", "--workers"},
    KeyRow{"mpirun -N", "--accelerators-per-node"},
    KeyRow{"deepspeed --num_gpus", "--accelerators-per-node"},
    KeyRow{"deepspeed --include", "--accelerators-per-node"},
    KeyRow{"composer -n", "--workers"},
};
constexpr std::array megatron_implied{Implied{"--framework", "megatron-core"},
                                      Implied{"--tp", "1"},
                                      Implied{"--pp", "1"},
                                      Implied{"--virtual-pp", "1"},
                                      Implied{"--cp", "1"},
                                      Implied{"--ep", "1"},
                                      Implied{"--zero", "0"},
                                      Implied{"--recompute", "none"},
                                      Implied{"--sequence-parallel", "off"},
                                      Implied{"--precision", "fp32"},
                                      Implied{"--grad-accum", "1"}};
constexpr std::array trainer_implied{Implied{"--framework", "hf-trainer"},
                                     Implied{"--tp", "1"},
                                     Implied{"--pp", "1"},
                                     Implied{"--cp", "1"},
                                     Implied{"--ep", "1"},
                                     Implied{"--zero", "0"},
                                     Implied{"--precision", "fp32"},
                                     Implied{"--recompute", "none"},
                                     Implied{"--grad-accum", "1"}};
constexpr std::array factory_implied{Implied{"--framework", "llama-factory"},
                                     Implied{"--tp", "1"},
                                     Implied{"--pp", "1"},
                                     Implied{"--cp", "1"},
                                     Implied{"--ep", "1"},
                                     Implied{"--zero", "0"},
                                     Implied{"--recompute", "full"},
                                     Implied{"--grad-accum", "1"}};

/// The last is that of every script.
constexpr std::array all_shell{
    Format{"Megatron-LM script",
           "--tensor-model-parallel-size --pipeline-model-parallel-size --use-distributed-optimizer "
           "--expert-model-parallel-size --context-parallel-size",
           shell, megatron_implied, true, true},
    Format{.name = "LLaMA-Factory command",
           .signs = "--finetuning-type --cutoff-len",
           .rows = shell,
           .implied = factory_implied,
           .words = true,
           .fine_tunes = true},
    Format{.name = "Hugging Face Trainer script",
           .signs = "--per-device-train-batch-size",
           .rows = shell,
           .implied = trainer_implied,
           .words = true},
    Format{"launch script", "", shell, {}, true},
};

} // namespace

std::span<Format const> shell_formats() { return all_shell; }

} // namespace headroom::io::launch
