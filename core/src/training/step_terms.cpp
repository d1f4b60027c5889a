#include "memory_terms.hpp"
#include "simulation/step_data.hpp"
#include "traffic.hpp"

#include "headroom/training/host_launches.hpp"
#include "headroom/training/pipeline.hpp"
#include "headroom/training/step.hpp"

#include <array>
#include <utility>

namespace headroom::training {

using namespace simulation;

namespace {

using Names = std::vector<std::string>;

constexpr char const* recurrence = "recurrence over passes and streams";

/// Names joined by " + "; "0" of none.
std::string sum_of(Names const& names) {
    std::string formula;
    for (std::string const& name : names) { formula += (formula.empty() ? "" : " + ") + name; }
    return formula.empty() ? "0" : formula;
}

double seconds_of(Ticks ticks) { return static_cast<double>(ticks) * 1e-12; }

constexpr std::array group_names{"tensor", "context", "expert"};

std::string operation_name(Operation const& operation) {
    std::string name;
    for (char const c : operation.name) {
        bool const plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (plain || !name.ends_with('_')) { name += plain ? c : '_'; }
    }
    name += operation.phase == Phase::forward     ? "_forward"
            : operation.phase == Phase::recompute ? "_again"
                                                  : "_backward";
    return name + (operation.weight_gradient ? "_weights" : "");
}

/// Terms of the blocks and ends of a model: NAME_kernel_seconds, NAME_launch_seconds, NAME_tensor_traffic_seconds, ...
class ProgramTerms {
public:
    ProgramTerms(TermBook& book, StepSetting const& setting, Strategy const& strategy)
        : book_{book},
          shape_{shape_of(strategy, setting.workload)},
          pricer_{shape_, setting.cluster, setting.framework, setting.constants} {}

    /// Adds every operation of a program, and its sums.
    void add(std::string const& name, LayerProgram const& program, bool in_block) {
        Names kernels;
        std::array<Names, layer_group_count> traffic;
        Ticks ticks = 0;
        std::array<double, layer_group_count> seconds{};
        for (Operation const& operation : program.operations()) {
            std::string of = name + "_" + operation_name(operation);
            for (int nth = 2; book_.has(of + "_seconds") || book_.has(of + "_traffic_seconds"); ++nth) {
                of = name + "_" + operation_name(operation) + "_" + std::to_string(nth);
            }
            pricer_.explain(book_, of, operation, in_block);
            Seconds const price = pricer_.price(operation, in_block).time;
            if (is_kernel(operation)) {
                kernels.push_back(of + "_seconds"), ticks += ticks_of(Seconds{price.base() * book_["pace"]});
            } else {
                auto const group = group_of(operation);
                traffic[group].push_back(of + "_traffic_seconds"), seconds[group] += price.base();
            }
        }
        book_.formula(name + "_kernel_seconds", "s", sum_of(kernels), seconds_of(ticks));
        for (std::size_t g = 0; g < layer_group_count; ++g) {
            book_.formula(name + "_" + group_names[g] + "_traffic_seconds", "s", sum_of(traffic[g]), seconds[g]);
        }
    }
    void add(std::string const& name, BlockProgram const& block) {
        add(name, block.program, true);
        pricer_.explain_issue(book_, name, block);
    }

private:
    TermBook& book_;
    LayerShape shape_;
    OperationPricer pricer_;
};

/// Some of the model's programs, each so often.
struct Share {
    std::string name; ///< of the sums
    std::vector<std::pair<std::string, double>> programs;
};

/// The step as terms.
class StepTerms {
public:
    StepTerms(TermBook& book, StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs)
        : book_{book},
          setting_{setting},
          strategy_{strategy},
          costs_{costs},
          priced_{price_step(setting, strategy, costs)},
          layout_{step_layout(setting, strategy)},
          order_{block_order(setting, strategy)} {}

    void add(double factor) {
        add_facts();
        add_programs();
        add_stages();
        if (!book_.has("kept_block_bytes")) {
            auto const shape = shape_of(strategy_, setting_.workload);
            explain_activations(book_, setting_, shape, shape_activations(setting_, shape));
        }
        explain_stage_traffic(book_, setting_, strategy_, layout_, priced_.stage);
        if (strategy_.pp > 1) { explain_hop(book_, setting_, strategy_); }
        add_parts();
        add_whole(factor);
    }

private:
    [[nodiscard]] bool whole_batches() const {
        return book_["micro_batches"] == whole_micro_batches(strategy_, setting_.workload);
    }
    [[nodiscard]] bool two_directions() const { return layout_.layout == ChunkLayout::bidirectional; }

