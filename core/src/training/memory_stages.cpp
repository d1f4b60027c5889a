#include "memory_terms.hpp"

#include <algorithm>

namespace headroom::training {
namespace {

/// Blocks of a stage: of those that the framework fills from the first on, else as even as they come.
double blocks_of(StepSetting const& setting, int stages, int stage) {
    Model const& model = setting.model;
    bool const fills = setting.framework.fills_stages && setting.sums.empty() && !states_stages(model, stages);
    if (!fills) { return layers_of_stage(model, stages, stage); }
    int const layers = depth_of(model), each = (layers + stages - 1) / stages;
    return std::clamp(layers - stage * each, 0, each);
}

} // namespace

StageContent stage_content(StepSetting const& setting, Strategy const& strategy, int stage, int micro_batches) {
    int const p = strategy.pp;
    double const own = blocks_of(setting, p, stage);
    StageContent content{.share = {.blocks = own, .first = stage == 0, .last = stage == p - 1}, .depth = own};
    if (!setting.sums.empty()) { content.unlike = blocks_held(setting, strategy, stage); }
    if (p == 1) { return content; }
    auto const& row = schedule_row(strategy.schedule());
    if (row.versions != nullptr) {
        int const chunks = row.chunks > 0 ? row.chunks : strategy.virtual_pp;
        content.versions = row.versions({.stages = p, .chunks = chunks, .micro_batches = micro_batches}, stage);
    }
    auto const layout = row.layout;
    if (layout == ChunkLayout::v) { content.share.last = stage == 0; }
    if (layout == ChunkLayout::bidirectional) {
        double const mirrored = layers_of_stage(setting.model, p, p - 1 - stage);
        bool const end = stage == 0 || stage == p - 1;
        content.share = {.blocks = own + mirrored, .first = end, .last = end};
        content.depth = std::max(own, mirrored);
        content.copies = row.weight_copies;
    }
    return content;
}

} // namespace headroom::training
