#include "questions/machine_guesses.hpp"

#include "headroom/quantity.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace headroom::io {
namespace {

/// Whether the record of a machine is what everybody has who uses it.
bool states_network(TrainingRequest const& request, std::string_view cluster) {
    constexpr std::array clouds{"aws-", "azure-", "gcp-"};
    bool const of_cloud = std::ranges::any_of(clouds, [&](char const* cloud) { return cluster.starts_with(cloud); });
    return request.machine || !request.network.empty() || request.cluster.ends_with(".toml") || of_cloud;
}

} // namespace

void list_machine_guesses(TrainingRequest const& request, TrainingSetting& setting) {
    if (!setting.framework.ordinary || setting.workers.empty()) { return; }
    auto const guess = [&setting](char const* field, std::string value, std::string reason) {
        setting.assumptions.push_back(
            {field, std::move(value), std::move(reason), false, training::Provenance::guessed});
    };
    Cluster const& cluster = setting.cluster;
    int const workers = std::ranges::max(setting.workers);
    if (workers > cluster.domain && !states_network(request, cluster.name)) {
        guess("network", format(cluster.scale_out.bandwidth) + " an accelerator",
              "as the record of " + cluster.name + " has it");
    }
    if (!request.power_limit && cluster.accelerator.tdp.base() > 0.0) {
        guess("power_limit", format(cluster.accelerator.tdp), "as sold");
    }
    if (!setting.given.overlap && workers > 1) {
        guess("overlap", "on", "as far as " + setting.framework.name + " overlaps");
    }
}

} // namespace headroom::io
