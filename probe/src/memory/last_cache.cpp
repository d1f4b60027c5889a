#include "headroom/measure/cache_knee.hpp"
#include "headroom/probe/memory_rates.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace headroom::probe {

using namespace headroom::measure;

namespace {

/// The shortest of a few: other work makes loads slower, nothing makes them faster.
std::optional<double> load_seconds(MemoryBench& bench, std::uint64_t bytes, std::stop_token const& stop) {
    constexpr int tries = 3;
    std::optional<double> least;
    for (int i = 0; i < tries; ++i) {
        auto const value = bench.measure_once({.kernel = MemoryKernel::chase, .bytes = bytes, .level = {}}, stop);
        if (!value) { return {}; }
        least = std::min(least.value_or(*value), *value);
    }
    return least;
}

constexpr std::string_view between_sizes = " of ", unit = " bytes", endless = ", no end seen";

std::optional<std::uint64_t> leading_number(std::string_view& words) {
    std::uint64_t number = 0;
    auto const [end, error] = std::from_chars(words.data(), words.data() + words.size(), number);
    if (error != std::errc{}) { return {}; }
    words.remove_prefix(static_cast<std::size_t>(end - words.data()));
    return number;
}

} // namespace

std::string fact_of(LastCache const& cache) {
    return std::to_string(cache.bytes) + std::string{between_sizes} + std::to_string(cache.told) + std::string{unit} +
           (cache.knee ? "" : std::string{endless});
}

std::optional<LastCache> last_cache_from(std::string_view words) {
    auto const bytes = leading_number(words);
    if (!bytes || !words.starts_with(between_sizes)) { return {}; }
    words.remove_prefix(between_sizes.size());
    auto const told = leading_number(words);
    if (!told || !words.starts_with(unit)) { return {}; }
    return LastCache{.bytes = *bytes, .told = *told, .knee = !words.ends_with(endless)};
}

std::optional<LastCache> probe_last_cache(MachineShape const& shape, MemoryOptions const& options,
                                          std::uint64_t most_bytes, std::stop_token const& stop) {
    constexpr double repetition_seconds = 0.004;
    constexpr std::uint64_t arrays_over_cache = 4, memory_share = 16, nearest = std::uint64_t{64} << 10U;
    if (shape.caches.empty() || arrays_over_cache * shape.caches.back().bytes <= options.least_array) { return {}; }
    LastCache result{.bytes = 0, .told = shape.caches.back().bytes};
    bool const alone = shape.caches.size() < 2;
    std::uint64_t most = std::min(most_bytes, arrays_over_cache * result.told);
    if (shape.memory_bytes > 0) { most = std::min(most, shape.memory_bytes / memory_share); }
    MemoryBench bench{shape, repetition_seconds};
    std::vector<LoadLatency> latencies;
    std::uint64_t bytes = 2 * (alone ? nearest : shape.caches[shape.caches.size() - 2].bytes);
    for (; bytes <= most || latencies.empty(); bytes *= 2) {
        auto const seconds = load_seconds(bench, bytes, stop);
        if (!seconds) { return {}; }
        latencies.push_back({bytes, *seconds});
        bench.renew_pages(); // a chain of every size at once would be twice the largest
    }
    auto const knee = cache_knee(latencies);
    result.knee = knee.has_value();
    result.bytes = std::min(result.told, knee.value_or(latencies.back().bytes / arrays_over_cache));
    return result;
}

} // namespace headroom::probe
