#pragma once

#include "launch/launch_entries.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace headroom::io::launch {

// Keys that are read together are put in order before each is read by itself.

/// The local batch is the micro-batch, or what a pipeline cuts into micro-batches; replicas and shards make dp.
void finish_torchtitan(std::vector<Entry>& entries, Known known);
/// HYBRID_SHARD of FSDP shards within a node.
void finish_sharding(std::vector<Entry>& entries);
/// Megatron and NeMo recompute a number of layers of each model chunk where their method is "block", and count those of the first
/// and of the last stage.
void finish_megatron(std::vector<Entry>& entries, Known known);
/// Layers of the stages by Megatron's layout: "Et*3|(tt|)*14,tmL". Counted by `finish_megatron`.
void finish_layout(std::vector<Entry>& entries, int layers);
/// Sequences of a micro-batch of fairseq, which states tokens; FSDP by its backend.
void finish_fairseq(std::vector<Entry>& entries, Known known);
/// The batch of a device is that of its share of a replica.
void finish_maxtext(std::vector<Entry>& entries, Known known);
/// Keys have hyphens or underscores; "fp16" may be of the type bfloat16.
void finish_neox(std::vector<Entry>& entries, Known known);
void finish_axolotl(std::vector<Entry>& entries, Known known);
/// LoRA of LLaMA-Factory and of ms-swift has rank 8 and all linear modules where nothing else is stated; both train LoRA
/// where they are not asked for another type, but not by Megatron. Of another type, keys of LoRA ask for nothing.
void finish_llama_factory(std::vector<Entry>& entries, Known known);
void finish_swift(std::vector<Entry>& entries, Known known);
void finish_swift_megatron(std::vector<Entry>& entries, Known known);
/// LoRA of the Trainer's scripts: without `use_peft` its other keys ask for nothing.
void finish_peft(std::vector<Entry>& entries, Known known);
/// Options of a command that are keys of its software's own file, as those: "--train.micro_batch_size". `all`: without a dot, too.
std::vector<Entry> keys_of_options(std::vector<Entry>& entries, bool all);
/// Keys of torchtune that say which modules have LoRA matrices, as one.
void finish_torchtune(std::vector<Entry>& entries, Known known);
/// Switches of litgpt that say the same; "bf16-true" keeps weights and states in 16 bits.
void finish_litgpt(std::vector<Entry>& entries, Known known);
/// Offload and recomputation of a strategy of Lightning.
void finish_lightning(std::vector<Entry>& entries, Known known);
/// nanoGPT's accumulation is that of all ranks; optimum-habana runs with or without DeepSpeed. Notes on a batch that is read as
/// that of one accelerator.
std::vector<std::string> finish_command(std::vector<Entry>& entries);
/// Slurm, mpirun and deepspeed state nodes and processes; a script states them in several places: torchrun's count goes before
/// Slurm's GPUs, these before tasks.
void finish_shell(std::vector<Entry>& entries);
/// A stage of ZeRO in the name of DeepSpeed's file, "zero3.json"; notes on what was read so.
std::vector<std::string> finish_named_stage(std::vector<Entry>& entries);
/// Takes entries with a prefix out: "deepspeed.".
std::vector<Entry> parted(std::vector<Entry>& entries, std::string_view prefix);

} // namespace headroom::io::launch
