#include "trace/trace_report.hpp"

#include "headroom/document/canvas.hpp"
#include "headroom/document/text.hpp"
#include "headroom/quantity.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace headroom::cli {

std::string time_words(double ns) { return ns == 0.0 ? "0 s" : format(Seconds{ns / 1e9}); }

TimeUnit unit_for(double longest_ns) {
    constexpr std::array all{TimeUnit{"s", 1e9}, TimeUnit{"ms", 1e6}, TimeUnit{"us", 1e3}};
    for (TimeUnit const& unit : all) {
        if (longest_ns >= unit.ns) { return unit; }
    }
    return all.back();
}

std::string in_unit(double ns, TimeUnit unit) { return ns == 0.0 ? "0" : significant(ns / unit.ns); }

std::string list_words(std::vector<std::int64_t> const& numbers) {
    constexpr std::size_t most = 6;
    std::string out;
    std::size_t const shown = numbers.size() > most ? 3 : numbers.size();
    for (std::size_t i = 0; i < shown; ++i) {
        bool const last = i + 1 == numbers.size();
        if (i > 0) { out += last ? " and " : ", "; }
        out += std::to_string(numbers[i]);
    }
    if (shown < numbers.size()) { out += " and " + std::to_string(numbers.size() - shown) + " more"; }
    return out;
}

std::string rank_words(std::vector<std::int64_t> const& ranks) {
    return (ranks.size() == 1 ? "rank " : "ranks ") + list_words(ranks);
}

namespace {

/// A function's name without what it returns and takes: "void f<4>(int, float*)" -> "f<4>".
std::string without_arguments(std::string name) {
    if (name.starts_with("void ")) { name.erase(0, 5); }
    if (!name.ends_with(')')) { return name; }
    int depth = 0;
    for (std::size_t at = name.size(); at-- > 1;) {
        depth += name[at] == ')' ? 1 : name[at] == '(' ? -1 : 0;
        if (depth == 0) { return name.substr(0, at); }
    }
    return name;
}

} // namespace

std::string kernel_words(std::string const& name, std::size_t width) {
    std::string clean = printable(name);
    if (columns_of(clean) > width) { clean = without_arguments(std::move(clean)); }
    std::vector<std::string> const letters = letters_of(clean);
    if (letters.size() <= width) { return clean; }
    std::size_t const tail = (width - 2) / 3, head = width - 2 - tail;
    std::string out;
    for (std::size_t i = 0; i < head; ++i) { out += letters[i]; }
    out += "..";
    for (std::size_t i = letters.size() - tail; i < letters.size(); ++i) { out += letters[i]; }
    return out;
}

std::string_view kind_words(SpanKind kind) {
    switch (kind) {
    case SpanKind::compute: return "computation";
    case SpanKind::communication: return "communication";
    case SpanKind::memory: return "copies and fills";
    case SpanKind::device_wait: return "device waits";
    case SpanKind::launch: return "launch calls";
    case SpanKind::synchronization: return "host waits for device";
    case SpanKind::host: return "host";
    case SpanKind::annotation: return "annotation";
    }
    return "other";
}

