#include "headroom/training/laws.hpp"

#include <cmath>

namespace headroom::training {

Seconds compute_time_data_parallel(DataParallel const& step, double local_batch) {
    return training_flops_6n(step.parameters, local_batch) / step.rate;
}

double break_even_workers(DataParallel const& step, double global_batch) {
    return 1.0 + global_batch / local_batch_at_break_even(step);
}

double break_even_workers(DataParallel const& step, double global_batch, Seconds latency) {
    // (K-1)(v + a K) = compute of the whole batch on one worker / 2, with v = g P / B and a the latency
    double const a = latency.base(), v = (step.per_parameter * step.parameters / step.bandwidth).base();
    double const half = 0.5 * compute_time_data_parallel(step, global_batch).base();
    double const root = std::sqrt((v - a) * (v - a) + 4.0 * a * (v + half));
    return v >= a ? 2.0 * (v + half) / (v - a + root) : (a - v + root) / (2.0 * a); // nothing cancels
}

double weak_scaling_gamma(DataParallel const& step, double local_batch) {
    return local_batch_at_break_even(step) / local_batch;
}

double local_batch_at_break_even(DataParallel const& step) {
    Seconds const sent = 2.0 * step.per_parameter / step.bandwidth; // both halves of the ring, K large
    Seconds const computed = 6.0 * units::flop / step.rate;
    return sent / computed;
}

double parameters_at_latency_crossover(Ranks workers, Seconds latency, BytesPerSecond bandwidth, Bytes per_parameter) {
    return workers.count() * (latency * bandwidth / per_parameter);
}

Flops training_flops_6n(double parameters, double tokens) { return 6.0 * parameters * tokens * units::flop; }

double pipeline_bubble_fraction(Ranks stages, Ranks micro_batches, Ranks virtual_stages) {
    double const waiting = stages.count() - 1.0;
    double const busy = static_cast<double>(virtual_stages.count()) * micro_batches.count();
    return waiting / (busy + waiting);
}

double pipeline_speedup(Ranks stages, Ranks micro_batches, Ranks virtual_stages) {
    return stages.count() * (1.0 - pipeline_bubble_fraction(stages, micro_batches, virtual_stages));
}

} // namespace headroom::training
