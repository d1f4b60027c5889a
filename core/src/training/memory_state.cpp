#include "lora_matrices.hpp"
#include "memory_terms.hpp"

#include "headroom/network/compression.hpp"
#include "headroom/network/local_updates.hpp"

#include <algorithm>
#include <utility>

namespace headroom::training {

using namespace headroom::network;

namespace {

/// Bytes of a gathered parameter of the embedding or the output projection: neither is quantised.
double gathered_end_bytes(Framework const& framework, Strategy const& strategy) {
    return framework.gathers_wide ? 4.0 : std::min(2.0, element_bytes(strategy.precision));
}

/// Dense parameters of a stage that are not in its blocks.
double end_parameters(StepSetting const& setting, Strategy const& strategy, StageContent const& content) {
    auto share = content.share;
    share.blocks = 0.0;
    return stage_parameters(setting, strategy, share).dense;
}

/// Buffer bytes. ZeRO 3: the gathered weights of the current and the next block, and the gradients of one block; with
/// them the ends of the model, where the framework keeps these gathered.
/// Otherwise one gradient bucket, if gradients are reduced at all; DistributedDataParallel has buckets of all gradients.
/// Frameworks that prefetch a number of parameters hold these and their buckets.
Bytes buffer_bytes(StepSetting const& setting, Strategy const& strategy, StageTerms const& of,
                   StageContent const& content, StageParameters const& held) {
    auto const& framework = setting.framework;
    bool const gathers = strategy.zero == 3;
    if (!gathers && strategy.data_ranks() == 1) { return Bytes{}; }
    if (framework.keeps_buckets && strategy.zero == 0) {
        return Bytes{(of.trained.dense * held.dense + of.trained.experts * held.experts) * of.widths.reduced};
    }
    double const stage_parameters = held.all();
    double const bucket =
        framework.bucket_copies * std::min(stage_parameters, framework.bucket_elements) * of.widths.reduced;
    if (!gathers) { return Bytes{bucket}; }
    double const gathered = gathered_bytes(framework, strategy);
    if (framework.live_elements > 0.0) {
        return Bytes{std::min(stage_parameters, framework.live_elements) * gathered + bucket};
    }
    auto const& count = setting.count;
    double const block =
        (count.layer - count.experts) / strategy.tp + count.experts / (static_cast<double>(strategy.ep) * strategy.etp);
    double const gradient = framework.gathers_wide ? of.widths.gradients : of.widths.reduced;
    double const bytes = block * (2.0 * gathered + gradient);
    if (!framework.gathers_ends || strategy.data_ranks() == 1) { return Bytes{bytes}; }
    double const reduced = strategy.trained != Trained::lora ? gradient : 0.0;
    return Bytes{bytes +
                 end_parameters(setting, strategy, content) * (gathered_end_bytes(framework, strategy) + reduced)};
}

/// Ranks that share gradients: with a pipeline those of the optimizer where the framework scatters them after every micro-batch.
double Shards::*gradient_shards(Framework const& framework) {
    return framework.shards_gradients ? &Shards::optimizer : &Shards::gradients;
}

/// Whether gradients that are sharded at the end of a step are whole while it accumulates them.
bool accumulates_whole(Framework const& framework, Strategy const& strategy, int micro_batches) {
    return framework.accumulates_whole && strategy.zero >= 2 && strategy.pp == 1 && micro_batches > 1;
}

/// ZeRO-Offload keeps averaged gradients in host memory, where the optimizer reads them; gradients summed over the
/// micro-batches of a pipeline, and those that stay whole between them, are on the accelerator. Source: [Ren2021]
bool keeps_gradients(Framework const& framework, Strategy const& strategy, int micro_batches) {
    return !offloads_optimizer(strategy.offload) || strategy.zero < 2 || strategy.pp > 1 ||
           accumulates_whole(framework, strategy, micro_batches);
}

/// Gradients of a rank after its last backward pass, bytes: shards, or what was accumulated whole before, as wide as the gathered
/// weights that it is of.
double whole_gradients(StepSetting const& setting, Strategy const& strategy, StageTerms const& of,
                       StageParameters const& held) {
    auto const& framework = setting.framework;
    auto const& trained = of.trained;
    auto const part = gradient_shards(framework);
    auto const of_shares = [&](double dense, double experts) {
        return trained.dense * held.dense / dense + trained.experts * held.experts / experts;
    };
    double const shards = of.widths.gradients * of_shares(of.shards.*part, of.expert_shards.*part);
    if (!accumulates_whole(framework, strategy, of.micro_batches)) { return shards; }
    double const width = std::min(of.widths.gradients, gathered_bytes(framework, strategy));
    return std::max(shards, width * of_shares(1.0, 1.0));
}

} // namespace

StageParameters parameters_of(StepSetting const& setting, Strategy const& strategy, StageContent const& content) {
    if (!content.unlike) { return stage_parameters(setting, strategy, content.share); }
    auto share = content.share;
    share.blocks = 0.0;
    auto held = stage_parameters(setting, strategy, share);
    held.dense += content.unlike->dense / strategy.tp;
    held.experts += content.unlike->experts / (static_cast<double>(strategy.ep) * strategy.etp);
    return held;
}

namespace {

/// Copies of 32-bit weights in the working format that autocast makes of every matrix; it keeps them until the forward pass has
/// ended, and products keep them for the backward pass. FSDP's weights are views, which are not kept.
Bytes narrowed_weights(StepSetting const& setting, Strategy const& strategy, StageTerms const& of,
                       StageContent const& content, StageParameters const& held) {
    bool const casts = setting.framework.wide_residual && strategy.zero < 3 && strategy.trained != Trained::lora;
    if (!casts) { return Bytes{}; }
    double const element = element_bytes(strategy.precision);
    if (element >= of.widths.weights) { return Bytes{}; }
    bool const looks_up_alone = content.share.first && !(setting.model.tied_embeddings && content.share.last);
    double const table = looks_up_alone ? setting.count.embedding / strategy.tp : 0.0;
    return Bytes{element * (of.trained.dense * std::max(0.0, held.dense - table) + of.trained.experts * held.experts)};
}

/// Bytes that an update makes of the parameters of a rank: copies of the weights, 32-bit gradients, or both.
Bytes copies_of_update(Framework const& framework, Strategy const& strategy, StateWidths const& widths,
                       double updated) {
    constexpr double wide = 4.0;
    double const copies = framework.foreach_update ? framework.update_copies * std::min(wide, widths.weights) : 0.0;
    bool const widens = framework.wide_update && widths.gradients < wide;
    bool const in_parts = strategy.zero == 3 && framework.update_elements > 0.0;
    double const at_once = in_parts ? std::min(updated, framework.update_elements) : updated;
    return Bytes{copies * updated + (widens ? wide * at_once : 0.0)};
}

} // namespace

// Besides its own state a strategy may keep an outer optimizer of local updates (parameters of the last exchange and a
// momentum, 32 bits each), and the error of compressed gradients.
WeightCopies add_state(MemoryUse& use, StepSetting const& setting, Strategy const& strategy, StageTerms const& of,
                       StageContent const& content) {
    auto const& framework = setting.framework;
    auto const& widths = of.widths;
    auto const held = parameters_of(setting, strategy, content);
    auto const& trained = of.trained;
    auto const kept = [&](double Shards::*part, TrainedParts const& share) {
        return share.dense * held.dense / of.shards.*part + share.experts * held.experts / of.expert_shards.*part;
    };
    bool const adapts = strategy.trained == Trained::lora;
    use.weights = Bytes{content.versions * (adapts ? widths.frozen : widths.weights) * kept(&Shards::weights, {})};
    if (offloads_parameters(strategy.offload)) { std::swap(use.host, use.weights); }
    if (adapts) { use.weights += Bytes{widths.weights * kept(&Shards::weights, trained)}; }
    double const gradients = whole_gradients(setting, strategy, of, held);
    (keeps_gradients(framework, strategy, of.micro_batches) ? use.gradients : use.host) += Bytes{gradients};
    double const holders = shards_over_copies(strategy) ? content.copies : 1.0;
    double const updated = kept(&Shards::optimizer, trained) / holders;
    bool const on_host = offloads_optimizer(strategy.offload);
    (on_host || framework.paged_state ? use.host : use.optimizer) += Bytes{widths.optimizer * updated};
    if (strategy.local_steps > 1) {
        use.optimizer += local_updates(kept(&Shards::weights, trained), {.period = strategy.local_steps}).outer_state;
    }
    if (strategy.compression.kind != Compression::none && strategy.data_ranks() > 1) {
        double const sending = kept(&Shards::gradients, trained); // all that is trained: ZeRO 0
        auto const sent =
            compressed_gradients(strategy.compression, sending, widths.reduced, Ranks{strategy.data_ranks()});
        use.buffers += Bytes{sent.kept_per_parameter * sending};
    }
    use.buffers += buffer_bytes(setting, strategy, of, content, held);
    if (trains_magnitudes(strategy.trained, strategy.adapter_modules)) {
        use.buffers += Bytes{magnitude_cost::temporary_bytes *
                             largest_adapted(setting.model, strategy.adapter_modules) / strategy.tp};
    }
    return {.updated = on_host ? Bytes{} : copies_of_update(framework, strategy, widths, updated),
            .narrowed = narrowed_weights(setting, strategy, of, content, held)};
}

namespace {

/// Formula of what buffers hold of copies: of weights, of scores' masks and of the update, each behind " + ".
std::string copies_formula(TermBook& book, MemoryUse const& use, StepSetting const& setting, Strategy const& strategy,
                           StageTerms const& of, StageContent const& content, StageParameters const& held) {
    std::string buffers;
    bool const all_again = recomputes_all(strategy, setting.model);
    if (Bytes const narrowed = narrowed_weights(setting, strategy, of, content, held); narrowed > Bytes{}) {
        book.add(TermKind::framework, "narrowed_weight_bytes", "B", "copies of 32-bit weights that autocast makes",
                 narrowed.base());
        buffers += all_again ? "" : " + narrowed_weight_bytes";
    }
    if (of.kept.mask > 0.0) {
        book.add(TermKind::framework, "score_mask_bytes", "B", "mask of every score, made once for all blocks",
                 of.kept.mask);
        buffers += " + score_mask_bytes";
    }
    if (use.update_copies > Bytes{}) {
        book.add(TermKind::framework, "update_copy_bytes", "B",
                 "copies that the optimizer makes while it updates, beyond the activations", use.update_copies.base());
        buffers += " + update_copy_bytes";
    }
    return buffers;
}

/// Adds buffers_bytes to the terms of an explanation; `gradients` is the formula of the parameters whose gradients a rank keeps.
void explain_buffers(TermBook& book, MemoryUse const& use, StepSetting const& setting, Strategy const& strategy,
                     StageTerms const& of, StageContent const& content, StageParameters const& held,
                     std::string const& gradients) {
    auto const& framework = setting.framework;
    auto const fact = [&](char const* one, double value) {
        book.add(TermKind::framework, one, "", "framework " + framework.name, value);
    };
    std::string const all = "(memory_stage_dense_parameters + memory_stage_expert_parameters)";
    fact("bucket_copies", framework.bucket_copies), fact("bucket_elements", framework.bucket_elements);
    std::string buffers = "bucket_copies * min(" + all + ", bucket_elements) * bytes_of_reduced_gradient";
    if (strategy.zero == 3 && framework.live_elements > 0.0) {
        fact("live_elements", framework.live_elements);
        buffers = "min(" + all + ", live_elements) * bytes_of_gathered_weight + " + buffers;
    } else if (strategy.zero == 3) {
        std::string const gradient = framework.gathers_wide ? "bytes_of_gradient" : "bytes_of_reduced_gradient";
        buffers = "((block_parameters - block_expert_parameters) / tp + block_expert_parameters / (ep * etp)) * (2 * "
                  "bytes_of_gathered_weight + " +
                  gradient + ")";
        if (framework.gathers_ends && strategy.data_ranks() > 1) {
            book.formula("bytes_of_gathered_end", "B", framework.gathers_wide ? "4" : "min(2, element_bytes)",
                         gathered_end_bytes(framework, strategy));
            buffers += " + memory_stage_end_parameters / tp * (bytes_of_gathered_end" +
                       (strategy.trained == Trained::lora ? "" : " + " + gradient) + ")";
        }
    } else if (strategy.data_ranks() == 1) {
        buffers = "0";
    } else if (framework.keeps_buckets && strategy.zero == 0) {
        buffers = "bytes_of_reduced_gradient * " + gradients;
    }
    if (strategy.compression.kind != Compression::none && strategy.data_ranks() > 1) {
        auto const widths = state_widths(framework, strategy.precision);
        double const sending = of.trained.dense * held.dense / of.shards.gradients +
                               of.trained.experts * held.experts / of.expert_shards.gradients;
        book.add(TermKind::algorithm, "error_bytes_of_parameter", "B", "error feedback of compressed gradients",
                 compressed_gradients(strategy.compression, sending, widths.reduced, Ranks{strategy.data_ranks()})
                     .kept_per_parameter,
                 {"bytes_of_reduced_gradient"});
        buffers += " + error_bytes_of_parameter * " + gradients;
    }
    if (trains_magnitudes(strategy.trained, strategy.adapter_modules)) {
        book.add(TermKind::model, "largest_adapted_elements", "", "of the matrices that DoRA adapts",
                 largest_adapted(setting.model, strategy.adapter_modules));
        buffers += " + 6 * largest_adapted_elements / tp"; // W + s B A
    }
    buffers += copies_formula(book, use, setting, strategy, of, content, held);
    book.formula("buffers_bytes", "B", buffers, use.buffers.base());
}

} // namespace

void explain_state(TermBook& book, MemoryUse const& use, StepSetting const& setting, Strategy const& strategy,
                   StageTerms const& of, StageContent const& content) {
    char const* const name = "memory_stage";
    auto const held = parameters_of(setting, strategy, content);
    explain_parameters(book, name, setting, strategy, content.share.blocks, held, content.unlike);
    auto const kept = [&](char const* part, bool trained) {
        return explain_kept(book, name, strategy, part, trained ? std::optional{of.trained} : std::nullopt);
    };
    book.add(TermKind::algorithm, "weight_versions", "", "versions of the weights that the schedule keeps",
             content.versions, {"pp", "micro_batches"});
    std::string weights = "weight_versions * bytes_of_weight * " + kept("weights", false);
    if (strategy.trained == Trained::lora) {
        weights = "weight_versions * bytes_of_frozen_weight * " + kept("weights", false) + " + bytes_of_weight * " +
                  kept("weights", true);
    }
    if (offloads_parameters(strategy.offload)) {
        bool const adapts = strategy.trained == Trained::lora;
        weights = adapts ? "bytes_of_weight * " + kept("weights", true) : "0";
    }
    book.formula("weights_bytes", "B", weights, use.weights.base());
    std::string const gradients = kept(setting.framework.shards_gradients ? "optimizer" : "gradients", true);
    std::string accumulated = "bytes_of_gradient * " + gradients;
    if (accumulates_whole(setting.framework, strategy, of.micro_batches)) {
        accumulated = "max(" + accumulated +
                      ", min(bytes_of_gradient, bytes_of_gathered_weight) * (memory_stage_dense_trained * "
                      "memory_stage_dense_parameters + memory_stage_expert_trained * memory_stage_expert_parameters))";
    }
    // gradients that the backward pass makes follow from the activations whose place they take
    bool const keeps = keeps_gradients(setting.framework, strategy, of.micro_batches);
    bool const made = keeps && makes_gradients(setting.framework, strategy, of.micro_batches);
    double const whole = made ? whole_gradients(setting, strategy, of, held) : use.gradients.base();
    book.formula(made ? "whole_gradients_bytes" : "gradients_bytes", "B", keeps ? accumulated : "0", whole);
    std::string optimizer = "0";
    if (!offloads_optimizer(strategy.offload) && !setting.framework.paged_state) {
        optimizer = "bytes_of_optimizer_state * " + kept("optimizer", true);
        if (shards_over_copies(strategy) && content.copies != 1.0) {
            book.add(TermKind::algorithm, "model_copies", "", "copies of the model that the schedule keeps",
                     content.copies, {"pp"});
            optimizer += " / model_copies";
        }
    }
    if (strategy.local_steps > 1) { optimizer += " + 8 * " + kept("weights", true); }
    book.formula("optimizer_bytes", "B", optimizer, use.optimizer.base());
    explain_buffers(book, use, setting, strategy, of, content, held, gradients);
}

} // namespace headroom::training
