#pragma once

#include "stage.hpp"

#include "headroom/training/pipeline_length.hpp"
#include "headroom/training/step.hpp"

#include <array>
#include <cstddef>
#include <span>

namespace headroom::training {

/// Stages of a pipeline in order, neighbours that take equally long as one group. Nothing is allocated.
class StageGroups {
public:
    /// One that takes as long as the last one joins its group. There must be room for another group.
    void add(EqualStages const& stages) {
        if (stages.count < 1) { return; }
        if (size_ > 0 && group_[size_ - 1].time == stages.time && group_[size_ - 1].forward == stages.forward) {
            group_[size_ - 1].count += stages.count;
        } else {
            group_.at(size_++) = stages;
        }
    }
    [[nodiscard]] std::span<EqualStages> groups() { return {group_.data(), size_}; }

private:
    std::array<EqualStages, most_stage_groups> group_ = {};
    std::size_t size_ = 0;
};

/// What a host that waits in every pass gains while the chip works on an end of the model x, before n blocks of time C that
/// it issues in H. Where it reads what experts get it gains no more than a block.
///
///     min(x, n [H - C]+), min(x, n [H - C]+, H)
///
/// A pass begins with the embedding, a backward pass with the output projection.
struct EndsAhead {
    Seconds embedding, head;
};

/// The slowest stage of a pipeline: how many blocks it has, and how much of the ends of the model. With two directions
/// half of the micro-batches meet one part of the model there, half the other.
struct SlowestStage {
    StagePlace place = StagePlace::whole;
    double layers = 0.0;
    double embedding = 0.0, head = 0.0;
    StageGroups stages = {};   ///< with 1F1B all of them in order, seconds; those that differ little as one
    int index = 0;             ///< which stage it is
    double model_layers = 0.0; ///< all blocks of the model, in blocks of this stage
    Seconds block_time = {}, embedding_time = {}, head_time = {}; ///< of one micro-batch, with a pipeline
    EndsAhead ahead = {};
};
SlowestStage slowest_stage(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs);
/// The slowest of those that stand there.
SlowestStage stage_at(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs, StagePlace place);

} // namespace headroom::training