namespace {

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

std::string communication_words(TraceAnswer const& answer, TraceVerdict const& verdict) {
    DeviceShares const& shares = verdict.shares;
    double const hidden = answer.overlap_fraction.value_or(0.0);
    std::string const how = hidden < 0.2   ? "Communication is not hidden"
                            : hidden < 0.8 ? "Communication is hidden in part"
                                           : "Most communication is hidden, yet";
    std::string const of = answer.ranks.size() > 1 ? " of a rank's " : " of ";
    return how + (hidden < 0.8 ? ": " : " ") + range_of(answer, &DeviceTimes::exposed) + of +
           range_of(answer, &DeviceTimes::window) + " (" + percent(shares.exposed, 2) + " %) are exposed" +
           (verdict.waiting.value_or(0.0) >= 0.1
                ? "; " + percent(*verdict.waiting, 2) + " % of communication is waiting for late ranks."
                : ".");
}

std::string idle_words(TraceVerdict const& verdict) {
    std::string const why =
        verdict.idle_reason == IdleReason::host_bound ? "because the CPU launches kernels too late (launch-bound)"
        : verdict.idle_reason == IdleReason::waiting  ? "waiting for another stream, an event or another rank"
                                                      : "between kernels; the trace does not show why";
    return "Devices are idle " + percent(verdict.shares.idle, 2) + " % of the time, " +
           percent(verdict.idle_reason_share, 2) + " % of that " + why + ".";
}

/// Tables of totals: sums alone.
std::string totals_words(TraceAnswer const& answer) {
    DeviceTimes const sum = time_sum(answer.ranks);
    if (answer.work_missing) {
        return "The table does not hold all rows, so the sums are too small: print it with row_limit=-1. Those that "
               "are there: computation " +
               time_words(static_cast<double>(sum.compute)) + ", communication " +
               time_words(static_cast<double>(sum.communication)) + ".";
    }
    std::string const totals = "Totals alone: computation " + time_words(static_cast<double>(sum.compute)) +
                               ", communication " + time_words(static_cast<double>(sum.communication));
    return totals + (answer.ranks.size() > 1 ? " on all ranks together" : "") +
           ". Whether they overlap, and how long a device was idle, " +
           (answer.ranks.size() > 1 ? "these traces do not say." : "this trace does not say.");
}

/// Launches whose kernels the profiler lost.
std::string missing_words(TraceAnswer const& answer) {
    return "Device work is missing: " + std::to_string(answer.without_work) + " of " +
           counted(static_cast<std::size_t>(answer.launches), "launch call") +
           " have no kernel in the traces. Sums are too small, so no share of time is computed from them. "
           "Record fewer steps, or with a larger buffer of the profiler.";
}

/// Where the time goes.
std::string split_words(TraceAnswer const& answer, TraceVerdict const& verdict) {
    DeviceShares const& shares = verdict.shares;
    switch (verdict.finding) {
    case TimeFinding::totals: return totals_words(answer);
    case TimeFinding::missing_work: return missing_words(answer);
    case TimeFinding::exposed_communication: return communication_words(answer, verdict);
    case TimeFinding::idle: return idle_words(verdict);
    case TimeFinding::computation: break;
    }
    std::string const who = verdict.on_host ? "Threads of the host compute " : "Devices compute ";
    bool const alone = answer.workers == 1; // nobody to communicate with
    std::string const rest = answer.overlap_fraction ? percent(shares.exposed, 2) + " % is exposed communication, "
                             : alone                 ? std::string{}
                                                     : std::string{"nothing is communication, "};
    return who + percent(shares.compute, 2) + " % of the time; " + rest + percent(shares.idle, 2) + " % is idle.";
}

/// "Ranks 0 and 6 arrive last in 60 of 84 collectives and keep the others waiting 400 ms."
std::string straggler_sentence(TraceAnswer const& answer, std::optional<LateRanks> const& late) {
    if (!late) {
        Straggler const& first = answer.stragglers.front();
        return "Rank " + std::to_string(first.rank) + " " + words_of(first) + ".";
    }
    std::string words = rank_words(late->ranks);
    words.front() = 'R';
    if (!late->pattern.empty()) {
        words += " (" + std::string{late->ranks.size() > 1 ? "all " : ""} + late->pattern + ")";
    }
    bool const one = late->ranks.size() == 1;
    return words + (one ? " arrives" : " arrive") + " last in " + std::to_string(late->last) + " of " +
           counted(answer.collectives.matched.size(), "collective") + " and" + (one ? " keeps" : " keep") +
           " the others waiting " + time_words(static_cast<double>(late->kept_waiting)) + ".";
}

std::string_view part_words(PathPart part) {
    switch (part) {
    case PathPart::computation: return "computation";
    case PathPart::communication: return "communication";
    case PathPart::host: return "the host";
    case PathPart::starts: return "delays between launch, streams and events";
    }
    return {};
}

/// "The critical path of the step runs 82 % through the host; ..."
std::string path_sentence(PathFinding const& path, bool has_steps) {
    std::string const out =
        std::string{has_steps ? "The critical path of the step runs " : "The critical path of the whole file runs "} +
        percent(path.share, 2) + " % through " + std::string{part_words(path.part)};
    return out + ".";
}

/// The cause whose removal gains most, with its remedy, and the next two: "Next: copies (1.12x), launches (1.05x)."
void add_advice(std::optional<PathAnswer> const& path, std::vector<Sentence>& sentences) {
    if (!path || path->advice.empty()) { return; }
    Advice first = path->advice.front();
    std::string const remedy = remedy_words(first);
    if (subject_is_name(first.rule)) { first.subject = kernel_words(first.subject, 48); }
    sentences.push_back({finding_words(first, path->depth), what_if_title});
    if (!remedy.empty()) { sentences.push_back({remedy}); }
    std::vector<std::string> next;
    for (std::size_t i = 1; i < path->advice.size() && i < 3; ++i) {
        Advice const& one = path->advice[i];
        std::string name{name_of(one.rule)};
        std::ranges::replace(name, '_', ' ');
        if (one.rule == AdviceRule::kernel) { name = kernel_words(one.subject, 32) + " twice as fast"; }
        next.push_back(name + " (" + significant(one.speedup) + "x)");
    }
    if (!next.empty()) { sentences.push_back({"Next: " + join(next, ", ") + ".", what_if_title}); }
}

/// "16 requests", "15.4 requests"
std::string requests_words(double mean) {
    bool const whole = mean == std::floor(mean);
    return whole ? counted(static_cast<std::size_t>(mean), "request") : significant(mean) + " requests";
}

/// "Decode: 120 steps of 12.3 ms, the time of a token; 16 requests, 1,300 tokens/s."
std::string phase_sentence(PhaseSummary const& phase) {
    std::string words{name_of(phase.kind)};
    words.front() = static_cast<char>(words.front() - 'a' + 'A');
    words += ": " + counted(static_cast<std::size_t>(phase.steps), "step") + " of " + time_words(phase.step_ns);
    if (phase.kind == PhaseKind::decode) { words += ", the time of a token"; }
    if (phase.requests > 0.0) { words += "; " + requests_words(phase.requests) + " at once"; }
    if (phase.tokens_per_second) { words += ", " + significant(*phase.tokens_per_second) + " tokens/s"; }
    return words + ".";
}

std::string ceiling_sentence(TraceAnswer const& answer, std::optional<ExpectedSpeedup> const& next) {
    std::string const now = !answer.workers        ? "now"
                            : *answer.workers == 1 ? "this worker"
                                                   : "these " + std::to_string(*answer.workers) + " workers";
    std::string const out = "More machines: at most " + significant(*answer.ceiling) + "x the speed of " + now +
                            " while what is not computation stays as it is";
    if (!next) { return out + "."; }
    return out + "; " + std::to_string(next->workers) + " give " + significant(next->speedup_over_now) + "x.";
}

/// "3 of 4 ranks were read; every figure is of these alone."
std::string unread_sentence(TraceReport const& report) {
    bool const part = std::ranges::any_of(report.unread, [](auto const& line) { return line.starts_with("--shard "); });
    if (part) { return "Parts of the run are missing: every figure is of the others alone."; }
    std::size_t const read = report.answer.ranks.size(), all = read + report.unread.size();
    return std::to_string(read) + " of " + counted(all, "rank") + (read == 1 ? " was" : " were") +
           " read; every figure is of " + (read == 1 ? "it" : "these") + " alone.";
}

} // namespace

