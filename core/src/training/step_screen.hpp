#pragma once

#include "traffic.hpp"

#include "headroom/training/step.hpp"

namespace headroom::training {

/// Work of the longest stage, and of all stages together; seconds of one micro-batch.
struct ScreenedWork {
    double blocks = 0.0; ///< of that stage
    double forward = 0.0, backward = 0.0;
    double kernels = 0.0; ///< the part that computes
    double slowed =
        0.0; ///< derivative of both passes by the logarithm of the kernels' time: less where launches bound them
    double idle = 0.0;       ///< of the chip, that waits for launches
    double all_stages = 0.0; ///< both passes, of all stages
};
ScreenedWork screened_work(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs);

/// Screen of a step, seconds: a short closed form that orders plans and selects those that are priced.
///
///     step = m (W + a) + bubble + transfers + data + update + copies, with the terms of `disturbed`
///
/// W is the work of the longest stage for one micro-batch, a the accumulation of its gradients, m the number of
/// micro-batches.
///
///     bubble      `ScheduleRow::bubble` of the schedule for equal stages, with the average of the other stages
///     transfers   2 (p v - 1) hops, and 2 m v where they block
///     data        traffic T that overlaps with a window V: max(l T, T - V), l the loss by overlap; the first gather and
///                 the last bucket are exposed; without overlap all of T. Of ZeRO 3 without overlap less the idle time
///                 of chips whose passes launches bound: the host launches kernels during a gather
///     copies      their excess over the passes
///
/// Holds for:  ordering. The price of the best plan it selects is within 1 % of the best price of all
///             (bench/screen_bench).
/// Source:     [Narayanan2021], [Li2020], [Zhao2023]
Seconds screen_step(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs,
                    ScreenedWork const& work, PlacedTraffic const& traffic);

} // namespace headroom::training
