#include "headroom/training/left_out.hpp"

#include "words.hpp"

#include "headroom/order_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

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

void explain_failures(TermBook& book, Prediction const& p) {
    Goodput const& goodput = *p.goodput;
    Failures const& asked = *p.question.failures;
    double const mtbf = goodput.model.mtbf.base(), checkpoint = goodput.model.checkpoint.base();
    auto const option = [&book](char const* name, char const* unit, char const* origin, double value) {
        book.add(TermKind::option, name, unit, origin, value);
    };
    if (asked.cluster_mtbf) {
        option("cluster_mtbf_seconds", "s", "--cluster-mtbf", mtbf);
    } else {
        option("device_mtbf_seconds", "s", "--mtbf", asked.device_mtbf.base());
        option("workers", "", "--workers", p.workers);
        book.formula("cluster_mtbf_seconds", "s", "device_mtbf_seconds / workers", mtbf);
    }
    if (asked.checkpoint) {
        option("checkpoint_seconds", "s", "--checkpoint", checkpoint);
    } else {
        option("blocking_share", "", "--checkpoint-blocking", asked.blocking_share);
        book.add(TermKind::model, "state_bytes", "B", "weights and optimizer state of the whole model",
                 goodput.state.base());
        option("nodes", "", "--workers over the accelerators of a node",
               1 + (p.workers - 1) / p.question.cluster.accelerators_per_node);
        option("bytes_per_second", "B/s", "--checkpoint-rate", asked.checkpoint_rate.base());
        book.formula("checkpoint_seconds", "s", "blocking_share * state_bytes / (nodes * bytes_per_second)",
                     checkpoint);
    }
    bool const finite = std::isfinite(goodput.time_over_work) && std::isfinite(mtbf);
    if (!finite || goodput.interval <= Seconds{}) { return; }
    book.formula("young_interval_seconds", "s", "(2 * checkpoint_seconds * cluster_mtbf_seconds) ^ 0.5",
                 goodput.young.base());
    book.add(TermKind::algorithm, "interval_seconds", "s", "time between checkpoints: as given, or the best",
             goodput.interval.base(), {"checkpoint_seconds", "cluster_mtbf_seconds"});
    option("restart_seconds", "s", "--restart", goodput.model.restart.base());
    book.formula("time_over_work", "",
                 "cluster_mtbf_seconds / interval_seconds * 2.718281828459045 ^ (restart_seconds / "
                 "cluster_mtbf_seconds) * (2.718281828459045 ^ ((interval_seconds + checkpoint_seconds) / "
                 "cluster_mtbf_seconds) - 1)",
                 goodput.time_over_work);
    book.formula("goodput", "", "1 / time_over_work", goodput.shares.work);
}

void explain_batch(TermBook& book, Prediction const& p) {
    Statistics const& statistics = *p.statistics;
    auto const option = [&book](char const* name, char const* origin, double value) {
        book.add(TermKind::option, name, "", origin, value);
    };
    option("batch", "--global-batch", statistics.batch);
    option("critical_batch", "--critical-batch", statistics.critical_batch);
    book.formula("sample_efficiency", "", "1 / (1 + batch / critical_batch)", statistics.efficiency);
    if (!statistics.steps) { return; }
    option("fewest_tokens", "--tokens", *p.question.tokens);
    option("tokens_a_sequence", "--sequence-length less padding", p.question.workload.tokens());
    book.formula("tokens_needed", "tokens", "fewest_tokens / sample_efficiency", *statistics.tokens);
    book.formula("steps_needed", "", "tokens_needed / (batch * tokens_a_sequence)", *statistics.steps);
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

void explain_congestion(TermBook& book, Prediction const& prediction) {
    double const congestion = prediction.question.disturbance.congestion;
    if (congestion <= 0.0) { return; }
    book.add(TermKind::option, "congestion", "", "--congestion", congestion);
    book.add(TermKind::option, "domains", "", "scale-up domains of all workers", domains_of(prediction));
    book.formula("congestion_slowdown", "", "1 + congestion * log2(domains)", slowdown(prediction));
}

void explain_left_out(TermBook& book, Prediction const& prediction) {
    explain_congestion(book, prediction);
    if (prediction.goodput) { explain_failures(book, prediction); }
    if (prediction.statistics) { explain_batch(book, prediction); }
}

} // namespace headroom::training
