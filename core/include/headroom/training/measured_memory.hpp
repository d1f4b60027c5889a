#pragma once

#include "headroom/training/memory.hpp"

#include <array>
#include <string_view>

namespace headroom::training {

/// Quantity that a source calls the memory of an accelerator.
enum class MemoryKind {
    unstated,  ///< the source does not say; compared as `reserved`
    allocated, ///< bytes that tensors hold
    reserved,  ///< bytes that the allocator holds
    process,   ///< bytes of the process or the device, as nvidia-smi and NVML count them
};
inline constexpr std::array memory_kinds{MemoryKind::allocated, MemoryKind::reserved, MemoryKind::process,
                                         MemoryKind::unstated};
std::string_view name_of(MemoryKind kind);

/// Predicted memory that is compared with a measured one of this kind: `total`, `reserved` or `footprint`.
Bytes memory_of_kind(MemoryUse const& use, MemoryKind kind);

} // namespace headroom::training
