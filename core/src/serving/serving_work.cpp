#include "serving/serving_work.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

namespace headroom::serving {

using namespace headroom::network;
using namespace headroom::training;

namespace {

[[noreturn]] void refuse_work(std::string where, std::string problem, std::string hint = {}) {
    headroom::refuse(std::move(where), std::move(problem), {}, std::move(hint));
}

/// Queries of a key that kernels of tensor cores compute together, a tile of 16 rows; others are left to vector units.
constexpr double most_grouped_queries = 16.0;
/// Elements of a convolution's input that a scan keeps in addition to its state: the taps before the current token's.
constexpr double convolution_bytes = 2.0;
/// Up to this width fused attention is held back by exponentials, as in `attention_time`.
constexpr int largest_small_head = 80;
/// A conversion to 8 bits reads 16 and writes 8; a training step writes the transpose besides.
constexpr double conversion_share = 3.0 / 4.0;

void check_figures(ServingPlan const& plan) {
    if (plan.tp < 1) { refuse_work("tp", "below 1"); }
    if (plan.pp < 1 || plan.pp > most_stages) { refuse_work("pp", "not between 1 and 1024"); }
    Speculation const& drafts = plan.speculation;
    if (drafts.draft_tokens < 0 || drafts.draft_tokens > most_draft_tokens) {
        refuse_work("drafted tokens", "not between 0 and 64");
    }
    if (!(drafts.acceptance >= 0.0 && drafts.acceptance <= 1.0)) { refuse_work("acceptance", "not between 0 and 1"); }
    if (plan.most_sequences < 1) { refuse_work("sequences of a batch", "below 1"); }
    if (plan.most_sequences > most_batch_sequences) { refuse_work("sequences of a batch", "more than 1,048,576"); }
    if (plan.prefill_chunk < 1) { refuse_work("tokens of a prefill chunk", "below 1"); }
    if (plan.prefill_chunk > longest_prefill_chunk) { refuse_work("tokens of a prefill chunk", "more than 4,194,304"); }
    if (!(plan.memory_share > 0.0 && plan.memory_share <= 1.0)) {
        refuse_work("share of memory", "not above 0 and up to 1");
    }
}

void check_model(Model const& model) {
    if (!model.operators.empty() || model.layers < 1) {
        refuse_work("model " + quoted(model.name), "is not a stack of blocks", "language models can be served");
    }
    if (model.encoder_layers > 0 || !model.causal || model.memory_tokens > 0) {
        refuse_work("model " + quoted(model.name), "is not a decoder that keeps keys and values",
                    "models that generate token by token can be served");
    }
}

void check_division(std::string const& what, int tp, int shared) {
    if (shared % tp != 0) {
        refuse_work("tp", std::to_string(tp) + " does not divide " + std::to_string(shared) + " " + what,
                    "each rank takes as many: give a divisor");
    }
}

void check_degrees(Model const& model, ServingPlan const& plan) {
    if (plan.pp > model.layers) {
        refuse_work("pp", std::to_string(plan.pp) + " stages are more than " + std::to_string(model.layers) + " layers",
                    "each stage has a layer at least");
    }
    for (auto const& run : block_runs(model)) {
        auto const a = attention_shape(model, run.kind);
        int const keys = static_cast<int>(a.kv_heads);
        if (attends(run.kind.mixer)) { check_division("heads", plan.tp, static_cast<int>(a.heads)); }
        if (attends(run.kind.mixer) && run.kind.mixer != Mixer::latent_attention && plan.tp % keys != 0) {
            check_division("heads of keys and values", plan.tp, keys);
        }
        if (scans(run.kind.mixer)) { check_division("heads of scans", plan.tp, model.state_space.heads); }
        if (run.kind.channel == Channel::dense) {
            check_division("feed-forward columns", plan.tp, ffn_of(model, run.kind));
        }
        if (run.kind.channel == Channel::experts) {
            check_division("columns of an expert", plan.tp, model.moe.ffn > 0 ? model.moe.ffn : model.ffn);
        }
    }
}

/// Tokens are on every tensor rank, so each routes all of them and nothing is gathered before experts; what experts and
/// shared experts put out is added up once.
void keep_whole_on_ranks(std::vector<Operation>& operations, Model const& model, int tp) {
    bool const added_later = model.moe.shared_experts > 0 && model.moe.latent == 0;
    auto const left_out = [&](Operation const& o) {
        return o.kind == OperationKind::collective &&
               (o.collective == Collective::all_gather || (o.collective == Collective::reduce_scatter && added_later));
    };
    std::erase_if(operations, left_out);
    for (auto& o : operations) {
        if (o.collective == Collective::reduce_scatter) { o.collective = Collective::all_reduce; }
        if (o.kind == OperationKind::gemm && o.m < 1.0) { o.m = 1.0; }
        if (o.kind == OperationKind::memory && o.memory == MemoryClass::routing) { o.bytes *= tp; }
    }
}

/// Attention and feed-forward layer side by side: what both put out is added first, and exchanged once.
/// Source: [VllmParallelBlocks], [TensorRTLLMParallelBlocks]
void exchange_once(std::vector<Operation>& operations) {
    auto const exchanged = [](Operation const& o) {
        return o.kind == OperationKind::collective && o.collective == Collective::all_reduce;
    };
    if (std::ranges::count_if(operations, exchanged) < 2) { return; }
    operations.erase(std::ranges::find_if(operations, exchanged));
}

void take_forward(ServedBlock& block, BlockProgram const& program) {
    for (auto const& operation : program.program.operations()) {
        if (operation.phase != Phase::forward) { continue; }
        switch (operation.kind) {
        case OperationKind::attention:
        case OperationKind::unfused_attention: continue; // by what the cache holds
        case OperationKind::memory:
            if (operation.memory == MemoryClass::scores) { continue; }
            if (operation.memory == MemoryClass::scan) {
                block.scans.push_back(operation);
                continue;
            }
            break;
        default: break;
        }
        block.linear.push_back(operation);
        if (operation.kind == OperationKind::memory && operation.memory == MemoryClass::cast) {
            block.linear.back().bytes *= conversion_share;
        }
    }
}

void take_attention(ServedBlock& block, Model const& model, BlockKind const& kind, ServingPlan const& plan) {
    double const element = stored_bytes(plan.cache);
    auto const a = attention_shape(model, kind);
    double const heads = a.heads / plan.tp;
    block.window = kind.window;
    block.prefill_work = 4.0 * heads * core_head_dim(model, kind);
    if (kind.mixer == Mixer::latent_attention) { // absorbed: queries meet the latent vectors themselves
        auto const& latent = model.latent;
        block.cache_bytes = element * (latent.kv_rank + latent.rope_dim);
        block.decode_work = 2.0 * heads * (2.0 * latent.kv_rank + latent.rope_dim);
        block.grouped = true;
        return;
    }
    double const stored = kind.borrows_keys ? 0.0 : kind.keys_are_values ? a.head_dim : a.head_dim + a.value_dim;
    block.cache_bytes = element * std::max(1.0, a.kv_heads / plan.tp) * stored;
    block.decode_work = block.prefill_work;
    block.grouped = a.kv_heads < a.heads;
    block.wide = a.heads > most_grouped_queries * a.kv_heads;
    block.small_head = a.head_dim <= largest_small_head;
}

/// State in 32 bits: what it adds up over thousands of tokens is not kept in 16. A guess of common practice.
void take_state(ServedBlock& block, Model const& model, ServingPlan const& plan) {
    auto const scan = scan_sizes(model);
    block.state_bytes = (scan_state_bytes * scan.inner * scan.state +
                         convolution_bytes * scan.convolved * std::max(0, model.state_space.convolution - 1)) /
                        plan.tp;
}

} // namespace

double stage_share(Model const& model, ServingPlan const& plan) {
    return std::ceil(static_cast<double>(model.layers) / plan.pp) / model.layers;
}

double Speculation::tokens() const {
    double sum = 1.0, power = 1.0;
    for (int i = 0; i < draft_tokens; ++i) { sum += power *= acceptance; }
    return sum;
}

double stored_bytes(Precision precision) {
    switch (precision) {
    case Precision::mxfp8: return 1.0 + 1.0 / 32.0; // an 8-bit scale for 32 elements
    case Precision::nvfp4: return 0.5 + 1.0 / 16.0; // an 8-bit scale for 16 elements
    default: return operand_bytes(precision);
    }
}

std::span<WeightFormat const> weight_formats() {
    static constexpr std::array formats{
        WeightFormat{"int8", 1.0, "a scale a column"},
        WeightFormat{"int4", 0.5 + 20.0 / 128.0 / 8.0, "groups of 128: a 16-bit scale, a 4-bit zero (AWQ, GPTQ)"},
        WeightFormat{"mxfp4", 0.5 + 1.0 / 32.0, "an 8-bit scale for 32 elements"},
        WeightFormat{"q8_0", 8.5 / 8.0, "GGUF: a 16-bit scale for 32 elements"},
        WeightFormat{"q4_k", 4.5 / 8.0, "GGUF: scales in blocks of 256 elements"},
    };
    return formats;
}

double weight_bytes(ServingPlan const& plan) {
    return plan.kept != nullptr ? plan.kept->bytes : stored_bytes(plan.weights);
}

Precision computed_in(Accelerator const& accelerator, Precision weights) {
    if (peak_rate(accelerator, weights).base() > 0.0) { return weights; }
    if (peak_rate(accelerator, Precision::bf16).base() > 0.0) { return Precision::bf16; }
    refuse_work("accelerator " + quoted(accelerator.name), "has no arithmetic in " + std::string{name_of(weights)});
}

ServedModel served_model(Model const& model, Accelerator const& accelerator, Framework const& framework,
                         ServingPlan const& plan) {
    check_figures(plan);
    check_model(model);
    check_degrees(model, plan);
    ServedModel served;
    served.shape = {.sequence_length = 1.0,
                    .attended = 1.0,
                    .tp = plan.tp,
                    .etp = plan.tp,
                    .precision = computed_in(accelerator, plan.weights),
                    .overlap = Overlap::off};
    served.vocabulary = model.vocab; // held as it is: padding is of training frameworks
    auto const runs = block_runs(model);
    for (auto const& program : step_program(model, served.shape, framework).blocks) {
        ServedBlock block{.count = program.count * stage_share(model, plan) * plan.pp, .issue = program.issue};
        take_forward(block, program);
        if (program.routed) { keep_whole_on_ranks(block.linear, model, plan.tp); }
        if (model.parallel_block) { exchange_once(block.linear); }
        auto const& kind = runs.at(program.kind).kind;
        if (attends(kind.mixer)) { take_attention(block, model, kind, plan); }
        if (scans(kind.mixer)) { take_state(block, model, plan); }
        served.blocks.push_back(std::move(block));
    }
    return served;
}

double matrix_elements(ServedModel const& served) {
    double elements = 0.0;
    for (auto const& block : served.blocks) {
        for (auto const& o : block.linear) {
            bool const product = o.kind == OperationKind::gemm || o.kind == OperationKind::grouped_gemm;
            if (product) { elements += block.count * o.n * o.k * o.times; }
        }
    }
    return elements;
}

} // namespace headroom::serving
