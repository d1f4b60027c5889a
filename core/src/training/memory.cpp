#include "headroom/training/memory.hpp"

#include "memory_terms.hpp"

#include "headroom/training/prediction.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::training {
namespace {

/// Blocks whose activations are being copied to or from host memory and are still on the accelerator. A guess.
constexpr double offloaded_blocks = 2.0;

/// A process takes a context, the buffers of the collective library and workspaces: about 2 GiB on a data-centre
/// part, less on a small one. Guesses; docs/guide/memory.md shows them as such.
constexpr Bytes runtime_bytes = 2.0 * units::GiB;
constexpr Bytes runtime_bytes_of_small_parts = 1.0 * units::GiB;
constexpr Bytes largest_small_part = 24.0 * units::GiB;
/// Fraction of the remaining memory that a caching allocator can hand out: fragmentation takes 3 %. A guess.
constexpr double allocator_yield = 0.97;
/// Loss, in units of the widest tensor, from the segment that is being split at the peak: half of it on average.
/// Replayed in tests/unit/memory_allocator_test.cpp.
constexpr double cut_segments = 0.5;

Bytes lost_share(MemoryUse const& use) { return use.total() * (1.0 / allocator_yield - 1.0); }

/// Fragmentation by recomputation, bytes. Recomputed blocks allocate and free tensors wider than the inputs that are
/// kept. A splitting allocator places those inputs in the freed segments, as many as fit into one; the rest of each
/// segment is lost.
Bytes lost_by_cutting(BlockActivations const& block, Bytes activations) {
    if (block.widest <= 0.0 || block.kept <= 0.0) { return Bytes{}; }
    double const fit = std::floor(block.widest / block.kept);
    double const share = fit > 0.0 ? block.widest / (block.kept * fit) - 1.0 : 0.0;
    return activations * share + Bytes{cut_segments * block.widest};
}

/// Temporary bytes of the backward pass: the recomputed block and gradients of its activations. A recomputed share of
/// less than one block is averaged, but at most the bytes that those blocks would keep.
double block_temporaries(Strategy const& strategy, BlockActivations const& block, double depth) {
    double const recomputed_blocks = offloads_activations(strategy.offload) ? 1.0 : depth * block.recomputed;
    return std::min(block.again, std::max(1.0, recomputed_blocks) * block.spared) + block.gradients;
}

/// Bytes of a block's cache of keys and values; it goes to the host with the activations.
double cached_block_bytes(Strategy const& strategy, BlockActivations const& block) {
    return offloads_activations(strategy.offload) ? 0.0 : block.cache;
}

/// Bytes of the logits of the micro-batch at hand, of the cache of keys and values and of weights that autocast narrowed, beyond
/// the temporaries: all are gone before the backward pass of the last block begins, unless the framework holds on to what the
/// model returned. The loss then makes its copies in addition.
Bytes logits_at_peak(Framework const& framework, Strategy const& strategy, ShapeActivations const& kept, double depth,
                     Bytes temporaries, Bytes narrowed) {
    Bytes const logits{kept.logits}, returned{kept.returned}, cache{cached_block_bytes(strategy, kept.block) * depth};
    if (!framework.holds_outputs) { return std::max(Bytes{}, logits + cache + narrowed - temporaries); }
    return cache + std::max(returned, returned + logits + narrowed - temporaries);
}

/// Bytes that the block keeps whose backward pass is the last.
Bytes last_block(MemoryUse const& use, BlockActivations const& block) {
    return std::min(use.activations, Bytes{block.trained});
}

/// Share of an accelerator's memory up to which the allocator keeps segments of batches of other lengths: short of memory, it
/// gives back those in which nothing is left, and asks again. The last hundredth is a guess. Source: [PyTorch]
constexpr double cached_share = 0.99;

/// Memory that segments of other lengths may take, next to everything else.
Bytes room_for_segments(MemoryUse const& use, Bytes fragmentation, Bytes capacity) {
    return std::max(Bytes{}, capacity * cached_share - use.total() - fragmentation - use.runtime);
}

/// Bytes of the loss's tensors that batches of other lengths left in segments of their own.
Bytes lost_to_lengths(StepSetting const& setting, StageTerms const& of, StageContent const& content) {
    return content.share.last ? Bytes{of.kept.logits * setting.framework.mixed_loss} : Bytes{};
}

/// Fragmentation of batches of one length: of buffers, and of activations beyond the copies of the update, which go into what
/// these left.
Bytes lost_to_fragments(MemoryUse const& use, Framework const& framework, Bytes mixed = {}) {
    Bytes const lost = use.all_activations() * framework.allocator_loss + mixed;
    return lost_share(use) + (use.buffers - use.update_copies) * framework.allocator_loss +
           std::max(Bytes{}, lost - use.update_copies);
}

/// Adds copies of the update beyond activations, which are gone by then, and fragmentation. Segments that activations left hold
/// those copies, too.
void add_update_and_loss(MemoryUse& use, StepSetting const& setting, BlockActivations const& block, Bytes copies,
                         Bytes mixed) {
    auto const& framework = setting.framework;
    use.update_copies = std::max(Bytes{}, copies - use.all_activations());
    use.buffers += use.update_copies;
    use.fragmentation = lost_to_fragments(use, framework);
    if (mixed > Bytes{}) {
        Bytes const segments = lost_to_fragments(use, framework, mixed) - use.fragmentation;
        use.fragmentation +=
            std::min(segments, room_for_segments(use, use.fragmentation, setting.cluster.accelerator.memory));
    }
    if (framework.cuts_segments) {
        use.fragmentation = std::max(use.fragmentation, lost_by_cutting(block, use.activations));
    }
}

/// The last stage, of those between the first and the last, that may be fuller than the one before: with equal blocks the
/// second, which may have one more; with dense blocks before experts the second without any; else any.
int furthest_unlike_stage(StepSetting const& setting, int p) {
    Model const& model = setting.model;
    if (states_stages(model, p)) { return p - 2; }
    if (setting.sums.empty()) { return p > 2 && depth_of(model) % p != 0 ? 1 : 0; }
    bool const listed = !model.plan.empty() || !model.pattern.empty() || model.encoder_layers > 0;
    return listed || model.moe.every > 1 ? p - 2 : std::min(p - 2, model.moe.first_dense + 1);
}

/// Whether held micro-batches never grow in number from one stage to the next.
bool fills_from_the_front(PipelineSchedule schedule) {
    return schedule == PipelineSchedule::one_f_one_b || schedule == PipelineSchedule::interleaved;
}

} // namespace

