#include "headroom/io/runs.hpp"

#include "tables/run_cells.hpp"

#include "headroom/error.hpp"
#include "headroom/io/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

namespace headroom::io {
namespace {

/// Thrown inside this file only: a row that cannot be asked, with the reason.
struct Skip {
    std::string reason;
};

std::string kind_of(std::string_view arch) {
    if (arch == "dense_transformer") { return "dense"; }
    if (arch.find("moe") != std::string_view::npos) { return "moe"; }
    if (arch == "cnn" || arch == "bert") { return std::string{arch}; }
    return "other";
}

/// Products of cells can be large: in floating point they cannot overflow.
double product_of(std::initializer_list<int> factors) {
    double product = 1.0;
    for (int const factor : factors) { product *= factor; }
    return product;
}

/// A model that a row describes by its dimensions alone, in the common shape of its feed-forward kind.
Model generic_model(RunCells const& row) {
    Model model;
    bool const gated = row.text("ffn_kind") == "swiglu";
    model.feed_forward = gated ? FeedForward::gated : FeedForward::plain;
    model.activation = gated ? "silu" : "gelu";
    model.norm = gated ? Normalisation::rms : Normalisation::layer;
    model.norm_bias = model.qkv_bias = model.out_bias = model.mlp_bias = !gated;
    model.positions = gated ? Positions::rotary : Positions::learned;
    model.tied_embeddings = !gated;
    model.moe.experts = row.integer("moe_experts").value_or(0);
    model.moe.top_k = row.integer("moe_topk").value_or(std::min(2, model.moe.experts));
    return model;
}

int head_count(int hidden) {
    int best = 1;
    for (int heads = 1; heads <= hidden; ++heads) { // the divisor whose head dimension is nearest to 128
        if (hidden % heads == 0 && std::abs(hidden / heads - 128) < std::abs(hidden / best - 128)) { best = heads; }
    }
    return best;
}

constexpr int largest_layers = 10'000, largest_width = 10'000'000;

/// Resolves rows against one catalog; remembers records that many rows share.
class Resolver {
public:
    explicit Resolver(Catalog const& catalog) : catalog_{catalog}, frameworks_{recognisers(catalog)} {}

    void resolve(RunCells const& row, PublishedRun& run) {
        Question question;
        question.model = model(row, run);
        question.workload.sequence_length = sequence_length(row, question.model, run);
        int const workers = required(row, "accelerators_total", "accelerator count");
        question.cluster = cluster(row);
        question.framework = framework(row, question.cluster, run);
        question.workload.fill = fill(row, question, run);
        PartialStrategy partial = partial_strategy(row, question.cluster, workers);
        add_noted_batch(row, question.model, partial);
        question.workload.global_batch = global_batch(row, question.model, partial, workers, run);
        if (question.model.positions == Positions::learned) {
            question.model.max_positions = std::max(question.model.max_positions, question.workload.sequence_length);
        }
        if (partial.sequence_parallel == true && !partial.tp && workers % question.cluster.accelerators_per_node == 0) {
            partial.tp = question.cluster.accelerators_per_node; // it needs tensor-parallel ranks: those of a node
            run.assumed.push_back(fmt::format("tp = {}", *partial.tp));
            run.structural_assumption = true;
        }
        auto filled = assume(partial, question.model, question.cluster, question.framework, question.workload, workers);
        question.strategy = filled.strategy;
        for (auto& assumption : filled.assumptions) { question.assumptions.push_back(std::move(assumption)); }
        refuse_the_illegal(question);
        if (peak_rate(question.cluster.accelerator, question.strategy.precision).base() <= 0.0) {
            throw Skip{"the accelerator has no " + std::string{name_of(question.strategy.precision)} + " arithmetic"};
        }
        measured(row, question, workers, run);
        auto const gib = row.number("measured_memory_gib_per_gpu");
        if (gib && *gib > 0.0) { run.measured_memory = *gib * units::GiB; }
        run.utilization = utilization(row);
        for (auto const& assumption : question.assumptions) {
            run.assumed.push_back(assumption.field + " = " + assumption.value);
            run.structural_assumption = run.structural_assumption || assumption.structural;
        }
        run.strategy_kind = strategy_kind(question.strategy);
        run.question = std::move(question);
    }

    /// Remembers a length that a row's notes print: it holds for the other tables of the source and model.
    void remember_length(RunCells const& row) {
        auto const noted = noted_length(row.text("notes"));
        if (noted && row.text("seq_len").empty()) { noted_lengths_.emplace(source_and_model(row), *noted); }
    }

