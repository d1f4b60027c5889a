#pragma once

#include "headroom/training/pipeline.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace headroom::training {

/// What one chunk of one stage sends to ranks that hold the same weights.
struct ChunkTraffic {
    double gather =
        0.0; ///< ticks, from the begin: its first forward pass ends with the last block, which waits for all
    double reduce = 0.0; ///< ticks, as the last pass that makes gradients of its weights goes on
    double late = 0.0;   ///< share of those that waits for the end of that pass
    double update = 0.0; ///< ticks of computation when all gradients of the stage have been reduced
    double before = 0.0,
           after = 0.0; ///< ticks that hide behind nothing: weights before all passes, gradients behind them
};

/// Traffic beside passes, in the order in which it is made, and what it does to them.
struct TrafficBeside {
    std::vector<ChunkTraffic> chunks; ///< of stage s, chunk c at [s * chunks + c]; none: there is no traffic
    double kernels = 1.0;             ///< share of a pass that is slowed
    double loss = 0.0;                ///< share of its rate that this loses while traffic is under way on its stage
    double adapter = 0.0;             ///< what a pass takes longer besides, for it sends by the same adapter
    double longer = 1.0;              ///< what that makes of traffic
    double idle_forward = 0.0, idle_backward = 0.0; ///< share of passes that they wait for the host, and make up in
    bool transfers = false; ///< whether transfers between stages leave by its adapter: both take longer
};

/// Rows with traffic beside their passes.
struct RunBeside {
    Ticks end = 0;     ///< the makespan with traffic and updates behind the last passes
    Ticks longest = 0; ///< the same of the period
};

/// What is under way beside passes while rows are run, of which every stage asks in the order of its own row.
class BesidePasses {
public:
    BesidePasses() = default;
    BesidePasses(BesidePasses const&) = delete;
    BesidePasses& operator=(BesidePasses const&) = delete;
    virtual ~BesidePasses() = default;

    /// When a pass of so many ticks ends that begins now.
    virtual Ticks end_of(std::size_t stage, std::size_t place, std::size_t pass, PassKind kind, Ticks begin,
                         Ticks ticks) = 0;
    /// What is handed on when a pass has ended comes so much later than its transfer takes; `last`: behind the last pass.
    virtual Ticks later(std::size_t stage, Ticks hop, bool last) = 0;
    /// When a stage has reduced and updated, its passes over.
    virtual Ticks finished(std::size_t stage, Ticks passes) = 0;
};

/// Runs the rows as `run_pipeline` does, with this beside them.
RunBeside run_beside(PipelineOrder const& order, PipelineTimes const& times, BesidePasses& beside);

/// Runs the rows as `run_pipeline` does. Traffic is under way from stage to stage as its own rows make it, and never waits.
/// While it is, a pass that takes T alone takes T (1 + [k l / (1 - l) + x - i]+), and a transfer of h on its adapter beside D that are
/// left of it h + min(h, D). Where there is none the ends are those of the passes.
RunBeside run_beside(PipelineOrder const& order, PipelineTimes const& times, TrafficBeside const& traffic);

} // namespace headroom::training
