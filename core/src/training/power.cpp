#include "headroom/quantity.hpp"
#include "headroom/training/kernel.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace headroom::training {
namespace {

/// Watts for each TFLOP/s of 16-bit peak of the part that a generation's rate is known by: V100 SXM (Turing, on the same node of
/// 12 nm, has its rate), A100 SXM, L40S, H100 SXM; zero where all parts are alike.
double known_watts(Generation generation) {
    switch (generation) {
    case Generation::volta:
    case Generation::turing: return 300.0 / 125.0;
    case Generation::ampere: return 400.0 / 312.0;
    case Generation::ada: return 350.0 / 362.0;
    case Generation::hopper: return 700.0 / 989.5;
    default: return 0.0;
    }
}

/// Watts for each TFLOP/s of 16-bit peak over those that the generation is known by; 1 where that is not known.
double watts_ratio(Accelerator const& chip) {
    double const peak = std::max(chip.peak.bf16.base(), chip.peak.fp16.base());
    double const known = known_watts(chip.generation), tera = peak * 1e-12;
    return known > 0.0 && tera > 0.0 && chip.tdp.base() > 0.0 ? chip.tdp.base() / tera / known : 1.0;
}

/// Up to here power holds a part back as others of its generation, from there on not: H20 has 3.8 and L20 2.38 times the
/// watts, other parts 0.5 to 1.72 times.
constexpr double usual_watts = 1.75, plenty_of_watts = 2.35;
/// Peak of an A100, which ordinary software was written on.
constexpr FlopsPerSecond known_peak{312e12};
/// Share of the FP32 peak that products reach at most, as they are counted: MXNet's on V100 reach 1.045 of it, where
/// convolutions make fewer multiplications than that.
constexpr double most_of_vector_peak = 1.05;

bool knows_measured_gemm(Accelerator const& chip, Framework const& framework) {
    return chip.measured_gemm.base() > 0.0 && chip.peak.bf16.base() > 0.0 && !framework.paced;
}

/// Whether products run on vector units: those in fp32, and in tf32 on a chip that does not have it.
bool on_vector_units(Accelerator const& chip, Precision precision) {
    return precision == Precision::fp32 || (precision == Precision::tf32 && chip.peak.tf32.base() <= 0.0);
}

bool bounds_fp32(Accelerator const& chip) { return chip.peak.tf32.base() > 0.0 && chip.peak.fp32.base() > 0.0; }

} // namespace

double cut_share(Accelerator const& chip) {
    double const between = (watts_ratio(chip) - usual_watts) / (plenty_of_watts - usual_watts);
    return chip.peer_to_peer ? std::clamp(between, 0.0, 1.0) : 1.0;
}

double cut_factor(Accelerator const& chip, Calibration const& constants, Constant whole, Constant cut) {
    return std::pow(constants[cut] / constants[whole], whole == cut ? 0.0 : cut_share(chip));
}

std::string explain_cut(TermBook& book, Accelerator const& chip, Calibration const& constants, Constant whole,
                        Constant cut) {
    double const share = cut_share(chip);
    if (share == 0.0 || whole == cut) { return {}; }
    book.add(TermKind::catalog, "cut_share", "", "accelerator " + chip.name, share);
    return " * (" + explain(book, constants, cut) + " / " + explain(book, constants, whole) + ") ^ cut_share";
}

double power_ratio(Accelerator const& chip) {
    if (chip.tdp.base() <= 0.0) { return 1.0; }
    double const limit = chip.power_limit.base() > 0.0 ? std::min(1.0, chip.power_limit / chip.tdp) : 1.0;
    return limit * std::min(1.0, watts_ratio(chip));
}

std::string explain_power(TermBook& book, Accelerator const& chip, Calibration const& constants) {
    double const ratio = power_ratio(chip);
    if (ratio == 1.0) { return {}; }
    bool const set = chip.power_limit.base() > 0.0;
    book.add(set ? TermKind::option : TermKind::catalog, "power_ratio", "",
             set ? "--power-limit " + format(chip.power_limit) : "accelerator " + chip.name, ratio);
    return " * power_ratio ^ " + explain(book, constants, Constant::power_exponent);
}

double sustained_fraction(Accelerator const& chip, Precision precision, Framework const& framework,
                          Calibration const& constants) {
    double const fitted = constants[gemm_constant(chip)] *
                          cut_factor(chip, constants, gemm_constant(chip), Constant::gemm_consumer) *
                          std::pow(power_ratio(chip), constants[Constant::power_exponent]);
    double const tensor =
        knows_measured_gemm(chip, framework) ? std::min(fitted, chip.measured_gemm / chip.peak.bf16) : fitted;
    if (!on_vector_units(chip, precision)) { return tensor; }
    double const vector = constants[Constant::gemm_fp32];
    return bounds_fp32(chip) ? std::min(vector, tensor * (chip.peak.tf32 / chip.peak.fp32)) : vector;
}

double least_pace(Accelerator const& chip, Precision precision, Framework const& framework,
                  Calibration const& constants) {
    return on_vector_units(chip, precision)
               ? sustained_fraction(chip, precision, framework, constants) / most_of_vector_peak
               : 0.0;
}

std::string explain_sustained_fraction(TermBook& book, Accelerator const& chip, Precision precision,
                                       Framework const& framework, Calibration const& constants) {
    bool const vector = on_vector_units(chip, precision);
    auto const fact = [&](char const* name, FlopsPerSecond value) {
        book.add(TermKind::catalog, name, "FLOP/s", "accelerator " + chip.name, value.base());
    };
    if (vector && !bounds_fp32(chip)) { return explain(book, constants, Constant::gemm_fp32); }
    std::string fraction = explain(book, constants, gemm_constant(chip));
    fraction += explain_cut(book, chip, constants, gemm_constant(chip), Constant::gemm_consumer) +
                explain_power(book, chip, constants);
    if (knows_measured_gemm(chip, framework)) {
        fact("measured_gemm_flops", chip.measured_gemm);
        fact("peak_bf16_flops", chip.peak.bf16);
        fraction = "min(" + fraction + ", measured_gemm_flops / peak_bf16_flops)";
    }
    if (!vector) { return fraction; }
    fact("peak_tf32_flops", chip.peak.tf32);
    return "min(" + explain(book, constants, Constant::gemm_fp32) + ", " + fraction +
           " * peak_tf32_flops / peak_flops)";
}

double untuned_share(Accelerator const& chip, Precision precision, Framework const& framework,
                     Calibration const& constants) {
    double const ratio = known_peak / chip.peak.bf16; // infinite where the chip has none
    bool const loses = framework.ordinary && ratio < 1.0 && !on_vector_units(chip, precision);
    return loses ? std::pow(ratio, constants[Constant::untuned_exponent]) : 1.0;
}

BytesPerSecond sustained_memory(Accelerator const& chip, Calibration const& constants) {
    return chip.memory_bandwidth * constants[Constant::memory_fraction];
}

std::string explain_untuned(TermBook& book, Accelerator const& chip, Precision precision, Framework const& framework,
                            Calibration const& constants) {
    double const share = untuned_share(chip, precision, framework, constants);
    if (share == 1.0) { return {}; }
    book.add(TermKind::catalog, "a100_over_peak", "", "accelerator " + chip.name, known_peak / chip.peak.bf16);
    book.formula("untuned_share", "", "a100_over_peak ^ " + explain(book, constants, Constant::untuned_exponent),
                 share);
    return " * untuned_share";
}

} // namespace headroom::training
