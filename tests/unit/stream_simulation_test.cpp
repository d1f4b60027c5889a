#include "headroom/error.hpp"
#include "headroom/training/stream_simulation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace headroom {

using namespace headroom::laws;
using namespace headroom::training;

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A task by what it is on, its kind and cost; named by its number.
TaskId add(StreamProgram& program, StreamId on, Ticks cost, WorkKind kind = WorkKind::gemm) {
    program.names.push_back("task " + std::to_string(program.size()));
    return program.add(on, kind, cost, static_cast<std::uint32_t>(program.size()));
}

Ticks of(std::array<Ticks, work_kind_count> const& times, WorkKind kind) {
    return times[static_cast<std::size_t>(kind)];
}

/// Kernels and a network on chip 0.
StreamProgram one_chip(double slowdown) {
    StreamProgram program;
    program.streams = {{.name = "kernels", .computes = true}, {.name = "network", .network = true}};
    program.slowdown = slowdown;
    return program;
}

/// So many chips with a stream each, all on one link.
StreamProgram on_one_link(int chips) {
    StreamProgram program;
    for (int chip = 0; chip < chips; ++chip) {
        program.streams.push_back({.name = "chip " + std::to_string(chip),
                                   .chip = static_cast<std::uint16_t>(chip),
                                   .link = 7,
                                   .network = true});
    }
    return program;
}

std::string refusal(StreamProgram const& program) {
    try {
        run_streams(program);
    } catch (InputError const& error) {
        EXPECT_EQ(error.fault(), Fault::usage);
        return error.what();
    }
    return "";
}

// ---- by hand -------------------------------------------------------------------------------------------------------

TEST(RunStreams, NothingTakesNoTime) {
    StreamRun const none = run_streams({});
    EXPECT_EQ(none.makespan, 0);
    EXPECT_TRUE(none.complete);
    EXPECT_THAT(none.chips, IsEmpty());
    EXPECT_THAT(none.critical_path, IsEmpty());
    StreamRun const idle = run_streams(one_chip(0.5));
    EXPECT_EQ(idle.makespan, 0);
    ASSERT_EQ(idle.chips.size(), 1U);
    EXPECT_EQ(idle.chips.front().idle, 0);
}

TEST(RunStreams, AStreamRunsInTheOrderOfNumbersEvenIfALaterTaskCouldRunBefore) {
    StreamProgram program = one_chip(0.0);
    TaskId const send = add(program, 1, 5, WorkKind::pipeline);
    TaskId const waits = add(program, 0, 2);
    TaskId const ready = add(program, 0, 3);
    program.wait(waits, send);
    StreamRun const run = run_streams(program);
    EXPECT_THAT(run.begin, ElementsAre(0, 5, 7));
    EXPECT_THAT(run.end, ElementsAre(5, 7, 10));
    EXPECT_THAT(run.critical_path, ElementsAre(send, waits, ready));
    EXPECT_EQ(of(run.critical, WorkKind::pipeline), 5);
    EXPECT_EQ(of(run.critical, WorkKind::gemm), 5);
    EXPECT_EQ(run.chips.front().computing, 5);
    EXPECT_EQ(of(run.chips.front().exposed, WorkKind::pipeline), 5);
}

TEST(RunStreams, AKernelBesideTheNetworkIsSlowed) {
    // 4 ticks at 0.8 do 3.2, of which 3 count: 7 are left at tick 4
    StreamProgram program = one_chip(0.2);
    add(program, 0, 10);
    add(program, 1, 4, WorkKind::data);
    StreamRun const run = run_streams(program);
    EXPECT_THAT(run.end, ElementsAre(11, 4));
    EXPECT_EQ(run.critical_stretch, 1);
    EXPECT_EQ(of(run.chips.front().busy, WorkKind::data), 4);
    EXPECT_EQ(of(run.chips.front().exposed, WorkKind::data), 0);
    program.streams[1].chip = 1; // the network of another chip is no matter
    EXPECT_THAT(run_streams(program).end, ElementsAre(10, 4));
}

