#include "headroom/training/left_out.hpp"

#include "words.hpp"

#include "headroom/order_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace headroom::training {
namespace {

using planner::amount;
using planner::counted;
using planner::percent;
using planner::rounded;
using planner::span_of;
using planner::times;

double domains_of(Prediction const& p) {
    return std::max(1.0, static_cast<double>(p.workers) / std::max(1, p.question.cluster.domain));
}

/// Divisor of the scale-out rate: 1 + congestion log2(domains).
double slowdown(Prediction const& p) { return 1.0 + p.question.disturbance.congestion * std::log2(domains_of(p)); }

/// Share that the slowest rank adds to the rest of the step; the fixed time a step is not drawn out.
double straggler_share(Prediction const& p) {
    Seconds const busy = p.step() - p.time.stragglers - p.time.overhead;
    return busy > Seconds{} ? p.time.stragglers / busy : 0.0;
}

void describe_imbalance(LeftOutTerm& row, Prediction const& p) {
    auto const& disturbance = p.question.disturbance;
    int const replicas = p.question.strategy.dp;
    row.value = largest_over_mean(disturbance, replicas);
    row.on = disturbance.uneven.has_value() || disturbance.imbalance > 1.0;
    row.explanation = "every rank has the same work";
    if (row.on) { row.explanation = "the rank with most work has " + times(row.value) + " the mean, and all wait"; }
    if (disturbance.uneven) {
        row.explanation += "; expected of " + counted(replicas, "replica") + " of " +
                           amount(disturbance.uneven->per_replica) + " sequences that vary by " +
                           percent(disturbance.uneven->spread);
    }
}

void describe_stragglers(LeftOutTerm& row, Prediction const& p) {
    auto const& spread = p.question.disturbance.spread;
    bool const own_data = !spread && p.question.framework.paced;
    row.on = own_data || spread.value_or(0.0) > 0.0;
    row.value = straggler_share(p);
    if (own_data) {
        row.expected_maximum = expected_maximum_normal(Ranks{p.workers});
        row.explanation = "the fitted spread of ranks with data pipelines of their own: " + percent(row.value) +
                          " of the rest for the slowest of " + counted(p.workers, "rank");
    } else if (row.on) {
        row.expected_maximum = expected_maximum_normal(Ranks{p.workers});
        row.value = *spread * *row.expected_maximum;
        row.explanation = "the slowest of " + counted(p.workers, "rank") + " is " + rounded(*row.expected_maximum) +
                          " standard deviations of " + percent(*spread) + " above the mean";
    } else {
        row.explanation = "no rank is ever slower than another";
    }
}

void describe_congestion(LeftOutTerm& row, Prediction const& p) {
    row.value = p.question.disturbance.congestion;
    row.on = row.value > 0.0;
    row.explanation = row.on ? "links between domains give 1/" + rounded(slowdown(p)) + " of their rate among " +
                                   amount(domains_of(p)) + " domains"
                             : "links between domains give their full rate at any size";
}

void describe_failures(LeftOutTerm& row, Prediction const& p) {
    row.on = p.goodput.has_value();
    row.explanation = "nothing fails and no checkpoint is written";
    if (!row.on) { return; }
    auto const& [mtbf, checkpoint] = std::pair{p.goodput->model.mtbf, p.goodput->model.checkpoint};
    row.value = p.goodput->shares.lost();
    row.seconds = p.step() * (p.goodput->time_over_work - 1.0);
    if (!p.goodput->progresses()) {
        row.seconds = Seconds{std::numeric_limits<double>::infinity()};
        row.explanation = p.goodput->why_not;
        return;
    }
    std::string const written = checkpoint > Seconds{}
                                    ? format(checkpoint) + " for a checkpoint every " + span_of(p.goodput->interval)
                                    : "checkpoints that are free";
    row.explanation = "one failure every " + span_of(mtbf) + " and " + written + ": " +
                      percent(p.goodput->shares.work) + " of the time is work";
}

void describe_batch(LeftOutTerm& row, Prediction const& p) {
    row.on = p.statistics.has_value();
    row.explanation = "a sequence of a large batch is worth one of a small batch";
    if (!row.on) { return; }
    row.value = p.statistics->batch / p.statistics->critical_batch;
    row.seconds = p.step() * row.value;
    row.explanation = "a batch of " + amount(p.statistics->batch) + " sequences is " + times(row.value) +
                      " the critical one: " + times(p.statistics->samples_over_fewest()) +
                      " the samples of a small batch";
}

LeftOutTerm described(LeftOut term, Prediction const& prediction) {
    LeftOutTerm row{.term = term, .seconds = {}, .expected_maximum = {}, .explanation = {}};
    switch (term) {
    case LeftOut::imbalance: describe_imbalance(row, prediction); break;
    case LeftOut::stragglers: describe_stragglers(row, prediction); break;
    case LeftOut::congestion: describe_congestion(row, prediction); break;
    case LeftOut::failures: describe_failures(row, prediction); break;
    case LeftOut::critical_batch: describe_batch(row, prediction); break;
    }
    return row;
}

bool inside_the_step(LeftOut term) { return term != LeftOut::failures && term != LeftOut::critical_batch; }

using Inputs = std::vector<std::pair<std::string, double>>;

Term term_of(std::string name, std::string unit, std::string formula, Inputs inputs, double value) {
    return {std::move(name), std::move(unit), std::move(formula), std::move(inputs), value};
}

void explain_failures(std::vector<Term>& terms, Prediction const& p) {
    Goodput const& goodput = *p.goodput;
    Failures const& asked = *p.question.failures;
    double const mtbf = goodput.model.mtbf.base(), checkpoint = goodput.model.checkpoint.base();
    if (!asked.cluster_mtbf) {
        terms.push_back(term_of("cluster_mtbf_seconds", "s", "device_mtbf_seconds / workers",
                                {{"device_mtbf_seconds", asked.device_mtbf.base()}, {"workers", p.workers}}, mtbf));
    }
    if (!asked.checkpoint) {
        int const node = p.question.cluster.accelerators_per_node;
        terms.push_back(term_of("checkpoint_seconds", "s", "blocking_share * state_bytes / (nodes * bytes_per_second)",
                                {{"blocking_share", asked.blocking_share},
                                 {"state_bytes", goodput.state.base()},
                                 {"nodes", 1 + (p.workers - 1) / node},
                                 {"bytes_per_second", asked.checkpoint_rate.base()}},
                                checkpoint));
    }
    bool const finite = std::isfinite(goodput.time_over_work) && std::isfinite(mtbf);
    if (!finite || goodput.interval <= Seconds{}) { return; }
    terms.push_back(term_of("young_interval_seconds", "s", "(2 * checkpoint_seconds * cluster_mtbf_seconds) ^ 0.5",
                            {{"checkpoint_seconds", checkpoint}, {"cluster_mtbf_seconds", mtbf}},
                            goodput.young.base()));
    terms.push_back(term_of("time_over_work", "",
                            "cluster_mtbf_seconds / interval_seconds * e ^ (restart_seconds / cluster_mtbf_seconds) * "
                            "(e ^ ((interval_seconds + checkpoint_seconds) / cluster_mtbf_seconds) - 1)",
                            {{"cluster_mtbf_seconds", mtbf},
                             {"interval_seconds", goodput.interval.base()},
                             {"e", std::numbers::e},
                             {"restart_seconds", goodput.model.restart.base()},
                             {"checkpoint_seconds", checkpoint}},
                            goodput.time_over_work));
    terms.push_back(term_of("goodput", "", "1 / time_over_work", {{"time_over_work", goodput.time_over_work}},
                            goodput.shares.work));
}

void explain_batch(std::vector<Term>& terms, Prediction const& p) {
    Statistics const& statistics = *p.statistics;
    terms.push_back(term_of("sample_efficiency", "", "1 / (1 + batch / critical_batch)",
                            {{"batch", statistics.batch}, {"critical_batch", statistics.critical_batch}},
                            statistics.efficiency));
    if (!statistics.steps) { return; }
    double const length = p.question.workload.tokens();
    terms.push_back(term_of("tokens_needed", "tokens", "fewest_tokens / sample_efficiency",
                            {{"fewest_tokens", *p.question.tokens}, {"sample_efficiency", statistics.efficiency}},
                            *statistics.tokens));
    terms.push_back(
        term_of("steps_needed", "", "tokens_needed / (batch * tokens_a_sequence)",
                {{"tokens_needed", *statistics.tokens}, {"batch", statistics.batch}, {"tokens_a_sequence", length}},
                *statistics.steps));
}

} // namespace

