#pragma once

#include "headroom/network/gradient_compression.hpp"
#include "headroom/precision.hpp"
#include "headroom/training/pipeline_schedule.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace headroom::training {

struct PipelineShape;

/// Activations that the backward pass recomputes instead of keeping them.
enum class Recompute {
    none,      ///< everything is kept
    selective, ///< the attention core, whose scores are large and cheap [Korthikanti2022]
    alternate, ///< every second matrix product of a block, and all that is no product [TorchTitan]
    modules,   ///< the parts of `recompute_module` that are named, as Megatron Core has them [MegatronLM]
    full,      ///< whole blocks; only their inputs are kept
};
/// Parts of a block that can be recomputed alone, as a sum.
namespace recompute_module {
inline constexpr unsigned core_attn = 1, layernorm = 2, mla_up_proj = 4, moe_act = 8, mlp = 16, moe = 32,
                          shared_experts = 64;
} // namespace recompute_module
inline constexpr std::array<std::pair<std::string_view, unsigned>, 7> recompute_modules{
    {{"core_attn", recompute_module::core_attn},
     {"layernorm", recompute_module::layernorm},
     {"mla_up_proj", recompute_module::mla_up_proj},
     {"moe_act", recompute_module::moe_act},
     {"mlp", recompute_module::mlp},
     {"moe", recompute_module::moe},
     {"shared_experts", recompute_module::shared_experts}}};
/// Kinds that a search tries, in the order of increasing time and decreasing memory.
inline constexpr std::array recomputations{Recompute::none, Recompute::selective, Recompute::full};
/// Overlap of communication with kernels.
enum class Overlap {
    off,    ///< none: kernels wait for it
    on,     ///< as far as the framework overlaps it
    hidden, ///< as far as frameworks do that are built to overlap it
};
/// Kinds of traffic whose overlap is stated one by one; `offload` is copies to and from the host.
enum class TrafficKind { tensor, context, expert, gradients, parameters, pipeline, offload };
inline constexpr std::array traffic_kinds{TrafficKind::tensor,    TrafficKind::context,    TrafficKind::expert,
                                          TrafficKind::gradients, TrafficKind::parameters, TrafficKind::pipeline,
                                          TrafficKind::offload};
/// Overlap of each kind of traffic; one `Overlap` stands for all kinds.
class Overlaps {
public:
    constexpr Overlaps(Overlap all = Overlap::on) { of_.fill(all); } // NOLINT(google-explicit-constructor)
    constexpr Overlap operator[](TrafficKind kind) const { return of_[static_cast<std::size_t>(kind)]; }
    constexpr Overlap& operator[](TrafficKind kind) { return of_[static_cast<std::size_t>(kind)]; }
    constexpr bool operator==(Overlaps const&) const = default;

private:
    std::array<Overlap, traffic_kinds.size()> of_{};
};
/// Weights that are trained; the others are frozen.
enum class Trained {
    all,
    lora,        ///< LoRA: low-rank adapters on frozen weights
    last_layers, ///< the last few blocks and the head; the blocks before them run forward only. All blocks: the whole
                 ///< model
};
/// Projections with LoRA matrices, as a sum. Projections of routed experts have none.
namespace adapter_module {
inline constexpr unsigned query = 1, key = 2, value = 4, output = 8, gate = 16, up = 32, down = 64;
inline constexpr unsigned tables = 128;     ///< embedding and output projection, trained whole in addition to LoRA
inline constexpr unsigned magnitudes = 256; ///< DoRA: a trained length of each row of every adapted matrix [LiuS2024]
inline constexpr unsigned attention = query | key | value | output, linear = attention | gate | up | down;
} // namespace adapter_module
inline constexpr std::array<std::pair<std::string_view, unsigned>, 8> adapter_modules{
    {{"q", adapter_module::query},
     {"k", adapter_module::key},
     {"v", adapter_module::value},
     {"o", adapter_module::output},
     {"gate", adapter_module::gate},
     {"up", adapter_module::up},
     {"down", adapter_module::down},
     {"tables", adapter_module::tables}}};
/// "attention", "linear", these with "+tables", or names joined by a plus: "q+v".
std::string spelled_modules(unsigned modules);
/// Format of frozen weights under LoRA.
enum class FrozenFormat {
    sixteen_bit,
    int8, ///< a byte, and a scale a row [Dettmers2022]
    int4, ///< groups of 128 with a 16-bit scale and a zero point, as GPTQ and AWQ have it [Frantar2023]
    nf4,  ///< 4-bit NormalFloat in blocks of 64, whose scales are quantised too [Dettmers2023]
};
inline constexpr std::array frozen_formats{FrozenFormat::sixteen_bit, FrozenFormat::int8, FrozenFormat::int4,
                                           FrozenFormat::nf4};
