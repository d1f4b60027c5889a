#include "tables/run_facts.hpp"

#include "tables/cell_text.hpp"
#include "tables/phrases.hpp"
#include "tables/run_cells.hpp"
#include "tables/run_memory.hpp"
#include "tables/sharding_cell.hpp"

#include "headroom/error.hpp"
#include "headroom/io/strategy.hpp"
#include "headroom/training/strategy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>

namespace headroom::io {

using namespace headroom::training;

namespace {

using namespace headroom::training;

template <class Value> struct Phrase {
    std::string_view words;
    Value value;
};

/// Value of the first row whose phrase the text states.
template <class Value, std::size_t count>
std::optional<Value> stated_value(std::string_view text, std::array<Phrase<Value>, count> const& rows) {
    auto const found = std::ranges::find_if(rows, [text](auto const& row) { return states_phrase(text, row.words); });
    return found == rows.end() ? std::nullopt : std::optional{found->value};
}

using OptimizerPhrase = Phrase<std::string_view>;
constexpr std::array optimizers{
    OptimizerPhrase{"8-bit adam", "adamw-8bit"},
    OptimizerPhrase{"8-bit adamw", "adamw-8bit"},
    OptimizerPhrase{"adamw_8bit", "adamw-8bit"},
    OptimizerPhrase{"paged_adamw_8bit", "paged-adamw-8bit"},
    OptimizerPhrase{"adamw_bnb_8bit", "adamw-8bit"},
    OptimizerPhrase{"paged adamw", "paged-adamw"},
    OptimizerPhrase{"paged_adamw_32bit", "paged-adamw"},
    OptimizerPhrase{"adafactor", "adafactor"},
    OptimizerPhrase{"lion", "lion"},
    OptimizerPhrase{"muon", "muon"},
    OptimizerPhrase{"lamb", "lamb"},
};

/// Moments, weights and gradients in 16 bits.
constexpr std::array pure_moments{"adamw states bf16", "adamw states in bf16", "adamw states 16-bit",
                                  "adamw states in 16 bits"};
constexpr std::array pure_weights{"pure_bf16", "pure bf16", "pure 16-bit"};

using BasePhrase = Phrase<FrozenFormat>;
constexpr std::array bases{
    BasePhrase{"nf4 base", FrozenFormat::nf4},   BasePhrase{"int4 base", FrozenFormat::int4},
    BasePhrase{"int8 base", FrozenFormat::int8}, BasePhrase{"int4 gptq base", FrozenFormat::int4},
    BasePhrase{"qlora", FrozenFormat::nf4},      BasePhrase{"q-lora", FrozenFormat::nf4},
};

using ModulesPhrase = Phrase<unsigned>;
constexpr unsigned query_key_value = adapter_module::query | adapter_module::key | adapter_module::value;
constexpr std::array modules{
    ModulesPhrase{"all linear", adapter_module::linear},
    ModulesPhrase{"all attention and mlp projections", adapter_module::linear},
    ModulesPhrase{"attention input projection", query_key_value},
    ModulesPhrase{"q,k,v,o", adapter_module::attention},
    ModulesPhrase{"q,k,v", query_key_value},
    ModulesPhrase{"q,v", adapter_module::query | adapter_module::value},
};

template <std::size_t count> bool states_any(std::string_view text, std::array<char const*, count> const& phrases) {
    return std::ranges::any_of(phrases, [text](char const* phrase) { return states_phrase(text, phrase); });
}

/// Adds the state that a row keeps where no column states it, by whole phrases in either case; a phrase after "no", "not", "without", "than", "vs" or
/// "instead of" states nothing. What no phrase states is left to the framework.
///
///     optimizer   adamw-8bit: "8-bit Adam", "8-bit AdamW", "adamw_8bit"; paged-adamw-8bit: "paged_adamw_8bit"; paged-adamw: "paged AdamW",
///                 "paged_adamw_32bit"; adafactor; lion; muon; lamb
///     pure        "pure_bf16", "pure bf16", "pure 16-bit"; with moments in 16 bits (adamw-bf16): "AdamW states" with "bf16",
///                 "in bf16", "16-bit" or "in 16 bits"
///     frozen      with LoRA: "nf4 base", "int4 base", "int8 base" in the precision, else in the notes; QLoRA alone is nf4
///     modules     with LoRA: "all linear", "all attention and MLP projections", "attention input projection" (q+k+v), "q,v",
///                 "q,k,v", "q,k,v,o"; with "embedding and output layer trained too" the tables
void add_noted_state(RunCells const& row, PartialStrategy& partial) {
    std::string const notes = in_lower_case(row.text("notes"));
    bool const moments = states_any(notes, pure_moments), column = !row.text("weights_precision").empty();
    bool const pure = !column && (moments || states_any(notes, pure_weights));
    if (!partial.pure && pure) { partial.pure = true; }
    if (!partial.optimizer) {
        auto const optimizer = stated_value(notes, optimizers);
        if (optimizer) { partial.optimizer = std::string{*optimizer}; }
        if (!optimizer && moments && pure) { partial.optimizer = "adamw-bf16"; }
    }
    if (partial.trained != Trained::lora) { return; }
    if (!partial.frozen && !column) { partial.frozen = stated_value(in_lower_case(row.text("precision")), bases); }
    if (!partial.frozen && !column) { partial.frozen = stated_value(notes, bases); }
    if (partial.adapter_modules) { return; }
    partial.adapter_modules = stated_value(notes, modules);
    if (states_phrase(notes, "embedding and output layer trained too")) {
        partial.adapter_modules = partial.adapter_modules.value_or(adapter_module::attention) | adapter_module::tables;
    }
}

/// Products of cells can be large: in floating point they cannot overflow.
double product_of(std::initializer_list<int> factors) {
    double product = 1.0;
    for (int const factor : factors) { product *= factor; }
    return product;
}

/// Optimizer, formats of the weights and what is trained, where the table has columns for them.
void add_stated_state(RunCells const& row, PartialStrategy& partial) {
    if (auto const cell = row.text("train"); !cell.empty()) {
        auto const words = trained_from(cell);
        known_strategy_field("train", "train").assign(partial, words.empty() ? cell : words, "train");
        if (find_caseless(cell, "qlora") != cell.npos) { partial.frozen = FrozenFormat::nf4; }
    }
    if (auto const cell = row.text("optimizer"); !cell.empty()) { partial.optimizer = cell; }
    auto const weights = row.text("weights_precision");
    if (weights == "bf16 alone") {
        partial.pure = true;
    } else if (!weights.empty() && weights != "mixed") {
        known_strategy_field("base", "weights_precision").assign(partial, weights, "weights_precision");
    }
}

} // namespace

PartialStrategy stated_strategy(RunCells const& row, Cluster const& cluster, int workers) {
    PartialStrategy partial;
    partial.tp = row.integer("tp");
    partial.pp = row.integer("pp");
    partial.virtual_pp = row.integer("virtual_pp");
    if (!partial.virtual_pp && partial.pp.value_or(1) > 1) { partial.virtual_pp = noted_chunks(row.text("notes")); }
    partial.cp = row.integer("cp");
    partial.ep = row.integer("ep");
    partial.dp = row.integer("dp");
    partial.micro_batch = row.integer("micro_batch");
    partial.grad_accum = row.integer("grad_accum");
    partial.precision = precision_from(row.text("precision"));
    if (partial.precision == Precision::bf16 && cluster.accelerator.peak.bf16.base() <= 0.0) {
        partial.precision = Precision::fp16;
    }
    constexpr std::array weights_too{"bf16-true", "16-true", "pure bf16", "pure_bf16", "bf16 pure"};
    if (states_any(in_lower_case(row.text("precision")), weights_too)) { partial.pure = true; }
    partial.sequence_parallel = yes_or_no(row.text("sp"));
    partial.recompute = recompute_from(row.text("activation_recompute"));
    auto const words = row.text("framework"); // "DeepSpeed ZeRO-3 offload"
    bool const by_framework = row.text("zero_stage_or_fsdp").empty() && words.find(' ') != words.npos;
    auto const sharding = by_framework ? words : row.text("zero_stage_or_fsdp");
    partial.offload = offload_of(sharding);
    bool const host_optimizer = find_caseless(row.text("optimizer"), "cpuadam") != row.text("optimizer").npos;
    if (host_optimizer && partial.offload == Offload::none) { partial.offload = Offload::optimizer; }
    auto const flags = row.text("overlap_flags");
    if (partial.offload == Offload::none) { // a heading holds for rows that say nothing of their own
        partial.offload = offload_of(flags.empty() ? row.text("source_path_or_table") : flags);
    }
    partial.zero = zero_stage(sharding);
    partial.shard = shard_group(sharding);
    if (partial.zero.value_or(0) >= 2 && partial.pp.value_or(1) > 1) { partial.zero = 1; }
    auto const adapters = stated_adapters(row);
    if (adapters != AdapterKind::none) {
        partial.trained = Trained::lora;
        partial.adapter_rank = adapter_rank(row.text("notes"));
    }
    add_stated_state(row, partial);
    add_noted_state(row, partial);
    if (adapters == AdapterKind::dora) {
        partial.adapter_modules =
            partial.adapter_modules.value_or(adapter_module::attention) | adapter_module::magnitudes;
    }
    // Some tables print only the outer data-parallel degree of sharded runs: derive it then.
    if (partial.dp && partial.tp && partial.pp &&
        product_of({*partial.dp, *partial.tp, *partial.pp, partial.cp.value_or(1)}) != workers) {
        int const rest =
            workers / static_cast<int>(std::min(1e9, product_of({*partial.tp, *partial.pp, partial.cp.value_or(1)})));
        if (partial.zero == 3 && *partial.dp > 1 && rest % *partial.dp == 0) { partial.shard = rest / *partial.dp; }
        partial.dp.reset();
    }
    if (partial.shard == workers) { partial.shard = 0; }
    return partial;
}

namespace {

template <std::size_t count> bool has_one_of(std::string_view text, std::array<char const*, count> const& phrases) {
    return std::ranges::any_of(phrases, [text](char const* one) { return has_phrase(text, one); });
}

constexpr std::array cell_denials{"no", "not", "non", "without", "w/o", "off", "vs", "than", "instead of"};

/// Whether a text consists of these words, and of marks between them.
bool is_made_of(std::string_view text, std::string_view words) {
    std::string word;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        char const c = i < text.size() ? text[i] : ' ';
        if ((c >= 'a' && c <= 'z') || is_decimal_digit(c)) {
            word += c;
            continue;
        }
        if (!word.empty() && !has_phrase(words, word)) { return false; }
        word.clear();
    }
    return true;
}

} // namespace

