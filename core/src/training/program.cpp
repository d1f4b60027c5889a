#include "block_program.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::training {

using namespace headroom::network;

namespace {

/// Tokens of one rank that reach the output projection.
double head_tokens(Model const& model, LayerShape const& shape) {
    return tokens_of(shape) * model.head_share * (model.encoder_layers > 0 ? model.decoder_length : 1.0);
}

void write_head(LayerProgram& head, Model const& model, LayerShape const& shape, Framework const& framework) {
    if (!model.has_head) { return; }
    double const tokens = head_tokens(model, shape);
    double const words = laid_out_vocabulary(model, shape.tp, framework) / shape.tp;
    double const h = model.hidden;
    auto const product = [&head](Phase phase, double m, double n, double k, bool weight_gradient = false) {
        head.add({.name = "output projection",
                  .kind = OperationKind::gemm,
                  .phase = phase,
                  .m = m,
                  .n = n,
                  .k = k,
                  .weight_gradient = weight_gradient});
    };
    auto const collective = [&](char const* name, Phase phase, Collective kind) {
        if (shape.tp == 1) { return; }
        head.add({.name = name,
                  .kind = OperationKind::collective,
                  .phase = phase,
                  .bytes = Bytes{tokens * h * element_bytes(shape.precision)},
                  .collective = kind,
                  .traffic = Traffic::tensor});
    };
    if (shape.sequence_parallel) { collective("gather before output", Phase::forward, Collective::all_gather); }
    product(Phase::forward, tokens, words, h);
    head.add({.name = "loss",
              .kind = OperationKind::memory,
              .phase = Phase::forward,
              .bytes = Bytes{tokens * words},
              .memory = MemoryClass::logits});
    product(Phase::backward, tokens, h, words);
    if (shape.trained != Trained::lora) { product(Phase::backward, h, words, tokens, true); }
    collective("gradient before output", Phase::backward,
               shape.sequence_parallel ? Collective::reduce_scatter : Collective::all_reduce);
}

/// Tensor ranks that hold shards of the vocabulary sum their results.
void write_found(LayerProgram& embedding, LayerShape const& shape, double vector) {
    if (shape.tp == 1) { return; }
    embedding.add({.name = "vocabulary-parallel look-up",
                   .kind = OperationKind::collective,
                   .phase = Phase::forward,
                   .bytes = Bytes{vector},
                   .collective = shape.sequence_parallel ? Collective::reduce_scatter : Collective::all_reduce,
                   .traffic = Traffic::tensor});
}

/// Blocks that have no backward pass: the first ones.
int frozen_blocks(Model const& model, LayerShape const& shape) {
    return shape.trained == Trained::last_layers ? std::max(0, depth_of(model) - shape.trained_layers) : 0;
}

/// No gradient reaches the table where only the last blocks are trained.
void write_embedding(LayerProgram& embedding, Model const& model, LayerShape const& shape) {
    double const tokens = tokens_of(shape);
    double const vector = tokens * model.hidden * element_bytes(shape.precision);
    bool const trained = frozen_blocks(model, shape) == 0;
    embedding.add(
        {.name = "look-up", .kind = OperationKind::memory, .phase = Phase::forward, .bytes = Bytes{2.0 * vector}});
    if (trained) {
        embedding.add({.name = "scatter gradient",
                       .kind = OperationKind::memory,
                       .phase = Phase::backward,
                       .bytes = Bytes{3.0 * vector}});
    }
    write_found(embedding, shape, vector);
    if (trained && shape.tp > 1 && shape.sequence_parallel) {
        embedding.add({.name = "gather gradient before scatter",
                       .kind = OperationKind::collective,
                       .phase = Phase::backward,
                       .bytes = Bytes{vector},
                       .collective = Collective::all_gather,
                       .traffic = Traffic::tensor});
    }
}

/// Recomputed share of the trained blocks.
double recomputed_share(LayerShape const& shape, int trained) {
    if (shape.recompute == Recompute::none || trained == 0) { return 0.0; }
    return shape.recompute_layers > 0 ? std::min(1.0, static_cast<double>(shape.recompute_layers) / trained) : 1.0;
}

/// Blocks of every kind; kinds that differ in their backward pass are entries of their own.
void write_blocks(StepProgram& program, Model const& model, LayerShape const& shape, Framework const& framework) {
    int const frozen = frozen_blocks(model, shape);
    auto const runs = block_runs(model);
    auto const kinds = frozen > 0 || runs.size() > 1 ? block_kinds(model) : std::vector<BlockKind>{};
    double const again = recomputed_share(shape, depth_of(model) - frozen);
    std::size_t const ways = (frozen > 0 ? 1 : 0) + (again > 0.0 ? 1 : 0) + (again < 1.0 ? 1 : 0);
    program.blocks.reserve(runs.size() * ways);
    for (std::size_t r = 0; r < runs.size(); ++r) {
        auto const add = [&](BlockTraining training, double count) {
            if (count <= 0.0) { return; }
            program.blocks.push_back(block_program(model, runs[r].kind, shape, framework, training));
            program.blocks.back().count = count;
            program.blocks.back().kind = training == BlockTraining::frozen ? runs.size() + r : r;
        };
        // of every kind as many, in proportion: their work is that of the model's mean block
        double const without = static_cast<double>(runs[r].count) * frozen / depth_of(model);
        double const trained = runs[r].count - without;
        add(BlockTraining::kept, trained * (1.0 - again));
        add(BlockTraining::recomputed, trained * again);
        add(BlockTraining::frozen, without);
    }
    program.frozen = static_cast<std::size_t>(frozen);
    for (BlockKind const& kind : kinds) {
        auto const run = static_cast<std::size_t>(std::ranges::find(runs, kind, &BlockRun::kind) - runs.begin());
        bool const trained = program.kind_of_block.size() >= program.frozen;
        program.kind_of_block.push_back(trained ? run : runs.size() + run);
    }
}

/// Each is a block like the last one, and the product that joins it to the next token's embedding.
void write_prediction(StepProgram& program, Model const& model, LayerShape const& shape, Framework const& framework) {
    if (model.prediction_layers == 0 || model.layers == 0) { return; }
    auto const training = shape.recompute == Recompute::none ? BlockTraining::kept : BlockTraining::recomputed;
    auto block = block_program(model, last_block(model), shape, framework, training);
    double const h = model.hidden, tokens = tokens_of(shape);
    auto const product = [&](Phase phase, double m, double n, double k, bool weight_gradient = false) {
        block.program.add({.name = "join",
                           .kind = OperationKind::gemm,
                           .phase = phase,
                           .m = m,
                           .n = n,
                           .k = k,
                           .weight_gradient = weight_gradient});
    };
    product(Phase::forward, tokens, h / shape.tp, 2.0 * h);
    product(Phase::backward, tokens, 2.0 * h, h / shape.tp);
    if (shape.trained != Trained::lora) { product(Phase::backward, 2.0 * h, h / shape.tp, tokens, true); }
    block.count = model.prediction_layers;
    program.prediction.push_back(std::move(block));
    program.heads_run += model.prediction_layers;
}

} // namespace

