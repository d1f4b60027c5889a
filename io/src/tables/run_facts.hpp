#pragma once

#include "tables/run_cells.hpp"

#include "headroom/machine.hpp"
#include "headroom/training/host_launches.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace headroom::io {

/// The degrees and settings that a row states.
training::PartialStrategy stated_strategy(RunCells const& row, Cluster const& cluster, int workers);
/// Recomputation of a cell: its own names, "Full", "True", "selective op"; empty for other words.
std::optional<training::Recompute> recompute_from(std::string_view cell);
/// Trained weights, as a field of strategies, by the words of a cell: "QLoRA", "LoRA r=16", "Full", "SFT"; empty for other words.
std::string_view trained_from(std::string_view cell);
/// Compiler, fused kernels and attention kernel, where the table has columns for them.
training::KernelChoice stated_kernels(RunCells const& row);
/// Adds the batch that the notes print for the batch column, in the row's precision. Translation models count it in
/// tokens.
void add_noted_batch(RunCells const& row, training::Model const& model, training::PartialStrategy& partial);
/// Share of the tokens that are computed: of a model whose usual data are padded, where the row says that padding
/// is left out, or the framework pretrains on sequences of like length, which fill all but half a bin.
double share_of_tokens(RunCells const& row, training::Question const& question, training::PublishedRun& run);
/// Stated, or what every replica works through, or what is usual for the model on each accelerator.
/// Errors: Skip.
int global_batch(RunCells const& row, training::PartialStrategy& partial, int workers, training::Question& question,
                 training::PublishedRun& run);
/// Measured step time by the contract's order of preference. Errors: Skip.
void add_measured(RunCells const& row, training::Question const& question, int workers, training::PublishedRun& run);
/// MFU and HFU in percent, where the convention for attention is stated.
std::optional<training::PublishedUtilization> stated_utilization(RunCells const& row);
/// "tp+pp", "zero3": what the strategy is made of; "data parallel" where it is nothing else.
std::string strategy_kind(training::Strategy const& strategy);

} // namespace headroom::io
