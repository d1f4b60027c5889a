#include "support/random.hpp"

#include "headroom/error.hpp"
#include "headroom/serving/latency_statistics.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <vector>

namespace headroom {

using namespace headroom::serving;

namespace {

using test::CounterRandom;
using ::testing::HasSubstr;

LatencyHistogram histogram_of(std::vector<double> const& values) {
    LatencyHistogram histogram;
    for (double const value : values) { histogram.record(value); }
    return histogram;
}

/// As HdrHistogram does it: value by value, each interval that went by adds one.
LatencyHistogram corrected_one_by_one(std::vector<double> const& values, double interval) {
    LatencyHistogram histogram = histogram_of(values);
    for (double const value : values) {
        for (double number = 1.0; value - number * interval >= interval; number += 1.0) {
            histogram.record(value - number * interval);
        }
    }
    return histogram;
}

double middle_of_cell(double value) { return LatencyHistogram::cell_of(value).value; }

TEST(Correction, EqualsOneByOneForValuesThatStandForTheirCells) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        CounterRandom random{seed};
        std::vector<double> values(200);
        double const interval = std::exp(3.0 * random.uniform());
        for (double& value : values) { value = middle_of_cell(interval * std::pow(random.uniform(), -1.5)); }
        EXPECT_EQ(corrected_for_omission(histogram_of(values), interval), corrected_one_by_one(values, interval));
    }
}

TEST(Correction, LiesBetweenThoseOfBothEndsOfEveryCell) {
    CounterRandom random{7};
    constexpr double interval = 1.0;
    std::vector<double> values(300), lows, highs;
    for (double& value : values) { value = std::pow(random.uniform(), -1.0); }
    for (double const value : values) {
        auto const cell = LatencyHistogram::cell_of(value);
        lows.push_back(cell.low);
        highs.push_back(cell.high);
    }
    LatencyHistogram const corrected = corrected_for_omission(histogram_of(values), interval);
    LatencyHistogram const low = corrected_one_by_one(lows, interval), high = corrected_one_by_one(highs, interval);
    for (double q = 0.01; q < 1.0; q += 0.01) {
        // counted from the top: what is longer than some latency grows with every value
        auto const from_top = [q](LatencyHistogram const& one, double all) {
            auto const rank = static_cast<std::uint64_t>(std::ceil((1.0 - q) * all));
            return rank >= one.count() ? one.least() : one.ranked(one.count() - rank);
        };
        double const all = static_cast<double>(corrected.count());
        double const slack = LatencyHistogram::relative_error * 2.0;
        EXPECT_GE(from_top(corrected, all), from_top(low, all) * (1.0 - slack)) << q;
        EXPECT_LE(from_top(corrected, all), from_top(high, all) * (1.0 + slack)) << q;
    }
}

TEST(Correction, MillionsOfIntervalsCostNoMoreThanCells) {
    LatencyHistogram const one = histogram_of({std::ldexp(1.0, 40)}); // alone, it stands for itself
    LatencyHistogram const corrected = corrected_for_omission(one, 1.0);
    EXPECT_EQ(corrected.count(), std::uint64_t{1} << 40U);
    EXPECT_EQ(corrected.least(), 1.0);
    EXPECT_EQ(corrected.most(), std::ldexp(1.0, 40));
    EXPECT_NEAR(corrected.quantile(0.5), std::ldexp(1.0, 39), std::ldexp(1.0, 39) / 1024.0);
}

TEST(Correction, NothingToAdd) {
    LatencyHistogram const short_ones = histogram_of({0.0, 0.5, 1.0, 1.5}); // 1.5 - 1 is below the interval
    EXPECT_EQ(corrected_for_omission(short_ones, 1.0), short_ones);
    EXPECT_EQ(corrected_for_omission(LatencyHistogram{}, 1.0), LatencyHistogram{});
}