    /// The catalog's model of that name; null when there is none.
    Model const* known_model(RunCells const& row) {
        std::string const name = catalog_name(row);
        return catalog_.has_model(name) ? &cached_model(name) : nullptr;
    }

private:
    /// A row whose degrees contradict each other or its model. Uneven virtual stages, which real layouts have, do not.
    static void refuse_the_illegal(Question const& question) {
        auto const refusal = illegal_because(question.strategy, question.model, question.workload);
        if (refusal.empty()) { return; }
        Strategy plain = question.strategy;
        plain.virtual_pp = 1;
        bool const uneven = question.strategy.virtual_pp > 1 && question.strategy.pp > 1;
        if (!uneven || !illegal_because(plain, question.model, question.workload).empty()) { throw Skip{refusal}; }
    }

    static int required(RunCells const& row, char const* column, char const* what) {
        auto const value = row.integer(column);
        if (!value) { throw Skip{std::string{"no "} + what + " stated"}; }
        return *value;
    }

    /// The name with the size that the table's heading adds ("Transformer-XL" under "Large model"), as written, else
    /// without what is added to it in brackets: "ResNet-50 v1.5 [PaddlePaddle]".
    [[nodiscard]] std::string catalog_name(RunCells const& row) const {
        std::string whole{row.text("model_name")};
        auto const size = heading_size(row.text("source_path_or_table"));
        if (std::string sized = whole + "-" + std::string{size}; !size.empty() && catalog_.has_model(sized)) {
            return sized;
        }
        if (catalog_.has_model(whole)) { return whole; }
        for (auto const* bracket : {" [", " ("}) {
            std::string part = whole.substr(0, whole.find(bracket));
            if (catalog_.has_model(part)) { return part; }
        }
        return whole;
    }

    Model model(RunCells const& row, PublishedRun& run) {
        std::string const written{row.text("model_name")};
        std::string const name = catalog_name(row);
        bool const known = catalog_.has_model(name);
        if (known && !cached_model(name).operators.empty()) { return cached_model(name); }
        auto const layers = row.integer("layers");
        auto const hidden = row.integer("hidden");
        if (!known && (!layers || !hidden)) {
            throw Skip{"no layers and hidden size stated, and the catalog has no such model"};
        }
        Model model = known ? cached_model(name) : generic_model(row);
        model.name = written;
        bool const same_shape = known && hidden.value_or(model.hidden) == model.hidden &&
                                row.integer("heads").value_or(model.heads) == model.heads;
        model.layers = layers.value_or(model.layers);
        model.hidden = hidden.value_or(model.hidden);
        if (model.layers > largest_layers || model.hidden > largest_width) {
            throw Skip{"dimensions beyond any model"};
        }
        auto const fill = [&](char const* column, int& field, int fallback) {
            if (auto const stated = row.integer(column)) {
                field = *stated;
            } else if (!known || field == 0) {
                field = fallback;
                run.assumed.push_back(std::string{column} + " = " + std::to_string(fallback));
            }
        };
        fill("heads", model.heads, head_count(model.hidden));
        fill("kv_heads", model.kv_heads, model.heads);
        if (known && !same_shape && !row.integer("kv_heads")) { model.kv_heads = model.heads; }
        if (model.moe.experts > 0) { return with_experts(row, std::move(model), known); }
        fill("ffn_hidden", model.ffn,
             model.feed_forward == FeedForward::gated ? static_cast<int>(8.0 * model.hidden / 3.0) : 4 * model.hidden);
        constexpr int gpt2_padded = 50304;
        fill("vocab", model.vocab, gpt2_padded);
        if (model.ffn > largest_width || model.heads > model.hidden || model.kv_heads > model.heads) {
            throw Skip{"dimensions beyond any model"};
        }
        if (!same_shape || model.head_dim == 0) { model.head_dim = std::max(1, model.hidden / model.heads); }
        return model;
    }

    /// Of a mixture the tables print the width of an expert; the rest of a known one is the catalog's.
    static Model with_experts(RunCells const& row, Model model, bool known) {
        model.moe.ffn = row.integer("ffn_hidden").value_or(model.moe.ffn);
        model.vocab = row.integer("vocab").value_or(model.vocab);
        if (!known) { model.ffn = model.moe.ffn; }
        if (model.moe.ffn < 1) { throw Skip{"no width of an expert stated"}; }
        if (model.vocab < 1) { throw Skip{"no vocabulary stated"}; }
        if (model.head_dim == 0) { model.head_dim = std::max(1, model.hidden / model.heads); }
        return model;
    }

