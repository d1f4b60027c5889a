#include "stage.hpp"

#include <algorithm>

namespace headroom {
namespace {

/// Rank-16 adapters on the attention of a 70B model hold about half a per cent of its parameters. A guess for
/// other models and ranks: it moves gradients and state that are small beside the frozen weights.
constexpr double adapter_share = 0.005;

} // namespace

double trained_share(Strategy const& strategy) { return strategy.trained == Trained::adapters ? adapter_share : 1.0; }

double gathered_bytes(Framework const& framework, Precision precision) {
    return std::min(framework.parameter_bytes, element_bytes(precision));
}

double output_parameters(Model const& model, ParameterCount const& count) {
    double const table = static_cast<double>(model.vocab) * model.hidden;
    return std::max(count.head, model.tied_embeddings ? table : 0.0);
}

Shards shards_of(Strategy const& strategy) {
    double const data = strategy.data_ranks();
    if (strategy.zero == 3) {
        double const shard = strategy.shard_ranks();
        return {.weights = shard, .gradients = shard, .optimizer = shard};
    }
    return {.weights = 1.0, .gradients = strategy.zero == 2 ? data : 1.0, .optimizer = strategy.zero >= 1 ? data : 1.0};
}

} // namespace headroom