Bytes runtime_of(Accelerator const& accelerator) {
    return accelerator.memory <= largest_small_part ? runtime_bytes_of_small_parts : runtime_bytes;
}

bool recomputes_all(Strategy const& strategy, Model const& model) {
    return strategy.recompute == Recompute::full && recomputed_share(strategy, model) >= 1.0;
}

double micro_batches_in_flight(Strategy const& strategy, int stage, int micro_batches) {
    double const p = strategy.pp;
    auto const schedule = strategy.schedule();
    if (strategy.pp == 1) { return std::min<double>(micro_batches, 1.0); }
    if (schedule == PipelineSchedule::one_f_one_b) { return std::min<double>(micro_batches, p - stage); }
    if (schedule == PipelineSchedule::interleaved) { // the first stage holds p (1 + (p-1)/(p v)); a later one two
        double const v = strategy.virtual_pp;        // chunks less a stage
        double const chunks = (v - 1.0) * p + 1.0 + 2.0 * (p - 1.0 - stage);
        return std::min<double>(micro_batches, std::max(1.0, chunks / v));
    }
    auto const& row = schedule_row(schedule);
    int const chunks = row.chunks > 0 ? row.chunks : strategy.virtual_pp;
    return row.held({.stages = strategy.pp, .chunks = chunks, .micro_batches = micro_batches}, stage);
}

int heads_in_flight(Strategy const& strategy, int micro_batches) {
    return strategy.pp > 1 && strategy.schedule() == PipelineSchedule::gpipe ? micro_batches : 1;
}

ShapeActivations shape_activations(StepSetting const& setting, LayerShape const& shape) {
    return {.block = block_activations(setting.model, setting.blocks, shape, setting.framework),
            .logits = logit_bytes(setting.model, shape, setting.framework),
            .returned = returned_logit_bytes(setting.model, shape, setting.framework),
            .mask = score_mask_bytes(setting.model, shape, setting.framework),
            .dequantised = dequantised_bytes(setting.model, shape, setting.framework)};
}