std::string_view name_of(FrozenFormat format);
/// Bytes a parameter, scales included:
///
///     bf16 2,  int8 1,  int4 1/2 + (2 + 1/2)/128,  nf4 1/2 + 1/64 + 4/(64 256)
///
/// Source:     [Dettmers2022], [Frantar2023], [Dettmers2023]
double bytes_of(FrozenFormat format);
/// Exchange of keys and values among the ranks that share a sequence.
enum class ContextExchange {
    gather,     ///< all-gather before attention
    ring,       ///< point-to-point around a ring, overlapped with attention on the shard received before [Liu2023]
    all_to_all, ///< all-to-all of heads for tokens, and back (Ulysses) [Jacobs2023]
};
/// State that is kept in host memory instead of the accelerator's.
enum class Offload {
    none,
    optimizer,
    activations,
    both,       ///< optimizer and activations
    parameters, ///< weights and the optimizer: every pass copies the weights that it needs
    all,        ///< weights, optimizer and activations
};
inline constexpr std::array offloads{Offload::none, Offload::optimizer,  Offload::activations,
                                     Offload::both, Offload::parameters, Offload::all};

std::string_view name_of(Recompute recompute);
std::string_view name_of(ContextExchange exchange);
std::string_view name_of(Offload offload);
std::string_view name_of(TrafficKind kind);
constexpr bool offloads_activations(Offload o) {
    return o == Offload::activations || o == Offload::both || o == Offload::all;
}
constexpr bool offloads_optimizer(Offload o) { return o != Offload::none && o != Offload::activations; }
constexpr bool offloads_parameters(Offload o) { return o == Offload::parameters || o == Offload::all; }

/// One way to spread a step over ranks: dp * tp * pp * cp accelerators.
struct Strategy {
    int dp = 1; ///< data-parallel replicas, which divide the batch
    int tp = 1; ///< tensor-parallel ranks, which divide every matrix product
    int pp = 1; ///< pipeline stages, which divide the layers
    /// Model chunks a pipeline stage in interleaved 1F1B; 1 for schedules that define their own number of chunks (see
    /// `pipeline_shape`).
    int virtual_pp = 1;
    /// Requested schedule; 1F1B with several chunks is interleaved: see `schedule()`.
    PipelineSchedule pipeline = PipelineSchedule::one_f_one_b;
    int cp = 1;          ///< context-parallel ranks, which divide each sequence
    int ep = 1;          ///< expert-parallel ranks, which divide the experts of a layer; etp ep of the stage's dp cp tp
                         ///< ranks
    int etp = 1;         ///< ranks that divide the matrix products of one expert
    int zero = 0;        ///< ZeRO stage 0..3; 3 is FSDP
    int shard = 0;       ///< ranks that one ZeRO shard group spans (hybrid sharding); 0 means all of dp cp
    int micro_batch = 1; ///< sequences per micro-batch
    bool sequence_parallel = false;
    Recompute recompute = Recompute::none;
    int recompute_layers = 0; ///< number of blocks that `recompute` applies to; 0: all
    unsigned recomputed = 0;  ///< parts of a block, with `modules`
    Precision precision = Precision::bf16;
    Overlaps overlap = Overlap::on;
    ContextExchange exchange = ContextExchange::gather;
    Offload offload = Offload::none;
    Trained trained = Trained::all;
    int adapter_rank = 16;                                ///< of low-rank adapters
    unsigned adapter_modules = adapter_module::attention; ///< projections that have them
    int trained_layers = 0;                               ///< number of trained blocks, with `last_layers`
    double capacity = 0.0; ///< most tokens of an expert over its mean load, more are dropped; 0: no limit
    int local_steps = 1;   ///< optimizer steps between two synchronisations (DiLoCo); 1: every step
    int servers = 0;       ///< parameter servers that sum gradients; 0: the ranks use collectives
    network::GradientCompression compression = {};
    [[nodiscard]] int workers() const { return dp * tp * pp * cp; }
    /// The schedule that runs.
    [[nodiscard]] PipelineSchedule schedule() const {
        return pipeline == PipelineSchedule::one_f_one_b && virtual_pp > 1 ? PipelineSchedule::interleaved : pipeline;
    }
    /// Ranks that reduce gradients with each other: context ranks see different tokens, too.
    [[nodiscard]] int data_ranks() const { return dp * cp; }
    /// Ranks that hold one copy of what ZeRO shards.
    [[nodiscard]] int shard_ranks() const { return shard > 0 && shard < data_ranks() ? shard : data_ranks(); }
    /// Ranks that hold the same experts and reduce their gradients with each other.
    [[nodiscard]] int expert_data_ranks() const { return dp * cp * tp / (ep * etp); }
    /// Ranks that hold one copy of the experts' state under ZeRO: experts have as many copies as dense parameters.
    [[nodiscard]] int expert_shard_ranks() const {
        int const data = std::max(1, expert_data_ranks()), copies = data_ranks() / shard_ranks();
        return std::gcd(data, std::max(1, data / copies));
    }
    bool operator==(Strategy const&) const = default;
};

