#include "traces/large_pages.hpp"

#include <cstdint>
#include <sys/mman.h>

namespace headroom::io {

void prefer_large_pages([[maybe_unused]] void* from, [[maybe_unused]] std::size_t bytes) noexcept {
#ifdef MADV_HUGEPAGE
    constexpr std::uintptr_t large = std::uintptr_t{2} << 20; // where a system's are larger, it says no
    auto const begin = reinterpret_cast<std::uintptr_t>(from);
    std::uintptr_t const first = (begin + large - 1) / large * large, last = (begin + bytes) / large * large;
    if (from != nullptr && first < last) {
        static_cast<void>(::madvise(static_cast<char*>(from) + (first - begin), last - first, MADV_HUGEPAGE)); // advice
    }
#endif
}

} // namespace headroom::io