StageTerms stage_terms(StepSetting const& setting, Strategy const& strategy) {
    return stage_terms(setting, strategy, shape_activations(setting, shape_of(strategy, setting.workload)));
}

StageTerms stage_terms(StepSetting const& setting, Strategy const& strategy, ShapeActivations const& kept) {
    return {.kept = kept,
            .micro_batches = whole_micro_batches(strategy, setting.workload),
            .trained = kept_parts(strategy, setting.model, setting.count, setting.framework),
            .shards = shards_of(strategy),
            .expert_shards = expert_shards_of(strategy),
            .widths = state_widths(setting.framework, strategy.precision)};
}

double kept_bytes(Strategy const& strategy, StageTerms const& of, StageContent const& content, double in_flight) {
    double const kept = of.kept.block.kept * content.depth * in_flight;
    return offloads_activations(strategy.offload) ? std::min(kept, offloaded_blocks * of.kept.block.trained) : kept;
}

MemoryUse stage_memory(StepSetting const& setting, Strategy const& strategy, StageTerms const& of, int stage) {
    auto const content = stage_content(setting, strategy, stage, of.micro_batches);
    MemoryUse use;
    use.stage = stage;
    auto const copies = add_state(use, setting, strategy, of, content);
    bool const all_again = recomputes_all(strategy, setting.model);
    Bytes const narrowed_kept = all_again ? Bytes{} : copies.narrowed;
    use.buffers += narrowed_kept + Bytes{of.kept.mask};
    double const in_flight = micro_batches_in_flight(strategy, stage, of.micro_batches);
    use.activations = Bytes{kept_bytes(strategy, of, content, in_flight)};
    if (offloads_activations(strategy.offload)) {
        use.host += Bytes{of.kept.block.kept * content.depth * in_flight} - use.activations;
    }
    use.temporaries = Bytes{block_temporaries(strategy, of.kept.block, content.depth) + of.kept.dequantised};
    if (content.share.last) {
        int const heads = heads_in_flight(strategy, of.micro_batches);
        use.activations += Bytes{of.kept.block.ahead * heads};
        use.logits = logits_at_peak(setting.framework, strategy, of.kept, content.depth, use.temporaries,
                                    copies.narrowed - narrowed_kept);
        if (!setting.framework.tiled_loss) { use.logits += Bytes{of.kept.logits} * (heads - 1); }
    }
    Bytes const gradients = use.gradients;
    if (makes_gradients(setting.framework, strategy, of.micro_batches)) {
        Bytes const freed = use.activations + use.logits + narrowed_kept - last_block(use, of.kept.block);
        use.gradients = std::max(Bytes{}, gradients - freed);
    }
    use.runtime = runtime_of(setting.cluster.accelerator);
    add_update_and_loss(use, setting, of.kept.block, copies.updated + gradients - use.gradients - narrowed_kept,
                        lost_to_lengths(setting, of, content));
    return use;
}

std::vector<MemoryUse> memory_by_stage(StepSetting const& setting, Strategy const& strategy) {
    auto const of = stage_terms(setting, strategy);
    std::vector<MemoryUse> stages;
    stages.reserve(static_cast<std::size_t>(strategy.pp));
    for (int stage = 0; stage < strategy.pp; ++stage) { stages.push_back(stage_memory(setting, strategy, of, stage)); }
    return stages;
}

MemoryUse memory_use(StepSetting const& setting, Strategy const& strategy) {
    return memory_use(setting, strategy, shape_activations(setting, shape_of(strategy, setting.workload)));
}

MemoryUse memory_use(StepSetting const& setting, Strategy const& strategy, ShapeActivations const& kept) {
    auto const of = stage_terms(setting, strategy, kept);
    auto fullest = stage_memory(setting, strategy, of, 0);
    auto const keep = [&](int stage) {
        auto const other = stage_memory(setting, strategy, of, stage);
        if (other.footprint() > fullest.footprint()) { fullest = other; }
    };
    int const p = strategy.pp;
    if (fills_from_the_front(strategy.schedule())) {
        int const furthest = furthest_unlike_stage(setting, p);
        for (int stage = 1; stage <= furthest; ++stage) { keep(stage); }
        if (p > 1) { keep(p - 1); }
        return fullest;
    }
    for (int stage = 1; stage < p; ++stage) { keep(stage); }
    return fullest;
}

