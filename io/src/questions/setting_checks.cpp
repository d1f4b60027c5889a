#include "questions/setting_checks.hpp"

#include "headroom/error.hpp"
#include "headroom/precision.hpp"
#include "headroom/quantity.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>

namespace headroom::io {

using namespace headroom::training;

void limit_power(std::optional<Watts> limit, Accelerator& chip) {
    if (!limit) { return; }
    constexpr char const* where = "--power-limit";
    if (chip.tdp.base() <= 0.0) {
        refuse(where, "has no effect", "the record of " + chip.name + " states no power", "give power.tdp in a record");
    }
    if (limit->base() <= 0.0 || *limit > chip.tdp) {
        refuse(where, format(*limit) + " is no limit",
               chip.name + " draws at most " + format(chip.tdp) + ", and more than nothing", "give fewer watts");
    }
    chip.power_limit = *limit;
}

void refuse_idle_recipe(PartialStrategy const& given, Framework const& framework) {
    if (!given.fp8_recipe || given.precision.value_or(framework.precision) == Precision::fp8) { return; }
    refuse("--fp8-recipe", "has no effect", "products are not in FP8", "add --precision fp8, or leave it out");
}

namespace {

[[noreturn]] void refuse_pair(std::string where, std::string problem, std::string why, std::string hint) {
    throw InputError{
        Fault::impossible,
        {.where = std::move(where), .problem = std::move(problem), .why = std::move(why), .hint = std::move(hint)}};
}

/// Whether an attention kernel exists for an accelerator. Source: README of flash-attention, support matrix of cuDNN
bool has_kernel(AttentionKernel kernel, Accelerator const& chip) {
    using enum Generation;
    bool const nvidia = chip.vendor == "NVIDIA", on_volta = chip.generation == volta;
    bool const before_ampere = on_volta || chip.generation == turing;
    bool const no_triton = chip.vendor == "Google" || chip.vendor == "AWS";
    switch (kernel) {
    case AttentionKernel::flash1: return !no_triton && !on_volta;
    case AttentionKernel::flash2: return !no_triton && !before_ampere;
    case AttentionKernel::flash3: return chip.generation == hopper;
    case AttentionKernel::cudnn: return nvidia && !before_ampere;
    default: return true;
    }
}

std::string_view words_of(AttentionKernel kernel) {
    switch (kernel) {
    case AttentionKernel::flash1: return "FlashAttention 1 (Turing and later)";
    case AttentionKernel::flash2: return "FlashAttention 2 (Ampere and later)";
    case AttentionKernel::flash3: return "FlashAttention 3 (Hopper)";
    default: return "cuDNN's fused attention (NVIDIA, Ampere and later)";
    }
}

} // namespace

void check_software(Framework const& framework, std::optional<FrozenFormat> frozen, std::string_view optimizer,
                    std::optional<AttentionKernel> attention, Accelerator const& chip) {
    std::string const& vendor = chip.vendor;
    auto const& vendors = framework.vendors;
    if (vendor.empty()) { return; }
    if (!vendors.empty() && std::ranges::find(vendors, vendor) == vendors.end()) {
        refuse_pair("--framework", fmt::format("{} does not run on {}", framework.title, chip.name),
                    fmt::format("it is for accelerators of {}", fmt::join(vendors, ", ")),
                    "name another framework, or leave it out");
    }
    if (attention && !has_kernel(*attention, chip)) {
        refuse_pair("--attention-kernel", fmt::format("{} is not for {}", words_of(*attention), chip.name), "",
                    "give sdpa or fused, or leave it out");
    }
    bool const has_bitsandbytes = vendor != "Google" && vendor != "AWS";
    bool const quantised = frozen == FrozenFormat::nf4 || frozen == FrozenFormat::int8;
    if (!has_bitsandbytes && (quantised || optimizer.ends_with("8bit"))) {
        refuse_pair(quantised ? "--base" : "--optimizer",
                    fmt::format("{} has no bitsandbytes, which these formats need", chip.name), "",
                    "leave it out, or name another accelerator");
    }
}

} // namespace headroom::io