std::string_view trained_from(std::string_view cell) {
    constexpr std::array low_rank{"qdora", "dora", "qlora", "lora"};
    constexpr std::array whole{"full", "sft", "pretrain", "pretraining", "all"};
    constexpr std::string_view of_whole =
        "full all sft pretrain pretraining fine tuning finetuning finetune tune tuned ft "
        "supervised parameter parameters params param weights model training";
    std::string const words = in_lower_case(cell);
    if (words.find(':') != words.npos || has_one_of(words, cell_denials)) { return {}; }
    if (has_one_of(words, low_rank)) { return has_phrase(words, "full") ? std::string_view{} : "lora"; }
    return has_one_of(words, whole) && is_made_of(words, of_whole) ? "all" : std::string_view{};
}

std::optional<Recompute> recompute_from(std::string_view cell) {
    constexpr std::array parts{"selective", "sel", "op"};
    constexpr std::array others{"full", "every", "offload", "offloading"};
    constexpr std::array all{"full", "checkpointing", "all layers"};
    constexpr std::string_view names =
        "activation activations act gradient grad checkpointing checkpoint checkpoints ckpt "
        "recompute recomputation recomputing remat rematerialization ac gc";
    constexpr std::string_view of_all =
        "full fully all each per layer layers transformer granularity uniform yes on true";
    std::string const words = in_lower_case(cell);
    for (Recompute const one : recomputations) {
        if (words == name_of(one)) { return one; }
    }
    if (auto const on = yes_or_no(cell)) { return *on ? Recompute::full : Recompute::none; }
    if (words.starts_with("off ") || words.starts_with("off,") || words.starts_with("none ")) {
        return words.find('(') == 4 || words.find('(') == 5 ? std::optional{Recompute::none} : std::nullopt;
    }
    if (has_one_of(words, cell_denials)) { // "no checkpointing"
        bool const plain = is_made_of(words, fmt::format("no without w o {}", names)) && !words.starts_with("w/ ");
        return plain ? std::optional{Recompute::none} : std::nullopt;
    }
    bool const counts = std::ranges::any_of(words, is_decimal_digit); // "full (16/32 layers)"
    if (has_one_of(words, parts)) {
        return counts || has_one_of(words, others) ? std::nullopt : std::optional{Recompute::selective};
    }
    bool const plain = is_made_of(words, fmt::format("{} {}", names, of_all));
    return plain && has_one_of(words, all) ? std::optional{Recompute::full} : std::nullopt;
}

