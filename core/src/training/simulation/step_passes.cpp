#include "step_passes.hpp"

#include "stage_time.hpp"
#include "training/stage.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace headroom::training::simulation {
namespace {

constexpr double ticks_per_second = 1e12;

/// Whether a pass runs an operation of a program.
bool belongs(Operation const& operation, PassKind pass) {
    bool const forward = operation.phase == Phase::forward;
    switch (pass) {
    case PassKind::forward: return forward;
    case PassKind::backward: return !forward;
    case PassKind::input_gradient: return !forward && !operation.weight_gradient;
    case PassKind::weight_gradient: return operation.weight_gradient;
    }
    return false;
}

WorkKind kind_of(Operation const& operation) {
    return is_product(operation) ? WorkKind::gemm : is_attention(operation) ? WorkKind::attention : WorkKind::memory;
}

/// A unit to be written pass by pass.
struct Source {
    LayerProgram const& program;
    bool in_block = true;
    bool recomputes_core = false;
    BlockProgram const* block = nullptr; ///< its launches; null: none
    double issued = 1.0;                 ///< factor on CPU launch time
    std::optional<double> uneven_host{}; ///< `uneven_share` if the CPU runs ahead without bound; else that of each pass
    double repeats = 1.0;                ///< number of times that the program runs
};

/// Waits for irregular launches over the chip's time: the excess of the smooth maximum of chip and CPU time over the larger
/// of the two.
double uneven_share(PassCost const& pass) {
    return pass.chip.base() > 0.0 ? (pass.total() - std::max(pass.chip, pass.host)) / pass.chip : 0.0;
}

/// Writes the passes of blocks and ends as items.
class UnitWriter {
public:
    UnitWriter(OperationPricer const& pricer, Names& names, StepDetail detail, StepMessages* messages)
        : pricer_{pricer}, names_{names}, detail_{detail}, messages_{messages} {}

    double pace = 1.0; ///< factor on kernel and launch times

    void append(Source const& source, PassUnit& unit) {
        for (PassKind const kind :
             {PassKind::forward, PassKind::backward, PassKind::input_gradient, PassKind::weight_gradient}) {
            UnitPass pass = write(source, kind);
            if (detail_ == StepDetail::block) { fuse(pass); }
            add_launches(source, kind, pass);
            auto& items = unit.passes[static_cast<std::size_t>(kind)].items;
            for (double left = source.repeats; left > 0.5; left -= 1.0) {
                items.insert(items.end(), pass.items.begin(), pass.items.end());
            }
        }
    }

private:
    UnitPass write(Source const& source, PassKind kind) {
        UnitPass pass;
        std::array<double, layer_group_count> hidden{},
            kernels{}; // seconds of collectives, and of kernels that they overlap with
        for (auto const& operation : source.program.operations()) {
            if (!belongs(operation, kind)) { continue; }
            auto const price = price_of(operation, source.in_block);
            if (is_kernel(operation)) {
                double const time = price.time.base() * pace;
                pass.items.push_back({.cost = ticks_of(Seconds{time}),
                                      .role = Role::compute,
                                      .kind = kind_of(operation),
                                      .name = names_.index(operation.name)});
                for (std::size_t g = 0; g < layer_group_count; ++g) {
                    if (hides(g, operation, source.recomputes_core)) { kernels[g] += time; }
                }
                kernel_of_item_.push_back(&operation);
            } else {
                auto const group = headroom::training::group_of(operation);
                pass.items.push_back({.cost = ticks_of(price.exposed),
                                      .role = group_roles[group],
                                      .kind = group_kinds[group],
                                      .name = names_.index(operation.name)});
                hidden[group] += (price.time - price.exposed).base();
                kernel_of_item_.push_back(nullptr);
            }
        }
        spread(source, pass, hidden, kernels);
        kernel_of_item_.clear();
        std::erase_if(pass.items, [](PassItem const& item) { return item.cost == 0; });
        return pass;
    }

    [[nodiscard]] OperationPrice price_of(Operation const& operation, bool in_block) const {
        auto price = pricer_.price(operation, in_block);
        if (messages_ != nullptr && !is_kernel(operation)) {
            double const longer = messages_->of_operation(operation);
            price.time *= longer, price.exposed *= longer;
        }
        return price;
    }

