#include "headroom/strategy.hpp"

#include <algorithm>
#include <cmath>

namespace headroom {

namespace {

void append(std::string& name, std::string_view word) {
    if (!name.empty()) { name += ' '; }
    name += word;
}

void append_degree(std::string& name, std::string_view word, int degree, bool always = false) {
    if (degree != 1 || always) { append(name, std::string{word} + std::to_string(degree)); }
}

} // namespace

std::string_view name_of(Recompute recompute) {
    switch (recompute) {
    case Recompute::none: return "none";
    case Recompute::selective: return "selective";
    case Recompute::full: return "full";
    }
    return "";
}

double micro_batch_count(Strategy const& strategy, Workload const& workload) {
    double const share = static_cast<double>(strategy.dp) * strategy.micro_batch;
    return std::max(1.0, workload.global_batch / share);
}

int whole_micro_batches(Strategy const& strategy, Workload const& workload) {
    return static_cast<int>(std::ceil(micro_batch_count(strategy, workload)));
}

std::string short_name(Strategy const& strategy) {
    std::string name;
    append_degree(name, "tp", strategy.tp);
    if (strategy.sequence_parallel && strategy.tp > 1) { append(name, "sp"); }
    append_degree(name, "cp", strategy.cp);
    append_degree(name, "pp", strategy.pp);
    append_degree(name, "vp", strategy.virtual_pp);
    append_degree(name, "ep", strategy.ep);
    append_degree(name, "dp", strategy.dp, true);
    if (strategy.zero > 0) { append_degree(name, "zero", strategy.zero, true); }
    if (strategy.shard > 0) { append_degree(name, "shard", strategy.shard, true); }
    append_degree(name, "mb", strategy.micro_batch, true);
    if (strategy.recompute != Recompute::none) { append(name, name_of(strategy.recompute)); }
    if (strategy.trained == Trained::adapters) { append(name, "adapters"); }
    return name;
}

} // namespace headroom