    Model const& cached_model(std::string const& name) {
        auto found = models_.find(name);
        if (found == models_.end()) { found = models_.emplace(name, catalog_.model(name)).first; }
        return found->second;
    }

    Cluster cluster(RunCells const& row) {
        std::string const name{row.text("accelerator")};
        if (name.empty()) { throw Skip{"no accelerator stated"}; }
        auto found = clusters_.find(name);
        if (found == clusters_.end()) {
            if (!catalog_.has_accelerator(name)) { throw Skip{"the catalog has no accelerator '" + name + "'"}; }
            auto const accelerator = catalog_.accelerator(name);
            auto cluster = catalog_.cluster(catalog_.default_node(accelerator.name));
            found = clusters_.emplace(name, std::move(cluster)).first;
        }
        Cluster cluster = found->second;
        int const per_node = row.integer("accelerators_per_node").value_or(cluster.accelerators_per_node);
        if (per_node != cluster.accelerators_per_node && per_node > 0) {
            double const ratio = static_cast<double>(cluster.accelerators_per_node) / per_node;
            cluster.scale_out.bandwidth *= std::min(1.0, ratio); // a smaller node has its own adapters
            cluster.domain = cluster.domain == cluster.accelerators_per_node ? per_node : cluster.domain;
            cluster.accelerators_per_node = per_node;
        }
        auto const generation = cluster.accelerator.generation;
        bool const own_adapters = generation == Generation::gaudi2 || generation == Generation::gaudi3; // on the chip
        if (auto const rate = scale_out_rate(row.text("inter_node_link"), per_node); rate && !own_adapters) {
            cluster.scale_out.bandwidth = *rate;
        }
        return cluster;
    }

    Framework framework(RunCells const& row, Cluster const& cluster, PublishedRun& run) {
        std::string name = recognised(frameworks_, row);
        if (name.empty()) {
            name = default_framework(cluster.accelerator, zero_stage(row.text("zero_stage_or_fsdp")), row.year());
            run.assumed.push_back("framework = " + name);
        }
        auto found = framework_records_.find(name);
        if (found == framework_records_.end()) {
            found = framework_records_.emplace(name, catalog_.framework(name)).first;
        }
        return found->second;
    }

    static PartialStrategy partial_strategy(RunCells const& row, Cluster const& cluster, int workers) {
        PartialStrategy partial;
        partial.tp = row.integer("tp");
        partial.pp = row.integer("pp");
        partial.virtual_pp = row.integer("virtual_pp");
        partial.cp = row.integer("cp");
        partial.ep = row.integer("ep");
        partial.dp = row.integer("dp");
        partial.micro_batch = row.integer("micro_batch");
        partial.grad_accum = row.integer("grad_accum");
        partial.precision = precision_from(row.text("precision"));
        if (partial.precision == Precision::bf16 && cluster.accelerator.peak.bf16.base() <= 0.0) {
            partial.precision = Precision::fp16;
        }
        auto const sp = row.text("sp");
        if (sp == "y" || sp == "n") { partial.sequence_parallel = sp == "y"; }
        auto const recompute = row.text("activation_recompute");
        for (Recompute const candidate : recomputations) {
            if (recompute == name_of(candidate)) { partial.recompute = candidate; }
        }
        auto const sharding = row.text("zero_stage_or_fsdp");
        partial.offload = offload_of(sharding);
        auto const flags = row.text("overlap_flags");
        if (partial.offload == Offload::none) { // a heading holds for rows that say nothing of their own
            partial.offload = offload_of(flags.empty() ? row.text("source_path_or_table") : flags);
        }
        partial.zero = zero_stage(sharding);
        partial.shard = shard_group(sharding);
        if (partial.zero.value_or(0) >= 2 && partial.pp.value_or(1) > 1) { partial.zero = 1; }
        if (row.mentions("LoRA")) { partial.trained = Trained::adapters; }
        // Some tables print only the outer data-parallel degree of sharded runs: derive it then.
        if (partial.dp && partial.tp && partial.pp &&
            product_of({*partial.dp, *partial.tp, *partial.pp, partial.cp.value_or(1)}) != workers) {
            int const rest =
                workers /
                static_cast<int>(std::min(1e9, product_of({*partial.tp, *partial.pp, partial.cp.value_or(1)})));
            if (partial.zero == 3 && *partial.dp > 1 && rest % *partial.dp == 0) { partial.shard = rest / *partial.dp; }
            partial.dp.reset();
        }
        if (partial.shard == workers) { partial.shard = 0; }
        return partial;
    }

