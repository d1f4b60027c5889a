#include "traffic.hpp"

#include "headroom/network/compression.hpp"
#include "headroom/network/local_updates.hpp"
#include "headroom/network/server.hpp"
#include "headroom/training/kernel.hpp"
#include "headroom/training/memory.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace headroom::training {

using namespace headroom::network;

namespace {

/// Local updates exchange the change of each parameter, in 32 bits. Source: [DiLoCo]
constexpr double local_update_bytes = 4.0;

/// Duration of a collective, its start included; zero for a group of one or no bytes.
Seconds priced(StepSetting const& setting, Collective collective, Bytes bytes, Group group, Fabric const& fabric) {
    if (group.size <= 1 || bytes.base() <= 0.0) { return Seconds{}; }
    return Seconds{setting.constants[Constant::base_latency]} +
           fastest(collective, {bytes}, group, fabric).time.total();
}

/// Prices the reduction and gathering of one set of parameters over its group.
class Pricer {
public:
    Pricer(StepSetting const& setting, Strategy const& strategy, Fabric const& fabric)
        : setting_{setting}, strategy_{strategy}, fabric_{fabric} {}

    [[nodiscard]] ParameterTraffic price(double held, double trained, Group data, Group shard, Group replicas) const {
        ParameterTraffic traffic;
        traffic.gradients = Bytes{held * trained * state_widths(setting_.framework, strategy_.precision).reduced};
        traffic.parameters =
            Bytes{(strategy_.zero == 3 ? held : held * trained) * gathered_bytes(setting_.framework, strategy_)};
        traffic.group = strategy_.zero > 0 ? shard : data;
        if (strategy_.zero > 0) { traffic.replicas = replicas; }
        if (traffic.ranks() > 1 && held > 0.0) { add_times(traffic); }
        return traffic;
    }

private:
    void add_times(ParameterTraffic& traffic) const {
        if (strategy_.zero == 0) {
            traffic.reduce = whole_reduction(traffic);
        } else {
            traffic.reduce = time(Collective::reduce_scatter, traffic.gradients, traffic.group);
            traffic.gather = time(Collective::all_gather, traffic.parameters, traffic.group);
            traffic.replicate = time(Collective::all_reduce, traffic.gradients / traffic.group.size, traffic.replicas);
        }
        bool const unbucketed_layers =
            strategy_.zero == 3 && setting_.framework.gradient_overlap == GradientOverlap::exposed;
        if (unbucketed_layers) {
            double const unbucketed = setting_.constants[Constant::unbucketed_traffic];
            for (Seconds* part : {&traffic.gather, &traffic.reduce, &traffic.replicate}) { *part *= unbucketed; }
        }
        traffic.reduce *= setting_.framework.extra_reduction;
        traffic.replicate *= setting_.framework.extra_reduction;
    }

    [[nodiscard]] Seconds whole_reduction(ParameterTraffic& traffic) const {
        bool const nothing = traffic.gradients.base() <= 0.0; // frozen experts
        if (strategy_.compression.kind == Compression::none || nothing) {
            return time(Collective::all_reduce, traffic.gradients, traffic.group);
        }
        double const width = state_widths(setting_.framework, strategy_.precision).reduced;
        std::array const matrices{typical_matrix(traffic.gradients.base() / width)};
        auto const sent = compressed_gradients(strategy_.compression, matrices, width, Ranks{traffic.group.size});
        traffic.sent = sent.byte_ratio;
        return compressed_time(sent, traffic.group, fabric_).total() +
               Seconds{setting_.constants[Constant::base_latency]} * sent.rounds;
    }
    /// All gradients as matrices of the model's commonest shape, h x f.
    [[nodiscard]] GradientMatrix typical_matrix(double elements) const {
        double const h = std::max(1, setting_.model.hidden);
        double const f = std::max(1, setting_.model.moe.experts > 0 ? setting_.model.moe.ffn : setting_.model.ffn);
        return {.rows = h, .columns = f, .count = elements / (h * f)};
    }

    [[nodiscard]] Seconds time(Collective collective, Bytes bytes, Group group) const {
        return priced(setting_, collective, bytes, group, fabric_);
    }

