#pragma once

#include "training/pipeline/run_beside.hpp"
#include "training/simulation/step_data.hpp"
#include "visit_stretches.hpp"

#include "headroom/training/pipeline.hpp"

#include <vector>

namespace headroom::training::simulation {

/// What the passes of all stages are made of.
struct RowsOfUnits {
    PipelineOrder const& order;
    StepLayout const& layout;
    BlockOrder const& blocks;
    StepUnits const& units;
    std::vector<StageTraffic> const& traffic; ///< by stage
    DataRules const& rules;
    AdapterUsers users;
    bool state_with_host = false; ///< weights come from it and gradients go to it
    bool blocking = false;        ///< all of that before the first pass and behind the last
};

/// Passes unit by unit where something is under way beside them: gradients leave in buckets as units make them, weights are there
/// unit by unit, the host issues a unit while those before run. Of a unit stretches are run, kernels from one collective to the
/// next; what leaves by one adapter shares it, and kernels keep 1 - loss of their rate beside gradients and weights.
class StageVisits : public BesidePasses {
public:
    explicit StageVisits(RowsOfUnits const& rows);

    Ticks end_of(std::size_t stage, std::size_t place, std::size_t pass, PassKind kind, Ticks begin, Ticks) override;
    Ticks later(std::size_t stage, Ticks hop, bool last) override;
    [[nodiscard]] Ticks finished(std::size_t stage, Ticks passes) override;

private:
    /// Of the stage that is being run: ticks of traffic that has been made and not sent.
    struct Stage {
        double at = 0.0;
        double data = 0.0, transfers = 0.0;
        double sent = 0.0;                   ///< of gradients and weights, since the step began
        double bucket = 0.0, elements = 0.0; ///< gradients that wait for their bucket to be full
        double held_back = 0.0;              ///< those that hide behind nothing
        double copied = 0.0;                 ///< when all that has been made is with the host
    };
    struct Place {
        std::size_t stage = 0;
        std::array<std::vector<UnitVisit const*>, 4> visits; ///< by kind of pass, in its order
        std::array<double, 4> alone{};                       ///< ticks of a pass with nothing beside it
        std::vector<UnitTraffic> const* traffic = nullptr;   ///< in the order of the forward pass
        std::vector<double> gathered;                        ///< by unit: what has been sent when its weights are there
        std::vector<double> copied;                          ///< by unit: when they have come from the host
        std::size_t first = 0, last = 0; ///< its first forward pass, and the last that makes gradients
        double accumulate = 0.0;
    };
    void list_visits(RowsOfUnits const& rows);
    void list_weights(RowsOfUnits const& rows);
    void list_copies(RowsOfUnits const& rows);
    double run(Stage& stage, Place const& place, PassKind kind, double begin, bool first, bool last) const;
    void wait(Stage& stage, double until) const;
    void wait_for_weights(Stage& stage, double sent) const;
    void work(Stage& stage, UnitStretch const& all, double share) const;
    void work(Stage& stage, UnitVisit const& visit, double from, double to) const;
    void kernel(Stage& stage, double ticks) const;
    void copy(Stage& stage, double ticks) const;
    void work_and_reduce(Stage& stage, UnitVisit const& visit, UnitTraffic const& traffic) const;

    DataRules const& rules_;
    AdapterUsers users_;
    bool copies_, blocking_;
    PipelineOrder const& order_;
    std::vector<StageTraffic> const& traffic_;
    std::vector<std::array<UnitVisit, 4>> times_; ///< of every variant of a block, the embedding and the head
    std::vector<Place> places_;
    std::vector<Stage> stages_;
};

} // namespace headroom::training::simulation
