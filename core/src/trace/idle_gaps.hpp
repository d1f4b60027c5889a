#pragma once

#include "trace/launches.hpp"
#include "trace/window_times.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace headroom::trace {

/// Why nothing ran: the members of `IdleShares`.
enum class IdleCause : std::uint8_t { host_bound, waiting, other };

/// Time without any work and why; a gap of two causes is two.
struct IdleGap {
    Ticks begin = 0, end = 0;
    IdleCause cause = IdleCause::other;
};

/// All gaps of an extent by begin: before the first interval, between intervals, and after the last.
std::vector<IdleGap> idle_gaps(RankTrace const& trace, BusyIntervals const& busy, Launches const& launches,
                               TraceWindow extent);

/// Sums of gaps by cause, for any window.
class IdleSums {
public:
    explicit IdleSums(std::span<IdleGap const> gaps);
    [[nodiscard]] IdleShares in(TraceWindow window) const;

private:
    using ByCause = std::array<Ticks, 3>;
    std::span<IdleGap const> gaps_;
    std::vector<ByCause> before_; ///< by gap: of those before it; one more than there are gaps
    [[nodiscard]] ByCause before(Ticks now) const;
};

} // namespace headroom::trace
