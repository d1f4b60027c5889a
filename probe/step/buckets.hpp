#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace headroom::training {

/// Gradients that are added up together: [first, last) of the vector.
struct Bucket {
    std::size_t first = 0, last = 0;
    bool operator==(Bucket const&) const = default;
};

/// Buckets of at most `most` elements, in the order in which they are finished: from the end of the vector.
std::vector<Bucket> buckets_of(std::size_t elements, std::size_t most);

/// Whole elements in a bucket of so many bytes; one at least.
std::size_t bucket_elements(double bytes, std::size_t element_bytes);

/// Adds up buckets in order: each as soon as it is finished, on a thread beside the backward pass, or all after it.
class BucketQueue {
public:
    using Reduce = std::function<void(Bucket)>;
    BucketQueue(std::vector<Bucket> buckets, bool beside, Reduce reduce);
    ~BucketQueue();
    BucketQueue(BucketQueue const&) = delete;
    BucketQueue& operator=(BucketQueue const&) = delete;

    /// Gradients from this place to the end of the vector are finished.
    void finished(std::size_t place);
    /// Until all are added up; the next step may begin then.
    void wait();
    /// How long reducing took in the step that `wait` has ended.
    [[nodiscard]] double busy_seconds() const { return busy_of_step_; }

private:
    void work();
    void reduce(Bucket bucket);

    std::vector<Bucket> buckets_;
    Reduce reduce_;
    bool beside_;
    double busy_ = 0.0, busy_of_step_ = 0.0;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::size_t ready_ = 0, done_ = 0; ///< buckets of this step
    bool ends_ = false;
    std::thread thread_;
};

} // namespace headroom::training
