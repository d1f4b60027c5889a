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
    receive, ///< used where transfers block, as the next one
    receive_back,
    data,
    copies_out,
    copies_in,
    count_,
};
inline constexpr std::size_t role_count = static_cast<std::size_t>(Role::count_);

/// Dimensions whose collectives are in the programs of layers.
enum class Group3 : std::uint8_t { tensor, context, experts, count_ };
inline constexpr std::size_t group3_count = static_cast<std::size_t>(Group3::count_);

/// One kernel, or what of a collective stands in the way of kernels; in the order of the program.
struct PassItem {
    Ticks cost = 0;
    Role role = Role::compute;
    WorkKind kind = WorkKind::gemm;
    std::uint32_t name = 0;
    Ticks launch = 0;                         ///< of a kernel: what issuing it takes the host
    std::array<Ticks, group3_count> beside{}; ///< of a kernel: collectives that run behind it
};

/// A pass of one block, or of one end of the model.
struct UnitPass {
    std::vector<PassItem> items;
    [[nodiscard]] std::size_t tasks() const;
    /// Kernels, what stands in their way and what outlasts those it runs behind.
    [[nodiscard]] Ticks chip() const;
    [[nodiscard]] Ticks host() const;
};

/// All passes of one block or end: by `PassKind`.
struct Unit {
    std::array<UnitPass, 4> passes;
    bool routed = false;        ///< the host reads how many tokens each expert has: it is a unit ahead of the chip at most
    bool routes_at_once = false; ///< nothing comes before the router: the host issues nothing before the unit begins
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

/// What every kind of block and the ends of the model come to, pass by pass.
struct StepUnits {
    std::vector<Unit> variants; ///< as `BlockOrder::variants`
    Unit embedding, head;
    Names names;
};

/// Program of one kind of block, or of one operator.
BlockProgram program_of(StepSetting const& setting, LayerShape const& shape, BlockVariant const& variant);

/// Prices the programs of a strategy. `costs` say by which factor computation is paced, `messages` what becomes of
/// collectives; none: they stay as the closed form has them.
StepUnits step_units(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs,
                     BlockOrder const& order, StepDetail detail, StepMessages* messages = nullptr);

/// The units of a chunk in the order of the forward pass: embedding, blocks, output projection.
std::vector<Unit const*> units_of(ChunkWork const& work, BlockOrder const& order, StepUnits const& units);

/// One pass of a chunk: kernels and what stands in their way, block by block; none ends before the host has issued it, which
/// issues all of the pass without a pause.
Ticks pass_ticks(std::vector<Unit const*> const& units, PassKind kind);

Ticks ticks_of(Seconds seconds);

} // namespace headroom::training::simulation
