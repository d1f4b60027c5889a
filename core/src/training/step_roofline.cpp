#include "headroom/training/step_roofline.hpp"

#include "headroom/error.hpp"

#include <algorithm>

namespace headroom::training {

using namespace headroom::laws;

namespace {

constexpr double optimizer_element = 4.0; ///< bytes: its state is in 32 bits

std::string group_of(Operation const& operation, bool embeds) {
    switch (operation.kind) {
    case OperationKind::gemm:
    case OperationKind::grouped_gemm: return "matrix products";
    case OperationKind::attention:
    case OperationKind::unfused_attention: return "attention";
    default: break;
    }
    if (embeds) { return "embedding"; }
    switch (operation.memory) {
    case MemoryClass::hidden: return "normalisation";
    case MemoryClass::sharded: return "positions and layout";
    case MemoryClass::feed_forward: return "activation functions";
    case MemoryClass::logits: return "loss";
    case MemoryClass::cast: return "conversions";
    case MemoryClass::scores: return "softmax";
    case MemoryClass::adapter: return "LoRA";
    case MemoryClass::routing: return "routing";
    case MemoryClass::scan: return "scans";
    case MemoryClass::image:
    case MemoryClass::count_: break;
    }
    return "element-wise layers";
}

bool is_product(Operation const& operation) {
    return operation.kind == OperationKind::gemm || operation.kind == OperationKind::grouped_gemm;
}
bool is_kernel(Operation const& operation) {
    return operation.kind != OperationKind::collective && operation.kind != OperationKind::exchange;
}

/// The format that a chip computes `precision` in: a missing 16-bit format is replaced by the other, tf32 by fp32.
NumberFormat computed_in(Processor const& processor, Precision precision) {
    NumberFormat const format = number_format_of(precision);
    if (processor.peak[format].base() > 0.0) { return format; }
    switch (format) {
    case NumberFormat::bf16: return NumberFormat::fp16;
    case NumberFormat::fp16: return NumberFormat::bf16;
    case NumberFormat::tf32: return NumberFormat::fp32;
    default: return format;
    }
}

/// Properties that the operations of one program share.
struct PartOf {
    std::string name;
    double count = 1.0;  ///< runs a step
    bool ends = false;   ///< its products stay in 16 bits
    bool embeds = false; ///< it looks words up
};

/// Writes kernels from programs; the same programs with twice the micro-batch show which kernels grow with it.
class Writer {
public:
    Writer(StepKernels& step, Model const& model, LayerShape const& shape)
        : step_{step},
          product_format_{computed_in(step.processor, shape.precision)},
          sixteen_bit_{element_bytes(shape.precision) > 2.0 ? product_format_
                                                            : computed_in(step.processor, Precision::bf16)} {
        double const heads = std::max(1.0, static_cast<double>(model.heads) / shape.tp);
        double const keys = std::max(1.0, static_cast<double>(model.kv_heads) / shape.tp);
        queries_per_key_ = model.latent.used() || model.kv_heads <= 0 ? 1.0 : std::max(1.0, heads / keys);
    }

    void write(LayerProgram const& program, LayerProgram const& doubled, PartOf const& part) {
        auto const now = program.operations(), then = doubled.operations();
        for (std::size_t i = 0; i < now.size(); ++i) {
            if (!is_kernel(now[i])) { continue; }
            StepKernel one{.name = name_in(now, i),
                           .operation = std::string{now[i].name},
                           .part = part.name,
                           .group = group_of(now[i], part.embeds),
                           .phase = now[i].phase,
                           .kernel = kernel_of(now[i], then[i], part),
                           .count = part.count,
                           .predicted = time_of(now[i], part)};
            one.kernel.name = one.name;
            one.kernel.handed_over = handed_over(now, then, i, one.kernel.moved);
            if (is_product(now[i]) && !part.ends) { one.narrower = narrower(now[i], one.kernel); }
            step_.kernels.push_back(std::move(one));
        }
    }

private:
    [[nodiscard]] Kernel kernel_of(Operation const& now, Operation const& then, PartOf const& part) const {
        Demand const demand = demand_of(now, step_.rates, queries_per_key_);
        Demand const twice = demand_of(then, step_.rates, queries_per_key_);
        Kernel kernel;
        kernel.work = demand.work;
        kernel.moved = demand.moved;
        kernel.nominal = demand.nominal;
        kernel.one_format = false; // the program states which products stay in 16 bits
        kernel.format = is_product(now) && !part.ends ? product_format_ : sixteen_bit_;
        if (is_product(now)) {
            kernel.batched = Batched{.rows = step_.tokens,
                                     .work = demand.work / step_.tokens,
                                     .moved = (twice.moved - demand.moved) / step_.tokens,
                                     .fixed = 2.0 * demand.moved - twice.moved};
        }
        return kernel;
    }

