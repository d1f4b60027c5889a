// mpi_collectives LARGEST_BYTES SECONDS LEAST_REPEATS OPERATION...
//
// Times MPI's operations; which algorithm runs is up to the library and its settings. Rank 0 prints CSV:
//   operation,ranks,bytes,repeats,minimum_us,median_us,ninetieth_us
// Bytes are the whole vector, counted once (Headroom's `TotalBytes`); MPI counts shards for some. A time runs from an
// instant that all agreed on until the last rank is through. Compiled by mpicxx for real networks, where ranks share a
// clock, and by smpicxx for SimGrid, where clock and usleep are simulated.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mpi.h>
#include <unistd.h>
#include <vector>

namespace {

constexpr double lead = 5000.0; // microseconds in which news of the start reach every rank
constexpr int most_repeats = 60;
constexpr int in_a_row = 3;

struct Job {
    int rank = 0, ranks = 1;
    std::vector<char> own, other;
};

using Run = void (*)(Job&, int);

void one_way(Job& job, int bytes) {
    if (job.rank > 1) { return; }
    int const peer = 1 - job.rank;
    if (job.rank == 0) { MPI_Send(job.own.data(), bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD); }
    MPI_Recv(job.other.data(), bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (job.rank == 1) { MPI_Send(job.own.data(), bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD); }
}

void exchange(Job& job, int bytes, int to, int from) {
    MPI_Sendrecv(job.own.data(), bytes, MPI_BYTE, to, 0, job.other.data(), bytes, MPI_BYTE, from, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

/// Several in a row: two that start at one instant have asked and answered before the line is busy, later ones have not.
void both_ways(Job& job, int bytes) {
    for (int i = 0; i < in_a_row && job.rank < 2; ++i) { exchange(job, bytes, 1 - job.rank, 1 - job.rank); }
}

void shifted(Job& job, int bytes) {
    exchange(job, bytes, (job.rank + 1) % job.ranks, (job.rank + job.ranks - 1) % job.ranks);
}

void all_reduce(Job& job, int bytes) {
    MPI_Allreduce(job.own.data(), job.other.data(), bytes / 4, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

void all_gather(Job& job, int bytes) {
    int const shard = bytes / job.ranks;
    MPI_Allgather(job.own.data(), shard, MPI_BYTE, job.other.data(), shard, MPI_BYTE, MPI_COMM_WORLD);
}

void all_to_all(Job& job, int bytes) {
    int const shard = bytes / job.ranks;
    MPI_Alltoall(job.own.data(), shard, MPI_BYTE, job.other.data(), shard, MPI_BYTE, MPI_COMM_WORLD);
}

void reduce_scatter(Job& job, int bytes) {
    std::vector<int> const shards(static_cast<std::size_t>(job.ranks), bytes / 4 / job.ranks);
    MPI_Reduce_scatter(job.own.data(), job.other.data(), shards.data(), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

void broadcast(Job& job, int bytes) { MPI_Bcast(job.own.data(), bytes, MPI_BYTE, 0, MPI_COMM_WORLD); }

void reduce(Job& job, int bytes) {
    MPI_Reduce(job.own.data(), job.other.data(), bytes / 4, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD);
}

struct Named {
    char const* name;
    Run run;
    double share; // of what was timed that one message stands for
};
constexpr Named operations[] = {
    {"one_way", one_way, 0.5},       {"both_ways", both_ways, 1.0 / in_a_row}, {"shifted", shifted, 1.0},
    {"all_reduce", all_reduce, 1.0}, {"all_gather", all_gather, 1.0},          {"all_to_all", all_to_all, 1.0},
    {"broadcast", broadcast, 1.0},   {"reduce_scatter", reduce_scatter, 1.0},  {"reduce", reduce, 1.0},
};
constexpr int sizes[] = {16 << 20, 4 << 20, 1 << 20, 256 << 10, 64 << 10, 32 << 10, 4 << 10, 512, 8};

double now() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) * 1e-3;
}

/// Whether each element of an all-reduce is the sum of rank + 1 over ranks.
bool is_sum(Job const& job, int bytes) {
    for (int i = 0; i + 4 <= bytes; i += 4) {
        float value = 0.0F;
        std::memcpy(&value, job.other.data() + i, sizeof value);
        if (value != static_cast<float>(job.ranks * (job.ranks + 1) / 2)) { return false; }
    }
    return true;
}

double timed_once(Job& job, Named const& operation, int bytes) {
    MPI_Barrier(MPI_COMM_WORLD);
    double start = now() + lead;
    MPI_Bcast(&start, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    double const wait = start - now();
    if (wait > 0.0) { usleep(static_cast<unsigned>(wait)); }
    operation.run(job, bytes);
    double const mine = now() - start;
    double last = 0.0;
    MPI_Reduce(&mine, &last, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    return last * operation.share;
}

void measure(Job& job, Named const& operation, int bytes, double seconds, int least) {
    double const first = timed_once(job, operation, bytes);
    if (operation.run == all_reduce && !is_sum(job, bytes)) {
        std::fprintf(stderr, "mpi_collectives: the sum of %d bytes is wrong\n", bytes);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    int repeats = static_cast<int>(std::clamp(seconds * 1e6 / (first + lead), 1.0 * least, 1.0 * most_repeats));
    MPI_Bcast(&repeats, 1, MPI_INT, 0, MPI_COMM_WORLD);
    std::vector<double> times;
    for (int i = 0; i < repeats; ++i) { times.push_back(timed_once(job, operation, bytes)); }
    std::sort(times.begin(), times.end());
    std::size_t const count = times.size();
    if (job.rank == 0) {
        std::printf("%s,%d,%d,%zu,%.3f,%.3f,%.3f\n", operation.name, job.ranks, bytes, count, times.front(),
                    times[count / 2], times[count * 9 / 10]);
        std::fflush(stdout);
    }
}

void measure_named(Job& job, char const* name, int largest, double seconds, int least) {
    for (Named const& operation : operations) {
        if (std::strcmp(operation.name, name) != 0) { continue; }
        for (int const bytes : sizes) {
            if (bytes <= largest && bytes >= job.ranks) { measure(job, operation, bytes, seconds, least); }
        }
        return;
    }
    std::fprintf(stderr, "mpi_collectives: no operation %s\n", name);
    MPI_Abort(MPI_COMM_WORLD, 2);
}

} // namespace

int main(int count, char** arguments) {
    MPI_Init(&count, &arguments);
    Job job;
    MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &job.ranks);
    if (count < 5) {
        std::fputs("usage: mpi_collectives LARGEST_BYTES SECONDS LEAST_REPEATS OPERATION...\n", stderr);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    int const largest = std::atoi(arguments[1]);
    std::vector<float> const filled(static_cast<std::size_t>(largest) / 4 + 64, static_cast<float>(job.rank + 1));
    job.own.resize(filled.size() * 4);
    std::memcpy(job.own.data(), filled.data(), job.own.size());
    job.other.resize(job.own.size());
    for (int i = 4; i < count; ++i) {
        measure_named(job, arguments[i], largest, std::atof(arguments[2]), std::atoi(arguments[3]));
    }
    MPI_Finalize();
    return 0;
}
