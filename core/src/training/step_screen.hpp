#pragma once

#include "traffic.hpp"

#include "headroom/training/step.hpp"

namespace headroom::training {

/// Work of the stage whose passes take longest, in seconds for one micro-batch.
struct ScreenedWork {
    double blocks = 0.0;                  ///< number of blocks of that stage
    double forward = 0.0, backward = 0.0; ///< durations of its passes
    double kernels = 0.0;                 ///< kernels of both passes
    /// Increase of both passes over the relative increase of kernel time that causes it: at most `kernels`, less for
    /// launch-bound passes.
    double slowed = 0.0;
    double idle = 0.0;       ///< time in which the chip waits for launches
    double all_stages = 0.0; ///< sum of both passes over all stages
};
ScreenedWork screened_work(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs);

/// Screen of a step, seconds: a short closed form that orders plans and selects those that are priced.
///
///     step = m (W + a) + bubble + transfers + data + update + copies, with the terms of `disturbed`
///
/// W is the work of the longest stage for one micro-batch, a the accumulation of its gradients, m the number of
/// micro-batches, c the time of a transfer between stages, v the chunks of a stage.
///
///     bubble      `ScheduleRow::bubble` for equal stages, with the average of the stages but the longest
///     transfers   2 (p v - 1) c to fill and drain; 2 m v c if they block; (m - p)(v - 1) max(0, c - t_F / v)
///     data        traffic T that overlaps with passes V: max(l min(T, V), T - V), l the loss by overlap, and the first
///                 gather and the last bucket; without overlap T. ZeRO 3 without overlap: less the launch waits of the
///                 chip, because the CPU launches kernels during a gather
///     copies      their excess over the passes, m + p - 1 times
///
/// Holds for:  ordering. The price of the best plan it selects is within 1 % of the best price of all
///             (bench/screen_bench).
/// Source:     [Narayanan2021], [Li2020], [Zhao2023]
Seconds screen_step(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs,
                    ScreenedWork const& work, PlacedTraffic const& traffic);

/// Floor of a step, seconds: no price of the strategy is below it.
///
///     step >= m (K + x) / p + update, with the terms of `disturbed`
///
/// K are the kernels of the whole model for one micro-batch, x the exposed collectives of the dimension that exposes most, m the
/// number of micro-batches, p the number of stages. The update is that of one stage.
///
/// Holds for:  every strategy; zero for schedules without a flush.
/// Neglects:   bubble, transfers, traffic of gradients and weights, waits for launches, copies.
Seconds step_floor(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs);

} // namespace headroom::training
