#include "headroom/fit/measured_scaling.hpp"

#include "headroom/error.hpp"
#include "headroom/laws/laws.hpp"
#include "headroom/text.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::fit {

using namespace headroom::laws;
using namespace headroom::measure;

namespace {

void count_sample(Sample const& sample, MeasuredScalingRow& row) {
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

/// Adds the speedup over the first row, for a fixed problem or one that grows with the workers.
///
///     strong: T0 / T, X / X0        weak: (K / K0) T0 / T; rates count all the work: X / X0
///
/// T and X are medians. The interval is that of the ratios of all pairs of runs, for four runs or more.
void add_speedup(ScalingQuestion const& question, MeasuredScalingRow const& first, MeasuredScalingRow& row) {
    double const more = static_cast<double>(row.workers) / first.workers;
    bool const rate = question.throughput();
    double const grown = !rate && question.weak ? more : 1.0;
    double const now = row.summary->median, before = first.summary->median;
    row.speedup = grown * (rate ? now / before : before / now);
    bool const enough = std::min(first.values.size(), row.values.size()) >= enough_for_ratios;
    if (&first != &row && enough) {
        std::vector<double> const here = thinned(row.values), there = thinned(first.values);
        SampleRatio const ratio = rate ? compare_ratio(there, here) : compare_ratio(here, there);
        row.speedup_low = std::min(*row.speedup, grown * ratio.low);
        row.speedup_high = std::max(*row.speedup, grown * ratio.high);
    }
    row.efficiency = *row.speedup / more;
}

void add_speedups(ScalingQuestion const& question, std::vector<MeasuredScalingRow>& rows) {
    auto const first =
        std::ranges::find_if(rows, [](MeasuredScalingRow const& row) { return row.summary.has_value(); });
    for (MeasuredScalingRow& row : rows) {
        if (row.summary) { add_speedup(question, *first, row); }
    }
}

std::vector<MeasuredScalingRow> rows_of(ScalingQuestion const& question, Campaign const& campaign) {
    std::vector<MeasuredScalingRow> rows;
    for (int const workers : question.workers) {
        MeasuredScalingRow row{
            .workers = workers, .command = command_words(command_at(question, workers)), .planned = question.repeats};
        if (question.problem) { row.size = filled(question, "{size}", workers); }
        rows.push_back(std::move(row));
    }
    for (Sample const& sample : campaign.samples) { count_sample(sample, rows.at(sample.point)); }
    for (MeasuredScalingRow& row : rows) {
        if (!row.values.empty()) { row.summary = summarize(row.values); }
    }
    add_speedups(question, rows);
    return rows;
}

/// Laws fitted to the values. Errors: InputError{insufficient}.
FitAnswer fit_of(MeasuredScaling const& answer, FitQuestion const& question) {
    FitAnswer fit;
    fit.table.workers_column = "workers";
    fit.table.value_column = answer.question.throughput() ? "throughput" : "seconds";
    fit.data = data_of(answer.question);
    for (MeasuredScalingRow const& row : answer.rows) {
        for (double const value : row.values) {
            fit.data.samples.push_back({.workers = static_cast<double>(row.workers), .value = value});
        }
    }
    if (fit.data.samples.empty()) { too_little("measure scaling", "no run has a result"); }
    fit.question = question;
    fit.report = fit_scaling(fit.data, fit.question);
    return fit;
}

/// A line goes through any two counts and says nothing of where the curve bends.
void fit_or_say_why(MeasuredScaling& answer, FitQuestion const& question) {
    constexpr std::size_t least_counts = 3;
    auto const counts = std::ranges::count_if(answer.rows, [](auto const& row) { return row.summary.has_value(); });
    if (static_cast<std::size_t>(counts) < least_counts) {
        std::size_t const asked = answer.rows.size();
        answer.why_no_fit = "No law is fitted: " + std::to_string(counts) + " of " +
                            text::counted(asked, "worker count") + (counts == 1 ? " has" : " have") +
                            " a result, and a curve that bends needs three. " +
                            (!answer.complete()     ? "The others were not measured yet."
                             : asked < least_counts ? "Name more of them in --workers."
                                                    : "See why the others failed.");
        return;
    }
    try {
        answer.fit = fit_of(answer, question);
    } catch (InputError const& error) {
        if (error.fault() != Fault::insufficient) { throw; }
        ErrorText const& text = error.text();
        answer.why_no_fit = "No law is fitted: " + text.problem + (text.why.empty() ? "" : " (" + text.why + ")") +
                            (text.hint.empty() ? "" : ". " + text.hint) + ".";
    }
}

} // namespace

std::size_t MeasuredScaling::failures() const {
    std::size_t sum = 0;
    for (MeasuredScalingRow const& row : rows) { sum += row.failed + row.timed_out + row.unreadable; }
    return sum;
}

std::size_t MeasuredScaling::values() const {
    std::size_t sum = 0;
    for (MeasuredScalingRow const& row : rows) { sum += row.values.size(); }
    return sum;
}

std::string MeasuredScaling::first_message() const {
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

ScalingData data_of(ScalingQuestion const& question) {
    return {.samples = {},
            .measured = question.throughput() ? Measured::throughput : Measured::seconds,
            .scaling = question.weak ? Scaling::weak : Scaling::strong,
            .centre = Centre::median};
}

void work_out(MeasuredScaling& answer, FitQuestion const& question, int cores, bool others) {
    answer.rows = rows_of(answer.question, answer.campaign);
    answer.warnings = warnings_of(answer, cores, others);
    fit_or_say_why(answer, question);
}

KarpFlattPoint const* last_serial_fraction(MeasuredScaling const& answer) {
    bool const known = answer.fit && answer.fit->report.karp_flatt && !answer.fit->report.karp_flatt->points.empty();
    return known ? &answer.fit->report.karp_flatt->points.back() : nullptr;
}

std::optional<std::string> stop_words(MeasuredScaling const& answer) {
    if (!answer.fit || !answer.fit->of_steps()) { return std::nullopt; }
    FitAnswer const& fit = *answer.fit;
    std::string const law = fit.best().law->name, gain = text::significant(knee_gain, 2) + "x";
    std::optional<double> const knee = knee_of(fit), peak = fit.best().peak_workers;
    std::string text;
    if (knee) {
        text = "at " + text::counted(static_cast<std::size_t>(std::llround(*knee)), "worker") + ": by " + law +
               " a further doubling gives less than " + gain;
    }
    if (peak && *peak <= fit.largest_measured()) {
        text += (knee ? "; n" : "n") + std::string{"ever beyond "} + text::significant(std::max(1.0, *peak), 3) +
                ", where more make it slower" + (knee ? "" : " (by " + law + ")");
    }
    if (!text.empty()) { return text; }
    if (fit.data.scaling == Scaling::weak) {
        return "where the efficiency below is no longer worth its price: the work grows with the workers, so there is "
               "no knee";
    }
    return "not before " + std::to_string(std::llround(fit.largest_measured())) + " workers: by " + law +
           " every doubling up to there gave at least " + gain + ", and beyond nothing was measured";
}

} // namespace headroom::fit
