#include "headroom/io/measured_steps.hpp"
#include "headroom/text.hpp"
#include "headroom/training/prediction.hpp"

#include <algorithm>

namespace headroom::io {

using namespace headroom::training;

namespace {

/// Work of a step of a run, by the kind of rate: tokens, samples, 10^12 FLOP of the model.
double work_of(LogRateKind kind, Question const& run, double sequences, AttentionConvention convention) {
    Workload const& workload = run.workload;
    double const workers = std::max(1, run.strategy.workers());
    switch (kind) {
    case LogRateKind::tokens: return sequences * workload.tokens();
    case LogRateKind::accelerator_tokens: return sequences * workload.tokens() / workers;
    case LogRateKind::samples: return sequences;
    case LogRateKind::accelerator_teraflops: break;
    }
    auto const forward = forward_flops(run.model, workload.tokens(), workload.attended(), convention);
    constexpr double tera = 1e12;
    return sequences * training_flops(forward, trained_work(run.strategy, run.model)).base() / (workers * tera);
}

std::string unit_of(LogRateKind kind) {
    switch (kind) {
    case LogRateKind::tokens: return "tokens/s";
    case LogRateKind::accelerator_tokens: return "tokens/s an accelerator";
    case LogRateKind::samples: return "sequences/s";
    case LogRateKind::accelerator_teraflops: break;
    }
    return "TFLOP/s an accelerator";
}

} // namespace

void check_rates(LogAnswer& answer, Question const& run) {
    constexpr double far = 1.5;
    double const step = answer.steady.step.base();
    int const sequences = answer.steady.batch > 0 ? answer.steady.batch : run.workload.global_batch;
    for (LogRate const& rate : answer.rates) {
        double const full = work_of(rate.kind, run, sequences, AttentionConvention::full);
        double const causal = work_of(rate.kind, run, sequences, AttentionConvention::causal); // some count this
        if (!(causal > 0.0) || (rate.work < far * full && causal < far * rate.work)) { continue; }
        double const work = rate.work > full ? full : causal;
        answer.warnings.push_back("it prints " + text::significant(rate.work / step) + " " + unit_of(rate.kind) +
                                  ", but " + text::significant(step) + " s a step are " +
                                  text::significant(work / step) + " with " + std::to_string(sequences) +
                                  " sequences of " + text::significant(run.workload.tokens(), 7) + " tokens on " +
                                  std::to_string(run.strategy.workers()) + " accelerators");
    }
}

} // namespace headroom::io