std::string_view name_of(LeftOut term) {
    switch (term) {
    case LeftOut::imbalance: return "imbalance";
    case LeftOut::stragglers: return "stragglers";
    case LeftOut::congestion: return "congestion";
    case LeftOut::failures: return "failures";
    case LeftOut::critical_batch: return "critical batch";
    }
    return {};
}

std::string key_of(LeftOut term) {
    std::string key{name_of(term)};
    std::ranges::replace(key, ' ', '_');
    return key;
}

std::string_view example_option(LeftOut term) {
    switch (term) {
    case LeftOut::imbalance: return "--imbalance 1.08";
    case LeftOut::stragglers: return "--step-spread 2%";
    case LeftOut::congestion: return "--congestion 5%";
    case LeftOut::failures: return "--mtbf 50700h";
    case LeftOut::critical_batch: return "--critical-batch 1024";
    }
    return {};
}

Question without(Question question, LeftOut term) {
    auto& disturbance = question.disturbance;
    switch (term) {
    case LeftOut::imbalance:
        disturbance.imbalance = 1.0;
        disturbance.uneven.reset();
        break;
    case LeftOut::stragglers: disturbance.spread = 0.0; break;
    case LeftOut::congestion: disturbance.congestion = 0.0; break;
    case LeftOut::failures: question.failures.reset(); break;
    case LeftOut::critical_batch: question.critical_batch.reset(); break;
    }
    return question;
}

std::vector<LeftOutTerm> left_out(Prediction const& prediction, CalibrationSet const& calibration) {
    std::vector<LeftOutTerm> rows;
    for (LeftOut const term : every_left_out) {
        LeftOutTerm row = described(term, prediction);
        if (row.on && inside_the_step(term)) {
            row.seconds = prediction.step() - predict(without(prediction.question, term), calibration).step();
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

std::vector<Term> explain_left_out(Prediction const& prediction) {
    std::vector<Term> terms;
    double const congestion = prediction.question.disturbance.congestion;
    if (congestion > 0.0) {
        terms.push_back(term_of("congestion_slowdown", "", "1 + congestion * log2(domains)",
                                {{"congestion", congestion}, {"domains", domains_of(prediction)}},
                                slowdown(prediction)));
    }
    if (prediction.goodput) { explain_failures(terms, prediction); }
    if (prediction.statistics) { explain_batch(terms, prediction); }
    return terms;
}

} // namespace headroom::training
