#pragma once

#include "headroom/serving/queue_simulation.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace headroom::serving::queueing {

/// One batch: a sum, and over how much (requests, or time).
struct BatchSum {
    double sum = 0.0, over = 0.0;
};

/// The ratio of all sums, with Student's interval of 95 % from how far single batches are off it.
///
///     r = sum x / sum n,   d_i = x_i - r n_i,   half = t sqrt(B / (B - 1) sum d_i^2) / sum n sqrt((1 + a) / (1 - a))
///
/// `a` is the correlation of neighbouring batches, where above zero, with what a short series lacks of it: batches too
/// short to be independent widen the interval instead of narrowing it.
/// Source: [LawKelton2000]
SimulatedMean batch_mean(std::span<BatchSum const> batches);

/// Sums over a simulation: lengths of time, batch by batch, and each request's times.
///
/// Time from the end of the warm-up to the end of arrivals is cut into batches of equal length. Lengths of lines and
/// servers at work are summed over it; a request belongs to the batch in which it is counted, and those that arrived in
/// time but are counted after the end, to the last.
class QueueMeter {
public:
    explicit QueueMeter(QueueExperiment const& experiment);

    /// Time goes on to `now`.
    void pass(double now) {
        while (now >= boundary_) { end_batch(); }
        double const step = now - last_;
        now_waiting_.sum += static_cast<double>(waiting_) * step;
        now_busy_ += static_cast<double>(busy_) * step;
        last_ = now;
    }
    void event() { ++events_; }
    void wait(int requests) { waiting_ += requests; }
    void work(int servers) { busy_ += servers; }
    /// One that arrived then is let in, or not.
    void blocked(double arrival) { turned_away_ += counts(arrival) ? 1.0 : 0.0; }
    void hedged(double arrival) { result_.hedged += counts(arrival) ? 1 : 0; }
    void request(double arrival, bool waited, double wait, double latency) {
        if (!counts(arrival)) { return; }
        waited_ += waited ? 1.0 : 0.0;
        waits_ += wait;
        latencies_ += latency;
        if (kept_ == wait_.size()) { record(); }
        wait_[kept_] = wait;
        latency_[kept_++] = latency;
        ++requests_;
    }
    /// Nothing more will come; then others of the same times may be added, in an order that is always the same.
    void finish();
    void add(QueueMeter const& other);
    SimulatedQueue result(double servers);

private:
    [[nodiscard]] bool counts(double arrival) const { return arrival >= begin_; }
    void end_batch();
    void close();
    void record();

    double begin_, length_;
    std::size_t batches_;
    double boundary_, last_ = 0.0;
    std::ptrdiff_t waiting_ = 0, busy_ = 0;
    BatchSum now_waiting_;
    double now_busy_ = 0.0, waits_ = 0.0, latencies_ = 0.0, waited_ = 0.0, turned_away_ = 0.0;
    std::uint64_t requests_ = 0, events_ = 0;
    std::size_t begun_ = 0, kept_ = 0;
    std::array<double, 1024> wait_{}, latency_{};
    std::vector<LatencyHistogram> in_batch_; ///< latencies; the last is of the batch that goes on
    std::vector<BatchSum> of_waiting_, of_busy_, of_wait_, of_latency_, of_waited_, of_blocked_;
    SimulatedQueue result_;
};

} // namespace headroom::serving::queueing
