#include "headroom/io/runs.hpp"

#include "run_cells.hpp"

#include "headroom/error.hpp"
#include "headroom/io/csv.hpp"

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
        question.workload.sequence_length = required(row, "seq_len", "sequence length");
        int const workers = required(row, "accelerators_total", "accelerator count");
        question.cluster = cluster(row);
        question.framework = framework(row, question.cluster, run);
        PartialStrategy partial = partial_strategy(row, question.cluster, workers);
        question.workload.global_batch = global_batch(row, run);
        if (question.model.positions == Positions::learned) {
            question.model.max_positions = std::max(question.model.max_positions, question.workload.sequence_length);
        }
        auto filled = assume(partial, question.model, question.cluster, question.framework, question.workload, workers);
        question.strategy = filled.strategy;
        for (auto& assumption : filled.assumptions) { question.assumptions.push_back(std::move(assumption)); }
        if (peak_rate(question.cluster.accelerator, question.strategy.precision).base() <= 0.0) {
            throw Skip{"the accelerator has no " + std::string{name_of(question.strategy.precision)} + " arithmetic"};
        }
        measured(row, question, workers, run);
        for (auto const& assumption : question.assumptions) {
            run.assumed.push_back(assumption.field + " = " + assumption.value);
            run.structural_assumption = run.structural_assumption || assumption.structural;
        }
        run.strategy_kind = strategy_kind(question.strategy);
        run.question = std::move(question);
    }

private:
    static int required(RunCells const& row, char const* column, char const* what) {
        auto const value = row.integer(column);
        if (!value) { throw Skip{std::string{"no "} + what + " stated"}; }
        return *value;
    }

    Model model(RunCells const& row, PublishedRun& run) {
        std::string const name{row.text("model_name")};
        bool const known = catalog_.has_model(name);
        auto const layers = row.integer("layers");
        auto const hidden = row.integer("hidden");
        if (!known && (!layers || !hidden)) {
            throw Skip{"no layers and hidden size stated, and the catalog has no such model"};
        }
        Model model = known ? cached_model(name) : generic_model(row);
        if (model.moe.experts > 0) {
            throw Skip{"the catalog knows the model as a mixture of experts, which is not modelled yet"};
        }
        model.name = name;
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
        std::string const source{row.text("source_repo_or_paper")};
        std::string name = recognised(frameworks_, source, row.year());
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
        if (offloads(sharding) || offloads(row.text("overlap_flags"))) {
            throw Skip{"offload to the host is not modelled yet"};
        }
        partial.zero = zero_stage(sharding);
        partial.shard = shard_group(sharding);
        if (partial.zero.value_or(0) >= 2 && partial.pp.value_or(1) > 1) { partial.zero = 1; }
        if (row.mentions("LoRA")) { partial.trained = Trained::adapters; }
        // Some tables print only the outer data-parallel degree of sharded runs: derive it then.
        if (partial.dp && partial.tp && partial.pp &&
            product_of({*partial.dp, *partial.tp, *partial.pp, partial.cp.value_or(1)}) != workers) {
            if (partial.zero == 3 && *partial.dp > 1 && workers % *partial.dp == 0) {
                partial.shard = workers / *partial.dp;
            }
            partial.dp.reset();
        }
        if (partial.shard == workers) { partial.shard = 0; }
        return partial;
    }

    static int global_batch(RunCells const& row, PublishedRun& run) {
        if (auto const batch = row.integer("global_batch_sequences")) { return *batch; }
        auto const dp = row.integer("dp");
        auto const micro = row.integer("micro_batch");
        if (!dp || !micro) { throw Skip{"no global batch stated"}; }
        int const steps = row.integer("grad_accum").value_or(1);
        run.assumed.push_back("global batch = dp x micro-batch x accumulation steps");
        double const batch = product_of({*dp, *micro, steps});
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
            auto const forward = forward_flops(question.model, question.workload.sequence_length, convention);
            auto const& strategy = question.strategy;
            auto const trained = trained_work(strategy, question.model);
            Flops const work = counts == "hardware" ? hardware_flops(forward, trained, strategy.recompute,
                                                                     recomputed_share(strategy, question.model))
                                                    : training_flops(forward, trained);
            return take(work.base() * batch / (*value * tera * workers), "TFLOP/s");
        }
        throw Skip{"no step time, throughput or TFLOP/s stated"};
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
        return kind.empty() ? "data parallel" : kind;
    }

    Catalog const& catalog_;
    std::vector<FrameworkRecogniser> frameworks_;
    std::map<std::string, Model> models_;
    std::map<std::string, Cluster> clusters_;
    std::map<std::string, Framework> framework_records_;
};

bool states_enough(RunCells const& row) {
    for (auto const* column :
         {"layers", "hidden", "seq_len", "global_batch_sequences", "accelerators_total", "accelerator"}) {
        if (row.text(column).empty()) { return false; }
    }
    return true;
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
    for (auto const& record : table.records) {
        RunCells const row{table, record, where};
        PublishedRun run;
        run.id = std::string{row.text("id")};
        run.source = std::string{row.text("source_family")};
        run.accelerator = std::string{row.text("accelerator")};
        run.kind = kind_of(row.text("arch"));
        run.strategy_kind = "not predicted";
        run.states_enough = states_enough(row);
        try {
            if (run.kind != "dense") { throw Skip{"kind '" + std::string{row.text("arch")} + "' is not modelled yet"}; }
            resolver.resolve(row, run);
        } catch (Skip const& skip) { run.skipped_reason = skip.reason; } catch (InputError const& error) {
            run.skipped_reason = error.fault() == Fault::unreadable ? error.what() : error.text().problem;
        }
        runs.push_back(std::move(run));
    }
    return runs;
}

} // namespace headroom::io