    [[nodiscard]] std::pair<std::string, std::string> source_and_model(RunCells const& row) const {
        return {std::string{row.text("source_family")}, catalog_name(row)};
    }

    [[nodiscard]] std::optional<int> length_noted_for(RunCells const& row) const {
        if (auto const own = noted_length(row.text("notes"))) { return own; }
        auto const found = noted_lengths_.find(source_and_model(row));
        return found == noted_lengths_.end() ? std::nullopt : std::optional{found->second};
    }

    int sequence_length(RunCells const& row, Model const& model, PublishedRun& run) const {
        bool const fixed = !model.operators.empty() || model.nominal_length > 0;
        if (!model.operators.empty()) { return std::max(1, model.nominal_length); }
        if (auto const stated = row.integer("seq_len")) { return *stated; }
        auto const noted = length_noted_for(row);
        if (!noted && !fixed) { throw Skip{"no sequence length stated"}; }
        constexpr int answering_questions = 384; // encoders are fine-tuned on SQuAD with this length [Devlin2019]
        bool const answers = run.kind == "bert" && fine_tunes(row.text("source_path_or_table"));
        int const length = noted ? *noted : answers ? answering_questions : model.nominal_length;
        run.assumed.push_back("sequence length = " + std::to_string(length));
        return length;
    }

    /// Share of the tokens that are computed: of a model whose usual data are padded, where the row says that padding
    /// is left out, or the stack pretrains on sequences of like length, which fill all but half a bin.
    static double fill(RunCells const& row, Question const& question, PublishedRun& run) {
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

    /// What the notes print of the batch column, in the row's precision. Translation models count it in tokens.
    static void add_noted_batch(RunCells const& row, Model const& model, PartialStrategy& partial) {
        auto const noted = noted_batch(row.text("notes"), row.text("precision"));
        if (!partial.micro_batch) { partial.micro_batch = noted.micro_batch; }
        if (!partial.grad_accum) { partial.grad_accum = noted.accumulation; }
        if (noted.tf32 && partial.precision == Precision::fp32) { partial.precision = Precision::tf32; }
        if (partial.micro_batch && model.batched_in_tokens) {
            partial.micro_batch = std::max(1, *partial.micro_batch / std::max(1, model.nominal_length));
        }
    }

    /// Stated, or what every replica works through, or what is usual for the model on each accelerator.
    static int global_batch(RunCells const& row, Model const& model, PartialStrategy& partial, int workers,
                            PublishedRun& run) {
        if (auto const batch = row.integer("global_batch_sequences")) {
            if (partial.dp && partial.micro_batch && partial.grad_accum) { partial.grad_accum.reset(); } // it follows
            return *batch;
        }
        bool const wide = partial.precision == Precision::fp32 || partial.precision == Precision::tf32;
        int const usual = wide ? model.nominal_batch / 2 : model.nominal_batch;
        auto const micro = partial.micro_batch;
        auto const replicas = partial.dp;
        if ((!micro || !replicas) && usual < 1) { throw Skip{"no global batch stated"}; }
        if (!micro) { partial.micro_batch = usual; }
        run.batch_assumed = !micro;
        int const steps = partial.grad_accum.value_or(1);
        run.assumed.push_back(micro ? "global batch = dp x micro-batch x accumulation steps"
                                    : "batch of an accelerator = " + std::to_string(usual));
        double const batch = product_of({replicas.value_or(workers), *partial.micro_batch, steps});
        if (batch > 1e9) { throw Skip{"a batch beyond any run"}; }
        return static_cast<int>(batch);
    }

    /// Measured step time by the contract's order of preference.
    static void measured(RunCells const& row, Question const& question, int workers, PublishedRun& run) {
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
            Flops const work = counts == "hardware" ? hardware_flops(forward, trained, strategy.recompute,
                                                                     recomputed_share(strategy, question.model))
                                                    : training_flops(forward, trained);
            return take(work.base() * batch / (*value * tera * workers), "TFLOP/s");
        }
        throw Skip{"no step time, throughput or TFLOP/s stated"};
    }

