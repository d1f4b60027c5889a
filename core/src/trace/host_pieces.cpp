#include "trace/host_pieces.hpp"

#include <algorithm>

namespace headroom::trace::path {

HostLane::HostLane(RankTrace const& trace, std::span<std::uint32_t const> spans, Ticks begin, Ticks end) {
    pieces_.reserve(2 * spans.size());
    std::vector<std::uint32_t> open;
    Ticks now = begin;
    auto const advance = [&](Ticks to) {
        while (!open.empty() && now < to) {
            Ticks const ends = trace.timeline.end[open.back()];
            if (ends <= now) {
                open.pop_back();
                continue;
            }
            Ticks const stop = std::min(ends, to);
            add(now, stop, open.back());
            now = stop;
        }
        now = to;
    };
    for (auto const span : spans) {
        Ticks const from = std::max(trace.timeline.begin[span], begin);
        if (from > now) { advance(from); }
        if (trace.timeline.end[span] > now) {
            open.push_back(span);
        } else if (trace.kind[span] != SpanKind::host) {
            add(now, now, span); // a call that takes no time still starts or awaits something
        }
    }
    advance(end);
}

void HostLane::wait(Ticks from, Ticks to) {
    if (to <= from) { return; }
    waits_.emplace_back(from, to);
    cuts_.push_back(from);
    cuts_.push_back(to);
}

void HostLane::settle_waits() {
    std::sort(waits_.begin(), waits_.end());
    std::size_t kept = 0;
    for (auto const& wait : waits_) {
        if (kept > 0 && wait.first <= waits_[kept - 1].second) {
            waits_[kept - 1].second = std::max(waits_[kept - 1].second, wait.second);
        } else {
            waits_[kept++] = wait;
        }
    }
    waits_.resize(kept);
}

void HostLane::cut_piece(HostPiece piece, std::size_t& cut, std::size_t& wait, std::vector<HostPiece>& into) const {
    auto const put = [&](Ticks from, Ticks to) {
        while (wait < waits_.size() && waits_[wait].second <= from) { ++wait; }
        bool const waits = wait < waits_.size() && waits_[wait].first <= from && to <= waits_[wait].second && to > from;
        into.push_back({waits ? to : from, to, piece.span});
    };
    while (cut < cuts_.size() && cuts_[cut] <= piece.begin) { ++cut; }
    Ticks from = piece.begin;
    for (; cut < cuts_.size() && cuts_[cut] < piece.end; ++cut) {
        if (cuts_[cut] == from) { continue; }
        put(from, cuts_[cut]);
        from = cuts_[cut];
    }
    put(from, piece.end);
}

void HostLane::settle() {
    settle_waits();
    if (cuts_.empty()) { return; }
    std::sort(cuts_.begin(), cuts_.end());
    std::vector<HostPiece> settled;
    settled.reserve(pieces_.size() + cuts_.size());
    std::size_t cut = 0, wait = 0;
    for (auto const& piece : pieces_) { cut_piece(piece, cut, wait, settled); }
    pieces_ = std::move(settled);
    cuts_.clear();
}

std::size_t HostLane::ended_by(Ticks at) const {
    auto const later = [](Ticks moment, HostPiece const& piece) { return moment < piece.end; };
    return static_cast<std::size_t>(std::upper_bound(pieces_.begin(), pieces_.end(), at, later) - pieces_.begin());
}

std::size_t HostLane::begun_before(Ticks at) const {
    auto const earlier = [](HostPiece const& piece, Ticks moment) { return piece.begin < moment; };
    return static_cast<std::size_t>(std::lower_bound(pieces_.begin(), pieces_.end(), at, earlier) - pieces_.begin());
}

Ticks HostLane::waited(Ticks from, Ticks to) const {
    auto const ends_by = [](std::pair<Ticks, Ticks> const& wait, Ticks moment) { return wait.second <= moment; };
    Ticks sum = 0;
    for (auto wait = std::lower_bound(waits_.begin(), waits_.end(), from, ends_by);
         wait != waits_.end() && wait->first < to; ++wait) {
        sum += std::min(wait->second, to) - std::max(wait->first, from);
    }
    return sum;
}

} // namespace headroom::trace::path
