#include "headroom/probe/roofline_bench.hpp"

#include "headroom/measure/measured_roofline.hpp"
#include "headroom/probe/arithmetic.hpp"
#include "headroom/probe/gemm.hpp"
#include "headroom/probe/memory_rates.hpp"
#include "headroom/quantity.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <iterator>

namespace headroom::probe {

using namespace headroom::measure;

namespace {

/// The shortest digits that read back as the same number.
std::string number(double value) {
    std::array<char, 32> digits{};
    return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr};
}

/// Whole products are timed, so the largest is one that a repetition has time for.
std::vector<std::size_t> product_orders(RooflineTask const& task) {
    return task.quick ? std::vector<std::size_t>{256, 1024} : std::vector<std::size_t>{256, 512, 1024, 2048};
}

} // namespace

RooflineBench::RooflineBench(RooflineTask const& task, MachineShape const& shape, std::stop_token stop)
    : stop_{std::move(stop)} {
    if (!restraining_variables().empty()) { freed_ = std::make_unique<FreedLibraries>(); }
    make_teams(task, shape);
    MachineShape const used = probed(task, shape);
    add_peaks(task);
    add_memory(task, used);
    if (!stopped()) { add_products(task); }
    if (!stopped()) { add_kernels(task, used); }
}

namespace {

/// Arrays of small problems end a chase early: they need not be larger than four times what it shows.
MemoryOptions memory_options(RooflineTask const& task) {
    constexpr std::uint64_t small_array = std::uint64_t{64} << 20U;
    MemoryOptions options{.curve = false};
    if (task.quick) { options.least_array = small_array; }
    return options;
}

std::string size_words(std::uint64_t bytes) { return format_binary(Bytes{static_cast<double>(bytes)}); }

} // namespace

MachineShape RooflineBench::probed(RooflineTask const& task, MachineShape shape) {
    constexpr std::uint64_t most_bytes = std::uint64_t{256} << 20U, most_quick = std::uint64_t{64} << 20U;
    auto const last = task.last_cache
                          ? task.last_cache
                          : probe_last_cache(shape, memory_options(task), task.quick ? most_quick : most_bytes, stop_);
    if (!last || shape.caches.empty()) { return shape; }
    CacheLevel& cache = shape.caches.back();
    std::string const level = "L" + std::to_string(cache.level), told = size_words(last->told);
    facts.emplace_back(last_cache_fact, fact_of(*last));
    if (!last->knee) {
        absent.push_back("memory: a pointer chase up to " + size_words(4 * last->bytes) + " shows no end of " + level +
                         " (" + told + " as the system tells it): rates of memory may be those of that cache");
    }
    cache.bytes = last->bytes;
    bool const none = shape.caches.size() > 1 && cache.bytes <= shape.caches[shape.caches.size() - 2].bytes;
    if (none) { shape.caches.pop_back(); }
    return shape;
}

void RooflineBench::make_teams(RooflineTask const& task, MachineShape const& shape) {
    bool pinned = true;
    for (int const threads : task.threads) {
        std::vector<int> cores;
        for (int i = 0; i < threads; ++i) {
            cores.push_back(
                shape.core_ids.empty() ? i : shape.core_ids[static_cast<std::size_t>(i) % shape.core_ids.size()]);
        }
        teams_.emplace_back(cores);
        pinned = pinned && teams_.back().pinned();
        cores_.push_back(std::move(cores));
    }
    facts.emplace_back("threads pinned", pinned ? "each to a core" : "no: the system refuses");
}

bool RooflineBench::wants(RooflineTask const& task, std::string const& precision) {
    return task.precisions.empty() || std::ranges::find(task.precisions, precision) != task.precisions.end();
}

// ---- arithmetic -----------------------------------------------------------------------------------------------------

