#include "collective_clocks.hpp"

#include "wide_time.hpp"

#include <algorithm>
#include <array>
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
    double rate = 0.0;
    std::int64_t at = 0; ///< of a's clock, at which the offset holds
    [[nodiscard]] double doubt() const { return (spread + 1.0) / std::sqrt(static_cast<double>(from)); }
};

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

/// Difference of two clocks at the end of a collective on the first.
struct Difference {
    std::int64_t at = 0, by = 0;
};

/// So many tell a median well enough; of more, every so many-th.
void thin_out(std::vector<Difference>& values) {
    constexpr std::size_t enough = 1024;
    std::size_t const step = values.size() / enough;
    if (step < 2) { return; }
    for (std::size_t i = 0; i * step < values.size(); ++i) { values[i] = values[i * step]; }
    values.resize((values.size() + step - 1) / step);
}

MedianAndSpread median_by(std::span<Difference const> differences) {
    std::vector<std::int64_t> values;
    for (Difference const& one : differences) { values.push_back(one.by); }
    return median_and_spread(values);
}

std::int64_t median_at(std::span<Difference const> differences) {
    std::vector<std::int64_t> values;
    for (Difference const& one : differences) { values.push_back(one.at); }
    return lower_median(values);
}

/// Nanoseconds of a line of this rate from one moment to another.
Ticks along(double rate, std::int64_t from, std::int64_t to) {
    constexpr double farthest = 9e18;
    double const moved = rate * static_cast<double>(wide_difference(to, from));
    return std::isfinite(moved) ? static_cast<Ticks>(std::clamp(moved, -farthest, farthest)) : 0;
}

/// Sets the drift of a tie, and its rate where all lies near a straight line: its spread is then that of the rest. Nothing
/// that ends together on one clock drifts.
void set_drift(std::vector<Difference> const& differences, ClockTie& tie) {
    constexpr std::size_t fewest_halves = 4;
    constexpr double spreads_of_a_trend = 2.0; // half of a straight line is 2.7 of its halves' spreads from the other
    if (differences.size() / 2 < fewest_halves) { return; }
    std::span<Difference const> const all = differences;
    auto const early = all.first(all.size() / 2), late = all.subspan(all.size() / 2);
    auto const [first, spread] = median_by(early);
    auto const [last, spread_late] = median_by(late);
    Ticks const drift = wide_difference(last, first);
    double const noise = normal_over_median_deviation * static_cast<double>(std::max(spread, spread_late));
    double const least = std::max(static_cast<double>(ends_of_one_clock), spreads_of_a_trend * noise);
    if (std::abs(static_cast<double>(drift)) <= least) { return; }
    tie.drift = drift;
    std::int64_t const from = median_at(early), to = median_at(late);
    if (to <= from) { return; }
    double const rate = static_cast<double>(drift) / static_cast<double>(wide_difference(to, from));
    std::int64_t const at = from + wide_difference(to, from) / 2;
    std::vector<Difference> rest = differences;
    for (Difference& one : rest) { one.by = wide_difference(one.by, along(rate, at, one.at)); }
    auto const [offset, left] = median_by(rest);
    double const scatter = normal_over_median_deviation * static_cast<double>(left);
    if (spreads_of_one_clock * scatter > std::abs(static_cast<double>(drift)) / 2.0) { return; } // a clock that was set
    tie.offset = offset;
    tie.spread = scatter;
    tie.rate = rate;
    tie.at = at;
}

std::optional<ClockTie> tie(std::vector<std::optional<std::int64_t>> const& one,
                            std::vector<std::optional<std::int64_t>> const& other, bool devices) {
    std::vector<Difference> differences;
    for (std::size_t k = 0; k < one.size(); ++k) {
        if (one[k] && other[k]) { differences.push_back({*one[k], wide_difference(*other[k], *one[k])}); }
    }
    if (differences.empty()) { return {}; }
    thin_out(differences);
    auto const [median, spread] = median_by(differences);
    ClockTie result{.offset = median,
                    .spread = normal_over_median_deviation * static_cast<double>(spread),
                    .from = static_cast<std::int64_t>(differences.size())};
    ClockTie const still = result;
    set_drift(differences, result);
    if (devices || result.rate == 0.0) { return result; }
    return ClockTie{.offset = still.offset, .spread = still.spread, .from = still.from, .drift = result.drift};
}

void add_ties(PlacedChannel const& placed, std::span<RankRuns const* const> order, std::vector<ClockTie>& ties) {
    for (bool const unknown_too : {false, true}) {
        auto const reference = ends_of(placed, placed.positions.reference, order, unknown_too);
        bool found = false;
        for (std::size_t m = 0; m < placed.channel.members.size(); ++m) {
            if (m == placed.positions.reference) { continue; }
            auto one = tie(reference, ends_of(placed, m, order, unknown_too), !of_hosts(placed.channel, order));
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
        back.rate = -one.rate;
        back.at = wide_sum(one.at, one.offset);
        result[one.b].push_back(back);
    }
    return result;
}

/// Whether a clock is to be corrected. Clocks stated to be one need several collectives that contradict it; other
/// clocks are aligned by whatever there is.
bool is_off(ClockOffset const& clock, RankRuns const& rank, RankRuns const& first) {
    bool const one_clock = rank.clock_is_absolute && first.clock_is_absolute;
    if (clock.from < (one_clock ? fewest : 1)) { return false; }
    if (clock.rate != 0.0) { return true; }
    double const offset = std::abs(static_cast<double>(clock.offset));
    return offset >
           std::max(static_cast<double>(ends_of_one_clock), spreads_of_one_clock * static_cast<double>(clock.spread));
}

} // namespace

bool ends_together(Collective collective) {
    return collective == Collective::all_reduce || collective == Collective::all_gather ||
           collective == Collective::reduce_scatter || collective == Collective::all_to_all ||
           collective == Collective::barrier;
}

bool of_hosts(CollectiveChannel const& channel, std::span<RankRuns const* const> order) {
    if (channel.members.empty() || channel.members.front().runs.empty()) { return false; }
    auto const& runs = order[channel.members.front().rank]->runs;
    std::string const& name = runs.label_of(runs.runs[channel.members.front().runs.front()]).name;
    return std::ranges::any_of(std::array{"gloo:", "mpi:", "ucc:", "MPI_"},
                               [&](char const* start) { return name.starts_with(start); });
}

Ticks offset_near(ClockOffset const& clock, std::int64_t moment) {
    return clock.rate == 0.0 ? clock.offset : wide_sum(clock.offset, along(clock.rate, clock.offset_at, moment));
}

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
                bool const moves = one.rate != 0.0;
                clock.offset_at = moves ? wide_difference(one.at, result[a].offset) : result[a].offset_at;
                clock.rate = result[a].rate + one.rate;
                clock.offset = wide_sum(offset_near(result[a], clock.offset_at), one.offset);
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