    StepSetting const& setting_;
    Strategy const& strategy_;
    Fabric const& fabric_;
};

/// Gradients that servers sum instead of the ranks: tensor ranks and stages send theirs to the same servers.
/// Source: [Li2014]
Seconds through_servers(StepSetting const& setting, Strategy const& strategy, ParameterTraffic const& traffic,
                        Fabric const& fabric) {
    int const senders = strategy.workers();
    bool const leaves = traffic.group.domains() > 1 || senders > setting.cluster.domain;
    Link const port = leaves ? fabric.scale_out : fabric.scale_up;
    return parameter_server({traffic.gradients}, Ranks{senders},
                            {.ports = Ranks{strategy.servers}, .port = port, .worker = port})
               .total() +
           Seconds{setting.constants[Constant::base_latency]};
}

} // namespace

StageParameters held_parameters(StepSetting const& setting, Strategy const& strategy) {
    if (strategy.pp == 1 || schedule_row(strategy.schedule()).layout != ChunkLayout::bidirectional) {
        return fullest_stage_parameters(setting, strategy);
    }
    auto const both = [&](StagePlace down, StagePlace up) {
        auto sum = stage_parameters(setting, strategy, down);
        auto const other = stage_parameters(setting, strategy, up);
        sum.dense += other.dense;
        sum.experts += other.experts;
        return sum;
    };
    auto const ends = both(StagePlace::first, StagePlace::last), middle = both(StagePlace::middle, StagePlace::middle);
    return strategy.pp == 2 || ends.all() >= middle.all() ? ends : middle;
}

namespace {

/// With two directions a part of the model is on two stages: twice as many ranks sum its gradients.
Group over_copies(Strategy const& strategy, Group group) {
    bool const two = strategy.pp > 1 && schedule_row(strategy.schedule()).layout == ChunkLayout::bidirectional;
    return two ? Group{.size = 2 * group.size, .per_domain = group.per_domain} : group;
}

/// Moves the reduction of every step to `blocking`: parameter servers, or a synchronisation every few steps.
void move_to_blocking(StepSetting const& setting, Strategy const& strategy, Fabric const& fabric,
                      DataTraffic& traffic) {
    for (ParameterTraffic* part : {&traffic.dense, &traffic.experts}) {
        if (part->ranks() == 1 || part->gradients.base() <= 0.0) { continue; }
        if (strategy.servers > 0) {
            traffic.blocking += through_servers(setting, strategy, *part, fabric);
            traffic.blocking_bytes += 2.0 * part->gradients;
            part->reduce = Seconds{};
        } else if (strategy.local_steps > 1) {
            Group const apart = strategy.zero == 3 ? part->replicas : part->group;
            double const width = state_widths(setting.framework, strategy.precision).reduced;
            Bytes const moved =
                part->gradients * (local_update_bytes / width) / (strategy.zero == 3 ? part->group.size : 1.0);
            double const steps = strategy.local_steps;
            traffic.blocking += priced(setting, Collective::all_reduce, moved, apart, fabric) / steps;
            traffic.blocking_bytes += apart.size > 1 ? moved / steps : Bytes{};
            (strategy.zero == 3 ? part->replicate : part->reduce) = Seconds{};
        }
    }
}

} // namespace

DataTraffic data_traffic(StepSetting const& setting, Strategy const& strategy, Placement const& placement,
                         Fabric const& fabric, StageParameters const& held, TrainedParts const& trained) {
    Pricer const pricer{setting, strategy, fabric};
    DataTraffic traffic;
    bool const shared = shards_over_copies(strategy);
    auto const price = [&](double parameters, double part, Group data, Group shard, Group replicas) {
        Group const sharded = shared ? over_copies(strategy, shard) : shard;
        Group const copies = shared ? replicas : over_copies(strategy, replicas);
        return pricer.price(parameters, part, over_copies(strategy, data), sharded, copies);
    };
    traffic.dense = price(held.dense, trained.dense, placement.data, placement.shard, placement.replicate);
    if (held.experts > 0.0) {
        traffic.experts = price(held.experts, trained.experts, placement.expert_data, placement.expert_shard,
                                placement.expert_replicate);
    }
    if (strategy.servers > 0 || strategy.local_steps > 1) { move_to_blocking(setting, strategy, fabric, traffic); }
    return traffic;
}

PlacedTraffic placed_traffic(StepSetting const& setting, Strategy const& strategy) {
    auto const fabric = calibrated_fabric(setting.cluster, setting.constants);
    auto const placement = place(strategy, setting.cluster.domain);
    auto const held = held_parameters(setting, strategy);
    auto const trained = trained_parts(strategy, setting.model, setting.count);
    return {placement, held, data_traffic(setting, strategy, placement, fabric, held, trained)};
}