/// Shard groups by name, in the place of a number of ranks in `PartialStrategy::shard`.
inline constexpr int shard_in_node = -1, shard_in_replica = -2;

/// Ranks of the shard group that a number or name asks for. The data-parallel ranks of a node are neighbours, as far as they
/// divide all data-parallel ranks; those of a replica are its context-parallel ranks.
constexpr int shard_group_ranks(int asked, Strategy const& strategy, int accelerators_per_node) {
    if (asked == shard_in_replica) { return strategy.cp; }
    if (asked != shard_in_node) { return asked; }
    return std::gcd(std::max(1, accelerators_per_node / strategy.tp), strategy.data_ranks());
}

enum class AttentionKernel;
enum class Fp8Recipe;

/// A strategy with unset fields; `assume` fills them.
struct PartialStrategy {
    std::optional<int> dp = {}, tp = {}, pp = {}, virtual_pp = {}, cp = {}, ep = {}, etp = {}, zero = {}, shard = {};
    std::optional<int> micro_batch = {}, grad_accum = {};
    std::optional<PipelineSchedule> pipeline = {};
    std::optional<bool> sequence_parallel = {};
    std::optional<Recompute> recompute = {};
    std::optional<int> recompute_layers = {};
    std::optional<unsigned> recomputed = {};
    std::optional<Precision> precision = {};
    std::optional<Overlaps> overlap = {};
    std::optional<ContextExchange> exchange = {};
    std::optional<Offload> offload = {};
    std::optional<Trained> trained = {};
    std::optional<int> adapter_rank = {}, trained_layers = {};
    std::optional<unsigned> adapter_modules = {};
    std::optional<std::string> optimizer = {}; ///< record of the catalog; these three change the framework's state
    std::optional<bool> pure = {};             ///< weights, gradients and states in 16 bits, without a master copy
    std::optional<FrozenFormat> frozen = {};   ///< of frozen weights under LoRA
    std::optional<bool> compiled = {};         ///< by torch.compile; changes the framework's kernels, as does the next
    std::optional<AttentionKernel> attention = {};
    std::optional<Fp8Recipe> fp8_recipe = {}; ///< so does this
    std::optional<double> capacity = {};
    std::optional<int> local_steps = {}, servers = {};
    std::optional<network::GradientCompression> compression = {};
};

/// Workload of one optimizer step.
struct Workload {
    int sequence_length = 0;
    int global_batch = 0;     ///< sequences
    double documents = 0.0;   ///< token-weighted mean length of a packed document, which attention does not cross; 0:
                              ///< unpacked
    double fill = 1.0;        ///< fraction of the sequence that is not padding; padding is not computed
    double expert_skew = 1.0; ///< tokens on the most loaded expert rank over the mean; 1: balanced
    /// Tokens of a sequence that are computed.
    [[nodiscard]] double tokens() const { return sequence_length * fill; }
    /// Tokens that one token can attend to.
    [[nodiscard]] double attended() const { return documents > 0.0 && documents < tokens() ? documents : tokens(); }
    bool operator==(Workload const&) const = default;
};

/// Micro-batches of one replica in a step, at least one; fractional where the batch does not divide (published runs
/// with a shorter last micro-batch).
double micro_batch_count(Strategy const& strategy, Workload const& workload);

/// Number of micro-batches with a shorter last one counted as whole: the number that schedules and memory use.
int whole_micro_batches(Strategy const& strategy, Workload const& workload);

/// Shape of the pipeline: stages, chunks a stage (`virtual_pp` if interleaved, else the schedule's own number), and
/// micro-batches of a step, a shorter last one counted as whole.
PipelineShape pipeline_shape(Strategy const& strategy, Workload const& workload);

/// Tokens on the most loaded expert rank over the mean: the capacity if there is one (tokens beyond it are dropped,
/// free room below it is padded), else the skew of the workload.
double expert_load(Strategy const& strategy, Workload const& workload);

/// Strategy as tables print it: "tp8 sp pp4 dp16 zero1 mb1 selective". Degrees of 1 are omitted, except dp and the
/// micro-batch; so is everything that is off (ZeRO 0, no recomputation).
std::string short_name(Strategy const& strategy);

/// A compression as options and records spell it: "top-k:0.01".
std::string spelled(network::GradientCompression const& compression);
/// "on", "off", or what differs from "on" by kind: "tensor=off,gradients=on".
std::string spelled(Overlaps const& overlaps);
/// Trained weights as options and records spell them: "all", "lora:16", "lora:8:q+v", "dora:16", "last:2".
std::string spelled_training(Strategy const& strategy);
/// Recomputation as options and records spell it: "none", "full", or the parts of a block: "layernorm+moe_act".
std::string spelled_recomputation(Strategy const& strategy);

} // namespace headroom::training
