#include "headroom/training/utilization_check.hpp"

#include "headroom/order_statistics.hpp"

#include <cmath>
#include <string_view>

namespace headroom::training {
namespace {

/// Operations of a step, whole job.
Flops work_of(Question const& question, AttentionConvention convention, bool hardware) {
    auto const& workload = question.workload;
    auto const& strategy = question.strategy;
    auto const forward = forward_flops(question.model, workload.tokens(), workload.attended(), convention);
    auto const trained = trained_work(strategy, question.model);
    double const sequences = workload.global_batch;
    return sequences * (hardware ? hardware_flops(forward, trained, recomputed_work(strategy, question.model))
                                 : training_flops(forward, trained));
}

UtilizationComparison compared(PublishedRun const& run, bool hardware, double printed) {
    auto const& question = *run.question;
    auto const peak = peak_rate(question.cluster.accelerator, question.strategy.precision);
    return {&run, hardware, printed,
            flops_utilization(work_of(question, run.utilization->convention, hardware), run.measured,
                              question.strategy.workers(), peak)};
}

} // namespace

UtilizationCheck check_utilization(std::span<PublishedRun const> runs) {
    constexpr std::string_view from_rate = "TFLOP/s";
    UtilizationCheck check;
    for (auto const& run : runs) {
        if (!run.question || !run.counts() || !run.utilization || run.measured_from == from_rate) { continue; }
        if (run.utilization->mfu) { check.rows.push_back(compared(run, false, *run.utilization->mfu)); }
        if (run.utilization->hfu) { check.rows.push_back(compared(run, true, *run.utilization->hfu)); }
    }
    std::vector<double> differences;
    for (auto const& row : check.rows) { differences.push_back(std::abs(row.difference())); }
    check.median_absolute_difference = quantile(differences, 0.5);
    check.largest_absolute_difference = quantile(differences, 1.0);
    return check;
}

} // namespace headroom::training
