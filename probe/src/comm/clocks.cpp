#include "mpi_state.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <sched.h>

namespace headroom::probe {
namespace {

constexpr int tries = 12;
constexpr int clock_tag = 901;
constexpr double nap = 200e-6; ///< before an instant, in which a rank stays awake
constexpr double poll = 2e-6;  ///< likewise, in which it asks for nothing more: a look for messages may take as long

/// Runs rank 0's side of the round trips with one other: {offset, uncertainty}, seconds.
std::pair<double, double> ask(MpiRank const& self, int other) {
    double offset = 0.0, doubt = INFINITY;
    for (int i = 0; i < tries; ++i) {
        double const sent = monotonic();
        double theirs = 0.0;
        MPI_Send(&sent, 1, MPI_DOUBLE, other, clock_tag, self.comm);
        MPI_Recv(&theirs, 1, MPI_DOUBLE, other, clock_tag, self.comm, MPI_STATUS_IGNORE);
        double const received = monotonic();
        if (0.5 * (received - sent) < doubt) {
            doubt = 0.5 * (received - sent);
            offset = theirs - 0.5 * (sent + received);
        }
    }
    return std::abs(offset) <= doubt ? std::pair{0.0, 0.0} : std::pair{offset, doubt};
}

void answer(MpiRank const& self) {
    for (int i = 0; i < tries; ++i) {
        double asked = 0.0;
        MPI_Recv(&asked, 1, MPI_DOUBLE, 0, clock_tag, self.comm, MPI_STATUS_IGNORE);
        double const mine = monotonic();
        MPI_Send(&mine, 1, MPI_DOUBLE, 0, clock_tag, self.comm);
    }
}

} // namespace

double monotonic() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

void wait_until(MpiRank const& self, double instant) {
    double const spare = instant - monotonic() - nap;
    if (spare > 0.0) {
        timespec const rest{.tv_sec = static_cast<time_t>(spare),
                            .tv_nsec = static_cast<long>((spare - std::floor(spare)) * 1e9)};
        nanosleep(&rest, nullptr);
    }
    while (monotonic() < instant - poll) {
        int found = 0;
        MPI_Iprobe(MPI_ANY_SOURCE, clock_tag, self.comm, &found, MPI_STATUS_IGNORE);
        if (self.crowded) { sched_yield(); }
    }
    while (monotonic() < instant) {}
}

double agree_on_clocks(MpiRank& self) {
    double largest = 0.0;
    std::vector<double> offsets(static_cast<std::size_t>(self.ranks), 0.0);
    for (int other = 1; other < self.ranks; ++other) {
        if (self.rank == 0) {
            auto const [offset, doubt] = ask(self, other);
            offsets[static_cast<std::size_t>(other)] = offset;
            largest = std::max(largest, doubt);
        } else if (self.rank == other) {
            answer(self);
        }
    }
    MPI_Scatter(offsets.data(), 1, MPI_DOUBLE, &self.clock_offset, 1, MPI_DOUBLE, 0, self.comm);
    return largest;
}

} // namespace headroom::probe
