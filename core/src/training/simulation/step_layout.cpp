#include "step_layout.hpp"

#include "training/stage.hpp"

#include <algorithm>

namespace headroom::training::simulation {
namespace {

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

StepLayout step_layout(StepSetting const& setting, Strategy const& strategy) {
    StepLayout result{.shape = pipeline_shape(strategy, setting.workload),
                      .layout = schedule_row(strategy.schedule()).layout,
                      .chunks = {}};
    auto const& shape = result.shape;
    int blocks = depth_of(setting.model);
    if (!setting.model.operators.empty()) {
        blocks = 0;
        for (auto const& one : setting.model.operators) { blocks += one.repeats; }
    }
    auto const size = setting.model.operators.empty() ? blocks_of_parts(setting.model, shape, result.layout)
                                                      : blocks_of_parts(blocks, shape, result.layout);
    auto const parts = size.size();
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
    int const trained = strategy.trained == Trained::last_layers ? std::min(strategy.trained_layers, blocks) : blocks;
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

} // namespace headroom::training::simulation
