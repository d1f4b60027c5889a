#include "exchange.hpp"

#define OMPI_SKIP_MPICXX  1
#define MPICH_SKIP_MPICXX 1
#include <cstddef>
#include <cstdio>
#include <mpi.h>

namespace headroom::step_example {
namespace {

template <class Real> MPI_Datatype type() { return sizeof(Real) == sizeof(float) ? MPI_FLOAT : MPI_DOUBLE; }

/// The part of n elements that is piece `index` of `pieces`; pieces differ by one element at most.
template <class Real> std::span<Real> piece(std::span<Real> values, int index, int pieces) {
    std::size_t const n = values.size(), p = static_cast<std::size_t>(pieces);
    std::size_t const i = static_cast<std::size_t>((index % pieces + pieces) % pieces);
    return values.subspan(n * i / p, n * (i + 1) / p - n * i / p);
}

template <class Real> void add_up_by_ring(std::span<Real> values, int rank, int size) {
    std::vector<Real> room(values.size() / static_cast<std::size_t>(size) + 1);
    int const next = (rank + 1) % size, last = (rank + size - 1) % size;
    auto const exchange = [&](std::span<Real> out, Real* in, std::size_t count) {
        MPI_Sendrecv(out.data(), static_cast<int>(out.size()), type<Real>(), next, 0, in, static_cast<int>(count),
                     type<Real>(), last, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    };
    for (int step = 0; step + 1 < size; ++step) {
        auto const mine = piece(values, rank - step - 1, size);
        exchange(piece(values, rank - step, size), room.data(), mine.size());
        for (std::size_t i = 0; i < mine.size(); ++i) { mine[i] += room[i]; }
    }
    for (int step = 0; step + 1 < size; ++step) {
        auto const others = piece(values, rank - step, size);
        exchange(piece(values, rank + 1 - step, size), others.data(), others.size());
    }
}

} // namespace

Job::Job(int& count, char**& arguments) {
    int given = MPI_THREAD_SINGLE;
    MPI_Init_thread(&count, &arguments, MPI_THREAD_SERIALIZED, &given);
    if (given < MPI_THREAD_SERIALIZED) {
        std::fputs("headroom-step: this MPI does not let a second thread call it\n", stderr);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
}

Job::~Job() { MPI_Finalize(); }

template <class Real> void Job::add_up(std::span<Real> values, AllReduce how) {
    if (size_ == 1 || values.empty()) { return; }
    if (how == AllReduce::library) {
        MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), type<Real>(), MPI_SUM,
                      MPI_COMM_WORLD);
        return;
    }
    add_up_by_ring(values, rank_, size_);
}

void Job::take_largest(std::span<double> values) {
    MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
}

void Job::wait_for_all() { MPI_Barrier(MPI_COMM_WORLD); }

template void Job::add_up(std::span<float>, AllReduce);
template void Job::add_up(std::span<double>, AllReduce);

} // namespace headroom::step_example