    /// Distributes hidden communication over the kernels that it overlaps with, in proportion to their durations.
    /// Without such kernels it is exposed.
    void spread(Source const& source, UnitPass& pass, std::array<double, layer_group_count> const& hidden,
                std::array<double, layer_group_count> const& kernels) const {
        for (std::size_t g = 0; g < layer_group_count; ++g) {
            if (hidden[g] <= 0.0) { continue; }
            if (kernels[g] <= 0.0) {
                pass.items.push_back({.cost = ticks_of(Seconds{hidden[g]}),
                                      .role = group_roles[g],
                                      .kind = group_kinds[g],
                                      .name = names_.index(name_of(group_kinds[g]))});
                continue;
            }
            for (std::size_t i = 0; i < kernel_of_item_.size(); ++i) {
                if (kernel_of_item_[i] == nullptr || !hides(g, *kernel_of_item_[i], source.recomputes_core)) {
                    continue;
                }
                pass.items[i].overlapping[g] = ticks_of(
                    Seconds{hidden[g] * (static_cast<double>(pass.items[i].cost) / ticks_per_second) / kernels[g]});
            }
        }
    }

    /// Adds CPU launch times. The CPU launches a kernel while earlier ones run, at a uniform rate, so the pass takes
    /// the longer of chip and CPU time. Irregular launch delays add one wait at the end of the pass, during which the
    /// CPU stands still, too: a delay does not let it run ahead. A launch-bound pass takes its launch time and this
    /// wait, once.
    void add_launches(Source const& source, PassKind kind, UnitPass& pass) const {
        if (source.block == nullptr || pass.items.empty()) { return; }
        Seconds const issue = pricer_.issue(*source.block, passes_of(*source.block, kind));
        Ticks const launch = ticks_of(issue * (pace * source.issued)), chip = pass.chip();
        if (launch <= 0) { return; }
        double const uneven =
            source.uneven_host.value_or(uneven_share({.chip = seconds_of(chip), .host = seconds_of(launch)}));
        auto const wait = static_cast<Ticks>(uneven * static_cast<double>(chip));
        double const rate = chip > 0 ? static_cast<double>(launch) / static_cast<double>(chip) : 0.0;
        Ticks before = 0, issued = 0;
        for (PassItem& item : pass.items) {
            if (item.role == Role::compute) {
                auto const until = static_cast<Ticks>(rate * static_cast<double>(before));
                item.launch = until - issued;
                issued = until;
            }
            before += std::max(item.cost, *std::ranges::max_element(item.overlapping));
        }
        pass.items.push_back({.cost = wait,
                              .role = Role::compute,
                              .kind = WorkKind::launch,
                              .name = names_.index("wait for the CPU"),
                              .launch = launch - issued});
        if (wait > 0) {
            pass.items.push_back({.role = Role::host,
                                  .kind = WorkKind::launch,
                                  .name = names_.index("wait for the CPU"),
                                  .launch = wait});
        }
    }
    static double passes_of(BlockProgram const& block, PassKind kind) {
        bool const splits = std::ranges::any_of(block.program.operations(), &Operation::weight_gradient);
        switch (kind) {
        case PassKind::forward: return 1.0;
        case PassKind::backward: return block.passes - 1.0;
        case PassKind::input_gradient: return block.passes - (splits ? 2.0 : 1.0);
        case PassKind::weight_gradient: return splits ? 1.0 : 0.0;
        }
        return 0.0;
    }

    /// Merges the items of a pass into one for each kind of work: exposed collectives first, then the kernels. Kernels
    /// that a collective overlaps with stay separate from the others of their kind, because the collective's excess
    /// over the former does not overlap with the latter.
    void fuse(UnitPass& pass) const {
        std::array<std::array<PassItem, 2>, work_kind_count> sums{};
        for (PassItem const& item : pass.items) {
            bool const hides = std::ranges::any_of(item.overlapping, [](Ticks t) { return t > 0; });
            PassItem& sum = sums[static_cast<std::size_t>(item.kind)][hides ? 1 : 0];
            sum.role = item.role, sum.kind = item.kind, sum.name = names_.index(name_of(item.kind));
            sum.cost += item.cost;
            for (std::size_t g = 0; g < layer_group_count; ++g) { sum.overlapping[g] += item.overlapping[g]; }
        }
        pass.items.clear();
        for (WorkKind const kind : {WorkKind::tensor, WorkKind::context, WorkKind::experts, WorkKind::gemm,
                                    WorkKind::attention, WorkKind::memory}) {
            for (PassItem const& sum : sums[static_cast<std::size_t>(kind)]) {
                if (sum.cost > 0) { pass.items.push_back(sum); }
            }
        }
    }

