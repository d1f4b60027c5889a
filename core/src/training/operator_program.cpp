#include "block_program.hpp"

namespace headroom::training {
namespace {

/// Kernels of a transformer block, which the time to issue one is quoted for; an operator is one kernel.
constexpr double kernels_of_a_block = 12.0;

/// A batch norm reads its input for the statistics, reads it again and writes; backward it reads input and gradient
/// twice and writes. Element-wise layers read their inputs and write, backward the gradient in the place of both.
constexpr double norm_forward = 3.0, norm_backward = 5.0;

/// Appends one operator's passes.
class OperatorWriter {
public:
    OperatorWriter(LayerProgram& program, Operator const& one, double samples, LayerShape const& shape)
        : program_{program},
          one_{one},
          element_{element_bytes(shape.precision)},
          rows_{samples * one.positions()},
          samples_{samples},
          trained_{one.trained && shape.trained != Trained::lora} {}

    void write() {
        switch (one_.kind) {
        case OperatorKind::convolution:
        case OperatorKind::linear: return product();
        case OperatorKind::recurrent: return recurrent();
        case OperatorKind::normalisation: return passes(norm_forward, norm_backward);
        case OperatorKind::elementwise: return passes(one_.inputs + 1.0, one_.inputs + 1.0);
        case OperatorKind::embedding: return passes(2.0, 3.0);
        }
    }

private:
    /// As an implicit matrix product: a row for each output position, an inner dimension of taps times channels.
    /// It reads its input once, not once a tap.
    void product() {
        double const taps =
            static_cast<double>(one_.kernel) * (one_.kernel_width > 0 ? one_.kernel_width : one_.kernel);
        double const inner = taps * one_.in / one_.groups, out = one_.out;
        double const moved = element_ * (rows_ * (static_cast<double>(one_.in) + out) + inner * out);
        add(Phase::forward, rows_, out, inner, 1.0, moved);
        add(Phase::backward, rows_, inner, out, 1.0, moved);
        if (trained_) { add(Phase::backward, inner, out, rows_, 1.0, moved); }
    }

    /// Four gates: the inputs of all steps in one product, the state step by step.
    void recurrent() {
        double const gates = 4.0 * one_.out, steps = one_.height;
        double const rows = samples_ * steps;
        for (auto const phase : {Phase::forward, Phase::backward}) {
            add(phase, rows, gates, one_.in, 1.0, 0.0);
            add(phase, samples_, gates, one_.out, steps, 0.0);
        }
        if (trained_) { add(Phase::backward, gates, static_cast<double>(one_.in) + one_.out, rows, 1.0, 0.0); }
        memory(Phase::forward, rows * gates * 2.0);
        memory(Phase::backward, rows * gates * 3.0);
    }

    void passes(double forward, double backward) {
        memory(Phase::forward, rows_ * one_.out * forward);
        memory(Phase::backward, rows_ * one_.out * backward);
    }

    void memory(Phase phase, double elements) {
        if (phase == Phase::backward && !one_.backward) { return; }
        program_.add({.name = one_.name,
                      .kind = OperationKind::memory,
                      .phase = phase,
                      .bytes = Bytes{elements * element_},
                      .memory = MemoryClass::image});
    }
    void add(Phase phase, double m, double n, double k, double times, double bytes) {
        if (phase == Phase::backward && !one_.backward) { return; }
        program_.add({.name = one_.name,
                      .kind = OperationKind::gemm,
                      .phase = phase,
                      .m = m,
                      .n = n,
                      .k = k,
                      .times = times,
                      .bytes = Bytes{bytes}});
    }

    LayerProgram& program_;
    Operator const& one_;
    double element_, rows_, samples_;
    bool trained_;
};

} // namespace

BlockProgram operator_program(Operator const& one, double samples, LayerShape const& shape) {
    BlockProgram block;
    block.count = one.repeats;
    block.issue = 1.0 / kernels_of_a_block;
    OperatorWriter{block.program, one, samples, shape}.write();
    return block;
}

} // namespace headroom::training
