#include "memory_terms.hpp"

#include "headroom/network/compression.hpp"
#include "headroom/network/local_updates.hpp"

#include <algorithm>

namespace headroom::training {

using namespace headroom::network;

namespace {

/// Buffer bytes. ZeRO 3: the gathered weights of the current and the next block, and the gradients of one block.
/// Otherwise one gradient bucket, if gradients are reduced at all. Frameworks that prefetch a number of parameters hold
/// these and their buckets.
Bytes buffer_bytes(Framework const& framework, Strategy const& strategy, double stage_parameters,
                   double block_parameters) {
    double const reduced = state_widths(framework, strategy.precision).reduced;
    double const bucket = framework.bucket_copies * std::min(stage_parameters, framework.bucket_elements) * reduced;
    if (strategy.zero == 3) {
        double const gathered = gathered_bytes(framework, strategy.precision);
        if (framework.live_elements > 0.0) {
            return Bytes{std::min(stage_parameters, framework.live_elements) * gathered + bucket};
        }
        return Bytes{block_parameters * (2.0 * gathered + reduced)};
    }
    return strategy.data_ranks() == 1 ? Bytes{} : Bytes{bucket};
}

/// ZeRO-Offload keeps averaged gradients in host memory, where the optimizer reads them; gradients summed over the
/// micro-batches of a pipeline stay whole on the accelerator. Source: [Ren2021]
bool keeps_gradients(Strategy const& strategy) {
    return !offloads_optimizer(strategy.offload) || strategy.zero < 2 || strategy.pp > 1;
}

} // namespace

// Besides its own state a strategy may keep an outer optimizer of local updates (parameters of the last exchange and a
// momentum, 32 bits each), and the error of compressed gradients.
void add_state(MemoryUse& use, StepSetting const& setting, Strategy const& strategy, StageTerms const& of,
               StageContent const& content) {
    auto const& framework = setting.framework;
    auto const widths = state_widths(framework, strategy.precision);
    auto const held = stage_parameters(setting, strategy, content.share);
    auto const& trained = of.trained;
    auto const kept = [&](double Shards::*part, TrainedParts const& share) {
        return share.dense * held.dense / of.shards.*part + share.experts * held.experts / of.expert_shards.*part;
    };
    use.weights = Bytes{content.versions * widths.weights * kept(&Shards::weights, {})};
    if (keeps_gradients(strategy)) { use.gradients = Bytes{widths.gradients * kept(&Shards::gradients, trained)}; }
    if (!offloads_optimizer(strategy.offload)) {
        double const holders = shards_over_copies(strategy) ? content.copies : 1.0;
        use.optimizer = Bytes{widths.optimizer * kept(&Shards::optimizer, trained) / holders};
    }
    if (strategy.local_steps > 1) {
        double const updated = kept(&Shards::weights, trained);
        use.optimizer += local_updates(updated, {.period = strategy.local_steps}).outer_state;
    }
    if (strategy.compression.kind != Compression::none && strategy.data_ranks() > 1) {
        double const sending = kept(&Shards::gradients, trained); // all that is trained: ZeRO 0
        auto const sent =
            compressed_gradients(strategy.compression, sending, widths.reduced, Ranks{strategy.data_ranks()});
        use.buffers += Bytes{sent.kept_per_parameter * sending};
    }
    auto const& count = setting.count;
    double const block =
        (count.layer - count.experts) / strategy.tp + count.experts / (static_cast<double>(strategy.ep) * strategy.etp);
    use.buffers += buffer_bytes(framework, strategy, held.all(), block);
}

} // namespace headroom::training