    /// Gain from the next narrower precision that the chip supports, for one product; conversions are not counted.
    [[nodiscard]] std::optional<Gain> narrower(Operation const& operation, Kernel const& now) const {
        for (Precision const next : {Precision::bf16, Precision::fp8, Precision::nvfp4}) {
            NumberFormat const format = computed_in(step_.processor, next);
            bool const shrinks = operand_bytes(next) < step_.rates.operand;
            if (!shrinks || step_.processor.peak[format].base() <= 0.0) { continue; }
            KernelRates rates = step_.rates;
            rates.operand = operand_bytes(next);
            rates.element = element_bytes(next);
            Kernel then = now;
            then.format = format;
            then.moved = demand_of(operation, rates).moved;
            double const speedup = attained(now, step_.processor).time / attained(then, step_.processor).time;
            return Gain{.by = GainBy::precision, .speedup = speedup, .at_most = speedup, .format = format};
        }
        return std::nullopt;
    }

    [[nodiscard]] Seconds time_of(Operation const& operation, PartOf const& part) const {
        bool const apart = is_product(operation) && part.ends;
        Seconds const time =
            apart ? product_time(operation, step_.rates.head_gemm, step_.rates) : kernel_time(operation, step_.rates);
        return time * step_.prediction.pace;
    }

    /// Two products of a name in the backward pass are the gradients of input and weight; others are numbered.
    [[nodiscard]] static std::string name_in(std::span<Operation const> all, std::size_t i) {
        auto const alike = [&](std::size_t j) {
            return is_product(all[j]) && all[j].name == all[i].name && all[j].phase == all[i].phase;
        };
        std::size_t first = i, last = i;
        while (is_product(all[i]) && first > 0 && alike(first - 1)) { --first; }
        while (is_product(all[i]) && last + 1 < all.size() && alike(last + 1)) { ++last; }
        std::string name{all[i].name};
        if (first == last) { return name; }
        if (all[i].phase == Phase::backward && last - first == 1) {
            return name + (i == first ? ", input gradient" : ", weight gradient");
        }
        return name + ", " + std::to_string(i - first + 1) + " of " + std::to_string(last - first + 1);
    }

    /// Bytes that element-wise work need not read when the product before it hands its result over on the chip; of
    /// scores all, for a fused attention kernel keeps them there.
    [[nodiscard]] Bytes handed_over(std::span<Operation const> now, std::span<Operation const> then, std::size_t i,
                                    Bytes moved) const {
        if (now[i].kind != OperationKind::memory) { return Bytes{}; }
        if (now[i].memory == MemoryClass::scores) { return moved; }
        for (std::size_t j = i; j-- > 0 && now[j].phase == now[i].phase && is_product(now[j]);) {
            auto const results = [](Operation const& o) { return o.m * o.n * o.times; };
            bool const of_tokens = results(then[j]) > 1.5 * results(now[j]); // not the gradient of a weight
            if (of_tokens) { return std::min(moved, Bytes{step_.rates.element * results(now[j])}); }
        }
        return Bytes{};
    }

