#include "one_stage.hpp"

#include "one_stage_clock.hpp"

#include "headroom/training/placement.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace headroom::training::simulation {
namespace {

constexpr std::int64_t most_visits = 1 << 17; ///< passes of units

StageRules rules_of(Inputs const& in) {
    auto const placement = place(in.strategy, in.setting.cluster.domain);
    return {
        .loss = in.rules.slowdown,
        .data_leaves = placement.data.domains() > 1,
        .leaves = {placement.tensor.domains() > 1, placement.context.domains() > 1, placement.experts.domains() > 1},
        .tick = 1e-12 * (1.0 + in.step)};
}

/// A unit as it is visited.
struct UnitWork {
    std::array<std::vector<Leg>, 2> legs; ///< forward, backward
    bool routed = false;
    double gather = 0.0, reduce = 0.0, compress = 0.0, down = 0.0, up = 0.0, kept = 0.0, elements = 0.0;
};

std::vector<UnitWork> work_of(Inputs const& in) {
    auto const units = step_units(in.setting, in.strategy, in.costs, in.order, StepDetail::operation);
    auto const all = units_of(in.layout.chunks.front(), in.order, units);
    std::vector<UnitWork> work;
    for (std::size_t u = 0; u < all.size(); ++u) {
        UnitTraffic const& t = in.traffic.units.front()[u];
        work.push_back({.legs = {legs_of((*all[u])[PassKind::forward]), legs_of((*all[u])[PassKind::backward])},
                        .routed = all[u]->routed,
                        .gather = seconds_of(t.gather),
                        .reduce = seconds_of(t.reduce),
                        .compress = seconds_of(t.compress),
                        .down = seconds_of(t.host_down),
                        .up = seconds_of(t.host_up),
                        .kept = seconds_of(t.kept_copy),
                        .elements = t.elements});
    }
    return work;
}

/// Walks through the passes of a step.
class StageWalk {
public:
    explicit StageWalk(Inputs const& in)
        : in_{in},
          work_{work_of(in)},
          clock_{rules_of(in)},
          at_once_{in.strategy.overlap == Overlap::off},
          keeps_away_{offloads_activations(in.strategy.offload)} {
        for (UnitWork const& unit : work_) { all_up_ += unit.up, all_down_ += unit.down, all_gather_ += unit.gather; }
        held_share_ = in.rules.in_the_way ? 1.0 : in.rules.shown;
    }

    double run() {
        auto const order = schedule_row(in_.strategy.schedule()).order(in_.layout.shape);
        auto const passes = order.row(0);
        std::size_t last = 0;
        for (std::size_t i = 0; i < passes.size(); ++i) { last = passes[i].kind == PassKind::backward ? i : last; }
        gone_.assign(static_cast<std::size_t>(in_.layout.shape.micro_batches), 0.0);
        list_gathers(passes, last);
        begin();
        for (std::size_t i = 0; i < passes.size(); ++i) { walk(passes[i], i == 0, i == last); }
        return end();
    }

private:
    using Passes = std::span<Pass const>;

    void list_gathers(Passes passes, std::size_t last) {
        if (!in_.rules.sharded) { return; }
        for (std::size_t i = 0; i < passes.size(); ++i) {
            bool const forward = passes[i].kind == PassKind::forward;
            bool const gathers = in_.rules.every_micro_batch || i == (forward ? 0 : last);
            double const times = !gathers ? 0.0 : forward ? 1.0 : in_.rules.backward_gathers;
            for (std::size_t u = 0; u < work_.size(); ++u) {
                gathers_.push_back(times * work_[forward ? u : work_.size() - 1 - u].gather);
            }
        }
        marks_.reserve(gathers_.size());
    }

    /// Updated weights of ZeRO 1 and 2 are all on their way as the step begins, and state that comes from the host.
    void begin() {
        if (!in_.rules.gathers) { return; }
        clock_.queue(held_share_ * all_gather_);
        before_ = clock_.queued();
        for (UnitWork const& unit : work_) {
            clock_.queue((1.0 - held_share_) * unit.gather);
            updated_.push_back(clock_.queued());
        }
    }

