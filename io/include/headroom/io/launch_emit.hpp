#pragma once

#include "headroom/serving/serving.hpp"
#include "headroom/training/strategy.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom::io {

/// Software that a launch file is written for.
enum class LaunchTarget { megatron, torchtitan, deepspeed, accelerate, nemo, slurm };
/// Errors: InputError{usage} at `where` with the names.
LaunchTarget launch_target(std::string_view name, std::string_view where);

/// Framework of the catalog that trains by such a file. What is given decides between those that share a format: layers
/// that are split (DeepSpeed), the stage of ZeRO (Accelerate).
std::string_view framework_of(LaunchTarget target, bool splits_layers, std::optional<std::string> const& zero);

using LaunchOptions = std::vector<std::pair<std::string, std::string>>;

/// The strategy and its workload as options of `headroom predict`, every field that a search would choose among them.
LaunchOptions options_of(training::Strategy const& strategy, training::Workload const& workload);

/// A configuration to write: machines, options and the command that predicts it.
struct LaunchPlan {
    int accelerators_per_node = 8;
    int workers = 8;
    LaunchOptions options; ///< of `options_of`
    std::string command;   ///< "headroom predict llama-3-70b ..."
};

struct EmittedLaunch {
    std::string text;
    std::vector<std::string> not_expressed; ///< options that this software takes elsewhere, or has not
};

/// Engine that a command is written for.
enum class ServingTarget { vllm, sglang, trtllm };
/// Errors: InputError{usage} at `where` with the names.
ServingTarget serving_target(std::string_view name, std::string_view where);

/// A replica as options of `headroom inference`, its model as MODEL.
LaunchOptions options_of(serving::ServingPlan const& plan, std::string const& model);

/// A replica to write: options, the number of replicas and the question that asked for it.
struct ServingLaunch {
    LaunchOptions options; ///< of `options_of`
    int replicas = 1;
    std::string command; ///< "headroom inference llama-3-70b ..."
};
/// Command that starts a replica. What is written is read back by `read_launch_file` to the same options.
EmittedLaunch emit_serving(ServingTarget target, ServingLaunch const& launch);

/// Launch file of a configuration. What is written is read back by `read_launch_file` to the same options.
EmittedLaunch emit_launch(LaunchTarget target, LaunchPlan const& plan);

} // namespace headroom::io
