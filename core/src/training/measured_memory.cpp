#include "headroom/training/measured_memory.hpp"

namespace headroom::training {

std::string_view name_of(MemoryKind kind) {
    switch (kind) {
    case MemoryKind::allocated: return "allocated";
    case MemoryKind::reserved: return "reserved";
    case MemoryKind::process: return "process";
    case MemoryKind::unstated: break;
    }
    return "not stated";
}

Bytes memory_of_kind(MemoryUse const& use, MemoryKind kind) {
    switch (kind) {
    case MemoryKind::allocated: return use.total();
    case MemoryKind::process: return use.footprint();
    case MemoryKind::reserved:
    case MemoryKind::unstated: break;
    }
    return use.reserved();
}

} // namespace headroom::training
