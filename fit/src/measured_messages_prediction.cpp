// Collectives as the probes of single messages predict them: a check of both, and of the models behind `headroom comm`.

#include "headroom/error.hpp"
#include "headroom/fit/measured_messages.hpp"
#include "headroom/network/collective_algorithm.hpp"
#include "headroom/network/message_cost.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace headroom::fit {

using namespace headroom::network;

namespace {

constexpr std::uint64_t large = 256 << 10; ///< from which on alpha and beta should be enough
constexpr double infinite = std::numeric_limits<double>::infinity();

/// Names of Open MPI that differ from those of Headroom's table.
struct Alias {
    Collective collective;
    std::string_view of_mpi, table;
};
constexpr std::array aliases{
    Alias{Collective::all_to_all, "modified_bruck", "bruck"},
    Alias{Collective::broadcast, "scatter_allgather", "van_de_geijn"},
    Alias{Collective::broadcast, "scatter_allgather_ring", "scatter_ring"},
};

/// Statistic of a point by which probes and collectives are compared.
using Statistic = double SampleSummary::*;

/// The probe of one pattern between these ranks, as costs of messages by their sizes; nothing where it was not measured.
std::optional<MessageCost> cost_of(MeasuredMessages const& answer, CommPattern pattern, int peer,
                                   std::string_view buffers, Statistic statistic) {
    std::vector<MeasuredCollective> rows;
    for (TimedMessage const& one : answer.timed) {
        if (one.pattern != pattern || one.peer != peer || one.buffers != buffers) { continue; }
        MeasuredCollective row;
        row.collective = Collective::point_to_point;
        row.size = {Bytes{static_cast<double>(one.bytes)}};
        row.ranks = 2;
        row.time = Seconds{one.seconds.*statistic};
        rows.push_back(std::move(row));
    }
    CommunicationFits const fits = fit_communication(rows);
    if (fits.fits.empty()) { return std::nullopt; }
    Protocols protocols{.protocols = {}, .choice = ProtocolChoice::switch_points};
    for (std::size_t i = 0; i < fits.fits.front().segments.size(); ++i) {
        FittedSegment const& segment = fits.fits.front().segments[i];
        double const beta = segment.beta_seconds_per_byte.value;
        Link const link{.latency = Seconds{segment.alpha_seconds.value},
                        .bandwidth = BytesPerSecond{beta > 0.0 ? 1.0 / beta : 1e300}};
        Bytes const from = i == 0 ? Bytes{} : Bytes{fits.fits.front().switches[i - 1].bytes.value};
        protocols.protocols.push_back({.name = "measured", .link = link, .from = from});
    }
    return MessageCost{std::move(protocols)};
}

/// Costs of messages inside hosts and between them, as far as there are both.
struct Costs {
    std::vector<MessageCost> one_way, both_ways;
    SecondsPerByte adding;
    Layout layout;
    [[nodiscard]] bool whole() const {
        auto const levels = static_cast<std::size_t>(layout.levels);
        return one_way.size() == levels && both_ways.size() == levels;
    }
};

/// Nothing where ranks do not lie on hosts one host after the other, as many on each: no level would be the right one.
std::optional<Layout> layout_of(CommWorld const& world) {
    int const nodes = world.nodes(), ranks = world.ranks();
    if (ranks % nodes != 0) { return std::nullopt; }
    int const per_host = ranks / nodes;
    for (int rank = 0; rank < ranks; ++rank) {
        if (world.host_of(rank) != world.host_of(rank - rank % per_host)) { return std::nullopt; }
    }
    return Layout::of({.size = ranks, .per_domain = per_host}, {}, {});
}

SecondsPerByte adding_of(MeasuredMessages const& answer, Statistic statistic) {
    for (TimedMessage const& one : answer.timed) {
        if (one.pattern != CommPattern::adding || one.bytes == 0) { continue; }
        return SecondsPerByte{one.seconds.*statistic / static_cast<double>(one.bytes)};
    }
    return {};
}

std::optional<Costs> costs_of(MeasuredMessages const& answer, std::string_view buffers, Statistic statistic) {
    auto const layout = layout_of(answer.world);
    if (!layout) { return std::nullopt; }
    Costs costs{.one_way = {}, .both_ways = {}, .adding = adding_of(answer, statistic), .layout = *layout};
    for (auto const& peer : {answer.world.near_peer(), answer.world.far_peer()}) {
        if (!peer) { continue; }
        auto const one_way = cost_of(answer, CommPattern::one_way, *peer, buffers, statistic);
        auto const both_ways = cost_of(answer, CommPattern::both_ways, *peer, buffers, statistic);
        if (one_way) { costs.one_way.push_back(*one_way); }
        if (both_ways) { costs.both_ways.push_back(*both_ways); }
    }
    if (!costs.whole()) { return std::nullopt; }
    return costs;
}

/// Trees send in one direction at a time; in everything else ranks send and receive at once.
bool one_direction(CollectiveAlgorithm const& row) {
    return row.collective == Collective::barrier || row.name == "binomial" || row.name == "flat";
}

bool usable(CollectiveAlgorithm const& row, Collective collective, Costs const& costs) {
    bool const kind = row.arrangement == Arrangement::flat || row.arrangement == Arrangement::levels;
    return row.collective == collective && kind && (row.takes == nullptr || row.takes(costs.layout));
}

double price(CollectiveAlgorithm const& row, std::uint64_t bytes, Costs const& costs) {
    CollectiveCall const call{
        .size = {Bytes{static_cast<double>(bytes)}}, .layout = costs.layout, .reduction = costs.adding};
    auto const schedule = row.schedule(call);
    auto const& prices = one_direction(row) ? costs.one_way : costs.both_ways;
    return simulate(*schedule, costs.layout, prices, costs.adding).total().base();
}

std::string table_name(Collective collective, std::string const& library) {
    for (Alias const& one : aliases) {
        if (one.collective == collective && one.of_mpi == library) { return std::string{one.table}; }
    }
    return library;
}

/// The row that was forced, or the cheapest one by the least times.
CollectiveAlgorithm const* row_for(Collective collective, std::string const& algorithm, std::uint64_t bytes,
                                   Costs const& costs) {
    bool const chosen = algorithm == "library";
    std::string const name = table_name(collective, algorithm);
    CollectiveAlgorithm const* best = nullptr;
    double least = infinite;
    for (CollectiveAlgorithm const& row : collective_algorithms()) {
        if (!usable(row, collective, costs)) { continue; }
        if (!chosen && normalised(row.name) != normalised(name)) { continue; }
        double const seconds = chosen ? price(row, bytes, costs) : 0.0;
        if (seconds < least) {
            least = seconds;
            best = &row;
        }
    }
    return best;
}

void add_one(MeasuredMessages& answer, TimedMessage const& one, Costs const& least, Costs const& median) {
    bool const few = one.bytes < 4 * static_cast<std::uint64_t>(answer.world.ranks()); // shards of nothing
    if (one.collective == Collective::barrier || few) { return; }
    CollectiveAlgorithm const* const row = row_for(one.collective, one.algorithm, one.bytes, least);
    if (row == nullptr) { return; }
    PredictedCollective found{
        .point = one.point->label, .algorithm = std::string{row->name}, .chosen = one.algorithm == "library"};
    found.least_seconds = price(*row, one.bytes, least);
    found.median_seconds = price(*row, one.bytes, median);
    found.least_ratio = found.least_seconds / one.seconds.least;
    found.median_ratio = found.median_seconds / one.seconds.median;
    answer.predictions.push_back(std::move(found));
}

/// Collectives with buffers in one state by the probes in the same state; errors go to `errors`.
void add_of_buffers(MeasuredMessages& answer, std::string_view buffers, std::vector<double>& errors) {
    auto const least = costs_of(answer, buffers, &SampleSummary::least);
    auto const median = costs_of(answer, buffers, &SampleSummary::median);
    if (!least || !median) { return; }
    for (TimedMessage const& one : answer.timed) {
        if (one.pattern != CommPattern::collective || one.buffers != buffers) { continue; }
        std::size_t const before = answer.predictions.size();
        add_one(answer, one, *least, *median);
        bool const counts = answer.predictions.size() > before && one.usual && one.bytes >= large;
        if (!counts || answer.predictions.back().chosen) { continue; }
        errors.push_back(std::abs(answer.predictions.back().least_ratio - 1.0));
    }
}

} // namespace

void add_predictions(MeasuredMessages& answer) {
    std::vector<double> errors;
    for (char const* buffers : {"hot", "cold"}) { add_of_buffers(answer, buffers, errors); }
    if (errors.empty()) { return; }
    std::ranges::sort(errors);
    std::size_t const half = errors.size() / 2;
    answer.median_prediction_error = errors.size() % 2 == 1 ? errors[half] : 0.5 * (errors[half - 1] + errors[half]);
}

} // namespace headroom::fit
