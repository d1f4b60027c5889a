#pragma once

#include <span>
#include <vector>

namespace headroom::training {

/// Who adds gradients: the library's all-reduce, whichever way it takes, or a ring of blocking exchanges.
enum class AllReduce { library, ring };

/// The processes that train together: those of an MPI job, or one process alone. One source file for each.
class Job {
public:
    Job(int& count, char**& arguments);
    ~Job();
    Job(Job const&) = delete;
    Job& operator=(Job const&) = delete;

    /// Whether there is MPI in this program.
    static bool has_mpi();

    [[nodiscard]] int rank() const { return rank_; }
    [[nodiscard]] int size() const { return size_; }

    /// Adds up the vectors of all; every process gets the sum.
    ///
    /// The ring sends 2(p-1) messages of n/p, first of partial sums, then of sums, so that all get the same bits.
    /// Source: [PatarasukYuan2009]
    template <class Real> void add_up(std::span<Real> values, AllReduce how);
    /// Each element's largest value among all.
    void take_largest(std::span<double> values);
    /// What the first process has, for all.
    template <class Real> void hand_out(std::span<Real> values);
    void wait_for_all();

private:
    int rank_ = 0, size_ = 1;
    std::vector<char> room_ = {};
};

} // namespace headroom::training
