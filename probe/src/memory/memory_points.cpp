#include "memory/stream_kernels.hpp"

#include "headroom/probe/memory_rates.hpp"
#include "headroom/quantity.hpp"

#include <algorithm>
#include <array>

namespace headroom::probe {

using namespace headroom::measure;

namespace {

struct KernelRow {
    MemoryKernel kernel;
    std::string_view name;
    int loads, stores; ///< of one element
};
constexpr std::array<KernelRow, 7> kernels{{{MemoryKernel::read, "read", 1, 0},
                                            {MemoryKernel::write, "write", 0, 1},
                                            {MemoryKernel::copy, "copy", 1, 1},
                                            {MemoryKernel::scale, "scale", 1, 1},
                                            {MemoryKernel::add, "add", 2, 1},
                                            {MemoryKernel::triad, "triad", 2, 1},
                                            {MemoryKernel::chase, "chase", 1, 0}}};

constexpr std::uint64_t grain = 512; ///< bytes of an array of one thread are a multiple of it
constexpr double highest_clock = 6e9;

KernelRow const& row_of(MemoryKernel kernel) { return *std::ranges::find(kernels, kernel, &KernelRow::kernel); }
int arrays_of(KernelRow const& row) { return row.loads + row.stores; }

/// Share of a cache that each of so many threads on neighbouring cores has, bytes.
std::uint64_t share_of(CacheLevel const& cache, int threads) {
    return cache.bytes / static_cast<std::uint64_t>(std::max(std::min(threads, cache.cores), 1));
}

/// Last caches of all cores that are in use, together.
std::uint64_t last_caches(MachineShape const& shape, int threads) {
    if (shape.caches.empty()) { return 0; }
    auto const& last = shape.caches.back();
    return last.bytes * static_cast<std::uint64_t>((threads + last.cores - 1) / std::max(last.cores, 1));
}

/// Each of the three arrays of a triad in memory, all threads together.
std::uint64_t memory_array(MachineShape const& shape, MemoryOptions const& options, int threads) {
    std::uint64_t bytes = std::max(4 * last_caches(shape, threads), options.least_array);
    if (shape.memory_bytes > 0) { bytes = std::min(bytes, shape.memory_bytes / 8 / 3); }
    if (options.most_bytes > 0) { bytes = std::min(bytes, options.most_bytes / 3); }
    return bytes;
}

struct Sizes {
    MachineShape const& shape;
    MemoryOptions const& options;
    int threads;
    std::vector<MemoryPoint>& points;

    /// `bytes`: of all arrays of one thread, brought to whole grains of each array.
    void add(KernelRow const& row, Stores stores, std::uint64_t bytes, std::string level, bool curve) const {
        auto const arrays = static_cast<std::uint64_t>(arrays_of(row));
        bytes =
            std::max(bytes / arrays / grain, std::uint64_t{1}) * grain * arrays * static_cast<std::uint64_t>(threads);
        MemoryPoint const point{row.kernel, stores, bytes, threads, std::move(level), curve};
        auto const same = [&](MemoryPoint const& other) {
            return other.kernel == point.kernel && other.stores == stores && other.bytes == bytes &&
                   other.threads == threads;
        };
        if (std::ranges::none_of(points, same)) { points.push_back(point); }
    }

    /// Bytes of one thread that lie in cache `i` and in none nearer.
    [[nodiscard]] std::uint64_t bytes_in(std::size_t i) const {
        std::uint64_t const half = share_of(shape.caches[i], threads) / 2;
        std::uint64_t const nearer = i == 0 ? 0 : share_of(shape.caches[i - 1], threads);
        return half > nearer + nearer / 2 ? half : nearer + half;
    }

    /// Level of a size of the curve. Data that nearly fill a level, or are less than four times the last cache, lie in
    /// part elsewhere.
    [[nodiscard]] std::string level_of(std::uint64_t bytes) const {
        for (auto const& cache : shape.caches) {
            auto const share = share_of(cache, threads);
            if (bytes <= share - share / 4) { return "L" + std::to_string(cache.level); }
        }
        bool const far = !shape.caches.empty() && bytes >= 4 * share_of(shape.caches.back(), threads);
        return far ? "memory" : "between";
    }

