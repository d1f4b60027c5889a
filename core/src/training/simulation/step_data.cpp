#include "step_data.hpp"

#include "training/stage.hpp"
#include "training/traffic.hpp"

#include "headroom/network/compression.hpp"
#include "headroom/training/host_launches.hpp"
#include "headroom/training/placement.hpp"

#include <algorithm>

namespace headroom::training::simulation {

using namespace headroom::network;

namespace {

/// Parameters of every unit of a stage, chunk by chunk in the order of the forward pass.
struct UnitParameters {
    std::vector<std::vector<StageParameters>> units;
    StageParameters all;
    /// Trained parameters of each unit: all of them, or none where only the last blocks are trained.
    std::vector<std::vector<StageParameters>> trained_units = {};
    StageParameters all_trained = {};
};

/// Marks the trained units where the first blocks are frozen.
void find_trained(UnitParameters& result, StepSetting const& setting, Strategy const& strategy,
                  StepLayout const& layout, int stage) {
    result.trained_units = result.units;
    result.all_trained = result.all;
    if (!has_frozen_blocks(setting.model, strategy)) { return; }
    int const frozen = depth_of(setting.model) - strategy.trained_layers;
    result.all_trained = {};
    for (int chunk = 0; chunk < layout.shape.chunks; ++chunk) {
        ChunkWork const& work = layout.at(stage, chunk);
        auto& units = result.trained_units[static_cast<std::size_t>(chunk)];
        for (std::size_t u = 0; u < units.size(); ++u) {
            int const nth = static_cast<int>(u) - (work.embedding ? 1 : 0);
            if (nth == work.blocks) { units[u] = stage_parameters(setting, strategy, StageShare{.last = true}); }
            if (nth < 0 || (nth < work.blocks && work.first_block + nth < frozen)) { units[u] = {}; }
            result.all_trained.dense += units[u].dense;
            result.all_trained.experts += units[u].experts;
        }
    }
}

UnitParameters unit_parameters(StepSetting const& setting, Strategy const& strategy, StepLayout const& layout,
                               int stage) {
    UnitParameters result;
    auto const add = [&](std::vector<StageParameters>& to, StageParameters const& held) {
        to.push_back(held);
        result.all.dense += held.dense;
        result.all.experts += held.experts;
    };
    bool const list = !setting.model.operators.empty(); // operators represent all parameters together
    auto const block = stage_parameters(setting, strategy, StageShare{.blocks = 1.0, .first = list, .last = list});
    for (int chunk = 0; chunk < layout.shape.chunks; ++chunk) {
        ChunkWork const& work = layout.at(stage, chunk);
        auto& units = result.units.emplace_back();
        if (work.embedding) { add(units, stage_parameters(setting, strategy, StageShare{.first = true})); }
        double const share = list ? 1.0 / std::max(1, work.blocks) : 1.0;
        for (int i = 0; i < work.blocks; ++i) {
            add(units, {.dense = block.dense * share, .experts = block.experts * share});
        }
        if (work.head) {
            // a table that both ends share is kept once where one stage has both
            bool const with_embedding =
                layout.shape.stages == 1 || (layout.layout == ChunkLayout::v && layout.at(stage, 0).embedding);
            auto head = stage_parameters(setting, strategy, StageShare{.first = with_embedding, .last = true});
            if (with_embedding) { head.dense -= stage_parameters(setting, strategy, StageShare{.first = true}).dense; }
            add(units, head);
        }
    }
    find_trained(result, setting, strategy, layout, stage);
    return result;
}

/// Trained fractions of a stage's parameters.
TrainedParts trained_of(StepSetting const& setting, Strategy const& strategy, UnitParameters const& held) {
    if (!has_frozen_blocks(setting.model, strategy)) { return trained_parts(strategy, setting.model, setting.count); }
    auto const fraction = [](double part, double all) { return all > 0.0 ? part / all : 0.0; };
    return {.dense = fraction(held.all_trained.dense, held.all.dense),
            .experts = fraction(held.all_trained.experts, held.all.experts)};
}

DataTraffic traffic_of(StepSetting const& setting, Strategy const& strategy, UnitParameters const& held) {
    return data_traffic(setting, strategy, place(strategy, setting.cluster.domain),
                        calibrated_fabric(setting.cluster, setting.constants), held.all,
                        trained_of(setting, strategy, held));
}

/// Bytes that compressing and decompressing a stage's gradients reads and writes.
double compression_bytes(StepSetting const& setting, Strategy const& strategy, DataTraffic const& traffic) {
    if (strategy.compression.kind == Compression::none || strategy.data_ranks() == 1) { return 0.0; }
    double const width = state_widths(setting.framework, strategy.precision).reduced;
    double const elements = (traffic.dense.gradients + traffic.experts.gradients).base() / width;
    return compressed_gradients(strategy.compression, elements, width, Ranks{strategy.data_ranks()})
               .touched_per_parameter *
           elements;
}

/// One unit's share of the stage's traffic and state.
class Shares {
public:
    Shares(StageParameters const& unit, StageParameters const& all)
        : dense_{all.dense > 0.0 ? unit.dense / all.dense : 0.0},
          experts_{all.experts > 0.0 ? unit.experts / all.experts : 0.0},
          both_{all.all() > 0.0 ? unit.all() / all.all() : 0.0} {}
    [[nodiscard]] Ticks of(Seconds dense, Seconds experts) const {
        return ticks_of(dense * dense_ + experts * experts_);
    }
    [[nodiscard]] double of(double dense, double experts) const { return dense * dense_ + experts * experts_; }
    [[nodiscard]] Ticks of(Seconds all) const { return ticks_of(all * both_); }

private:
    double dense_, experts_, both_;
};

} // namespace

DataRules data_rules(StepSetting const& setting, Strategy const& strategy) {
    DataRules rules;
    auto const& framework = setting.framework;
    rules.sharded = strategy.zero == 3;
    rules.gathers = strategy.zero == 1 || strategy.zero == 2;
    auto const overlapped = [&](TrafficKind kind, ExposedTraffic& traffic) {
        auto const exposure = data_exposure(strategy, framework, kind);
        traffic.blocks = rules.sharded && exposure == DataExposure::all;
        traffic.share = rules.sharded                    ? 0.0
                        : exposure == DataExposure::all  ? 1.0
                        : exposure == DataExposure::most ? setting.constants[Constant::gradients_exposed_old]
                                                         : 0.0;
        return exposure == DataExposure::excess;
    };
    bool const reduces = overlapped(TrafficKind::gradients, rules.reduce);
    bool const gathers = overlapped(TrafficKind::parameters, rules.gather);
    rules.reduces_each_micro_batch = reduces_each_micro_batch(strategy, framework);
    rules.gathers_each_micro_batch = gathers_each_micro_batch(strategy, framework);
    if (reduces || (gathers && strategy.zero > 0)) {
        rules.slowdown = setting.constants[rules.sharded ? Constant::shard_overlap_loss : Constant::gradients_exposed];
    }
    rules.backward_gathers = gathers_of_micro_batch(strategy, framework) - 1.0;
    return rules;
}

DataTraffic data_traffic_of(StepSetting const& setting, Strategy const& strategy, int stage) {
    auto const held = unit_parameters(setting, strategy, step_layout(setting, strategy), stage);
    return traffic_of(setting, strategy, held);
}

StageTraffic stage_traffic(StepSetting const& setting, Strategy const& strategy, StepLayout const& layout, int stage,
                           StepMessages* messages) {
    auto const held = unit_parameters(setting, strategy, layout, stage);
    bool const some = has_frozen_blocks(setting.model, strategy);
    auto const trained = trained_of(setting, strategy, held);
    auto traffic = traffic_of(setting, strategy, held);
    if (messages != nullptr) { messages->lengthen(traffic); }
    Seconds const kept_block = kept_block_transfer(setting, strategy);
    double const byte = 1.0 / sustained_memory(setting).base();
    auto const kept = [&](double Shards::*part) {
        return trained.dense * held.all.dense / shards_of(strategy).*part +
               trained.experts * held.all.experts / expert_shards_of(strategy).*part;
    };
    double const accumulated = kept(strategy.zero == 2 ? &Shards::weights : &Shards::gradients);
    Seconds const accumulate{setting.constants[Constant::accumulate_bytes] * accumulated * byte};
    Seconds const compress{compression_bytes(setting, strategy, traffic) * byte};
    auto const widths = state_widths(setting.framework, strategy.precision);
    double const elements = traffic.dense.gradients.base() / widths.reduced;
    double const expert_elements = traffic.experts.gradients.base() / widths.reduced;

    StageTraffic result;
    for (int chunk = 0; chunk < layout.shape.chunks; ++chunk) {
        auto& units = result.units.emplace_back();
        ChunkWork const& work = layout.at(stage, chunk);
        StageParameters of_chunk;
        for (std::size_t u = 0; u < held.units[static_cast<std::size_t>(chunk)].size(); ++u) {
            auto const& unit = held.trained_units[static_cast<std::size_t>(chunk)][u];
            Shares const share{unit, held.all_trained};
            Shares const whole{held.units[static_cast<std::size_t>(chunk)][u], held.all};
            auto const state = state_with_the_host(setting, strategy, unit, some ? TrainedParts{} : trained);
            auto const nth = static_cast<int>(units.size()) - (work.embedding ? 1 : 0);
            bool const block = nth >= 0 && nth < work.blocks;
            units.push_back(
                {.reduce = share.of(traffic.dense.reduce + traffic.dense.replicate,
                                    traffic.experts.reduce + traffic.experts.replicate),
                 .gather = (strategy.zero == 3 ? whole : share).of(traffic.dense.gather, traffic.experts.gather),
                 .compress = share.of(compress),
                 .host_down = ticks_of(state.optimizer_transfer - state.upward),
                 .host_up = ticks_of(state.upward),
                 .kept_copy = block ? ticks_of(kept_block) : 0,
                 .elements = share.of(elements, expert_elements)});
            of_chunk.dense += unit.dense;
            of_chunk.experts += unit.experts;
        }
        result.accumulate.push_back(Shares{of_chunk, held.all_trained}.of(accumulate));
    }
    if (!offloads_optimizer(strategy.offload)) {
        double const moved = setting.constants[Constant::optimizer_traffic] * update_share(setting.framework) * byte;
        result.update = ticks_of(Seconds{(moved + update_products(setting, strategy)) * kept(&Shards::optimizer)});
    }
    result.host_update = ticks_of(state_with_the_host(setting, strategy, held.all, trained).update);
    result.blocking = ticks_of(traffic.blocking);
    return result;
}

void explain_stage_traffic(TermBook& book, StepSetting const& setting, Strategy const& strategy,
                           StepLayout const& layout, int stage) {
    auto const held = unit_parameters(setting, strategy, layout, stage);
    auto const trained = trained_of(setting, strategy, held);
    auto const traffic = stage_traffic(setting, strategy, layout, stage);
    double const blocks = setting.model.operators.empty() ? layout.blocks_of(stage) : depth_of(setting.model);
    explain_parameters(book, "stage", setting, strategy, blocks, held.all);
    explain_data_traffic(book, setting, strategy, held.all, trained);
    explain_host_traffic(book, setting, strategy, held.all, trained);
    std::string const accumulated =
        "accumulate_bytes * " +
        explain_kept(book, "stage", strategy, strategy.zero == 2 ? "weights" : "gradients", trained) + " / memory_rate";
    explain(book, setting.constants, Constant::accumulate_bytes);
    double all = 0.0;
    std::string sum;
    for (std::size_t chunk = 0; chunk < traffic.accumulate.size(); ++chunk) {
        std::string share;
        if (traffic.accumulate.size() > 1) {
            double of_chunk = 0.0;
            for (StageParameters const& unit : held.trained_units[chunk]) { of_chunk += unit.all(); }
            share = "chunk_" + std::to_string(chunk + 1) + "_trained_share";
            book.add(TermKind::shape, share, "", "trained parameters of the chunk over those of the stage",
                     held.all_trained.all() > 0.0 ? of_chunk / held.all_trained.all() : 0.0);
            share += " * ";
        }
        sum += (chunk > 0 ? " + picoseconds(" : "picoseconds(") + share + accumulated + ")";
        all += static_cast<double>(traffic.accumulate[chunk]) * 1e-12;
    }
    book.formula("accumulate_seconds", "s", sum, all);
    Ticks compress = 0;
    for (auto const& chunk : traffic.units) {
        for (UnitTraffic const& unit : chunk) { compress += unit.compress; }
    }
    if (compress > 0) {
        book.add(TermKind::algorithm, "compress_seconds", "s", "passes over gradients to compress them",
                 static_cast<double>(compress) * 1e-12, {"dense_gradients_bytes", "memory_rate"});
    }
    std::string const updated = explain_kept(book, "stage", strategy, "optimizer", trained);
    std::string const moved = explain_update(book, setting, strategy);
    book.formula("update_seconds", "s",
                 offloads_optimizer(strategy.offload) ? "0" : "picoseconds((" + moved + ") * " + updated + ")",
                 static_cast<double>(traffic.update) * 1e-12);
}

} // namespace headroom::training::simulation
