#include "memory/pointer_chain.hpp"

#include "headroom/counter_random.hpp"

#include <algorithm>

namespace headroom::probe {
namespace {

void*& next_of(std::byte* line) { return *reinterpret_cast<void**>(line); }

std::size_t below(CounterRandom& random, std::size_t bound) {
    return std::min(static_cast<std::size_t>(random.uniform() * static_cast<double>(bound)), bound - 1);
}

} // namespace

/// Sattolo's shuffle of "each points to itself" is one cycle through all, every such cycle as likely.
/// Source:     [Sattolo1986]
PointerChain::PointerChain(std::uint64_t bytes, int line_bytes, std::uint64_t seed, std::stop_token const& stop)
    : pages_{std::max<std::uint64_t>(bytes, 2 * line_bytes)},
      lines_{std::max<std::uint64_t>(bytes / line_bytes, 2)},
      stride_{static_cast<std::size_t>(line_bytes)} {
    auto* const begin = pages_.data();
    for (std::size_t i = 0; i < lines_; ++i) { next_of(begin + i * stride_) = begin + i * stride_; }
    CounterRandom random{seed};
    constexpr std::size_t between_looks = std::size_t{1} << 16U;
    for (std::size_t i = lines_ - 1; i > 0; --i) {
        if (i % between_looks == 0 && stop.stop_requested()) { break; }
        std::swap(next_of(begin + i * stride_), next_of(begin + below(random, i) * stride_));
    }
    at_ = begin;
}

void const* PointerChain::walk(std::uint64_t loads) {
    void* at = at_;
    for (; loads >= 8; loads -= 8) {
        for (int i = 0; i < 8; ++i) { at = *static_cast<void**>(at); }
    }
    for (; loads > 0; --loads) { at = *static_cast<void**>(at); }
    at_ = at;
    return at;
}

bool PointerChain::holds(void const* place) const {
    auto const* const byte = static_cast<std::byte const*>(place);
    return byte >= pages_.data() && byte < pages_.data() + lines_ * stride_ &&
           static_cast<std::size_t>(byte - pages_.data()) % stride_ == 0;
}

} // namespace headroom::probe