    void add_facts() {
        explain_strategy(book_, setting_, strategy_);
        explain_rates(book_, setting_.cluster.accelerator, strategy_.precision, setting_.framework, setting_.constants);
        explain_fabric(book_, setting_.cluster, setting_.constants);
        book_.add(TermKind::constant, "pace", "", "measured over predicted computation", costs_.paced);
        auto const shape = shape_of(strategy_, setting_.workload);
        auto const program = step_program(setting_.model, shape, setting_.framework);
        double const issued = issued_in_parts(program, shape, setting_.framework, setting_.constants);
        if (issued == 1.0) {
            book_.add(TermKind::framework, "issued_in_parts", "", "softmax in one kernel", issued);
        } else {
            book_.formula("issued_in_parts", "", explain(book_, setting_.constants, Constant::host_unaligned), issued);
        }
    }

    [[nodiscard]] std::string variant_name(std::size_t variant) const {
        return order_.variants.size() == 1 ? "block" : "block_" + std::to_string(variant + 1);
    }

    void add_programs() {
        auto const shape = shape_of(strategy_, setting_.workload);
        auto const program = step_program(setting_.model, shape, setting_.framework);
        ProgramTerms terms{book_, setting_, strategy_};
        for (std::size_t v = 0; v < order_.variants.size(); ++v) {
            terms.add(variant_name(v), program_of(setting_, shape, order_.variants[v]));
        }
        terms.add("embedding", program.embedding, false);
        terms.add("projection", program.head, false);
        head_ = {.name = "head", .programs = {{"projection", program.heads_run}}};
        for (std::size_t i = 0; i < program.prediction.size(); ++i) {
            std::string const name = "prediction_" + std::to_string(i + 1);
            terms.add(name, program.prediction[i]);
            head_.programs.emplace_back(name, program.prediction[i].count);
        }
        add_sums(head_, true, "output projection and blocks for later tokens");
    }

    /// Sums over programs, each times its count.
    void add_sums(Share const& share, bool counts_model, std::string const& origin) {
        auto const sum = [&](std::string const& quantity) {
            std::string formula;
            double value = 0.0;
            for (auto const& [program, count] : share.programs) {
                if (!book_.has(program + "_" + quantity)) { continue; }
                std::string const times = share.name + "_" + program + "_count";
                book_.add(counts_model ? TermKind::model : TermKind::shape, times, "", origin, count);
                formula += (formula.empty() ? "" : " + ") + times + " * " + program + "_" + quantity;
                value += count * book_[program + "_" + quantity];
            }
            book_.formula(share.name + "_" + quantity, "s", formula.empty() ? "0" : formula, value);
        };
        for (char const* quantity : {"kernel_seconds", "launch_seconds", "tensor_traffic_seconds",
                                     "context_traffic_seconds", "expert_traffic_seconds"}) {
            sum(quantity);
        }
    }

    /// Programs of one stage or, of -1, of all of them; with two directions of the mean micro-batch.
    Share share_of(int stage, std::string name) const {
        double const each = two_directions() ? 0.5 : 1.0;
        std::vector<double> blocks(order_.variants.size(), 0.0);
        double first = 0.0, last = 0.0;
        for (int s = 0; s < layout_.shape.stages; ++s) {
            for (int chunk = 0; chunk < layout_.shape.chunks && (stage < 0 || s == stage); ++chunk) {
                ChunkWork const& work = layout_.at(s, chunk);
                for (int i = 0; i < work.blocks; ++i) {
                    blocks[order_.variant_of[static_cast<std::size_t>(work.first_block + i)]] += each;
                }
                first += work.embedding ? each : 0.0, last += work.head ? each : 0.0;
            }
        }
        Share share{.name = std::move(name), .programs = {}};
        for (std::size_t v = 0; v < blocks.size(); ++v) {
            if (blocks[v] > 0.0) { share.programs.emplace_back(variant_name(v), blocks[v]); }
        }
        if (first > 0.0) { share.programs.emplace_back("embedding", first); }
        if (last > 0.0) { share.programs.emplace_back("head", last); }
        return share;
    }

    void add_stages() {
        book_.add(TermKind::priced, "stage", "", std::string{recurrence} + ": the stage that works longest",
                  priced_.stage + 1, {"pp"});
        add_sums(share_of(priced_.stage, "stage"), false, "on the stage that works longest");
        add_sums(share_of(-1, "model"), false, "in the model");
    }

