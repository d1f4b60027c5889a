#include "run_beside.hpp"

#include "headroom/training/pipeline.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace headroom::training {
namespace {

constexpr Ticks not_yet = -1; ///< the pass has not run; below it: stage -2 - value waits for it
constexpr std::size_t nobody = std::numeric_limits<std::size_t>::max();
constexpr std::size_t stop_every = std::size_t{1} << 16; ///< passes between two looks at the stop token

/// A neighbour in the model, and the way to it; nobody at the ends.
struct Link {
    std::size_t place = nobody; ///< stage * chunks + chunk
    Ticks hop = 0;
};

/// The places before and after a place in the forward direction.
struct Links {
    Link before, after;
};

std::size_t index_of(PipelineShape const& shape, ChunkPlace place) {
    return static_cast<std::size_t>(place.stage) * static_cast<std::size_t>(shape.chunks) +
           static_cast<std::size_t>(place.chunk);
}

/// The hop between two places of which one works after the other; none within a stage. Where a loop begins its next
/// round, it goes from the last stage to the first.
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
                return place ? Link{index_of(order.shape, *place), hop_between(order, times, here, *place)} : Link{};
            };
            links.push_back(
                {to(previous_place(order.shape, order.layout, here)), to(next_place(order.shape, order.layout, here))});
        }
    }
    return links;
}

/// When what a pass takes from another stage was made, and how it comes and goes.
struct Input {
    Ticks made = 0; ///< negative: the pass that makes it has not run
    Ticks own = 0;  ///< what the stage itself must have done before
    Ticks receive = 0, send = 0;
};

/// Traffic of one stage while its row is run, in ticks that it takes alone.
struct StageTraffic {
    double left = 0.0, sent = 0.0;                  ///< of what has been made, at the time that was looked at last
    double at = 0.0;                                ///< that time
    double update = 0.0, before = 0.0, after = 0.0; ///< ticks

    /// Looks at a later time; until then so much longer things took than alone.
    void advance(double time, double longer) {
        double const done = std::clamp((time - at) / longer, 0.0, left);
        left -= done, sent += done;
        at = std::max(at, time);
    }
};

/// Runs traffic beside the passes of every stage: weights before the first passes, gradients behind the last ones.
class Beside final : public BesidePasses {
public:
    Beside(PipelineOrder const& order, TrafficBeside const& traffic)
        : traffic_{traffic}, stages_(traffic.chunks.empty() ? 0 : static_cast<std::size_t>(order.shape.stages)) {
        if (traffic.chunks.empty()) { return; }
        gathered_.assign(traffic.chunks.size(), 0.0);
        first_of_.assign(stages_.size(), order.passes.size());
        first_.assign(traffic.chunks.size(), order.passes.size());
        last_.assign(traffic.chunks.size(), order.passes.size());
        auto const chunks = static_cast<std::size_t>(order.shape.chunks);
        for (std::size_t stage = 0; stage < stages_.size(); ++stage) {
            for (std::size_t i = order.first[stage]; i < order.first[stage + 1]; ++i) {
                note(stage, stage * chunks + order.passes[i].chunk, i, order.passes[i].kind);
            }
            stages_[stage].left += stages_[stage].before;
            for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
                gathered_[stage * chunks + chunk] += stages_[stage].before;
            }
        }
    }

    [[nodiscard]] bool none() const { return stages_.empty(); }

    /// When a pass of so many ticks ends that begins now.
    Ticks end_of(std::size_t stage, std::size_t place, std::size_t pass, PassKind kind, Ticks begin,
                 Ticks ticks) override {
        StageTraffic& state = stages_[stage];
        auto const now = static_cast<double>(begin), work = static_cast<double>(ticks);
        state.advance(now, 1.0);
        if (pass == first_of_[stage]) { state.advance(now + std::max(0.0, state.before - state.sent), 1.0); }
        ChunkTraffic const& chunk = traffic_.chunks[place];
        double const reduce = pass == last_[place] ? chunk.reduce : 0.0, late = chunk.late * reduce;
        state.left += reduce - late;
        double const idle = kind == PassKind::forward ? traffic_.idle_forward : traffic_.idle_backward;
        double end = state.at + work + slowed(work, traffic_.longer * state.left, idle);
        state.advance(end, traffic_.longer);
        if (pass == first_[place] && state.sent < gathered_[place]) {
            end += gathered_[place] - state.sent;
            state.advance(end, 1.0);
        }
        state.left += late;
        return std::llround(end);
    }
    /// What is handed on at this time comes so much later, and makes what is under way take as much longer.
    /// Behind the last pass that is what hides behind nothing too.
    Ticks later(std::size_t stage, Ticks hop, bool last) override {
        if (!traffic_.transfers || hop <= 0) { return 0; }
        StageTraffic& state = stages_[stage];
        double const both = std::min(state.left + (last ? state.after : 0.0), static_cast<double>(hop));
        state.left += both;
        return std::llround(both);
    }
    /// When a stage has reduced and updated, its passes over.
    Ticks finished(std::size_t stage, Ticks passes) override {
        StageTraffic const& state = stages_[stage];
        return std::llround(std::max(static_cast<double>(passes), state.at + state.left) + state.after + state.update);
    }

