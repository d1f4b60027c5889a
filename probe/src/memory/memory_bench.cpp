#include "memory/pointer_chain.hpp"
#include "memory/stream_kernels.hpp"

#include "headroom/probe/memory_rates.hpp"
#include "headroom/probe/pinned_team.hpp"
#include "headroom/quantity.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <stdexcept>
#include <tuple>

namespace headroom::probe {

using namespace headroom::measure;

namespace {

constexpr double a_value = 1.0, b_value = 2.0;
constexpr std::size_t checked_places = 64;

/// Three arrays of one thread. They begin a few lines apart, c first: a load whose lowest twelve bits are those of a store
/// still on its way waits for it on some processors, and with c first that store is far behind.
struct ThreadArrays {
    std::size_t size = 0;
    Pages a, b, c;

    /// A stop leaves them without a size.
    void make(std::size_t doubles, std::stop_token const& stop) {
        a = Pages{doubles * 8 + 256}, b = Pages{doubles * 8 + 512}, c = Pages{doubles * 8};
        constexpr std::size_t between_looks = std::size_t{1} << 20U;
        for (std::size_t at = 0; at < doubles && !stop.stop_requested(); at += between_looks) {
            std::size_t const count = std::min(between_looks, doubles - at);
            std::fill_n(a_data() + at, count, a_value);
            std::fill_n(b_data() + at, count, b_value);
            std::fill_n(c_data() + at, count, 0.0);
        }
        size = stop.stop_requested() ? 0 : doubles;
    }
    [[nodiscard]] double* a_data() const { return reinterpret_cast<double*>(a.data() + 256); }
    [[nodiscard]] double* b_data() const { return reinterpret_cast<double*>(b.data() + 512); }
    [[nodiscard]] double* c_data() const { return reinterpret_cast<double*>(c.data()); }
};

double expected_of(MemoryKernel kernel) {
    switch (kernel) {
    case MemoryKernel::write: return stream_scalar;
    case MemoryKernel::copy: return a_value;
    case MemoryKernel::scale: return stream_scalar * a_value;
    case MemoryKernel::add: return a_value + b_value;
    case MemoryKernel::triad: return a_value + stream_scalar * b_value;
    case MemoryKernel::read:
    case MemoryKernel::chase: break;
    }
    return 0.0;
}

/// Places spread over an array, both ends among them.
std::size_t place(std::size_t i, std::size_t size) { return i * (size - 1) / (checked_places - 1); }

[[noreturn]] void refuse_result(MemoryPoint const& point, std::string const& why) {
    throw std::runtime_error{measured_point(point).label + ": " + why};
}

using Key = std::tuple<MemoryKernel, Stores, std::uint64_t, int>;
Key key_of(MemoryPoint const& point) { return {point.kernel, point.stores, point.bytes, point.threads}; }

} // namespace

struct MemoryBench::Parts {
    MachineShape shape;
    double seconds = 0.02;
    std::map<int, std::unique_ptr<PinnedTeam>> teams;
    std::vector<ThreadArrays> arrays;
    std::map<std::uint64_t, std::unique_ptr<PointerChain>> chains;
    std::map<Key, std::uint64_t> counts; ///< passes or loads of a repetition, once known
    std::uint64_t chains_made = 0;

