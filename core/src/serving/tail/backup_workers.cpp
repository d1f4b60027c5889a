#include "base/statistics/binomial.hpp"
#include "sample_steps.hpp"

#include "headroom/error.hpp"
#include "headroom/serving/fan_out.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

namespace headroom::serving {

namespace {

/// P(the first K - b have come by this step): at most b are above it.
double enough_by(SampleStep const& step, Ranks workers, int backups) {
    if (step.above <= 0.0) { return 1.0; }
    return binomial_below(static_cast<std::uint64_t>(workers.count()), step.above,
                          static_cast<std::uint64_t>(backups) + 1);
}

BackupWorkers with_backups(SampleSteps const& steps, Ranks workers, int backups) {
    constexpr double never = 1e-18;
    auto const first_with = [&](double share) {
        return std::ranges::partition_point(
            steps, [&](SampleStep const& step) { return enough_by(step, workers, backups) < share; });
    };
    BackupWorkers answer{.workers = workers, .backups = backups};
    double before = 0.0;
    for (auto step = first_with(never); step != steps.end() && before < 1.0; ++step) {
        double const now = enough_by(*step, workers, backups);
        answer.mean += step->value * (now - before);
        before = now;
    }
    answer.p50 = first_with(0.5 * (1.0 - 1e-12))->value;
    answer.p99 = first_with(0.99 * (1.0 - 1e-12))->value;
    double const one = mean_of(steps);
    answer.slowdown = one > 0.0 ? answer.mean / one : 1.0;
    answer.useful_per_second = (workers.count() - backups) / answer.mean;
    return answer;
}

} // namespace

BackupWorkers backup_workers(LatencyHistogram const& samples, Ranks workers, int backups) {
    if (backups < 0 || backups >= workers.count()) {
        refuse("backup workers", "'" + std::to_string(backups) + "' of " + std::to_string(workers.count()),
               "at least one has to be waited for", "give 0 to " + std::to_string(workers.count() - 1));
    }
    return with_backups(steps_of(samples), workers, backups);
}

BackupWorkers best_backup_workers(LatencyHistogram const& samples, Ranks workers) {
    constexpr int one_by_one = 64, between = 16;
    SampleSteps const steps = steps_of(samples);
    int const most = workers.count() - 1;
    BackupWorkers best = with_backups(steps, workers, 0);
    auto const look_at = [&](int backups) {
        BackupWorkers const found = with_backups(steps, workers, backups);
        if (found.useful_per_second > best.useful_per_second) { best = found; }
    };
    for (int b = 1; b <= std::min(most, one_by_one); ++b) { look_at(b); }
    for (double b = one_by_one * 1.05; b <= most; b *= 1.05) { look_at(static_cast<int>(b)); }
    // The best of the steps and its neighbours, again and again on a finer grid.
    for (int gap = best.backups / 20 + 1; best.backups > one_by_one && gap > 0; gap /= between) {
        int const centre = best.backups, fine = std::max(1, gap / between);
        for (int b = centre - gap; b <= centre + gap; b += fine) {
            if (b != centre && b <= most) { look_at(b); }
        }
    }
    return best;
}

} // namespace headroom::serving