private:
    void note(std::size_t stage, std::size_t place, std::size_t pass, PassKind kind) {
        if (kind == PassKind::forward && first_[place] > pass) {
            ChunkTraffic const& chunk = traffic_.chunks[place];
            StageTraffic& state = stages_[stage];
            first_[place] = pass;
            first_of_[stage] = std::min(first_of_[stage], pass);
            state.left += chunk.gather;
            state.update += chunk.update, state.before += chunk.before, state.after += chunk.after;
            gathered_[place] = state.left;
        }
        if (kind == PassKind::backward || kind == PassKind::weight_gradient) { last_[place] = pass; }
    }
    /// What traffic of so many ticks adds to work.
    [[nodiscard]] double slowed(double work, double traffic, double idle) const {
        if (traffic <= 0.0) { return 0.0; }
        double const l = traffic_.loss;
        return std::max(0.0, traffic_.kernels * std::min(l * traffic, l / (1.0 - l) * work) +
                                 (traffic_.adapter - idle) * std::min(traffic, work));
    }

    TrafficBeside const& traffic_;
    std::vector<StageTraffic> stages_;
    std::vector<double> gathered_;          ///< by place: when its weights are there
    std::vector<std::size_t> first_, last_; ///< by place: its first forward pass, and the last that makes gradients
    std::vector<std::size_t> first_of_;     ///< by stage: its first forward pass
};

/// One stage while its row is run.
struct StageState {
    std::size_t next = 0;  ///< of its passes
    Ticks begun = not_yet; ///< its first pass
    Ticks free = 0;        ///< the end of its last pass
    Ticks sending = 0;     ///< of the last pass: time of a blocking transfer
    int held = 0;          ///< chunk activations
};

/// Runs every row as far as it goes; a row that waits is put on again by the pass that it waits for.
class Runner {
public:
    /// `beside`: none where nothing is.
    Runner(PipelineOrder const& order, PipelineTimes const& times, bool with_begins, BesidePasses* beside)
        : order_{order},
          times_{times},
          links_{links_of(order, times)},
          beside_{beside},
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
    /// Of the run that is over.
    [[nodiscard]] RunBeside ends() const { return ends_; }

private:
    void advance(std::size_t stage, std::stop_token const& stop) {
        StageState& state = stages_[stage];
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

    /// Runs a pass, or two that are joined, if what they need is there; else leaves word with the pass that makes it.
    bool run_as_one(std::size_t stage, StageState& state, std::span<Pass const> passes) {
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
            Ticks const ticks = ticks_of(times_.passes[place], passes[i].kind);
            state.free = beside_ == nullptr
                             ? state.free + ticks
                             : beside_->end_of(stage, place, state.next + i, passes[i].kind, state.free, ticks);
            hold(stage, state, passes[i].kind);
        }
        state.sending = times_.blocking ? send : 0;
        run_.busy[stage] += state.free - begin;
        for (Pass const& pass : passes) {
            std::size_t const place = place_of(stage, pass);
            Links const& links = links_[place];
            Ticks const later =
                beside_ == nullptr || pass.kind == PassKind::weight_gradient
                    ? 0
                    : beside_->later(stage, (pass.kind == PassKind::forward ? links.after : links.before).hop,
                                     state.next + passes.size() == order_.first[stage + 1]);
            tell(place, pass, state.free + later);
        }
        return true;
    }

    [[nodiscard]] std::size_t place_of(std::size_t stage, Pass const& pass) const {
        return stage * static_cast<std::size_t>(order_.shape.chunks) + pass.chunk;
    }

