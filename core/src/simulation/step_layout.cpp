#include "step_layout.hpp"

#include "training/stage.hpp"

#include <algorithm>

namespace headroom::simulation {
namespace {

/// Blocks of every stage. Where an end had less than one, some of the middle have one less instead.
std::vector<int> blocks_of_stages(int blocks, int stages) {
    if (stages == 1) { return {blocks}; }
    std::vector<int> held(static_cast<std::size_t>(stages), stage_layers(blocks, stages, StagePlace::middle));
    held.front() = stage_layers(blocks, stages, StagePlace::first);
    held.back() = stage_layers(blocks, stages, StagePlace::last);
    int spare = -blocks;
    for (int const one : held) { spare += one; }
    for (std::size_t stage = held.size() - 1; spare > 0 && stage-- > 1; --spare) { --held[stage]; }
    return held;
}

/// Blocks of chunk `chunk` of a stage that has `blocks`, as even as can be; what is missing is missing at the ends of
/// the model.
int blocks_of_chunk(int blocks, PipelineShape const& shape, int stage, int chunk) {
    int const each = blocks / shape.chunks, more = blocks % shape.chunks;
    bool const last = stage == shape.stages - 1;
    int const rank = last ? chunk : shape.chunks - 1 - chunk; // the first stage has its fewest in its first chunk
    return each + (rank < more ? 1 : 0);
}

std::vector<BlockVariant> operator_variants(Model const& model, std::vector<std::size_t>& variant_of) {
    std::vector<BlockVariant> variants;
    for (std::size_t i = 0; i < model.operators.size(); ++i) {
        variants.push_back({.kind = {}, .training = BlockTraining::kept, .operation = static_cast<int>(i)});
        for (int k = 0; k < model.operators[i].repeats; ++k) { variant_of.push_back(i); }
    }
    return variants;
}

} // namespace

int StepLayout::blocks_of(int stage) const {
    int blocks = 0;
    for (int chunk = 0; chunk < shape.chunks; ++chunk) { blocks += at(stage, chunk).blocks; }
    return blocks;
}

int part_of(PipelineShape const& shape, ChunkLayout layout, ChunkPlace place) {
    switch (layout) {
    case ChunkLayout::loop: return place.chunk * shape.stages + place.stage;
    case ChunkLayout::v: return place.chunk == 0 ? place.stage : 2 * shape.stages - 1 - place.stage;
    case ChunkLayout::bidirectional: return place.chunk == 0 ? place.stage : shape.stages - 1 - place.stage;
    }
    return 0;
}

StepLayout step_layout(StepSetting const& setting, Strategy const& strategy) {
    StepLayout result{.shape = pipeline_shape(strategy, setting.workload),
                      .layout = schedule_row(strategy.schedule()).layout,
                      .chunks = {}};
    auto const& shape = result.shape;
    bool const two_models = result.layout == ChunkLayout::bidirectional;
    int blocks = depth_of(setting.model);
    if (!setting.model.operators.empty()) {
        blocks = 0;
        for (auto const& one : setting.model.operators) { blocks += one.repeats; }
    }
    auto const held = blocks_of_stages(blocks, shape.stages);
    auto const parts = static_cast<std::size_t>(two_models ? shape.stages : shape.stages * shape.chunks);
    std::vector<int> size(parts);
    for (int stage = 0; stage < shape.stages; ++stage) {
        int const whole = held[static_cast<std::size_t>(stage)];
        for (int chunk = 0; chunk < (two_models ? 1 : shape.chunks); ++chunk) {
            size[static_cast<std::size_t>(part_of(shape, result.layout, {stage, chunk}))] =
                two_models ? whole : blocks_of_chunk(whole, shape, stage, chunk);
        }
    }
    std::vector<int> first(parts, 0);
    for (std::size_t part = 1; part < parts; ++part) { first[part] = first[part - 1] + size[part - 1]; }
    bool const ends = setting.model.operators.empty();
    for (int stage = 0; stage < shape.stages; ++stage) {
        for (int chunk = 0; chunk < shape.chunks; ++chunk) {
            auto const part = static_cast<std::size_t>(part_of(shape, result.layout, {stage, chunk}));
            result.chunks.push_back({.first_block = first[part],
                                     .blocks = size[part],
                                     .embedding = ends && part == 0,
                                     .head = ends && part == parts - 1});
        }
    }
    return result;
}

BlockOrder block_order(StepSetting const& setting, Strategy const& strategy) {
    BlockOrder order;
    Model const& model = setting.model;
    if (!model.operators.empty()) {
        order.variants = operator_variants(model, order.variant_of);
        return order;
    }
    auto const kinds = block_kinds(model);
    int const blocks = static_cast<int>(kinds.size());
    int const trained =
        strategy.trained == Trained::last_layers ? std::min(strategy.trained_layers, blocks) : blocks;
    int const again = strategy.recompute == Recompute::none ? 0
                      : strategy.recompute_layers > 0       ? std::min(trained, strategy.recompute_layers)
                                                            : trained;
    for (int block = 0; block < blocks; ++block) {
        BlockVariant variant{.kind = kinds[static_cast<std::size_t>(block)]};
        int const nth = block - (blocks - trained); // of the trained ones
        if (nth < 0) {
            variant.training = BlockTraining::frozen;
        } else if (std::int64_t{nth + 1} * again / trained > std::int64_t{nth} * again / trained) {
            variant.training = BlockTraining::recomputed;
        }
        auto const known = std::ranges::find(order.variants, variant);
        order.variant_of.push_back(static_cast<std::size_t>(known - order.variants.begin()));
        if (known == order.variants.end()) { order.variants.push_back(variant); }
    }
    return order;
}

} // namespace headroom::simulation
