#include "headroom/training/pipeline.hpp"

namespace headroom::training {
namespace {

/// One stage down the pipeline (+1) or up (-1); empty past its ends.
std::optional<ChunkPlace> beside(PipelineShape const& shape, ChunkPlace place, int step) {
    int const stage = place.stage + step;
    if (stage < 0 || stage >= shape.stages) { return std::nullopt; }
    return ChunkPlace{stage, place.chunk};
}

/// Chunk 1 of a V and of the second direction goes from the last stage to the first.
bool goes_up(ChunkLayout layout, int chunk) { return layout != ChunkLayout::loop && chunk == 1; }

/// Where the model goes on (+1) or came from (-1) when a chunk has reached the end of the stages.
std::optional<ChunkPlace> round_the_end(PipelineShape const& shape, ChunkLayout layout, ChunkPlace place, int step) {
    int const chunk = place.chunk + step;
    if (layout == ChunkLayout::bidirectional || chunk < 0 || chunk >= shape.chunks) { return std::nullopt; }
    if (layout == ChunkLayout::v) { return ChunkPlace{place.stage, chunk}; }
    return ChunkPlace{step > 0 ? 0 : shape.stages - 1, chunk};
}

std::optional<ChunkPlace> neighbour(PipelineShape const& shape, ChunkLayout layout, ChunkPlace place, int step) {
    auto const next = beside(shape, place, goes_up(layout, place.chunk) ? -step : step);
    return next ? next : round_the_end(shape, layout, place, step);
}

} // namespace

std::optional<ChunkPlace> next_place(PipelineShape const& shape, ChunkLayout layout, ChunkPlace place) {
    return neighbour(shape, layout, place, 1);
}

std::optional<ChunkPlace> previous_place(PipelineShape const& shape, ChunkLayout layout, ChunkPlace place) {
    return neighbour(shape, layout, place, -1);
}

} // namespace headroom::training