    Ticks begin_of(StageState const& state, Input const& input) const {
        Ticks const own = std::max(state.free, input.own);
        if (!times_.blocking) { return std::max(own, input.made + input.receive); }
        Ticks const received = input.receive > 0 ? std::max(own, input.made) + input.receive : input.made;
        return std::max({own + state.sending, received, input.made});
    }

    static Ticks ticks_of(PassTicks const& ticks, PassKind kind) {
        switch (kind) {
        case PassKind::forward: return ticks.forward;
        case PassKind::backward: return ticks.input + ticks.weight;
        case PassKind::input_gradient: return ticks.input;
        case PassKind::weight_gradient: return ticks.weight;
        }
        return 0;
    }

    std::optional<Input> input_of(std::size_t stage, Pass const& what) {
        std::size_t const place = place_of(stage, what);
        Links const& links = links_[place];
        if (what.kind == PassKind::weight_gradient) {
            bool const made = ended(input_end_, place, what.micro_batch, stage) >= 0; // earlier in this row
            return made ? std::optional{Input{}} : std::nullopt;
        }
        bool const forward = what.kind == PassKind::forward;
        Link const& from = forward ? links.before : links.after;
        Link const& to = forward ? links.after : links.before;
        Ticks const own = forward ? 0 : ended(forward_end_, place, what.micro_batch, stage);
        if (own < 0) { return std::nullopt; }
        auto& ends = forward ? forward_end_ : input_end_;
        Ticks const made = from.place == nobody ? 0 : ended(ends, from.place, what.micro_batch, stage);
        if (made < 0) { return std::nullopt; }
        return Input{.made = made, .own = own, .receive = from.hop, .send = to.hop};
    }

    /// When a pass ended; where it has not, this stage is put on when it does. Only one stage beside its own waits for a
    /// pass, and a stage that waits for a later pass of its own row waits for ever.
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

    void hold(std::size_t stage, StageState& state, PassKind kind) {
        if (kind == PassKind::forward) {
            run_.chunks_held[stage] = std::max(run_.chunks_held[stage], ++state.held);
        } else if (kind != PassKind::input_gradient) {
            --state.held;
        }
    }

    void finish() {
        double const chunks = order_.layout == ChunkLayout::bidirectional ? 1.0 : order_.shape.chunks; // of a depth
        Ticks first = std::numeric_limits<Ticks>::max();
        for (std::size_t stage = 0; stage < stages_.size(); ++stage) {
            StageState const& state = stages_[stage];
            if (state.begun >= 0) {
                run_.span[stage] = state.free - state.begun;
                first = std::min(first, state.begun);
            }
            run_.period = std::max(run_.period, run_.span[stage]);
            run_.depths_held.push_back(run_.chunks_held[stage] / chunks);
        }
        for (std::size_t stage = 0; stage < stages_.size(); ++stage) {
            Ticks const free = stages_[stage].free;
            run_.makespan = std::max(run_.makespan, free - first);
            Ticks const finished = beside_ == nullptr ? free : beside_->finished(stage, free);
            ends_.end = std::max(ends_.end, finished - first);
            ends_.longest = std::max(ends_.longest, finished - std::max(stages_[stage].begun, Ticks{0}));
        }
    }

    PipelineOrder const& order_;
    PipelineTimes const& times_;
    std::vector<Links> links_; ///< by place
    BesidePasses* beside_;
    std::size_t micro_batches_;
    std::vector<Ticks> forward_end_, input_end_; ///< by place, then micro-batch
    std::vector<StageState> stages_;
    std::vector<std::size_t> ready_;
    std::size_t done_ = 0;
    PipelineRun run_;
    RunBeside ends_;
};

} // namespace

std::optional<PipelineRun> run_pipeline(PipelineOrder const& order, PipelineTimes const& times, bool with_begins,
                                        std::stop_token const& stop) {
    return Runner{order, times, with_begins, nullptr}.run(stop);
}

RunBeside run_beside(PipelineOrder const& order, PipelineTimes const& times, BesidePasses& beside) {
    Runner runner{order, times, false, &beside};
    runner.run({});
    return runner.ends();
}

RunBeside run_beside(PipelineOrder const& order, PipelineTimes const& times, TrafficBeside const& traffic) {
    Beside beside{order, traffic};
    Runner runner{order, times, false, beside.none() ? nullptr : &beside};
    runner.run({});
    return runner.ends();
}

} // namespace headroom::training
