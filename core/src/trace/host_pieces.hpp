#pragma once

#include "headroom/trace/rank_trace.hpp"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace headroom::trace::path {

/// A part of a host interval in which nothing that nests in it runs.
struct HostPiece {
    Ticks begin = 0, end = 0;
    std::uint32_t span = 0;
};

/// Pieces of one thread's time in a window: at each moment the interval that began last has the time, as long as it
/// lasts. Cuts (moments at which something else leaves the thread, times in which it waits) are noted first and applied
/// together.
class HostLane {
public:
    HostLane() = default;
    /// `spans` by begin, what nests after what it nests in. Holds for: O(n) with any nesting, broken nesting too.
    HostLane(RankTrace const& trace, std::span<std::uint32_t const> spans, Ticks begin, Ticks end);

    [[nodiscard]] std::vector<HostPiece> const& pieces() const { return pieces_; }

    /// Pieces end at this moment, so that other work can wait for what was before it.
    void cut(Ticks at) { cuts_.push_back(at); }
    /// The thread did nothing from one moment to the other but wait.
    void wait(Ticks from, Ticks to);
    /// Carries out what was noted: what was waiting keeps its place and no time.
    void settle();

    /// Number of pieces that have ended by a moment.
    [[nodiscard]] std::size_t ended_by(Ticks at) const;
    /// Number of pieces that begin before a moment.
    [[nodiscard]] std::size_t begun_before(Ticks at) const;
    /// Waiting time within [from, to]. Holds for: after `settle`.
    [[nodiscard]] Ticks waited(Ticks from, Ticks to) const;

private:
    void add(Ticks begin, Ticks end, std::uint32_t span) { pieces_.push_back({begin, end, span}); }
    void settle_waits();
    void cut_piece(HostPiece piece, std::size_t& cut, std::size_t& wait, std::vector<HostPiece>& into) const;

    std::vector<HostPiece> pieces_;
    std::vector<Ticks> cuts_;
    std::vector<std::pair<Ticks, Ticks>> waits_; ///< after `settle` sorted and apart
};

} // namespace headroom::trace::path
