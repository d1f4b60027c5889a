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
    /// Multiplies every time, rounded to ticks.
    StageTime& operator*=(double times);
    StageTime& operator+=(StageTime const& other);
    StageTime operator-(StageTime const& earlier) const;
    bool operator==(StageTime const&) const = default;
};

/// Stage with the largest `StageTime::own`, the first of equals.
struct DecidingStage {
    StageTime time;
    int stage = 0;
};
/// Deciding stage of a step. If steps overlap (`overlap`), it also waits until the longest time of all stages has passed.
DecidingStage deciding_stage(std::vector<StageTime> const& stages, bool overlap);

Seconds seconds_of(Ticks ticks);

/// Parts of a step: `share` of the time of its deciding stage, by cause.
StepTime parts_of(StageTime const& stage, double share, bool pipeline);

} // namespace headroom::training::simulation
