#include "trace/answer.hpp"
#include "trace/path_pieces.hpp"
#include "trace/run_pace.hpp"
#include "trace/wide_time.hpp"

#include "headroom/text.hpp"
#include "headroom/trace/trace_report.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

namespace headroom::trace {

using namespace headroom::network;

namespace {

constexpr double longer_compute = 0.03, most_of_time = 0.8;
/// Share of a rank's kernels that all take longer, from which on it is slow. Between all-to-alls experts with more tokens
/// take longer in most kernels, too, and on hosts in all operators that count.
constexpr double all_of_time = 0.97, never = 2.0;
constexpr double far_from_roof = 0.7; ///< below it a kernel is worth a line

// ---- late ranks -------------------------------------------------------------------------------------------------------

/// Waiting in matched collectives by their sort: sends and receives, all-to-alls, all others.
struct WaitingBySort {
    double point_to_point = 0.0, all_to_all = 0.0, all = 0.0;
};

WaitingBySort waiting_of(CollectiveAnswer const& collectives) {
    WaitingBySort waiting;
    for (MatchedCollective const& one : collectives.matched) {
        double sum = 0.0;
        if (one.begin.empty()) { continue; }
        Ticks const last = *std::ranges::max_element(one.begin);
        for (Ticks const begin : one.begin) { sum += static_cast<double>(last - begin); }
        waiting.all += sum;
        if (one.collective == Collective::point_to_point) { waiting.point_to_point += sum; }
        if (one.collective == Collective::all_to_all) { waiting.all_to_all += sum; }
    }
    return waiting;
}

double median(std::vector<double> values) {
    if (values.empty()) { return 0.0; }
    auto const middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
    std::ranges::nth_element(values, middle);
    return *middle;
}

/// One kernel on the late rank and on the median of the others.
struct KernelPair {
    std::string name;
    double late = 0.0, others = 0.0; ///< totals
    bool as_often = false;
};

std::vector<KernelPair> kernel_pairs(std::vector<RankDigest> const& ranks, RankDigest const& late) {
    std::map<std::string_view, std::vector<NameTotal const*>> others;
    std::size_t count = 0;
    for (RankDigest const& rank : ranks) {
        if (rank.rank == late.rank) { continue; }
        ++count;
        for (NameTotal const& one : rank.breakdown.names) {
            if (one.kind == SpanKind::compute) { others[one.name].push_back(&one); }
        }
    }
    std::vector<KernelPair> pairs;
    for (NameTotal const& one : late.breakdown.names) {
        if (one.kind != SpanKind::compute) { continue; }
        KernelPair pair{.name = one.name, .late = static_cast<double>(one.total)};
        std::vector<double> totals, counts;
        for (NameTotal const* other : others[one.name]) {
            totals.push_back(static_cast<double>(other->total));
            counts.push_back(static_cast<double>(other->count));
        }
        totals.resize(count), counts.resize(count); // zeros where another rank has none
        pair.others = median(totals);
        pair.as_often =
            std::abs(median(counts) - static_cast<double>(one.count)) <= 0.02 * static_cast<double>(one.count);
        pairs.push_back(std::move(pair));
    }
    return pairs;
}

/// Host time of a graph by name.
std::map<std::string_view, Ticks> host_times(StepGraph const& graph) {
    std::map<std::string_view, Ticks> times;
    for (std::size_t i = 0; i < graph.cost.size(); ++i) {
        bool const host = graph.kind[i] == SpanKind::launch || graph.kind[i] == SpanKind::host;
        if (host) { times[graph.names[graph.name[i]]] += graph.cost[i]; }
    }
    return times;
}

/// The host's work that the late rank has most more of than the median of the others; empty where nothing stands out.
std::string slow_call(std::vector<RankDigest> const& ranks, RankDigest const& late) {
    if (!late.graph) { return {}; }
    std::map<std::string_view, std::vector<double>> others;
    std::size_t count = 0;
    for (RankDigest const& rank : ranks) {
        if (rank.rank == late.rank || !rank.graph) { continue; }
        ++count;
        for (auto const& [name, time] : host_times(*rank.graph)) { others[name].push_back(static_cast<double>(time)); }
    }
    std::pair<double, std::string_view> most{0.0, {}};
    double all = 0.0;
    for (auto const& [name, time] : host_times(*late.graph)) {
        auto times = others[name];
        times.resize(count);
        double const more = static_cast<double>(time) - median(times);
        all += std::max(0.0, more);
        most = std::max(most, {more, name});
    }
    if (most.first < 0.3 * all) { return {}; }
    return names_data_loading(most.second) ? "data loading" : path::short_name(most.second);
}

void tell_late_rank(TraceAnswer const& answer, double most, RunSigns& signs) {
    auto const last = std::ranges::max_element(answer.collectives.waiting, {}, &RankWaiting::kept_waiting);
    auto const late = std::ranges::find(answer.ranks, last->rank, &RankDigest::rank);
    if (late == answer.ranks.end() || last->kept_waiting <= 0) { return; }
    auto const pairs = kernel_pairs(answer.ranks, *late);
    double own = 0.0, others = 0.0, all_slow = 0.0;
    for (KernelPair const& one : pairs) { own += one.late, others += one.others; }
    std::string const rank = "rank " + std::to_string(late->rank);
    double const excess = others > 0.0 ? own / others - 1.0 : 0.0;
    if (excess < longer_compute) {
        std::string const call = slow_call(answer.ranks, *late);
        signs.late = AdviceRule::late_host;
        signs.late_ranks = rank + ", whose CPU is late" + (call.empty() ? "" : " (most of it in " + call + ")");
        return;
    }
    for (KernelPair const& one : pairs) {
        bool const slow = one.as_often && one.late >= one.others * (1.0 + 0.5 * excess);
        all_slow += slow ? one.late : 0.0;
    }
    if (all_slow >= most * own && pairs.size() > 1) {
        signs.late = AdviceRule::slow_rank;
        signs.late_ranks = rank + ", whose kernels all take longer (" + text::percent(excess, 2) + " %)";
        return;
    }
    auto const more = std::ranges::max_element(pairs, {}, [](KernelPair const& one) { return one.late - one.others; });
    signs.late = AdviceRule::more_work;
    signs.late_ranks = rank + ", which computes " + text::percent(excess, 2) + " % longer (most of it in " +
                       path::short_name(more->name) + ")";
}

void tell_waiting(TraceAnswer const& answer, RunSigns& signs) {
    WaitingBySort const waiting = waiting_of(answer.collectives);
    if (waiting.all <= 0.0 || answer.collectives.waiting.empty()) { return; }
    if (2.0 * waiting.point_to_point >= waiting.all) {
        signs.late = AdviceRule::pipeline_bubble;
        return;
    }
    bool const exchanges = 2.0 * waiting.all_to_all >= waiting.all;
    tell_late_rank(answer, signs.on_host ? never : exchanges ? all_of_time : most_of_time, signs);
    if (exchanges && signs.late == AdviceRule::more_work) { signs.late = AdviceRule::experts; }
    if (signs.on_host && signs.late != AdviceRule::experts) { // remedies for the others are of devices
        signs.late = AdviceRule::late_ranks;
        signs.late_ranks.clear();
    }
}

// ---- steps and kernels ----------------------------------------------------------------------------------------------

/// Steps that take half as long again as the median one of the same work; the first is left out.
void tell_steps(TraceAnswer const& answer, RunSigns& signs) {
    using Work = std::pair<PhaseKind, std::int64_t>;
    std::map<std::pair<Work, std::int64_t>, Ticks> slowest;
    RankDigest const* longest_rank = nullptr;
    for (RankDigest const& rank : answer.ranks) {
        for (std::size_t i = 1; i < rank.breakdown.steps.size(); ++i) {
            TraceStep const& step = rank.breakdown.steps[i].step;
            Ticks& time = slowest[{work_of(step.phase), step.number}];
            time = std::max(time, wide_difference(step.end, step.begin));
        }
        if (!rank.pace.long_step_has.empty() && longest_rank == nullptr) { longest_rank = &rank; }
    }
    if (slowest.size() + 1 < least_steps) { return; }
    std::map<Work, std::vector<double>> by_work;
    for (auto const& [step, time] : slowest) { by_work[step.first].push_back(static_cast<double>(time)); }
    double sum = 0.0, even = 0.0, most = 1.0;
    std::size_t count = 0;
    for (auto const& [work, times] : by_work) {
        double const middle = median(times);
        for (double const time : times) {
            sum += time, even += middle;
            count += time >= long_step * middle ? 1 : 0;
            if (middle > 0.0) { most = std::max(most, time / middle); }
        }
    }
    double const speedup = even > 0.0 ? sum / even : 1.0;
    if (count == 0 || 4 * count > slowest.size() || speedup < 1.02) { return; }
    // a loader has a rule of its own
    if (longest_rank != nullptr && names_data_loading(longest_rank->pace.long_step_has)) { return; }
    std::string const what = longest_rank == nullptr
                                 ? "nothing that was recorded, as garbage collection of Python is not"
                                 : path::short_name(longest_rank->pace.long_step_has);
    std::string const longest = text::significant(most, 2) + "x as long as the median";
    std::string const who = std::to_string(count) + " of " + std::to_string(slowest.size()) +
                            (count == 1 ? " takes " : " take up to ") + longest;
    signs.uneven = Advice{AdviceRule::uneven_steps, who + ", most of it " + what, 0,
                          static_cast<Ticks>(even / static_cast<double>(slowest.size())), speedup};
}

/// Kernels whose work is known in nearly all of their runs and that are far from the roofline, longest first.
void tell_roofs(TraceAnswer const& answer, std::optional<laws::Processor> const& machine, RunSigns& signs) {
    constexpr std::size_t most_roofs = 3;
    if (!machine) { return; }
    struct Known {
        double time = 0.0, least = 0.0, longest = 0.0;
        std::string shape;
    };
    std::map<std::string_view, Known> known;
    auto const shaped = shaped_kernel_totals(answer.ranks);
    for (ShapedKernel const& one : shaped) {
        auto const share = share_of_roof(one, *machine);
        if (!share) { continue; }
        Known& kernel = known[one.name];
        auto const time = static_cast<double>(one.total);
        kernel.time += time;
        kernel.least += time * std::min(1.0, *share);
        if (time > kernel.longest) { kernel.longest = time, kernel.shape = one.shape; }
    }
    for (NameTotal const& one : kernel_totals(answer.ranks)) {
        auto const at = known.find(one.name);
        bool const counts = at != known.end() && one.kind == SpanKind::compute && signs.roofs.size() < most_roofs &&
                            at->second.time >= 0.9 * static_cast<double>(one.total) &&
                            at->second.least < far_from_roof * at->second.time;
        if (counts) { signs.roofs.push_back({one.name, at->second.shape, at->second.least / at->second.time}); }
    }
}

} // namespace

RunSigns run_signs(TraceAnswer const& answer, std::optional<laws::Processor> const& machine) {
    RunSigns signs;
    signs.has_steps = std::ranges::any_of(answer.ranks, [](RankDigest const& r) { return !r.breakdown.steps.empty(); });
    signs.on_host = std::ranges::all_of(answer.ranks, [](RankDigest const& r) { return r.breakdown.on_host; });
    if (answer.work_missing) { return signs; }
    tell_waiting(answer, signs);
    tell_steps(answer, signs);
    for (RankDigest const& rank : answer.ranks) { signs.slowing = std::max(signs.slowing, rank.pace.slowing); }
    tell_roofs(answer, machine, signs);
    return signs;
}

} // namespace headroom::trace
