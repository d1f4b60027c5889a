#pragma once

#include "launch/launch_entries.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace headroom::io::launch {

// Keys that are read together are put in order before each is read by itself.

/// The local batch is the micro-batch, or what a pipeline cuts into micro-batches; replicas and shards make dp.
void finish_torchtitan(std::vector<Entry>& entries);
/// HYBRID_SHARD of FSDP shards within a node.
void finish_sharding(std::vector<Entry>& entries);
/// Megatron and NeMo recompute a number of layers of each model chunk where their method is "block".
void finish_recomputation(std::vector<Entry>& entries);
/// The batch of a device is that of its share of a replica.
void finish_maxtext(std::vector<Entry>& entries);
/// Keys have hyphens or underscores.
void finish_neox(std::vector<Entry>& entries);
void finish_axolotl(std::vector<Entry>& entries);
/// LoRA has rank 8 and all linear modules where nothing else is stated.
void finish_llama_factory(std::vector<Entry>& entries);
/// Slurm, mpirun and deepspeed state nodes and processes; a script states them in several places: torchrun's count goes before
/// Slurm's GPUs, these before tasks.
void finish_shell(std::vector<Entry>& entries);
/// A stage of ZeRO in the name of DeepSpeed's file, "zero3.json"; notes on what was read so.
std::vector<std::string> finish_named_stage(std::vector<Entry>& entries);
/// Takes entries with a prefix out: "deepspeed.".
std::vector<Entry> parted(std::vector<Entry>& entries, std::string_view prefix);

} // namespace headroom::io::launch
