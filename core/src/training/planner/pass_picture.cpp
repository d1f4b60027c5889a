#include "headroom/training/pass_picture.hpp"

#include "headroom/training/simulated_step.hpp"
#include "headroom/training/training_answers.hpp"

#include <utility>

namespace headroom::training {
namespace {

constexpr std::int64_t most_drawn = 1 << 18; ///< passes: 64 stages of 512 micro-batches, split and folded

} // namespace

PassPicture run_passes(PipelineSchedule schedule, PipelineShape const& shape, PipelineTimes times,
                       std::stop_token const& stop) {
    PassPicture picture{.schedule = schedule, .order = {}, .times = std::move(times), .run = {}};
    picture.order.shape = shape;
    ScheduleRow const& row = schedule_row(schedule);
    double const passes = 3.0 * shape.stages * shape.chunks * shape.micro_batches;
    picture.refused = impossible_because(schedule, shape);
    if (picture.drawn() && passes > 1.5 * static_cast<double>(most_drawn)) {
        picture.refused = "its " + format_count(passes * 2.0 / 3.0) + " passes are too many to be drawn";
    }
    if (!picture.drawn()) { return picture; }
    if (row.order == nullptr) {
        picture.refused = "its rows are not known";
        return picture;
    }
    picture.order = row.order(shape);
    auto run = run_pipeline(picture.order, picture.times, true, stop);
    if (!run) {
        picture.refused = "its passes wait for each other";
    } else if (!run->complete) {
        picture.refused = "it was interrupted";
    } else {
        picture.run = std::move(*run);
    }
    return picture;
}

PassPicture passes_of(Prediction const& prediction, CalibrationSet const& calibration, std::stop_token const& stop) {
    StepContext const context{prediction, calibration};
    Strategy const& strategy = prediction.question.strategy;
    return run_passes(strategy.schedule(), pipeline_shape(strategy, prediction.question.workload),
                      pipeline_times(context.setting(), strategy, prediction.costs), stop);
}

Ticks length_of(PassPicture const& picture, int stage, Pass const& pass) {
    auto const place = static_cast<std::size_t>(stage) * static_cast<std::size_t>(picture.order.shape.chunks);
    return picture.times.passes[place + pass.chunk].of(pass.kind);
}

Bubble bubble_of(PassPicture const& picture) {
    double before = 0.0, between = 0.0, after = 0.0;
    auto const makespan = static_cast<double>(picture.run.makespan);
    Bubble bubble;
    for (int stage = 0; stage < picture.order.shape.stages; ++stage) {
        auto const s = static_cast<std::size_t>(stage);
        auto const busy = static_cast<double>(picture.run.busy[s]), span = static_cast<double>(picture.run.span[s]);
        std::size_t const first = picture.order.first[s];
        bool const works = picture.order.first[s + 1] > first;
        double const begin = works ? static_cast<double>(picture.run.begin[first]) : 0.0;
        before += begin;
        between += span - busy;
        after += makespan - begin - span;
        bubble.share.push_back(makespan > 0.0 ? (makespan - busy) / makespan : 0.0);
    }
    auto const stages = static_cast<double>(picture.order.shape.stages);
    bubble.before = seconds_of_ticks(before / stages);
    bubble.between = seconds_of_ticks(between / stages);
    bubble.after = seconds_of_ticks(after / stages);
    return bubble;
}

std::string_view name_of(PassKind kind) {
    switch (kind) {
    case PassKind::forward: return "forward";
    case PassKind::backward: return "backward";
    case PassKind::input_gradient: return "input gradient";
    case PassKind::weight_gradient: return "weight gradient";
    }
    return "";
}

} // namespace headroom::training
