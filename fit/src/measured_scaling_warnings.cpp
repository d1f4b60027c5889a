#include "headroom/fit/measured_scaling.hpp"
#include "headroom/quantity.hpp"
#include "headroom/text.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::fit {
namespace {

using text::counted, text::join, text::percent, text::significant;

constexpr std::size_t least_values = 3;  ///< below, nothing is called an outlier
constexpr std::size_t enough_values = 5; ///< below, the median's own scatter is hardly known
constexpr double outlier_spreads = 5.0;  ///< robust standard deviations from the median
constexpr double outlier_share = 0.1;    ///< and at least this share of it
constexpr double share_of_few = 0.3;     ///< likewise, of fewer than `enough_values`
constexpr std::size_t most_named = 3;
constexpr double slow_first_share = 0.2;   ///< by which a first run is slower than the slowest of the others
constexpr double busy_share = 0.25;        ///< of the cores, by other processes, before the first run
constexpr double chance = 0.05;            ///< above, two sets of values do not differ significantly
constexpr double drift_probability = 0.01; ///< of so much order by chance
constexpr double drift_share = 0.05;       ///< of the median, from the first to the last
constexpr double shortest_seconds = 5e-3;  ///< of a run: below, starting a process is a good part of it

using Warnings = std::vector<ScalingWarning>;

std::string workers_list(std::vector<int> const& workers) {
    std::vector<std::string> words;
    for (int const one : workers) { words.push_back(std::to_string(one)); }
    return join(words, ", ");
}

/// "at 4 workers", "at 1, 2 and so on"
std::string at_words(std::vector<int> const& workers) {
    return "at " + workers_list(workers) + (workers == std::vector{1} ? " worker" : " workers");
}

void add_machine(MeasuredScaling const& answer, int cores, bool others, Warnings& warnings) {
    int const most = answer.question.workers.back();
    if (most > cores) {
        warnings.push_back({"workers_beyond_cores", std::to_string(most) + " workers on " +
                                                        counted(static_cast<std::size_t>(cores), "core") +
                                                        " of this machine, if they all run here: they take turns, and "
                                                        "what looks like overhead is that"});
    }
    if (answer.noticed.load_before.value_or(0.0) > busy_share * cores) {
        warnings.push_back({"load", "the machine was busy before the first run: a load of " +
                                        significant(*answer.noticed.load_before) + " on " +
                                        counted(static_cast<std::size_t>(cores), "core")});
    }
    if (others) {
        warnings.push_back({"others_measure", "another campaign was being measured when this one began: both slow each "
                                              "other down"});
    }
}

bool is_outlier(SampleSummary const& summary, double value) {
    double const away = std::abs(value - summary.median);
    double const share = summary.count < enough_values ? share_of_few : outlier_share;
    return away > share * summary.median && away > outlier_spreads * summary.spread * summary.median;
}

/// "run 3 at 4 workers (812 ms, median 410 ms)"
std::string outlier_words(MeasuredScaling const& answer, MeasuredScalingRow const& row, std::size_t run) {
    auto const words = [&](double value) {
        return answer.question.throughput() ? significant(value) : format(Seconds{value});
    };
    return "run " + std::to_string(run + 1) + " " + at_words({row.workers}) + " (" + words(row.values[run]) +
           ", median " + words(row.summary->median) + ")";
}

void add_outliers(MeasuredScaling const& answer, Warnings& warnings) {
    std::size_t of = 0;
    std::vector<std::string> outliers;
    for (MeasuredScalingRow const& row : answer.rows) {
        of += row.values.size();
        for (std::size_t run = 0; row.values.size() >= least_values && run < row.values.size(); ++run) {
            if (is_outlier(*row.summary, row.values[run])) { outliers.push_back(outlier_words(answer, row, run)); }
        }
    }
    if (outliers.empty()) { return; }
    std::size_t const count = outliers.size();
    outliers.resize(std::min(count, most_named));
    warnings.push_back(
        {"outliers", std::to_string(count) + " of " + counted(of, "run") + (count == 1 ? " lies" : " lie") +
                         " far from the median: " + join(outliers, ", ") + (count > most_named ? " and more" : "") +
                         ". Something else ran meanwhile, or now and then the command does more. "
                         "Speedups are of medians, which bear it; the law is fitted to all runs: "
                         "--centre median"});
}

/// The first run that counts is slower than every other: caches were cold.
bool slow_first(MeasuredScaling const& answer, MeasuredScalingRow const& row) {
    if (row.values.size() < 3) { return false; }
    auto const [least, most] = std::minmax_element(row.values.begin() + 1, row.values.end());
    return answer.question.throughput() ? row.values.front() * (1.0 + slow_first_share) < *least
                                        : row.values.front() > (1.0 + slow_first_share) * *most;
}

void add_slow_first(MeasuredScaling const& answer, Warnings& warnings) {
    std::vector<int> where;
    for (MeasuredScalingRow const& row : answer.rows) {
        if (slow_first(answer, row)) { where.push_back(row.workers); }
    }
    if (where.empty()) { return; }
    warnings.push_back(
        {"slow_first_run",
         "the first run " + at_words(where) + " is slower than all that followed, as with cold caches: " +
             (answer.question.warm_up == 0 ? "try --warm-up 1"
                                           : "try more than --warm-up " + std::to_string(answer.question.warm_up))});
}

/// Counts whose values rise or fall with their order, whatever drew it.
void add_drift(MeasuredScaling const& answer, Warnings& warnings) {
    std::vector<int> where;
    double most = 0.0;
    for (MeasuredScalingRow const& row : answer.rows) {
        auto const drift = find_drift(thinned(row.values));
        if (!drift || drift->probability > drift_probability || std::abs(drift->change) < drift_share) { continue; }
        where.push_back(row.workers);
        if (std::abs(drift->change) > std::abs(most)) { most = drift->change; }
    }
    if (where.empty()) { return; }
    warnings.push_back({"drift", "values " + at_words(where) + (most > 0.0 ? " rise" : " fall") +
                                     " with time, by up to " + percent(std::abs(most)) +
                                     " % from the first run to the last: a clock that changes, or other work; rounds "
                                     "spread it over all counts alike, but it widens every interval"});
}

/// Whether two sets of values could be one: by ranks, and of few by the intervals of their medians.
bool indistinct(MeasuredScalingRow const& one, MeasuredScalingRow const& other) {
    constexpr std::size_t enough_for_ranks = 4; // as `compare_samples` asks
    if (std::min(one.values.size(), other.values.size()) >= enough_for_ranks) {
        return compare_samples(thinned(one.values), thinned(other.values)).probability > chance;
    }
    return one.summary->low <= other.summary->high && other.summary->low <= one.summary->high;
}

/// Neighbours without a significant difference.
void add_noise(MeasuredScaling const& answer, Warnings& warnings) {
    if (answer.question.weak) { return; } // where they should be alike
    std::vector<std::string> pairs;
    MeasuredScalingRow const* before = nullptr;
    for (MeasuredScalingRow const& row : answer.rows) {
        if (!row.summary || row.values.size() < 2) { continue; }
        if (before != nullptr && indistinct(*before, row)) {
            pairs.push_back(std::to_string(before->workers) + " and " + std::to_string(row.workers));
        }
        before = &row;
    }
    if (pairs.empty()) { return; }
    warnings.push_back({"noise", "noise is as large as the difference between " + join(pairs, ", ") +
                                     " workers: try more --repeats or a longer command"});
}

void add_short(MeasuredScaling const& answer, Warnings& warnings) {
    if (!answer.question.pattern.empty()) { return; }
    std::vector<int> where;
    for (MeasuredScalingRow const& row : answer.rows) {
        if (row.summary && row.summary->median < shortest_seconds) { where.push_back(row.workers); }
    }
    if (where.empty()) { return; }
    warnings.push_back({"short_runs", "runs " + at_words(where) +
                                          " take less than 5 ms: a good part of that is the start of a process"});
}

void add_leftovers(MeasuredScaling const& answer, Warnings& warnings) {
    if (answer.noticed.left_behind > 0) {
        warnings.push_back({"left_behind", counted(answer.noticed.left_behind, "run") +
                                               " left processes behind, which were ended: the time is that of the "
                                               "command alone, without them"});
    }
    if (answer.noticed.cut > 0) {
        warnings.push_back({"output_cut", counted(answer.noticed.cut, "run") +
                                              " printed more than a megabyte: the result was looked for in its end"});
    }
    if (answer.question.weak && !answer.question.problem) {
        warnings.push_back({"weak_without_size",
                            "--mode weak, and COMMAND takes no {size} or {per_worker}: the work is "
                            "taken to grow with the workers by itself"});
    }
}

} // namespace

std::vector<ScalingWarning> warnings_of(MeasuredScaling const& answer, int cores, bool others) {
    Warnings warnings;
    add_machine(answer, cores, others, warnings);
    add_outliers(answer, warnings);
    add_slow_first(answer, warnings);
    add_drift(answer, warnings);
    add_noise(answer, warnings);
    add_short(answer, warnings);
    add_leftovers(answer, warnings);
    return warnings;
}

} // namespace headroom::fit
