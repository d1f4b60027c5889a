#include "run.hpp"

#include "buckets.hpp"
#include "compute.hpp"
#include "prediction.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headroom::training {
namespace {

/// Which sequences a worker has.
struct Share {
    std::size_t first = 0, last = 0, all = 0;
};

Share share_of(Options const& options, Job const& job) {
    std::size_t const size = static_cast<std::size_t>(job.size()), rank = static_cast<std::size_t>(job.rank());
    std::size_t const all = options.local_batch ? options.batch * size : options.batch;
    if (all < size) {
        throw InputError{Fault::usage,
                         {.where = "--batch",
                          .problem = std::to_string(all) + " sequences for " + std::to_string(size) + " workers",
                          .why = "some would have none",
                          .hint = "give more, or --local-batch"}};
    }
    return {all * rank / size, all * (rank + 1) / size, all};
}

template <class Real> double length_of(std::span<Real const> values) {
    double sum = 0.0;
    for (Real const value : values) { sum += static_cast<double>(value) * static_cast<double>(value); }
    return std::sqrt(sum);
}

/// The same steps in one process, beside those of the job.
template <class Real> class Reference {
public:
    Reference(TransformerShape const& shape, Gemm const& gemm, Job& job)
        : job_{job}, shape_{shape}, compute_{shape, gemm}, gradients_(shape.parameters()) {}

    /// Adds to the largest differences; every worker looks at its own gradients.
    void compare(std::size_t step, Share share, std::span<Real const> gradients, RunResult& result) {
        if (job_.rank() == 0) {
            Batch const batch = make_batch(shape_, step, 0, share.all);
            loss_ = compute_.forward(batch, static_cast<double>(batch.inputs.size()));
            compute_.backward({});
            std::ranges::copy(compute_.gradients(), gradients_.begin());
            compute_.optimize();
        }
        job_.hand_out(std::span<Real>{gradients_});
        double const length = length_of<Real>(gradients_);
        for (std::size_t i = 0; i < gradients_.size(); ++i) { gradients_[i] -= gradients[i]; }
        double const difference = length_of<Real>(gradients_) / length;
        // what is not a number differs from everything
        result.gradient_difference = std::isfinite(difference) ? std::max(result.gradient_difference, difference)
                                                               : std::numeric_limits<double>::infinity();
        losses_.push_back(loss_);
    }
    /// Losses of the job are known at the end.
    void compare_losses(RunResult& result) const {
        for (std::size_t i = 0; job_.rank() == 0 && i < losses_.size(); ++i) {
            double const difference = std::abs(losses_[i] - result.losses[i]) / losses_[i];
            result.loss_difference = std::isfinite(difference) ? std::max(result.loss_difference, difference)
                                                               : std::numeric_limits<double>::infinity();
        }
    }

private:
    Job& job_;
    TransformerShape shape_;
    RealCompute<Real> compute_;
    std::vector<Real> gradients_;
    std::vector<double> losses_;
    double loss_ = 0.0;
};

/// Backward passes as they were timed: the places that were finished, and when.
struct Marks {
    std::vector<std::size_t> places;
    std::vector<std::vector<double>> seconds; ///< one list a place
};

template <class Real, class Compute> class Steps {
public:
    Steps(Options const& options, TransformerShape const& shape, Share share, Compute& compute, Job& job)
        : options_{options},
          shape_{shape},
          share_{share},
          compute_{compute},
          job_{job},
          buckets_{buckets_of(shape.parameters(), bucket_elements(options.bucket_bytes, sizeof(Real)))},
          queue_{buckets_, options.overlap && job.size() > 1, [this](Bucket bucket) { reduce(bucket); }} {}

    /// `compare` is told of every step, before the optimizer's.
    template <class Compare> RunResult run(bool has_data, Compare const& compare) {
        RunResult result;
        result.buckets = buckets_.size();
        job_.wait_for_all();
        for (std::size_t step = 0; step < options_.warm_up + options_.steps; ++step) {
            Batch const batch = has_data ? make_batch(shape_, step, share_.first, share_.last) : Batch{};
            PhaseTimes const times = run_one(batch, step, result, compare);
            if (step >= options_.warm_up) { result.steps.push_back(times); }
        }
        gather(result);
        return result;
    }

private:
    void reduce(Bucket bucket) {
        job_.add_up(compute_.gradients().subspan(bucket.first, bucket.last - bucket.first), options_.all_reduce);
    }

    template <class Compare>
    PhaseTimes run_one(Batch const& batch, std::size_t step, RunResult& result, Compare const& compare) {
        double const tokens = static_cast<double>(share_.all * shape_.sequence);
        bool const counts = step >= options_.warm_up;
        double const begin = seconds_now();
        result.losses.push_back(compute_.forward(batch, tokens));
        double const forward = seconds_now();
        std::size_t mark = 0;
        compute_.backward([&](std::size_t place) {
            if (counts) { note(mark++, place, seconds_now() - forward); }
            queue_.finished(place);
        });
        double const backward = seconds_now();
        queue_.wait();
        double const reduced = seconds_now();
        compare(step, result);
        double const compared = seconds_now();
        compute_.optimize();
        double const end = seconds_now();
        return {.forward = forward - begin,
                .backward = backward - forward,
                .exposed = reduced - backward,
                .optimizer = end - compared,
                .step = end - begin - (compared - reduced),
                .all_reduce = queue_.busy_seconds()};
    }

    void note(std::size_t mark, std::size_t place, double seconds) {
        if (mark == marks_.places.size()) {
            marks_.places.push_back(place);
            marks_.seconds.emplace_back();
        }
        marks_.seconds[mark].push_back(seconds);
    }

    /// Losses are sums over workers; a step is as long as its slowest worker's.
    void gather(RunResult& result) {
        result.profile = profile_of(result);
        job_.add_up(std::span<double>{result.losses}, AllReduce::library);
        std::vector<double> flat;
        for (PhaseTimes const& one : result.steps) {
            flat.insert(flat.end(), {one.forward, one.backward, one.exposed, one.optimizer, one.step, one.all_reduce});
        }
        job_.take_largest(flat);
        for (std::size_t i = 0; i < result.steps.size(); ++i) {
            double const* const at = flat.data() + 6 * i;
            result.steps[i] = {at[0], at[1], at[2], at[3], at[4], at[5]};
        }
    }

    StepProfile profile_of(RunResult const& result) const {
        auto const middle = [&result](double PhaseTimes::*phase) {
            std::vector<double> values;
            for (PhaseTimes const& one : result.steps) { values.push_back(one.*phase); }
            return median(values);
        };
        StepProfile profile{.shape = shape_,
                            .batch = share_.last - share_.first,
                            .is_double = sizeof(Real) == sizeof(double),
                            .forward = middle(&PhaseTimes::forward),
                            .backward = middle(&PhaseTimes::backward),
                            .optimizer = middle(&PhaseTimes::optimizer)};
        for (std::size_t i = 0; i < marks_.places.size(); ++i) {
            profile.marks.push_back({marks_.places[i], median(marks_.seconds[i])});
        }
        return profile;
    }

    Options const& options_;
    TransformerShape shape_;
    Share share_;
    Compute& compute_;
    Job& job_;
    std::vector<Bucket> buckets_;
    Marks marks_;
    BucketQueue queue_; ///< last: its thread ends before what it uses
};

template <class Real>
RunResult run_replayed(Options const& options, StepProfile const& profile, Share share, Job& job) {
    ReplayedCompute<Real> compute{profile, share.last - share.first};
    Steps<Real, ReplayedCompute<Real>> steps{options, profile.shape, share, compute, job};
    RunResult result = steps.run(false, [](std::size_t, RunResult&) {});
    result.losses.clear();
    result.overshoot = compute.overshoot();
    return result;
}

template <class Real> RunResult run_real(Options const& options, Gemm const& gemm, Share share, Job& job) {
    RealCompute<Real> compute{options.shape, gemm};
    Steps<Real, RealCompute<Real>> steps{options, options.shape, share, compute, job};
    if (options.mode != Mode::check) {
        return steps.run(true, [](std::size_t, RunResult&) {});
    }
    Reference<Real> reference{options.shape, gemm, job};
    RunResult result = steps.run(true, [&](std::size_t step, RunResult& so_far) {
        reference.compare(step, share, compute.gradients(), so_far);
    });
    reference.compare_losses(result);
    double worst[] = {result.loss_difference, result.gradient_difference};
    job.take_largest(worst);
    result.loss_difference = worst[0];
    result.gradient_difference = worst[1];
    return result;
}

} // namespace

double allowed_difference(bool is_double) { return is_double ? 1e-12 : 2e-5; }

RunResult run_steps(Options const& options, Gemm const& gemm, std::optional<StepProfile> const& replayed, Job& job) {
    Share const share = share_of(options, job);
    if (replayed) {
        return replayed->is_double ? run_replayed<double>(options, *replayed, share, job)
                                   : run_replayed<float>(options, *replayed, share, job);
    }
    return options.is_double ? run_real<double>(options, gemm, share, job) : run_real<float>(options, gemm, share, job);
}

double median(std::vector<double> values) {
    if (values.empty()) { return 0.0; }
    auto const middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

} // namespace headroom::training
