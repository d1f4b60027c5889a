#pragma once

#include "headroom/training/step.hpp"
#include "headroom/training/stream_simulation.hpp"

#include <array>
#include <vector>

namespace headroom::training::simulation {

/// Time of one stage's compute stream by cause, ticks.
struct StageTime {
    Ticks work = 0;                               ///< kernels of passes, at their own rate
    Ticks optimizer = 0;                          ///< accumulating and updating, at its own rate
    Ticks slowed = 0;                             ///< added to kernels by gradients and weights on the network
    std::array<Ticks, work_kind_count> exposed{}; ///< waiting for work of that kind
    Ticks idle = 0;                               ///< waiting for another stage
    [[nodiscard]] Ticks all() const { return own() + (*this)[WorkKind::pipeline] + idle; }
    /// Time that the stage does not wait for another one.
    [[nodiscard]] Ticks own() const;
    Ticks& operator[](WorkKind kind) { return exposed[static_cast<std::size_t>(kind)]; }
    Ticks operator[](WorkKind kind) const { return exposed[static_cast<std::size_t>(kind)]; }
    /// All times so often.
    StageTime& operator*=(double times);
    StageTime& operator+=(StageTime const& other);
    StageTime operator-(StageTime const& earlier) const;
};

/// Stage that works longest, the first of equals.
struct DecidingStage {
    StageTime time;
    int stage = 0;
};
/// Where a step runs into the next one (`overlap`), the stage waits until the longest time of all stages.
DecidingStage deciding_stage(std::vector<StageTime> const& stages, bool overlap);

Seconds seconds_of(Ticks ticks);

/// Parts of a step from `share` of the time of its deciding stage; they sum to it.
StepTime parts_of(StageTime const& stage, double share, bool pipeline);

} // namespace headroom::training::simulation
