#include "launch/other_formats.hpp"

#include "launch/launch_finish.hpp"

#include "headroom/error.hpp"
#include "headroom/io/habit_words.hpp"

#include <algorithm>
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
constexpr Text neox_implied =
    "--framework gpt-neox --tp 1 --pp 1 --cp 1 --ep 1 --zero 0 --recompute none --precision fp32 --grad-accum 1";

/// "torch.optim.AdamW", "bitsandbytes.optim.PagedAdamW8bit".
std::string component(Text value) {
    std::string const name{value.substr(value.rfind('.') == Text::npos ? 0 : value.rfind('.') + 1)};
    constexpr std::array known{"adam",           "adamw", "adamw8bit", "pagedadamw",
                               "pagedadamw8bit", "sgd",   "lion",      "adafactor"};
    return std::ranges::count(known, normalised(name)) > 0 ? name : std::string{};
}

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
    KeyRow{"optimizer._component_", "--optimizer", "an optimizer without a record: give --optimizer", component},
    KeyRow{"tune", "", "a recipe is a second file: what it sets is not here", nullptr,
           "--micro-batch --grad-accum --recompute --precision --train"},
};
constexpr Text torchtune_implied =
    "--framework torchtune --tp 1 --pp 1 --cp 1 --ep 1 --zero 3 --recompute none --grad-accum 1";

std::string number_format(Text value) {
    std::string const name = normalised(value);
    if (name.find("bf16") != std::string::npos) { return "bf16"; }
    if (name.find("fp8") != std::string::npos || name.starts_with("transformerengine")) { return "fp8"; }
    if (name.find("16") != std::string::npos) { return "fp16"; }
    return name.find("32") != std::string::npos ? "fp32" : std::string{value};
}
/// "fsdp", "FSDPStrategy", "deepspeed_stage_2_offload", "ddp".
std::string lightning_stage(Text value) {
    std::string const name = normalised(value);
    if (name.find("fsdp") != std::string::npos) { return "3"; }
    auto const stage = name.find("stage");
    if (stage != std::string::npos && stage + 5 < name.size()) { return name.substr(stage + 5, 1); }
    return name.find("ddp") != std::string::npos ? "0" : std::string{};
}
/// A number of devices, or their list: "0,1,2,3".
std::string replicas(Text value) {
    if (value.find(',') != Text::npos) { return std::to_string(1 + std::ranges::count(value, ',')); }
    return value == "-1" || value == "auto" ? std::string{} : std::string{value};
}
std::string parts(Text value) { return value == "-1" ? "1" : std::string{value}; }

