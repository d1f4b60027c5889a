#pragma once

#include "headroom/machine.hpp"
#include "headroom/training/calibration.hpp"
#include "headroom/training/framework.hpp"
#include "headroom/training/model.hpp"
#include "headroom/training/strategy.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headroom::training {

/// Largest number of workers, and largest degree, that a question may name.
inline constexpr int largest_degree = 1'000'000;

/// One gap that was filled, with the value taken and why.
struct Assumption {
    std::string field; ///< "tp", "micro_batch", "framework", "price" ...
    std::string value;
    std::string reason;
    bool structural = false; ///< a degree, batch, recomputation, interleaving or dimension: widens the interval
    Provenance provenance = Provenance::guessed;
};

/// A complete strategy and every gap that was filled to make it, in the order of filling.
struct AssumedStrategy {
    Strategy strategy;
    std::vector<Assumption> assumptions;
};

/// Fills the unset fields of a strategy from the model, the cluster and the software; the one home of
/// defaults. Never looks at a measured value.
/// A requested schedule without pp implies a pipeline of two or more stages.
/// Errors: InputError{usage} when a schedule and its chunks contradict each other (`contradiction_of`), a degree or the
/// workload is out of range, the degrees given cannot make `workers`, or there are more replicas than sequences. Whether
/// the result can run is `illegal_because`'s.
AssumedStrategy assume(PartialStrategy const& partial, Model const& model, Cluster const& cluster,
                       Framework const& framework, Workload const& workload, int workers);

/// ZeRO stage that runs where one is stated. DeepSpeed's optimizer of bf16 weights (`bf16_gradient_bytes` of a framework) divides
/// its state among the data ranks when ZeRO is off, too: stage 0 in bf16 is stage 1. Source: [BigScienceRepo]
std::optional<int> running_zero(PartialStrategy const& stated, Framework const& framework);

/// The software taken when none is named: by sharding, then by the age of the chip and of the run.
std::string default_framework(Accelerator const& accelerator, std::optional<int> zero, std::optional<int> year);

/// The software that whoever names none most likely runs, by machine and job: PyTorch or Hugging Face on cards behind
/// PCIe, on consumer cards and for LoRA that does not split the model; else `default_framework`. The number of accelerators decides
/// nothing, so each size of a plan has the software of the others.
std::string likely_framework(Cluster const& cluster, PartialStrategy const& given, std::optional<int> year = {});

} // namespace headroom::training
