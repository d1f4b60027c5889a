#pragma once

#include "traffic.hpp"

#include "headroom/training/step.hpp"

namespace headroom::training {

/// Work of the stage with the most of it, and of all stages together; seconds of one micro-batch.
struct ScreenedWork {
    double blocks = 0.0; ///< of that stage
    double forward = 0.0, backward = 0.0;
    double kernels = 0.0;    ///< the part that computes
    double all_stages = 0.0; ///< both passes, of all stages
};
ScreenedWork screened_work(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs);

/// Screen of a step: a short closed form that orders plans, good enough to choose those that are priced.
///
///     step = m (W + a) + bubble + transfers + data + update + copies, with what `add_disturbance` adds
///
/// W is the work of the longest stage, a adding one micro-batch's gradients up, m micro-batches.
///
///     bubble      that of the schedule for equal stages (`ScheduleRow::bubble`) with the mean of the others
///     transfers   2 (p v - 1) hops, and 2 m v where they block
///     data        of traffic T beside a window V: max(l T, T - V); what nothing can hide beside it; all without overlap
///     copies      what of them is longer than the passes
///
/// Holds for:  ordering. The price of the best that it finds is within 1 % of the best price of all (bench/screen_bench).
/// Source:     [Narayanan2021], [Li2020], [Zhao2023]
Seconds screen_step(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs,
                    ScreenedWork const& work, PlacedTraffic const& traffic);

} // namespace headroom::training
