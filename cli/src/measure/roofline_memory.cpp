#include "headroom/document/json.hpp"
#include "measure/roofline_points.hpp"

#include "headroom/probe/memory_rates.hpp"

#include <algorithm>

namespace headroom::cli {

using namespace headroom::document;

using namespace headroom::measure;

namespace {

using probe::MemoryKernel;
using probe::MemoryPoint;

/// Reads are the ceiling of what reads, triad of what writes too; latency is that of one core.
bool is_wanted(MemoryPoint const& point, RooflineTask const& task) {
    bool const team = std::ranges::find(task.threads, point.threads) != task.threads.end();
    if (point.kernel == MemoryKernel::chase) { return point.threads == 1 && !point.curve; }
    return team && !point.curve && (point.kernel == MemoryKernel::read || point.kernel == MemoryKernel::triad);
}

/// Of so many cores together: caches that they do not share add up.
double capacity_of(MemoryPoint const& point, probe::MachineShape const& shape) {
    for (auto const& cache : shape.caches) {
        if (point.level != "L" + std::to_string(cache.level)) { continue; }
        int const sharing = std::max(1, cache.cores);
        return static_cast<double>(cache.bytes) * ((point.threads + sharing - 1) / sharing);
    }
    return static_cast<double>(shape.memory_bytes);
}

MeasuredPoint point_of(MemoryPoint const& of, probe::MachineShape const& shape) {
    bool const chase = of.kernel == MemoryKernel::chase;
    std::string const past = of.stores == probe::Stores::past_caches ? " past the caches" : "";
    std::string const how = chase ? "" : " by " + std::string{probe::name_of(of.kernel)} + past;
    Facts parameters{{"quantity", chase ? "latency" : "bandwidth"},
                     {"level", of.level},
                     {"kernel", std::string{probe::name_of(of.kernel)} + past},
                     {"capacity", exact(capacity_of(of, shape))},
                     {"array_bytes", std::to_string(of.bytes)},
                     {"threads", std::to_string(of.threads)}};
    return {(chase ? "latency of " : "bandwidth of ") + of.level + how + ", " + cores_words(of.threads),
            std::move(parameters), chase ? "seconds" : "bytes/second"};
}

} // namespace

void RooflineBench::add_memory(RooflineTask const& task, probe::MachineShape const& shape) {
    probe::MachineShape used = shape; // "all cores" are those that were asked for
    used.cores = std::min(used.cores, task.threads.back());
    if (used.core_ids.size() > static_cast<std::size_t>(used.cores)) {
        used.core_ids.resize(static_cast<std::size_t>(used.cores));
    }
    probe::MemoryOptions const options{.curve = false};
    auto const bench = std::make_shared<probe::MemoryBench>(used, task.quick ? 0.01 : 0.02);
    for (MemoryPoint const& point : probe::memory_points(used, options)) {
        if (!is_wanted(point, task)) { continue; }
        TimedPoint timed{.point = point_of(point, used)};
        timed.whole = [bench, point] { return bench->measure_once(point); };
        points.push_back(std::move(timed));
    }
    for (std::string const& remark : probe::memory_remarks(used, options)) { absent.push_back("memory: " + remark); }
}

} // namespace headroom::cli
