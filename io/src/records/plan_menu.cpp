#include "headroom/io/plan_menu.hpp"

#include "headroom/io/catalog.hpp"

#include <array>

namespace headroom::io {

using namespace headroom::training;

namespace {

constexpr std::array models{"llama-3-70b", "gpt3-175b", "mixtral-8x7b", "deepseek-v3", "nemotron-h-8b", "bert-large"};
constexpr std::array clusters{"dgx-h100", "dgx-a100", "gb200-nvl72", "mi300x-node"};
constexpr std::array frameworks{"megatron-core", "nemo-2023",      "torchtitan",
                                "pytorch-fsdp",  "deepspeed-2024", "megatron-2021"};

} // namespace

PlanMenu agreement_menu(Catalog const& catalog) {
    PlanMenu menu;
    for (auto const* name : models) { menu.models.push_back(catalog.model(name)); }
    for (auto const* name : clusters) { menu.clusters.push_back(catalog.cluster(name)); }
    for (auto const* name : frameworks) { menu.frameworks.push_back(catalog.framework(name)); }
    return menu;
}

} // namespace headroom::io