int depth_of(Model const& model) { return std::max(1, model.layers); }

LayerShape shape_of(Strategy const& strategy, Workload const& workload) {
    return {.sequence_length = workload.tokens(),
            .attended = workload.attended(),
            .micro_batch = strategy.micro_batch,
            .tp = strategy.tp,
            .cp = strategy.cp,
            .ep = strategy.ep,
            .etp = strategy.etp,
            .expert_load = expert_load(strategy, workload),
            .sequence_parallel = strategy.sequence_parallel,
            .exchange = strategy.exchange,
            .recompute = strategy.recompute,
            .recompute_layers = strategy.recompute_layers,
            .recomputed = strategy.recomputed,
            .precision = strategy.precision,
            .gathers = strategy.zero == 3,
            .alone = strategy.data_ranks() == 1,
            .trained = strategy.trained,
            .trained_layers = strategy.trained_layers,
            .adapter_modules = strategy.adapter_modules,
            .adapter_rank = strategy.adapter_rank,
            .overlap = strategy.overlap};
}

double tokens_of(LayerShape const& shape) {
    return static_cast<double>(shape.micro_batch) * shape.sequence_length / shape.cp;
}

double laid_out_vocabulary(Model const& model, int tp, Framework const& framework) {
    if (!framework.pads_vocabulary) { return model.vocab; }
    double const unit = 128.0 * tp;
    return std::ceil(model.vocab / unit) * unit;
}

StepProgram step_program(Model const& model, LayerShape const& shape, Framework const& framework) {
    StepProgram program;
    program.heads = model.heads;
    program.depth = depth_of(model);
    if (!model.operators.empty()) {
        double const samples = tokens_of(shape) / std::max(1, model.nominal_length);
        program.blocks.reserve(model.operators.size());
        for (auto const& one : model.operators) { program.blocks.push_back(operator_program(one, samples, shape)); }
        return program;
    }
    write_blocks(program, model, shape, framework);
    write_prediction(program, model, shape, framework);
    write_head(program.head, model, shape, framework);
    write_embedding(program.embedding, model, shape);
    return program;
}

} // namespace headroom::training