    OperationPricer const& pricer_;
    Names& names_;
    StepDetail detail_;
    StepMessages* messages_;                       ///< null: collectives are priced by closed forms
    std::vector<Operation const*> kernel_of_item_; ///< by item of the pass being written: its kernel
};

} // namespace

BlockProgram program_of(StepSetting const& setting, LayerShape const& shape, BlockVariant const& variant) {
    if (variant.operation >= 0) {
        Operator const& one = setting.model.operators[static_cast<std::size_t>(variant.operation)];
        return operator_program(one, tokens_of(shape) / std::max(1, setting.model.nominal_length), shape);
    }
    return block_program(setting.model, variant.kind, shape, setting.framework, variant.training);
}

Ticks ticks_of(Seconds seconds) { return static_cast<Ticks>(std::llround(seconds.base() * ticks_per_second)); }

std::vector<PassUnit const*> units_of(ChunkWork const& work, BlockOrder const& order, StepUnits const& units) {
    std::vector<PassUnit const*> all;
    if (work.embedding) { all.push_back(&units.embedding); }
    auto const first = static_cast<std::size_t>(work.first_block), count = static_cast<std::size_t>(work.blocks);
    for (std::size_t block = first; block < first + count; ++block) {
        all.push_back(&units.variants[order.variant_of[block]]);
    }
    if (work.head) { all.push_back(&units.head); }
    return all;
}

std::size_t UnitPass::tasks() const {
    std::size_t count = 0;
    for (PassItem const& item : items) {
        count += (item.role == Role::host ? 0 : 1) + (item.launch > 0 ? 1 : 0);
        for (Ticks const overlapping : item.overlapping) { count += overlapping > 0 ? 1 : 0; }
    }
    return count;
}

Ticks UnitPass::chip() const {
    Ticks all = 0;
    for (PassItem const& item : items) { all += std::max(item.cost, *std::ranges::max_element(item.overlapping)); }
    return all;
}

Ticks UnitPass::host() const {
    Ticks all = 0;
    for (PassItem const& item : items) { all += item.launch; }
    return all;
}

std::uint32_t Names::index(std::string_view name) {
    auto const known = std::ranges::find(all_, name);
    auto const index = static_cast<std::uint32_t>(known - all_.begin());
    if (known == all_.end()) { all_.emplace_back(name); }
    return index;
}

StepUnits step_units(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs,
                     BlockOrder const& order, StepDetail detail, StepMessages* messages) {
    auto const shape = shape_of(strategy, setting.workload);
    auto const program = step_program(setting.model, shape, setting.framework);
    double const issued = issued_in_parts(program, shape, setting.framework, setting.constants);
    OperationPricer const pricer{shape, setting.cluster, setting.framework, setting.constants};
    // a CPU that runs ahead without bound averages irregular launches over all passes
    auto const uneven = host_waits(setting.model, strategy)
                            ? std::optional<double>{}
                            : uneven_share({.chip = costs.block.chip(), .host = costs.block.host});
    StepUnits units;
    UnitWriter writer{pricer, units.names, detail, messages};
    writer.pace = costs.paced;
    for (BlockVariant const& variant : order.variants) {
        auto const block = program_of(setting, shape, variant);
        writer.append({.program = block.program,
                       .in_block = true,
                       .recomputes_core = block.recomputes_core,
                       .block = &block,
                       .issued = issued,
                       .uneven_host = uneven},
                      units.variants.emplace_back());
        units.variants.back().routed = block.routed;
        units.variants.back().routes_at_once = block.routed && variant.kind.mixer == Mixer::none;
    }
    writer.append({.program = program.embedding, .in_block = false}, units.embedding);
    for (BlockProgram const& block : program.prediction) {
        writer.append({.program = block.program,
                       .in_block = true,
                       .recomputes_core = block.recomputes_core,
                       .block = &block,
                       .repeats = block.count},
                      units.head);
    }
    writer.append({.program = program.head, .in_block = false, .repeats = program.heads_run}, units.head);
    return units;
}

} // namespace headroom::training::simulation
