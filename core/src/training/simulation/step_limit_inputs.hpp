#pragma once

#include "step_data.hpp"
#include "training/step_frame.hpp"
#include "training/traffic.hpp"

#include "headroom/training/simulated_step.hpp"

#include <algorithm>
#include <vector>

namespace headroom::training::simulation {

inline double seconds_of(Ticks ticks) { return static_cast<double>(ticks) * 1e-12; }

/// Passes run row by row, every stage with its own blocks, transfers, gradients, weights and state that is with the host, in
/// seconds. More passes than 2^20 are not run, nor rows without a flush.
struct RowsBeside {
    double differ = 0.0;  ///< the step so, less the one of the closed form
    double adapter = 0.0; ///< what of it is that gradients and weights share their adapter
    double traffic = 0.0; ///< what of it they add in all
};

/// What the conditions read: every chunk's passes as they are placed, and the step as the closed form has it.
struct Inputs {
    StepSetting const& setting;
    Strategy const& strategy;
    LayerCosts const& costs;
    StepLayout layout;
    BlockOrder order;
    StepUnits units;
    DataRules rules;
    StageTraffic traffic; ///< of the first stage
    StepTime time;
    std::vector<double> chunk; ///< seconds of all passes of a chunk for one micro-batch, by place
    double step = 0.0;
    RowsBeside rows;

    Inputs(StepSetting const& s, Strategy const& strategy_, LayerCosts const& costs_)
        : setting{s},
          strategy{strategy_},
          costs{costs_},
          layout{step_layout(s, strategy_)},
          order{block_order(s, strategy_)},
          units{step_units(s, strategy_, costs_, order, StepDetail::block)},
          rules{data_rules(s, strategy_)},
          traffic{stage_traffic(s, strategy_, layout, 0)},
          time{step_time(s, strategy_, costs_)},
          step{time.total().base()} {
        for (ChunkWork const& work : layout.chunks) {
            chunk.push_back(pass(work, PassKind::forward) + pass(work, PassKind::backward));
        }
        run_rows();
    }

    [[nodiscard]] double pass(ChunkWork const& work, PassKind kind) const {
        return seconds_of(pass_ticks(units_of(work, order, units), kind));
    }
    [[nodiscard]] double stage(int s) const {
        double sum = 0.0;
        for (int c = 0; c < layout.shape.chunks; ++c) {
            sum += chunk[static_cast<std::size_t>(s * layout.shape.chunks + c)];
        }
        return layout.layout == ChunkLayout::bidirectional ? sum / 2.0 : sum;
    }
    [[nodiscard]] std::vector<double> stages() const {
        std::vector<double> all;
        for (int s = 0; s < layout.shape.stages; ++s) { all.push_back(stage(s)); }
        return all;
    }
    [[nodiscard]] double micro_batches() const { return micro_batch_count(strategy, setting.workload); }
    [[nodiscard]] bool pipeline() const { return layout.shape.stages > 1; }
    [[nodiscard]] bool interleaved() const {
        return pipeline() && strategy.schedule() == PipelineSchedule::interleaved;
    }
    /// What exposed collectives take of a block.
    [[nodiscard]] double exposed_share() const {
        auto const& block = costs.block;
        return block.total().base() > 0.0
                   ? (block.tensor_exposed + block.context_exposed + block.experts_exposed) / block.total()
                   : 0.0;
    }
    /// What exposed collectives that leave by the adapter of gradients take of a block.
    [[nodiscard]] double leaving_share() const {
        auto const& block = costs.block;
        auto const placement = place(strategy, setting.cluster.domain);
        if (placement.data.domains() == 1 || block.total().base() <= 0.0) { return 0.0; }
        Seconds leaving;
        if (placement.tensor.domains() > 1) { leaving += block.tensor_exposed; }
        if (placement.context.domains() > 1) { leaving += block.context_exposed; }
        if (placement.experts.domains() > 1) { leaving += block.experts_exposed; }
        return leaving / block.total();
    }

private:
    void run_rows(); ///< of a pipeline
};

Ticks sum_of(StageTraffic const& traffic, Ticks UnitTraffic::*part);
/// All gradients and weights that the first stage sends in a step.
double data_of_step(Inputs const& in);
bool data_leaves(Inputs const& in);

double rows_differ(Inputs const& in);
/// All of a step without a flush or with activations with the host: its rows are not run, or not with all that is in them.
double rows_are_not_run(Inputs const& in);
/// On one stage: by how much the passes of its blocks differ, one by one, from as many mean ones.
double blocks_differ(Inputs const& in);

} // namespace headroom::training::simulation