namespace {

/// "FA2", "flash-attn 2.5", "FlashAttention-3", "flash_attention_2"; "eager" and "math" keep the scores. SDPA is FlashAttention 2
/// since PyTorch 2.2.
std::optional<AttentionKernel> attention_from(std::string_view cell) {
    std::string const words = in_lower_case(cell);
    constexpr std::array flash{AttentionKernel::flash1, AttentionKernel::flash2, AttentionKernel::flash3};
    for (std::string_view const name : {"unfused", "eager", "math", "naive", "none", "vanilla"}) {
        if (words == name) { return AttentionKernel::unfused; }
    }
    if (words.starts_with("flash") || words == "fa" || words.starts_with("fa-") || words == "fa2" || words == "fa3") {
        auto const digit = words.find_first_of("0123456789");
        bool const named = digit != words.npos && words[digit] >= '1' && words[digit] <= '3';
        return named ? flash[static_cast<std::size_t>(words[digit] - '1')] : AttentionKernel::flash2;
    }
    return words == "sdpa" ? std::optional{AttentionKernel::flash2} : std::nullopt;
}

} // namespace

KernelChoice stated_kernels(RunCells const& row) {
    KernelChoice choice;
    auto const compile = in_lower_case(row.text("compile")), kernels = in_lower_case(row.text("kernels"));
    std::string const flags = in_lower_case(row.text("overlap_flags")); // begins with what makes the kernels
    choice.compiled = yes_or_no(compile);
    if (compile.empty() && flags.starts_with("eager")) { choice.compiled = false; }
    if (compile.empty() && states_phrase(flags, "torch.compile")) { choice.compiled = true; }
    if (kernels.empty() && states_phrase(flags, "fused layers")) { choice.fused = true; }
    if (compile == "torch.compile" || compile == "inductor") { choice.compiled = true; }
    if (compile == "eager") { choice.compiled = false; }
    if (kernels == "fused" || kernels == "eager") { choice.fused = kernels == "fused"; }
    choice.attention = attention_from(row.text("attention_kernel"));
    constexpr std::array recipes{std::pair{"tensorwise", Fp8Recipe::tensorwise},
                                 std::pair{"rowwise", Fp8Recipe::rowwise}, std::pair{"block", Fp8Recipe::block}};
    for (auto const& [name, recipe] : recipes) {
        if (row.text("fp8_recipe") == name) { choice.fp8_recipe = recipe; }
    }
    return choice;
}