    PinnedTeam& team(int threads);
    struct Run {
        std::uint64_t count = 0; ///< passes or loads
        double took = 0.0;
    };
    Run lasting(MemoryPoint const& point, std::uint64_t least, std::function<double(std::uint64_t)> const& run,
                std::stop_token const& stop);
    std::optional<double> stream(MemoryPoint const& point, std::stop_token const& stop);
    std::optional<double> chase(MemoryPoint const& point, std::stop_token const& stop);
    void make_arrays(PinnedTeam& on, std::size_t size, std::stop_token const& stop);
    PointerChain& chain(PinnedTeam& on, std::uint64_t bytes, std::stop_token const& stop);
    void forget_results(MemoryPoint const& point, std::size_t size);
    void check_results(MemoryPoint const& point, std::size_t size);
};

PinnedTeam& MemoryBench::Parts::team(int threads) {
    auto& found = teams[threads];
    if (!found) {
        auto const count = static_cast<std::size_t>(std::clamp(threads, 1, shape.cores));
        found = std::make_unique<PinnedTeam>(std::vector<int>(shape.core_ids.begin(), shape.core_ids.begin() + count));
    }
    return *found;
}

/// One run of about `seconds`. How often the thing is done stays once it is known, so that repetitions are alike; a run that
/// was held up when that was found leaves it too small, and the next one shows it.
MemoryBench::Parts::Run MemoryBench::Parts::lasting(MemoryPoint const& point, std::uint64_t least,
                                                    std::function<double(std::uint64_t)> const& run,
                                                    std::stop_token const& stop) {
    auto& count = counts.try_emplace(key_of(point), least).first->second;
    double took = run(count);
    while (took < seconds / 4.0 && !stop.stop_requested()) {
        double const wanted = std::ceil(static_cast<double>(count) * seconds / std::max(took, 1e-9));
        bool const near = took > seconds / 64.0; // else the start of threads may be most of it
        count = near ? std::max(static_cast<std::uint64_t>(wanted), count + 1) : 4 * count;
        took = run(count);
    }
    return {count, took};
}

/// By the threads that will use them: so they lie in the memory of their cores.
void MemoryBench::Parts::make_arrays(PinnedTeam& on, std::size_t size, std::stop_token const& stop) {
    arrays.resize(std::max(arrays.size(), static_cast<std::size_t>(on.size())));
    on.run([&](int thread) {
        if (arrays[thread].size < size) { arrays[thread].make(size, stop); }
    });
}

void MemoryBench::Parts::forget_results(MemoryPoint const& point, std::size_t size) {
    for (int thread = 0; thread < point.threads; ++thread) {
        double* const c = arrays[thread].c_data();
        for (std::size_t i = 0; i < checked_places; ++i) {
            c[place(i, size)] = std::numeric_limits<double>::quiet_NaN();
        }
    }
}

void MemoryBench::Parts::check_results(MemoryPoint const& point, std::size_t size) {
    double const expected = expected_of(point.kernel);
    for (int thread = 0; thread < point.threads; ++thread) {
        double const* const c = arrays[thread].c_data();
        for (std::size_t i = 0; i < checked_places; ++i) {
            if (c[place(i, size)] != expected) { refuse_result(point, "wrong numbers came out"); }
        }
    }
}

std::optional<double> MemoryBench::Parts::stream(MemoryPoint const& point, std::stop_token const& stop) {
    auto const bytes_each = static_cast<std::uint64_t>(counted_bytes(point.kernel));
    auto const size = static_cast<std::size_t>(point.bytes / bytes_each / static_cast<std::uint64_t>(point.threads));
    auto& on = team(point.threads);
    if (on.size() != point.threads || size == 0) { refuse_result(point, "no such number of cores or bytes here"); }
    make_arrays(on, size, stop);
    if (stop.stop_requested()) { return std::nullopt; }
    std::vector<double> sums(static_cast<std::size_t>(point.threads) * 8, 0.0); // a line each
    auto const run = [&](std::uint64_t passes) {
        if (point.kernel != MemoryKernel::read) { forget_results(point, size); }
        return on.run([&, passes](int thread) {
            auto const& mine = arrays[thread];
            double sum = 0.0;
            std::uint64_t const some = std::max<std::uint64_t>(passes / 16, 1); // between two looks whether to stop
            for (std::uint64_t done = 0; done < passes && !stop.stop_requested(); done += some) {
                sum += stream_passes(point.kernel, point.stores, {mine.a_data(), mine.b_data(), mine.c_data(), size},
                                     std::min(some, passes - done));
            }
            sums[static_cast<std::size_t>(thread) * 8] = sum;
        });
    };
    auto const done = lasting(point, 1, run, stop);
    if (stop.stop_requested()) { return std::nullopt; }
    double const each = static_cast<double>(size) * static_cast<double>(done.count);
    if (point.kernel != MemoryKernel::read) {
        check_results(point, size);
    } else {
        for (int thread = 0; thread < point.threads; ++thread) {
            if (sums[static_cast<std::size_t>(thread) * 8] != each * a_value) {
                refuse_result(point, "a wrong sum came out");
            }
        }
    }
    return static_cast<double>(bytes_each) * each * point.threads / done.took;
}

PointerChain& MemoryBench::Parts::chain(PinnedTeam& on, std::uint64_t bytes, std::stop_token const& stop) {
    auto& found = chains[bytes];
    int const line = shape.caches.empty() ? 64 : shape.caches.front().line_bytes;
    if (!found) {
        on.run([&](int) { found = std::make_unique<PointerChain>(bytes, line, ++chains_made, stop); });
    }
    return *found;
}

std::optional<double> MemoryBench::Parts::chase(MemoryPoint const& point, std::stop_token const& stop) {
    auto& on = team(1);
    auto& walked = chain(on, point.bytes, stop);
    if (stop.stop_requested()) {
        chains.erase(point.bytes);
        return std::nullopt;
    }
    void const* end = nullptr;
    auto const run = [&](std::uint64_t loads) { return on.run([&, loads](int) { end = walked.walk(loads); }); };
    auto const done = lasting(point, 1024, run, stop);
    if (stop.stop_requested()) { return std::nullopt; }
    if (!walked.holds(end)) { refuse_result(point, "the chain was left"); }
    return done.took / static_cast<double>(done.count);
}

MemoryBench::MemoryBench(MachineShape shape, double seconds) : parts_{std::make_unique<Parts>()} {
    parts_->shape = std::move(shape);
    parts_->seconds = seconds;
}
MemoryBench::~MemoryBench() = default;

std::optional<double> MemoryBench::measure_once(MemoryPoint const& point, std::stop_token stop) {
    if (stop.stop_requested()) { return std::nullopt; }
    bool const chase = point.kernel == MemoryKernel::chase;
    auto const value = chase ? parts_->chase(point, stop) : parts_->stream(point, stop);
    if (!value) { return value; }
    double const limit = believable_limit(point);
    if (chase ? *value < limit : *value > limit) {
        refuse_result(point, "faster than any processor is: work was left out");
    }
    return value;
}

void MemoryBench::renew_pages() {
    parts_->arrays.clear();
    parts_->chains.clear();
}

Facts MemoryBench::conditions() const {
    Facts facts;
    auto const target = stream_target();
    facts.emplace_back("memory kernels",
                       target.name + ", vectors of " + std::to_string(target.vector_bytes) + " bytes");
    bool pinned = true;
    for (auto const& [threads, team] : parts_->teams) { pinned = pinned && team->pinned(); }
    facts.emplace_back("threads on cores of their own", parts_->teams.empty() ? "none yet"
                                                        : pinned              ? "yes"
                                                                              : "no: the system refuses to pin them");
    std::uint64_t had = 0;
    for (auto const& each : parts_->arrays) { had += each.a.size() + each.b.size() + each.c.size(); }
    for (auto const& [bytes, chain] : parts_->chains) { had += chain->bytes(); }
    double const share = had == 0 ? 0.0 : static_cast<double>(bytes_in_huge_pages()) / static_cast<double>(had);
    facts.emplace_back("huge pages", format_count(100.0 * std::min(share, 1.0), 2) + " % of arrays");
    return facts;
}

} // namespace headroom::probe
