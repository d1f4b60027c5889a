#pragma once

#include "training/simulation/step_data.hpp"

#include "headroom/training/step.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <vector>

namespace headroom {

/// Times below which no price of a strategy can be, seconds. They need neither an order of passes nor a run:
///
///     pipeline   way to the stage + m W + way back                      every stage works off its passes one by one
///     data       max(way, exposed part of G, G - F) + m W + max(exposed part of T, T - B) + update
///     ZeRO 3     max(way + m W + what blocks, D) + update,   K + waits + loss max(0, D - waits) + update
///
/// m micro-batches, W work of a stage for one, K kernels of all; F and B the forward and backward passes with which gathering its weights G and
/// reducing its gradients T may overlap; D all of its traffic, one transfer after the other; loss: that of kernels by overlap.
/// Holds for:  1F1B and interleaved stages without offload, compression and servers; `bench_screen_bench` compares it with each
///             price.
class PriceFloor {
public:
    PriceFloor(training::StepSetting const& setting, double pace) : setting_{setting}, pace_{pace} {}

    /// Costs of layers, one computation for all strategies of a shape.
    training::LayerCosts const& costs(training::Strategy const& strategy) { return shape_of(strategy).costs; }

    /// The first row of the three: without traffic of data, a tenth of the work.
    double of_pipeline(training::Strategy const& strategy) { return floor(strategy, false); }
    /// The largest of the three.
    double of_all(training::Strategy const& strategy) { return floor(strategy, true); }

private:
    /// Durations of both passes of one unit, or of all before it, seconds.
    struct Work {
        double forward = 0.0, backward = 0.0; ///< on the chip
        double kernels = 0.0;                 ///< of these, kernels, which traffic slows
        double idle = 0.0;                    ///< and exposed collectives and waits for launches
        double launches = 0.0;                ///< of both passes
        /// Adds so often.
        void add(Work const& other, double times = 1.0) {
            forward += times * other.forward, backward += times * other.backward;
            kernels += times * other.kernels, idle += times * other.idle, launches += times * other.launches;
        }
        [[nodiscard]] double both() const { return forward + backward; }
    };
    struct Shape {
        training::LayerCosts costs;
        std::vector<Work> before; ///< sums of the blocks before each one, and of all
        Work embedding, head;
    };
    struct Stage {
        Work work;                            ///< of one micro-batch, all chunks
        Work first_chunk;                     ///< of these the first one
        double forward = 0.0, backward = 0.0; ///< with which traffic may overlap before other work waits for it
    };

    /// Until the first pass of a stage, and with what it waits for before its first backward pass.
    struct Way {
        double idle = 0.0, all = 0.0;
    };

    static double seconds(Ticks ticks) { return static_cast<double>(ticks) * 1e-12; }

    static Work work_of(training::simulation::PassUnit const& unit) {
        using namespace training;
        auto const &there = unit[PassKind::forward], &back = unit[PassKind::backward];
        Work work{.forward = seconds(there.chip()), .backward = seconds(back.chip())};
        for (auto const* pass : {&there, &back}) {
            for (auto const& item : pass->items) {
                bool const computes = item.role == simulation::Role::compute;
                (computes && item.kind != WorkKind::launch ? work.kernels : work.idle) += seconds(item.cost);
                if (computes) { work.launches += seconds(item.launch); }
            }
        }
        return work;
    }

    Shape const& shape_of(training::Strategy const& s) {
        using namespace training;
        std::tuple const key{s.tp,
                             s.cp,
                             s.micro_batch,
                             s.sequence_parallel,
                             s.recompute,
                             s.recomputed,
                             s.ep,
                             s.etp,
                             s.zero == 3 && s.data_ranks() > 1,
                             s.pp > 1};
        auto const [found, is_new] = shapes_.try_emplace(key);
        Shape& shape = found->second;
        if (!is_new) { return shape; }
        LayerShape const layer = training::shape_of(s, setting_.workload);
        shape.costs = layer_costs(step_program(setting_.model, layer, setting_.framework), layer, setting_.cluster,
                                  setting_.framework, setting_.constants);
        shape.costs.pace(pace_);
        auto const order = simulation::block_order(setting_, s);
        auto const units = simulation::step_units(setting_, s, shape.costs, order, StepDetail::block);
        shape.before.emplace_back();
        for (std::size_t const variant : order.variant_of) {
            shape.before.push_back(shape.before.back());
            shape.before.back().add(work_of(units.variants[variant]));
        }
        shape.embedding = work_of(units.embedding), shape.head = work_of(units.head);
        return shape;
    }

    static Work chunk_of(Shape const& shape, training::simulation::ChunkWork const& chunk) {
        auto const first = static_cast<std::size_t>(chunk.first_block);
        Work work = shape.before[first + static_cast<std::size_t>(chunk.blocks)];
        work.add(shape.before[first], -1.0);
        if (chunk.embedding) { work.add(shape.embedding); }
        if (chunk.head) { work.add(shape.head); }
        return work;
    }