void RooflineBench::add_peaks(RooflineTask const& task) {
    auto const chains = arithmetic_chains();
    for (auto const& chain : chains) {
        if (!wants(task, chain.precision)) { continue; }
        for (auto& team : teams_) {
            TimedPoint timed{.point = {}, .essential = true};
            timed.point = {"peak " + chain.precision + " " + chain.instruction_set + ", " + cores_words(team.size()),
                           {{"quantity", "peak"},
                            {"precision", chain.precision},
                            {"instruction_set", chain.instruction_set},
                            {"instruction", chain.instruction},
                            {"threads", std::to_string(team.size())}},
                           "flops/second"};
            timed.work = chain.operations * team.size();
            timed.seconds = [&team, run = chain.run](std::uint64_t rounds) {
                std::atomic<double> sink{0.0}; // the compiler may not leave the chain out
                return team.run([&](int) { sink = run(rounds); });
            };
            points.push_back(std::move(timed));
        }
    }
    for (char const* precision : {"fp64", "fp32", "fp16", "bf16", "int8"}) {
        bool const there = std::ranges::find(chains, precision, &ArithmeticChain::precision) != chains.end();
        if (!there && wants(task, precision)) {
            absent.push_back(std::string{precision} +
                             ": this processor has no instructions for it that are driven here");
        }
    }
    for (std::string const& unit : undriven_units()) { absent.push_back(unit); }
}

// ---- products of matrices -------------------------------------------------------------------------------------------

ProductSpace& RooflineBench::space_of(std::string const& precision, std::size_t order) {
    auto const found = std::ranges::find_if(
        spaces_, [&](ProductSpace const& one) { return one.precision() == precision && one.order() == order; });
    return found == spaces_.end() ? spaces_.emplace_back(precision, order) : *found;
}

namespace {

MeasuredPoint product_point(std::string const& library, std::string const& precision, std::size_t order, int threads) {
    return {"product " + precision + " " + library + " of order " + std::to_string(order) + ", " + cores_words(threads),
            {{"quantity", "product"},
             {"precision", precision},
             {"library", library},
             {"order", std::to_string(order)},
             {"threads", std::to_string(threads)}},
            "flops/second"};
}

/// The last point of the same product, whose order is smaller.
std::optional<std::size_t> smaller_of(std::vector<TimedPoint> const& points, MeasuredPoint const& point) {
    for (std::size_t i = points.size(); i-- > 0;) {
        auto const same = [&](char const* name) {
            return fact(points[i].point.parameters, name) == fact(point.parameters, name);
        };
        bool const all = std::ranges::all_of(std::array{"quantity", "precision", "library", "threads", "freed"}, same);
        if (all) { return i; }
    }
    return {};
}

double operations_of(std::size_t order) {
    double const n = static_cast<double>(order);
    return 2.0 * n * n * n;
}

} // namespace

/// One core: on the pinned thread. All cores: on a thread that may run anywhere, for the library's own inherit that.
void RooflineBench::add_library_product(GemmLibrary const& library, std::string const& precision, std::size_t order,
                                        std::size_t team) {
    int const threads = static_cast<int>(cores_[team].size());
    ProductSpace& space = space_of(precision, order);
    TimedPoint timed{.point = product_point(library.name, precision, order, threads), .work = operations_of(order)};
    auto const work = [&library, &space, threads](std::uint64_t rounds) {
        if (library.set_threads) { library.set_threads(threads); }
        for (std::uint64_t i = 0; i < rounds; ++i) { library.multiply(space); }
    };
    if (threads == 1) {
        timed.seconds = [work, &own = *std::next(teams_.begin(), static_cast<std::ptrdiff_t>(team))](
                            std::uint64_t rounds) { return own.run([&](int) { work(rounds); }); };
    } else {
        timed.seconds = [work](std::uint64_t rounds) {
            auto const begin = std::chrono::steady_clock::now();
            work(rounds);
            return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        };
    }
    timed.smaller = smaller_of(points, timed.point);
    points.push_back(timed);
    constexpr std::size_t tried = 16; // an order that takes no time
    if (!freed_ || freed_->seconds(library.name, precision, tried, cores_[team], 1) < 0.0) { return; }
    timed.point.label += ", variables removed";
    timed.point.parameters.emplace_back("freed", "yes");
    timed.seconds = [this, name = library.name, precision, order, cores = cores_[team]](std::uint64_t rounds) {
        return freed_->seconds(name, precision, order, cores, rounds);
    };
    timed.smaller = smaller_of(points, timed.point);
    points.push_back(std::move(timed));
}