TEST(RunStreams, AWaitForALaunchBesideTheNetworkIsNotSlowed) {
    // the wait takes its 5 whatever the network does; the kernel does 2 of its 10 in the 4 ticks that overlap with
    // traffic
    StreamProgram program = one_chip(0.5);
    add(program, 0, 5, WorkKind::launch);
    add(program, 0, 10);
    add(program, 1, 9, WorkKind::data);
    StreamRun const run = run_streams(program);
    EXPECT_THAT(run.end, ElementsAre(5, 17, 9));
    EXPECT_EQ(run.critical_stretch, 2);
    program.kind[0] = WorkKind::gemm;
    EXPECT_THAT(run_streams(program).end, ElementsAre(10, 20, 9));
}

TEST(RunStreams, AWaitForALaunchSharesItsLinkAsOthersDo) {
    StreamProgram program = on_one_link(2);
    program.streams[0].computes = true;
    program.streams.push_back({.name = "network", .network = true});
    program.slowdown = 0.5;
    add(program, 0, 5, WorkKind::launch);
    add(program, 1, 5, WorkKind::data);
    add(program, 2, 100, WorkKind::data);
    EXPECT_THAT(run_streams(program).end, ElementsAre(10, 10, 100));
}

TEST(RunStreams, ANetworkThatGoesOnWithoutAPauseRoundsOnce) {
    // sends of one tick, one after the other: at 0.8 all the time, 10 / 0.8 = 12.5
    StreamProgram program = one_chip(0.2);
    add(program, 0, 10);
    for (int i = 0; i < 20; ++i) { add(program, 1, 1, WorkKind::pipeline); }
    EXPECT_EQ(run_streams(program).end[0], 13);
}

TEST(RunStreams, RatesOfHoursOfTicksDoNotOverflow) {
    // 10^16 ticks are three hours of picoseconds; times 762,569 they are more than 64 bits hold
    Ticks const hours = 10'000'000'000'000'000, done = 7'625'690'000'000'000; // in them at 1 - 0.237431
    StreamProgram program = one_chip(0.237431);
    add(program, 0, done);
    add(program, 1, 3 * hours, WorkKind::data);
    EXPECT_EQ(run_streams(program).end[0], hours); // slowed to its end
    program.cost = {2 * hours, hours};
    EXPECT_EQ(run_streams(program).end[0], hours + 2 * hours - done); // the network ends before
}

TEST(RunStreams, TasksOnALinkHaveEqualParts) {
    // both at 1/2 until the shorter has its 4 at tick 8; the other has 6 left. With a third from the start:
    // thirds until 6, halves until 6 + 2 (4 - 2), the rest alone
    StreamProgram two = on_one_link(2);
    add(two, 0, 10, WorkKind::data);
    add(two, 1, 4, WorkKind::data);
    EXPECT_THAT(run_streams(two).end, ElementsAre(14, 8));
    StreamProgram three = on_one_link(3);
    add(three, 0, 10, WorkKind::data);
    add(three, 1, 4, WorkKind::data);
    add(three, 2, 2, WorkKind::data);
    EXPECT_THAT(run_streams(three).end, ElementsAre(16, 10, 6));
}

TEST(RunStreams, TasksThatCostNothingSlowNothing) {
    StreamProgram program = on_one_link(2);
    add(program, 0, 10, WorkKind::data);
    TaskId const nothing = add(program, 1, 0, WorkKind::data);
    program.wait(add(program, 1, 0, WorkKind::data), nothing);
    StreamRun const run = run_streams(program);
    EXPECT_THAT(run.begin, ElementsAre(0, 0, 0));
    EXPECT_THAT(run.end, ElementsAre(10, 0, 0));
}