constexpr std::array lightning{
    KeyRow{"trainer.devices", "--accelerators-per-node", "all accelerators of a node", replicas},
    KeyRow{"trainer.num_nodes", "--nodes"},
    KeyRow{"trainer.strategy", "--zero", "the strategy is chosen by Lightning", lightning_stage},
    KeyRow{"trainer.strategy.class_path", "--zero", "a strategy that is not read: give --zero", lightning_stage,
           "--zero"},
    KeyRow{"trainer.strategy.init_args.stage", "--zero"},
    KeyRow{"trainer.strategy.init_args.cpu_offload", "--offload", "nothing is offloaded", offload},
    KeyRow{"trainer.strategy.init_args.offload_parameters", "--offload", "nothing is offloaded", offload},
    KeyRow{"trainer.precision", "--precision", {}, number_format},
    KeyRow{"trainer.accumulate_grad_batches", "--grad-accum"},
    KeyRow{"trainer.max_steps", "--steps", {}, above_zero},
    KeyRow{"*.batch_size", "--micro-batch"},
    KeyRow{"*.train_batch_size", "--micro-batch"}, // of the loader of each process
    KeyRow{"*.max_length", "--sequence-length"},
    KeyRow{"*.seq_length", "--sequence-length"},
    KeyRow{"*.block_size", "--sequence-length"},
};
constexpr std::array litgpt{
    KeyRow{"devices", "--accelerators-per-node", "all accelerators of a node", replicas},
    KeyRow{"num_nodes", "--nodes"},
    KeyRow{"precision", "--precision", {}, number_format},
    KeyRow{"train.global_batch_size", "--global-batch"},
    KeyRow{"train.micro_batch_size", "--micro-batch"},
    KeyRow{"train.max_seq_length", "--sequence-length"},
    KeyRow{"train.max_tokens", "--tokens"},
    KeyRow{"train.max_steps", "--steps"},
    KeyRow{"train.epochs", "--epochs"},
    KeyRow{"quantize", "--base", "frozen weights are not quantised",
           [](Text value) { return value.starts_with("bnb.nf4") ? std::string{"nf4"} : std::string{}; }},
};
constexpr std::array nanotron{
    KeyRow{"parallelism.dp", "--dp"},
    KeyRow{"parallelism.tp", "--tp"},
    KeyRow{"parallelism.pp", "--pp"},
    KeyRow{"parallelism.context_parallel_size", "--cp"},
    KeyRow{"parallelism.expert_parallel_size", "--ep"},
    KeyRow{"parallelism.pp_engine",
           "--schedule",
           {},
           [](Text value) { return value == "afab" ? std::string{"gpipe"} : std::string{value}; }},
    KeyRow{"parallelism.tp_mode",
           "--sequence-parallel",
           {},
           [](Text value) { return normalised(value) == "reducescatter" ? std::string{"on"} : std::string{"off"}; }},
    KeyRow{"parallelism.recompute_layer", "gradient-checkpointing"},
    KeyRow{"tokens.batch_accumulation_per_replica", "--grad-accum"},
    KeyRow{"tokens.micro_batch_size", "--micro-batch"},
    KeyRow{"tokens.sequence_length", "--sequence-length"},
    KeyRow{"tokens.train_steps", "--steps"},
    KeyRow{"optimizer.zero_stage", "--zero"},
    KeyRow{"model.dtype", "dtype"},
};
constexpr std::array foundry{
    KeyRow{"compute.gpus", "--workers"},
    KeyRow{"*.max_seq_len", "--sequence-length"},
    KeyRow{"*.global_train_batch_size", "--global-batch"},
    KeyRow{"*.device_train_microbatch_size", "--micro-batch", "\"auto\" is found by trials on the machine"},
    KeyRow{"*.precision", "--precision", {}, number_format},
    KeyRow{"*.fsdp_config.sharding_strategy", "fsdp"},
    KeyRow{"*.fsdp_config.activation_checkpointing", "gradient-checkpointing"},
    KeyRow{"*.fsdp_config.activation_cpu_offload", "activation-offload"},
    KeyRow{"*.fsdp_config.mixed_precision", "", "gathers and reductions are those of the framework"},
    KeyRow{"*.attn_impl", "--attention-kernel", "attention is that of the framework",
           [](Text value) {
               return value == "flash"   ? std::string{"flash2"}
                      : value == "torch" ? std::string{"unfused"}
                                         : std::string{};
           }},
    KeyRow{"*.model.pretrained_model_name_or_path", "MODEL"},
    KeyRow{"*.model.name", "", "MODEL describes the model"},
};
/// "p=f32,c=bfloat16" of jmp: the format of products.
std::string compute_format(Text value) {
    auto const at = value.find("c=");
    Text const name = at == Text::npos ? value : value.substr(at + 2, value.find(',', at) - at - 2);
    return name.starts_with('b') ? "bf16" : name.find("16") != Text::npos ? "fp16" : "fp32";
}
constexpr std::array levanter{
    KeyRow{"trainer.train_batch_size", "--global-batch"},
    KeyRow{"trainer.per_device_parallelism", "--micro-batch", "the whole batch at once", above_zero},
    KeyRow{"trainer.model_axis_size", "--tp"},
    KeyRow{"trainer.num_train_steps", "--steps"},
    KeyRow{"trainer.mp", "--precision", {}, compute_format},
    KeyRow{"trainer.fsdp_axis", "", "weights are sharded over the replicas"},
    KeyRow{"model.seq_len", "--sequence-length"},
    KeyRow{"train_seq_len", "--sequence-length"},
    KeyRow{"model.gradient_checkpointing", "gradient-checkpointing"},
    KeyRow{"initialize_from_hf", "MODEL"},
};
constexpr std::array verl{
    KeyRow{"trainer.n_gpus_per_node", "--accelerators-per-node"},
    KeyRow{"trainer.nnodes", "--nodes"},
    KeyRow{"data.train_batch_size", "--global-batch"},
    KeyRow{"data.micro_batch_size_per_gpu", "--micro-batch"},
    KeyRow{"data.max_length", "--sequence-length"},
    KeyRow{"model.partial_pretrain", "MODEL"},
    KeyRow{"model.enable_gradient_checkpointing", "gradient-checkpointing"},
    KeyRow{"model.lora_rank", "lora-rank", "no LoRA", above_zero},
    KeyRow{"ulysses_sequence_parallel_size", "ulysses-size"},
};
constexpr std::array paddle{
    KeyRow{"sharding", "--zero", "no sharding", paddle_stage},
    KeyRow{"sharding_parallel_degree", "--shard", "all replicas", above_zero},
    KeyRow{"data_parallel_degree", "", "follows from the number of accelerators"},
    KeyRow{"tensor_parallel_degree", "--tp", {}, parts},
    KeyRow{"pipeline_parallel_degree", "--pp", {}, parts},
    KeyRow{"virtual_pp_degree", "--virtual-pp"},
    KeyRow{"sep_parallel_degree", "ulysses-size", "the sequence is whole", above_zero},
    KeyRow{"context_parallel_degree", "--cp", {}, parts},
    KeyRow{"sequence_parallel",
           "--sequence-parallel",
           {},
           [](Text value) { return switch_in(value) == true ? std::string{"on"} : std::string{"off"}; }},
    KeyRow{"recompute", "gradient-checkpointing"},
    KeyRow{"recompute_granularity", "", "of layers as a whole, where \"recompute\" is on"},
    KeyRow{"lora", "finetuning-type", "no LoRA",
           [](Text value) { return switch_in(value) == true ? std::string{"lora"} : std::string{}; }},
    KeyRow{"max_steps", "--steps", {}, above_zero},
};

} // namespace

