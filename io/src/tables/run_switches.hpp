#pragma once

#include "headroom/io/csv.hpp"

#include <string>
#include <vector>

namespace headroom::io {

/// Writes switches in words: FSDP that is true is a way of sharding, and a degree of sequence parallelism of 1 is none; one
/// as large as tp is on. `header`: heads as they stand in the file.
void write_switches(CsvTable& table, std::vector<std::string> const& header);

/// Adds the columns that columns of switches state, where the table has none of them, and the switches to `used`:
///
///     precision   "bf16" and "fp16" of True and False: the format that is on, fp32 where both are off
///     train       "LoRA" of yes and no, "LoRA rank" of 16
void add_switched_columns(CsvTable& table, std::vector<int>& used);

/// Joins columns of offloading ("offload", "offload_optimizer", "param offload") to that of sharding, whose words state both.
void join_offload(CsvTable& table, std::vector<int>& used);

/// Takes the step away from rows that state a forward and a backward pass which together are longer: it is the optimizer's.
/// Rows without another figure keep it with words that make it no number.
void drop_steps_of_optimizers(CsvTable& table, std::vector<int> const& used);

/// Divides batches above 65,536 that are whole numbers of sequences by their length: they count tokens. An issue counts them.
void divide_batches_of_tokens(CsvTable& table, std::vector<Issue>& issues);

} // namespace headroom::io