void add_noted_batch(RunCells const& row, Model const& model, PartialStrategy& partial) {
    auto const noted = noted_batch(row.text("notes"), row.text("precision"));
    if (!partial.micro_batch) { partial.micro_batch = noted.micro_batch; }
    if (!partial.grad_accum) { partial.grad_accum = noted.accumulation; }
    if (noted.tf32 && partial.precision == Precision::fp32) { partial.precision = Precision::tf32; }
    if (partial.micro_batch && model.batched_in_tokens) {
        partial.micro_batch = std::max(1, *partial.micro_batch / std::max(1, model.nominal_length));
    }
}

double share_of_tokens(RunCells const& row, Question const& question, PublishedRun& run) {
    auto const& model = question.model;
    if (model.nominal_fill >= 1.0) { return 1.0; }
    int const length = question.workload.sequence_length;
    bool const pretrains = length == model.nominal_length && !fine_tunes(row.text("source_path_or_table"));
    bool const binned = question.framework.sequence_bin > 0 && pretrains;
    if (!binned && !row.mentions("UNPADDED")) { return 1.0; }
    double const half_a_bin = binned ? 0.5 * question.framework.sequence_bin / length : 0.0;
    double const share = std::min(1.0, model.nominal_fill + half_a_bin);
    run.assumed.push_back(fmt::format("share of tokens that are not padding = {}", share));
    return share;
}