/// Its rows are shared out; the right factor is packed by each thread.
void RooflineBench::add_own_product(std::size_t order, std::size_t team) {
    auto& threads = *std::next(teams_.begin(), static_cast<std::ptrdiff_t>(team));
    ProductSpace& space = space_of("fp32", order);
    auto const gemm = std::make_shared<std::vector<OwnGemm>>(static_cast<std::size_t>(threads.size()));
    TimedPoint timed{.point = product_point("Headroom", "fp32", order, threads.size()), .work = operations_of(order)};
    timed.point.parameters.emplace_back("own", "yes");
    timed.seconds = [&threads, &space, gemm, order](std::uint64_t rounds) {
        return threads.run([&](int thread) {
            std::size_t const count = gemm->size(), index = static_cast<std::size_t>(thread);
            std::size_t const first = order * index / count, last = order * (index + 1) / count;
            auto const* const a = static_cast<float const*>(space.a()) + first * order;
            auto* const c = static_cast<float*>(space.c()) + first * order;
            for (std::uint64_t i = 0; i < rounds; ++i) {
                (*gemm)[index].multiply(last - first, order, order, {a, order},
                                        {static_cast<float const*>(space.b()), order}, {c, order});
            }
        });
    };
    timed.smaller = smaller_of(points, timed.point);
    points.push_back(std::move(timed));
}

void RooflineBench::add_library(RooflineTask const& task, GemmLibrary const& library) {
    std::string const kind = library.kind.empty() ? "" : ", computes for " + library.kind;
    facts.emplace_back(library.name, library.version + " (" + library.file + kind + ")");
    for (std::string const& refused : library.refused) { absent.push_back(library.name + " " + refused); }
    if (!library.set_threads) {
        absent.push_back(library.name + " on a given number of cores: it cannot be told how many threads to take");
        return;
    }
    for (std::string const& precision : library.precisions) {
        if (!wants(task, precision)) { continue; }
        for (std::size_t const order : product_orders(task)) {
            for (std::size_t team = 0; team < cores_.size() && !stopped(); ++team) {
                add_library_product(library, precision, order, team);
            }
        }
    }
}

void RooflineBench::add_products(RooflineTask const& task) {
    libraries_ = gemm_libraries();
    for (std::string const& set : restraining_variables()) { facts.emplace_back("restrained by", set); }
    if (libraries_.empty()) {
        absent.emplace_back(
            "products by a library: no OpenBLAS, MKL, BLIS, BLAS or oneDNN is installed; Headroom's own "
            "product stands for them");
    }
    for (GemmLibrary const& library : libraries_) {
        if (!stopped()) { add_library(task, library); }
    }
    if (!wants(task, "fp32")) { return; }
    for (std::size_t const order : product_orders(task)) {
        for (std::size_t team = 0; team < cores_.size(); ++team) { add_own_product(order, team); }
    }
}

// ---- memory -----------------------------------------------------------------------------------------------------------

namespace {

/// Reads are the ceiling of what reads, triad of what writes too; latency is that of one core.
bool is_wanted(MemoryPoint const& point, RooflineTask const& task) {
    bool const team = std::ranges::find(task.threads, point.threads) != task.threads.end();
    if (point.kernel == MemoryKernel::chase) { return point.threads == 1 && !point.curve; }
    return team && !point.curve && (point.kernel == MemoryKernel::read || point.kernel == MemoryKernel::triad);
}

/// Of so many cores together: caches that they do not share add up.
double capacity_of(MemoryPoint const& point, MachineShape const& shape) {
    for (auto const& cache : shape.caches) {
        if (point.level != "L" + std::to_string(cache.level)) { continue; }
        int const sharing = std::max(1, cache.cores);
        return static_cast<double>(cache.bytes) * ((point.threads + sharing - 1) / sharing);
    }
    return static_cast<double>(shape.memory_bytes);
}

MeasuredPoint point_of(MemoryPoint const& of, MachineShape const& shape) {
    bool const chase = of.kernel == MemoryKernel::chase;
    std::string const past = of.stores == Stores::past_caches ? " past the caches" : "";
    std::string const how = chase ? "" : " by " + std::string{name_of(of.kernel)} + past;
    Facts parameters{{"quantity", chase ? "latency" : "bandwidth"},      {"level", of.level},
                     {"kernel", std::string{name_of(of.kernel)} + past}, {"capacity", number(capacity_of(of, shape))},
                     {"array_bytes", std::to_string(of.bytes)},          {"threads", std::to_string(of.threads)}};
    return {(chase ? "latency of " : "bandwidth of ") + of.level + how + ", " + cores_words(of.threads),
            std::move(parameters), chase ? "seconds" : "bytes/second"};
}

} // namespace

