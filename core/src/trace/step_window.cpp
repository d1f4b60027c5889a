#include "trace/step_window.hpp"

#include <algorithm>
#include <tuple>

namespace headroom::trace::path {
namespace {

/// Contents of a lane in the window.
struct LaneUse {
    std::size_t host = 0, calls = 0, transfers = 0;
    bool holds_step = false; ///< the annotation of the step is on it
};

bool inside(RankTrace const& trace, std::uint32_t span, Ticks begin, Ticks end) {
    Ticks const from = trace.timeline.begin[span], to = trace.timeline.end[span];
    return from < end && (to > begin || from >= begin);
}

std::vector<LaneUse> lane_uses(RankTrace const& trace, TraceStep const& step) {
    std::vector<LaneUse> uses(trace.lanes.size());
    for (std::uint32_t i = 0; i < trace.size(); ++i) {
        auto const lane = trace.timeline.lane[i];
        if (trace.lanes[lane].device || !inside(trace, i, step.begin, step.end)) { continue; }
        auto& use = uses[lane];
        auto const kind = trace.kind[i];
        use.calls += calls_device(kind) ? 1 : 0;
        use.host += kind == SpanKind::host ? 1 : 0;
        use.transfers += kind == SpanKind::communication ? 1 : 0;
        if (kind == SpanKind::annotation && trace.timeline.begin[i] == step.begin &&
            trace.timeline.end[i] == step.end) {
            use.holds_step = true;
        }
    }
    return uses;
}

std::uint32_t main_lane(std::vector<LaneUse> const& uses) {
    std::uint32_t best = none;
    auto const rank = [&](std::uint32_t lane) {
        return std::tuple(uses[lane].holds_step, uses[lane].calls + uses[lane].host);
    };
    for (std::uint32_t lane = 0; lane < uses.size(); ++lane) {
        if (uses[lane].calls + uses[lane].host == 0) { continue; }
        if (best == none || rank(lane) > rank(best)) { best = lane; }
    }
    return best;
}

/// Threads of gloo and alike: what they do is a transfer, whatever small operators lie in it.
bool only_transfers(LaneUse const& use) { return use.transfers > 0 && use.calls == 0 && use.host <= 4 * use.transfers; }

/// Work that could be of the step, not clipped yet.
struct Candidates {
    std::vector<LaneWork> work;
    Ticks own_end = 0, earlier_end = 0; ///< last end of what the step started, and of what was started before it
};

/// Whether work had ended before the step began: such work is no part of it, whoever launched it.
bool is_past(TraceStep const& step, LaneWork const& piece) {
    return piece.end <= step.begin && piece.begin < step.begin;
}

void add_candidate(RankTrace const& trace, TraceStep const& step, LaneWork piece, Candidates& found) {
    bool const known = piece.caller != none;
    Ticks const started = known ? trace.timeline.begin[piece.caller] : piece.begin;
    if (started >= step.end) { return; }
    piece.launched = known ? started : std::min(step.begin, piece.begin);
    auto& end = started < step.begin ? found.earlier_end : found.own_end;
    end = std::max(end, piece.end);
    found.work.push_back(piece);
}

/// The end of the host's part of a step. A step that is a whole file, or a period of the device, may have device work
/// after the last interval of any thread: the host is done then.
Ticks host_end(RankTrace const& trace, TraceStep const& step, std::vector<LaneUse> const& uses,
               Candidates const& found) {
    if (std::any_of(uses.begin(), uses.end(), [](LaneUse const& use) { return use.holds_step; })) { return step.end; }
    Ticks host = step.begin, device = step.begin;
    bool recorded = false;
    for (std::uint32_t i = 0; i < trace.size(); ++i) {
        if (trace.lanes[trace.timeline.lane[i]].device) { continue; }
        recorded = true;
        host = std::max(host, trace.timeline.end[i]);
    }
    for (auto const& piece : found.work) { device = std::max(device, piece.end); }
    return recorded && host < std::min(device, step.end) ? host : step.end;
}

Candidates candidates(RankTrace const& trace, TraceStep const& step, Launches const& launches,
                      std::vector<LaneUse> const& uses, std::uint32_t main) {
    Candidates found;
    Launches::Walk caller_of(launches);
    found.own_end = step.end;
    found.earlier_end = step.begin;
    for (std::uint32_t i = 0; i < trace.size(); ++i) {
        auto const lane = trace.timeline.lane[i];
        bool const device = trace.lanes[lane].device;
        bool const transfer =
            !device && trace.kind[i] == SpanKind::communication && lane != main && only_transfers(uses[lane]);
        if (!transfer && !(device && occupies_device(trace.kind[i]))) { continue; }
        LaneWork piece{.span = i,
                       .lane = lane,
                       .begin = trace.timeline.begin[i],
                       .end = trace.timeline.end[i],
                       .transfer = transfer};
        if (is_past(step, piece)) { continue; }
        if (device) { piece.caller = caller_of[trace.correlation[i]]; }
        add_candidate(trace, step, piece, found);
    }
    return found;
}

/// Key for sorting work: distinguishable work comes in one order, whatever that of the input.
auto order_of(RankTrace const& trace, LaneWork const& work) {
    return std::tuple(work.begin, work.end, trace.timeline.name[work.span], work.span);
}

void place_work(RankTrace const& trace, std::vector<LaneWork> const& found, StepWindow& window) {
    std::vector<std::uint32_t> slot(trace.lanes.size(), none);
    for (auto piece : found) {
        piece.begin = std::max(piece.begin, window.begin);
        piece.end = std::clamp(piece.end, piece.begin, std::max(window.end, piece.begin));
        if (piece.begin >= window.end) { continue; }
        if (slot[piece.lane] == none) {
            slot[piece.lane] = static_cast<std::uint32_t>(window.work_lanes.size());
            window.work_lanes.push_back(piece.lane);
        }
        window.without_launch += piece.caller == none && !piece.transfer ? 1 : 0;
    }
    std::sort(window.work_lanes.begin(), window.work_lanes.end());
    for (std::uint32_t i = 0; i < window.work_lanes.size(); ++i) { slot[window.work_lanes[i]] = i; }
    window.work.resize(window.work_lanes.size());
    for (auto piece : found) {
        piece.begin = std::max(piece.begin, window.begin);
        piece.end = std::clamp(piece.end, piece.begin, std::max(window.end, piece.begin));
        if (piece.begin < window.end) { window.work[slot[piece.lane]].push_back(piece); }
    }
    auto const earlier = [&](LaneWork const& a, LaneWork const& b) { return order_of(trace, a) < order_of(trace, b); };
    for (auto& lane : window.work) {
        if (!std::is_sorted(lane.begin(), lane.end(), earlier)) { std::sort(lane.begin(), lane.end(), earlier); }
    }
}

void place_host(RankTrace const& trace, std::vector<LaneUse> const& uses, StepWindow& window) {
    std::vector<std::uint32_t> slot(trace.lanes.size(), none);
    auto const add_lane = [&](std::uint32_t lane) {
        slot[lane] = static_cast<std::uint32_t>(window.host_lanes.size());
        window.host_lanes.push_back(lane);
    };
    if (window.main_lane != none) { add_lane(window.main_lane); }
    for (std::uint32_t lane = 0; lane < uses.size(); ++lane) {
        bool const busy = uses[lane].calls + uses[lane].host + uses[lane].transfers > 0;
        if (busy && lane != window.main_lane && !only_transfers(uses[lane])) { add_lane(lane); }
    }
    window.spans.resize(window.host_lanes.size());
    for (std::uint32_t i = 0; i < trace.size(); ++i) {
        auto const place = slot[trace.timeline.lane[i]];
        auto const kind = trace.kind[i];
        bool const runs = calls_device(kind) || kind == SpanKind::host || kind == SpanKind::communication;
        if (place != none && runs && inside(trace, i, window.begin, window.host_end)) {
            window.spans[place].push_back(i);
        }
    }
    auto const key = [&](std::uint32_t i) {
        return std::tuple(trace.timeline.begin[i], -trace.timeline.end[i], trace.timeline.name[i], i);
    };
    auto const earlier = [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); };
    for (auto& lane : window.spans) { // operators and calls come in runs of their own
        if (!std::is_sorted(lane.begin(), lane.end(), earlier)) { std::stable_sort(lane.begin(), lane.end(), earlier); }
    }
}

} // namespace

StepWindow step_window(RankTrace const& trace, TraceStep const& step, Launches const& launches) {
    auto const uses = lane_uses(trace, step);
    StepWindow window;
    window.begin = step.begin;
    window.main_lane = main_lane(uses);
    auto const found = candidates(trace, step, launches, uses, window.main_lane);
    window.host_end = host_end(trace, step, uses, found);
    window.end = step.end;
    Ticks const behind_before = found.earlier_end - step.begin, behind_after = found.own_end - step.end;
    window.end += std::max(Ticks{0}, behind_after - behind_before);
    place_work(trace, found.work, window);
    place_host(trace, uses, window);
    return window;
}

} // namespace headroom::trace::path
