#include "launch/launch_finish.hpp"
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

/// Options that another file of settings may set.
constexpr Text of_settings = "--zero --offload --precision --recompute "
                             "--sequence-parallel --micro-batch --grad-accum --global-batch --train --base";

std::string colossal_stage(Text value) {
    std::string const name = normalised(value);
    if (name.starts_with("gemini") || name == "torchfsdp" || name == "fsdp") { return "3"; }
    if (name.starts_with("zero1") || name.starts_with("zero2")) { return name.substr(4, 1); }
    return name == "torchddp" || name == "ddp" ? "0" : std::string{};
}
/// Items of "0,1,2,3"; a number is their number.
std::string counted_list(Text value) {
    auto const items = 1 + std::ranges::count(value, ',');
    return items > 1 || value == "0" ? std::to_string(items) : std::string{value};
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
    KeyRow{"--num-distributed-optimizer-instances", "--shard", "one instance shards over all replicas",
           [](Text value) { return value == "1" ? std::string{} : "dp/" + std::string{value}; }},
    KeyRow{"--decoder-first-pipeline-num-layers", "", uneven, nullptr, "--layers-per-stage"},
    KeyRow{"--decoder-last-pipeline-num-layers", "", uneven, nullptr, "--layers-per-stage"},
    KeyRow{"--pipeline-model-parallel-layout", "", uneven, nullptr, "--layers-per-stage", true},
    KeyRow{"--encoder-seq-length", "--sequence-length"},
    KeyRow{"--update-freq", "--grad-accum"}, // of fairseq, as those below
    KeyRow{"--tokens-per-sample", "--sequence-length"},
    KeyRow{"--distributed-world-size", "--workers"},
    KeyRow{"fairseq --max-tokens", "", "tokens of a batch: give --micro-batch", nullptr, "--micro-batch", true},
    KeyRow{"--max-sentences", "--micro-batch"},
    KeyRow{"--checkpoint-activations", "gradient-checkpointing"},
    KeyRow{"--max-update", "--steps"},
    KeyRow{"--memory-efficient-fp16", "fp16"},
    KeyRow{"--memory-efficient-bf16", "bf16"},
    KeyRow{"--ddp-backend", "", "replicas without sharding"},
    KeyRow{"--deepspeed", "", second_file, nullptr, of_deepspeed},
    KeyRow{"--deepspeed-config", "", second_file, nullptr, of_deepspeed},
    KeyRow{"--deepspeed-config-file", "", second_file, nullptr, of_deepspeed},
    KeyRow{"--use-deepspeed", "", "its stage is in the file of --deepspeed_config_file", nullptr, of_deepspeed},
    KeyRow{"--config-file", "", second_file, nullptr, "--zero --offload --precision --recompute --framework"},
    KeyRow{"--config", "", second_file, nullptr, of_settings},
    KeyRow{"--config-name", "", "a second file, whose values are not here", nullptr, of_settings},
    KeyRow{"tune --config", "", second_file},
    KeyRow{"--fsdp-activation-checkpointing", "gradient-checkpointing"},
    KeyRow{"--fsdp-offload-params", "--offload", "nothing is offloaded",
           [](Text value) { return switch_in(value) == false ? std::string{} : std::string{"parameters"}; }},
    KeyRow{"--fsdp-reshard-after-forward", "--zero", "full sharding is the default",
           [](Text value) { return switch_in(value) == false ? std::string{"2"} : std::string{}; }},
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
    KeyRow{"--lora-target", "--train", {}, lora_targets},
    KeyRow{"--lora-target-modules", "--train", {}, lora_targets},
    KeyRow{"--target-modules", "--train", {}, lora_targets},
    KeyRow{"--train-type", "finetuning-type"},
    KeyRow{"--enable-fsdp", "fsdp"},
    KeyRow{"--use-peft", "finetuning-type"},
    KeyRow{"--multi-gpu", "", "replicas without sharding: the number of processes says how many"},
    KeyRow{"--nproc-per-node", "--accelerators-per-node", "all accelerators of a node",
           [](Text value) { return value == "gpu" || value == "-1" ? std::string{} : std::string{value}; }},
    KeyRow{"--workers", "", of_loading, nullptr, "--workers"},
    KeyRow{"--world-size", "", "processes, or nodes: give --workers", nullptr, "--workers"},
    KeyRow{"--batch-size", "", of_one_or_all, nullptr, "--micro-batch --global-batch", true},
    KeyRow{"batch_size", "", of_one_or_all, nullptr, "--micro-batch --global-batch", true},
    KeyRow{"accelerate --train-batch-size", "--micro-batch"}, // of the loader of each process
    KeyRow{"accelerate --train_batch_size", "--micro-batch"},
    KeyRow{"torchrun --batch-size", "--micro-batch"},
    KeyRow{"torchrun --batch_size", "--micro-batch"},
    KeyRow{"--use-habana", "--framework"},
    KeyRow{"--sharding", "--zero", "no sharding", paddle_stage},
    KeyRow{"--recompute", "gradient-checkpointing"},
    KeyRow{"--plugin", "--zero", "the plugin shards nothing", colossal_stage},
    KeyRow{"--additional-target", "--train", "no tables are trained", trained_tables},
    KeyRow{"--modules-to-save", "--train", "no tables are trained", trained_tables},
    KeyRow{"paddle --gpus", "--accelerators-per-node", {}, counted_list},
    KeyRow{"gaudi_spawn --world_size", "--workers"},
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
    KeyRow{"llm.c -b", "--micro-batch"},
    KeyRow{"llm.c -t", "--sequence-length"},
    KeyRow{"llm.c -d", "--global-batch", {}, [](Text value) { return std::string{value} + " tokens"; }},
    KeyRow{"llm.c -z", "--zero"},
    KeyRow{"llm.c -r", "", "recomputes activation functions, which is not modelled"},
};
constexpr Text megatron_implied = "--framework megatron-core --tp 1 --pp 1 --virtual-pp 1 --cp 1 --ep 1 --zero 0 "
                                  "--recompute none --sequence-parallel off --precision fp32 --grad-accum 1";