void RooflineBench::add_memory(RooflineTask const& task, MachineShape const& shape) {
    MachineShape used = shape; // "all cores" are those that were asked for
    used.cores = std::min(used.cores, task.threads.back());
    if (used.core_ids.size() > static_cast<std::size_t>(used.cores)) {
        used.core_ids.resize(static_cast<std::size_t>(used.cores));
    }
    MemoryOptions const options = memory_options(task);
    auto const bench = std::make_shared<MemoryBench>(used, task.quick ? 0.01 : 0.02);
    for (MemoryPoint const& point : memory_points(used, options)) {
        if (!is_wanted(point, task)) { continue; }
        TimedPoint timed{.point = point_of(point, used), .essential = point.kernel != MemoryKernel::chase};
        timed.whole = [bench, point](std::stop_token const& stop) { return bench->measure_once(point, stop); };
        points.push_back(std::move(timed));
    }
    for (std::string const& remark : memory_remarks(used, options)) { absent.push_back("memory: " + remark); }
}

// ---- kernels --------------------------------------------------------------------------------------------------------

namespace {

std::uint64_t largest_cache(MachineShape const& shape) {
    std::uint64_t most = 0;
    for (auto const& cache : shape.caches) {
        int const copies = std::max(1, shape.cores / std::max(1, cache.cores));
        most = std::max(most, cache.bytes * static_cast<std::uint64_t>(copies));
    }
    return most;
}

/// Arrays of twice the caches each, within a sixteenth of the memory.
KernelSizes sizes_for(RooflineTask const& task, MachineShape const& shape) {
    constexpr std::uint64_t least = std::uint64_t{32} << 20U;
    std::uint64_t bytes = std::max(least, 2 * largest_cache(shape));
    if (shape.memory_bytes > 0) { bytes = std::min(bytes, std::max(least, shape.memory_bytes / 16)); }
    KernelSizes sizes;
    sizes.elements = bytes / sizeof(float);
    sizes.order = task.quick ? 768 : 1536;
    sizes.length = task.quick ? 1024 : 2048;
    return sizes;
}

} // namespace

void RooflineBench::add_kernels(RooflineTask const& task, MachineShape const& shape) {
    if (task.kernels.empty() || !wants(task, "fp32")) { return; }
    for (auto& team : teams_) {
        if (stopped()) { return; }
        auto const& set = kernels_.emplace_back(team, sizes_for(task, shape), task.kernels);
        for (auto const& kernel : set.all()) {
            TimedPoint timed;
            timed.point = {"kernel " + kernel.name + ", " + cores_words(team.size()),
                           {{"quantity", "kernel"},
                            {"kernel", kernel.name},
                            {"problem", kernel.words},
                            {"precision", "fp32"},
                            {"operations", number(kernel.operations)},
                            {"bytes", number(kernel.bytes)},
                            {"touched", number(kernel.touched)},
                            {"threads", std::to_string(team.size())}},
                           "flops/second"};
            timed.work = kernel.operations;
            timed.seconds = [&team, &kernel](std::uint64_t rounds) {
                return team.run([&](int thread) { kernel.run(thread, rounds); });
            };
            points.push_back(std::move(timed));
        }
    }
}

} // namespace headroom::probe
