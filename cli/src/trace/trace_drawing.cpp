#include "trace/trace_report.hpp"

#include "headroom/document/gantt_pieces.hpp"
#include "headroom/document/text.hpp"
#include "headroom/trace/trace_clock.hpp"

#include <algorithm>
#include <array>

namespace headroom::cli {
namespace {

constexpr std::size_t ranks_with_host_lanes = 2;
constexpr std::array<char, span_kinds.size()> letters{'C', 'N', 'M', 'w', 'l', 's', 'h', 'a'};

struct DrawnSpan {
    Ticks begin = 0, end = 0;
    std::size_t kind = 0;
};

/// A row of the drawing: a lane of a rank, or all device lanes of it.
struct DrawnRow {
    std::size_t rank = 0; ///< of the answer
    std::optional<std::uint32_t> lane;
    std::string name;
};

/// Bars that do not overlap: at each moment the first kind under way, so that computation covers what it hides.
void add_bars(Gantt& gantt, std::size_t row, std::vector<DrawnSpan> const& spans, TimeUnit unit) {
    struct Change {
        Ticks at;
        std::size_t kind;
        int by;
    };
    std::vector<Change> changes;
    for (DrawnSpan const& span : spans) {
        if (span.end <= span.begin || span.end <= 0) { continue; }
        changes.push_back({std::max<Ticks>(0, span.begin), span.kind, 1});
        changes.push_back({span.end, span.kind, -1});
    }
    std::ranges::sort(changes, {}, &Change::at);
    std::array<int, span_kinds.size()> open{};
    std::size_t shown = open.size();
    Ticks since = 0;
    for (std::size_t i = 0; i < changes.size();) {
        Ticks const at = changes[i].at;
        for (; i < changes.size() && changes[i].at == at; ++i) { open[changes[i].kind] += changes[i].by; }
        auto const first = std::ranges::find_if(open, [](int count) { return count > 0; });
        auto const now = static_cast<std::size_t>(first - open.begin());
        if (now == shown) { continue; }
        if (shown < open.size()) {
            gantt.bars.push_back({row, shown, static_cast<double>(since) / unit.ns, static_cast<double>(at) / unit.ns});
        }
        shown = now;
        since = at;
    }
}

/// Lanes of a rank that did something on the device, or anything where `all`.
std::vector<std::uint32_t> lanes_of(StepGraph const& graph, bool all) {
    std::vector<bool> used(graph.lanes.size(), false);
    for (std::size_t task = 0; task < graph.cost.size(); ++task) {
        if (graph.cost[task] > 0 && (all || occupies_device(graph.kind[task]))) { used[graph.lane[task]] = true; }
    }
    std::vector<std::uint32_t> lanes;
    for (std::uint32_t lane = 0; lane < used.size(); ++lane) {
        if (used[lane]) { lanes.push_back(lane); }
    }
    return lanes;
}

std::vector<DrawnRow> rows_of(TraceAnswer const& answer, std::size_t most) {
    std::vector<std::size_t> with_graph;
    for (std::size_t i = 0; i < answer.ranks.size(); ++i) {
        if (answer.ranks[i].graph) { with_graph.push_back(i); }
    }
    bool const several = with_graph.size() > 1, all = with_graph.size() <= ranks_with_host_lanes;
    std::vector<DrawnRow> rows;
    for (std::size_t const i : with_graph) {
        RankDigest const& rank = answer.ranks[i];
        for (std::uint32_t const lane : lanes_of(*rank.graph, all || rank.breakdown.on_host)) {
            std::string const prefix = several ? "r" + std::to_string(rank.rank) + " " : std::string{};
            rows.push_back({i, lane, prefix + rank.graph->lanes[lane]});
        }
    }
    if (rows.size() <= most) { return rows; }
    rows.clear();
    for (std::size_t const i : drawn_lanes(with_graph.size(), most)) {
        rows.push_back({with_graph[i], {}, "rank " + std::to_string(answer.ranks[with_graph[i]].rank)});
    }
    return rows;
}

std::vector<DrawnSpan> spans_of(RankDigest const& rank, DrawnRow const& row, Ticks shift) {
    StepGraph const& graph = *rank.graph;
    std::vector<DrawnSpan> spans;
    for (std::size_t task = 0; task < graph.cost.size(); ++task) {
        bool const here =
            row.lane ? graph.lane[task] == *row.lane : rank.breakdown.on_host || occupies_device(graph.kind[task]);
        if (!here) { continue; }
        Ticks const begin = graph.begin[task] + shift;
        spans.push_back({begin, begin + graph.cost[task], static_cast<std::size_t>(graph.kind[task])});
    }
    return spans;
}

std::string caption_of(PathAnswer const* path, bool merged) {
    std::vector<std::string> sentences;
    if (path != nullptr) {
        sentences.emplace_back(
            "The critical path is the longest chain of work and delays: only what lies on it, in the "
            "first row, makes the step shorter when it becomes faster.");
        if (std::ranges::any_of(path->pieces, [](PathPiece const& piece) { return piece.tasks > 1; })) {
            sentences.emplace_back("There, tasks of one kind in a row are one bar with the delays between them.");
        }
    }
    if (merged) {
        sentences.emplace_back(
            "A row a rank: computation covers what it hides, so that communication is seen where it is "
            "exposed.");
    }
    return join(sentences, " ");
}

} // namespace

std::optional<Gantt> step_drawing(TraceAnswer const& answer, std::size_t most_lanes) {
    std::vector<DrawnRow> const rows = rows_of(answer, most_lanes - 1);
    if (rows.empty()) { return std::nullopt; }
    StepClock const clock = step_clock_of(answer);
    bool const has_path = answer.path && !answer.path->pieces.empty();
    Ticks end = clock.end;
    std::vector<DrawnSpan> path;
    std::vector<Ticks> const ends = has_path ? drawn_ends(*answer.path) : std::vector<Ticks>{};
    for (std::size_t i = 0; has_path && i < answer.path->pieces.size(); ++i) {
        PathPiece const& piece = answer.path->pieces[i];
        path.push_back({piece.begin, ends[i], static_cast<std::size_t>(piece.kind)});
        end = std::max(end, path.back().end);
    }
    TimeUnit const unit = unit_for(static_cast<double>(end));
    StepGraph const& first = *answer.ranks[rows.front().rank].graph;
    Gantt gantt{.title =
                    (answer.step_ns ? "Step " + std::to_string(first.step.number) : std::string{"The whole file"}) +
                    ", lane by lane",
                .caption = caption_of(has_path ? &*answer.path : nullptr, !rows.front().lane),
                .unit = unit.name,
                .lanes = {},
                .kinds = {},
                .bars = {},
                .end = static_cast<double>(end) / unit.ns};
    for (SpanKind const kind : span_kinds) {
        gantt.kinds.push_back({std::string{kind_words(kind)}, letters[static_cast<std::size_t>(kind)]});
    }
    if (has_path) {
        gantt.lanes.emplace_back("critical path");
        add_bars(gantt, 0, path, unit);
    }
    for (DrawnRow const& row : rows) {
        gantt.lanes.push_back(row.name);
        add_bars(gantt, gantt.lanes.size() - 1, spans_of(answer.ranks[row.rank], row, clock.shift[row.rank]), unit);
    }
    return gantt;
}

} // namespace headroom::cli
