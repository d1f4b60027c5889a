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
#include <string>
#include <vector>

namespace headroom::cli {

/// What `headroom measure roofline` is asked.
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
    RooflineBench(RooflineTask const& task, probe::MachineShape const& shape);
    RooflineBench(RooflineBench const&) = delete; // points refer to it
    RooflineBench& operator=(RooflineBench const&) = delete;
    std::vector<TimedPoint> points;
    std::vector<std::string> absent; ///< what is not measured here, and why: one sentence each
    measure::Facts facts;            ///< libraries and pinning, beside those of the machine

private:
    void make_teams(RooflineTask const& task, probe::MachineShape const& shape);
    void add_peaks(RooflineTask const& task);
    void add_products(RooflineTask const& task);
    void add_library(RooflineTask const& task, probe::GemmLibrary const& library);
    void add_library_product(probe::GemmLibrary const& library, std::string const& precision, std::size_t order,
                             std::size_t team);
    void add_own_product(std::size_t order, std::size_t team);
    void add_memory(RooflineTask const& task, probe::MachineShape const& shape);
    void add_kernels(RooflineTask const& task, probe::MachineShape const& shape);
    [[nodiscard]] bool wants(RooflineTask const& task, std::string const& precision);
    probe::ProductSpace& space_of(std::string const& precision, std::size_t order);

    std::unique_ptr<probe::FreedLibraries> freed_; ///< none where no variable restrains
    std::list<probe::PinnedTeam> teams_;
    std::vector<std::vector<int>> cores_; ///< of each team
    std::vector<probe::GemmLibrary> libraries_;
    std::list<probe::ProductSpace> spaces_;
    std::list<probe::RooflineKernels> kernels_;
};

/// "1 core", "16 cores"
std::string cores_words(int count);

} // namespace headroom::cli
