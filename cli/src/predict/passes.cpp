#include "predict/prediction_report.hpp"

#include "headroom/document/text.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace headroom::cli {
namespace {

constexpr double per_second = 1e12; ///< ticks are picoseconds

constexpr std::array<std::pair<PassKind, char>, 4> pass_kinds{{{PassKind::forward, 'F'},
                                                               {PassKind::backward, 'B'},
                                                               {PassKind::input_gradient, 'b'},
                                                               {PassKind::weight_gradient, 'W'}}};

/// Kinds that a schedule has, and the number of each among them.
struct UsedKinds {
    std::vector<GanttKind> kinds;
    std::array<std::size_t, pass_kinds.size()> number{};
};

UsedKinds used_kinds(PipelineOrder const& order) {
    UsedKinds used;
    for (std::size_t i = 0; i < pass_kinds.size(); ++i) {
        PassKind const kind = pass_kinds[i].first;
        if (std::ranges::none_of(order.passes, [kind](Pass const& pass) { return pass.kind == kind; })) { continue; }
        used.number[i] = used.kinds.size();
        used.kinds.push_back({std::string{name_of(kind)}, pass_kinds[i].second});
    }
    return used;
}

std::string part_words(std::string_view where, Seconds part, Seconds whole, TimeScale const& scale) {
    return significant(part.in(scale.unit)) + " " + scale.name + " (" + percent(part / whole) + " %) " +
           std::string{where};
}

std::string bubble_words(PassPicture const& picture, TimeScale const& scale) {
    Bubble const bubble = bubble_of(picture);
    Seconds const whole = seconds_of_ticks(static_cast<double>(picture.run.makespan));
    auto const [least, most] = std::ranges::minmax_element(bubble.share);
    auto const stage = [&bubble](auto const& it) { return std::to_string(it - bubble.share.begin()); };
    std::string text = "A stage idles " + significant(bubble.total().in(scale.unit)) + " " + scale.name + " of " +
                       significant(whole.in(scale.unit)) + " " + scale.name + " in the mean, " +
                       percent(bubble.total() / whole) +
                       " %: " + part_words("before its first pass", bubble.before, whole, scale) + ", " +
                       part_words("between passes", bubble.between, whole, scale) + ", " +
                       part_words("after its last", bubble.after, whole, scale) + ".";
    if (*most - *least > 0.005) {
        text += " Stage " + stage(most) + " idles most (" + percent(*most) + " %), stage " + stage(least) + " least (" +
                percent(*least) + " %)";
        text +=
            schedule_row(picture.schedule).asynchronous ? "." : ": the busiest, on which the step counts its bubble.";
    }
    return text;
}

/// Sentence on the parts of the step that a drawing of the passes leaves out.
std::string rest_words(PassPicture const& picture, Seconds step, TimeScale const& scale) {
    if (schedule_row(picture.schedule).asynchronous) {
        return " This is one step by itself: the next begins before it has drained, and fills its ends, so that from "
               "step to step it takes " +
               significant(step.in(scale.unit)) + " " + scale.name + ".";
    }
    bool const shorter = step < seconds_of_ticks(static_cast<double>(picture.run.makespan));
    if (shorter && schedule_row(picture.schedule).validates_late) {
        return " The step takes " + significant(step.in(scale.unit)) + " " + scale.name +
               ": a stage updates without waiting for the others, as the update is validated afterwards. It begins its "
               "next step when its last pass has ended.";
    }
    if (shorter) {
        return " The step is priced at " + significant(step.in(scale.unit)) + " " + scale.name +
               ", less than that: passes that wait for the CPU are drawn longer than they are.";
    }
    return " The end of the step of " + significant(step.in(scale.unit)) + " " + scale.name +
           " (gradient reduction, update, fixed time) is not drawn.";
}

void add_bars(Gantt& gantt, PassPicture const& picture, UsedKinds const& used, TimeScale const& scale) {
    double const tick = 1.0 / (per_second * scale.unit.base());
    for (int stage = 0; stage < picture.order.shape.stages; ++stage) {
        gantt.lanes.push_back("stage " + std::to_string(stage));
        std::size_t index = picture.order.first[static_cast<std::size_t>(stage)];
        for (Pass const& pass : picture.order.row(stage)) {
            auto const begin = static_cast<double>(picture.run.begin[index++]);
            auto const length = static_cast<double>(length_of(picture, stage, pass));
            gantt.bars.push_back({.lane = static_cast<std::size_t>(stage),
                                  .kind = used.number[static_cast<std::size_t>(pass.kind)],
                                  .begin = tick * begin,
                                  .end = tick * (begin + length),
                                  .label = std::to_string(pass.micro_batch),
                                  .tone = pass.chunk});
        }
    }
}

std::string picture_title(PassPicture const& picture) {
    PipelineShape const& shape = picture.order.shape;
    std::string const chunks = shape.chunks > 1 ? ", " + std::to_string(shape.chunks) + " chunks each" : "";
    return std::string{schedule_row(picture.schedule).title} + ": " +
           counted(static_cast<std::size_t>(shape.stages), "stage") + chunks + ", " +
           std::to_string(shape.micro_batches) + (shape.micro_batches == 1 ? " micro-batch" : " micro-batches");
}

} // namespace

std::vector<Block> schedule_drawing(PassPicture const& picture, Seconds step) {
    if (!picture.drawn()) {
        return {Paragraph{"not drawn: " + picture.refused + ".", std::string{schedule_row(picture.schedule).title}}};
    }
    Seconds const whole = seconds_of_ticks(static_cast<double>(picture.run.makespan));
    TimeScale const scale = scale_of(whole);
    UsedKinds const used = used_kinds(picture.order);
    Gantt gantt{.title = picture_title(picture),
                .caption = bubble_words(picture, scale) + rest_words(picture, step, scale),
                .unit = scale.name,
                .lanes = {},
                .kinds = used.kinds,
                .bars = {},
                .end = whole.in(scale.unit),
                .idle = "bubble",
                .label_name = "micro-batch",
                .tone_name = "chunk"};
    add_bars(gantt, picture, used, scale);
    return {std::move(gantt)};
}

} // namespace headroom::cli
