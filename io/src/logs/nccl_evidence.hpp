#pragma once

// Collective and ranks as the two bandwidths of rows show them, for logs that state neither.

#include "logs/nccl_row.hpp"

#include "headroom/network/collective.hpp"

#include <optional>
#include <string_view>

namespace headroom::io {

/// Bus bandwidth over algorithm bandwidth of all rows of a text, which is 2 (p - 1) / p for an all-reduce on p ranks.
class BandwidthEvidence {
public:
    explicit BandwidthEvidence(std::string_view text);

    /// The one count of ranks whose factor lies within the rounding of all rows; 0 where there is none, or several.
    [[nodiscard]] int ranks(network::Collective collective) const;
    /// Whether rows may be of a collective: its factor on some ranks, and an operator where it adds.
    [[nodiscard]] bool agrees(network::Collective collective) const;
    /// All-reduce where rows add, have no root and show a factor above 1, as no other collective does.
    [[nodiscard]] std::optional<network::Collective> collective() const;
    /// Whether some row shows a factor.
    [[nodiscard]] bool any() const { return rows_ > 0; }

private:
    void add(NcclRow const& row);

    double low_ = 0.0, high_ = 1e9; ///< the factor
    int rows_ = 0;
    bool all_add_ = true, none_adds_ = true, rooted_ = false;
};

} // namespace headroom::io
