#pragma once

#include "headroom/network/collective_algorithm.hpp"

#include <array>
#include <cstdint>

namespace headroom::network::algorithms {

/// Members below a switch, ranks or switches. The NVLink domain of 72 accelerators is one star, the largest of the
/// catalog whose switches add.
inline constexpr int switch_radix = 72;

/// H, the levels of switches over so many ranks. Holds for: ranks >= 1, radix >= 2; one rank needs no switch.
int switch_levels(int ranks, int radix);

/// Switches over ranks, level by level: each has up to `radix` members of the level below, and the last level is one
/// switch.
///
///     H = the least with radix^H >= p: one star for 1 < p <= radix
///
/// Level 0 are the ranks; participants are numbered level by level.
class SwitchTree {
public:
    SwitchTree(int ranks, int radix);

    [[nodiscard]] int height() const { return height_; } ///< H, levels of switches
    [[nodiscard]] int members(int level) const { return members_[static_cast<std::size_t>(level)]; }
    [[nodiscard]] int participant(int level, int member) const {
        return static_cast<int>(first_[static_cast<std::size_t>(level)] + member);
    }
    [[nodiscard]] int radix() const { return radix_; }
    [[nodiscard]] int participants() const { return participant(height_, members(height_)); }

private:
    static constexpr int most_levels = 32; // of radix 2
    int radix_, height_;
    std::array<int, most_levels + 1> members_{};
    std::array<std::int64_t, most_levels + 1> first_{};
};

/// All-reduce by switches that add at line rate: one pass up to the last switch and one down to all, in q segments that
/// go both ways at once.
///
///     T = (q + 2H - 1)(alpha + n beta / q)      q near sqrt((2H - 1) n beta / alpha)
///
/// The last segment leaves the ranks in round q-1 and crosses 2H links; n go up and n down each rank's port at the same
/// time, so T tends to n beta where 2(p-1)/p n beta is the least without switches that add.
/// Holds for:  any p >= 1, with levels of `switch_radix` members a switch; every link as fast as a rank's, alpha a hop.
/// Assumes:    switches add as fast as data comes (no gamma) and handle all ports at once.
/// Source:     [Graham2016]
CollectiveTime in_network_time(CollectiveCall const& call);
std::unique_ptr<MessageSchedule> in_network_all_reduce_schedule(CollectiveCall const& call);

/// Reduce: the same up, down only to rank 0. Broadcast: up only from rank 0, and down. Times as `in_network_time`.
std::unique_ptr<MessageSchedule> in_network_reduce_schedule(CollectiveCall const& call);
std::unique_ptr<MessageSchedule> in_network_broadcast_schedule(CollectiveCall const& call);

/// Time over switches of another radix; all-reduce, reduce or broadcast.
CollectiveTime in_network_time(CollectiveCall const& call, int radix);
std::unique_ptr<MessageSchedule> in_network_schedule(Collective collective, CollectiveCall const& call, int radix);

} // namespace headroom::network::algorithms
