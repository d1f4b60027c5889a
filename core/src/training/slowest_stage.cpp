#include "slowest_stage.hpp"

#include "traffic.hpp"

#include "headroom/training/pipeline.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace headroom::training {
namespace {

/// What a stage holds: blocks, and shares of the ends of the model.
struct StageParts {
    StagePlace place = StagePlace::middle;
    double layers = 0.0, embedding = 0.0, head = 0.0;
};

/// What the blocks of a stage take for one micro-batch.
struct StageBlocks {
    double work = 0.0;    ///< in mean blocks
    double forward = 0.0; ///< of it
    void operator+=(StageBlocks const& other) {
        work += other.work;
        forward += other.forward;
    }
};

/// Of neighbouring blocks, where blocks differ; of blocks of one kind one is priced.
class BlockWork {
public:
    BlockWork(LayerCosts const& costs, Seconds mean) : costs_{costs}, mean_{mean} {}

    StageBlocks between(std::size_t first, std::size_t end) {
        auto const blocks = static_cast<double>(end - first);
        if (mean_.base() <= 0.0 || end == first) { return {.work = blocks, .forward = 0.0}; }
        std::size_t const alike = costs_.until[end].alike;
        if (alike > first) { return priced(first, end); }
        if (priced_ != alike + 1) {
            priced_ = alike + 1;
            one_ = priced(alike, alike + 1);
        }
        return {.work = blocks * one_.work, .forward = blocks * one_.forward};
    }
    [[nodiscard]] StageBlocks priced(std::size_t first, std::size_t end) const {
        auto const passes = costs_.passes_between(first, end);
        return {.work = passes.total() / mean_, .forward = passes.forward / mean_};
    }

private:
    LayerCosts const& costs_;
    Seconds mean_;
    std::size_t priced_ = 0; ///< end of the block that was priced last
    StageBlocks one_;        ///< what it came to
};

/// Of every stage, where blocks differ.
std::vector<StageBlocks> blocks_of_stages(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs,
                                          Seconds block) {
    auto const shape = pipeline_shape(strategy, setting.workload);
    auto const layout = schedule_row(strategy.schedule()).layout;
    bool const two = layout == ChunkLayout::bidirectional;
    auto const size = blocks_of_parts(depth_of(setting.model), shape, layout);
    auto const count = static_cast<std::size_t>(shape.stages);
    double const share = two ? 0.5 : 1.0; // half of the micro-batches each way
    std::vector<StageBlocks> stages(count);
    BlockWork blocks{costs, block};
    std::size_t end = 0;
    auto part = size.begin();
    for (int chunk = 0; part != size.end(); ++chunk) {
        bool const returns = layout == ChunkLayout::v && chunk == 1;
        for (std::size_t turn = 0; turn < count; ++turn, ++part) {
            std::size_t const first = std::exchange(end, end + static_cast<std::size_t>(*part));
            auto const all = blocks.between(first, end);
            StageBlocks const held{.work = share * all.work, .forward = share * all.forward};
            stages[returns ? count - 1 - turn : turn] += held;
            if (two) { stages[count - 1 - turn] += held; }
        }
    }
    return stages;
}

/// Joins neighbours that take equally long; then, while there are more groups than 1F1B is timed by, those that differ
/// least, at their mean.
void join_alike(std::vector<EqualStages>& groups, StageGroups& joined) {
    while (groups.size() > static_cast<std::size_t>(most_stage_groups)) {
        auto const apart = [&groups](std::size_t i) { return std::abs(groups[i].time - groups[i + 1].time); };
        std::size_t closest = 0;
        for (std::size_t i = 1; i + 1 < groups.size(); ++i) {
            if (apart(i) < apart(closest)) { closest = i; }
        }
        auto& one = groups[closest];
        auto const& next = groups[closest + 1];
        auto const mean = [&](double of_one, double of_next) {
            return (of_one * one.count + of_next * next.count) / (one.count + next.count);
        };
        one.time = mean(one.time, next.time);
        one.forward = mean(one.forward, next.forward);
        one.count += next.count;
        groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(closest) + 1);
    }
    for (EqualStages const& group : groups) { joined.add(group); }
}

/// Adds a stage to the last group where it takes as long, but for the rounding of sums over blocks.
void add_stage(std::vector<EqualStages>& groups, EqualStages const& stage) {
    auto const equal = [](double a, double b) { return std::abs(a - b) <= 1e-9 * b; };
    bool const alike =
        !groups.empty() && equal(groups.back().time, stage.time) && equal(groups.back().forward, stage.forward);
    if (alike) {
        ++groups.back().count;
    } else {
        groups.push_back(stage);
    }
}

/// Stages of equal blocks: the last of those in the middle have one block less where there are too few for all.
void add_stages_of_equal_blocks(StageGroups& groups, StageParts const& first, StageParts const& middle,
                                StageParts const& last, int stages, int layers, auto of_stage) {
    groups.add(of_stage(first, 1));
    int const between = stages - 2;
    double const missing = middle.layers * between + first.layers + last.layers - layers;
    int const fewer = std::clamp(static_cast<int>(missing), 0, std::max(0, between));
    StageParts const with_fewer{.layers = middle.layers - 1.0};
    groups.add(of_stage(middle, between - fewer));
    groups.add(of_stage(with_fewer, fewer));
    groups.add(of_stage(last, 1));
}