BytesPerSecond sustained_memory(StepSetting const& setting) {
    return sustained_memory(setting.cluster.accelerator, setting.constants);
}

double update_products(StepSetting const& setting, Strategy const& strategy) {
    double const flops = setting.framework.update_flops;
    if (flops == 0.0 || strategy.trained == Trained::lora) { return 0.0; }
    auto const rates =
        kernel_rates(setting.cluster.accelerator, strategy.precision, setting.framework, setting.constants);
    return flops / rates.head_gemm.base();
}

bool runs_without_flush(Strategy const& strategy) {
    return strategy.pp > 1 && schedule_row(strategy.schedule()).asynchronous;
}

double updates_per_step(Strategy const& strategy, double micro_batches) {
    return runs_without_flush(strategy) ? micro_batches : 1.0;
}

double reductions_per_step(Strategy const& strategy, Framework const& framework, double micro_batches) {
    return reduces_each_micro_batch(strategy, framework) ? micro_batches : updates_per_step(strategy, micro_batches);
}

double gatherings_per_step(Strategy const& strategy, Framework const& framework, double micro_batches) {
    return gathers_each_micro_batch(strategy, framework) ? micro_batches : updates_per_step(strategy, micro_batches);
}

bool reduces_each_micro_batch(Strategy const& strategy, Framework const& framework) {
    return strategy.zero >= 2 && strategy.pp == 1 && framework.gathers_per_micro_batch;
}

bool gathers_each_micro_batch(Strategy const& strategy, Framework const& framework) {
    return strategy.zero == 3 && (strategy.pp > 1 || framework.gathers_per_micro_batch);
}

double gathers_of_micro_batch(Strategy const& strategy, Framework const& framework) {
    bool const releases = framework.gradient_overlap == GradientOverlap::exposed;
    return releases && strategy.recompute == Recompute::full ? 3.0 : 2.0;
}

DataExposure data_exposure(Strategy const& strategy, Framework const& framework, TrafficKind kind) {
    Overlap const overlap = strategy.overlap[kind];
    if (overlap == Overlap::off) { return DataExposure::all; }
    bool const late = overlap == Overlap::on && framework.gradient_overlap == GradientOverlap::exposed;
    if (!late) { return DataExposure::excess; }
    return strategy.zero == 3 ? DataExposure::all : DataExposure::most;
}

Bytes boundary_bytes(StepSetting const& setting, Strategy const& strategy) {
    double const tokens = tokens_of(shape_of(strategy, setting.workload));
    return Bytes{tokens * setting.model.hidden * element_bytes(strategy.precision) / strategy.tp};
}

Seconds hop_time(StepSetting const& setting, Strategy const& strategy, Placement const& placement,
                 Fabric const& fabric) {
    if (strategy.pp == 1) { return Seconds{}; }
    bool const leaves = placement.pipeline_leaves_domain;
    return point_to_point({boundary_bytes(setting, strategy)}, leaves ? fabric.scale_out : fabric.scale_up).total() +
           Seconds{setting.constants[Constant::base_latency]};
}

HostTraffic state_with_the_host(StepSetting const& setting, Strategy const& strategy, StageParameters const& held,
                                TrainedParts const& trained) {
    if (!offloads_optimizer(strategy.offload)) { return {}; }
    auto const widths = state_widths(setting.framework, strategy.precision);
    double const updated = trained.dense * held.dense / shards_of(strategy).optimizer +
                           trained.experts * held.experts / expert_shards_of(strategy).optimizer;
    Bytes upward{updated * widths.weights};
    if (offloads_parameters(strategy.offload)) {
        double const kept =
            held.dense / shards_of(strategy).weights + held.experts / expert_shards_of(strategy).weights;
        upward = Bytes{2.0 * micro_batch_count(strategy, setting.workload) * kept *
                       gathered_bytes(setting.framework, strategy)};
    }
    Bytes const moved = upward + Bytes{updated * widths.gradients};
    Bytes const touched{updated * setting.constants[Constant::optimizer_traffic] * setting.framework.updated_bytes};
    return {.optimizer_transfer = moved / setting.cluster.host.bandwidth,
            .update = touched / (setting.cluster.host_memory_bandwidth * setting.constants[Constant::host_update]),
            .upward = upward / setting.cluster.host.bandwidth};
}