Bytes host_need(MemoryUse const& use, Cluster const& cluster, int workers) {
    return use.host * static_cast<double>(std::min(workers, std::max(1, cluster.accelerators_per_node)));
}

bool host_holds(MemoryUse const& use, Cluster const& cluster, int workers) {
    return cluster.host_memory.base() <= 0.0 || host_need(use, cluster, workers) <= cluster.host_memory;
}

Bytes usable_memory(Accelerator const& accelerator) {
    return (accelerator.memory - runtime_of(accelerator)) * allocator_yield;
}

Bytes usable_memory(Accelerator const& accelerator, MemoryUse const& use) {
    Bytes const usual = usable_memory(accelerator);
    if (use.fragmentation <= lost_share(use)) { return usual; }
    return std::clamp(accelerator.memory - use.runtime - use.fragmentation, Bytes{}, usual);
}

// ---- explanation ----------------------------------------------------------------------------------------------------

namespace {

void explain_fragmentation(TermBook& book, StepSetting const& setting, BlockActivations const& block,
                           MemoryUse const& use, Bytes mixed) {
    auto const& framework = setting.framework;
    std::string formula = "total_bytes * (1 / 0.97 - 1)";
    std::string const copies = use.update_copies > Bytes{} ? " - update_copy_bytes" : "";
    std::string lost = "0";
    if (framework.allocator_loss > 0.0) {
        book.add(TermKind::framework, "allocator_loss", "", "framework " + framework.name, framework.allocator_loss);
        formula += " + (buffers_bytes" + copies + ") * allocator_loss";
        lost = "(activations_bytes + logits_bytes + temporaries_bytes) * allocator_loss";
    }
    std::string const activations_lost = "max(0, " + lost + copies + ")";
    if (mixed > Bytes{}) {
        book.add(TermKind::framework, "mixed_loss", "", "framework " + framework.name, framework.mixed_loss);
        book.add(TermKind::algorithm, "room_bytes", "B",
                 "for segments of other lengths: 99 % of the accelerator's memory less everything else",
                 room_for_segments(use, lost_to_fragments(use, framework), setting.cluster.accelerator.memory).base());
        formula += " + " + activations_lost + " + min(room_bytes, max(0, " + lost + " + logit_bytes * mixed_loss" +
                   copies + ") - " + activations_lost + ")";
    } else if (framework.allocator_loss > 0.0) {
        formula += " + " + (copies.empty() ? lost : activations_lost);
    }
    if (setting.framework.cuts_segments && block.widest > 0.0 && block.kept > 0.0) {
        book.add(TermKind::shape, "widest_tensor_bytes", "B", "widest tensor of a block that is computed again",
                 block.widest);
        std::string const share = block.widest >= block.kept ? "(widest_tensor_bytes / (kept_block_bytes * "
                                                               "floor(widest_tensor_bytes / kept_block_bytes)) - 1)"
                                                             : "0";
        formula = "max(" + formula + ", activations_bytes * " + share + " + 0.5 * widest_tensor_bytes)";
    }
    book.formula("fragmentation_bytes", "B", formula, use.fragmentation.base());
}

/// Formula of `logits_at_peak`.
std::string logits_formula(Framework const& framework, ShapeActivations const& kept, bool narrows) {
    std::string const cache = framework.keeps_cache ? "cached_block_bytes * memory_stage_depth" : "";
    std::string const narrowed = narrows ? " + narrowed_weight_bytes" : "";
    if (!framework.holds_outputs) {
        return "max(0, logit_bytes" + (cache.empty() ? "" : " + " + cache) + narrowed + " - temporaries_bytes)";
    }
    std::string const least = kept.returned > 0.0 ? "returned_logit_bytes" : "0";
    return (cache.empty() ? "" : cache + " + ") + "max(" + least + ", " + least + " + logit_bytes" + narrowed +
           " - temporaries_bytes)";
}

/// Adds gradients_bytes to the terms, where the backward pass makes gradients as it frees activations.
void explain_gradients(TermBook& book, MemoryUse const& use, BlockActivations const& block, bool all_again) {
    if (!book.has("whole_gradients_bytes")) { return; }
    bool const kept = !all_again && book.has("narrowed_weight_bytes");
    book.add(TermKind::shape, "last_block_bytes", "B", "kept by the block whose backward pass is the last",
             last_block(use, block).base());
    book.formula("gradients_bytes", "B",
                 "max(0, whole_gradients_bytes - (activations_bytes + logits_bytes" +
                     std::string{kept ? " + narrowed_weight_bytes" : ""} + " - last_block_bytes))",
                 use.gradients.base());
}

} // namespace

