#include "run.hpp"

#include "exchange.hpp"
#include "network.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>

namespace headroom::step_example {
namespace {

double median_of(std::vector<double> values) {
    if (values.empty()) { return 0.0; }
    auto const middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// Sequences of a worker.
struct Share {
    std::size_t first = 0, last = 0, all = 0;
    [[nodiscard]] std::size_t size() const { return last - first; }
};

Share share_of(Options const& options, Job const& job) {
    std::size_t const size = static_cast<std::size_t>(job.size()), rank = static_cast<std::size_t>(job.rank());
    std::size_t const all = options.local_batch ? options.batch * size : options.batch;
    return {all * rank / size, all * (rank + 1) / size, all};
}

/// The phases of one worker's step, computed or replayed.
template <class Real> struct Worker {
    std::span<Real> gradients;
    std::function<void(std::size_t step)> prepare = [](std::size_t) {};
    std::function<double()> forward = {}; ///< gives the worker's part of the loss
    std::function<void(Finished const&)> backward = {};
    std::function<void(std::size_t step)> compare = [](std::size_t) {}; ///< before the optimizer
    std::function<void()> optimize = {};
};

template <class Real> Worker<Real> computing(Network<Real>& network, Share share, NetworkShape const& shape) {
    auto const batch = std::make_shared<std::vector<Real>>();
    double const tokens = static_cast<double>(share.all * shape.sequence);
    return {.gradients = network.gradients(),
            .prepare = [=](std::size_t step) { *batch = make_batch<Real>(shape, step, share.first, share.last); },
            .forward = [=, &network] { return network.forward(std::move(*batch), tokens); },
            .backward = [&network](Finished const& finished) { network.backward(finished); },
            .optimize = [&network] { network.optimize(); }};
}

/// Sleeps as long as one worker took, in proportion to the sequences. Gradients are there, and move.
template <class Real> Worker<Real> replaying(StepProfile const& profile, Share share, std::span<Real> gradients) {
    double const scale = static_cast<double>(share.size()) / static_cast<double>(profile.batch);
    return {.gradients = gradients,
            .forward =
                [&, scale] {
                    sleep_until(seconds_now() + profile.forward * scale);
                    return 0.0;
                },
            .backward =
                [&, scale](Finished const& finished) {
                    double const begin = seconds_now();
                    for (auto const& mark : profile.marks) {
                        sleep_until(begin + mark.seconds * scale);
                        finished(mark.place);
                    }
                    sleep_until(begin + profile.backward * scale);
                },
            .optimize = [&] { sleep_until(seconds_now() + profile.optimizer); }};
}

/// All steps of one worker.
template <class Real> class Steps {
public:
    Steps(Options const& options, Worker<Real> const& worker, Job& job)
        : options_{options},
          worker_{worker},
          job_{job},
          buckets_{buckets_of(options.shape.parameters(), options.bucket_bytes, sizeof(Real))} {}

    RunResult run(Share share) {
        RunResult result{.buckets = buckets_.size()};
        job_.wait_for_all();
        for (std::size_t step = 0; step < options_.warm_up + options_.steps; ++step) {
            PhaseTimes const times = run_one(step, result.losses);
            if (step >= options_.warm_up) { result.steps.push_back(times); }
        }
        result.profile = {.shape = options_.shape,
                          .batch = share.size(),
                          .is_double = options_.is_double(),
                          .forward = result.median(forward),
                          .backward = result.median(backward),
                          .optimizer = result.median(optimizer)};
        for (auto const& [place, seconds] : finished_) { result.profile.marks.push_back({place, median_of(seconds)}); }
        job_.add_up(std::span{result.losses}, AllReduce::library);
        job_.take_largest({result.steps.front().data(), phases * result.steps.size()});
        return result;
    }

private:
    PhaseTimes run_one(std::size_t step, std::vector<double>& losses) {
        auto const reduce = [this](Bucket bucket) {
            job_.add_up(worker_.gradients.subspan(bucket.first, bucket.last - bucket.first), options_.all_reduce());
        };
        worker_.prepare(step);
        BucketQueue queue{buckets_, options_.overlap && job_.size() > 1, reduce};
        PhaseTimes times{};
        double const begin = seconds_now();
        losses.push_back(worker_.forward());
        double const computed = seconds_now();
        worker_.backward([&](std::size_t place) {
            if (step >= options_.warm_up) { finished_[place].push_back(seconds_now() - computed); }
            queue.finished(place);
        });
        double const passed = seconds_now();
        times[all_reduce] = queue.wait();
        double const reduced = seconds_now();
        worker_.compare(step);
        double const compared = seconds_now();
        worker_.optimize();
        times[forward] = computed - begin;
        times[backward] = passed - computed;
        times[exposed] = reduced - passed;
        times[optimizer] = seconds_now() - compared;
        times[whole_step] = times[forward] + times[backward] + times[exposed] + times[optimizer];
        return times;
    }

    Options const& options_;
    Worker<Real> const& worker_;
    Job& job_;
    std::vector<Bucket> buckets_;
    std::map<std::size_t, std::vector<double>, std::greater<>> finished_ = {}; ///< seconds, by place
};

/// Keeps the larger difference; NaN counts as infinite.
void keep_largest(double& largest, double difference) {
    largest = std::max(largest, std::isfinite(difference) ? difference : std::numeric_limits<double>::infinity());
}

/// Runs the steps, and with each the same step in one process: every worker computes it, and looks at its own
/// gradients.
template <class Real> RunResult run_compared(Options const& options, Worker<Real> worker, Share share, Job& job) {
    Network<Real> alone{options.shape};
    Worker<Real> const whole = computing(alone, Share{0, share.all, share.all}, options.shape);
    double worst[2] = {}; // of losses and gradients
    std::vector<double> losses;
    worker.compare = [&](std::size_t step) {
        whole.prepare(step);
        losses.push_back(whole.forward());
        whole.backward([](std::size_t) {});
        double squares = 0.0, off = 0.0;
        for (std::size_t i = 0; i < whole.gradients.size(); ++i) {
            double const expected = whole.gradients[i], difference = worker.gradients[i] - expected;
            squares += expected * expected;
            off += difference * difference;
        }
        keep_largest(worst[1], std::sqrt(off / squares));
        whole.optimize();
    };
    RunResult result = Steps<Real>{options, worker, job}.run(share);
    for (std::size_t i = 0; i < losses.size(); ++i) {
        keep_largest(worst[0], std::abs(losses[i] - result.losses[i]) / losses[i]);
    }
    job.take_largest(worst);
    result.loss_difference = worst[0];
    result.gradient_difference = worst[1];
    return result;
}

template <class Real> RunResult run_as(Options const& options, std::optional<StepProfile> const& replayed, Job& job) {
    Share const share = share_of(options, job);
    if (replayed) {
        std::vector<Real> gradients(options.shape.parameters());
        Worker<Real> const worker = replaying<Real>(*replayed, share, gradients);
        RunResult result = Steps<Real>{options, worker, job}.run(share);
        result.losses.clear();
        return result;
    }
    Network<Real> network{options.shape};
    Worker<Real> const worker = computing(network, share, options.shape);
    if (options.mode == Mode::check) { return run_compared(options, worker, share, job); }
    return Steps<Real>{options, worker, job}.run(share);
}

} // namespace

double RunResult::median(Phase phase) const {
    std::vector<double> values;
    for (PhaseTimes const& one : steps) { values.push_back(one[phase]); }
    return median_of(std::move(values));
}

RunResult run_steps(Options const& options, std::optional<StepProfile> const& replayed, Job& job) {
    return options.is_double() ? run_as<double>(options, replayed, job) : run_as<float>(options, replayed, job);
}

} // namespace headroom::step_example
