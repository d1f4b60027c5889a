#include "document/text.hpp"
#include "trace/trace_report.hpp"
#include "trace/trace_words.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace headroom::cli {
namespace {

constexpr double much = 0.1;        ///< of the time: a share that is worth a sentence
constexpr double least_gain = 1.01; ///< of a change: a speedup that is worth a sentence
constexpr double idle_much = 0.25;  ///< the same of idle time, which every trace has some of

/// How much of a rank's time goes where; shares of the time of all ranks.
struct Shares {
    double compute = 0.0, exposed = 0.0, memory = 0.0, idle = 0.0, mean_ns = 0.0;
};

Shares shares_of(TraceAnswer const& answer) {
    DeviceTimes const sum = sum_of(answer.ranks);
    auto const window = static_cast<double>(std::max<Ticks>(1, sum.window));
    auto const share = [&](Ticks time) { return static_cast<double>(time) / window; };
    return {share(sum.compute), share(sum.exposed), share(sum.memory_only), share(sum.idle),
            window / static_cast<double>(std::max<std::size_t>(1, answer.ranks.size()))};
}

/// "241 to 495 ms", or one of them where they are alike.
std::string range_words(std::vector<Ticks> const& times) {
    auto const [low, high] = std::ranges::minmax_element(times);
    TimeUnit const unit = unit_for(static_cast<double>(*high));
    std::string const least = in_unit(static_cast<double>(*low), unit),
                      most = in_unit(static_cast<double>(*high), unit);
    return (least == most ? most : least + " to " + most) + " " + unit.name;
}

template <class Member> std::string range_of(TraceAnswer const& answer, Member member) {
    std::vector<Ticks> times;
    for (RankDigest const& rank : answer.ranks) { times.push_back(rank.breakdown.whole.*member); }
    return range_words(times);
}

std::string communication_words(TraceAnswer const& answer, Shares const& shares) {
    double const hidden = answer.overlap_fraction.value_or(0.0);
    std::string const how = hidden < 0.2   ? "Communication is not hidden"
                            : hidden < 0.8 ? "Communication is hidden in part"
                                           : "Most communication is hidden, yet";
    std::string const of = answer.ranks.size() > 1 ? " of a rank's " : " of ";
    return how + (hidden < 0.8 ? ": " : " ") + range_of(answer, &DeviceTimes::exposed) + of +
           range_of(answer, &DeviceTimes::window) + " (" + percent(shares.exposed, 2) +
           " %) run beside no computation.";
}

std::string idle_words(TraceAnswer const& answer, Shares const& shares) {
    IdleShares const idle = idle_sum_of(answer.ranks);
    auto const all = static_cast<double>(std::max<Ticks>(1, idle.host_bound + idle.waiting + idle.other));
    bool const host = idle.host_bound >= idle.waiting && idle.host_bound >= idle.other;
    bool const waiting = !host && idle.waiting >= idle.other;
    double const share = static_cast<double>(host ? idle.host_bound : waiting ? idle.waiting : idle.other) / all;
    std::string const why = host      ? "because the host launches too late (host-bound)"
                            : waiting ? "waiting for another stream, an event or another rank"
                                      : "between kernels, for reasons that the trace does not tell";
    return "Devices are idle " + percent(shares.idle, 2) + " % of the time, " + percent(share, 2) + " % of that " +
           why + ".";
}

/// Tables of totals: sums alone.
std::string totals_words(TraceAnswer const& answer) {
    DeviceTimes const sum = sum_of(answer.ranks);
    std::string const totals = "Totals alone: computation " + time_words(static_cast<double>(sum.compute)) +
                               ", communication " + time_words(static_cast<double>(sum.communication));
    return totals + (answer.ranks.size() > 1 ? " on all ranks together" : "") +
           ". Whether they overlap, and how long a device was idle, " +
           (answer.ranks.size() > 1 ? "these traces do not say." : "this trace does not say.");
}

/// Where the time goes.
std::string split_words(TraceAnswer const& answer) {
    bool const on_host =
        std::ranges::all_of(answer.ranks, [](RankDigest const& rank) { return rank.breakdown.on_host; });
    Shares const shares = shares_of(answer);
    if (!knows_when(answer)) { return totals_words(answer); }
    if (shares.exposed >= much) { return communication_words(answer, shares); }
    if (shares.idle >= idle_much && !on_host) { return idle_words(answer, shares); }
    std::string const who = on_host ? "Threads of the host compute " : "Devices compute ";
    std::string const rest = answer.overlap_fraction ? percent(shares.exposed, 2) + " % is exposed communication, "
                                                     : std::string{"nothing is communication, "};
    return who + percent(shares.compute, 2) + " % of the time; " + rest + percent(shares.idle, 2) + " % is idle.";
}

/// "Ranks 0 and 6 arrive last in 60 of 84 collectives and keep the others waiting 400 ms."
std::string straggler_sentence(TraceAnswer const& answer) {
    std::vector<std::int64_t> late;
    for (Straggler const& one : answer.stragglers) {
        if (late.size() < 3 && one.why.starts_with("arrives")) { late.push_back(one.rank); }
    }
    if (late.empty()) {
        if (answer.stragglers.empty()) { return {}; }
        return "Rank " + std::to_string(answer.stragglers.front().rank) + " " + answer.stragglers.front().why + ".";
    }
    std::ranges::sort(late);
    std::int64_t last = 0;
    Ticks cost = 0;
    for (RankWaiting const& one : answer.collectives.waiting) {
        if (std::ranges::find(late, one.rank) == late.end()) { continue; }
        last += one.last;
        cost += one.kept_waiting;
    }
    std::string words = rank_words(late);
    words.front() = 'R';
    bool const one = late.size() == 1;
    return words + (one ? " arrives" : " arrive") + " last in " + std::to_string(last) + " of " +
           counted(answer.collectives.matched.size(), "collective") + " and" + (one ? " keeps" : " keep") +
           " the others waiting " + time_words(static_cast<double>(cost)) + ".";
}

/// "The critical path of the step is 82 % host and its delays; most helps: no waiting for late ranks (1.07x)."
std::string path_sentence(TraceAnswer const& answer) {
    if (!answer.path || answer.path->depth <= 0) { return {}; }
    PathAnswer const& path = *answer.path;
    auto const of_kind = [&](SpanKind kind) { return path.by_kind[static_cast<std::size_t>(kind)]; };
    auto const of_edge = [&](TraceEdge edge) { return path.delays_by[static_cast<std::size_t>(edge)]; };
    Ticks const host = of_kind(SpanKind::host) + of_kind(SpanKind::launch) + of_kind(SpanKind::annotation) +
                       of_edge(TraceEdge::program) + of_edge(TraceEdge::handover);
    Ticks const starts = of_edge(TraceEdge::launch) + of_edge(TraceEdge::stream) + of_edge(TraceEdge::wait) +
                         of_kind(SpanKind::synchronization) + of_kind(SpanKind::device_wait);
    std::array<std::pair<std::string_view, Ticks>, 4> const parts{
        {{"computation", of_kind(SpanKind::compute)},
         {"communication", of_kind(SpanKind::communication)},
         {"the host", host},
         {"delays between launch, streams and events", starts}}};
    auto const& [what, time] = *std::ranges::max_element(parts, {}, [](auto const& part) { return part.second; });
    std::string out = std::string{answer.step_ns ? "The critical path of the step runs "
                                                 : "The critical path of the whole file runs "} +
                      percent(static_cast<double>(time) / static_cast<double>(path.depth), 2) + " % through " +
                      std::string{what};
    auto const best = std::ranges::max_element(path.what_if, {}, &StepIf::speedup);
    if (best == path.what_if.end() || best->speedup < least_gain) { return out + "."; }
    return out + "; of the changes below most would gain \"" + kernel_words(best->what, 48) +
           "\": " + significant(best->speedup) + "x.";
}

std::string ceiling_sentence(TraceAnswer const& answer) {
    if (!answer.ceiling) { return {}; }
    std::string const now =
        answer.workers == 1 ? "this worker" : "these " + std::to_string(answer.workers) + " workers";
    std::string out = "More machines: at most " + significant(*answer.ceiling) + "x the speed of " + now +
                      " while what is not computation stays as it is";
    auto const next =
        std::ranges::find_if(answer.expected, [&](ExpectedSpeedup const& one) { return one.workers > answer.workers; });
    if (next == answer.expected.end()) { return out + "."; }
    return out + "; " + std::to_string(next->workers) + " give " + significant(next->speedup_over_now) + "x.";
}

} // namespace

std::vector<std::string> verdict_of(TraceAnswer const& answer) {
    std::vector<std::string> sentences{split_words(answer)};
    for (std::string const& more : {straggler_sentence(answer), path_sentence(answer), ceiling_sentence(answer)}) {
        if (!more.empty()) { sentences.push_back(more); }
    }
    return sentences;
}

} // namespace headroom::cli
