#pragma once

#include "headroom/rank_trace.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace headroom::trace {

/// The host call behind each correlation number: of several the one that began first.
class Launches {
public:
    explicit Launches(RankTrace const& trace);
    /// The span of the call; nothing for number 0, and where the call is not in the file.
    [[nodiscard]] std::optional<std::uint32_t> operator[](std::uint32_t correlation) const;
    [[nodiscard]] bool empty() const { return calls_.empty() && table_.empty(); }

private:
    struct Call {
        std::uint32_t correlation = 0, span = 0;
    };
    std::vector<std::uint32_t> table_; ///< by correlation, span + 1: where numbers are dense
    std::vector<Call> calls_;          ///< by correlation: where they are not
};

} // namespace headroom::trace
