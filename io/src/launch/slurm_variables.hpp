#pragma once

#include "launch/shell_variables.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace headroom::io::launch {

/// GPUs of "gpu:h100:4,nvme:1" (`is_gres`), "h100:8" and "8"; empty where it has none.
std::string slurm_gpus(std::string_view value, bool is_gres);

/// Notes on headers that stand behind the first command.
std::vector<std::string> notes_on_late(std::vector<Entry> const& headers);

/// Sets the variables that Slurm makes of the headers of a script: SLURM_NNODES, SLURM_NTASKS, SLURM_GPUS_ON_NODE and their like.
void set_slurm_variables(std::vector<Entry> const& headers, Expansion& expand);

} // namespace headroom::io::launch
