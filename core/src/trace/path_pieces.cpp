#include "trace/path_pieces.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

namespace headroom::trace::path {

using namespace headroom::laws;

namespace {

constexpr std::size_t told_names = 50;

/// Puts tasks of a path together while they follow each other on one lane.
class Teller {
public:
    Teller(std::vector<StepGraph> const& ranks, JoinedSteps const& joined, PathAnswer& answer)
        : ranks_(ranks), joined_(joined), answer_(answer) {}

    void visit(TaskId vertex) {
        auto const& what = joined_.vertices[vertex];
        Ticks const cost = joined_.dag.cost(vertex);
        now_ += cost;
        if (what.delay) {
            pending_ += cost;
            pending_why_ = what.edge;
            answer_.delays += cost;
            answer_.delays_by[static_cast<std::size_t>(what.edge)] += cost;
        } else if (what.task == no_task) {
            pending_why_ = TraceEdge::collective; // a meeting of ranks
            met_ = true;
        } else {
            task(what, cost);
        }
    }

    /// `last`: of the path. It may be a delay before a task that takes no time.
    void finish(Vertex const& last) {
        if (pending_ > 0 && last.task != no_task) { task({.task = last.task}, 0); }
        piece_.delay += pending_;
        close();
        for (auto& [key, name] : names_) { answer_.names.push_back(std::move(name)); }
        std::stable_sort(answer_.names.begin(), answer_.names.end(),
                         [](auto const& a, auto const& b) { return a.duration > b.duration; });
        if (answer_.names.size() > told_names) { answer_.names.resize(told_names); }
    }

private:
    void task(Vertex const& what, Ticks cost) {
        auto const rank = joined_.rank_of(what.task);
        auto const number = static_cast<std::uint32_t>(what.task - joined_.first_task[rank]);
        TraceEdge const why = why_of(rank, number);
        last_ = what.task;
        pending_why_.reset();
        met_ = false;
        if (cost == 0 && pending_ == 0) { return; }
        auto const& graph = ranks_[rank];
        bool const goes_on = open_ && rank == rank_ && graph.lane[number] == lane_ &&
                             (why == TraceEdge::program || why == TraceEdge::stream);
        if (!goes_on) {
            close();
            piece_ = {.rank = graph.rank,
                      .task = number,
                      .name = {},
                      .lane = graph.lanes[graph.lane[number]],
                      .why = why,
                      .begin = now_ - cost,
                      .tasks = 0};
            open_ = true;
            rank_ = rank;
            lane_ = graph.lane[number];
        }
        piece_.duration += cost;
        piece_.delay += pending_;
        ++piece_.tasks;
        auto& share = shares_[graph.name[number]];
        share.first += cost;
        share.second = what.kind;
        answer_.by_kind[static_cast<std::size_t>(what.kind)] += cost;
        pending_ = 0;
        count_name(graph.names[graph.name[number]], what.kind, cost, {rank, graph.interval[number]});
    }

    void count_name(std::string const& text, SpanKind kind, Ticks cost,
                    std::pair<std::size_t, std::uint32_t> interval) {
        if (cost == 0) { return; }
        auto& name = names_[{text, kind}];
        name.name = text;
        name.kind = kind;
        name.count += first_time(interval) ? 1 : 0;
        name.duration += cost;
    }

    bool first_time(std::pair<std::size_t, std::uint32_t> interval) {
        counted_.resize(ranks_.size());
        auto& of_rank = counted_[interval.first];
        if (of_rank.size() <= interval.second) { of_rank.resize(interval.second + std::size_t{1}); }
        bool const first = !of_rank[interval.second];
        of_rank[interval.second] = true;
        return first;
    }

    /// Reason for which a task waited, among the tasks before it on the path.
    TraceEdge why_of(std::size_t rank, std::uint32_t number) const {
        if (pending_why_) { return met_ ? TraceEdge::collective : *pending_why_; }
        auto const& graph = ranks_[rank];
        auto edge = std::lower_bound(graph.edges.begin(), graph.edges.end(), number,
                                     [](Edge const& e, std::uint32_t to) { return e.to < to; });
        for (; edge != graph.edges.end() && edge->to == number; ++edge) {
            if (joined_.first_task[rank] + edge->from == last_) {
                return graph.edge_kind[static_cast<std::size_t>(edge - graph.edges.begin())];
            }
        }
        return TraceEdge::program;
    }

    void close() {
        if (!open_) { return; }
        auto best = shares_.begin();
        auto const& names = ranks_[rank_].names;
        for (auto share = shares_.begin(); share != shares_.end(); ++share) {
            bool const more = share->second.first > best->second.first ||
                              (share->second.first == best->second.first && names[share->first] < names[best->first]);
            if (more) { best = share; }
        }
        piece_.name = names[best->first];
        piece_.kind = best->second.second;
        piece_.names = static_cast<std::uint32_t>(shares_.size());
        answer_.pieces.push_back(std::move(piece_));
        shares_.clear();
        open_ = false;
    }

    std::vector<StepGraph> const& ranks_;
    JoinedSteps const& joined_;
    PathAnswer& answer_;
    Ticks now_ = 0, pending_ = 0;
    std::optional<TraceEdge> pending_why_;
    bool met_ = false, open_ = false;
    std::uint32_t last_ = no_task, lane_ = 0;
    std::size_t rank_ = 0;
    PathPiece piece_;
    std::unordered_map<std::uint32_t, std::pair<Ticks, SpanKind>> shares_; ///< of the piece, by name
    std::map<std::pair<std::string, SpanKind>, PathName> names_;
    std::vector<std::vector<bool>> counted_; ///< by rank and interval
};

} // namespace

void tell_path(std::vector<StepGraph> const& ranks, JoinedSteps const& joined, std::vector<TaskId> const& vertices,
               PathAnswer& answer) {
    Teller teller(ranks, joined, answer);
    for (auto const vertex : vertices) { teller.visit(vertex); }
    if (!vertices.empty()) { teller.finish(joined.vertices[vertices.back()]); }
}

} // namespace headroom::trace::path
