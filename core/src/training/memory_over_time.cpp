#include "memory_terms.hpp"

#include <algorithm>
#include <map>

namespace headroom::training {
namespace {

/// Change of a stage's memory at one time, by a pass that begins or ends.
struct Change {
    int chunks = 0;   ///< activations held
    int heads = 0;    ///< micro-batches whose logits are held
    int backward = 0; ///< passes under way
};

/// CurveChanges by time; at one time ends come before begins, because a stage runs one pass after another.
struct CurveChanges {
    std::map<Ticks, Change> ends, begins;
};

void add_pass(CurveChanges& changes, Pass const& pass, Ticks begin, Ticks end, bool has_head) {
    int const head = has_head ? 1 : 0;
    if (pass.kind == PassKind::forward) {
        changes.begins[begin].chunks += 1;
        changes.begins[begin].heads += head;
        return;
    }
    changes.begins[begin].backward += 1;
    changes.ends[end].backward -= 1;
    if (pass.kind != PassKind::input_gradient) { changes.ends[end].chunks -= 1; }
    if (pass.kind != PassKind::weight_gradient) { changes.ends[end].heads -= head; }
}

CurveChanges changes_of(PipelineOrder const& order, PipelineTimes const& times, PipelineRun const& run, int stage) {
    CurveChanges changes;
    auto const s = static_cast<std::size_t>(stage);
    Ticks free = 0; // two passes that run as one begin together and are through one after the other
    for (std::size_t i = order.first[s]; i < order.first[s + 1]; ++i) {
        Pass const& pass = order.passes[i];
        auto const place = s * static_cast<std::size_t>(order.shape.chunks) + pass.chunk;
        bool const head = !next_place(order.shape, order.layout, {.stage = stage, .chunk = pass.chunk}).has_value();
        Ticks const begin = std::max(run.begin[i], free);
        free = begin + times.passes[place].of(pass.kind);
        add_pass(changes, pass, begin, free, head);
    }
    return changes;
}

/// Memory of one stage over time, by the chunks whose activations it holds.
struct StageOverTime {
    Strategy const& strategy;
    StageTerms const& of;
    StageContent content;
    MemoryUse use;
    double depth_of_chunk = 1.0; ///< of a stage's depth

    [[nodiscard]] Bytes level(Change const& now) const {
        Bytes bytes = use.state() + use.buffers;
        bytes += Bytes{kept_bytes(strategy, of, content, now.chunks * depth_of_chunk)};
        if (now.backward > 0) { bytes += use.temporaries; }
        double const heads = heads_in_flight(strategy, of.micro_batches);
        return bytes + (use.logits + Bytes{of.kept.block.ahead * heads}) * (std::min<double>(now.heads, heads) / heads);
    }
};

StageMemoryCurve curve_of(StageOverTime const& terms, CurveChanges const& changes) {
    StageMemoryCurve curve;
    curve.base = curve.peak = terms.level({});
    Change now;
    auto const apply = [&now](Change const& change) {
        now.chunks += change.chunks;
        now.heads += change.heads;
        now.backward += change.backward;
    };
    auto end = changes.ends.begin();
    auto begin = changes.begins.begin();
    while (end != changes.ends.end() || begin != changes.begins.end()) {
        bool const more = end != changes.ends.end();
        Ticks const at = begin == changes.begins.end() ? end->first
                         : more                        ? std::min(end->first, begin->first)
                                                       : begin->first;
        if (more && end->first == at) { apply((end++)->second); }
        if (begin != changes.begins.end() && begin->first == at) { apply((begin++)->second); }
        Bytes const level = terms.level(now);
        curve.times.push_back(at);
        curve.level.push_back(level);
        curve.peak = std::max(curve.peak, level);
    }
    return curve;
}

} // namespace

std::vector<StageMemoryCurve> memory_over_time(StepSetting const& setting, Strategy const& strategy,
                                               PipelineOrder const& order, PipelineTimes const& times,
                                               PipelineRun const& run) {
    auto const of = stage_terms(setting, strategy);
    bool const timed = run.begin.size() == order.passes.size();
    double const depth = order.layout == ChunkLayout::bidirectional ? 1.0 : 1.0 / order.shape.chunks;
    std::vector<StageMemoryCurve> curves;
    for (int stage = 0; stage < order.shape.stages; ++stage) {
        StageOverTime const terms{.strategy = strategy,
                                  .of = of,
                                  .content = stage_content(setting, strategy, stage, of.micro_batches),
                                  .use = stage_memory(setting, strategy, of, stage),
                                  .depth_of_chunk = depth};
        curves.push_back(curve_of(terms, timed ? changes_of(order, times, run, stage) : CurveChanges{}));
    }
    return curves;
}

} // namespace headroom::training