    /// Stages in order. All chunks but the last of an interleaved stage may run once for each stage before its last chunk does.
    static std::vector<Stage> stages_of(Shape const& shape, training::simulation::StepLayout const& layout) {
        std::vector<Stage> stages(static_cast<std::size_t>(layout.shape.stages));
        double const turns =
            std::min(layout.shape.stages, layout.shape.micro_batches) * (layout.shape.chunks - 1.0) + 1.0;
        for (int i = 0; i < layout.shape.stages; ++i) {
            Stage& stage = stages[static_cast<std::size_t>(i)];
            for (int chunk = 0; chunk < layout.shape.chunks; ++chunk) {
                Work const work = chunk_of(shape, layout.at(i, chunk));
                if (chunk == 0) { stage.first_chunk = work; }
                stage.work.add(work);
                stage.forward = std::max(stage.forward, turns * work.forward);
                stage.backward = std::max(stage.backward, turns * work.backward);
            }
        }
        return stages;
    }

    double floor(training::Strategy const& strategy, bool with_data) {
        using namespace training;
        Shape const& shape = shape_of(strategy);
        auto const layout = simulation::step_layout(setting_, strategy);
        auto const stages = stages_of(shape, layout);
        double const m = micro_batch_count(strategy, setting_.workload);
        double const hop = hop_time(setting_, strategy, place(strategy, setting_.cluster.domain),
                                    calibrated_fabric(setting_.cluster, setting_.constants))
                               .base();
        double behind = 0.0; // both passes of the stages after this one, for one micro-batch
        for (Stage const& one : stages) { behind += one.work.forward + one.work.backward + 2.0 * hop; }
        double least = 0.0, there = 0.0, back = 0.0;
        for (std::size_t i = 0; i < stages.size(); ++i) {
            Stage const& stage = stages[i];
            behind -= stage.work.forward + stage.work.backward + 2.0 * hop;
            double begin = there;
            if (layout.shape.chunks == 1) { // the first gradients arrive after as many forward passes as stages follow
                double const ahead = std::min(m, static_cast<double>(stages.size() - i)) - 1.0;
                begin = std::max(begin, there + behind - ahead * stage.work.forward);
            }
            least = std::max(least, begin + m * std::max(stage.work.both(), stage.work.launches) + back);
            if (with_data) {
                auto const traffic = simulation::stage_traffic(setting_, strategy, layout, static_cast<int>(i));
                least = std::max(least, with_traffic(strategy, stage, traffic, {there, begin}, m));
                if (i == 0) { back += seconds(traffic.update); } // the way back ends there
            }
            there += stage.first_chunk.forward + hop, back += stage.first_chunk.backward + hop;
        }
        return least + setting_.constants[Constant::step_overhead];
    }

    /// The second and the third row for one stage.
    double with_traffic(training::Strategy const& strategy, Stage const& stage,
                        training::simulation::StageTraffic const& traffic, Way const& way, double m) const {
        using namespace training;
        double const begin = way.all;
        double gather = 0.0, reduce = 0.0;
        for (auto const& chunk : traffic.units) {
            for (auto const& unit : chunk) { gather += seconds(unit.gather), reduce += seconds(unit.reduce); }
        }
        auto const rules = simulation::data_rules(setting_, strategy);
        double const accumulate =
            m * seconds(std::accumulate(traffic.accumulate.begin(), traffic.accumulate.end(), Ticks{0}));
        double const work = m * stage.work.both() + accumulate;
        double const update = seconds(traffic.update) + seconds(traffic.blocking);
        double const launched = way.idle + m * stage.work.launches; // the CPU does not wait for weights
        double all = rules.gathers ? gather + reduce : reduce, blocked = 0.0;
        double least = 0.0;
        if (rules.sharded) {
            double const whole = whole_micro_batches(strategy, setting_.workload);
            double const gathered =
                gather * (1.0 + rules.backward_gathers) * (rules.gathers_each_micro_batch ? whole : 1.0);
            double const reduced = reduce * (rules.reduces_each_micro_batch ? whole : 1.0);
            blocked = (rules.gather.blocks ? gathered : 0.0) + (rules.reduce.blocks ? reduced : 0.0);
            all = gathered + reduced;
            least = std::max({begin + work + blocked, launched, all});
        } else {
            double const g = rules.gather.share, r = rules.reduce.share;
            double const lead = rules.gathers ? std::max({begin, g * gather, gather - stage.forward}) : begin;
            least = std::max(lead + work + std::max(0.0, (1.0 - r) * reduce - stage.backward), launched) + r * reduce;
        }
        double const waits = way.idle + m * stage.work.idle + blocked;
        double const slowed = rules.slowdown * std::max(0.0, all - waits);
        return std::max(least, waits + m * stage.work.kernels + accumulate + slowed) + update;
    }

    training::StepSetting const& setting_;
    double pace_;
    std::map<std::tuple<int, int, int, bool, training::Recompute, unsigned, int, int, bool, bool>, Shape> shapes_;
};

} // namespace headroom
