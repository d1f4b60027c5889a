#pragma once

#include "headroom/measure/measurement.hpp"
#include "headroom/probe/gemm_library.hpp"
#include "headroom/probe/machine_facts.hpp"
#include "headroom/probe/memory_rates.hpp"
#include "headroom/probe/pinned_team.hpp"
#include "headroom/probe/roofline_kernels.hpp"

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace headroom::probe {

/// What `headroom measure roofline` is asked.
struct RooflineTask {
    std::vector<int> threads;            ///< 1, and how many cores all are: ascending, each once
    std::vector<std::string> precisions; ///< empty: all
    std::vector<std::string> kernels;
    double budget_seconds = 60.0;
    bool quick = false;                       ///< small problems
    std::optional<LastCache> last_cache = {}; ///< as an earlier call of the same campaign found it
    std::uint64_t seed = 1;
};

/// A point, and how it is timed: `seconds(rounds)` does it so often. Its value is work x rounds / seconds.
struct TimedPoint {
    measure::MeasuredPoint point;
    double work = 0.0;      ///< of a round, in what the unit counts
    bool essential = false; ///< without it there is no roof: left out last where time is short
    std::function<double(std::uint64_t rounds)> seconds = {};
    std::uint64_t rounds = 1;                ///< that fill the time of a repetition
    std::optional<std::size_t> smaller = {}; ///< point of the same product of a smaller order
    /// Instead of `seconds`: one repetition whose length it chooses, and its value.
    std::function<std::optional<double>(std::stop_token const&)> whole = {};
};

/// Everything that is timed on this machine, with what it needs. Libraries are loaded when it is made, the process that
/// runs them without restraint before that. After a stop some points are missing: it is then of no use.
class RooflineBench {
public:
    RooflineBench(RooflineTask const& task, MachineShape const& shape, std::stop_token stop);
    RooflineBench(RooflineBench const&) = delete; // points refer to it
    RooflineBench& operator=(RooflineBench const&) = delete;
    std::vector<TimedPoint> points;
    std::vector<std::string> absent; ///< what is not measured here, and why: one sentence each
    measure::Facts facts;            ///< libraries and pinning, beside those of the machine

private:
    void make_teams(RooflineTask const& task, MachineShape const& shape);
    void add_peaks(RooflineTask const& task);
    void add_products(RooflineTask const& task);
    void add_library(RooflineTask const& task, GemmLibrary const& library);
    void add_library_product(GemmLibrary const& library, std::string const& precision, std::size_t order,
                             std::size_t team);
    void add_own_product(std::size_t order, std::size_t team);
    void add_memory(RooflineTask const& task, MachineShape const& shape);
    void add_kernels(RooflineTask const& task, MachineShape const& shape);
    [[nodiscard]] bool wants(RooflineTask const& task, std::string const& precision);
    ProductSpace& space_of(std::string const& precision, std::size_t order);

    /// What caches can be counted on: a hypervisor may claim those of the whole host.
    [[nodiscard]] MachineShape probed(RooflineTask const& task, MachineShape shape);
    [[nodiscard]] bool stopped() const { return stop_.stop_requested(); }

    std::stop_token stop_;
    std::unique_ptr<FreedLibraries> freed_; ///< none where no variable restrains
    std::list<PinnedTeam> teams_;
    std::vector<std::vector<int>> cores_; ///< of each team
    std::vector<GemmLibrary> libraries_;
    std::list<ProductSpace> spaces_;
    std::list<RooflineKernels> kernels_;
};

/// Time that a campaign may take, set-up included.
struct RooflineTime {
    double budget_seconds = 60.0;
    std::function<double()> now; ///< seconds since the program began
};

/// End of a campaign.
struct RooflineSampling {
    bool interrupted = false;
    std::vector<std::string> left_out; ///< points that the time was too short for, with the reason
};

/// Times what is still missing within the time. Every point is timed once to warm up, and the costliest once more; what
/// that takes plans the rounds (`plan_rounds`): six that count give an interval of 95 %, and points for which there is no
/// time are left out. Rounds take all points, each in another order, so that whatever the machine does in the meantime meets
/// all of them. Where the machine turns out slower than planned, the last rounds are not taken.
/// `progress` gets the share that is done.
RooflineSampling take_samples(std::span<TimedPoint> points, RooflineTime const& time, std::uint64_t seed,
                              std::span<measure::Sample const> earlier, measure::SampleSink const& keep,
                              std::function<void(double)> const& progress, std::stop_token const& stop);

} // namespace headroom::probe
