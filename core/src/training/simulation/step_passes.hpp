#pragma once

#include "step_layout.hpp"
#include "step_messages.hpp"
#include "training/operation_price.hpp"

#include "headroom/training/simulated_step.hpp"

#include <array>
#include <string>
#include <vector>

namespace headroom::training::simulation {

/// The streams of a chip.
enum class Role : std::uint8_t {
    compute,
    host,
    tensor,
    context,
    experts,
    send_forward,
    send_backward,
    receive, ///< of activations; used if transfers block, as the next one
    receive_back,
    data, ///< gradients and weights
    copies_out,
    copies_in,
    count_,
};
inline constexpr std::size_t role_count = static_cast<std::size_t>(Role::count_);

/// Dimensions with collectives inside layers, numbered as by `group_of`: tensor, context, experts.
inline constexpr std::size_t layer_group_count = 3;
inline constexpr std::array group_roles{Role::tensor, Role::context, Role::experts};
inline constexpr std::array group_kinds{WorkKind::tensor, WorkKind::context, WorkKind::experts};

/// One kernel, or the exposed part of a collective; in the order of the program.
struct PassItem {
    Ticks cost = 0;
    Role role = Role::compute;
    WorkKind kind = WorkKind::gemm;
    std::uint32_t name = 0;
    Ticks launch = 0;                                   ///< of a kernel: CPU launch time
    std::array<Ticks, layer_group_count> overlapping{}; ///< of a kernel: durations of collectives that overlap with it
};

/// A pass of one unit: of a block, of the embedding or of the output projection.
struct UnitPass {
    std::vector<PassItem> items;
    [[nodiscard]] std::size_t tasks() const;
    /// Duration on the chip: kernels, exposed collectives, and the excess of hidden collectives over their kernels.
    [[nodiscard]] Ticks chip() const;
    [[nodiscard]] Ticks host() const; ///< sum of CPU launch times
};

/// Passes of one unit, by `PassKind`.
struct PassUnit {
    std::array<UnitPass, 4> passes;
    bool routed = false; ///< the CPU reads the number of tokens of each expert: it is at most a unit ahead of the GPU
    bool routes_at_once = false; ///< no kernel comes before the router: the CPU launches nothing before the unit begins
    [[nodiscard]] UnitPass const& operator[](PassKind kind) const { return passes[static_cast<std::size_t>(kind)]; }
};

/// Names of tasks, each kept once.
class Names {
public:
    std::uint32_t index(std::string_view name);
    [[nodiscard]] std::vector<std::string> const& all() const { return all_; }

private:
    std::vector<std::string> all_;
};

/// Tasks of every kind of block and of the ends of the model, by pass.
struct StepUnits {
    std::vector<PassUnit> variants; ///< as `BlockOrder::variants`
    PassUnit embedding, head;
    Names names;
};

/// Program of one kind of block, or of one operator.
BlockProgram program_of(StepSetting const& setting, LayerShape const& shape, BlockVariant const& variant);

/// Prices the programs of a strategy. `costs` hold the pace of computation; `messages` price the
/// collectives by their messages; null: by closed forms.
StepUnits step_units(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs,
                     BlockOrder const& order, StepDetail detail, StepMessages* messages = nullptr);

/// The units of a chunk in the order of the forward pass: embedding, blocks, output projection.
std::vector<PassUnit const*> units_of(ChunkWork const& work, BlockOrder const& order, StepUnits const& units);

Ticks ticks_of(Seconds seconds);

} // namespace headroom::training::simulation
