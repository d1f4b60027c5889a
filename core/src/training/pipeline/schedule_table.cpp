#include "schedules/schedules.hpp"

#include "headroom/training/pipeline.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

namespace headroom::training {
namespace {

using namespace schedules;

constexpr int most_chunks_of_byte = 255; // `Pass::chunk` has a byte

/// Number of passes of one micro-batch on one stage.
std::int64_t passes_of(ScheduleRow const& row, PipelineShape const& shape) {
    int const chunks = row.layout == ChunkLayout::bidirectional ? 1 : shape.chunks;
    return std::int64_t{chunks} * (row.splits_backward ? 3 : 2);
}

constexpr std::array<ScheduleRow, pipeline_schedule_count> all_schedules{{
    {.id = PipelineSchedule::one_f_one_b,
     .name = "1f1b",
     .title = "1F1B",
     .source = "Narayanan2021",
     .order = one_f_one_b_order,
     .bubble = {1.0, 1.0, 1.0},
     .held = one_f_one_b_held},
    {.id = PipelineSchedule::interleaved,
     .name = "interleaved",
     .title = "interleaved 1F1B",
     .source = "Narayanan2021",
     .chunks = 0,
     .impossible = interleaved_impossible,
     .order = interleaved_order,
     .bubble = {1.0, 1.0, 1.0},
     .held = interleaved_held},
    {.id = PipelineSchedule::gpipe,
     .name = "gpipe",
     .title = "GPipe",
     .source = "Huang2019",
     .order = gpipe_order,
     .bubble = {1.0, 1.0, 1.0},
     .held = gpipe_held},
    {.id = PipelineSchedule::zb_h1,
     .name = "zb-h1",
     .title = "ZB-H1",
     .source = "Qi2024",
     .splits_backward = true,
     .order = zb_h1_order,
     .bubble = {1.0, 1.0, -1.0},
     .held = zb_h1_held},
    {.id = PipelineSchedule::zb_2p,
     .name = "zb-2p",
     .title = "ZB-2P",
     .source = "Qi2024",
     .splits_backward = true,
     .validates_late = true,
     .order = zb_2p_order,
     .bubble = {1.0, 1.0, -2.0},
     .held = zb_2p_held},
    {.id = PipelineSchedule::zbv,
     .name = "zbv",
     .title = "ZBV",
     .source = "Qi2024",
     .layout = ChunkLayout::v,
     .chunks = 2,
     .splits_backward = true,
     .validates_late = true,
     .order = zbv_order,
     .bubble = {0.0, 1.0, -1.0},
     .held = zbv_held},
    {.id = PipelineSchedule::v_half,
     .name = "v-half",
     .title = "V-Half",
     .source = "Qi2024b",
     .layout = ChunkLayout::v,
     .chunks = 2,
     .splits_backward = true,
     .validates_late = true,
     .order = v_half_order,
     .bubble = {0.5, 0.5, 0.5},
     .drift = {-1.0, 1.0, -1.0},
     .held = v_half_held},
    {.id = PipelineSchedule::v_min,
     .name = "v-min",
     .title = "V-Min",
     .source = "Qi2024b",
     .layout = ChunkLayout::v,
     .chunks = 2,
     .splits_backward = true,
     .validates_late = true,
     .order = v_min_order,
     .bubble = {2.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0},
     .drift = {-1.0, 2.0, -1.0},
     .held = v_min_held},
    {.id = PipelineSchedule::dualpipe,
     .name = "dualpipe",
     .title = "DualPipe",
     .source = "DualPipe",
     .layout = ChunkLayout::bidirectional,
     .chunks = 2,
     .splits_backward = true,
     .weight_copies = 2.0,
     .impossible = dualpipe_impossible,
     .order = dualpipe_order,
     .bubble = {1.0, 0.5, -0.5},
     .held = dualpipe_held},
    {.id = PipelineSchedule::dualpipe_v,
     .name = "dualpipe-v",
     .title = "DualPipeV",
     .source = "DualPipe",
     .layout = ChunkLayout::v,
     .chunks = 2,
     .splits_backward = true,
     .impossible = dualpipe_v_impossible,
     .order = dualpipe_v_order,
     .bubble = {1.0, 0.5, -0.5},
     .held = dualpipe_v_held},
    {.id = PipelineSchedule::pipedream,
     .name = "pipedream",
     .title = "PipeDream",
     .source = "Harlap2018",
     .asynchronous = true,
     .order = pipedream_order,
     .held = pipedream_held,
     .versions = pipedream_versions,
     .staleness = pipedream_staleness},
}};

constexpr bool is_in_order() {
    for (std::size_t i = 0; i < all_schedules.size(); ++i) {
        if (static_cast<std::size_t>(all_schedules[i].id) != i) { return false; }
    }
    return true;
}
static_assert(is_in_order()); // `schedule_row` looks up by number

std::string wrong_chunks(ScheduleRow const& row, int chunks) {
    std::string const title{row.title};
    if (row.chunks == 0 && chunks < 2) { return title + " needs two or more chunks a stage"; }
    if (row.chunks > 0 && chunks != row.chunks) {
        return title + " has " + (row.chunks == 1 ? "one chunk" : "two chunks") + " a stage, not " +
               std::to_string(chunks);
    }
    if (chunks > most_chunks_of_byte) {
        return "more than " + std::to_string(most_chunks_of_byte) + " chunks a stage are not unrolled";
    }
    return {};
}

std::string too_many_passes(ScheduleRow const& row, PipelineShape const& shape) {
    // at most 2^31 micro-batches of 765 passes fit; times stages they may not
    std::int64_t const of_a_stage = passes_of(row, shape) * shape.micro_batches;
    if (of_a_stage <= most_passes / shape.stages) { return {}; }
    return std::to_string(shape.micro_batches) + " micro-batches on " + std::to_string(shape.stages) +
           " stages are more than " + std::to_string(most_passes) + " passes, too many to unroll";
}

} // namespace

std::span<ScheduleRow const> pipeline_schedules() { return all_schedules; }

ScheduleRow const& schedule_row(PipelineSchedule id) { return all_schedules.at(static_cast<std::size_t>(id)); }

std::string_view name_of(PipelineSchedule id) { return schedule_row(id).name; }

std::optional<PipelineSchedule> schedule_from(std::string_view name) {
    auto const row = std::ranges::find(all_schedules, name, &ScheduleRow::name);
    return row == all_schedules.end() ? std::nullopt : std::optional{row->id};
}

std::string impossible_because(PipelineSchedule id, PipelineShape const& shape) {
    if (shape.stages < 1 || shape.chunks < 1 || shape.micro_batches < 1) {
        return "a pipeline has at least one stage, one chunk and one micro-batch";
    }
    ScheduleRow const& row = schedule_row(id);
    if (auto why = wrong_chunks(row, shape.chunks); !why.empty()) { return why; }
    if (auto why = too_many_passes(row, shape); !why.empty()) {
        return why;
    } // first: what follows may count stages twice
    return row.impossible == nullptr ? std::string{} : row.impossible(shape);
}

} // namespace headroom::training