/// The last is that of every script.
constexpr std::array all_shell{
    Format{"Megatron-LM script",
           "--tensor-model-parallel-size --pipeline-model-parallel-size --use-distributed-optimizer "
           "--expert-model-parallel-size --context-parallel-size",
           shell, megatron_implied, true, true, false, false, finish_swift_megatron},
    Format{.name = "ms-swift command",
           .signs = {},
           .rows = shell,
           .implied = "--framework ms-swift --tp 1 --pp 1 --cp 1 --ep 1 --zero 0 --recompute full --micro-batch 1",
           .words = true,
           .fine_tunes = true,
           .finish = finish_swift,
           .programs = "swift"},
    Format{.name = "fairseq command",
           .signs = "--tokens-per-sample --update-freq",
           .rows = shell,
           .implied = "--framework pytorch --tp 1 --pp 1 --cp 1 --ep 1 --zero 0 --recompute none --precision fp32 "
                      "--grad-accum 1",
           .words = true,
           .finish = finish_fairseq,
           .programs = "fairseq-train"},
    Format{.name = "llm.c command",
           .signs = {},
           .rows = shell,
           .implied = "--framework llm-c --tp 1 --pp 1 --cp 1 --ep 1 --zero 0 --precision bf16 --micro-batch 4 "
                      "--sequence-length 1024",
           .words = true,
           .programs = "train_gpt2cu train_gpt2fp32cu train_llama3cu"},
    Format{.name = "Colossal-AI command",
           .signs = {},
           .rows = shell,
           .implied = "--framework colossalai --tp 1 --pp 1 --cp 1 --ep 1 --recompute none --grad-accum 1",
           .words = true,
           .programs = "colossalai"},
    Format{.name = "OpenRLHF command",
           .signs = {},
           .rows = shell,
           .implied = "--framework deepspeed-zero --tp 1 --pp 1 --cp 1 --ep 1 --zero 2 --recompute none",
           .words = true,
           .programs = "openrlhf.cli.train_sft"},
    Format{.name = "XTuner command",
           .signs = {},
           .rows = shell,
           .implied = "--framework xtuner --tp 1 --pp 1 --cp 1 --ep 1",
           .words = true,
           .programs = "xtuner"},
    Format{.name = "PaddleNLP command",
           .signs = "--sharding --tensor-parallel-degree --sharding-parallel-degree",
           .rows = shell,
           .implied = paddle_defaults,
           .words = true},
    Format{.name = "optimum-habana script",
           .signs = "--use-habana",
           .rows = shell,
           .implied = trainer_defaults,
           .words = true},
    Format{.name = "LLaMA-Factory command",
           .signs = "--finetuning-type",
           .rows = shell,
           .implied = factory_defaults,
           .words = true,
           .fine_tunes = true,
           .finish = finish_llama_factory,
           .programs = "llamafactory-cli"},
    Format{.name = "Hugging Face Trainer script",
           .signs = "--per-device-train-batch-size",
           .rows = shell,
           .implied = trainer_defaults,
           .words = true},
    Format{"launch script", "", shell, {}, true},
};

} // namespace

std::span<Format const> shell_formats() { return all_shell; }

} // namespace headroom::io::launch