Seconds ahead_of(Seconds end, PassCost const& block, double blocks, bool reads) {
    Seconds const behind = blocks * (block.host - block.chip);
    if (behind.base() <= 0.0) { return Seconds{}; }
    return std::min({end, behind, reads ? block.host : behind});
}

/// Of blocks that the ends share a pass with; without a pipeline both passes of the head are before the same backward pass.
EndsAhead ends_ahead(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs, double first,
                     double last) {
    if (costs.block.host.base() <= 0.0 || !host_waits(setting.model, strategy)) { return {}; }
    bool const reads = setting.model.moe.experts > 0;
    Seconds const head = strategy.pp > 1 ? costs.head.total() - costs.head.forward() : costs.head.total();
    return {.embedding = ahead_of(costs.embedding.forward(), costs.block.forward_pass(), first, reads),
            .head = ahead_of(head, costs.block.backward_pass(), last, reads)};
}

} // namespace

SlowestStage slowest_stage(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs) {
    return stage_at(setting, strategy, costs, StagePlace::whole);
}

SlowestStage stage_at(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs, StagePlace where) {
    int const layers = depth_of(setting.model);
    if (strategy.pp == 1) {
        return {.place = StagePlace::whole,
                .layers = layers * 1.0,
                .embedding = 1.0,
                .head = 1.0,
                .ahead = ends_ahead(setting, strategy, costs, layers, layers)};
    }
    Seconds const block = costs.block.total(), embedding = costs.embedding.total(), head = costs.head.total();
    auto const layout = schedule_row(strategy.schedule()).layout;
    auto const held = [&](StagePlace place) { return stage_layers(layers, strategy.pp, place) * 1.0; };
    StageParts first{.place = StagePlace::first, .layers = held(StagePlace::first), .embedding = 1.0};
    StageParts last{.place = StagePlace::last, .layers = held(StagePlace::last), .head = 1.0};
    StageParts middle{.place = StagePlace::middle, .layers = held(StagePlace::middle)};
    if (layout == ChunkLayout::v) { std::swap(first.head, last.head); } // the V ends where it began
    if (layout == ChunkLayout::bidirectional) {
        first.layers = last.layers = (first.layers + last.layers) / 2.0;
        first.embedding = first.head = last.embedding = last.head = 0.5;
    }
    int heaviest = 1;                 // of those in the middle
    std::vector<StageBlocks> held_by; // every stage, where blocks differ
    if (!costs.until.empty()) {
        held_by = blocks_of_stages(setting, strategy, costs, block);
        first.layers = held_by.front().work;
        last.layers = held_by.back().work;
        for (std::size_t s = 1; s + 1 < held_by.size(); ++s) {
            if (s == 1 || held_by[s].work > middle.layers) {
                middle.layers = held_by[s].work, heaviest = static_cast<int>(s);
            }
        }
    }
    double const chunks =
        layout == ChunkLayout::bidirectional ? 1.0 : pipeline_shape(strategy, setting.workload).chunks;
    auto const ahead = ends_ahead(setting, strategy, costs, first.layers / chunks,
                                  (layout == ChunkLayout::v ? first.layers : last.layers) / chunks);
    auto const time = [&](StageParts const& stage) {
        return block * stage.layers + (embedding - ahead.embedding) * stage.embedding +
               (head - ahead.head) * stage.head;
    };
    StageParts const* most = &last;
    if (time(first) > time(*most)) { most = &first; }
    if (strategy.pp > 2 && time(middle) > time(*most)) { most = &middle; }
    if (where != StagePlace::whole) {
        most = where == StagePlace::first ? &first : where == StagePlace::last ? &last : &middle;
    }
    SlowestStage slowest{
        .place = most->place, .layers = most->layers, .embedding = most->embedding, .head = most->head};
    slowest.index = most == &first ? 0 : most == &last ? strategy.pp - 1 : heaviest;
    Seconds const block_forward = costs.block.forward(), embedding_forward = costs.embedding.forward(),
                  head_forward = costs.head.forward();
    auto const of_stage = [&](StageParts const& stage, int count, std::optional<Seconds> blocks = std::nullopt) {
        Seconds const forward = blocks.value_or(block_forward * stage.layers) +
                                (embedding_forward - ahead.embedding) * stage.embedding + head_forward * stage.head;
        return EqualStages{.count = count, .time = time(stage).base(), .forward = forward.base()};
    };
    // others need the slowest alone
    bool const counts = strategy.schedule() == PipelineSchedule::one_f_one_b || runs_without_flush(strategy);
    if (counts && held_by.empty()) {
        add_stages_of_equal_blocks(slowest.stages, first, middle, last, strategy.pp, layers, of_stage);
    } else if (counts) {
        std::vector<EqualStages> groups;
        groups.reserve(held_by.size());
        for (std::size_t s = 0; s < held_by.size(); ++s) {
            StageParts stage = s == 0 ? first : s + 1 == held_by.size() ? last : middle;
            stage.layers = held_by[s].work;
            add_stage(groups, of_stage(stage, 1, block * held_by[s].forward));
        }
        join_alike(groups, slowest.stages);
    }
    slowest.block_time = block;
    slowest.model_layers = layers;
    slowest.embedding_time = embedding;
    slowest.head_time = head;
    slowest.ahead = ahead;
    return slowest;
}

} // namespace headroom::training