    void walk(Pass const& pass, bool first, bool whole) {
        bool const forward = pass.kind == PassKind::forward;
        double const missing = in_.layout.shape.micro_batches - in_.micro_batches();
        share_ = pass.micro_batch == in_.layout.shape.micro_batches - 1 ? 1.0 - missing : 1.0;
        for (std::size_t i = 0; i < work_.size(); ++i) {
            std::size_t const u = forward ? i : work_.size() - 1 - i;
            visit(pass, u, first);
            auto const& legs = work_[u].legs[forward ? 0 : 1];
            if (forward) {
                run(legs, {});
                made_ = {.seconds = work_[u].kept * share_, .micro_batch = pass.micro_batch};
                continue;
            }
            bool const reduces = whole || in_.rules.every_micro_batch;
            auto const pieces = reduces ? pieces_of(work_[u], legs) : std::vector<Queued>{};
            run(legs, pieces);
            sent_in_pieces_ = 0.0;
            for (Queued const& piece : pieces) { sent_in_pieces_ += piece.seconds; }
            if (reduces) { reduce(work_[u], whole); }
        }
        if (forward) { return; }
        if (double const adding = seconds_of(in_.traffic.accumulate.front()); adding > 0.0) {
            clock_.kernel(adding * share_);
        }
        if (in_.rules.every_micro_batch) { flush(); }
    }

    static std::size_t kernels_of(Leg const& leg) { return leg.waits ? 1 : leg.ends.size(); }

    void run(std::vector<Leg> const& legs, std::span<Queued const> queued) {
        std::size_t done = 0;
        for (Leg const& leg : legs) {
            clock_.run(leg, share_, done, queued);
            done += kernels_of(leg);
        }
        for (Queued const& late : queued) { clock_.queue(late.seconds); } // behind the wait for the host
    }

    /// What a visit waits for.
    void visit(Pass const& pass, std::size_t u, bool first) {
        UnitWork const& unit = work_[u];
        if (in_.rules.sharded && !in_.rules.in_the_way) { gather_ahead(); }
        take_away(); // what is gathered meanwhile shares the adapter with what its activations wait for
        if (in_.rules.sharded) { wait_for_weights(); }
        if (first && in_.rules.gathers) {
            if (u == 0) { clock_.wait_for_traffic(before_); }
            clock_.wait_for_traffic(updated_[u]);
        }
        if (first && unit.up > 0.0 && (!at_once_ || u == 0)) {
            in_free_ += at_once_ ? all_up_ : unit.up;
            clock_.wait_until(in_free_);
        }
        if (keeps_away_ && unit.kept > 0.0) {
            if (pass.kind == PassKind::forward) {
                clock_.wait_until(leaving_[0]);
            } else {
                bring_back(unit, pass);
            }
        }
        if (unit.routed) { clock_.hold_host(before_visit_); }
        before_visit_ = clock_.computed();
    }

    void gather_ahead() {
        while (marks_.size() < gathers_.size() && marks_.size() <= visit_ + 1) {
            double const gather = gathers_[marks_.size()];
            clock_.queue(gather);
            marks_.push_back(gather > 0.0 ? clock_.queued() : 0.0);
        }
    }

    void wait_for_weights() {
        if (in_.rules.in_the_way) {
            clock_.wait_alone(gathers_[visit_++]);
        } else {
            clock_.wait_for_traffic(marks_[visit_++]);
        }
    }

    /// Activations of the unit whose forward pass was the last.
    void take_away() {
        auto const [seconds, micro_batch] = std::exchange(made_, {});
        if (!keeps_away_ || seconds <= 0.0) { return; }
        out_free_ = std::max(out_free_, clock_.now()) + seconds;
        gone_[static_cast<std::size_t>(micro_batch)] = out_free_;
        leaving_ = {leaving_[1], out_free_};
        if (at_once_) { clock_.wait_until(out_free_); }
    }

    void bring_back(UnitWork const& unit, Pass const& pass) {
        double const gone = gone_[static_cast<std::size_t>(pass.micro_batch)];
        double const ready = std::max(gone, at_once_ ? clock_.now() : before_visit_);
        in_free_ = std::max(in_free_, ready) + unit.kept * share_;
        clock_.wait_until(in_free_);
    }

