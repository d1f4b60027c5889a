#pragma once

#include "headroom/measure/measurement.hpp"
#include "headroom/probe/gemm_library.hpp"
#include "headroom/probe/machine_facts.hpp"
#include "headroom/probe/pinned_team.hpp"
#include "headroom/probe/roofline_kernels.hpp"

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace headroom::probe {

/// Request of `headroom measure roofline`.
struct RooflineTask {
    std::vector<int> threads;            ///< 1, and how many cores all are: ascending, each once
    std::vector<std::string> precisions; ///< empty: all
    std::vector<std::string> kernels;
    double budget_seconds = 60.0;
    bool quick = false; ///< small problems
    std::uint64_t seed = 1;
};

/// A point, and how it is timed: `seconds(rounds)` does it so often. Its value is work x rounds / seconds.
struct TimedPoint {
    measure::MeasuredPoint point;
    double work = 0.0; ///< of a round, in what the unit counts
    std::function<double(std::uint64_t rounds)> seconds = {};
    std::uint64_t rounds = 1; ///< that fill the time of a repetition
    /// Instead of `seconds`: one repetition whose length it chooses, and its value.
    std::function<std::optional<double>()> whole = {};
};

/// Everything that is timed on this machine, with what it needs. Libraries are loaded when it is made, the process that
/// runs them without restraint before that.
class RooflineBench {
public:
    RooflineBench(RooflineTask const& task, MachineShape const& shape);
    RooflineBench(RooflineBench const&) = delete; // points refer to it
    RooflineBench& operator=(RooflineBench const&) = delete;
    std::vector<TimedPoint> points;
    std::vector<std::string> absent; ///< measurements that are not possible here, with the reason: one sentence each
    measure::Facts facts;            ///< libraries and pinning, in addition to those of the machine

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

    std::unique_ptr<FreedLibraries> freed_; ///< none where no variable restrains
    std::list<PinnedTeam> teams_;
    std::vector<std::vector<int>> cores_; ///< of each team
    std::vector<GemmLibrary> libraries_;
    std::list<ProductSpace> spaces_;
    std::list<RooflineKernels> kernels_;
};

/// Number and length of the repetitions. Both follow from the budget and the number of points, so that a campaign that
/// goes on later ends where it would have ended.
struct RooflinePlan {
    std::uint32_t repetitions = 7; ///< of each point, the first of them to warm up
    double slot_seconds = 0.02;    ///< that one repetition should take
};

/// Seven repetitions at least: six that count give an interval of 95 %. Beyond 31 the time goes into longer ones.
RooflinePlan plan_of(RooflineTask const& task, std::size_t points);

/// Times what is still missing, a round of all points after the other, each in another order, so that whatever the machine
/// does in the meantime meets all of them. Stops where `progress`, which gets the share that is done, says false; returns
/// whether everything is there.
bool take_samples(RooflineBench& bench, RooflineTask const& task, std::span<measure::Sample const> earlier,
                  measure::SampleSink const& keep, std::function<bool(double)> const& progress);

} // namespace headroom::probe
