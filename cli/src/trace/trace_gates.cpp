#include "trace/trace_report.hpp"

#include "headroom/document/text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

namespace headroom::cli {
namespace {

constexpr char const* no_times = "unknown: the trace does not say when things ran";
constexpr char const* no_overlap = "unknown: the trace has no computation that overlaps with communication";
constexpr char const* no_steps = "unknown: the trace has no steps";
constexpr char const* no_match = "unknown: no collective was matched across ranks";

struct ShortName {
    GateName gate;
    char const* unknown;
};
constexpr std::array short_names{
    ShortName{{"compute", "shares.compute"}, no_times},
    ShortName{{"exposed", "shares.exposed"}, no_times},
    ShortName{{"idle", "shares.idle"}, no_times},
    ShortName{{"overlap", "overlap_fraction"}, no_overlap},
    ShortName{{"gamma", "gamma"}, no_overlap},
    ShortName{{"serial", "serial_fraction.value"}, no_overlap},
    ShortName{{"ceiling", "speedup_ceiling"}, no_overlap},
    ShortName{{"step", "step_seconds.p50"}, no_steps},
    ShortName{{"step-p90", "step_seconds.p90"}, no_steps},
    ShortName{{"step-p99", "step_seconds.p99"}, no_steps},
    ShortName{{"step-max", "step_seconds.max"}, no_steps},
    ShortName{{"skew", "skew.start_seconds.p50"}, no_match},
    ShortName{{"skew-p99", "skew.start_seconds.p99"}, no_match},
    ShortName{{"issues", "issue_count"}, ""},
};

} // namespace

std::vector<Metric> metrics_of(TraceReport const* report) {
    std::vector<GateName> names;
    for (ShortName const& one : short_names) { names.push_back(one.gate); }
    std::vector<Metric> metrics = metrics_of(field_table_of(report), report, names);
    bool const no_ceiling = report != nullptr && !knows_when(report->answer);
    for (std::size_t i = 0; i < short_names.size(); ++i) {
        bool const ceiling = short_names[i].gate.name == "ceiling";
        metrics[i].unknown = ceiling && no_ceiling ? no_times : short_names[i].unknown;
    }
    for (Metric& metric : metrics) { metric.may_have_baseline = true; }
    return metrics;
}

std::vector<Metric> metrics_beside(TraceReport const& report, TraceReport const& baseline) {
    std::vector<Metric> metrics = metrics_of(&report), before = metrics_of(&baseline);
    for (Metric& metric : metrics) {
        auto const same = std::ranges::find(before, metric.name, &Metric::name);
        if (same != before.end()) { metric.baseline = same->value; }
    }
    return metrics;
}

namespace {

constexpr double no_change = 0.005; ///< of the step
constexpr double much_of_it = 0.1;  ///< of the change of the whole: worth a word

double more(TraceChange const& change) { return change.after_ns - change.before_ns; }

std::string signed_words(double ns) { return (ns < 0.0 ? "-" : "+") + time_words(std::abs(ns)); }

/// Largest change of a list in the direction of the whole, where it has a third of the whole's.
std::string largest_words(std::vector<TraceChange> const& changes, double whole) {
    TraceChange const* largest = nullptr;
    for (TraceChange const& one : changes) {
        bool const same_way = more(one) * whole > 0.0;
        if (same_way && (largest == nullptr || std::abs(more(one)) > std::abs(more(*largest)))) { largest = &one; }
    }
    if (largest == nullptr || std::abs(more(*largest)) < std::abs(whole) / 3.0) { return {}; }
    return " (" + kernel_words(largest->name, 40) + " " + signed_words(more(*largest)) + ")";
}

bool copies(TraceChange const& kernel) { return kernel.name.starts_with("Mem"); } // Memcpy, Memset
bool computes(TraceChange const& kernel) { return !copies(kernel) && !names_communication(kernel.name); }

template <class Test> std::vector<TraceChange> kernels_that(TraceComparison const& comparison, Test const& test) {
    std::vector<TraceChange> kernels;
    std::ranges::copy_if(comparison.kernels, std::back_inserter(kernels), test);
    return kernels;
}

/// "exposed communication +12 ms (all_reduce of 8 ranks, 1 GB +11 ms)"
std::string part_words(TraceComparison const& comparison, TraceChange const& part) {
    std::string words = part.name + " " + signed_words(more(part));
    if (part.name == "idle") { return words + largest_words(comparison.idle, more(part)); }
    if (part.name == "compute") { return words + largest_words(kernels_that(comparison, computes), more(part)); }
    if (part.name == "memory") { return words + largest_words(kernels_that(comparison, copies), more(part)); }
    if (part.name == "exposed communication") { return words + largest_words(comparison.collectives, more(part)); }
    return words;
}

/// Parts by how much they changed; those that changed little are left out.
std::string reason_words(TraceComparison const& comparison) {
    TraceChange const& whole = comparison.parts.front();
    std::vector<TraceChange> parts(comparison.parts.begin() + 1, comparison.parts.end());
    std::ranges::stable_sort(parts, std::ranges::greater{}, [](TraceChange const& one) { return std::abs(more(one)); });
    double const least = std::max(much_of_it * std::abs(more(whole)), no_change * whole.before_ns);
    std::vector<std::string> words;
    for (TraceChange const& one : parts) {
        if (std::abs(more(one)) >= least) { words.push_back(part_words(comparison, one)); }
    }
    return join(words, ", ");
}

std::string speedup_words(TraceComparison const& comparison) {
    TraceChange const& whole = comparison.parts.front();
    std::string const what = comparison.per_step ? "a step" : "the file";
    std::string const times = ": " + time_words(whole.before_ns) + " before, " + time_words(whole.after_ns) + " now.";
    if (!comparison.speedup) {
        bool const files = comparison.ranks_before == comparison.ranks_after;
        std::string const why = files ? "not as many of the " + std::to_string(comparison.ranks_after) +
                                            " ranks have a trace in the baseline as in this run"
                                      : "the baseline has " + std::to_string(comparison.ranks_before) +
                                            " ranks, this run " + std::to_string(comparison.ranks_after);
        return "Not compared as a speedup: " + why + ". For " + what + " of a rank" + times;
    }
    double const ratio = *comparison.speedup;
    if (std::abs(ratio - 1.0) < no_change) { return "As fast as the baseline, " + what + times; }
    return significant(ratio > 1.0 ? ratio : 1.0 / ratio) + "x " + (ratio > 1.0 ? "faster" : "slower") +
           " than the baseline, " + what + times;
}

} // namespace

std::vector<std::string> change_sentences(TraceReport const& report) {
    if (!report.baseline || report.baseline->parts.empty()) { return {}; }
    TraceComparison const& comparison = *report.baseline;
    if (comparison.parts.front().before_ns <= 0.0 || comparison.parts.front().after_ns <= 0.0) { return {}; }
    std::vector<std::string> sentences{speedup_words(comparison)};
    if (std::string const why = reason_words(comparison); !why.empty()) {
        sentences.push_back("Changed: " + why + ".");
    }
    if (comparison.matched_steps > 0) {
        sentences.push_back("Only the " + counted(static_cast<std::size_t>(comparison.matched_steps), "step") +
                            " that both have are compared.");
    }
    return sentences;
}

} // namespace headroom::cli