TEST(RunStreams, ExposedTimeGoesToTheFirstCommunicationThenToTheFirstKind) {
    StreamProgram program;
    program.streams = {{.name = "kernels", .computes = true},
                       {.name = "tensor", .network = true},
                       {.name = "next", .network = true},
                       {.name = "host"}};
    add(program, 3, 2, WorkKind::launch);                            // 0 to 2
    program.wait(add(program, 0, 3), 0);                             // 2 to 5
    program.wait(add(program, 1, 4, WorkKind::tensor), 0);           // 2 to 6
    program.wait(add(program, 2, 6, WorkKind::pipeline), 0);         // 2 to 8
    program.wait(add(program, 3, 20, WorkKind::offload), TaskId{0}); // 2 to 22
    StreamRun const run = run_streams(program);
    ChipUse const& use = run.chips.front();
    EXPECT_EQ(use.computing, 3);
    EXPECT_EQ(of(use.exposed, WorkKind::launch), 2);
    EXPECT_EQ(of(use.exposed, WorkKind::tensor), 1);
    EXPECT_EQ(of(use.exposed, WorkKind::pipeline), 2);
    EXPECT_EQ(of(use.exposed, WorkKind::offload), 14);
    EXPECT_EQ(use.idle, 0);
    EXPECT_EQ(run.makespan, 22);
}

TEST(RunStreams, ACollectiveOnTheStreamOfKernelsIsExposed) {
    StreamProgram program = one_chip(0.0);
    add(program, 0, 3);
    add(program, 0, 2, WorkKind::tensor);
    ChipUse const use = run_streams(program).chips.front();
    EXPECT_EQ(use.computing, 3);
    EXPECT_EQ(of(use.exposed, WorkKind::tensor), 2);
}

TEST(WorkKinds, HaveNamesOfTheirOwn) {
    std::vector<std::string_view> names;
    for (std::size_t kind = 0; kind < work_kind_count; ++kind) {
        names.push_back(name_of(static_cast<WorkKind>(kind)));
    }
    std::ranges::sort(names);
    EXPECT_FALSE(names.front().empty());
    EXPECT_TRUE(std::ranges::adjacent_find(names) == names.end());
}

// ---- anomalies -----------------------------------------------------------------------------------------------------

TEST(RunStreams, MoreSlowdownCanMakeARunShorterWhereLinksAreShared) {
    // Chip 0 computes for 10 while its network is busy, then sends 10 over the link. Chip 1 sends 15 over the link,
    // then computes for 100. At full rate the two meet on the link at 10, and chip 1 sends its last 5 in 10: 20 + 100.
    // With half the rate chip 0 is late, and chip 1 has sent before it comes: 15 + 100.
    StreamProgram program;
    program.streams = {{.name = "kernels 0", .chip = 0, .computes = true},
                       {.name = "network 0", .chip = 0, .network = true},
                       {.name = "send 0", .chip = 0, .link = 1},
                       {.name = "send 1", .chip = 1, .link = 1},
                       {.name = "kernels 1", .chip = 1, .computes = true}};
    TaskId const kernel = add(program, 0, 10);
    add(program, 1, 20, WorkKind::data);
    program.wait(add(program, 2, 10, WorkKind::pipeline), kernel);
    TaskId const sent = add(program, 3, 15, WorkKind::pipeline);
    program.wait(add(program, 4, 100), sent);
    EXPECT_EQ(run_streams(program).makespan, 120);
    program.slowdown = 0.5;
    EXPECT_EQ(run_streams(program).makespan, 115);
}

TEST(RunStreams, MoreSlowdownCanMakeARunShorterWithoutLinks) {
    // Chip 0's kernel of 891 ends at 900 with 0.99 of its rate, at 1114 with 0.8; then its send of 100 is busy on chip
    // 1. There a kernel of 1000 is slowed from 900 on (99 of its last 100 are done at 1000, the rest at 1001), or ends
    // before the send comes.
    StreamProgram program;
    program.streams = {{.name = "kernels 0", .chip = 0, .computes = true},
                       {.name = "network 0", .chip = 0, .network = true},
                       {.name = "kernels 1", .chip = 1, .computes = true},
                       {.name = "network 1", .chip = 1, .network = true},
                       {.name = "host 1", .chip = 1}};
    TaskId const kernel = add(program, 0, 891);
    add(program, 1, 5000, WorkKind::data);
    TaskId const other = add(program, 2, 1000);
    program.wait(add(program, 3, 100, WorkKind::pipeline), kernel);
    program.wait(add(program, 4, 9000, WorkKind::offload), other);
    program.slowdown = 0.01;
    EXPECT_EQ(run_streams(program).makespan, 10001);
    program.slowdown = 0.2;
    EXPECT_EQ(run_streams(program).makespan, 10000);
}

