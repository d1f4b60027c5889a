#include "trace/launches.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

namespace headroom::trace {
namespace {

/// Calls and kernels with numbers below `most`, in an order that nearly rises; some calls stand on a device's lane.
RankTrace drawn_trace(std::mt19937& random, std::uint32_t spans, std::uint32_t most) {
    RankTrace trace;
    trace.lanes = {{false, 1, 1}, {false, 1, 2}, {true, 0, 7}};
    std::uniform_int_distribution<std::uint32_t> lane(0, 2), kind(0, 3), jump(0, most / 50);
    std::uniform_int_distribution<Ticks> time(0, 50);
    constexpr std::array kinds{SpanKind::launch, SpanKind::synchronization, SpanKind::compute, SpanKind::host};
    for (std::uint32_t span = 0; span < spans; ++span) {
        auto const near = static_cast<std::uint32_t>(std::uint64_t{most} * span / spans) + jump(random);
        trace.timeline.begin.push_back(time(random));
        trace.timeline.end.push_back(trace.timeline.begin.back() + 1);
        trace.timeline.lane.push_back(lane(random));
        trace.timeline.name.push_back(0);
        trace.kind.push_back(kinds[kind(random)]);
        trace.correlation.push_back(span % 11 == 0 ? 0 : near);
    }
    return trace;
}

/// Calls by their definition.
std::map<std::uint32_t, std::uint32_t> expected_calls(RankTrace const& trace) {
    std::map<std::uint32_t, std::uint32_t> calls;
    for (std::uint32_t span = 0; span < trace.size(); ++span) {
        bool const call = trace.kind[span] == SpanKind::launch || trace.kind[span] == SpanKind::synchronization;
        bool const device = trace.lanes[trace.timeline.lane[span]].device;
        if (!call || device || trace.correlation[span] == 0) { continue; }
        auto const [known, is_new] = calls.try_emplace(trace.correlation[span], span);
        if (!is_new && trace.timeline.begin[span] < trace.timeline.begin[known->second]) { known->second = span; }
    }
    return calls;
}

/// Numbers that are in the trace and others, up, down and across.
std::vector<std::uint32_t> asked_numbers(std::mt19937& random, RankTrace const& trace, std::uint32_t most) {
    std::vector<std::uint32_t> numbers{0, most, ~0U, 1, 0};
    numbers.insert(numbers.end(), trace.correlation.begin(), trace.correlation.end());
    numbers.insert(numbers.end(), trace.correlation.rbegin(), trace.correlation.rend());
    std::uniform_int_distribution<std::uint32_t> any(0, most);
    for (int i = 0; i < 500; ++i) { numbers.push_back(any(random)); }
    return numbers;
}

class LaunchesOf : public testing::TestWithParam<std::uint32_t> {};

TEST_P(LaunchesOf, AreTheFirstCallsOfTheirNumbers) {
    std::mt19937 random(7);
    for (std::uint32_t const spans : {0U, 1U, 2U, 40U, 900U}) {
        auto const trace = drawn_trace(random, spans, GetParam());
        auto const calls = expected_calls(trace);
        Launches const launches(trace);
        Launches::Walk walk(launches);
        EXPECT_EQ(launches.empty(), calls.empty());
        for (auto const number : asked_numbers(random, trace, GetParam())) {
            auto const known = calls.find(number);
            auto const expected = known == calls.end() ? none : known->second;
            EXPECT_EQ(launches[number], expected) << "number " << number << " of " << spans << " intervals";
            EXPECT_EQ(walk[number], expected) << "walk to " << number << " of " << spans << " intervals";
        }
    }
}

INSTANTIATE_TEST_SUITE_P(DenseAndSparse, LaunchesOf, testing::Values(100U, 5000U, 100'000U, 4'000'000'000U));

} // namespace
} // namespace headroom::trace
