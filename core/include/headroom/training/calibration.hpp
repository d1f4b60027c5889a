#pragma once

#include "headroom/network/measured_network.hpp"
#include "headroom/term.hpp"
#include "headroom/training/extrapolation.hpp"
#include "headroom/training/likeness.hpp"
#include "headroom/training/memory_spread.hpp"

#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace headroom::training {

/// The constants of the step model. Each has a physical meaning (see `describe`), none belongs to a
/// row, a model or a source.
enum class Constant : int {
    // sustained fraction of the dense peak of a large bf16 (fp16 on Volta) matrix product
    gemm_volta,
    gemm_ampere,
    gemm_ada,
    gemm_hopper,
    gemm_blackwell,
    gemm_blackwell_ultra,
    gemm_consumer,
    gemm_tpu,
    gemm_cdna,
    gemm_other,
    gemm_fp32,
    power_exponent,
    untuned_exponent,
    // products in NVFP4: fraction of their own peak over the bf16 fraction, which FP8 and MXFP8 reach
    nvfp4,
    grouped_gemm,
    // fused attention
    attention_ampere,
    attention_hopper,
    attention_consumer,
    attention_tpu,
    attention_other,
    attention_half_length,
    flash1_factor,
    flash1_hopper,
    flash2_hopper,
    attention_backward,
    attention_small_head,
    // unfused attention
    unfused_passes,
    unfused_gemm,
    // memory-bound work
    memory_fraction,
    bytes_elementwise,
    fused_bytes,
    bytes_logit,
    scan_bytes,
    // host
    host_eager,
    host_modern,
    host_launch,
    host_gather,
    host_unaligned,
    kernel_gap,
    host_experts,
    // network
    nvlink_volta,
    nvlink_ampere,
    nvlink_hopper,
    nvlink_blackwell,
    pcie,
    host_path,
    other_scale_up,
    scale_out,
    base_latency,
    // what overlaps
    tensor_exposed,
    gradients_exposed_old,
    gradients_exposed,
    shard_overlap_loss,
    unbucketed_traffic,
    experts_exposed,
    // once a micro-batch, once a step
    accumulate_bytes,
    optimizer_traffic,
    host_update,
    step_overhead,
    rank_spread,
    count_,
};
inline constexpr int constant_count = static_cast<int>(Constant::count_);

/// Where a constant's value comes from; the order is from best to worst.
enum class Provenance {
    given,     ///< by the user
    measured,  ///< on the machine in question
    fitted,    ///< to published runs
    cited,     ///< from a published measurement
    datasheet, ///< from a vendor's figures
    guessed,   ///< stated as such
};
inline constexpr std::array provenances{Provenance::given, Provenance::measured,  Provenance::fitted,
                                        Provenance::cited, Provenance::datasheet, Provenance::guessed};
std::string_view name_of(Provenance provenance);
std::optional<Provenance> provenance_from(std::string_view name);

/// Key of a constant in files, its meaning, its unit.
struct ConstantInfo {
    Constant id;
    std::string_view key;
    std::string_view meaning;
    std::string_view unit;
};
std::span<ConstantInfo const> constants();
std::optional<Constant> constant_from(std::string_view key);

/// Values of the constants alone, for the hot path.
class Calibration {
public:
    [[nodiscard]] double operator[](Constant id) const { return value_[static_cast<std::size_t>(id)]; }
    double& operator[](Constant id) { return value_[static_cast<std::size_t>(id)]; }

private:
    std::array<double, constant_count> value_{};
};

/// Adds a constant to the terms of an explanation. Result: its name there.
std::string explain(TermBook& book, Calibration const& constants, Constant id);

/// One constant with all that is known about it.
struct CalibratedConstant {
    double value = 0.0;
    double low = 0.0, high = 0.0; ///< 90 % interval
    double independent = 0.0;     ///< the value it is pulled towards
    double spread = 0.0;          ///< log standard deviation of that pull; 0: held fixed
    Provenance provenance = Provenance::guessed;
    std::string source; ///< keys of the bibliography, or the data of the fit
    int sources = 0;    ///< number of source families that moved it
};

/// Measured over predicted computation of a framework with kernels of its own, and the number of runs behind it.
struct Pace {
    double factor = 1.0;
    int rows = 0, sources = 0;
};

/// A whole calibration file: the constants and the bands measured with them.
struct CalibrationSet {
    std::map<std::string, Pace> pace; ///< by framework
    std::array<CalibratedConstant, constant_count> constant;
    Bands bands;              ///< by kind of extrapolation
    std::optional<Seen> seen; ///< runs that moved the constants; empty: not known, and only guesses widen an interval
    std::string name;         ///< file it came from
    network::MeasuredNetwork network = {};   ///< links that were measured, see `use_measured_links`
    std::optional<MemorySpread> memory = {}; ///< of measured memory about the predicted one; empty: not known
    WarmStart warm = {}; ///< steps that were measured; every prediction leans on those that are like it
    [[nodiscard]] Calibration values() const;
    [[nodiscard]] CalibratedConstant const& operator[](Constant id) const {
        return constant[static_cast<std::size_t>(id)];
    }
    CalibratedConstant& operator[](Constant id) { return constant[static_cast<std::size_t>(id)]; }
};

/// Number of values that the fit to runs was free to move: constants with a spread, and the pace of each framework with
/// kernels of its own. Constants fixed before (spread 0), by benchmarks or by their independent value, are not among
/// them.
int free_constants(CalibrationSet const& set);

} // namespace headroom::training