void explain_memory(TermBook& book, StepSetting const& setting, Strategy const& strategy, MemoryUse const& use) {
    auto const of = stage_terms(setting, strategy);
    auto const& block = of.kept.block;
    auto const content = stage_content(setting, strategy, use.stage, of.micro_batches);
    explain_strategy(book, setting, strategy);
    book.add(TermKind::option, "element_bytes", "B", "--precision", element_bytes(strategy.precision));
    explain_state(book, use, setting, strategy, of, content);
    explain_activations(book, setting, shape_of(strategy, setting.workload), of.kept);
    book.add(TermKind::shape, "memory_stage_depth", "", "blocks that one micro-batch keeps activations of",
             content.depth);
    book.add(TermKind::algorithm, "micro_batches_in_flight", "", "schedule of the pipeline",
             micro_batches_in_flight(strategy, use.stage, of.micro_batches), {"pp", "micro_batches"});
    std::string activations = "kept_block_bytes * memory_stage_depth * micro_batches_in_flight";
    bool const offloads = offloads_activations(strategy.offload);
    if (offloads) {
        bool const operators = !setting.model.operators.empty();
        activations = "min(" + activations + ", 2 * kept_block_bytes" +
                      (operators || block.kept <= 0.0 ? "" : " / trained_blocks_share") + ")";
    }
    bool const all_again = recomputes_all(strategy, setting.model);
    std::string logits = "0";
    book.add(TermKind::algorithm, "heads_in_flight", "", "micro-batches whose logits are there at once",
             heads_in_flight(strategy, of.micro_batches), {"micro_batches"});
    std::string temporaries = "0";
    if (setting.model.operators.empty()) {
        std::string const few = offloads ? "1" : "max(1, memory_stage_depth * recomputed_blocks_share)";
        temporaries = "min(recomputed_block_bytes, " + few + " * spared_block_bytes) + gradient_block_bytes";
        if (of.kept.dequantised > 0.0) {
            book.add(TermKind::model, "largest_matrix_elements", "", "of the quantised matrices of a block",
                     of.kept.dequantised / element_bytes(strategy.precision) * strategy.tp);
            temporaries += " + element_bytes * largest_matrix_elements / tp";
        }
    }
    if (content.share.last) {
        if (book.has("later_tokens_bytes")) { activations += " + later_tokens_bytes * heads_in_flight"; }
        if (setting.framework.keeps_cache) {
            book.add(TermKind::shape, "cached_block_bytes", "B",
                     "keys and values that stay until the forward pass has ended", cached_block_bytes(strategy, block));
        }
        logits = logits_formula(setting.framework, of.kept, all_again && book.has("narrowed_weight_bytes"));
        if (!setting.framework.tiled_loss) { logits += " + logit_bytes * (heads_in_flight - 1)"; }
    }
    book.formula("temporaries_bytes", "B", temporaries, use.temporaries.base());
    book.formula("activations_bytes", "B", activations, use.activations.base());
    book.formula("logits_bytes", "B", logits, use.logits.base());
    explain_gradients(book, use, block, all_again);
    book.formula("total_bytes", "B",
                 "weights_bytes + gradients_bytes + optimizer_bytes + activations_bytes + logits_bytes + "
                 "temporaries_bytes + buffers_bytes",
                 use.total().base());
    explain_fragmentation(book, setting, block, use, lost_to_lengths(setting, of, content));
    book.add(TermKind::catalog, "memory_capacity", "B", "accelerator " + setting.cluster.accelerator.name,
             setting.cluster.accelerator.memory.base());
    book.formula("runtime_bytes", "B",
                 setting.cluster.accelerator.memory <= largest_small_part ? "2 ^ 30" : "2 * 2 ^ 30",
                 use.runtime.base());
    book.formula("footprint_bytes", "B", "total_bytes + fragmentation_bytes + runtime_bytes", use.footprint().base());
}

} // namespace headroom::training
