#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <span>
#include <thread>
#include <vector>

namespace headroom::step_example {

/// Method of adding gradients: the library's all-reduce by an algorithm of its choice, or a ring of blocking exchanges.
enum class AllReduce { library, ring };

/// The processes that train together: those of an MPI job, or one process alone. One source file for each.
class Job {
public:
    Job(int& count, char**& arguments);
    ~Job();
    Job(Job const&) = delete;
    Job& operator=(Job const&) = delete;

    [[nodiscard]] int rank() const { return rank_; }
    [[nodiscard]] int size() const { return size_; }

    /// Adds up the vectors of all; every process gets the sum.
    ///
    /// The ring sends 2(p-1) messages of n/p, first of partial sums, then of sums, so that all get the same bits.
    /// Source: [PatarasukYuan2009]
    template <class Real> void add_up(std::span<Real> values, AllReduce how);
    /// Each element's largest value among all.
    void take_largest(std::span<double> values);
    void wait_for_all();

private:
    int rank_ = 0, size_ = 1;
};

/// Gradients that are added up together: [first, last) of the vector.
struct Bucket {
    std::size_t first = 0, last = 0;
    bool operator==(Bucket const&) const = default;
};

/// Buckets of so many bytes at most, of one element at least, in the order in which they are finished: from the end of
/// the vector.
std::vector<Bucket> buckets_of(std::size_t elements, double bytes, std::size_t element_bytes);

/// Adds up the buckets of one step in order: each as soon as it is finished, on a thread that overlaps with the backward
/// pass, or all of them in `wait`.
class BucketQueue {
public:
    using Reduce = std::function<void(Bucket)>;
    BucketQueue(std::vector<Bucket> const& buckets, bool overlaps, Reduce reduce);
    ~BucketQueue() { finished(0); } ///< a pass that failed keeps no thread waiting
    BucketQueue(BucketQueue const&) = delete;
    BucketQueue& operator=(BucketQueue const&) = delete;

    /// Gradients from this place to the end of the vector are finished.
    void finished(std::size_t place);
    /// Until all are added up, which needs `finished(0)`; the seconds that reducing took.
    double wait();

private:
    void work();

    std::vector<Bucket> const& buckets_;
    Reduce reduce_;
    double busy_ = 0.0;
    std::atomic<std::size_t> finished_;
    std::jthread thread_ = {};
};

/// Seconds on a clock that never steps back.
double seconds_now();

/// Sleeps until that instant of `seconds_now`, with a timer as exact as the kernel has.
void sleep_until(double instant);

} // namespace headroom::step_example
