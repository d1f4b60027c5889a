#include "support/pipelines.hpp"

namespace headroom::test {

using namespace headroom::laws;
using namespace headroom::training;

namespace {

/// Passes and transfers as tasks of a graph.
class PassGraph {
public:
    PassGraph(PipelineOrder const& order, PipelineTimes const& times) : order_{order}, times_{times} {
        for (int stage = 0; stage < order.shape.stages; ++stage) {
            for (Pass const& pass : order.row(stage)) { add(stage, pass); }
        }
        for (int stage = 0; stage < order.shape.stages; ++stage) { link_row(stage); }
    }

    [[nodiscard]] std::optional<Ticks> depth() const {
        auto const built = build_dag(costs_, edges_);
        return built.fault ? std::nullopt : std::optional{dag_measure(built.dag).depth};
    }

private:
    using Key = std::tuple<bool, int, int, int>; // gradients, stage, chunk, micro-batch

    [[nodiscard]] PassTicks const& ticks(int stage, int chunk) const {
        return times_.passes[static_cast<std::size_t>(stage) * static_cast<std::size_t>(order_.shape.chunks) +
                             static_cast<std::size_t>(chunk)];
    }

    TaskId task(Ticks cost) {
        costs_.push_back(cost);
        return static_cast<TaskId>(costs_.size() - 1);
    }

    void add(int stage, Pass const& pass) {
        auto const& t = ticks(stage, pass.chunk);
        Ticks cost = pass.kind == PassKind::forward ? t.forward : 0;
        cost += makes_input_gradient(pass.kind) ? t.input : 0;
        cost += makes_weight_gradient(pass.kind) ? t.weight : 0;
        TaskId const made = task(cost) + (pass.joined ? 1 : 0); // what it made goes when the pass after it is through
        if (pass.kind != PassKind::weight_gradient) {
            maker_[{pass.kind != PassKind::forward, stage, pass.chunk, pass.micro_batch}] = made;
        }
    }

    [[nodiscard]] Ticks hop(ChunkPlace a, ChunkPlace b) const {
        if (a.stage == b.stage || times_.hop.empty()) { return 0; }
        bool const round = order_.layout == ChunkLayout::loop && a.chunk != b.chunk;
        return times_.hop[static_cast<std::size_t>(round ? order_.shape.stages - 1 : std::min(a.stage, b.stage))];
    }

    /// Where what a pass takes comes from, or goes to.
    [[nodiscard]] std::optional<ChunkPlace> other(int stage, Pass const& pass, bool comes) const {
        if (pass.kind == PassKind::weight_gradient) { return std::nullopt; }
        bool const down = (pass.kind == PassKind::forward) != comes;
        return down ? next_place(order_.shape, order_.layout, {stage, pass.chunk})
                    : previous_place(order_.shape, order_.layout, {stage, pass.chunk});
    }

    void link_row(int stage) {
        auto const row = order_.row(stage);
        auto const first = static_cast<TaskId>(order_.first[static_cast<std::size_t>(stage)]);
        for (std::size_t i = 0; i < row.size(); ++i) {
            auto const id = first + static_cast<TaskId>(i);
            if (i > 0) { edges_.push_back({id - 1, id}); }
            bool const second = i > 0 && row[i - 1].joined;
            auto const begins = second ? id - 1 : id; // of two that are joined the first waits for both
            std::size_t const before = second ? i - 1 : i;
            if (before > 0) { link_sent(stage, row, before, begins); }
            link_input(stage, row[i], begins, before > 0);
            if (row[i].kind != PassKind::forward) {
                bool const gradients = row[i].kind == PassKind::weight_gradient;
                edges_.push_back({maker_.at({gradients, stage, row[i].chunk, row[i].micro_batch}), begins});
            }
        }
    }

    /// Transfers that block: what the pass before made, or the two before that are joined.
    void link_sent(int stage, std::span<Pass const> row, std::size_t i, TaskId id) {
        bool const two = i > 1 && row[i - 2].joined;
        for (std::size_t back = 1; back <= (two ? 2U : 1U); ++back) {
            Pass const& before = row[i - back];
            auto const to = other(stage, before, false);
            if (!times_.blocking || !to) { continue; }
            TaskId const send = task(hop({stage, before.chunk}, *to));
            edges_.push_back({id - 1, send});
            edges_.push_back({send, id});
        }
    }

    void link_input(int stage, Pass const& pass, TaskId id, bool has_before) {
        auto const from = other(stage, pass, true);
        if (!from) { return; }
        TaskId const made = maker_.at({pass.kind != PassKind::forward, from->stage, from->chunk, pass.micro_batch});
        TaskId const way = task(hop({stage, pass.chunk}, *from));
        edges_.push_back({made, way});
        edges_.push_back({way, id});
        if (times_.blocking && has_before) { edges_.push_back({id - 1, way}); }
    }

    PipelineOrder const& order_;
    PipelineTimes const& times_;
    std::map<Key, TaskId> maker_;
    std::vector<Ticks> costs_;
    std::vector<Edge> edges_;
};

void draw(std::string& row, Pass const& pass, Ticks begin, Ticks length) {
    char const letter = "FBBW"[static_cast<int>(pass.kind)];
    auto const at = static_cast<std::size_t>(2 * begin);
    row.resize(std::max(row.size(), at + static_cast<std::size_t>(2 * length)), '=');
    row[at] = pass.chunk == 0 ? letter : static_cast<char>(letter - 'A' + 'a');
    row[at + 1] = static_cast<char>('0' + pass.micro_batch);
}

void wait_until(std::string& row, Ticks begin) {
    while (row.size() < static_cast<std::size_t>(2 * begin)) { row += " ."; }
}

} // namespace

std::string drawing(PipelineOrder const& order, PipelineTimes const& times) {
    auto const run = run_pipeline(order, times, true);
    std::string text;
    for (int stage = 0; stage < order.shape.stages; ++stage) {
        auto const s = static_cast<std::size_t>(stage);
        std::string row;
        for (std::size_t i = order.first[s]; i < order.first[s + 1]; ++i) {
            Pass const& pass = order.passes[i];
            auto const& ticks = times.passes[s * static_cast<std::size_t>(order.shape.chunks) + pass.chunk];
            Ticks length = pass.kind == PassKind::forward ? ticks.forward : 0;
            length += makes_input_gradient(pass.kind) ? ticks.input : 0;
            length += makes_weight_gradient(pass.kind) ? ticks.weight : 0;
            wait_until(row, run->begin[i]);
            draw(row, pass, run->begin[i], length);
        }
        wait_until(row, run->makespan);
        text += row + "\n";
    }
    return text;
}

std::optional<Ticks> longest_chain(PipelineOrder const& order, PipelineTimes const& times) {
    return PassGraph{order, times}.depth();
}

} // namespace headroom::test
