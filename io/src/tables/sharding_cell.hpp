#pragma once

#include "headroom/training/strategy.hpp"

#include <optional>
#include <string_view>

namespace headroom::io {

// Cells that say how state is sharded, and what of it is in host memory, as people write them.

/// ZeRO stage from its usual spellings and those of FSDP and DDP; empty when the cell states no sharding.
std::optional<int> zero_stage(std::string_view text);

/// "FSDP (group 64)", "ici_fsdp=256": ranks of one shard group.
std::optional<int> shard_group(std::string_view text);

/// State offloaded to the host: "CPU optimizer offload", "CPU offload: Y/N" (optimizer / parameters).
training::Offload offload_of(std::string_view text);

} // namespace headroom::io
