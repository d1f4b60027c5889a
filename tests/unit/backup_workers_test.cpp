#include "support/latencies.hpp"
#include "support/random.hpp"

#include "headroom/error.hpp"
#include "headroom/order_statistics.hpp"
#include "headroom/serving/fan_out.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace headroom {

using namespace headroom::serving;

namespace {

using test::CounterRandom;
using test::Enumerated;

std::vector<double> five() { return test::on_cells({1.0, 1.25, 1.5, 3.0, 20.0}); }

TEST(BackupWorkers, AreWhatAllWaysToDrawGive) {
    // Expectation: of 5^K equally likely draws the (K-b)-th smallest, its mean and its quantiles.
    LatencyHistogram const samples = test::histogram_of(five());
    for (int k = 1; k <= 6; ++k) {
        for (int backups = 0; backups < k; ++backups) {
            Enumerated enough;
            test::each_tuple(five(), k, [&](std::vector<double> drawn) {
                std::ranges::sort(drawn);
                enough.add(drawn[static_cast<std::size_t>(k - backups - 1)]);
            });
            BackupWorkers const found = backup_workers(samples, Ranks{k}, backups);
            EXPECT_NEAR(found.mean, enough.mean(), 1e-12 * enough.mean()) << k << ' ' << backups;
            EXPECT_EQ(found.p50, enough.quantile(0.5)) << k << ' ' << backups;
            EXPECT_EQ(found.p99, enough.quantile(0.99)) << k << ' ' << backups;
            EXPECT_NEAR(found.useful_per_second, (k - backups) / enough.mean(), 1e-12);
            EXPECT_NEAR(found.slowdown, enough.mean() / 5.35, 2e-3) << "the mean of the five is 5.35";
        }
    }
}

TEST(BackupWorkers, WithoutBackupsAreTheSlowest) {
    LatencyHistogram samples;
    CounterRandom random{3};
    for (int i = 0; i < 20'000; ++i) { samples.record(1.0 + random.exponential()); }
    for (int k : {1, 8, 1000, 10'000'000}) {
        FanOut const all = fan_out(samples, Ranks{k}, 3.0);
        BackupWorkers const none = backup_workers(samples, Ranks{k}, 0);
        EXPECT_NEAR(none.mean, all.mean, 1e-9 * all.mean) << k;
        EXPECT_EQ(none.p50, all.p50) << k;
        EXPECT_EQ(none.p99, all.p99) << k;
        EXPECT_NEAR(none.slowdown, all.slowdown, 1e-9 * all.slowdown) << k;
    }
}

TEST(BackupWorkers, OfExponentialTimesAreTheTextbooks) {
    // Expectation: the r-th of K exponential waits ends after 1/K + 1/(K-1) + ... + 1/(K-r+1) = H_K - H_b.
    LatencyHistogram samples;
    constexpr int n = 1'000'000;
    for (int i = 0; i < n; ++i) { samples.record(-std::log((i + 0.5) / n)); }
    for (auto const& [k, backups] : {std::pair{10, 3}, {1000, 20}, {4096, 1}, {100'000, 5000}}) {
        double const expected = expected_maximum_exponential(Ranks{k}) - expected_maximum_exponential(Ranks{backups});
        EXPECT_NEAR(backup_workers(samples, Ranks{k}, backups).mean, expected, 2e-4 * expected) << k;
    }
}

TEST(BestBackupWorkers, AreTheBestOfAll) {
    // Expectation: as good as the best of every number, looked at one by one; one or two where a few are very slow.
    CounterRandom random{9};
    LatencyHistogram samples;
    for (int i = 0; i < 5000; ++i) {
        samples.record(i % 200 == 0 ? 3.0 + random.exponential() : 1.0 + 0.02 * random.exponential());
    }
    for (int k : {1, 2, 30, 100, 300, 900}) {
        BackupWorkers const found = best_backup_workers(samples, Ranks{k});
        double most = 0.0;
        for (int backups = 0; backups < k; ++backups) {
            most = std::max(most, backup_workers(samples, Ranks{k}, backups).useful_per_second);
        }
        EXPECT_NEAR(found.useful_per_second, most, 1e-9 * most) << k;
        EXPECT_EQ(found.useful_per_second, backup_workers(samples, Ranks{k}, found.backups).useful_per_second);
    }
    BackupWorkers const hundred = best_backup_workers(samples, Ranks{100});
    EXPECT_GE(hundred.backups, 1);
    EXPECT_LE(hundred.backups, 5);
    EXPECT_GT(hundred.useful_per_second, 1.3 * backup_workers(samples, Ranks{100}, 0).useful_per_second);
}

TEST(BestBackupWorkers, AreNoneWhereTimesAreEqual) {
    LatencyHistogram samples;
    samples.record(0.25, 100);
    BackupWorkers const found = best_backup_workers(samples, Ranks{512});
    EXPECT_EQ(found.backups, 0);
    EXPECT_EQ(found.mean, 0.25);
    EXPECT_EQ(found.useful_per_second, 2048.0);
}

TEST(BackupWorkers, AskForAtLeastOneWorker) {
    LatencyHistogram const samples = test::histogram_of({1.0, 2.0});
    EXPECT_THROW(backup_workers(samples, Ranks{4}, 4), InputError);
    EXPECT_THROW(backup_workers(samples, Ranks{4}, -1), InputError);
    EXPECT_THROW(backup_workers(LatencyHistogram{}, Ranks{4}, 1), InputError);
    EXPECT_THROW(best_backup_workers(LatencyHistogram{}, Ranks{4}), InputError);
}

} // namespace
} // namespace headroom