int global_batch(RunCells const& row, PartialStrategy& partial, int workers, Question& question, PublishedRun& run) {
    if (auto const batch = row.integer("global_batch_sequences")) {
        if (partial.micro_batch && partial.grad_accum) {
            double const each = product_of({*partial.micro_batch, *partial.grad_accum});
            double const replicas = partial.dp ? *partial.dp : *batch / each; // else it follows from the others
            bool const whole = replicas >= 1.0 && replicas <= workers && replicas == std::floor(replicas) &&
                               workers % static_cast<int>(replicas) == 0;
            bool const agrees = partial.dp ? replicas * each == *batch : whole;
            if (!agrees) {
                run.assumed.push_back(fmt::format("accumulation of the batch of {}, not the {} that is stated", *batch,
                                                  *partial.grad_accum));
            }
            if (partial.dp || !agrees) { partial.grad_accum.reset(); }
        }
        return *batch;
    }
    bool const wide = partial.precision == Precision::fp32 || partial.precision == Precision::tf32;
    int const usual = wide ? question.model.nominal_batch / 2 : question.model.nominal_batch;
    auto const micro = partial.micro_batch;
    bool const steps_stated = partial.grad_accum.has_value();
    if (auto const head = row.text("batch_not_read"); !head.empty() && !(micro && steps_stated)) {
        throw Skip{"no global batch stated (column " + headroom::quoted(std::string{head}) + " is not read)"};
    }
    // of a table without degrees all accelerators are replicas; where it states no accumulation either, nothing is known
    bool const degrees = row.has("tp") || row.has("pp");
    int const unstated = degrees || !steps_stated ? 0 : 1;
    double const ranks =
        product_of({partial.tp.value_or(unstated), partial.pp.value_or(unstated), partial.cp.value_or(1)});
    bool const divides = ranks > 0.0 && ranks <= workers && workers % static_cast<int>(ranks) == 0;
    if (!partial.dp && micro && divides) { partial.dp = workers / static_cast<int>(ranks); }
    auto const replicas = partial.dp;
    if ((!micro || !replicas) && usual < 1) { throw Skip{"no global batch stated"}; }
    if (!micro) { partial.micro_batch = usual; }
    run.batch_assumed = !micro;
    bool const follows = micro && replicas && partial.grad_accum;
    int const steps = partial.grad_accum.value_or(1);
    question.assumptions.push_back(
        micro ? Assumption{"global batch", "dp x micro-batch x accumulation steps", "", !follows}
              : Assumption{"batch of an accelerator", std::to_string(usual), "", true});
    double const batch = product_of({replicas.value_or(workers), *partial.micro_batch, steps});
    if (batch > 1e9) { throw Skip{"a batch beyond any run"}; }
    return static_cast<int>(batch);
}

void add_measured(RunCells const& row, Question const& question, int workers, PublishedRun& run) {
    double const batch = question.workload.global_batch;
    double const tokens = batch * question.workload.sequence_length;
    constexpr double tera = 1e12;
    auto const take = [&run](double seconds, char const* from) {
        run.measured = Seconds{seconds};
        run.measured_from = from;
    };
    if (auto const value = row.number("measured_step_seconds")) { return take(*value, "step seconds"); }
    if (auto const value = row.number("measured_tokens_per_s_total")) {
        return take(tokens / *value, "tokens per second");
    }
    if (auto const value = row.number("measured_tokens_per_s_per_gpu")) {
        return take(tokens / (*value * workers), "tokens per second per accelerator");
    }
    if (auto const value = row.number("samples_per_s")) { return take(batch / *value, "samples per second"); }
    if (auto const value = row.number("measured_tflops_per_gpu")) {
        auto const counts = row.text("tflops_counts");
        if (counts != "model" && counts != "hardware") { throw Skip{"TFLOP/s without a stated convention"}; }
        auto const convention =
            row.text("tflops_attention") == "causal" ? AttentionConvention::causal : AttentionConvention::full;
        auto const& workload = question.workload;
        auto const forward = forward_flops(question.model, workload.tokens(), workload.attended(), convention);
        auto const& strategy = question.strategy;
        auto const trained = trained_work(strategy, question.model);
        Flops const work = counts == "hardware"
                               ? hardware_flops(forward, trained, recomputed_work(strategy, question.model))
                               : training_flops(forward, trained);
        return take(work.base() * batch / (*value * tera * workers), "TFLOP/s");
    }
    throw Skip{"no step time, throughput or TFLOP/s stated"};
}

std::optional<PublishedUtilization> stated_utilization(RunCells const& row) {
    auto const attention = row.text("tflops_attention");
    if (attention != "causal" && attention != "full") { return std::nullopt; }
    constexpr double percent = 0.01;
    PublishedUtilization printed{.mfu = row.number("measured_mfu_pct"),
                                 .hfu = row.number("measured_hfu_pct"),
                                 .convention =
                                     attention == "causal" ? AttentionConvention::causal : AttentionConvention::full};
    for (auto* const one : {&printed.mfu, &printed.hfu}) {
        if (*one) { **one *= percent; }
        if (*one && !(**one > 0.0)) { one->reset(); }
    }
    return printed;
}

std::string strategy_kind(Strategy const& strategy) {
    std::string kind;
    auto const add = [&kind](bool used, char const* name) {
        if (used) { kind += (kind.empty() ? "" : "+") + std::string{name}; }
    };
    add(strategy.trained == Trained::lora, "lora");
    add(strategy.zero == 3, "zero3");
    add(strategy.tp > 1, "tp");
    add(strategy.pp > 1, "pp");
    add(strategy.cp > 1, "cp");
    add(strategy.ep > 1, "ep");
    add(strategy.offload != Offload::none, "offload");
    return kind.empty() ? "data parallel" : kind;
}

} // namespace headroom::io
