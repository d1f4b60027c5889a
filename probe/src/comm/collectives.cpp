#include "mpi_state.hpp"

#include <algorithm>
#include <array>

namespace headroom::probe {

using namespace headroom::network;

namespace {

constexpr std::uint64_t stride = 997; ///< between the elements that are looked at in every repetition
constexpr float nothing = -1.0F;      ///< no result of `given`

std::uint64_t floats_of(CommRequest const& request) { return request.bytes / sizeof(float); }
std::uint64_t shard_of(MpiRank const& self, CommRequest const& request) {
    return floats_of(request) / static_cast<std::uint64_t>(self.ranks);
}

/// Number of elements that this rank gets.
std::uint64_t result_floats(MpiRank const& self, CommRequest const& request) {
    switch (request.collective) {
    case Collective::barrier: return 0;
    case Collective::reduce_scatter: return shard_of(self, request);
    case Collective::reduce: return self.rank == 0 ? floats_of(request) : 0;
    default: return floats_of(request);
    }
}

float sum_over_ranks(MpiRank const& self, std::uint64_t i) {
    double sum = 0.0;
    for (int rank = 0; rank < self.ranks; ++rank) { sum += rank % 97 + 1; }
    return static_cast<float>(sum * static_cast<double>(i % 13 + 1));
}

/// Expected value of element i of the result, given the sum over ranks of the first element.
float expected(MpiRank const& self, CommRequest const& request, std::uint64_t i, float first_sum) {
    std::uint64_t const shard = std::max<std::uint64_t>(1, shard_of(self, request));
    auto const mine = static_cast<std::uint64_t>(self.rank);
    auto const sum = [&](std::uint64_t at) { return first_sum * static_cast<float>(at % 13 + 1); };
    switch (request.collective) {
    case Collective::all_reduce:
    case Collective::reduce: return sum(i);
    case Collective::reduce_scatter: return sum(mine * shard + i);
    case Collective::all_gather: return given(static_cast<int>(i / shard), i % shard);
    case Collective::all_to_all: return given(static_cast<int>(i / shard), mine * shard + i % shard);
    default: return given(0, i); // broadcast
    }
}

/// Broadcast works in place; everything else gets its result in another buffer.
float const* result_of(MpiRank const& self) { return self.other.data() + self.at; }

int call(MpiRank& self, CommRequest const& request, MPI_Comm comm) {
    float *const own = self.own.data() + self.at, *const other = self.other.data() + self.at;
    auto const floats = static_cast<int>(floats_of(request)), shard = static_cast<int>(shard_of(self, request));
    switch (request.collective) {
    case Collective::all_reduce: return MPI_Allreduce(own, other, floats, MPI_FLOAT, MPI_SUM, comm);
    case Collective::all_gather: return MPI_Allgather(own, shard, MPI_FLOAT, other, shard, MPI_FLOAT, comm);
    case Collective::reduce_scatter: {
        std::vector<int> const shards(static_cast<std::size_t>(self.ranks), shard);
        return MPI_Reduce_scatter(own, other, shards.data(), MPI_FLOAT, MPI_SUM, comm);
    }
    case Collective::all_to_all: return MPI_Alltoall(own, shard, MPI_FLOAT, other, shard, MPI_FLOAT, comm);
    case Collective::broadcast: return MPI_Bcast(self.rank == 0 ? own : other, floats, MPI_FLOAT, 0, comm);
    case Collective::reduce: return MPI_Reduce(own, other, floats, MPI_FLOAT, MPI_SUM, 0, comm);
    case Collective::barrier: return MPI_Barrier(comm);
    default: return MPI_ERR_UNSUPPORTED_OPERATION;
    }
}

} // namespace

void poison(MpiRank& self, CommRequest const& request, bool whole) {
    std::uint64_t const floats = result_floats(self, request), step = whole ? 1 : stride;
    float* const result = self.other.data() + self.at;
    for (std::uint64_t i = 0; i < floats; i += step) { result[i] = nothing; }
    if (floats > 0) { result[floats - 1] = nothing; }
}

std::string run_collective(MpiRank& self, CommRequest const& request, MPI_Comm comm) {
    int const code = call(self, request, comm);
    if (code == MPI_SUCCESS) { return {}; }
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    MPI_Error_string(code, text.data(), &length);
    return {text.data(), static_cast<std::size_t>(length)};
}

double run_hot_collective(MpiRank& self, CommRequest const& request, MPI_Comm comm, std::string& failure) {
    double seconds = 0.0;
    for (int i = -1 - request.in_a_row / 8; i < request.in_a_row && failure.empty(); ++i) {
        MPI_Barrier(comm);
        double const begin = monotonic();
        failure = run_collective(self, request, comm);
        if (i >= 0) { seconds += monotonic() - begin; }
    }
    return seconds / request.in_a_row;
}

std::string check_collective(MpiRank const& self, CommRequest const& request, bool whole) {
    if (request.collective == Collective::broadcast && self.rank == 0) { return {}; } // its own vector
    std::uint64_t const floats = result_floats(self, request), step = whole ? 1 : stride;
    float const first_sum = sum_over_ranks(self, 0);
    auto const wrong = [&](std::uint64_t i) { return result_of(self)[i] != expected(self, request, i, first_sum); };
    for (std::uint64_t i = 0; i < floats; i += step) {
        if (wrong(i)) {
            return "element " + std::to_string(i) + " of the result is wrong on rank " + std::to_string(self.rank);
        }
    }
    if (floats > 0 && wrong(floats - 1)) {
        return "the last element of the result is wrong on rank " + std::to_string(self.rank);
    }
    return {};
}

} // namespace headroom::probe
