#include "stage.hpp"

#include "lora_matrices.hpp"
#include "traffic.hpp"

#include "headroom/training/host_launches.hpp"
#include "headroom/training/pipeline.hpp"

#include <algorithm>

namespace headroom::training {
namespace {

/// Parameters of embedding and output projection that LoRA trains whole.
double trained_tables(Strategy const& strategy, Model const& model) {
    if ((strategy.adapter_modules & adapter_module::tables) == 0) { return 0.0; }
    return (model.tied_embeddings ? 1.0 : 2.0) * static_cast<double>(model.vocab) * model.hidden;
}

double adapter_parameters(Strategy const& strategy, Model const& model) {
    bool const scaled = (strategy.adapter_modules & adapter_module::magnitudes) != 0;
    double parameters = trained_tables(strategy, model);
    for (auto const& run : block_runs(model)) {
        for (auto const& matrix : adapted_matrices(model, run.kind, strategy.adapter_modules)) {
            parameters += run.count * (strategy.adapter_rank * (matrix.in + matrix.out) + (scaled ? matrix.out : 0.0));
        }
    }
    return parameters;
}

Shards sharded_over(Strategy const& strategy, double ranks) {
    bool const sums_whole = strategy.zero < 2 || strategy.pp > 1;
    return {.weights = strategy.zero == 3 ? ranks : 1.0,
            .gradients = sums_whole ? 1.0 : ranks,
            .optimizer = strategy.zero >= 1 ? ranks : 1.0};
}

/// Blocks of chunk `chunk` of a stage that has `blocks`, divided as evenly as possible; the chunks at the ends of the
/// model have the fewer ones.
int blocks_of_chunk(int blocks, PipelineShape const& shape, int stage, int chunk) {
    int const each = blocks / shape.chunks, more = blocks % shape.chunks;
    bool const last = stage == shape.stages - 1;
    int const rank = last ? chunk : shape.chunks - 1 - chunk; // the first stage has its fewest in its first chunk
    return each + (rank < more ? 1 : 0);
}

/// Number of first blocks after which all are equal: dense ones before experts; all blocks if kinds alternate.
std::size_t unlike_blocks(Model const& model) {
    bool const listed =
        !model.plan.empty() || !model.pattern.empty() || model.encoder_layers > 0 || model.moe.every > 1;
    return static_cast<std::size_t>(listed ? model.layers : model.moe.first_dense);
}

/// Number of blocks of every part in the model's order; of_stage(s) is the number on stage s.
template <class OfStage> std::vector<int> divided(PipelineShape const& shape, ChunkLayout layout, OfStage of_stage) {
    bool const two_models = layout == ChunkLayout::bidirectional;
    int const chunks = two_models ? 1 : shape.chunks;
    std::vector<int> size(static_cast<std::size_t>(shape.stages) * static_cast<std::size_t>(chunks));
    for (int stage = 0; stage < shape.stages; ++stage) {
        int const whole = of_stage(stage);
        for (int chunk = 0; chunk < chunks; ++chunk) {
            size[static_cast<std::size_t>(part_of(shape, layout, {stage, chunk}))] =
                two_models ? whole : blocks_of_chunk(whole, shape, stage, chunk);
        }
    }
    return size;
}

} // namespace

double trained_share(Strategy const& strategy, Model const& model, ParameterCount const& count) {
    switch (strategy.trained) {
    case Trained::all: return model.operators.empty() ? 1.0 : trained_share_of_operators(model);
    case Trained::lora: return std::min(1.0, adapter_parameters(strategy, model) / std::max(1.0, count.total));
    case Trained::last_layers: {
        if (!has_frozen_blocks(model, strategy)) { break; } // all of them: the whole model
        double const blocks = strategy.trained_layers * count.layer;
        return std::min(1.0,
                        (blocks + output_parameters(model, count) + count.final_norm) / std::max(1.0, count.total));
    }
    }
    return 1.0;
}

TrainedParts trained_parts(Strategy const& strategy, Model const& model, ParameterCount const& count) {
    if (strategy.trained == Trained::lora) {
        double const dense = count.total - count.experts * depth_of(model);
        return {.dense = std::min(1.0, adapter_parameters(strategy, model) / std::max(1.0, dense)), .experts = 0.0};
    }
    double const share = trained_share(strategy, model, count);
    return {.dense = share, .experts = share};
}

TrainedParts kept_parts(Strategy const& strategy, Model const& model, ParameterCount const& count,
                        Framework const& framework) {
    auto parts = trained_parts(strategy, model, count);
    bool const narrow = framework.parameter_bytes >= 4.0 && !framework.wide_frozen &&
                        element_bytes(strategy.precision) < 4.0 && strategy.trained == Trained::lora;
    if (!narrow) { return parts; }
    double const all = adapter_parameters(strategy, model);
    parts.dense *= all > 0.0 ? 1.0 - 0.5 * trained_tables(strategy, model) / all : 1.0;
    return parts;
}

StateWidths state_widths(Framework const& framework, Precision precision) {
    double const wide = 4.0;
    bool const bf16 = precision == Precision::bf16 && framework.bf16_gradient_bytes.has_value();
    StateWidths const stated{.weights = framework.parameter_bytes,
                             .gradients = bf16 ? *framework.bf16_gradient_bytes : framework.gradient_bytes,
                             .reduced = framework.reduced_bytes,
                             .optimizer = framework.optimizer_bytes,
                             .frozen = framework.frozen_bytes};
    if (element_bytes(precision) < wide) { return stated; }
    bool const narrow = framework.parameter_bytes < wide;
    bool const master = narrow && stated.optimizer > wide;                 // a copy that nothing needs now
    bool const moments = narrow && !master && framework.optimizer.empty(); // in the format of the weights
    return {.weights = std::max(wide, stated.weights),
            .gradients = std::max(wide, stated.gradients),
            .reduced = std::max(wide, stated.reduced),
            .optimizer = stated.optimizer * (moments ? wide / framework.parameter_bytes : 1.0) - (master ? wide : 0.0),
            .frozen = framework.frozen == FrozenFormat::sixteen_bit ? wide : stated.frozen};
}

double gathered_bytes(Framework const& framework, Strategy const& strategy) {
    auto const widths = state_widths(framework, strategy.precision);
    double const kept = strategy.trained == Trained::lora ? widths.frozen : widths.weights;
    return framework.gathers_wide ? kept : std::min(kept, element_bytes(strategy.precision));
}

bool host_waits(Model const& model, Strategy const& strategy) { return strategy.pp > 1 || model.moe.experts > 0; }

double output_parameters(Model const& model, ParameterCount const& count) {
    double const table = static_cast<double>(model.vocab) * model.hidden;
    return count.head + (model.tied_embeddings ? table : 0.0);
}

int stage_layers(int layers, int pp, StagePlace place) {
    int const middle = (layers + pp - 1) / pp;
    int const spare = middle * pp - layers;
    switch (place) {
    case StagePlace::whole: return layers;
    case StagePlace::first: return std::max(1, middle - spare / 2);
    case StagePlace::last: return std::max(1, middle - (spare + 1) / 2);
    case StagePlace::middle: break;
    }
    return middle;
}

int stage_layers(Model const& model, int pp, StagePlace place) {
    if (!states_stages(model, pp)) { return stage_layers(depth_of(model), pp, place); }
    auto const& stated = model.layers_per_stage;
    switch (place) {
    case StagePlace::whole: return depth_of(model);
    case StagePlace::first: return stated.front();
    case StagePlace::last: return stated.back();
    case StagePlace::middle: break;
    }
    return pp > 2 ? *std::max_element(stated.begin() + 1, stated.end() - 1) : std::max(stated.front(), stated.back());
}

int layers_of_stage(int layers, int pp, int stage) {
    if (pp == 1) { return layers; }
    int const first = stage_layers(layers, pp, StagePlace::first), last = stage_layers(layers, pp, StagePlace::last);
    if (stage == 0) { return first; }
    if (stage == pp - 1) { return last; }
    int const rest = layers - first - last, between = pp - 2;
    return rest / between + (stage - 1 < rest % between ? 1 : 0);
}

int layers_of_stage(Model const& model, int pp, int stage) {
    return states_stages(model, pp) ? model.layers_per_stage[static_cast<std::size_t>(stage)]
                                    : layers_of_stage(depth_of(model), pp, stage);
}

int part_of(PipelineShape const& shape, ChunkLayout layout, ChunkPlace place) {
    switch (layout) {
    case ChunkLayout::loop: return place.chunk * shape.stages + place.stage;
    case ChunkLayout::v: return place.chunk == 0 ? place.stage : 2 * shape.stages - 1 - place.stage;
    case ChunkLayout::bidirectional: return place.chunk == 0 ? place.stage : shape.stages - 1 - place.stage;
    }
    return 0;
}

std::vector<int> blocks_of_parts(int blocks, PipelineShape const& shape, ChunkLayout layout) {
    return divided(shape, layout, [&](int stage) { return layers_of_stage(blocks, shape.stages, stage); });
}

std::vector<int> blocks_of_parts(Model const& model, PipelineShape const& shape, ChunkLayout layout) {
    return divided(shape, layout, [&](int stage) { return layers_of_stage(model, shape.stages, stage); });
}

BlockSum blocks_held(StepSetting const& setting, Strategy const& strategy, int stage) {
    Model const& model = setting.model;
    auto const shape = pipeline_shape(strategy, setting.workload);
    auto const layout = schedule_row(strategy.schedule()).layout;
    bool const two_models = layout == ChunkLayout::bidirectional;
    int const stages = shape.stages, chunks = two_models ? 1 : shape.chunks;
    auto const& sums = setting.sums;
    std::size_t const unlike = std::min(unlike_blocks(model), sums.size() - 1); // those behind are alike
    BlockSum sum;
    int counted = 0;
    std::size_t end = 0; // blocks in the parts so far
    for (int part = 0; part < stages * chunks && end < unlike; ++part) {
        bool const returns = layout == ChunkLayout::v && part >= stages;
        int const holder = returns ? 2 * stages - 1 - part : part % stages;
        int const whole = layers_of_stage(model, stages, holder);
        int const blocks = two_models ? whole : blocks_of_chunk(whole, shape, holder, part / stages);
        std::size_t const begin = end;
        end = std::min(sums.size() - 1, begin + static_cast<std::size_t>(blocks));
        if (holder != stage && !(two_models && stages - 1 - holder == stage)) { continue; }
        counted += blocks;
        sum.dense += sums[end].dense - sums[begin].dense;
        sum.experts += sums[end].experts - sums[begin].experts;
    }
    if (unlike == sums.size() - 1) { return sum; }
    int held = layers_of_stage(model, stages, stage);
    if (two_models && stages - 1 - stage != stage) { held += layers_of_stage(model, stages, stages - 1 - stage); }
    auto const& last = sums[sums.size() - 1];
    auto const& before = sums[sums.size() - 2];
    sum.dense += (held - counted) * (last.dense - before.dense);
    sum.experts += (held - counted) * (last.experts - before.experts);
    return sum;
}

StageParameters stage_parameters(StepSetting const& setting, Strategy const& strategy, StagePlace place) {
    double const blocks = stage_layers(setting.model, strategy.pp, place);
    bool const first = place == StagePlace::first || place == StagePlace::whole;
    bool const returns = strategy.pp > 1 && schedule_row(strategy.schedule()).layout == ChunkLayout::v;
    bool const last =
        returns ? first : place == StagePlace::last || place == StagePlace::whole; // a V ends where it began
    return stage_parameters(setting, strategy, {.blocks = blocks, .first = first, .last = last});
}

StageParameters stage_parameters(StepSetting const& setting, Strategy const& strategy, StageShare const& share) {
    auto const& count = setting.count;
    auto const [blocks, first, last] = share;
    double ends = first ? count.embedding : 0.0;
    StageParameters held;
    if (last) {
        // a single stage keeps a tied table once
        ends += count.final_norm + (first ? count.head : output_parameters(setting.model, count));
        ends += count.prediction - count.prediction_experts;
        // blocks that predict later tokens look those up: an untied table is on the last stage too
        bool const looks_up = setting.model.prediction_layers > 0 && !setting.model.tied_embeddings;
        if (looks_up && !first) { ends += static_cast<double>(setting.model.vocab) * setting.model.hidden; }
        held.experts = count.prediction_experts;
    }
    held.dense = ((count.layer - count.experts) * blocks + ends) / strategy.tp;
    held.experts = (held.experts + count.experts * blocks) / (static_cast<double>(strategy.ep) * strategy.etp);
    return held;
}

bool has_frozen_blocks(Model const& model, Strategy const& strategy) {
    return strategy.trained == Trained::last_layers && strategy.trained_layers < depth_of(model);
}

StageHolding holding_of_last_blocks(StepSetting const& setting, Strategy const& strategy, int stage) {
    auto const shape = pipeline_shape(strategy, setting.workload);
    auto const layout = schedule_row(strategy.schedule()).layout;
    auto const size = blocks_of_parts(setting.model, shape, layout);
    int const frozen = depth_of(setting.model) - std::min(strategy.trained_layers, depth_of(setting.model));
    StageShare share, trained;
    for (int chunk = 0; chunk < shape.chunks; ++chunk) {
        auto const part = static_cast<std::size_t>(part_of(shape, layout, {stage, chunk}));
        int before = 0;
        for (std::size_t i = 0; i < part; ++i) { before += size[i]; }
        share.blocks += size[part];
        trained.blocks += std::clamp(before + size[part] - frozen, 0, size[part]);
        share.first = share.first || part == 0;
        share.last = trained.last = share.last || part + 1 == size.size();
    }
    auto const held = stage_parameters(setting, strategy, share), moved = stage_parameters(setting, strategy, trained);
    return {.held = held,
            .trained = {.dense = held.dense > 0.0 ? std::min(1.0, moved.dense / held.dense) : 0.0,
                        .experts = held.experts > 0.0 ? std::min(1.0, moved.experts / held.experts) : 0.0},
            .frozen_blocks = share.blocks - trained.blocks};
}

StageParameters fullest_stage_parameters(StepSetting const& setting, Strategy const& strategy) {
    if (strategy.pp == 1) { return stage_parameters(setting, strategy, StagePlace::whole); }
    auto fullest = stage_parameters(setting, strategy, StagePlace::first);
    auto const keep = [&](StageParameters const& other) {
        if (other.all() > fullest.all()) { fullest = other; }
    };
    bool const stated = states_stages(setting.model, strategy.pp);
    if ((stated && strategy.pp > 2) || depth_of(setting.model) % strategy.pp != 0) {
        keep(stage_parameters(setting, strategy, StagePlace::middle));
    }
    keep(stage_parameters(setting, strategy, StagePlace::last));
    return fullest;
}

Shards shards_of(Strategy const& strategy) { return sharded_over(strategy, strategy.shard_ranks()); }

Shards expert_shards_of(Strategy const& strategy) { return sharded_over(strategy, strategy.expert_shard_ranks()); }

bool shards_over_copies(Strategy const& strategy) {
    return (strategy.zero == 1 || strategy.zero == 2) && strategy.shard_ranks() == strategy.data_ranks();
}

void explain_strategy(TermBook& book, StepSetting const& setting, Strategy const& strategy) {
    auto const option = [&](char const* name, double value) {
        std::string flag = name;
        std::ranges::replace(flag, '_', '-');
        book.add(TermKind::option, name, "", "--" + flag, value);
    };
    option("dp", strategy.dp), option("tp", strategy.tp), option("pp", strategy.pp), option("cp", strategy.cp);
    option("ep", strategy.ep), option("etp", strategy.etp);
    option("micro_batch", strategy.micro_batch), option("global_batch", setting.workload.global_batch);
    option("sequence_length", setting.workload.sequence_length), option("fill", setting.workload.fill);
    book.formula("micro_batches", "", "max(1, global_batch / (dp * micro_batch))",
                 micro_batch_count(strategy, setting.workload));
    book.formula("tokens", "", "micro_batch * sequence_length * fill / cp",
                 tokens_of(shape_of(strategy, setting.workload)));
    auto const widths = state_widths(setting.framework, strategy.precision);
    auto const width = [&](char const* name, double value) {
        book.add(TermKind::framework, name, "B", "framework " + setting.framework.name + " in this precision", value);
    };
    width("bytes_of_weight", widths.weights), width("bytes_of_gradient", widths.gradients);
    width("bytes_of_reduced_gradient", widths.reduced), width("bytes_of_optimizer_state", widths.optimizer);
    if (strategy.trained == Trained::lora) { width("bytes_of_frozen_weight", widths.frozen); }
    width("bytes_of_gathered_weight", gathered_bytes(setting.framework, strategy));
}

std::string explain_update(TermBook& book, StepSetting const& setting, Strategy const& strategy) {
    std::string bytes = explain(book, setting.constants, Constant::optimizer_traffic);
    std::string const of = "optimizer " + setting.framework.optimizer;
    if (double const share = update_share(setting.framework); share != 1.0) {
        book.add(TermKind::framework, "updated_bytes_share", "", of, share);
        bytes += " * updated_bytes_share";
    }
    bytes += " / memory_rate";
    if (update_products(setting, strategy) > 0.0) {
        book.add(TermKind::framework, "update_flops", "", of, setting.framework.update_flops);
        bytes += " + update_flops / head_gemm_rate";
    }
    return bytes;
}

void explain_parameters(TermBook& book, std::string const& name, StepSetting const& setting, Strategy const& strategy,
                        double blocks, StageParameters const& held, std::optional<BlockSum> const& unlike) {
    auto const& count = setting.count;
    auto const model = [&](std::string const& fact, std::string const& origin, double value) {
        book.add(TermKind::model, fact, "", origin, value);
    };
    double const dense = unlike ? unlike->dense : (count.layer - count.experts) * blocks;
    double const experts = unlike ? unlike->experts : count.experts * blocks;
    double const expert_ranks = static_cast<double>(strategy.ep) * strategy.etp;
    model("block_parameters", "mean of the blocks of " + setting.model.name, count.layer);
    model("block_expert_parameters", "of the mean block, those of routed experts", count.experts);
    book.add(TermKind::shape, name + "_blocks", "", "blocks of the stage, from layers and pipeline", blocks);
    model(name + "_end_parameters", "embedding, output projection and blocks for later tokens that the stage has",
          held.dense * strategy.tp - dense);
    model(name + "_end_expert_parameters", "routed experts of blocks for later tokens that the stage has",
          held.experts * expert_ranks - experts);
    std::string in_blocks = "(block_parameters - block_expert_parameters) * " + name + "_blocks";
    std::string of_experts = "block_expert_parameters * " + name + "_blocks";
    if (unlike) {
        in_blocks = name + "_block_parameters", of_experts = name + "_block_expert_parameters";
        model(in_blocks, "dense ones of the stage's blocks, which are unlike", dense);
        model(of_experts, "routed experts of the stage's blocks, which are unlike", experts);
    }
    book.formula(name + "_dense_parameters", "", "(" + in_blocks + " + " + name + "_end_parameters) / tp", held.dense);
    book.formula(name + "_expert_parameters", "",
                 "(" + of_experts + " + " + name + "_end_expert_parameters) / (ep * etp)", held.experts);
}

std::string explain_kept(TermBook& book, std::string const& name, Strategy const& strategy, std::string const& part,
                         std::optional<TrainedParts> const& trained) {
    double Shards::*const shards = part == "weights"     ? &Shards::weights
                                   : part == "gradients" ? &Shards::gradients
                                                         : &Shards::optimizer;
    book.add(TermKind::option, part + "_shards", "", "ranks that share them, by --zero", shards_of(strategy).*shards);
    book.add(TermKind::option, "expert_" + part + "_shards", "", "ranks that share those of experts, by --zero",
             expert_shards_of(strategy).*shards);
    if (trained) {
        book.add(TermKind::option, name + "_dense_trained", "", "fraction that --train trains", trained->dense);
        book.add(TermKind::option, name + "_expert_trained", "", "fraction that --train trains", trained->experts);
    }
    std::string const dense = trained ? name + "_dense_trained * " : "";
    std::string const experts = trained ? name + "_expert_trained * " : "";
    return "(" + dense + name + "_dense_parameters / " + part + "_shards + " + experts + name +
           "_expert_parameters / expert_" + part + "_shards)";
}

} // namespace headroom::training