    /// MFU and HFU in percent, where the convention for attention is stated.
    static std::optional<PublishedUtilization> utilization(RunCells const& row) {
        auto const attention = row.text("tflops_attention");
        if (attention != "causal" && attention != "full") { return std::nullopt; }
        constexpr double percent = 0.01;
        PublishedUtilization printed{.mfu = row.number("measured_mfu_pct"),
                                     .hfu = row.number("measured_hfu_pct"),
                                     .convention = attention == "causal" ? AttentionConvention::causal
                                                                         : AttentionConvention::full};
        for (auto* const one : {&printed.mfu, &printed.hfu}) {
            if (*one) { **one *= percent; }
            if (*one && !(**one > 0.0)) { one->reset(); }
        }
        return printed;
    }

    static std::string strategy_kind(Strategy const& strategy) {
        std::string kind;
        auto const add = [&kind](bool used, char const* name) {
            if (used) { kind += (kind.empty() ? "" : "+") + std::string{name}; }
        };
        add(strategy.trained == Trained::adapters, "lora");
        add(strategy.zero == 3, "zero3");
        add(strategy.tp > 1, "tp");
        add(strategy.pp > 1, "pp");
        add(strategy.cp > 1, "cp");
        add(strategy.ep > 1, "ep");
        add(strategy.offload != Offload::none, "offload");
        return kind.empty() ? "data parallel" : kind;
    }

    Catalog const& catalog_;
    std::vector<FrameworkRecogniser> frameworks_;
    std::map<std::string, Model> models_;
    std::map<std::string, Cluster> clusters_;
    std::map<std::string, Framework> framework_records_;
    std::map<std::pair<std::string, std::string>, int> noted_lengths_;
};

/// Dimensions or a known name, sequence length (images have none), global batch, accelerator and count.
bool states_enough(RunCells const& row, Model const* known) {
    bool const dimensions = !row.text("layers").empty() && !row.text("hidden").empty();
    bool const length = !row.text("seq_len").empty() || (known != nullptr && !known->operators.empty());
    bool const rest = !row.text("global_batch_sequences").empty() && !row.text("accelerators_total").empty() &&
                      !row.text("accelerator").empty();
    return (dimensions || known != nullptr) && length && rest;
}

/// What rows of one table share: everything but the count of accelerators.
std::string table_of(RunCells const& row) {
    std::string key{row.text("source_repo_or_paper")};
    std::string place{row.text("source_path_or_table")};
    if (auto const line = place.find(" line "); line != std::string::npos) { // each row of a table has its own line
        auto const end = place.find(' ', line + 6);
        place.erase(line, end == std::string::npos ? std::string::npos : end - line);
    }
    key += '\n' + place;
    for (auto const* column : {"model_name", "accelerator", "precision", "seq_len", "micro_batch"}) {
        key += '\n' + std::string{row.text(column)};
    }
    auto const noted = noted_batch(row.text("notes"), row.text("precision"));
    key += '\n' + std::to_string(noted.micro_batch.value_or(0));
    return key;
}

constexpr std::array required_columns{"id",
                                      "arch",
                                      "model_name",
                                      "layers",
                                      "hidden",
                                      "seq_len",
                                      "accelerator",
                                      "accelerators_total",
                                      "global_batch_sequences"};

} // namespace

std::vector<PublishedRun> read_runs(std::string_view csv, std::string_view where, Catalog const& catalog) {
    auto const table = read_csv(csv, where);
    for (auto const* column : required_columns) {
        if (table.column(column) < 0) {
            throw InputError{Fault::unreadable,
                             {.where = std::string{where} + ":1",
                              .problem = std::string{"no column '"} + column + "'",
                              .hint = "the columns are those of validation/published_runs.csv"}};
        }
    }
    Resolver resolver{catalog};
    std::vector<PublishedRun> runs;
    runs.reserve(table.records.size());
    for (auto const& record : table.records) { resolver.remember_length({table, record, where}); }
    for (auto const& record : table.records) {
        RunCells const row{table, record, where};
        PublishedRun run;
        run.id = std::string{row.text("id")};
        run.source = std::string{row.text("source_family")};
        run.accelerator = std::string{row.text("accelerator")};
        run.kind = kind_of(row.text("arch"));
        run.strategy_kind = "not predicted";
        run.table = table_of(row);
        run.states_enough = states_enough(row, resolver.known_model(row));
        try {
            resolver.resolve(row, run);
        } catch (Skip const& skip) { run.skipped_reason = skip.reason; } catch (InputError const& error) {
            run.skipped_reason = error.fault() == Fault::unreadable ? error.what() : error.text().problem;
        }
        runs.push_back(std::move(run));
    }
    return runs;
}

} // namespace headroom::io