    /// A part of the step that the recurrence measures on the stage that works longest.
    void measured(std::string const& name, Seconds value, Names const& inputs) {
        book_.add(TermKind::priced, name, "s", recurrence, value.base(), inputs);
        parts_.push_back(name);
    }
    /// A part that follows from a formula, where every micro-batch is whole.
    void counted(std::string const& name, Seconds value, std::string const& formula, Names const& inputs) {
        if (!whole_batches()) { return measured(name, value, inputs); }
        book_.formula(name, "s", formula, value.base());
        parts_.push_back(name);
    }

    void add_traffic(std::string const& dimension, Seconds value, int ranks, std::vector<Constant> const& exposed) {
        Names inputs{"micro_batches", "stage_" + dimension + "_traffic_seconds", "stage_kernel_seconds"};
        if (ranks > 1) {
            for (Constant const id : exposed) { inputs.push_back(explain(book_, setting_.constants, id)); }
        }
        measured(dimension + "_seconds", value, inputs);
    }

    void add_parts() {
        StepTime const& time = priced_.time;
        auto const& framework = setting_.framework;
        counted("compute_seconds", time.compute, "micro_batches * stage_kernel_seconds",
                {"micro_batches", "stage_kernel_seconds"});
        measured("host_seconds", time.host, {"micro_batches", "stage_launch_seconds", "stage_kernel_seconds"});
        auto const constant = [this](TrafficKind kind, bool overlaps, std::optional<Constant> usual = {}) {
            Overlap const stated = strategy_.overlap[kind];
            if (stated == Overlap::off) { return std::vector<Constant>{}; }
            if (stated == Overlap::hidden || overlaps) { return std::vector{Constant::tensor_exposed}; }
            return usual ? std::vector{*usual} : std::vector<Constant>{};
        };
        add_traffic("tensor", time.tensor_communication, strategy_.tp,
                    constant(TrafficKind::tensor, framework.tensor_overlap));
        add_traffic("context", time.context_communication, strategy_.cp, constant(TrafficKind::context, true));
        add_traffic("expert", time.expert_communication, strategy_.ep,
                    constant(TrafficKind::expert, framework.expert_overlap, Constant::experts_exposed));
        Names pipeline{"pp", "micro_batches", "stage_kernel_seconds", "model_kernel_seconds"};
        if (strategy_.pp > 1) { pipeline.push_back("hop_seconds"); }
        measured("pipeline_seconds", time.pipeline_communication, pipeline);
        add_data(time.data_communication);
        measured("pipeline_bubble_seconds", time.pipeline_bubble, pipeline);
        add_optimizer(time.optimizer);
        add_offload(time.offload);
        add_imbalance(time);
    }

    void add_data(Seconds value) {
        double const micro_batches = book_["micro_batches"];
        double const reductions = reductions_per_step(strategy_, setting_.framework, micro_batches);
        book_.formula("updates", "", runs_without_flush(strategy_) ? "micro_batches" : "1",
                      updates_per_step(strategy_, micro_batches));
        book_.formula("reductions", "", reductions == micro_batches ? "micro_batches" : "updates", reductions);
        std::string gathers = strategy_.zero == 0 ? "0" : "updates";
        double gathered = strategy_.zero == 0 ? 0.0 : book_["updates"];
        if (strategy_.zero == 3) {
            gathered = gathers_of_micro_batch(strategy_, setting_.framework);
            book_.add(TermKind::framework, "gathers_of_micro_batch", "", "framework " + setting_.framework.name,
                      gathered);
            bool const each = gathers_each_micro_batch(strategy_, setting_.framework);
            gathers = each ? "gathers_of_micro_batch * micro_batches" : "gathers_of_micro_batch * updates";
            gathered *= gatherings_per_step(strategy_, setting_.framework, micro_batches);
        }
        book_.formula("gathers", "", gathers, gathered);
        Names inputs{"reductions", "reduce_seconds", "gathers", "gather_seconds", "stage_kernel_seconds"};
        if (book_.has("blocking_seconds")) { inputs.emplace_back("blocking_seconds"); }
        auto const rules = data_rules(setting_, strategy_);
        if (rules.reduce.share > 0.0 || rules.gather.share > 0.0) {
            inputs.push_back(explain(book_, setting_.constants, Constant::gradients_exposed_old));
        }
        if (rules.slowdown > 0.0) {
            inputs.push_back(explain(book_, setting_.constants,
                                     rules.sharded ? Constant::shard_overlap_loss : Constant::gradients_exposed));
        }
        measured("data_seconds", value, inputs);
    }

