#include "headroom/training/pipeline.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace headroom::training {
namespace {

constexpr Ticks not_yet = -1; ///< the pass has not run; a value v below it: it has not, and stage -2 - v waits for it
constexpr std::size_t nobody = std::numeric_limits<std::size_t>::max();
constexpr std::size_t stop_every = std::size_t{1} << 16; ///< passes between two looks at the stop token

/// A neighbour in the model, and the transfer to it; empty at the ends.
struct StageLink {
    std::size_t place = nobody; ///< stage * chunks + chunk
    Ticks hop = 0;
};

/// The places before and after a place in the forward direction.
struct Links {
    StageLink before, after;
};

std::size_t index_of(PipelineShape const& shape, ChunkPlace place) {
    return static_cast<std::size_t>(place.stage) * static_cast<std::size_t>(shape.chunks) +
           static_cast<std::size_t>(place.chunk);
}

/// Duration of the transfer between two places that follow one another in the model; zero within a stage. Between chunks
/// of a loop it joins the last stage to the first.
Ticks hop_between(PipelineOrder const& order, PipelineTimes const& times, ChunkPlace a, ChunkPlace b) {
    if (times.hop.empty() || a.stage == b.stage) { return 0; }
    bool const next_round = order.layout == ChunkLayout::loop && a.chunk != b.chunk;
    return next_round ? times.hop.back() : times.hop[static_cast<std::size_t>(std::min(a.stage, b.stage))];
}

std::vector<Links> links_of(PipelineOrder const& order, PipelineTimes const& times) {
    std::vector<Links> links;
    for (int stage = 0; stage < order.shape.stages; ++stage) {
        for (int chunk = 0; chunk < order.shape.chunks; ++chunk) {
            ChunkPlace const here{stage, chunk};
            auto const to = [&](std::optional<ChunkPlace> const& place) {
                return place ? StageLink{index_of(order.shape, *place), hop_between(order, times, here, *place)}
                             : StageLink{};
            };
            links.push_back(
                {to(previous_place(order.shape, order.layout, here)), to(next_place(order.shape, order.layout, here))});
        }
    }
    return links;
}

/// End of the pass that makes the input of another one, and transfers of the latter.
struct Input {
    Ticks made = 0; ///< negative: the pass that makes it has not run
    Ticks own = 0;  ///< work of the stage itself that must have ended before
    Ticks receive = 0, send = 0;
};

/// State of one stage while its passes run.
struct RunStage {
    std::size_t next = 0;  ///< of its passes
    Ticks begun = not_yet; ///< its first pass
    Ticks free = 0;        ///< the end of its last pass
    Ticks sending = 0;     ///< of the last pass: time of a blocking transfer
    int held = 0;          ///< chunk activations
};

/// Runs every stage as far as its inputs allow; the end of a pass resumes the stage that waits for it.
class Runner {
public:
    Runner(PipelineOrder const& order, PipelineTimes const& times, bool with_begins)
        : order_{order},
          times_{times},
          links_{links_of(order, times)},
          micro_batches_{static_cast<std::size_t>(order.shape.micro_batches)},
          forward_end_(links_.size() * micro_batches_, not_yet),
          input_end_(forward_end_.size(), not_yet),
          stages_(static_cast<std::size_t>(order.shape.stages)) {
        run_.busy.assign(stages_.size(), 0);
        run_.span.assign(stages_.size(), 0);
        run_.chunks_held.assign(stages_.size(), 0);
        if (with_begins) { run_.begin.assign(order.passes.size(), 0); }
        for (std::size_t stage = stages_.size(); stage-- > 0;) {
            stages_[stage].next = order.first[stage];
            ready_.push_back(stage);
        }
    }

    std::optional<PipelineRun> run(std::stop_token const& stop) {
        while (!ready_.empty() && run_.complete) {
            std::size_t const stage = ready_.back();
            ready_.pop_back();
            advance(stage, stop);
        }
        if (run_.complete && done_ < order_.passes.size()) { return std::nullopt; }
        finish();
        return std::move(run_);
    }

private:
    void advance(std::size_t stage, std::stop_token const& stop) {
        RunStage& state = stages_[stage];
        std::size_t const last = order_.first[stage + 1];
        while (state.next < last) {
            if (done_ % stop_every <= 1 && stop.stop_requested()) {
                run_.complete = false;
                return;
            }
            bool const two = order_.passes[state.next].joined && state.next + 1 < last;
            auto const passes = std::span{order_.passes}.subspan(state.next, two ? 2 : 1);
            if (!run_as_one(stage, state, passes)) { return; }
            state.next += passes.size();
            done_ += passes.size();
        }
    }

