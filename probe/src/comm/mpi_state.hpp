#pragma once

#include "headroom/probe/mpi_job.hpp"

#define OMPI_SKIP_MPICXX  1
#define MPICH_SKIP_MPICXX 1
#include <map>
#include <mpi.h>
#include <string>
#include <utility>
#include <vector>

namespace headroom::probe {

/// What each process knows.
struct MpiRank {
    MPI_Comm comm = MPI_COMM_NULL; ///< for messages of our own and collectives as the library chooses
    int rank = 0, ranks = 1;
    bool crowded = false;
    double clock_offset = 0.0; ///< this rank's clock less that of rank 0
    std::vector<float> own, other;
    std::size_t at = 0;      ///< element at which the vectors of a message begin
    std::size_t slot = 0;    ///< of cold buffers: the next one
    std::size_t slots = 1;   ///< of cold buffers, that lie behind each other
    std::size_t stride = 0;  ///< elements from one to the next
    std::vector<float> load; ///< what is exchanged beside a loaded pair
    std::map<std::pair<network::Collective, int>, MPI_Comm> forced;
};

/// Who takes part. Collective.
network::CommWorld world_of(MpiRank const& self);

/// Seconds of a clock that is never set.
double monotonic();

/// Sleeps until shortly before the instant, then looks for messages, as a rank does that comes from other communication:
/// a library that was left alone for a while takes longer for the first thing it is asked. A shared processor is left to
/// others in between.
void wait_until(MpiRank const& self, double instant);

/// Offsets of all clocks to that of rank 0, each from the quickest of some round trips:
///
///     offset = theirs - (sent + received) / 2, give or take (received - sent) / 2
///
/// An offset that is smaller than its doubt is one clock's: zero. Collective. Returns the largest doubt on rank 0.
/// Source: [HunoldCarpenAmarie2016]
double agree_on_clocks(MpiRank& self);

/// What can be forced here; `why_not` is filled where nothing can.
std::vector<network::CommAlgorithm> forced_algorithms(std::string& why_not);
/// The communicator whose collectives of this kind run by that algorithm. Collective.
MPI_Comm communicator_for(MpiRank& self, network::Collective collective, int number);

/// Elements after which the pattern of `given` repeats.
inline constexpr std::size_t given_period = 13;

/// The vectors of the next message: of cold buffers those that were used longest ago.
inline void next_buffers(MpiRank& self) {
    self.at = self.slot * self.stride;
    self.slot = (self.slot + 1) % self.slots;
}

/// Element i of what a rank gives to a collective. Sums over ranks are exact in a float.
inline float given(int rank, std::uint64_t i) {
    return static_cast<float>((rank % 97 + 1) * static_cast<int>(i % 13 + 1));
}

/// Fills the result with what is no result, where `check_collective` looks.
void poison(MpiRank& self, CommRequest const& request, bool whole);
/// Runs it; the library's word where it refuses.
std::string run_collective(MpiRank& self, CommRequest const& request, MPI_Comm comm);
/// Mean of several in a row with the same buffers, each from a barrier on, after some that are not timed. Seconds of this rank;
/// `failure` gets the library's word. Source: [OsuBenchmarks]
double run_hot_collective(MpiRank& self, CommRequest const& request, MPI_Comm comm, std::string& failure);
/// Empty where the result is right.
std::string check_collective(MpiRank const& self, CommRequest const& request, bool whole);

/// Runs what is no collective. Seconds by this rank's clock; below zero where the time from the agreed instant counts.
double run_messages(MpiRank& self, CommRequest const& request);

} // namespace headroom::probe
