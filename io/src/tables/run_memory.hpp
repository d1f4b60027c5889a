#pragma once

#include "tables/run_cells.hpp"

#include "headroom/training/validation.hpp"

#include <optional>
#include <string_view>

namespace headroom::io {

enum class AdapterKind { none, lora, dora };

/// Matrices that a run trains in addition to frozen weights: the model's name or the first clause of the notes (up to the first ";" or "|") has the
/// word LoRA, QLoRA, DoRA or QDoRA, in either case, and not after "no", "non", "not", "without", "than", "vs" or
/// "instead of". Later clauses may speak of other runs.
AdapterKind stated_adapters(RunCells const& row);

/// Rank of LoRA weights from the notes: "LoRA rank 8", "LoRA (rank 64 ...".
std::optional<int> adapter_rank(std::string_view notes);

/// Kind of a measured memory, from a cell of the column `memory_kind`, else from the notes.
///
/// The notes' clauses are parted by ";" and "|". The first clause that begins with "memory =" is read, else each that has the
/// word memory, mem or peak, in their order. The phrase that stands first decides; a phrase is matched as whole words, in
/// either case:
///
///     allocated   max_memory_allocated, memory_allocated, allocated
///     reserved    max_memory_reserved, memory_reserved, reserved
///     process     nvidia-smi, rocm-smi, NVML, process
///
/// A clause with "method not stated", and notes without such a phrase, leave the kind open.
/// Errors: Skip for a cell that names no kind.
training::MemoryKind memory_kind(std::string_view cell, std::string_view notes);

/// Adds the measured memory of a row and its kind, or that it ran out of memory ("OOM" in the place of a number). A figure whose
/// `memory_kind` is "not a peak" is left out. Errors: Skip, InputError for a cell that is no number.
void add_memory(RunCells const& row, training::PublishedRun& run);

} // namespace headroom::io
