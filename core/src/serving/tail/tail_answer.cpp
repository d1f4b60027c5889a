#include "headroom/serving/tail_answer.hpp"

#include "tail_points.hpp"

#include "headroom/error.hpp"

#include <algorithm>

namespace headroom::serving {
namespace {

constexpr std::array hedge_quantiles{0.0, 0.5, 0.75, 0.9, 0.95, 0.99};

void compare_runs(TailAnswer& answer, TailSet baseline) {
    if (baseline.times != answer.set.times) {
        refuse("--baseline", baseline.times ? "it holds times" : "it holds plain numbers",
               answer.set.times ? "the samples are times" : "the samples are plain numbers", "give --unit");
    }
    if (baseline.values.empty()) {
        too_little("--baseline", "it states quantiles and holds no samples", "a comparison needs samples",
                   "give the raw latencies of that run");
    }
    std::vector<double> const quantiles(tail_quantiles.begin(), tail_quantiles.end() - 1);
    TailComparison runs =
        compare_tails(baseline.values, answer.set.values, quantiles, baseline.worth, answer.set.worth);
    answer.comparison = BaselineComparison{.baseline = std::move(baseline), .runs = std::move(runs)};
}

void fit_families(TailAnswer& answer, TailFitter fitter) {
    if (!answer.question.fit) { return; }
    try {
        answer.fits = fitter(answer.set.values);
    } catch (InputError const& error) { answer.why_no_fit = error.text().problem; }
}

void ask_backups(TailFanOut& row, TailAnswer const& answer, Ranks workers) {
    row.backups.push_back(backup_workers(answer.set.values, workers, 0));
    for (int const backups : answer.question.backups) {
        if (backups < workers.count()) { row.backups.push_back(backup_workers(answer.set.values, workers, backups)); }
    }
    row.best_backups = best_backup_workers(answer.set.values, workers).backups;
}

void ask_fan_outs(TailAnswer& answer) {
    TailQuestion const& question = answer.question;
    for (int const workers : question.fan_out) {
        Ranks const ranks{workers};
        TailFanOut row{.seen = fan_out(answer.set.values, ranks, answer.slow->threshold),
                       .each_must_keep = quantile_for_each(0.99, ranks)};
        if (TailFit const* const beyond = answer.beyond()) {
            FanOut const fitted = fan_out(answer.set.values, beyond->distribution, ranks, answer.slow->threshold);
            row.fitted = {fitted.probability_slow, fitted.p50, fitted.p90, fitted.p99, fitted.p999, fitted.mean};
        }
        if (question.wants_backups && workers > 1) { ask_backups(row, answer, ranks); }
        answer.fan_outs.push_back(std::move(row));
    }
}

double resolve(TailPoint const& point, TailAnswer const& answer, std::string_view where) {
    return point.q ? answer.set.values.quantile(*point.q) : value_of(point, answer.set.times, where);
}

void ask_hedges(TailAnswer& answer) {
    LatencyHistogram const& values = answer.set.values;
    HedgingAnswer hedging;
    if (answer.question.hedge) {
        hedging.delays = {hedged_request(values, resolve(*answer.question.hedge, answer, "--hedge"))};
    } else {
        hedging.delays = hedging_choices(values, hedge_quantiles);
        std::ranges::stable_sort(hedging.delays, {}, &Hedge::delay);
        hedging.tied = tied_request(values);
    }
    hedging.best = *std::ranges::min_element(hedging.delays, {}, &Hedge::p99);
    answer.hedging = std::move(hedging);
}

} // namespace

double value_of(TailPoint const& point, bool times, std::string_view where) {
    auto const& value = times ? point.seconds : point.number;
    if (value) { return *value; }
    refuse(where, "cannot take " + quoted(point.text),
           times ? "the samples are times" : "the samples are plain numbers",
           times ? "write it with a unit, like 200ms" : "write a number of 0 or more without a unit");
}

TailFit const* TailAnswer::beyond() const {
    if (fits.empty()) { return nullptr; }
    bool const has_tail = fits.back().distribution.family == TailFamily::pareto_tail;
    return has_tail ? &fits.back() : &fits.front();
}

std::vector<TailRow> rows_of(TailAnswer const& answer) {
    std::vector<TailRow> rows;
    auto const add = [&](std::string const& name, TailPercentiles const& percentiles) {
        for (TailPercentile const& row : percentiles) { rows.push_back({name, row}); }
    };
    for (NamedPercentiles const& one : answer.each) { add(one.name, one.percentiles); }
    add("all", answer.set.percentiles);
    return rows;
}

TailAnswer tail_answer(TailQuestion const& question, std::vector<TailPart> const& parts,
                       std::vector<TailPart> const& baseline, TailFitter fitter) {
    TailAnswer answer{.question = question, .set = set_of(parts, question)};
    if (question.each) {
        for (TailSource const& source : answer.set.sources) {
            answer.each.push_back({source.name, source.count, source.percentiles});
        }
    }
    if (!answer.has_samples()) { return answer; }
    if (!baseline.empty()) { compare_runs(answer, set_of(baseline, question)); }
    double const slow = question.slow ? resolve(*question.slow, answer, "--slow") : answer.set.values.quantile(0.99);
    answer.slow = SlowShare{slow, answer.set.values.share_above(slow)};
    fit_families(answer, fitter);
    ask_fan_outs(answer);
    ask_hedges(answer);
    if (question.objective) { answer.slo = replicas_for(question, answer.set); }
    return answer;
}

} // namespace headroom::serving