std::vector<Sentence> verdict_sentences(TraceReport const& report) {
    TraceAnswer const& answer = report.answer;
    TraceVerdict const verdict = trace_verdict(answer);
    std::vector<Sentence> sentences;
    if (!report.unread.empty()) { sentences.push_back({unread_sentence(report), issues_title}); }
    if (!answer.work_missing) { add_advice(answer.path, sentences); }
    for (PhaseSummary const& one : answer.phases) { sentences.push_back({phase_sentence(one)}); }
    sentences.push_back({split_words(answer, verdict), answer.work_missing ? issues_title : rank_bars_title});
    if (!answer.stragglers.empty()) { sentences.push_back({straggler_sentence(answer, verdict.late), arrivals_title}); }
    bool const of_host = verdict.path && verdict.path->part == PathPart::host;
    auto const said =
        answer.path && !answer.path->advice.empty() ? answer.path->advice.front().rule : AdviceRule::kernel;
    bool const is_said = of_host && (verdict.on_host || said == AdviceRule::launches || said == AdviceRule::unrecorded);
    if (verdict.path && !is_said) {
        sentences.push_back({path_sentence(*verdict.path, answer.step_ns.has_value()), path_kinds_title});
    }
    if (answer.ceiling &&
        answer.gamma.value_or(0.0) > 0.0) { // a step without communication says nothing of more machines
        sentences.push_back({ceiling_sentence(answer, verdict.next), sharing_title});
    }
    return sentences;
}

std::vector<std::string> verdict_words(TraceReport const& report) {
    std::vector<std::string> words;
    for (Sentence const& one : verdict_sentences(report)) { words.push_back(one.text); }
    return words;
}

} // namespace headroom::cli