Format lightning_format() {
    return Format{.name = "Lightning YAML",
                  .signs = "trainer.strategy trainer.accumulate_grad_batches trainer.accelerator trainer.devices "
                           "trainer.strategy.class_path",
                  .rows = lightning,
                  .implied = "--framework lightning --tp 1 --pp 1 --cp 1 --ep 1 --precision fp32 --grad-accum 1",
                  .words = true,
                  .finish = finish_lightning};
}
Format litgpt_format() {
    return Format{.name = "litgpt YAML",
                  .signs = "train.global_batch_size train.micro_batch_size",
                  .rows = litgpt,
                  .implied = "--framework litgpt --tp 1 --pp 1 --cp 1 --ep 1 --zero 3",
                  .words = true,
                  .finish = finish_litgpt};
}
Format nanotron_format() {
    return Format{.name = "nanotron YAML",
                  .signs = "tokens.batch_accumulation_per_replica tokens.micro_batch_size parallelism.pp_engine",
                  .rows = nanotron,
                  .implied = "--framework nanotron --tp 1 --pp 1 --cp 1 --ep 1 --zero 0 --recompute none",
                  .words = false};
}
Format foundry_format() {
    return Format{.name = "LLM Foundry YAML",
                  .signs = "global_train_batch_size device_train_microbatch_size parameters.global_train_batch_size "
                           "parameters.device_train_microbatch_size",
                  .rows = foundry,
                  .implied = "--framework llm-foundry --tp 1 --pp 1 --cp 1 --ep 1 --zero 0 --recompute none",
                  .words = true};
}
Format levanter_format() {
    return Format{.name = "Levanter YAML",
                  .signs = "trainer.train_batch_size trainer.per_device_parallelism trainer.model_axis_size "
                           "trainer.fsdp_axis",
                  .rows = levanter,
                  .implied = "--framework maxtext --tp 1 --pp 1 --cp 1 --ep 1 --zero 3 --precision fp32 "
                             "--recompute full --grad-accum 1",
                  .words = false,
                  .batch_alone = true};
}
Format verl_format() {
    return Format{.name = "verl fine-tuning",
                  .signs = "model.partial_pretrain data.micro_batch_size_per_gpu",
                  .rows = verl,
                  .implied = "--framework pytorch-fsdp --tp 1 --pp 1 --cp 1 --ep 1 --zero 3 --precision bf16",
                  .words = true};
}
Format paddle_format() {
    return Format{.name = "PaddleNLP JSON",
                  .signs = "sharding tensor_parallel_degree pipeline_parallel_degree sharding_parallel_degree",
                  .rows = paddle,
                  .implied = paddle_defaults,
                  .words = true};
}

Format neox_format() {
    return Format{.name = "GPT-NeoX configuration",
                  .signs = "pipe_parallel_size model_parallel_size pipe-parallel-size model-parallel-size",
                  .rows = neox,
                  .implied = neox_implied,
                  .words = true,
                  .finish = finish_neox};
}
Format torchtune_format() {
    return Format{.name = "torchtune YAML",
                  .signs = "model._component_ tokenizer._component_ enable_activation_checkpointing tune",
                  .rows = torchtune,
                  .implied = torchtune_implied,
                  .words = true,
                  .finish = finish_torchtune};
}

std::string paddle_stage(Text value) {
    auto const at = value.find("stage");
    return at != Text::npos && at + 5 < value.size() ? std::string{value.substr(at + 5, 1)} : std::string{};
}

std::string trained_tables(Text modules) {
    bool const tables = modules.find("embed") != Text::npos || modules.find("lm_head") != Text::npos ||
                        modules.find("wte") != Text::npos;
    return tables ? "lora:16:+tables" : std::string{};
}

} // namespace headroom::io::launch
