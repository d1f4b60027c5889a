#include "headroom/network/comm_answer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace headroom {

using namespace headroom::network;

namespace {

constexpr Link fast{.latency = 1.0 * units::us, .bandwidth = 100.0 * units::GB / units::s};

/// An all-reduce of 1 GB over 8 ranks that share one link.
CommQuestion question_of(std::vector<std::string> algorithms = {}) {
    CommQuestion question;
    question.movement = "all_reduce";
    question.collective = Collective::all_reduce;
    question.algorithms = std::move(algorithms);
    question.size = {1.0 * units::GB};
    question.ranks = {8};
    question.network.name = "link";
    question.network.fabric = {fast, fast};
    return question;
}

CommRefusal refusal_of(CommQuestion const& question) {
    try {
        comm_answer(question);
    } catch (CommRefused const& refused) { return refused.reason; }
    ADD_FAILURE() << "the question has an answer";
    return CommRefusal::no_messages;
}

TEST(CommAnswer, ARingTakesItsFormula) {
    CommAnswer const answer = comm_answer(question_of({"ring"}));
    ASSERT_EQ(answer.rows.size(), 1U);
    CommRow const& row = answer.rows.front();
    // 2 (8 - 1) messages of 1 us, and 2 (8 - 1) / 8 of 1 GB at 100 GB/s.
    EXPECT_NEAR(row.time.latency.in(units::us), 14.0, 1e-9);
    EXPECT_NEAR(row.time.bandwidth.in(units::ms), 17.5, 1e-9);
    EXPECT_TRUE(row.fastest);
    EXPECT_EQ(row.priced_by, PricedBy::closed_form);
}

TEST(CommAnswer, OneRowOfACaseIsTheFastestAndNoneIsBelowItsBound) {
    CommAnswer const answer = comm_answer(question_of());
    EXPECT_EQ(std::ranges::count_if(answer.rows, &CommRow::fastest), 1);
    for (CommRow const& row : answer.rows) {
        EXPECT_GE(row.time.total() * (1.0 + 1e-9), row.lower_bound) << row.label();
    }
}

TEST(CommAnswer, LocalStepsDivideTheExchange) {
    CommQuestion question = question_of({"ring"});
    question.levers.local_steps = 4;
    CommAnswer const answer = comm_answer(question);
    ASSERT_EQ(answer.levers.size(), 2U);
    EXPECT_EQ(answer.levers[1].kind, CommLeverKind::local_steps);
    EXPECT_NEAR(answer.levers[1].time / answer.levers[0].time, 0.25, 1e-12);
    EXPECT_EQ(answer.levers[1].plain, answer.levers[0].time);
}

TEST(CommAnswer, GroupsThatShareNoLinkTakeAsLongAsAlone) {
    CommQuestion question = question_of({"ring"});
    question.contention = CommContention{
        .topology = "star",
        .network = [](int endpoints) { return build_topology(StarNetwork{.endpoints = endpoints, .port = fast}); },
        .groups = 2,
        .stride = 2};
    CommAnswer const answer = comm_answer(question);
    ASSERT_EQ(answer.contention.size(), 1U);
    EXPECT_NEAR(answer.contention.front().time.groups.front().slowdown(), 1.0, 1e-9);
}

TEST(CommAnswer, RefusalsNameTheirReason) {
    EXPECT_EQ(refusal_of(question_of({"torus ring"})), CommRefusal::no_row);

    CommQuestion slow = question_of({"ring"});
    slow.network.fabric.scale_up.bandwidth = BytesPerSecond{1e-308};
    EXPECT_EQ(refusal_of(slow), CommRefusal::no_finite_time);

    CommQuestion measured = question_of({"ring"});
    MeasuredCollective& row = measured.measured.emplace_back();
    row.collective = Collective::broadcast;
    row.size = {units::MB};
    row.ranks = 8;
    EXPECT_EQ(refusal_of(measured), CommRefusal::not_measured);
}

TEST(CommAnswer, TheScheduleIsThatOfTheFastestRow) {
    CommAnswer const answer = comm_answer(question_of());
    CommSchedule const schedule = comm_schedule(answer);
    EXPECT_EQ(schedule.row->place, 0);
    Ticks last = 0;
    std::int64_t messages = 0;
    SimulatedCollective const whole = simulate(*schedule.messages, schedule.call.layout, schedule.call.reduction,
                                               [&](std::int64_t, Message const&, Ticks begin, Ticks duration) {
                                                   last = std::max(last, begin + duration);
                                                   ++messages;
                                               });
    EXPECT_EQ(last, whole.picoseconds);
    EXPECT_EQ(messages, whole.messages);
    EXPECT_EQ(whole.picoseconds, simulate(*schedule.messages, schedule.call.layout).picoseconds);
}

} // namespace
} // namespace headroom
