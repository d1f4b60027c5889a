#include "headroom/machine.hpp"

#include "headroom/error.hpp"

#include <array>
#include <cstddef>

namespace headroom {

namespace {

/// Catalog names, in the order of the enumerators.
constexpr std::array<std::string_view, generation_count> generation_names{
    "volta",
    "turing",
    "ampere",
    "ada",
    "hopper",
    "blackwell",
    "blackwell-ultra",
    "ada-consumer",
    "blackwell-consumer",
    "rdna3",
    "cdna2",
    "cdna3",
    "cdna4",
    "tpu-v3",
    "tpu-v4",
    "tpu-v5e",
    "tpu-v5p",
    "tpu-v6e",
    "tpu-v7x",
    "trainium1",
    "trainium2",
    "trainium3",
    "gaudi2",
    "gaudi3",
};
static_assert(static_cast<int>(Generation::gaudi3) + 1 == generation_count);

FlopsPerSecond first_known(FlopsPerSecond wanted, FlopsPerSecond otherwise) {
    return wanted.base() > 0.0 ? wanted : otherwise;
}

} // namespace

std::string_view name_of(Generation generation) { return generation_names[static_cast<std::size_t>(generation)]; }

std::optional<Generation> generation_from(std::string_view name) {
    std::string const key = normalised(name);
    for (std::size_t i = 0; i < generation_names.size(); ++i) {
        if (key == normalised(generation_names[i])) { return static_cast<Generation>(i); }
    }
    return std::nullopt;
}

namespace {

/// Chips whose products take microscaled blocks; older ones have 8-bit formats with one scale a tensor only.
bool scales_blocks(Generation generation) {
    switch (generation) {
    case Generation::blackwell:
    case Generation::blackwell_ultra:
    case Generation::blackwell_consumer:
    case Generation::cdna4:
    case Generation::trainium3: return true;
    default: return false;
    }
}

} // namespace

FlopsPerSecond peak_rate(Accelerator const& accelerator, Precision precision) {
    PeakRates const& peak = accelerator.peak;
    switch (precision) {
    case Precision::fp32: return peak.fp32;
    case Precision::tf32: return first_known(peak.tf32, peak.fp32);
    case Precision::fp16: return first_known(peak.fp16, peak.bf16);
    case Precision::bf16: return first_known(peak.bf16, peak.fp16);
    case Precision::fp8: return peak.fp8;
    case Precision::mxfp8: return scales_blocks(accelerator.generation) ? peak.fp8 : FlopsPerSecond{};
    case Precision::nvfp4: return peak.fp4;
    }
    return FlopsPerSecond{};
}

} // namespace headroom