Seconds kept_block_transfer(StepSetting const& setting, Strategy const& strategy) {
    if (!offloads_activations(strategy.offload)) { return Seconds{}; }
    auto const shape = shape_of(strategy, setting.workload);
    return block_activation_bytes(setting.model, shape, setting.framework) / setting.cluster.host.bandwidth;
}

HostTraffic host_traffic(StepSetting const& setting, Strategy const& strategy) {
    if (has_frozen_blocks(setting.model, strategy)) {
        auto const last = holding_of_last_blocks(setting, strategy, strategy.pp - 1);
        return state_with_the_host(setting, strategy, last.held, last.trained);
    }
    return state_with_the_host(setting, strategy, held_parameters(setting, strategy),
                               trained_parts(strategy, setting.model, setting.count));
}

// ---- explanation ----------------------------------------------------------------------------------------------------

namespace {

/// Adds one part of the parameters, "dense" or "expert", to the terms of an explanation.
class PartTerms {
public:
    PartTerms(TermBook& book, StepSetting const& setting, Strategy const& strategy, Fabric const& fabric,
              std::string part, ParameterTraffic const& traffic)
        : book_{book},
          setting_{setting},
          strategy_{strategy},
          fabric_{fabric},
          part_{std::move(part)},
          traffic_{traffic} {}

    void add() {
        std::string const held = "stage_" + part_ + "_parameters", trained = "stage_" + part_ + "_trained";
        book_.formula(part_ + "_gradients_bytes", "B", held + " * " + trained + " * bytes_of_reduced_gradient",
                      traffic_.gradients.base());
        book_.formula(part_ + "_weights_bytes", "B",
                      held + (strategy_.zero == 3 ? "" : " * " + trained) + " * bytes_of_gathered_weight",
                      traffic_.parameters.base());
        bool const compressed = strategy_.compression.kind != Compression::none;
        reduce_ = "0", gather_ = "0";
        if (traffic_.reduce > Seconds{} && compressed && strategy_.zero == 0) {
            reduce_ = part_ + "_gradients_seconds";
            book_.add(TermKind::algorithm, reduce_, "s", "compressed gradients", traffic_.reduce.base(),
                      {part_ + "_gradients_bytes", "base_latency"});
        } else if (traffic_.reduce > Seconds{}) {
            reduce_ =
                collective("_gradients", strategy_.zero == 0 ? Collective::all_reduce : Collective::reduce_scatter,
                           traffic_.gradients, traffic_.group, traffic_.reduce, true);
        }
        if (traffic_.replicate > Seconds{}) {
            std::string const shards = part_ + "_shard_ranks"; // may be 1: then only shard groups reduce
            book_.add(TermKind::option, shards, "", "ranks of a shard group", traffic_.group.size);
            book_.formula(part_ + "_replicas_bytes", "B", part_ + "_gradients_bytes / " + shards,
                          traffic_.gradients.base() / traffic_.group.size);
            reduce_ += " + " + collective("_replicas", Collective::all_reduce, traffic_.gradients / traffic_.group.size,
                                          traffic_.replicas, traffic_.replicate, true);
        }
        if (traffic_.gather > Seconds{}) {
            gather_ = collective("_weights", Collective::all_gather, traffic_.parameters, traffic_.group,
                                 traffic_.gather, false);
        }
    }

    [[nodiscard]] std::string const& reduce() const { return reduce_; }
    [[nodiscard]] std::string const& gather() const { return gather_; }

private:
    std::string collective(char const* what, Collective kind, Bytes bytes, Group group, Seconds time, bool reduces) {
        std::string const name = part_ + what;
        explain_fastest(book_, name, kind, {bytes}, group, fabric_);
        auto const& framework = setting_.framework;
        std::string factors;
        if (strategy_.zero == 3 && framework.gradient_overlap == GradientOverlap::exposed) {
            factors += explain(book_, setting_.constants, Constant::unbucketed_traffic) + " * ";
        }
        if (reduces && framework.extra_reduction != 1.0) {
            book_.add(TermKind::framework, "extra_reduction", "", framework.name, framework.extra_reduction);
            factors += "extra_reduction * ";
        }
        book_.formula(name + "_seconds", "s",
                      factors + "(base_latency + " + name + "_latency_seconds + " + name + "_transfer_seconds)",
                      time.base());
        return name + "_seconds";
    }

    TermBook& book_;
    StepSetting const& setting_;
    Strategy const& strategy_;
    Fabric const& fabric_;
    std::string part_;
    ParameterTraffic const& traffic_;
    std::string reduce_, gather_;
};

} // namespace

