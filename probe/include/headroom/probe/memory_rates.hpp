#pragma once

#include "headroom/measure/measurement.hpp"
#include "headroom/probe/machine_facts.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::probe {

/// What is done with arrays of doubles; the last four as STREAM defines them.
enum class MemoryKernel {
    read,  ///< sum += a[i]
    write, ///< a[i] = s
    copy,  ///< c[i] = a[i]
    scale, ///< c[i] = s a[i]
    add,   ///< c[i] = a[i] + b[i]
    triad, ///< c[i] = a[i] + s b[i]
    chase, ///< p = *p: every load needs the one before
};
std::string_view name_of(MemoryKernel kernel);

/// How results go to memory.
enum class Stores {
    ordinary,    ///< the line that is written is read first, where the processor does not see that it need not
    past_caches, ///< "non-temporal": straight to memory, and slow where the data are in a cache
};

/// One rate or time of one level of memory.
struct MemoryPoint {
    MemoryKernel kernel = MemoryKernel::triad;
    Stores stores = Stores::ordinary;
    std::uint64_t bytes = 0; ///< of all arrays of all threads together
    int threads = 1;         ///< one a core
    std::string level;       ///< where the data lie: "L1", "L2", "L3", "memory"
    bool curve = false;      ///< a size of the curve over sizes; else the size that stands for its level
};

struct MemoryOptions {
    bool curve = true;                 ///< sizes between the levels, too: of triad and chase
    std::uint64_t least_bytes = 16384; ///< where the curve begins, a core
    std::uint64_t most_bytes = 0;      ///< of all arrays together; 0: what the machine asks for, see `memory_points`
    std::uint64_t least_array = std::uint64_t{192} << 20U; ///< each of three arrays in memory, whatever the caches are
};

/// What to measure: every kernel in every cache and in memory, on one core and on all; past the caches only in memory.
///
/// Arrays stand for a cache where they fill half of what is each thread's of it (and the whole of the smaller ones
/// besides, where a cache is hardly larger than they). In memory each of three arrays is four times all last caches
/// that are in use and at least `least_array`, and all three together at most an eighth of memory.
/// Source:     [McCalpin1995]
std::vector<MemoryPoint> memory_points(MachineShape const& shape, MemoryOptions const& options = {});
/// What of it is less than it should be, in words: no caches told, arrays smaller than the rule of STREAM.
std::vector<std::string> memory_remarks(MachineShape const& shape, MemoryOptions const& options = {});

/// Its name and parts as they are stored; bytes/second of a kernel, seconds (of one load) of a chase.
measure::MeasuredPoint measured_point(MemoryPoint const& point);

/// What is counted for one element, by the convention of STREAM: what the loop names, 8 bytes a load or store. That a line
/// is read before it is written (write-allocate) is not counted, so that ordinary stores move more than is said here: write
/// and copy up to 2 and 3/2 times, triad up to 4/3. 0 for a chase.
/// Source:     [McCalpin1995]
int counted_bytes(MemoryKernel kernel);

/// No processor is believed to be faster (of a chase: slower is impossible, seconds of one load): two loads and two stores
/// of the widest vectors a cycle on every thread at 6 GHz, no load answered within a cycle of it.
double believable_limit(MemoryPoint const& point);

/// The last cache by a chase through rising working sets; `shape` says where it begins and which core chases.
struct LastCache {
    std::uint64_t bytes = 0; ///< that it holds, no more than the system says
    std::uint64_t told = 0;  ///< by the system
    bool knee = false;       ///< latencies showed its end; else it is a quarter of the largest set that was tried
};
inline constexpr char const* last_cache_fact = "last cache, probed";
/// The fact that a campaign keeps of it: "16777216 of 272629760 bytes", ", no end seen" where there was no knee.
std::string fact_of(LastCache const& cache);
/// Empty where the words are not those of `fact_of`.
std::optional<LastCache> last_cache_from(std::string_view words);

/// Size of the last cache that a working set can count on. Empty where its size, as the system tells it, asks for no larger
/// arrays than `options.least_array` (then nothing is chased), and where it was stopped. The largest set has
/// `most_bytes`, or a sixteenth of memory.
std::optional<LastCache> probe_last_cache(MachineShape const& shape, MemoryOptions const& options,
                                          std::uint64_t most_bytes, std::stop_token const& stop);

/// Arrays, threads and chains, kept from one repetition to the next. Not to be used by two threads at a time.
class MemoryBench {
public:
    /// `seconds`: how long one repetition takes at least; a pass over all arrays is never cut short.
    explicit MemoryBench(MachineShape shape, double seconds = 0.02);
    ~MemoryBench();
    MemoryBench(MemoryBench const&) = delete;
    MemoryBench& operator=(MemoryBench const&) = delete;

    /// One repetition, in the unit of `measured_point`; nothing where it was stopped.
    /// Errors:     std::runtime_error where a result is wrong or faster than is believable, or memory is refused.
    std::optional<double> measure_once(MemoryPoint const& point, std::stop_token stop = {});
    /// Other pages of memory from here on: which ones a program gets decides about caches, and differs from run to run.
    void renew_pages();

    /// The instruction set of the kernels and their vectors' bytes, whether threads stay on their cores, and how much of
    /// the memory had now lies in huge pages.
    [[nodiscard]] measure::Facts conditions() const;

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

} // namespace headroom::probe
