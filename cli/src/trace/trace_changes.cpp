#include "trace/trace_report.hpp"
#include "trace/trace_words.hpp"

#include "headroom/document/text.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace headroom::cli {

using namespace headroom::trace;

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
        return "Not compared as a speedup: the baseline has " + std::to_string(comparison.ranks_before) +
               " ranks, this run " + std::to_string(comparison.ranks_after) + " (or another number of files). For " +
               what + " of a rank" + times;
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