    /// Runs a pass, or two merged ones, if their inputs have arrived; else registers with the pass that makes them.
    bool run_as_one(std::size_t stage, RunStage& state, std::span<Pass const> passes) {
        Ticks begin = 0, send = 0;
        for (Pass const& pass : passes) {
            auto const input = input_of(stage, pass);
            if (!input) { return false; }
            begin = std::max(begin, begin_of(state, *input));
            send = std::max(send, input->send);
        }
        if (state.begun < 0) { state.begun = begin; }
        state.free = begin;
        for (std::size_t i = 0; i < passes.size(); ++i) {
            if (!run_.begin.empty()) { run_.begin[state.next + i] = state.free; }
            std::size_t const place = place_of(stage, passes[i]);
            state.free += times_.passes[place].of(passes[i].kind);
            hold(stage, state, passes[i].kind);
        }
        state.sending = times_.blocking ? send : 0;
        run_.busy[stage] += state.free - begin;
        for (Pass const& pass : passes) { tell(place_of(stage, pass), pass, state.free); }
        return true;
    }

    [[nodiscard]] std::size_t place_of(std::size_t stage, Pass const& pass) const {
        return stage * static_cast<std::size_t>(order_.shape.chunks) + pass.chunk;
    }

    Ticks begin_of(RunStage const& state, Input const& input) const {
        Ticks const own = std::max(state.free, input.own);
        if (!times_.blocking) { return std::max(own, input.made + input.receive); }
        Ticks const received = input.receive > 0 ? std::max(own, input.made) + input.receive : input.made;
        return std::max({own + state.sending, received, input.made});
    }

    std::optional<Input> input_of(std::size_t stage, Pass const& what) {
        std::size_t const place = place_of(stage, what);
        Links const& links = links_[place];
        if (what.kind == PassKind::weight_gradient) {
            bool const made = ended(input_end_, place, what.micro_batch, stage) >= 0; // earlier in this row
            return made ? std::optional{Input{}} : std::nullopt;
        }
        bool const forward = what.kind == PassKind::forward;
        StageLink const& from = forward ? links.before : links.after;
        StageLink const& to = forward ? links.after : links.before;
        Ticks const own = forward ? 0 : ended(forward_end_, place, what.micro_batch, stage);
        if (own < 0) { return std::nullopt; }
        auto& ends = forward ? forward_end_ : input_end_;
        Ticks const made = from.place == nobody ? 0 : ended(ends, from.place, what.micro_batch, stage);
        if (made < 0) { return std::nullopt; }
        return Input{.made = made, .own = own, .receive = from.hop, .send = to.hop};
    }

    /// End of a pass. If it has not run, `stage` is queued to continue when it ends. At most one other stage waits for
    /// a pass; a stage that waits for a later pass of its own order never continues.
    Ticks ended(std::vector<Ticks>& ends, std::size_t place, std::int32_t micro_batch, std::size_t stage) const {
        Ticks& end = ends[place * micro_batches_ + static_cast<std::size_t>(micro_batch)];
        if (end < 0) { end = not_yet - 1 - static_cast<Ticks>(stage); }
        return end;
    }

    void tell(std::size_t place, Pass const& what, Ticks now) {
        if (what.kind == PassKind::weight_gradient) { return; }
        auto& ends = what.kind == PassKind::forward ? forward_end_ : input_end_;
        Ticks& end = ends[place * micro_batches_ + static_cast<std::size_t>(what.micro_batch)];
        if (end < not_yet) { ready_.push_back(static_cast<std::size_t>(not_yet - 1 - end)); }
        end = now;
    }

    void hold(std::size_t stage, RunStage& state, PassKind kind) {
        if (kind == PassKind::forward) {
            run_.chunks_held[stage] = std::max(run_.chunks_held[stage], ++state.held);
        } else if (kind != PassKind::input_gradient) {
            --state.held;
        }
    }

    void finish() {
        Ticks first = std::numeric_limits<Ticks>::max();
        for (std::size_t stage = 0; stage < stages_.size(); ++stage) {
            RunStage const& state = stages_[stage];
            if (state.begun >= 0) {
                run_.span[stage] = state.free - state.begun;
                first = std::min(first, state.begun);
            }
            run_.period = std::max(run_.period, run_.span[stage]);
        }
        for (RunStage const& state : stages_) { run_.makespan = std::max(run_.makespan, state.free - first); }
    }

    PipelineOrder const& order_;
    PipelineTimes const& times_;
    std::vector<Links> links_; ///< by place
    std::size_t micro_batches_;
    std::vector<Ticks> forward_end_, input_end_; ///< by place, then micro-batch
    std::vector<RunStage> stages_;
    std::vector<std::size_t> ready_;
    std::size_t done_ = 0;
    PipelineRun run_;
};

} // namespace

std::optional<PipelineRun> run_pipeline(PipelineOrder const& order, PipelineTimes const& times, bool with_begins,
                                        std::stop_token const& stop) {
    return Runner{order, times, with_begins}.run(stop);
}

} // namespace headroom::training