// ---- what cannot be run --------------------------------------------------------------------------------------------

TEST(RunStreams, ACircleBreaksTheContract) {
    // Expectation: kernels wait for a send that follows, on its stream, a receive that waits for them; and a task for itself.
    StreamProgram program = one_chip(0.0);
    TaskId const receive = add(program, 1, 1, WorkKind::pipeline);
    TaskId const send = add(program, 1, 1, WorkKind::pipeline);
    TaskId const kernel = add(program, 0, 1);
    program.wait(kernel, send);
    program.wait(receive, kernel);
    EXPECT_THROW(run_streams(program), ContractError);
    for (double const slowdown : {0.0, 0.3}) {
        StreamProgram alone = one_chip(slowdown);
        TaskId const task = add(alone, 0, 1);
        alone.wait(task, task);
        EXPECT_THROW(run_streams(alone), ContractError);
    }
}

TEST(RunStreams, SlowdownIsAShareOfARate) {
    for (double const slowdown : {-0.1, 1.0, 0.9999999, 2.0, std::numeric_limits<double>::quiet_NaN(),
                                  std::numeric_limits<double>::infinity()}) {
        EXPECT_THAT(refusal(one_chip(slowdown)), HasSubstr("from 0 to 0.999999")) << slowdown;
    }
    EXPECT_EQ(refusal(one_chip(0.999999)), "");
}

TEST(RunStreams, CostsStayBelow2To61WithWhatSharingMakesOfThem) {
    StreamProgram program = one_chip(0.0);
    add(program, 0, Ticks{1} << 61);
    EXPECT_EQ(run_streams(program).makespan, Ticks{1} << 61);
    add(program, 0, 1);
    EXPECT_THAT(refusal(program), HasSubstr("its tasks take too long together"));
    program.cost = {std::numeric_limits<Ticks>::max(), std::numeric_limits<Ticks>::max()};
    EXPECT_THAT(refusal(program), HasSubstr("its tasks take too long together"));
    StreamProgram shared = on_one_link(4); // four at a quarter of the rate
    for (StreamId s = 0; s < 4; ++s) { add(shared, s, (Ticks{1} << 57) - 1); }
    EXPECT_EQ(run_streams(shared).makespan, (Ticks{1} << 59) - 4);
    shared.cost[0] += 5;
    EXPECT_THAT(refusal(shared), HasSubstr("its tasks take too long together"));
}

TEST(RunStreams, MalformedProgramsAreDefects) {
    StreamProgram sound = one_chip(0.0);
    add(sound, 0, 1);
    auto const is_refused = [&sound](auto change) {
        StreamProgram program = sound;
        change(program);
        EXPECT_THROW(run_streams(program), ContractError);
    };
    is_refused([](StreamProgram& program) { program.cost.push_back(1); });
    is_refused([](StreamProgram& program) { program.stream.pop_back(); });
    is_refused([](StreamProgram& program) { program.kind.clear(); });
    is_refused([](StreamProgram& program) { program.name.push_back(0); });
    is_refused([](StreamProgram& program) { program.stream[0] = 2; });
    is_refused([](StreamProgram& program) { program.kind[0] = WorkKind::count_; });
    is_refused([](StreamProgram& program) { program.name[0] = 1; });
    is_refused([](StreamProgram& program) { program.cost[0] = -1; });
    is_refused([](StreamProgram& program) { program.edges.push_back({.from = 0, .to = 1}); });
    is_refused([](StreamProgram& program) { program.edges.push_back({.from = 1, .to = 0}); });
}

TEST(RunStreams, StopsWhenAsked) {
    std::stop_source stop;
    stop.request_stop();
    for (double const slowdown : {0.0, 0.5}) {
        StreamProgram program = one_chip(slowdown);
        add(program, 0, 1);
        add(program, 1, 1, WorkKind::data);
        EXPECT_TRUE(run_streams(program).complete);
        EXPECT_FALSE(run_streams(program, stop.get_token()).complete);
    }
}

} // namespace
} // namespace headroom
