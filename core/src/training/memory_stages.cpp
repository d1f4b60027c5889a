#include "memory_terms.hpp"

#include <algorithm>

namespace headroom::training {
StageContent stage_content(StepSetting const& setting, Strategy const& strategy, int stage, int micro_batches) {
    int const p = strategy.pp;
    double const own = layers_of_stage(setting.model, p, stage);
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
