// hot_messages LARGEST_BYTES SECONDS
//
// Ping-pong of ranks 0 and 1, and all-reduce of all ranks, with the same buffers each time, as benchmarks of MPI usually
// time them: many in a row; an all-reduce begins behind a barrier and ends when the call returns. Rank 0 prints CSV:
//   operation,ranks,bytes,batches,minimum_us,median_us
// of means of batches, for sizes from 8 bytes on, each eight times the one before.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mpi.h>
#include <vector>

namespace {

struct Job {
    int rank = 0, ranks = 1;
    std::vector<float> out, in;
};

/// Seconds of one message, by rank 0's clock; 0 on other ranks.
double ping_pong(Job& job, int bytes, int count) {
    double const begin = MPI_Wtime();
    for (int i = 0; i < count && job.rank < 2; ++i) {
        if (job.rank == 0) {
            MPI_Send(job.out.data(), bytes, MPI_CHAR, 1, 7, MPI_COMM_WORLD);
            MPI_Recv(job.in.data(), bytes, MPI_CHAR, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(job.in.data(), bytes, MPI_CHAR, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(job.out.data(), bytes, MPI_CHAR, 0, 7, MPI_COMM_WORLD);
        }
    }
    return job.rank == 0 ? (MPI_Wtime() - begin) / (2.0 * count) : 0.0;
}

/// Mean seconds of a call on this rank.
double all_reduce(Job& job, int bytes, int count) {
    double seconds = 0.0;
    for (int i = 0; i < count; ++i) {
        MPI_Barrier(MPI_COMM_WORLD);
        double const begin = MPI_Wtime();
        MPI_Allreduce(job.out.data(), job.in.data(), bytes / 4, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        seconds += MPI_Wtime() - begin;
    }
    return seconds / count;
}

/// Batches until the time is over, ten at least; each counts with its slowest rank.
template <class Run> void measure(char const* name, Job& job, int bytes, double limit, Run run) {
    // as long as repetitions of `measure comm`: the least mean of fewer is lower
    int const count = bytes <= 512 ? 128 : bytes <= 4096 ? 64 : bytes <= 65536 ? 32 : 8;
    run(job, bytes, count); // to warm up
    std::vector<double> batches;
    double const end = MPI_Wtime() + limit;
    for (int goes_on = 1; goes_on != 0;) {
        double const mine = run(job, bytes, count);
        double slowest = 0.0;
        MPI_Reduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        batches.push_back(slowest);
        goes_on = batches.size() < 10 || MPI_Wtime() < end ? 1 : 0;
        MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    if (job.rank != 0) { return; }
    std::sort(batches.begin(), batches.end());
    std::printf("%s,%d,%d,%zu,%.4f,%.4f\n", name, name[0] == 'o' ? 2 : job.ranks, bytes, batches.size(),
                batches.front() * 1e6, batches[batches.size() / 2] * 1e6);
    std::fflush(stdout);
}

} // namespace

int main(int count, char** words) {
    MPI_Init(&count, &words);
    Job job;
    MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &job.ranks);
    int const largest = count > 1 ? std::atoi(words[1]) : 1 << 20;
    double const seconds = count > 2 ? std::atof(words[2]) : 0.3;
    job.out.assign(static_cast<std::size_t>(largest) / 4 + 16, 1.0F);
    job.in.assign(job.out.size(), 0.0F);
    for (int bytes = 8; bytes <= largest; bytes *= 8) {
        measure("one_way", job, bytes, seconds, ping_pong);
        measure("all_reduce", job, bytes, seconds, all_reduce);
    }
    MPI_Finalize();
    return 0;
}
