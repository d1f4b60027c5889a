#include "launch/launch_formats.hpp"

#include "launch/launch_finish.hpp"
#include "launch/other_formats.hpp"

#include "headroom/error.hpp"
#include "headroom/io/habit_words.hpp"
#include "headroom/io/words.hpp"

#include <algorithm>
#include <array>

namespace headroom::io::launch {

namespace {

using Text = std::string_view;

// ---- translations -------------------------------------------------------------------------------------------------

std::string above_one(Text value) {
    return value == "1" || value == "-1" || value == "0" ? std::string{} : std::string{value};
}
/// A degree that makes FSDP, "-1" for all ranks.
std::string sharded(Text value) { return value == "1" || value == "0" ? "0" : "3"; }
std::string sharded_if_any(Text value) { return sharded(value) == "0" ? std::string{} : "3"; }
std::string kept_gathered(Text value) { return sharded(value) == "0" ? "0" : "2"; }

std::string on_off(Text value) { return switch_in(value).value_or(false) ? "on" : "off"; }
std::string if_on(Text value, Text setting) {
    return switch_in(value).value_or(false) ? std::string{setting} : std::string{};
}

std::string offload_device(Text value, Text setting) {
    std::string const device = normalised(value);
    return device == "none" || device.empty() ? std::string{} : std::string{setting};
}
std::string offload_optimizer(Text value) { return offload_device(value, "optimizer"); }
std::string offload_parameters(Text value) { return offload_device(value, "parameters"); }
std::string offload_all(Text value) { return if_on(value, "parameters"); }
std::string reshard(Text value) {
    return normalised(value) == "never" || switch_in(value) == false ? "2" : std::string{};
}
std::string sharding_strategy(Text value) {
    std::string const name = normalised(value);
    if (name == "fullshard" || name == "1" || name == "hybridshard" || name == "4") { return "3"; }
    if (name == "shardgradop" || name == "2" || name == "hybridshardzero2" || name == "5") { return "2"; }
    return name == "noshard" || name == "3" ? "0" : std::string{value};
}
std::string torchtitan_recomputation(Text value) {
    std::string const name = normalised(value);
    return name == "selective" ? "alternate" : name == "memorybudget" ? std::string{} : std::string{value};
}
std::string torchtitan_schedule(Text value) {
    std::string const name = normalised(value);
    if (name == "interleaved1f1b") { return "interleaved"; }
    if (name == "zbvzerobubble") { return "zbv"; }
    if (name == "dualpipev") { return "dualpipe-v"; }
    return std::string{value};
}
std::string remat(Text value) {
    std::string const name = normalised(value);
    return name == "full"                                ? "full"
           : name == "minimal" || name == "minimalflash" ? "selective"
           : name == "none"                              ? "none"
                                                         : std::string{};
}
std::string quantisation(Text value) {
    std::string const name = normalised(value);
    return name.find("fp8") != std::string::npos || name.find("nanoo") != std::string::npos ? "fp8" : std::string{};
}
std::string deepspeed_optimizer(Text value) {
    std::string const name = normalised(value);
    return name == "onebitadam" || name == "zerooneadam" || name == "cpuadam" ? std::string{} : std::string{value};
}
std::string linear_targets(Text value) { return if_on(value, "lora:16:linear"); }
std::string magnitudes(Text value) { return if_on(value, "dora"); }
std::string last_layers(Text value) { return above_zero(value).empty() ? std::string{} : "last:" + std::string{value}; }
std::string framework_of_accelerate(Text value) {
    std::string const name = normalised(value);
    return name == "fsdp"         ? "hf-fsdp"
           : name == "deepspeed"  ? "hf-deepspeed"
           : name == "megatronlm" ? "megatron-core"
                                  : "hf-trainer";
}
std::string torchtitan_model(Text value) {
    std::string const name = normalised(value);
    return name == "8b" || name == "70b" || name == "405b" ? "llama-3-" + name : std::string{};
}
std::string nemo_precision(Text value) {
    if (value == "16" || value == "16-mixed") { return "fp16"; }
    return value == "32" ? "fp32" : value == "bf16-mixed" ? "bf16" : std::string{value};
}
std::string zero_of_nemo_optimizer(Text value) {
    return normalised(value).find("distributed") != std::string::npos ? "1" : "0";
}

constexpr Text automatic = "\"auto\" is filled in by the Trainer";
constexpr Text of_code = "takes effect where the model's code calls it";

// ---- keys ---------------------------------------------------------------------------------------------------------

constexpr std::array deepspeed{
    KeyRow{"train_batch_size", "--global-batch", automatic},
    KeyRow{"train_micro_batch_size_per_gpu", "--micro-batch", automatic},
    KeyRow{"gradient_accumulation_steps", "--grad-accum", automatic},
    KeyRow{"zero_optimization.stage", "--zero"},
    KeyRow{"zero_optimization.offload_optimizer.device", "--offload", {}, offload_optimizer},
    KeyRow{"zero_optimization.offload_param.device", "--offload", {}, offload_parameters},
    KeyRow{"zero_optimization.cpu_offload", "--offload", {}, [](Text value) { return if_on(value, "optimizer"); }},
    KeyRow{"zero_optimization.zero_hpz_partition_size", "",
           "a second copy of the weights within each group is not modelled"},
    KeyRow{"zero_optimization.zero_quantized_weights", "", "quantised gathers of ZeRO++ are not modelled"},
    KeyRow{"zero_optimization.zero_quantized_gradients", "", "quantised gradients of ZeRO++ are not modelled"},
    KeyRow{"zero_optimization.mics_shard_size", "--shard", {}, above_zero},
    KeyRow{"zero_optimization.overlap_comm", "--overlap", automatic,
           [](Text value) {
               return switch_in(value) == false ? std::string{"gradients=off,parameters=off"} : std::string{};
           }},
    KeyRow{"bf16.enabled", "bf16", automatic},
    KeyRow{"bfloat16.enabled", "bf16", automatic},
    KeyRow{"fp16.enabled", "fp16", automatic},
    KeyRow{"fp8.enabled", "fp8"},
    KeyRow{"optimizer.type", "--optimizer", "an optimizer of DeepSpeed's without a record", deepspeed_optimizer},
    KeyRow{"pipeline.stages", "--pp", {}, above_zero},
    KeyRow{"tensor_parallel.autotp_size", "--tp", {}, above_zero},
    KeyRow{"tensor_parallel.tp_size", "--tp"},
    KeyRow{"sequence_parallel_size", "ulysses-size"},
    KeyRow{"activation_checkpointing.*", "", of_code},
    KeyRow{"zero_optimization.*", "", "tunes buckets and pinning, which are not modelled"},
    KeyRow{"aio.*", "", "tunes the disk, which is not modelled"},
};

constexpr Text deepspeed_implied =
    "--framework deepspeed-zero --tp 1 --pp 1 --cp 1 --ep 1 --precision fp32 --grad-accum 1";

constexpr std::array trainer{
    KeyRow{"per_device_train_batch_size", "--micro-batch"},
    KeyRow{"gradient_accumulation_steps", "--grad-accum"},
    KeyRow{"gradient_checkpointing", "gradient-checkpointing"},
    KeyRow{"bf16", "bf16"},
    KeyRow{"fp16", "fp16"},
    KeyRow{"optim", "--optimizer"},
    KeyRow{"max_steps", "--steps", {}, above_zero},
    KeyRow{"fsdp", "fsdp"},
    KeyRow{"*.fsdp_activation_checkpointing", "gradient-checkpointing"},
    KeyRow{"*.activation_checkpointing", "gradient-checkpointing"},
    KeyRow{"max_seq_length", "--sequence-length"},
    KeyRow{"max_length", "--sequence-length"},
    KeyRow{"model_name_or_path", "MODEL"},
    KeyRow{"deepspeed", "", second_file, nullptr, of_deepspeed},
    KeyRow{"num_train_epochs", "--epochs"},
    KeyRow{"lora_target_modules", "--train", {}, lora_targets},
    KeyRow{"modules_to_save", "--train", "no tables are trained", trained_tables},
    KeyRow{"use_peft", "finetuning-type"},
    KeyRow{"torch_compile", "", "kernels are those of the framework named with --framework"},
};

constexpr std::array torchtitan{
    KeyRow{"parallelism.tensor_parallel_degree", "--tp"},
    KeyRow{"parallelism.pipeline_parallel_degree", "--pp"},
    KeyRow{"parallelism.context_parallel_degree", "--cp"},
    KeyRow{"parallelism.context_parallel_rotate_method", "cp-comm-type"},
    KeyRow{"parallelism.expert_parallel_degree", "--ep"},
    KeyRow{"parallelism.expert_tensor_parallel_degree", "--etp"},
    KeyRow{"parallelism.data_parallel_shard_degree", "--zero", "no sharding", sharded},
    KeyRow{"parallelism.data_parallel_shard_degree, kept gathered", "--zero", {}, kept_gathered},
    KeyRow{"parallelism.fsdp_reshard_after_forward", "", "read with the degree of sharding"},
    KeyRow{"sequence_parallel", "--sequence-parallel"},
    KeyRow{"parallelism.pipeline_parallel_schedule", "--schedule", {}, torchtitan_schedule},
    KeyRow{"parallelism.pipeline_parallel_layers_per_stage", "--layers-per-chunk"},
    KeyRow{"parallelism.enable_async_tensor_parallel", "--overlap", "the default",
           [](Text value) { return if_on(value, "tensor=on"); }},
    KeyRow{"training.global_batch_size", "--global-batch", "-1 is the local batch on every rank", above_zero},
    KeyRow{"training.seq_len", "--sequence-length"},
    KeyRow{"training.steps", "--steps"},
    KeyRow{"training.mixed_precision_param", "dtype"},
    KeyRow{"activation_checkpoint.mode", "--recompute", "a budget of memory is not modelled", torchtitan_recomputation},
    KeyRow{"optimizer.name", "--optimizer"},
    KeyRow{"model.flavor", "MODEL", "no model of the catalog: name it", torchtitan_model},
    KeyRow{"model.converters", "--precision", "no 8-bit products",
           [](Text value) { return value.find("float8") != Text::npos ? std::string{"fp8"} : std::string{}; }},
    KeyRow{"model.name", "", "the flavor says more"},
    KeyRow{"compile.*", "", "torchtitan is modelled with compiled blocks"},
    KeyRow{"activation_checkpoint.*", "", "of the selective mode: every second product is modelled"},
    KeyRow{"micro_batch", "--micro-batch"},
    KeyRow{"dp", "--dp"},
    KeyRow{"shard", "--shard"},
    KeyRow{"training.local_batch_size", "", "the pipeline cuts it into micro-batches"},
    KeyRow{"training.enable_cpu_offload", "--offload", "nothing is offloaded", offload_all},
    KeyRow{"job.config_file", "", second_file, nullptr, "--recompute --micro-batch --global-batch --sequence-length"},
    KeyRow{"parallelism.disable_loss_parallel", "", "the loss is modelled split over the tensor ranks"},
};
constexpr Text torchtitan_implied = "--framework torchtitan --tp 1 --pp 1 --cp 1 --ep 1 --zero 3 --precision bf16 "
                                    "--recompute alternate --micro-batch 8 --sequence-length 2048 --grad-accum 1";

constexpr Text accelerate_implied = "--tp 1 --pp 1 --cp 1 --ep 1 --precision fp32";

constexpr std::array accelerate{
    KeyRow{"num_processes", "--workers"},
    KeyRow{"num_machines", "--nodes"},
    KeyRow{"num_processes / num_machines", "--accelerators-per-node"},
    KeyRow{"mixed_precision", "mixed-precision", "no autocast"},
    KeyRow{"distributed_type", "--framework", {}, framework_of_accelerate},
    KeyRow{"fsdp_config.fsdp_sharding_strategy", "--zero", {}, sharding_strategy},
    KeyRow{"shard", "--shard"},
    KeyRow{"zero", "--zero"},
    KeyRow{"fsdp_config.fsdp_reshard_after_forward", "--zero", "full sharding is the default",
           [](Text value) { return sharding_strategy(value) == value ? reshard(value) : sharding_strategy(value); }},
    KeyRow{"fsdp_config.fsdp_offload_params", "--offload", "nothing is offloaded", offload_all},
    KeyRow{"fsdp_config.fsdp_activation_checkpointing", "gradient-checkpointing"},
    KeyRow{"deepspeed_config.zero_stage", "--zero"},
    KeyRow{"deepspeed_config.gradient_accumulation_steps", "--grad-accum", automatic},
    KeyRow{"deepspeed_config.offload_optimizer_device", "--offload", "nothing is offloaded", offload_optimizer},
    KeyRow{"deepspeed_config.offload_param_device", "--offload", "nothing is offloaded", offload_parameters},
    KeyRow{"deepspeed_config.deepspeed_config_file", "", second_file, nullptr, of_deepspeed},
    KeyRow{"megatron_lm_config.megatron_lm_tp_degree", "--tp"},
    KeyRow{"megatron_lm_config.megatron_lm_pp_degree", "--pp"},
    KeyRow{"megatron_lm_config.megatron_lm_num_micro_batches", "--grad-accum"},
    KeyRow{"megatron_lm_config.megatron_lm_sequence_parallelism", "--sequence-parallel", {}, on_off},
    KeyRow{"megatron_lm_config.megatron_lm_recompute_activations", "recompute-activations"},
    KeyRow{"megatron_lm_config.megatron_lm_use_distributed_optimizer", "use-distributed-optimizer"},
    KeyRow{"parallelism_config.parallelism_config_tp_size", "--tp"},
    KeyRow{"parallelism_config.parallelism_config_cp_size", "--cp"},
    KeyRow{"gradient_accumulation_steps", "--grad-accum", automatic},
};

constexpr std::array axolotl{
    KeyRow{"base_model", "MODEL"},
    KeyRow{"sequence_len", "--sequence-length"},
    KeyRow{"micro_batch_size", "--micro-batch"},
    KeyRow{"gradient_accumulation_steps", "--grad-accum"},
    KeyRow{"adapter", "finetuning-type"},
    KeyRow{"lora_r", "lora-r"},
    KeyRow{"lora_target_modules", "--train", {}, lora_targets},
    KeyRow{"lora_modules_to_save", "--train", "no tables are trained", trained_tables},
    KeyRow{"lora_target_linear", "--train", "the modules listed", linear_targets},
    KeyRow{"peft_use_dora", "--train", "LoRA without magnitudes", magnitudes},
    KeyRow{"load_in_4bit", "load-in-4bit"},
    KeyRow{"load_in_8bit", "load-in-8bit"},
    KeyRow{"bf16", "bf16"},
    KeyRow{"fp16", "fp16"},
    KeyRow{"gradient_checkpointing", "gradient-checkpointing"},
    KeyRow{"optimizer", "--optimizer"},
    KeyRow{"max_steps", "--steps", {}, above_zero},
    KeyRow{"tensor_parallel_size", "--tp"},
    KeyRow{"context_parallel_size", "--cp"},
    KeyRow{"sequence_parallel_degree", "--cp"},
    KeyRow{"fsdp", "fsdp"},
    KeyRow{"fsdp_config.reshard_after_forward", "--zero", "full sharding is the default", reshard},
    KeyRow{"fsdp_config.offload_params", "--offload", "nothing is offloaded", offload_all},
    KeyRow{"fsdp_config.fsdp_offload_params", "--offload", "nothing is offloaded", offload_all},
    KeyRow{"fsdp_config.fsdp_sharding_strategy", "--zero", {}, sharding_strategy},
    KeyRow{"shard", "--shard"},
    KeyRow{"deepspeed", "", second_file, nullptr, of_deepspeed},
    KeyRow{"num_epochs", "--epochs"},
    KeyRow{"flash_attention", "--attention-kernel", "attention is that of the framework",
           [](Text value) { return switch_in(value).value_or(false) ? std::string{"flash2"} : std::string{}; }},
    KeyRow{"attn_implementation", "--attention-kernel"},
};
constexpr Text axolotl_implied =
    "--framework axolotl --tp 1 --pp 1 --cp 1 --ep 1 --zero 0 --recompute none --precision bf16 --grad-accum 1";

constexpr std::array llama_factory{
    KeyRow{"model_name_or_path", "MODEL"},
    KeyRow{"finetuning_type",
           "finetuning-type",
           {},
           [](Text value) {
               return normalised(value) == "freeze" ? std::string{}
                                                    : std::string{value}; // freeze_trainable_layers says which
           }},
    KeyRow{"lora_rank", "lora-rank"},
    KeyRow{"lora_target", "--train", {}, lora_targets},
    KeyRow{"additional_target", "--train", "no tables are trained", trained_tables},
    KeyRow{"use_dora", "--train", "LoRA without magnitudes", magnitudes},
    KeyRow{"freeze_trainable_layers", "--train", {}, last_layers},
    KeyRow{"quantization_bit", "quantization-bit"},
    KeyRow{"cutoff_len", "--sequence-length"},
    KeyRow{"per_device_train_batch_size", "--micro-batch"},
    KeyRow{"gradient_accumulation_steps", "--grad-accum"},
    KeyRow{"bf16", "bf16"},
    KeyRow{"fp16", "fp16"},
    KeyRow{"pure_bf16", "--pure-bf16", {}, on_off},
    KeyRow{"optim", "--optimizer"},
    KeyRow{"gradient_checkpointing", "gradient-checkpointing"},
    KeyRow{"max_steps", "--steps", {}, above_zero},
    KeyRow{"disable_gradient_checkpointing",
           "--recompute",
           {},
           [](Text value) { return switch_in(value).value_or(false) ? std::string{"none"} : std::string{"full"}; }},
    KeyRow{"deepspeed", "", second_file, nullptr, of_deepspeed},
    KeyRow{"num_train_epochs", "--epochs"},
    KeyRow{"flash_attn", "--attention-kernel", "attention is that of the framework",
           [](Text value) {
               return value == "disabled" ? std::string{"unfused"}
                      : value == "auto"   ? std::string{}
                                          : std::string{value};
           }},
    KeyRow{"stage", "", "the step of sft and pt is modelled"},
};

constexpr std::array maxtext{
    KeyRow{"per_device_batch_size", "--micro-batch"},
    KeyRow{"num_pipeline_microbatches", "--grad-accum"},
    KeyRow{"max_target_length", "--sequence-length"},
    KeyRow{"ici_fsdp_parallelism", "--zero", "no sharding", sharded_if_any},
    KeyRow{"dcn_fsdp_parallelism", "--zero", "no sharding", sharded_if_any},
    KeyRow{"ici_tensor_parallelism", "--tp", "the rest of the ranks is not a number", above_zero},
    KeyRow{"ici_context_parallelism", "--cp", {}, above_zero},
    KeyRow{"ici_expert_parallelism", "--ep", {}, above_zero},
    KeyRow{"dcn_pipeline_parallelism", "--pp", {}, above_one},
    KeyRow{"ici_pipeline_parallelism", "--pp", {}, above_one},
    KeyRow{"ici_data_parallelism", "", "follows from the number of chips"},
    KeyRow{"dcn_data_parallelism", "", "follows from the number of chips"},
    KeyRow{"gradient_accumulation_steps", "--grad-accum"},
    KeyRow{"remat_policy", "--recompute", "a policy without a counterpart", remat},
    KeyRow{"dtype", "dtype"},
    KeyRow{"quantization", "--precision", "no 8-bit floating point", quantisation},
    KeyRow{"steps", "--steps"},
    KeyRow{"model_name", "MODEL"},
    KeyRow{"opt_type", "--optimizer"},
};
constexpr Text maxtext_implied =
    "--framework maxtext --tp 1 --pp 1 --cp 1 --ep 1 --recompute full --sequence-length 2048 --grad-accum 1";

constexpr Text of_group = "of uniform recomputation it is the size of a group: all layers are recomputed";

/// A number of devices, or their list: "0,1,2,3".
std::string counted_devices(Text value) {
    bool const listed = value.find(',') != Text::npos;
    return listed ? std::to_string(1 + std::ranges::count(value, ',')) : above_zero(value);
}

constexpr std::array nemo{
    KeyRow{"*.devices", "--accelerators-per-node", "all accelerators of a node", counted_devices},
    KeyRow{"*.accumulate_grad_batches", "", "NeMo accumulates by the global batch"},
    KeyRow{"*.recompute_method", "", "read with the number of layers"},
    KeyRow{"*.recompute_num_layers", "", of_group},
    KeyRow{"*.peft_scheme", "finetuning-type"},
    KeyRow{"*.adapter_dim", "lora-r"},
    KeyRow{"*.num_nodes", "--nodes"},
    KeyRow{"hydra.launcher.nodes", "--nodes"},
    KeyRow{"hydra.launcher.gpus_per_node", "--accelerators-per-node"},
    KeyRow{"trainer.precision", "--precision", {}, nemo_precision},
    KeyRow{"*.max_steps", "--steps", {}, above_zero},
    KeyRow{"*.encoder_seq_length", "--sequence-length"},
    KeyRow{"*.sequence_parallel", "--sequence-parallel", {}, on_off},
    KeyRow{"*.activations_checkpoint_granularity", "recompute-granularity"},
    KeyRow{"--recompute-layers", "--recompute-layers"},
    KeyRow{"*.activations_checkpoint_method", "", "read with the number of layers"},
    KeyRow{"*.activations_checkpoint_num_layers", "", of_group},
    KeyRow{"*.optim.name", "--zero", "an optimizer that is not distributed", zero_of_nemo_optimizer},
    KeyRow{"*.virtual_pipeline_model_parallel_size", "--virtual-pp"},
    KeyRow{"*.fp8", "fp8"},
    KeyRow{"distributed_strategy.zero1", "use-distributed-optimizer"}, // of Neuron
};
constexpr Text nemo_implied =
    "--framework megatron-core --tp 1 --pp 1 --cp 1 --ep 1 --virtual-pp 1 --recompute none --sequence-parallel off";

constexpr Format accelerate_format{"Accelerate YAML", "distributed_type compute_environment fsdp_config.fsdp_version",
                                   accelerate, accelerate_implied};

/// DeepSpeed's keys within TrainingArguments.
constexpr Format nested{.name = "DeepSpeed JSON", .signs = {}, .rows = deepspeed};

constexpr std::array all_toml{
    Format{"torchtitan TOML",
           "parallelism.tensor_parallel_degree parallelism.data_parallel_shard_degree training.seq_len "
           "training.local_batch_size training.batch_size training.tensor_parallel_degree model.flavor "
           "activation_checkpoint.mode",
           torchtitan, torchtitan_implied, false, false, false, false, finish_torchtitan},
};

} // namespace

std::string above_zero(Text value) { return value == "-1" || value == "0" ? std::string{} : std::string{value}; }
std::string lora_targets(Text value) {
    std::string modules{value};
    std::erase_if(modules, [](char c) { return std::string_view{"[]'\" "}.find(c) != std::string_view::npos; });
    for (std::size_t at = 0; (at = modules.find(',', at)) != std::string::npos;) { modules[at] = '+'; }
    return "lora:16:" +
           (normalised(modules) == "all" || normalised(modules) == "alllinear" ? std::string{"linear"} : modules);
}

Format const& nested_deepspeed() { return nested; }

/// DeepSpeed's, which JSON alone has, is the last.
std::span<Format const> json_formats() {
    static std::array const all{
        neox_format(),
        torchtune_format(),
        Format{"axolotl YAML", "base_model", axolotl, axolotl_implied, true, false, false, true, finish_axolotl},
        Format{"LLaMA-Factory YAML", "finetuning_type cutoff_len", llama_factory, factory_defaults, true, false, false,
               true, finish_llama_factory},
        Format{"NeMo or Megatron YAML",
               "*.tensor_model_parallel_size *.pipeline_model_parallel_size model.micro_batch_size "
               "model.activations_checkpoint_granularity model.encoder_seq_length",
               nemo, nemo_implied, true, false, false, false, finish_megatron},
        litgpt_format(),
        nanotron_format(),
        foundry_format(),
        levanter_format(),
        verl_format(),
        lightning_format(),
        paddle_format(),
        Format{"Hugging Face TrainingArguments", "per_device_train_batch_size output_dir", trainer, trainer_defaults,
               true, false, false, false, finish_peft},
        Format{"MaxText YAML", "ici_fsdp_parallelism ici_tensor_parallelism ici_data_parallelism max_target_length",
               maxtext, maxtext_implied, true, false, false, false, finish_maxtext},
        accelerate_format,
        Format{"DeepSpeed JSON",
               "zero_optimization.stage train_micro_batch_size_per_gpu train_batch_size bf16.enabled fp16.enabled "
               "optimizer.type",
               deepspeed, deepspeed_implied, false, false, true},
    };
    return all;
}
std::span<Format const> yaml_formats() { return json_formats().first(json_formats().size() - 1); }
std::span<Format const> toml_formats() { return all_toml; }

} // namespace headroom::io::launch
