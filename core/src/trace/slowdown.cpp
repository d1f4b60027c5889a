#include "trace/busy_intervals.hpp"

#include "headroom/trace/trace_slowdown.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <utility>

namespace headroom::trace {
namespace {

constexpr double nanosecond = 1e-9;
constexpr double covered_share = 0.9;

struct Piece {
    Ticks begin = 0, end = 0;
};

/// Disjoint, by begin. `intervals` are by begin.
std::vector<Piece> communication_in(std::vector<BusyInterval> const& intervals) {
    std::vector<Piece> pieces;
    for (BusyInterval const& one : intervals) {
        if (one.kind != SpanKind::communication || one.end <= one.begin) { continue; }
        if (!pieces.empty() && one.begin <= pieces.back().end) {
            pieces.back().end = std::max(pieces.back().end, one.end);
        } else {
            pieces.push_back({one.begin, one.end});
        }
    }
    return pieces;
}

Ticks covered(std::vector<Piece> const& pieces, BusyInterval const& one) {
    auto piece = std::partition_point(pieces.begin(), pieces.end(), [&](Piece const& p) { return p.end <= one.begin; });
    Ticks sum = 0;
    for (; piece != pieces.end() && piece->begin < one.end; ++piece) {
        sum += std::min(piece->end, one.end) - std::max(piece->begin, one.begin);
    }
    return sum;
}

std::vector<BusyInterval> computing(std::vector<BusyInterval> const& intervals) {
    std::vector<BusyInterval> found;
    for (BusyInterval const& one : intervals) {
        if (one.kind == SpanKind::compute && one.end > one.begin) { found.push_back(one); }
    }
    return found;
}

/// By position among computing kernels: whether another one runs during it.
std::vector<bool> shared_device(std::vector<BusyInterval> const& kernels) {
    std::vector<bool> shared(kernels.size(), false);
    Ticks latest = 0;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        bool const before = i > 0 && latest > kernels[i].begin;
        bool const after = i + 1 < kernels.size() && kernels[i + 1].begin < kernels[i].end;
        shared[i] = before || after;
        latest = i == 0 ? kernels[i].end : std::max(latest, kernels[i].end);
    }
    return shared;
}

constexpr std::uint32_t nothing = ~std::uint32_t{0};
using Place = std::array<std::uint32_t, 3>; ///< names: its own, of the kernel before, of the kernel after

/// By position among computing kernels.
std::vector<Place> places_of(RankTrace const& trace, std::vector<BusyInterval> const& kernels) {
    std::vector<Place> places;
    std::vector<std::size_t> last(trace.lanes.size(), kernels.size());
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        std::uint32_t const name = trace.timeline.name[kernels[i].span];
        auto& before = last[trace.timeline.lane[kernels[i].span]];
        bool const first = before == kernels.size();
        places.push_back({name, first ? nothing : places[before][0], nothing});
        if (!first) { places[before][2] = name; }
        before = i;
    }
    return places;
}

} // namespace

double DurationSums::variance() const {
    if (count < 2) { return 0.0; }
    auto const n = static_cast<double>(count);
    return std::max(0.0, (squares - sum * sum / n) / (n - 1.0));
}

std::vector<KernelBeside> kernels_beside_communication(RankTrace const& trace) {
    if (trace.only_sums || trace.no_times) { return {}; }
    auto const busy = busy_intervals(trace);
    if (busy.on_host) { return {}; }
    auto const pieces = communication_in(busy.intervals);
    auto const kernels = computing(busy.intervals);
    auto const shared = shared_device(kernels);
    auto const places = places_of(trace, kernels);
    std::map<Place, std::pair<DurationSums, DurationSums>> found;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        if (shared[i]) { continue; }
        auto const time = static_cast<double>(kernels[i].end - kernels[i].begin);
        auto const under = static_cast<double>(covered(pieces, kernels[i]));
        if (under > 0.0 && under < covered_share * time) { continue; }
        auto& [alone, beside] = found[places[i]];
        (under > 0.0 ? beside : alone).add(time * nanosecond);
    }
    std::vector<KernelBeside> result;
    for (auto const& [place, sums] : found) {
        if (sums.first.count == 0 || sums.second.count == 0) { continue; }
        result.push_back({trace.timeline.names[place[0]], sums.first, sums.second});
    }
    std::stable_sort(result.begin(), result.end(), [](auto const& a, auto const& b) { return a.name < b.name; });
    return result;
}

} // namespace headroom::trace
