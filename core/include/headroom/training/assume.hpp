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

/// Name of the framework that whoever names none most likely runs, by model, machine and job: the vendor's own on TPU, Gaudi
/// and Trainium; PyTorch or Hugging Face where the model is not split and is no decoder, is trained with LoRA, runs on cards
/// behind PCIe or a bridge, or where torch.compile is asked about; FSDP with ZeRO-3, or where the state of training leaves no room
/// for activations; else Megatron of the age of chip and run. The number of accelerators decides nothing: each size of a plan,
/// and of two questions, has the framework of the others.
std::string likely_framework(Model const& model, Cluster const& cluster, PartialStrategy const& given,
                             std::optional<int> year = {});

} // namespace headroom::training
