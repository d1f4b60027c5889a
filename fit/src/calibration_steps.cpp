#include "headroom/fit/calibration_answer.hpp"

#include <algorithm>

namespace headroom::fit {

using namespace headroom::training;

bool CalibrationAnswer::states_anything() const {
    bool const other = !rest.bands.empty() || rest.seen || !rest.pace.empty() || rest.dense || rest.mixtures;
    return !states.network.empty() || !states.constants.empty() || !states.entries.empty() || other;
}

void add_slowdown(Strategy const& strategy, CalibrationAnswer& answer) {
    if (!answer.facts || !answer.facts->slowdown) { return; }
    TraceSlowdown const& slowdown = *answer.facts->slowdown;
    Strategy const& plan = strategy;
    if (plan.tp > 1 || plan.cp > 1 || plan.ep > 1 || plan.pp > 1 || plan.data_ranks() < 2) {
        answer.notes.push_back({.remark = CalibrationRemark::slowdown_alone});
        return;
    }
    auto const traces = std::ranges::find(answer.evidence, EvidenceKind::traces, &Evidence::kind);
    Fitted const lost = slowdown.lost_rate();
    answer.constant_sources.push_back(
        {.id = plan.zero == 3 ? Constant::shard_overlap_loss : Constant::gradients_exposed,
         .constant = {.value = lost.value,
                      .low = lost.low,
                      .high = lost.high,
                      .independent = lost.value,
                      .spread = 0.0,
                      .provenance = Provenance::measured,
                      .source = std::to_string(slowdown.beside) + " runs of kernels that overlap with communication, " +
                                std::to_string(slowdown.alone) + " alone",
                      .sources = 1},
         .evidence = static_cast<std::size_t>(traces - answer.evidence.begin()),
         .samples = static_cast<std::size_t>(slowdown.beside)});
}

std::vector<MeasuredWorkers> steps_to_keep(ScalingSteps& scaling, std::optional<int> workers,
                                           CalibrationAnswer& answer) {
    CampaignSteps const& measured = scaling.measured;
    if (measured.weak && !workers && measured.steps.size() > 1) {
        answer.missing.push_back({.remark = CalibrationRemark::work_grew, .names = {scaling.name}});
        return {};
    }
    std::vector<MeasuredWorkers> steps;
    for (MeasuredWorkers const& step : measured.steps) {
        if (!workers || *workers == step.workers) { steps.push_back(step); }
    }
    scaling.kept = !steps.empty();
    if (!scaling.kept) {
        answer.missing.push_back({.remark = CalibrationRemark::other_workers,
                                  .names = {scaling.name},
                                  .count = static_cast<std::size_t>(workers.value_or(0))});
    }
    return steps;
}

} // namespace headroom::fit
