#include "collective_clocks.hpp"

#include "wide_time.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <tuple>

namespace headroom::trace {

using namespace headroom::network;

namespace {

constexpr std::int64_t ends_of_one_clock = 25'000; // ns
constexpr double spreads_of_one_clock = 4.0;
constexpr std::int64_t fewest = 3;
constexpr double normal_over_median_deviation = 1.4826;

/// Offset of two clocks, from the collectives of one channel.
struct ClockTie {
    std::uint32_t a = 0, b = 0;
    std::int64_t offset = 0; ///< b less a
    double spread = 0.0;
    std::int64_t from = 0;
    Ticks drift = 0; ///< see `ClockOffset`
    [[nodiscard]] double doubt() const { return (spread + 1.0) / std::sqrt(static_cast<double>(from)); }
};

/// Whether nobody can end before all have come.
bool ends_together(Collective collective) {
    return collective == Collective::all_reduce || collective == Collective::all_gather ||
           collective == Collective::reduce_scatter || collective == Collective::all_to_all ||
           collective == Collective::barrier;
}

/// By position: the end on the reference's clock, where it is of use.
std::vector<std::optional<std::int64_t>> ends_of(PlacedChannel const& placed, std::size_t m,
                                                 std::span<RankRuns const* const> order, bool unknown_too) {
    std::vector<std::optional<std::int64_t>> result(placed.positions.count);
    auto const& member = placed.channel.members[m];
    auto const& runs = order[member.rank]->runs;
    for (std::size_t k = 0; k < member.runs.size(); ++k) {
        auto const at = placed.positions.at[m][k];
        auto const& run = runs.runs[member.runs[k]];
        auto const& collective = runs.label_of(run).collective;
        if (at == no_partner || !(collective ? ends_together(*collective) : unknown_too)) { continue; }
        result[static_cast<std::size_t>(at)] = wide_sum(order[member.rank]->epoch_ns, run.end);
    }
    return result;
}

/// So many tell a median well enough; of more, every so many-th.
void thin_out(std::vector<std::int64_t>& values) {
    constexpr std::size_t enough = 1024;
    std::size_t const step = values.size() / enough;
    if (step < 2) { return; }
    for (std::size_t i = 0; i * step < values.size(); ++i) { values[i] = values[i * step]; }
    values.resize((values.size() + step - 1) / step);
}

/// Change of the difference of two clocks in the course of a run: nothing that ends together on one clock drifts.
Ticks drift_of(std::vector<std::int64_t> const& differences) {
    constexpr std::size_t fewest_halves = 4;
    constexpr double spreads_of_a_trend = 2.0; // half of a straight line is 2.7 of its halves' spreads from the other
    if (differences.size() / 2 < fewest_halves) { return 0; }
    auto const half = differences.begin() + static_cast<std::ptrdiff_t>(differences.size() / 2);
    std::vector<std::int64_t> early{differences.begin(), half}, late{half, differences.end()};
    auto const [first, spread] = median_and_spread(early);
    auto const [last, spread_late] = median_and_spread(late);
    Ticks const drift = wide_difference(last, first);
    double const noise = normal_over_median_deviation * static_cast<double>(std::max(spread, spread_late));
    double const least = std::max(static_cast<double>(ends_of_one_clock), spreads_of_a_trend * noise);
    return std::abs(static_cast<double>(drift)) > least ? drift : 0;
}

std::optional<ClockTie> tie(std::vector<std::optional<std::int64_t>> const& one,
                            std::vector<std::optional<std::int64_t>> const& other) {
    std::vector<std::int64_t> differences;
    for (std::size_t k = 0; k < one.size(); ++k) {
        if (one[k] && other[k]) { differences.push_back(wide_difference(*other[k], *one[k])); }
    }
    if (differences.empty()) { return {}; }
    thin_out(differences);
    auto const from = static_cast<std::int64_t>(differences.size());
    Ticks const drift = drift_of(differences);
    auto const [median, spread] = median_and_spread(differences);
    return ClockTie{.offset = median,
                    .spread = normal_over_median_deviation * static_cast<double>(spread),
                    .from = from,
                    .drift = drift};
}

void add_ties(PlacedChannel const& placed, std::span<RankRuns const* const> order, std::vector<ClockTie>& ties) {
    for (bool const unknown_too : {false, true}) {
        auto const reference = ends_of(placed, placed.positions.reference, order, unknown_too);
        bool found = false;
        for (std::size_t m = 0; m < placed.channel.members.size(); ++m) {
            if (m == placed.positions.reference) { continue; }
            auto one = tie(reference, ends_of(placed, m, order, unknown_too));
            if (!one) { continue; }
            one->a = placed.channel.members[placed.positions.reference].rank;
            one->b = placed.channel.members[m].rank;
            ties.push_back(*one);
            found = true;
        }
        if (found) { return; }
    }
}

/// Spanning tree of ties that joins all ranks with the least uncertainty, by rank: its neighbours.
std::vector<std::vector<ClockTie>> least_doubtful(std::vector<ClockTie> ties, std::size_t ranks) {
    std::ranges::sort(ties, {}, [](ClockTie const& one) { return std::tuple(one.doubt(), one.a, one.b, one.offset); });
    std::vector<std::uint32_t> root(ranks);
    std::iota(root.begin(), root.end(), 0U);
    auto const root_of = [&](std::uint32_t rank) {
        while (root[rank] != rank) { rank = root[rank] = root[root[rank]]; }
        return rank;
    };
    std::vector<std::vector<ClockTie>> result(ranks);
    for (ClockTie const& one : ties) {
        auto const a = root_of(one.a), b = root_of(one.b);
        if (a == b) { continue; }
        root[std::max(a, b)] = std::min(a, b);
        result[one.a].push_back(one);
        ClockTie back = one;
        std::swap(back.a, back.b);
        back.offset = wide_difference(0, one.offset);
        back.drift = wide_difference(0, one.drift);
        result[one.b].push_back(back);
    }
    return result;
}

/// Whether a clock is to be corrected. Clocks stated to be one need several collectives that contradict it; other
/// clocks are aligned by whatever there is.
bool is_off(ClockOffset const& clock, RankRuns const& rank, RankRuns const& first) {
    bool const one_clock = rank.clock_is_absolute && first.clock_is_absolute;
    if (clock.from < (one_clock ? fewest : 1)) { return false; }
    double const offset = std::abs(static_cast<double>(clock.offset));
    return offset >
           std::max(static_cast<double>(ends_of_one_clock), spreads_of_one_clock * static_cast<double>(clock.spread));
}

} // namespace

std::vector<ClockOffset> clocks_of(std::vector<PlacedChannel> const& placed, std::span<RankRuns const* const> order) {
    std::vector<ClockTie> ties;
    for (PlacedChannel const& channel : placed) { add_ties(channel, order, ties); }
    auto const neighbours = least_doubtful(std::move(ties), order.size());

    std::vector<ClockOffset> result(order.size());
    std::vector<char> known(order.size());
    for (std::uint32_t r = 0; r < order.size(); ++r) {
        result[r].rank = order[r]->rank;
        if (known[r] != 0) { continue; }
        known[r] = 1;
        std::vector<std::uint32_t> open{r};
        while (!open.empty()) {
            auto const a = open.back();
            open.pop_back();
            for (ClockTie const& one : neighbours[a]) {
                if (known[one.b] != 0) { continue; }
                known[one.b] = 1;
                auto& clock = result[one.b];
                clock.offset = wide_sum(result[a].offset, one.offset);
                Ticks const drift = wide_sum(result[a].drift, one.drift);
                clock.drift = std::abs(static_cast<double>(drift)) > ends_of_one_clock ? drift : 0; // two may cancel
                clock.spread =
                    static_cast<Ticks>(std::min(std::hypot(static_cast<double>(result[a].spread), one.spread), 9e18));
                clock.from = a == r ? one.from : std::min(one.from, result[a].from);
                clock.corrected = is_off(clock, *order[one.b], *order[r]);
                open.push_back(one.b);
            }
        }
    }
    return result;
}

} // namespace headroom::trace
