#pragma once

#include "memory/pages.hpp"

#include <cstddef>
#include <cstdint>
#include <stop_token>

namespace headroom::probe {

/// Lines of memory, each of which says where the next one is, in one cycle through all of them without order, so that
/// no line is known before the one before it has come.
class PointerChain {
public:
    /// A stop leaves it without its order: such a chain is of no use.
    PointerChain(std::uint64_t bytes, int line_bytes, std::uint64_t seed, std::stop_token const& stop = {});

    [[nodiscard]] std::size_t lines() const { return lines_; }
    [[nodiscard]] std::size_t bytes() const { return pages_.size(); }
    /// Goes on for so many loads; where it stands then.
    void const* walk(std::uint64_t loads);
    /// Whether a place is the beginning of a line of it.
    [[nodiscard]] bool holds(void const* place) const;
    [[nodiscard]] void const* first() const { return pages_.data(); }

private:
    Pages pages_;
    std::size_t lines_ = 0, stride_ = 0;
    void* at_ = nullptr;
};

} // namespace headroom::probe
