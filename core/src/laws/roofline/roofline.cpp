#include "headroom/laws/roofline.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <limits>

namespace headroom::laws {

std::string_view name_of(NumberFormat format) {
    switch (format) {
    case NumberFormat::fp64: return "fp64";
    case NumberFormat::fp32: return "fp32";
    case NumberFormat::tf32: return "tf32";
    case NumberFormat::bf16: return "bf16";
    case NumberFormat::fp16: return "fp16";
    case NumberFormat::fp8: return "fp8";
    case NumberFormat::fp4: return "fp4";
    }
    return "";
}

std::optional<NumberFormat> number_format_from(std::string_view name) {
    std::string const key = normalised(name);
    for (NumberFormat const format : number_formats) {
        if (key == name_of(format)) { return format; }
    }
    if (key == "double" || key == "float64" || key == "f64") { return NumberFormat::fp64; }
    if (auto const precision = precision_from(key)) { return number_format_of(*precision); }
    return std::nullopt;
}

double bytes_of(NumberFormat format) {
    switch (format) {
    case NumberFormat::fp64: return 8.0;
    case NumberFormat::fp32:
    case NumberFormat::tf32: return 4.0;
    case NumberFormat::bf16:
    case NumberFormat::fp16: return 2.0;
    case NumberFormat::fp8: return 1.0;
    case NumberFormat::fp4: return 0.5;
    }
    return 0.0;
}

NumberFormat number_format_of(Precision precision) {
    switch (precision) {
    case Precision::fp32: return NumberFormat::fp32;
    case Precision::tf32: return NumberFormat::tf32;
    case Precision::fp16: return NumberFormat::fp16;
    case Precision::bf16: return NumberFormat::bf16;
    case Precision::fp8:
    case Precision::mxfp8: return NumberFormat::fp8;
    case Precision::nvfp4: return NumberFormat::fp4;
    }
    return NumberFormat::bf16;
}

std::string_view name_of(Bound bound) { return bound == Bound::compute ? "compute" : "memory"; }

namespace {

/// Threads that share an instruction; 0 for accelerators without such threads. Source: [HipHardware]
int lanes_of(Generation generation) {
    switch (generation) {
    case Generation::volta:
    case Generation::turing:
    case Generation::ampere:
    case Generation::ada:
    case Generation::hopper:
    case Generation::blackwell:
    case Generation::blackwell_ultra:
    case Generation::ada_consumer:
    case Generation::blackwell_consumer:
    case Generation::rdna3: return 32;
    case Generation::cdna2:
    case Generation::cdna3:
    case Generation::cdna4: return 64;
    default: return 0;
    }
}

} // namespace

Processor processor_of(Accelerator const& accelerator) {
    Processor processor;
    processor.name = accelerator.name;
    PeakRates const& peak = accelerator.peak;
    processor.peak[NumberFormat::fp32] = peak.fp32;
    processor.peak[NumberFormat::tf32] = peak.tf32;
    processor.peak[NumberFormat::bf16] = peak.bf16;
    processor.peak[NumberFormat::fp16] = peak.fp16;
    processor.peak[NumberFormat::fp8] = peak.fp8;
    processor.peak[NumberFormat::fp4] = peak.fp4;
    processor.lanes = lanes_of(accelerator.generation);
    if (processor.lanes > 0) { processor.vector[NumberFormat::fp32] = peak.fp32; }
    bool const bf16 = peak.bf16.base() > 0.0;
    processor.measured[bf16 ? NumberFormat::bf16 : NumberFormat::fp16] = accelerator.measured_gemm;
    processor.levels = {{"memory", accelerator.memory_bandwidth, accelerator.memory}};
    processor.accelerator = accelerator;
    return processor;
}

std::optional<NumberFormat> usual_format(Processor const& processor) {
    constexpr std::array preference{NumberFormat::bf16, NumberFormat::fp16, NumberFormat::fp8, NumberFormat::fp4,
                                    NumberFormat::tf32, NumberFormat::fp32, NumberFormat::fp64};
    for (NumberFormat const format : preference) {
        if (processor.peak[format].base() > 0.0) { return format; }
    }
    return std::nullopt;
}

FlopsPerByte ridge_point(FlopsPerSecond peak, BytesPerSecond bandwidth) { return peak / bandwidth; }

FlopsPerSecond attainable_rate(FlopsPerByte intensity, FlopsPerSecond peak, BytesPerSecond bandwidth) {
    return std::min(peak, intensity * bandwidth);
}

Attained attained(Kernel const& kernel, Processor const& processor) {
    FlopsPerSecond const peak = processor.peak[kernel.format];
    Attained at;
    at.compute_time = kernel.work.base() > 0.0 ? kernel.work / peak : Seconds{};
    std::size_t slowest = 0;
    at.memory_time = kernel.moved / processor.memory().bandwidth;
    for (auto const& [level, moved] : kernel.nearer) {
        Seconds const time = moved / processor.levels.at(level).bandwidth;
        if (time > at.memory_time) {
            at.memory_time = time;
            slowest = level;
        }
    }
    at.bound = at.memory_time > at.compute_time ? Bound::memory : Bound::compute;
    if (at.bound == Bound::memory) { at.level = slowest; }
    at.time = std::max(at.compute_time, at.memory_time);
    at.rate = at.time.base() > 0.0 ? kernel.work / at.time : FlopsPerSecond{};
    at.of_peak = peak.base() > 0.0 ? at.rate / peak : 0.0;
    at.intensity =
        kernel.moved.base() > 0.0 ? kernel.work / kernel.moved : FlopsPerByte{std::numeric_limits<double>::infinity()};
    at.ridge = ridge_point(peak, processor.levels.at(slowest).bandwidth);
    return at;
}

} // namespace headroom::laws
