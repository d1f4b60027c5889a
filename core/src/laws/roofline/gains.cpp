#include "headroom/laws/roofline.hpp"

#include <algorithm>
#include <limits>

namespace headroom::laws {

std::string_view name_of(GainBy by) {
    switch (by) {
    case GainBy::memory: return "memory";
    case GainBy::peak: return "peak";
    case GainBy::precision: return "precision";
    case GainBy::batch: return "batch";
    case GainBy::fusion: return "fusion";
    }
    return "";
}

std::optional<double> rows_at_ridge(Batched const& batched, FlopsPerByte ridge) {
    Flops const gain = batched.work - ridge * batched.moved;
    if (!(gain.base() > 0.0) || !(batched.fixed.base() > 0.0)) { return std::nullopt; }
    return ridge * batched.fixed / gain;
}

namespace {

double over(Seconds now, Seconds then) {
    if (now.base() <= 0.0) { return 1.0; }
    return then.base() > 0.0 ? now / then : std::numeric_limits<double>::infinity();
}

/// Gain if the binding memory level (main memory when none binds) were twice as fast; its limit is an infinitely fast
/// level.
Gain faster_memory(Kernel const& kernel, Processor processor, Attained const& at) {
    auto& level = processor.levels[at.level.value_or(0)];
    BytesPerSecond const now = level.bandwidth;
    Gain gain{.by = GainBy::memory};
    level.bandwidth = 2.0 * now;
    gain.speedup = over(at.time, attained(kernel, processor).time);
    level.bandwidth = BytesPerSecond{std::numeric_limits<double>::infinity()};
    bool const unknown = kernel.nominal; // work that stands in for a count tells no time
    gain.at_most = unknown ? std::numeric_limits<double>::infinity() : over(at.time, attained(kernel, processor).time);
    return gain;
}

Gain faster_arithmetic(Kernel const& kernel, Attained const& at) {
    Seconds const half = at.compute_time / 2.0;
    bool const works = kernel.work.base() > 0.0;
    return {.by = GainBy::peak,
            .speedup = works ? over(at.time, std::max(half, at.memory_time)) : 1.0,
            .at_most = works ? over(at.time, at.memory_time) : 1.0};
}

/// The next format that has fewer bytes an element and a rate; all that the kernel moves is in its format.
std::optional<Gain> narrower(Kernel const& kernel, Processor const& processor, Attained const& at) {
    if (!kernel.one_format) { return std::nullopt; }
    for (NumberFormat const format : number_formats) {
        bool const shrinks = bytes_of(format) < bytes_of(kernel.format);
        if (!shrinks || processor.peak[format].base() <= 0.0) { continue; }
        Kernel then = kernel;
        double const ratio = bytes_of(format) / bytes_of(kernel.format);
        then.format = format;
        then.moved *= ratio;
        for (auto& traffic : then.nearer) { traffic.moved *= ratio; }
        double const speedup = over(at.time, attained(then, processor).time);
        return Gain{.by = GainBy::precision, .speedup = speedup, .at_most = speedup, .format = format};
    }
    return std::nullopt;
}

/// Time of a row with as many of them as meet the ridge, or ever more where none do, over that of now.
std::optional<Gain> larger_batch(Kernel const& kernel, Processor const& processor, Attained const& at) {
    if (!kernel.batched || !kernel.nearer.empty()) { return std::nullopt; }
    Batched const& rows = *kernel.batched;
    if (!(rows.fixed.base() > 0.0) || !(rows.rows > 0.0)) { return std::nullopt; }
    FlopsPerSecond const peak = processor.peak[kernel.format];
    BytesPerSecond const bandwidth = processor.memory().bandwidth;
    Gain gain{.by = GainBy::batch, .rows = rows_at_ridge(rows, ridge_point(peak, bandwidth))};
    gain.at_most = over(at.time / rows.rows, std::max(rows.work / peak, rows.moved / bandwidth));
    gain.speedup = gain.rows && *gain.rows <= rows.rows ? 1.0 : gain.at_most;
    return gain;
}

std::optional<Gain> fused(Kernel const& kernel, Processor const& processor, Attained const& at) {
    if (kernel.handed_over.base() <= 0.0) { return std::nullopt; }
    Kernel then = kernel;
    then.moved = std::max(Bytes{}, kernel.moved - kernel.handed_over);
    double const speedup = over(at.time, attained(then, processor).time);
    return Gain{.by = GainBy::fusion, .speedup = speedup, .at_most = speedup, .saved = kernel.moved - then.moved};
}

} // namespace

std::vector<Gain> gains_of(Kernel const& kernel, Processor const& processor) {
    Attained const at = attained(kernel, processor);
    std::vector<Gain> all{faster_memory(kernel, processor, at), faster_arithmetic(kernel, at)};
    for (auto const& gain :
         {narrower(kernel, processor, at), larger_batch(kernel, processor, at), fused(kernel, processor, at)}) {
        if (gain) { all.push_back(*gain); }
    }
    return all;
}

} // namespace headroom::laws