    void add_kernel(KernelRow const& row) const {
        for (std::size_t i = 0; i < shape.caches.size(); ++i) {
            add(row, Stores::ordinary, bytes_in(i), "L" + std::to_string(shape.caches[i].level), false);
        }
        auto const bytes = memory_array(shape, options, threads) / static_cast<std::uint64_t>(threads) *
                           static_cast<std::uint64_t>(arrays_of(row));
        add(row, Stores::ordinary, bytes, "memory", false);
        if (row.stores > 0) { add(row, Stores::past_caches, bytes, "memory", false); }
    }

    void add_curve(KernelRow const& row) const {
        auto const most = memory_array(shape, options, threads) / static_cast<std::uint64_t>(threads) *
                          static_cast<std::uint64_t>(arrays_of(row));
        for (std::uint64_t bytes = std::max(options.least_bytes, grain); bytes < most; bytes *= 2) {
            add(row, Stores::ordinary, bytes, level_of(bytes), true);
        }
    }
};

std::vector<int> thread_counts(MachineShape const& shape) {
    return shape.cores > 1 ? std::vector<int>{1, shape.cores} : std::vector<int>{1};
}

} // namespace

std::string_view name_of(MemoryKernel kernel) { return row_of(kernel).name; }

int counted_bytes(MemoryKernel kernel) { return kernel == MemoryKernel::chase ? 0 : 8 * arrays_of(row_of(kernel)); }

std::vector<MemoryPoint> memory_points(MachineShape const& shape, MemoryOptions const& options) {
    std::vector<MemoryPoint> points;
    for (int const threads : thread_counts(shape)) {
        Sizes const sizes{shape, options, threads, points};
        for (KernelRow const& row : kernels) {
            if (row.kernel != MemoryKernel::chase || threads == 1) { sizes.add_kernel(row); }
        }
        if (!options.curve) { continue; }
        sizes.add_curve(row_of(MemoryKernel::triad));
        if (threads == 1) { sizes.add_curve(row_of(MemoryKernel::chase)); }
    }
    return points;
}

std::vector<std::string> memory_remarks(MachineShape const& shape, MemoryOptions const& options) {
    std::vector<std::string> remarks;
    if (shape.caches.empty()) {
        remarks.emplace_back("the system tells of no caches: only the curve over sizes shows them");
        return remarks;
    }
    auto const array = memory_array(shape, options, shape.cores);
    auto const caches = last_caches(shape, shape.cores);
    if (array < 4 * caches) {
        auto const text = [](std::uint64_t bytes) { return format_binary(Bytes{static_cast<double>(bytes)}); };
        remarks.push_back("arrays in memory are " + text(array) + " each, less than four times the last caches (" +
                          text(caches) + "): rates of memory may be too high");
    }
    return remarks;
}

MeasuredPoint measured_point(MemoryPoint const& point) {
    MeasuredPoint measured;
    std::string const kernel{name_of(point.kernel)};
    bool const past = point.stores == Stores::past_caches;
    measured.label = kernel + (past ? " past caches, " : ", ") +
                     format_binary(Bytes{static_cast<double>(point.bytes)}, 5) + " on " +
                     std::to_string(point.threads) + (point.threads == 1 ? " core" : " cores");
    measured.parameters = {{"kernel", kernel},
                           {"level", point.level},
                           {"bytes", std::to_string(point.bytes)},
                           {"threads", std::to_string(point.threads)},
                           {"stores", past ? "past caches" : "ordinary"},
                           {"curve", point.curve ? "yes" : "no"}};
    measured.unit = point.kernel == MemoryKernel::chase ? "seconds" : "bytes/second";
    return measured;
}

double believable_limit(MemoryPoint const& point) {
    if (point.kernel == MemoryKernel::chase) { return 1.0 / highest_clock; }
    auto const& row = row_of(point.kernel);
    double const cycles = std::max(row.loads, row.stores) / 2.0; // of one vector of each array
    double const bytes = static_cast<double>(stream_target().vector_bytes) * arrays_of(row);
    return bytes / cycles * highest_clock * point.threads;
}

} // namespace headroom::probe
