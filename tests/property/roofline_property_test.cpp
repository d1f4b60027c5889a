#include "headroom/laws/counted_kernels.hpp"
#include "headroom/laws/roofline.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace headroom {

using namespace headroom::laws;

namespace {

constexpr double slack = 1.0 + 1e-12;

/// A number spread evenly over the powers of ten between two bounds.
double spread(double low, double high) {
    double const share = *rc::gen::inRange(0, 1 << 20) / static_cast<double>(1 << 20);
    return low * std::pow(high / low, share);
}

NumberFormat any_format() { return number_formats[*rc::gen::inRange<std::size_t>(0, number_formats.size())]; }

/// Every format has a rate, narrow ones no lower; one to four levels, nearer ones no slower.
Processor any_processor() {
    Processor processor;
    double rate = spread(1e9, 1e14);
    for (NumberFormat const format : number_formats) {
        processor.peak[format] = FlopsPerSecond{rate};
        rate *= spread(1.0, 4.0);
    }
    processor.vector[NumberFormat::fp32] = processor.peak[NumberFormat::fp32];
    double bandwidth = spread(1e9, 1e13);
    int const levels = *rc::gen::inRange(1, 5);
    for (int i = 0; i < levels; ++i) {
        processor.levels.push_back({"L" + std::to_string(i), BytesPerSecond{bandwidth}, {}});
        bandwidth *= spread(1.0, 10.0);
    }
    processor.lanes = 32;
    processor.simd_width = *rc::gen::arbitrary<bool>() ? Bytes{64.0} : Bytes{};
    return processor;
}

Kernel any_kernel(Processor const& processor) {
    Kernel kernel;
    kernel.format = any_format();
    kernel.work = Flops{spread(1.0, 1e18)};
    kernel.moved = Bytes{spread(1.0, 1e15)};
    for (std::size_t level = 1; level < processor.levels.size(); ++level) {
        kernel.nearer.push_back({level, Bytes{spread(1.0, 1e16)}});
    }
    return kernel;
}

/// A kernel with one of the counted shapes, its sizes far apart.
Kernel any_counted() {
    auto const all = counted_kernels();
    CountedKernel const& one = all[*rc::gen::inRange<std::size_t>(0, all.size())];
    std::vector<double> sizes;
    for (std::size_t i = 0; i < one.dimensions; ++i) { sizes.push_back(std::ceil(spread(1.0, 1e5))); }
    NumberFormat const format = any_format();
    Kernel kernel = one.count(sizes, bytes_of(format));
    kernel.name = one.name;
    kernel.format = format;
    return kernel;
}

RC_GTEST_PROP(RooflineProperty, NothingIsAboveACeiling, ()) {
    Processor const processor = any_processor();
    Kernel const kernel = any_kernel(processor);
    Attained const at = attained(kernel, processor);
    RC_ASSERT(at.rate <= processor.peak[kernel.format] * slack);
    RC_ASSERT(at.rate <= kernel.work / kernel.moved * processor.memory().bandwidth * slack);
    for (auto const& [level, moved] : kernel.nearer) {
        RC_ASSERT(at.rate <= kernel.work / moved * processor.levels[level].bandwidth * slack);
    }
    RC_ASSERT(at.of_peak <= slack);
    // and it touches one of them
    RC_ASSERT(at.time == std::max(at.compute_time, at.memory_time));
}

RC_GTEST_PROP(RooflineProperty, OneLevelIsTheTextbookForm, ()) {
    Processor processor = any_processor();
    processor.levels.resize(1);
    Kernel const kernel = any_kernel(processor);
    Attained const at = attained(kernel, processor);
    FlopsPerSecond const peak = processor.peak[kernel.format];
    FlopsPerSecond const rate = attainable_rate(at.intensity, peak, processor.memory().bandwidth);
    RC_ASSERT(std::abs(at.rate / rate - 1.0) < 1e-12);
    // left of the ridge memory binds, right of it arithmetic
    if (at.intensity * slack < at.ridge) { RC_ASSERT(at.bound == Bound::memory); }
    if (at.intensity > at.ridge * slack) { RC_ASSERT(at.bound == Bound::compute); }
}

RC_GTEST_PROP(RooflineProperty, ARidgeIsWhereBothTakeAsLong, ()) {
    Processor processor = any_processor();
    processor.levels.resize(1);
    Kernel kernel = any_kernel(processor);
    FlopsPerByte const ridge = ridge_point(processor.peak[kernel.format], processor.memory().bandwidth);
    kernel.work = ridge * kernel.moved;
    Attained const at = attained(kernel, processor);
    RC_ASSERT(std::abs(at.compute_time / at.memory_time - 1.0) < 1e-12);
    RC_ASSERT(std::abs(at.of_peak - 1.0) < 1e-12);
}

RC_GTEST_PROP(RooflineProperty, FasterPartsNeverHurt, ()) {
    Processor const processor = any_processor();
    Kernel const kernel = any_kernel(processor);
    Seconds const now = attained(kernel, processor).time;
    double const factor = spread(1.0, 100.0);
    Processor faster = processor;
    std::size_t const level = *rc::gen::inRange<std::size_t>(0, processor.levels.size());
    faster.levels[level].bandwidth *= factor;
    RC_ASSERT(attained(kernel, faster).time <= now);
    faster.peak[kernel.format] *= factor;
    RC_ASSERT(attained(kernel, faster).time <= now);
    RC_ASSERT(now <= attained(kernel, faster).time * factor * slack);
}

RC_GTEST_PROP(RooflineProperty, WorkAndTrafficScaleTogether, ()) {
    Processor const processor = any_processor();
    Kernel kernel = any_kernel(processor);
    Attained const before = attained(kernel, processor);
    kernel.work *= 8.0; // a power of two: exactly
    kernel.moved *= 8.0;
    for (auto& traffic : kernel.nearer) { traffic.moved *= 8.0; }
    Attained const after = attained(kernel, processor);
    RC_ASSERT(after.time == before.time * 8.0);
    RC_ASSERT(after.rate == before.rate);
    RC_ASSERT(after.bound == before.bound);
    RC_ASSERT(after.intensity == before.intensity);
}

RC_GTEST_PROP(RooflineProperty, UnitsDoNotMatter, ()) {
    Processor processor = any_processor();
    Kernel const kernel = any_kernel(processor);
    Attained const before = attained(kernel, processor);
    for (NumberFormat const format : number_formats) { processor.peak[format] *= 4.0; }
    for (auto& level : processor.levels) { level.bandwidth *= 4.0; }
    Attained const after = attained(kernel, processor);
    RC_ASSERT(after.of_peak == before.of_peak);
    RC_ASSERT(after.ridge == before.ridge);
    RC_ASSERT(after.time * 4.0 == before.time);
}

RC_GTEST_PROP(RooflineProperty, LowerCeilingsAreLower, ()) {
    Processor const processor = any_processor();
    NumberFormat const format = any_format();
    Conditions const conditions{.divergence = *rc::gen::inRange(1, 33), .occupancy = spread(1e-3, 1.0)};
    for (Ceiling const& one : ceilings_of(processor, format, conditions)) {
        RC_ASSERT(one.of_roof > 0.0);
        RC_ASSERT(one.of_roof <= slack);
        RC_ASSERT(one.level.has_value() != one.format.has_value());
        if (one.level) { RC_ASSERT(one.bandwidth <= processor.levels[*one.level].bandwidth * slack); }
        if (one.format) { RC_ASSERT(one.rate <= processor.peak[*one.format] * slack); }
    }
}

RC_GTEST_PROP(RooflineProperty, GainsAreWhatTheySay, ()) {
    Processor processor = any_processor();
    Kernel const kernel = any_counted();
    Seconds const now = attained(kernel, processor).time;
    for (Gain const& gain : gains_of(kernel, processor)) {
        RC_LOG() << kernel.name << " " << name_of(gain.by) << '\n';
        RC_ASSERT(gain.speedup >= 1.0 / slack);
        RC_ASSERT(gain.at_most * slack >= gain.speedup);
        if (gain.by == GainBy::memory || gain.by == GainBy::peak) { RC_ASSERT(gain.speedup <= 2.0 * slack); }
        if (gain.by == GainBy::fusion) { RC_ASSERT(gain.saved <= kernel.moved); }
    }
    // pulled for real
    Attained const at = attained(kernel, processor);
    auto const gains = gains_of(kernel, processor);
    auto const gain_by = [&](GainBy by) { return std::ranges::find(gains, by, &Gain::by)->speedup; };
    auto const expect = [&](double told) {
        double const real = now / attained(kernel, processor).time;
        RC_ASSERT(std::abs(told / real - 1.0) < 1e-12);
    };
    processor.levels[at.level.value_or(0)].bandwidth *= 2.0;
    expect(gain_by(GainBy::memory));
    processor.levels[at.level.value_or(0)].bandwidth /= 2.0;
    processor.peak[kernel.format] *= 2.0;
    expect(gain_by(GainBy::peak));
}

RC_GTEST_PROP(RooflineProperty, ABatchBeyondTheRidgeIsComputeBound, ()) {
    Processor processor = any_processor();
    processor.levels.resize(1);
    auto const& gemm = *std::ranges::find(counted_kernels(), "gemm", &CountedKernel::name);
    double const columns = std::ceil(spread(1.0, 1e5)), inner = std::ceil(spread(1.0, 1e5));
    NumberFormat const format = any_format();
    auto const with_rows = [&](double rows) {
        Kernel kernel = gemm.count(std::vector{rows, columns, inner}, bytes_of(format));
        kernel.format = format;
        return attained(kernel, processor).bound;
    };
    Kernel const one = gemm.count(std::vector{1.0, columns, inner}, bytes_of(format));
    auto const rows = rows_at_ridge(*one.batched, ridge_point(processor.peak[format], processor.memory().bandwidth));
    if (!rows) {
        RC_ASSERT(with_rows(1e12) == Bound::memory);
    } else if (*rows < 1e9) { // near the limit of what no batch reaches, rounding decides
        RC_ASSERT(with_rows(*rows * 1.001) == Bound::compute);
        RC_ASSERT(with_rows(*rows * 0.999) == Bound::memory);
    }
}

} // namespace
} // namespace headroom
