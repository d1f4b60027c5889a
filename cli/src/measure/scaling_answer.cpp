#include "measure/scaling_answer.hpp"

#include "laws/laws_fit.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::cli {

using namespace headroom::measure;

namespace {

void count_sample(Sample const& sample, ScalingRow& row) {
    switch (sample.outcome) {
    case SampleOutcome::measured: row.values.push_back(sample.value); break;
    case SampleOutcome::warm_up: ++row.warm_ups; return;
    case SampleOutcome::failed: ++row.failed; break;
    case SampleOutcome::timed_out: ++row.timed_out; break;
    case SampleOutcome::unreadable: ++row.unreadable; break;
    }
    ++row.taken;
    if (row.first_message.empty()) { row.first_message = sample.message; }
}

constexpr std::size_t enough_for_ratios = 4; ///< values on each side, as `compare_ratio` asks

/// How many times as fast, over a fixed problem or one that grows with the workers.
///
///     strong: T0 / T, X / X0        weak: (K / K0) T0 / T; rates count all the work: X / X0
///
/// The median of the ratios of all pairs of runs, with its interval; of fewer than four runs the ratio of medians.
void add_speedup(ScalingQuestion const& question, ScalingRow const& first, ScalingRow& row) {
    double const more = static_cast<double>(row.workers) / first.workers;
    bool const rate = question.throughput();
    double const grown = !rate && question.scaling == fit::Scaling::weak ? more : 1.0;
    if (&first == &row) {
        row.speedup = 1.0;
    } else if (std::min(first.values.size(), row.values.size()) < enough_for_ratios) {
        double const here = row.summary->median, there = first.summary->median;
        row.speedup = grown * (rate ? here / there : there / here);
    } else {
        std::vector<double> const here = thinned(row.values), there = thinned(first.values);
        SampleRatio const ratio = rate ? compare_ratio(there, here) : compare_ratio(here, there);
        row.speedup = grown * ratio.ratio;
        row.speedup_low = grown * ratio.low;
        row.speedup_high = grown * ratio.high;
    }
    row.efficiency = *row.speedup / more;
}

void add_speedups(ScalingQuestion const& question, std::vector<ScalingRow>& rows) {
    auto const first = std::ranges::find_if(rows, [](ScalingRow const& row) { return row.summary.has_value(); });
    for (ScalingRow& row : rows) {
        if (row.summary) { add_speedup(question, *first, row); }
    }
}

} // namespace

std::size_t ScalingAnswer::failures() const {
    std::size_t sum = 0;
    for (ScalingRow const& row : rows) { sum += row.failed + row.timed_out + row.unreadable; }
    return sum;
}

std::size_t ScalingAnswer::values() const {
    std::size_t sum = 0;
    for (ScalingRow const& row : rows) { sum += row.values.size(); }
    return sum;
}

std::string ScalingAnswer::first_message() const {
    for (Sample const& sample : campaign.samples) {
        if (!sample.message.empty()) { return sample.message; }
    }
    return "";
}

std::vector<double> thinned(std::vector<double> const& values) {
    constexpr std::size_t most = 1000;
    std::size_t const step = values.size() / most + 1;
    std::vector<double> kept;
    for (std::size_t i = 0; i < values.size(); i += step) { kept.push_back(values[i]); }
    return kept;
}

std::vector<ScalingRow> rows_of(ScalingQuestion const& question, Campaign const& campaign) {
    std::vector<ScalingRow> rows;
    for (int const workers : question.workers) {
        std::vector<std::string> words = command_at(question, workers).words;
        ScalingRow row{.workers = workers, .command = command_words(words), .planned = question.repeats};
        if (question.problem) { row.size = filled(question, "{size}", workers); }
        rows.push_back(std::move(row));
    }
    for (Sample const& sample : campaign.samples) { count_sample(sample, rows.at(sample.point)); }
    for (ScalingRow& row : rows) {
        if (!row.values.empty()) { row.summary = summarize(row.values); }
    }
    add_speedups(question, rows);
    return rows;
}

FitAnswer fit_of(ScalingQuestion const& question, Campaign const& campaign, Arguments const& arguments) {
    FitAnswer answer;
    answer.table.workers_column = "workers";
    answer.table.value_column = question.throughput() ? "throughput" : "seconds";
    answer.data.measured = question.measured();
    answer.data.scaling = question.scaling;
    for (std::uint32_t point = 0; point < campaign.points.size(); ++point) {
        double const workers = question.workers.at(point);
        for (double const value : values_of(campaign, point)) {
            answer.data.samples.push_back({.workers = workers, .value = value});
        }
    }
    if (answer.data.samples.empty()) {
        throw InputError{Fault::insufficient, {.where = "measure scaling", .problem = "no run has a result"}};
    }
    answer.question = read_fit_question(arguments.without("--seed"), answer.data);
    answer.report = fit::fit_scaling(answer.data, answer.question);
    return answer;
}

} // namespace headroom::cli