TEST(Correction, Refusals) {
    LatencyHistogram const one = histogram_of({1.0});
    for (double const interval :
         {0.0, -1.0, 1e-30, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        try {
            corrected_for_omission(one, interval);
            FAIL() << interval << " is not refused";
        } catch (InputError const& error) { EXPECT_EQ(error.fault(), Fault::usage); }
    }
}

// ---- a load generator against a server that stalls ----

constexpr double interval = 0.001; ///< between requests of the open loop

struct Server {
    double stall_from = 30.0, stall_to = 30.0;
    CounterRandom random{11};

    /// Latency of a request sent then.
    double latency(double sent) {
        double const own = 0.0002 + 0.0001 * random.exponential();
        return sent >= stall_from && sent < stall_to ? stall_to - sent + own : own;
    }
};

struct Load {
    int connections = 1;
    double duration = 60.0;
    bool waits = true;      ///< for its answer: a closed loop
    bool at_random = false; ///< or evenly
};

/// Every connection sends each `connections` intervals, or when its answer is back.
LatencyDigest digest_of(Load const& load, Server server) {
    CounterRandom random{3};
    using Due = std::pair<double, int>;
    std::priority_queue<Due, std::vector<Due>, std::greater<>> due;
    double const own = interval * load.connections;
    for (int i = 0; i < load.connections; ++i) { due.emplace(interval * i, i); }
    LatencyDigest digest;
    while (due.top().first < load.duration) {
        auto const [sent, connection] = due.top();
        due.pop();
        double const latency = server.latency(sent);
        digest.add(latency, sent);
        double const next = load.at_random ? own * random.exponential() : own;
        due.emplace(sent + (load.waits ? std::max(next, latency) : next), connection);
    }
    return digest;
}

TEST(Omission, AClosedLoopHidesAStallAndTheCorrectionShowsIt) {
    Server const server{.stall_from = 30.0, .stall_to = 32.0};
    LatencyDigest const closed = digest_of({}, server);
    LatencyDigest const open = digest_of({.waits = false}, server);
    ASSERT_LT(closed.values().quantile(0.99), 0.001); // it saw one slow request of 58000
    ASSERT_GT(open.values().quantile(0.99), 1.0);
    OmissionFinding const found = find_omission(closed);
    EXPECT_TRUE(found.suspected) << found.why;
    EXPECT_NEAR(found.interval, interval, 1e-5);
    EXPECT_EQ(found.connections, 1.0);
    EXPECT_NEAR(static_cast<double>(found.affected), 58000.0 * std::exp(-8.0),
                20.0); // (1 - 0.2) / 0.1 means of their own
    EXPECT_NEAR(found.missing, 1999.0, 3.0);
    LatencyHistogram const corrected = corrected_for_omission(closed.values(), found.interval);
    EXPECT_NEAR(static_cast<double>(corrected.count()), static_cast<double>(open.values().count()), 5.0);
    for (double const q : {0.5, 0.9, 0.97, 0.98, 0.99, 0.999}) {
        EXPECT_NEAR(corrected.quantile(q) / open.values().quantile(q), 1.0, 0.02) << q;
    }
}

TEST(Omission, NoneInAnOpenLoop) {
    for (bool const at_random : {false, true}) {
        for (double const stall : {0.0, 0.5, 2.0}) {
            Server const server{.stall_from = 30.0, .stall_to = 30.0 + stall};
            OmissionFinding const found = find_omission(digest_of({.waits = false, .at_random = at_random}, server));
            EXPECT_FALSE(found.suspected) << at_random << " " << stall << ": " << found.why;
        }
    }
}

TEST(Omission, OfManyConnections) {
    Server const server{.stall_from = 30.0, .stall_to = 32.0};
    LatencyDigest const open = digest_of({.connections = 8, .waits = false}, server);
    LatencyDigest const closed = digest_of({.connections = 8}, server);
    OmissionFinding const found = find_omission(closed);
    EXPECT_TRUE(found.suspected) << found.why;
    EXPECT_EQ(found.connections, 8.0);
    EXPECT_NEAR(found.interval, 8.0 * interval, 0.1 * interval);
    LatencyHistogram const corrected = corrected_for_omission(closed.values(), found.interval);
    for (double const q : {0.5, 0.9, 0.98, 0.99, 0.999}) {
        EXPECT_NEAR(corrected.quantile(q) / open.values().quantile(q), 1.0, 0.03) << q;
    }
}

TEST(Omission, AsFastAsAnswersCome) {
    Server server;
    server.stall_from = 10.0;
    server.stall_to = 10.5;
    LatencyDigest digest;
    for (double sent = 0.0; sent < 20.0;) {
        double const latency = server.latency(sent);
        digest.add(latency, sent);
        sent += latency;
    }
    OmissionFinding const found = find_omission(digest);
    EXPECT_TRUE(found.suspected) << found.why;
    EXPECT_NEAR(found.interval, digest.values().quantile(0.5), 1e-5);
}

TEST(Omission, WithoutTimesOnlyAStatedIntervalSaysSomething) {
    LatencyDigest digest;
    for (int i = 0; i < 1000; ++i) { digest.add(i == 500 ? 1.0 : 0.001); }
    OmissionFinding const nothing = find_omission(digest);
    EXPECT_FALSE(nothing.suspected);
    EXPECT_EQ(nothing.interval, 0.0);
    EXPECT_EQ(nothing.sign, OmissionSign::no_interval);
    OmissionFinding const stated = find_omission(digest, 0.01);
    EXPECT_TRUE(stated.suspected);
    EXPECT_EQ(stated.affected, 1U);
    EXPECT_NEAR(stated.missing, 99.0, 1.0);
    OmissionFinding const slow = find_omission(digest, 2.0);
    EXPECT_FALSE(slow.suspected);
    EXPECT_EQ(slow.missing, 0.0);
}

TEST(Omission, OddInput) {
    EXPECT_FALSE(find_omission(LatencyDigest{}).suspected);
    LatencyDigest one;
    one.add(0.5, 1.0);
    EXPECT_FALSE(find_omission(one).suspected);
    LatencyDigest together; // all sent at once
    for (int i = 0; i < 100; ++i) { together.add(0.5, 1.0); }
    EXPECT_FALSE(find_omission(together).suspected);
    LatencyDigest backwards;
    for (int i = 0; i < 1000; ++i) { backwards.add(0.5 + 0.001 * i, -0.01 * i); }
    EXPECT_FALSE(find_omission(backwards).suspected);
    LatencyDigest zeros;
    for (int i = 0; i < 1000; ++i) { zeros.add(0.0, 0.01 * i); }
    EXPECT_FALSE(find_omission(zeros).suspected);
    EXPECT_THROW(find_omission(one, 0.0), InputError);
}

} // namespace
} // namespace headroom
