#include "headroom/training/run.hpp"

#include "stage.hpp"

#include "headroom/training/critical_batch.hpp"

namespace headroom::training {
namespace {

Seconds interval_by(Failures const& failures, FailureModel const& model) {
    switch (failures.rule) {
    case IntervalRule::young: return young_interval(model);
    case IntervalRule::daly: return daly_interval(model);
    case IntervalRule::given: return failures.interval;
    case IntervalRule::exact: break;
    }
    return exact_interval(model);
}

std::string why_no_progress(Goodput const& result) {
    auto const& [checkpoint, restart, mtbf] = result.model;
    std::string text = "no progress: a failure comes every " + format(mtbf) + " on average, a restart takes " +
                       format(restart) + " and a checkpoint " + format(checkpoint);
    if (result.interval > Seconds{}) { text += " after every " + format(result.interval) + " of work"; }
    return text + (result.interval > Seconds{} ? "" : ", and no work lies between two checkpoints");
}

} // namespace

Bytes checkpoint_state(Model const& model, Framework const& framework, Strategy const& strategy) {
    ParameterCount const count = count_parameters(model);
    double const ahead = strategy.trained == Trained::lora ? 0.0 : count.prediction;
    double const trained = trained_share(strategy, model, count) * count.total + ahead;
    auto const widths = state_widths(framework, strategy.precision);
    return Bytes{(widths.weights + widths.optimizer) * trained};
}

Goodput goodput_of(Failures const& failures, Bytes state, Ranks workers, Ranks per_node) {
    Goodput result;
    result.model.mtbf = failures.cluster_mtbf.value_or(cluster_mtbf(failures.device_mtbf, workers));
    result.model.restart = failures.restart;
    if (failures.checkpoint) {
        result.model.checkpoint = *failures.checkpoint;
    } else {
        Ranks const nodes{1 + (workers.count() - 1) / per_node.count()};
        result.state = state;
        result.model.checkpoint = checkpoint_blocking({.state = state,
                                                       .writers = nodes,
                                                       .rate = failures.checkpoint_rate,
                                                       .blocking_share = failures.blocking_share});
    }
    result.young = young_interval(result.model);
    result.daly = daly_interval(result.model);
    result.exact = exact_interval(result.model);
    result.interval = interval_by(failures, result.model);
    result.time_over_work = time_over_work(result.model, result.interval);
    result.shares = time_shares(result.model, result.interval);
    if (!(result.shares.work >= least_goodput)) { result.why_not = why_no_progress(result); }
    return result;
}

Statistics statistics_of(double critical_batch, Workload const& workload, std::optional<double> fewest_tokens) {
    double const batch = workload.global_batch, length = workload.tokens();
    Statistics result{.critical_batch = critical_batch,
                      .batch = batch,
                      .efficiency = sample_efficiency(critical_batch, batch),
                      .steps = {},
                      .tokens = {}};
    if (fewest_tokens) {
        BatchLaw const law{.critical = critical_batch, .fewest_samples = *fewest_tokens / length};
        result.steps = steps_needed(law, batch);
        result.tokens = samples_needed(law, batch) * length;
    }
    return result;
}

} // namespace headroom::training