void explain_data_traffic(TermBook& book, StepSetting const& setting, Strategy const& strategy,
                          StageParameters const& held, TrainedParts const& trained) {
    auto const fabric = calibrated_fabric(setting.cluster, setting.constants);
    auto const traffic =
        data_traffic(setting, strategy, place(strategy, setting.cluster.domain), fabric, held, trained);
    explain_kept(book, "stage", strategy, "gradients", trained);
    PartTerms dense{book, setting, strategy, fabric, "dense", traffic.dense};
    PartTerms experts{book, setting, strategy, fabric, "expert", traffic.experts};
    dense.add();
    if (held.experts > 0.0) { experts.add(); }
    auto const sum = [&](std::string const& of_dense, std::string const& of_experts) {
        return held.experts > 0.0 ? of_dense + " + " + of_experts : of_dense;
    };
    book.formula("reduce_seconds", "s", sum(dense.reduce(), experts.reduce()), traffic.reduce().base());
    book.formula("gather_seconds", "s", sum(dense.gather(), experts.gather()), traffic.gather().base());
    if (traffic.blocking > Seconds{}) {
        std::vector<std::string> inputs{"dense_gradients_bytes", "base_latency", "scale_up_rate", "scale_out_rate"};
        if (held.experts > 0.0) { inputs.push_back("expert_gradients_bytes"); }
        book.add(TermKind::algorithm, "blocking_seconds", "s",
                 strategy.servers > 0 ? "parameter servers" : "local updates, averaged over steps",
                 traffic.blocking.base(), inputs);
    }
}

void explain_hop(TermBook& book, StepSetting const& setting, Strategy const& strategy) {
    auto const placement = place(strategy, setting.cluster.domain);
    std::string const link = placement.pipeline_leaves_domain ? "scale_out" : "scale_up";
    book.add(TermKind::model, "hidden", "", "hidden size of " + setting.model.name, setting.model.hidden);
    book.formula("boundary_bytes", "B", "tokens * hidden * element_bytes / tp",
                 boundary_bytes(setting, strategy).base());
    book.formula("hop_seconds", "s", "base_latency + " + link + "_latency + boundary_bytes / " + link + "_rate",
                 hop_time(setting, strategy, placement, calibrated_fabric(setting.cluster, setting.constants)).base());
}

void explain_host_traffic(TermBook& book, StepSetting const& setting, Strategy const& strategy,
                          StageParameters const& held, TrainedParts const& trained) {
    std::string const of = "cluster " + setting.cluster.name;
    book.add(TermKind::catalog, "host_bandwidth", "B/s", of, setting.cluster.host.bandwidth.base());
    if (offloads_activations(strategy.offload)) {
        auto const transfer = kept_block_transfer(setting, strategy);
        book.formula("kept_block_transfer_seconds", "s", "kept_block_bytes / host_bandwidth", transfer.base());
    }
    if (!offloads_optimizer(strategy.offload)) { return; }
    auto const traffic = state_with_the_host(setting, strategy, held, trained);
    std::string const updated = explain_kept(book, "stage", strategy, "optimizer", trained);
    std::string const kept = offloads_parameters(strategy.offload)
                                 ? "2 * micro_batches * bytes_of_gathered_weight * " +
                                       explain_kept(book, "stage", strategy, "weights", std::nullopt)
                                 : "bytes_of_weight * " + updated;
    book.formula("optimizer_transfer_seconds", "s",
                 "(bytes_of_gradient * " + updated + " + " + kept + ") / host_bandwidth",
                 traffic.optimizer_transfer.base());
    book.add(TermKind::catalog, "host_memory_bandwidth", "B/s", of, setting.cluster.host_memory_bandwidth.base());
    std::string bytes = explain(book, setting.constants, Constant::optimizer_traffic);
    if (setting.framework.updated_bytes != 1.0) { // the host's update is one pass, whatever the device's would be
        book.add(TermKind::framework, "host_updated_bytes_share", "", "optimizer " + setting.framework.optimizer,
                 setting.framework.updated_bytes);
        bytes += " * host_updated_bytes_share";
    }
    std::string const rate =
        "(host_memory_bandwidth * " + explain(book, setting.constants, Constant::host_update) + ")";
    book.formula("host_update_seconds", "s", updated + " * " + bytes + " / " + rate, traffic.update.base());
}

} // namespace headroom::training