    void add_optimizer(Seconds value) {
        Names inputs{"micro_batches", "accumulate_seconds", "updates", "update_seconds"};
        std::string formula = std::string{"micro_batches * "} + (two_directions() ? "0.5 * " : "") +
                              "accumulate_seconds + updates * update_seconds";
        if (book_.has("compress_seconds")) {
            formula += " + reductions * compress_seconds";
            inputs.insert(inputs.end(), {"reductions", "compress_seconds"});
        }
        counted("optimizer_seconds", value, formula, inputs);
    }

    void add_offload(Seconds value) {
        Names inputs{"micro_batches", "stage_kernel_seconds"};
        for (char const* one : {"kept_block_transfer_seconds", "optimizer_transfer_seconds", "host_update_seconds"}) {
            if (book_.has(one)) { inputs.emplace_back(one); }
        }
        measured("offload_seconds", value, inputs);
    }

    void add_imbalance(StepTime const& time) {
        if (time.imbalance <= Seconds{}) { return; }
        auto const& disturbance = setting_.disturbance;
        double const fullest = largest_over_mean(disturbance, strategy_.dp);
        if (disturbance.uneven) {
            book_.add(TermKind::option, "sequence_work_spread", "", "--imbalance", disturbance.uneven->spread);
            book_.add(TermKind::option, "sequences_of_replica", "", "--imbalance", disturbance.uneven->per_replica);
            book_.add(TermKind::algorithm, "largest_over_mean", "", "expected largest of dp sums of sequences", fullest,
                      {"sequence_work_spread", "sequences_of_replica", "dp"});
        } else {
            book_.add(TermKind::option, "largest_over_mean", "", "--imbalance", fullest);
        }
        book_.formula("imbalance_seconds", "s", "(largest_over_mean - 1) * compute_seconds", time.imbalance.base());
        parts_.emplace_back("imbalance_seconds");
    }

    void add_whole(double factor) {
        StepTime const& time = priced_.time;
        Seconds const busy = time.total() - time.stragglers - time.overhead;
        book_.formula("busy_seconds", "s", sum_of(parts_), busy.base());
        bool const given = setting_.disturbance.spread.has_value();
        std::string spread = "0";
        if (given) {
            spread = "step_spread";
            book_.add(TermKind::option, spread, "", "--step-spread", *setting_.disturbance.spread);
        } else if (setting_.framework.paced) {
            spread = explain(book_, setting_.constants, Constant::rank_spread);
        }
        book_.add(TermKind::option, "workers", "", "--workers", strategy_.workers());
        book_.add(TermKind::algorithm, "expected_slowest", "", "expected largest of as many normal draws",
                  setting_.expected_slowest, {"workers"});
        book_.formula("stragglers_seconds", "s", spread + " * expected_slowest * busy_seconds", time.stragglers.base());
        std::string overhead = explain(book_, setting_.constants, Constant::step_overhead);
        double const issued = update_launches(setting_.model, setting_.framework, strategy_.precision);
        if (issued > 0.0) {
            book_.add(TermKind::framework, "update_launches", "", "kernels of the update, tensor by tensor", issued);
            book_.add(TermKind::catalog, "launch_cost_of_update", "", "cost of a launch by the age of the host",
                      launch_cost(setting_.cluster.host_year));
            overhead += " + update_launches * " + explain(book_, setting_.constants, Constant::host_launch) +
                        " * launch_cost_of_update";
        }
        book_.formula("overhead_seconds", "s", overhead, time.overhead.base());
        std::string const whole = "busy_seconds + stragglers_seconds + overhead_seconds";
        if (factor == 1.0) { return book_.formula("step_seconds", "s", whole, time.total().base()); }
        book_.add(TermKind::constant, "measured_factor", "", "measured steps of the calibration that are like it",
                  factor);
        book_.formula("step_seconds", "s", "measured_factor * (" + whole + ")", factor * time.total().base());
    }

    TermBook& book_;
    StepSetting const& setting_;
    Strategy const& strategy_;
    LayerCosts const& costs_;
    PricedStep priced_;
    StepLayout layout_;
    BlockOrder order_;
    Share head_;
    Names parts_;
};

} // namespace

void explain_step(TermBook& book, StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs,
                  double factor) {
    StepTerms{book, setting, strategy, costs}.add(factor);
}

} // namespace headroom::training