    /// A unit of several buckets sends all but the last while it works.
    std::vector<Queued> pieces_of(UnitWork const& unit, std::vector<Leg> const& legs) const {
        std::vector<Queued> queued;
        if (in_.rules.sharded || bucket_.elements + unit.elements < bucket_elements) { return queued; }
        std::size_t kernels = unit.compress > 0.0 ? 1 : 0;
        for (Leg const& leg : legs) { kernels += kernels_of(leg); }
        auto const buckets = static_cast<std::size_t>(std::max(1.0, unit.elements / bucket_elements));
        std::size_t const pieces = std::min(buckets, kernels);
        double const all = bucket_.seconds + (1.0 - held_share_) * unit.reduce;
        for (std::size_t piece = 1; piece < pieces; ++piece) {
            queued.push_back({.after = kernels * piece / pieces, .seconds = all / static_cast<double>(pieces)});
        }
        return queued;
    }

    void reduce(UnitWork const& unit, bool whole) {
        if (unit.compress > 0.0) { clock_.kernel(unit.compress); }
        if (unit.reduce > 0.0 && in_.rules.sharded) {
            if (in_.rules.in_the_way) {
                clock_.wait_alone(unit.reduce);
            } else {
                clock_.queue(unit.reduce);
            }
        } else if (unit.reduce > 0.0) {
            fill_bucket(unit);
        }
        if (!whole || unit.down <= 0.0 || at_once_) { return; }
        clock_.copy_behind(clock_.queued(), in_.rules.in_the_way ? clock_.now() : clock_.computed(), unit.down);
    }

    void fill_bucket(UnitWork const& unit) {
        held_back_ += held_share_ * unit.reduce;
        bucket_.seconds += (1.0 - held_share_) * unit.reduce;
        bucket_.elements += unit.elements;
        if (bucket_.elements < bucket_elements) { return; }
        bucket_.seconds -= sent_in_pieces_;
        flush();
    }

    void flush() {
        clock_.queue(bucket_.seconds);
        bucket_ = {};
    }

    double end() {
        flush();
        clock_.queue(held_back_);
        if (double const all = seconds_of(in_.traffic.blocking); all > 0.0) {
            clock_.wait_for_traffic(clock_.queued());
            clock_.wait_alone(all);
        }
        clock_.wait_for_traffic(clock_.queued());
        out_free_ = clock_.copied(out_free_);
        if (at_once_ && all_down_ > 0.0) { copy_out(all_down_); }
        if (double const update = seconds_of(in_.traffic.host_update); update > 0.0) { copy_out(update); }
        if (double const update = seconds_of(in_.traffic.update); update > 0.0) { clock_.kernel(update); }
        return std::max({clock_.now(), clock_.drained(), in_free_, out_free_});
    }

    void copy_out(double seconds) {
        out_free_ = std::max(out_free_, clock_.now()) + seconds;
        clock_.wait_until(out_free_);
    }

    struct Bucket {
        double seconds = 0.0, elements = 0.0;
    };
    struct Made { ///< activations that are to leave, and of which micro-batch
        double seconds = 0.0;
        int micro_batch = 0;
    };

    Inputs const& in_;
    std::vector<UnitWork> work_;
    StageClock clock_;
    bool at_once_, keeps_away_;
    double all_up_ = 0.0, all_down_ = 0.0, all_gather_ = 0.0;
    double held_share_ = 0.0, held_back_ = 0.0, sent_in_pieces_ = 0.0, share_ = 1.0;
    Bucket bucket_;
    double before_ = 0.0, before_visit_ = 0.0, in_free_ = 0.0, out_free_ = 0.0;
    std::array<double, 2> leaving_{}; ///< when copies of the last two blocks are through, the older first
    std::vector<double> updated_, gathers_, marks_, gone_;
    std::size_t visit_ = 0;
    Made made_; ///< by the last unit
};

} // namespace

std::optional<double> seconds_unit_by_unit(Inputs const& in) {
    auto const& shape = in.layout.shape;
    bool const plain =
        in.strategy.schedule() == PipelineSchedule::one_f_one_b || in.strategy.schedule() == PipelineSchedule::gpipe;
    std::int64_t const visits = std::int64_t{2} * shape.micro_batches * in.layout.chunks.front().units();
    if (in.pipeline() || shape.chunks > 1 || !plain || visits > most_visits) { return std::nullopt; }
    return StageWalk{in}.run();
}

} // namespace headroom::training::simulation
