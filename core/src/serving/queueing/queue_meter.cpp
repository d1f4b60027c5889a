#include "queue_meter.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace headroom::serving::queueing {
namespace {

/// Student's t of 97.5 % by Cornish and Fisher's expansion about the normal quantile: to a thousandth from 5 on.
/// Source: [AbramowitzStegun1964] (26.7.5)
double student(double freedom) {
    constexpr double z = 1.959963984540054, z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z, z9 = z7 * z * z;
    double const g1 = (z3 + z) / 4.0, g2 = (5.0 * z5 + 16.0 * z3 + 3.0 * z) / 96.0;
    double const g3 = (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * z) / 384.0;
    double const g4 = (79.0 * z9 + 776.0 * z7 + 1482.0 * z5 - 1920.0 * z3 - 945.0 * z) / 92160.0;
    return z + (g1 + (g2 + (g3 + g4 / freedom) / freedom) / freedom) / freedom;
}

} // namespace

SimulatedMean batch_mean(std::span<BatchSum const> batches) {
    constexpr double most_alike = 0.9;
    double sum = 0.0, over = 0.0;
    for (BatchSum const& batch : batches) { sum += batch.sum, over += batch.over; }
    if (!(over > 0.0)) { return {}; }
    double const mean = sum / over, count = static_cast<double>(batches.size());
    double squares = 0.0, products = 0.0, before = 0.0;
    for (BatchSum const& batch : batches) {
        double const off = batch.sum - mean * batch.over;
        squares += off * off;
        products += off * before;
        before = off;
    }
    if (batches.size() < 2 || squares == 0.0) { return {mean, mean, mean}; }
    double const seen = products / squares;
    double const alike = std::clamp(seen + (1.0 + 3.0 * seen) / count, 0.0, most_alike);
    double const half =
        student(count - 1.0) * std::sqrt(count / (count - 1.0) * squares * (1.0 + alike) / (1.0 - alike)) / over;
    return {mean, mean - half, mean + half};
}

QueueMeter::QueueMeter(QueueExperiment const& experiment)
    : begin_{experiment.warm_up.base()},
      length_{experiment.duration.base() / experiment.batches},
      batches_{static_cast<std::size_t>(experiment.batches)},
      boundary_{begin_},
      in_batch_(1) {}

/// The warm-up is the batch before the first, and what comes after the end belongs to no time.
void QueueMeter::end_batch() {
    double const step = boundary_ - last_;
    now_waiting_.sum += static_cast<double>(waiting_) * step;
    now_busy_ += static_cast<double>(busy_) * step;
    last_ = boundary_;
    if (begun_ > 0) {
        of_waiting_.push_back({now_waiting_.sum, length_});
        of_busy_.push_back({now_busy_, length_});
        if (begun_ < batches_) { close(); }
    }
    now_waiting_.sum = now_busy_ = 0.0;
    ++begun_;
    boundary_ =
        begun_ <= batches_ ? begin_ + static_cast<double>(begun_) * length_ : std::numeric_limits<double>::infinity();
}

void QueueMeter::close() {
    auto const requests = static_cast<double>(requests_);
    of_wait_.push_back({waits_, requests});
    of_latency_.push_back({latencies_, requests});
    of_waited_.push_back({waited_, requests});
    of_blocked_.push_back({turned_away_, requests + turned_away_});
    result_.requests += requests_;
    result_.blocked += static_cast<std::uint64_t>(turned_away_);
    record();
    if (of_wait_.size() < batches_) { in_batch_.emplace_back(); }
    waits_ = latencies_ = waited_ = turned_away_ = 0.0;
    requests_ = 0;
}

void QueueMeter::record() {
    result_.wait.record(std::span<double const>{wait_.data(), kept_});
    in_batch_.back().record(std::span<double const>{latency_.data(), kept_});
    kept_ = 0;
}

void QueueMeter::finish() {
    pass(begin_ + static_cast<double>(batches_) * length_);
    close();
}

namespace {

void add_sums(std::vector<BatchSum>& to, std::vector<BatchSum> const& from, bool same_time) {
    for (std::size_t i = 0; i < to.size(); ++i) {
        to[i].sum += from[i].sum;
        if (!same_time) { to[i].over += from[i].over; }
    }
}

} // namespace

void QueueMeter::add(QueueMeter const& other) {
    add_sums(of_waiting_, other.of_waiting_, true);
    add_sums(of_busy_, other.of_busy_, true);
    add_sums(of_wait_, other.of_wait_, false);
    add_sums(of_latency_, other.of_latency_, false);
    add_sums(of_waited_, other.of_waited_, false);
    add_sums(of_blocked_, other.of_blocked_, false);
    result_.requests += other.result_.requests;
    result_.blocked += other.result_.blocked;
    result_.hedged += other.result_.hedged;
    result_.wait.merge(other.result_.wait);
    for (std::size_t i = 0; i < in_batch_.size(); ++i) { in_batch_[i].merge(other.in_batch_[i]); }
    events_ += other.events_;
}

SimulatedQueue QueueMeter::result(double servers) {
    for (BatchSum& batch : of_busy_) { batch.over *= servers; }
    result_.wait_seconds = batch_mean(of_wait_);
    result_.latency_seconds = batch_mean(of_latency_);
    result_.wait_probability = batch_mean(of_waited_);
    result_.blocked_share = batch_mean(of_blocked_);
    result_.utilization = batch_mean(of_busy_);
    result_.waiting = batch_mean(of_waiting_);
    result_.events = events_;
    for (LatencyHistogram const& batch : in_batch_) { result_.latency.merge(batch); }
    result_.batches = std::move(in_batch_);
    return std::move(result_);
}

} // namespace headroom::serving::queueing
