#include "vector/aligned.hpp"

#include <atomic>
#include <limits>

namespace headroom::probe {

AlignedFloats aligned_floats(std::size_t count) {
    constexpr std::size_t alignment = 128, turns = 4, most = std::numeric_limits<std::size_t>::max() / 2;
    static std::atomic<std::size_t> turn{0};
    if (count >= most / sizeof(float)) { return {}; }
    std::size_t const before = alignment * (turn.fetch_add(1) % turns);
    std::size_t const bytes =
        (before + count * sizeof(float) + alignment * turns) / (alignment * turns) * alignment * turns;
    void* const whole = std::aligned_alloc(alignment * turns, bytes);
    if (whole == nullptr) { return {}; }
    return {reinterpret_cast<float*>(static_cast<std::byte*>(whole) + before), FreeWhole{whole}};
}

} // namespace headroom::probe