    StepKernels& step_;
    NumberFormat product_format_, sixteen_bit_;
    double queries_per_key_ = 1.0;
};

/// Bytes that correspond to the calibrated time of the update.
void add_optimizer(StepKernels& step) {
    Seconds const time = step.prediction.time.optimizer;
    if (time.base() <= 0.0) { return; }
    StepKernel one;
    one.name = one.operation = "gradients added up, optimizer";
    one.part = one.group = "optimizer";
    one.phase = Phase::backward;
    one.predicted = time;
    one.kernel.name = one.name;
    one.kernel.moved = time * step.rates.memory;
    one.kernel.work = Flops{one.kernel.moved.base() / optimizer_element};
    one.kernel.nominal = true;
    one.kernel.one_format = false;
    bool const wide = step.processor.peak[NumberFormat::fp32].base() > 0.0;
    one.kernel.format = wide ? NumberFormat::fp32 : usual_format(step.processor).value_or(NumberFormat::fp32);
    step.kernels.push_back(std::move(one));
}

/// Embedding, blocks and head run once a micro-batch, in the order of the step program.
void write_programs(StepKernels& step, Question const& question, LayerShape const& shape) {
    LayerShape twice = shape;
    twice.micro_batch *= 2;
    auto const program = step_program(question.model, shape, question.framework);
    auto const doubled = step_program(question.model, twice, question.framework);
    double const passes = micro_batch_count(question.strategy, question.workload);
    Writer writer{step, question.model, shape};
    writer.write(program.embedding, doubled.embedding, {"embedding", passes, true, true});
    for (std::size_t i = 0; i < program.blocks.size(); ++i) {
        bool const kinds = question.model.operators.empty() && program.blocks.size() > 1;
        std::string const which = !question.model.operators.empty() ? "layer"
                                  : kinds                           ? "block " + std::to_string(i + 1)
                                                                    : "block";
        writer.write(program.blocks[i].program, doubled.blocks[i].program, {which, passes * program.blocks[i].count});
    }
    for (std::size_t i = 0; i < program.prediction.size(); ++i) {
        auto const& block = program.prediction[i];
        writer.write(block.program, doubled.prediction[i].program, {"prediction block", passes * block.count});
    }
    writer.write(program.head, doubled.head, {"head", passes * program.heads_run, true});
}

} // namespace

Seconds StepKernels::predicted() const {
    Seconds sum;
    for (auto const& one : kernels) { sum += one.predicted * one.count; }
    return sum;
}

Seconds StepKernels::attainable() const {
    Seconds sum;
    for (auto const& one : kernels) { sum += attained(one.kernel, processor).time * one.count; }
    return sum;
}

StepKernels step_kernels(Question const& question, CalibrationSet const& calibration) {
    if (question.strategy.pp > 1) {
        throw InputError{Fault::usage,
                         {.where = "--pp",
                          .problem = "the kernels of a stage are not those of a step",
                          .why = "stages differ",
                          .hint = "give --layers, the layers of one stage"}};
    }
    StepKernels step;
    step.prediction = predict(question, calibration, Remedies::left_out);
    step.processor = processor_of(question.cluster.accelerator);
    step.rates = kernel_rates(question.cluster.accelerator, question.strategy.precision, question.framework,
                              calibration.values());
    LayerShape const shape = shape_of(question.strategy, question.workload);
    step.tokens = tokens_of(shape);
    write_programs(step, question, shape);
    add_optimizer(step);
    return step;
}

std::vector<Gain> gains_of(StepKernel const& one, Processor const& processor) {
    std::vector<Gain> all = gains_of(one.kernel, processor);
    if (one.narrower) { all.push_back(*one.narrower); }
    return all;
}

std::vector<GroupTime> group_times(StepKernels const& step) {
    std::vector<GroupTime> groups;
    for (auto const& one : step.kernels) {
        auto found = std::ranges::find(groups, one.group, &GroupTime::group);
        if (found == groups.end()) { found = groups.insert(groups.end(), GroupTime{one.group, {}, {}}); }
        found->predicted += one.predicted * one.count;
        found->attainable += attained(one.kernel, step.processor).time * one.count;
    }
    return groups;
}

} // namespace headroom::training
