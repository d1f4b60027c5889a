#pragma once

#include "headroom/laws/roofline.hpp"
#include "headroom/training/prediction.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headroom::training {

/// One kernel of a training step: an operation of the step program, its place on the roofline, and its predicted time.
struct StepKernel {
    std::string name;      ///< "feed-forward in, weight gradient"
    std::string operation; ///< "feed-forward in": the same for all passes
    std::string part;      ///< "embedding", "block" ("block 2" of several kinds), "layer", "head" ...
    std::string group;     ///< "matrix products", "attention", "normalisation" ...
    Phase phase = Phase::forward;
    laws::Kernel kernel;                     ///< one run of it; `batched` in tokens
    double count = 1.0;                      ///< runs a step, on one accelerator
    Seconds predicted;                       ///< of one run, by the step model
    std::optional<laws::Gain> narrower = {}; ///< of a product: the next narrower precision
};

/// The kernels of a step on one accelerator, in the order in which they run.
struct StepKernels {
    Prediction prediction; ///< of the same question
    laws::Processor processor;
    KernelRates rates;
    std::vector<StepKernel> kernels;
    double tokens = 0.0; ///< of a micro-batch, on one accelerator
    [[nodiscard]] Seconds predicted() const;
    [[nodiscard]] Seconds attainable() const;
};

/// The operations of the step program under the roof of the question's accelerator. Their predicted times add up
/// to the predicted computation and optimizer of the same question.
/// Holds for:  strategies without pipeline stages: every accelerator runs the same kernels.
/// Assumes:    as `demand_of`; the optimizer moves the bytes that it is calibrated with, and works in 32 bits. Of
///             element-wise work, a product before it could hand its result over on the chip.
/// Source:     [Williams2009]
/// Errors:     InputError{usage} for a precision that the chip does not compute, and for pipeline stages.
StepKernels step_kernels(Question const& question, CalibrationSet const& calibration);

/// All that applies to a kernel of a step.
std::vector<laws::Gain> gains_of(StepKernel const& one, laws::Processor const& processor);

/// Time of each group of kernels in a step, its share of the step, and its place on the roofline.
struct GroupTime {
    std::string group;
    Seconds attainable, predicted; ///< a step
};
/// Groups in the order in which they first appear.
std::vector<GroupTime> group_times(StepKernels const& step);

} // namespace headroom::training
