#include "memory_terms.hpp"

#include <algorithm>

namespace headroom::training {
namespace {

/// Blocks of part i of p: the ends as `stage_layers` has them, the rest shared out among those between, the first of which
/// have one more where it does not come out even.
double part_layers(int layers, int parts, int part) {
    if (parts == 1) { return layers; }
    int const first = stage_layers(layers, parts, StagePlace::first);
    int const last = stage_layers(layers, parts, StagePlace::last);
    if (part == 0) { return first; }
    if (part == parts - 1) { return last; }
    int const rest = layers - first - last, between = parts - 2;
    int const least = rest / between, one_more = rest % between;
    return part - 1 < one_more ? least + 1 : least;
}

} // namespace

StageContent stage_content(StepSetting const& setting, Strategy const& strategy, int stage, int micro_batches) {
    int const p = strategy.pp, layers = depth_of(setting.model);
    double const own = part_layers(layers, p, stage);
    StageContent content{.share = {.blocks = own, .first = stage == 0, .last = stage == p - 1}, .depth = own};
    if (p == 1) { return content; }
    auto const& row = schedule_row(strategy.schedule());
    if (row.versions != nullptr) {
        int const chunks = row.chunks > 0 ? row.chunks : strategy.virtual_pp;
        content.versions = row.versions({.stages = p, .chunks = chunks, .micro_batches = micro_batches}, stage);
    }
    auto const layout = row.layout;
    if (layout == ChunkLayout::v) { content.share.last = stage == 0; }
    if (layout == ChunkLayout::bidirectional) {
        double const mirrored = part_layers(layers, p, p - 1 - stage);
        bool const end = stage == 0 || stage == p - 1;
        content.share = {.blocks = own + mirrored, .first = end, .last = end};
        content.depth = std::max(own, mirrored);
        content.copies = row.weight_copies;
    }
    return content;
}

} // namespace headroom::training
