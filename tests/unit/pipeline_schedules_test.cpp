// The table of pipeline schedules, and rows counted by hand.

#include "support/pipelines.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <set>
#include <string>

namespace headroom {

using namespace headroom::training;

namespace {

/// A row as it is drawn: "F0 F1 B0", lower case for the second chunk, b and w after a split in capitals I and W.
std::string drawn(PipelineSchedule id, PipelineShape const& shape, int stage) {
    auto const order = schedule_row(id).order(shape);
    std::string text;
    for (Pass const& pass : order.row(stage)) {
        char const letter = "FBIW"[static_cast<int>(pass.kind)];
        text += text.empty() ? "" : " ";
        text += pass.chunk == 0 ? letter : static_cast<char>(letter - 'A' + 'a');
        text += std::to_string(pass.micro_batch);
        text += pass.joined ? "+" : "";
    }
    return text;
}

TEST(PipelineSchedules, RowsAreThoseOfTheirPapers) {
    // Expectation: the first rows of the figures, 1F1B of four stages; ZB-H1 holds four and leaves weight gradients for
    // later the more, the later the stage; ZBV of two stages goes down and up before the first gradient.
    EXPECT_EQ(drawn(PipelineSchedule::gpipe, {2, 1, 3}, 1), "F0 F1 F2 B2 B1 B0");
    EXPECT_EQ(drawn(PipelineSchedule::one_f_one_b, {4, 1, 5}, 0), "F0 F1 F2 F3 B0 F4 B1 B2 B3 B4");
    EXPECT_EQ(drawn(PipelineSchedule::one_f_one_b, {4, 1, 5}, 3), "F0 B0 F1 B1 F2 B2 F3 B3 F4 B4");
    EXPECT_EQ(drawn(PipelineSchedule::interleaved, {2, 2, 2}, 1), "F0 F1 f0 b0 f1 b1 B0 B1");
    EXPECT_EQ(drawn(PipelineSchedule::zb_h1, {2, 1, 3}, 0), "F0 F1 I0 W0 F2 I1 W1 I2 W2");
    EXPECT_EQ(drawn(PipelineSchedule::zb_h1, {2, 1, 3}, 1), "F0 I0 F1 I1 W0 F2 I2 W1 W2");
    EXPECT_EQ(drawn(PipelineSchedule::zb_2p, {2, 1, 4}, 0), "F0 F1 F2 I0 W0 F3 I1 W1 I2 W2 I3 W3");
    EXPECT_EQ(drawn(PipelineSchedule::zbv, {2, 2, 3}, 0).substr(0, 29), "F0 F1 F2 f0 i0 w0 f1 i1 w1 I0");
    EXPECT_EQ(drawn(PipelineSchedule::dualpipe, {2, 2, 4}, 0),
              "F0 f2 F1 b2 f3+ B0 b3 I1 W1"); // the second direction has the later half
}

TEST(PipelineSchedules, GuideDrawsTheRowsThatRun) {
    std::ifstream file{std::string{HEADROOM_SOURCE_DIR} + "/docs/guide/pipeline-schedules.md"};
    std::string const guide{std::istreambuf_iterator<char>{file}, {}};
    std::vector<std::pair<PipelineSchedule, PipelineShape>> const drawn_there{
        {PipelineSchedule::gpipe, {4, 1, 6}},       {PipelineSchedule::one_f_one_b, {4, 1, 6}},
        {PipelineSchedule::interleaved, {4, 2, 4}}, {PipelineSchedule::zb_h1, {4, 1, 8}},
        {PipelineSchedule::zb_2p, {4, 1, 8}},       {PipelineSchedule::zbv, {3, 2, 6}},
        {PipelineSchedule::v_half, {4, 2, 6}},      {PipelineSchedule::v_min, {4, 2, 6}},
        {PipelineSchedule::dualpipe, {4, 2, 8}},    {PipelineSchedule::dualpipe_v, {2, 2, 5}}};
    for (auto const& [id, shape] : drawn_there) {
        auto const text = test::drawing(schedule_row(id).order(shape), test::equal_times(shape, {1, 1, 1}));
        EXPECT_NE(guide.find("```\n" + text + "```"), std::string::npos) << test::told(id, shape) << "\n" << text;
    }
}

/// Idle time of the longest stage as a share of the ideal time, in hundredths with one decimal.
std::string idle_share(ScheduleRow const& row, PassTicks const& chunk, Ticks hop, Ticks without = 0) {
    PipelineShape const shape{8, row.chunks > 0 ? row.chunks : 2, 32};
    auto const run = run_pipeline(row.order(shape), test::equal_times(shape, chunk, hop));
    Ticks const busy = run->busy[0];
    Ticks const length = row.validates_late ? run->period : run->makespan;
    char text[16];
    std::snprintf(text, sizeof text, "%.1f",
                  100.0 * static_cast<double>(length - busy - without) / static_cast<double>(busy));
    return std::string{text} == "0.0" ? "0" : text;
}

TEST(PipelineSchedules, GuideComparesWhatRuns) {
    std::ifstream file{std::string{HEADROOM_SOURCE_DIR} + "/docs/guide/pipeline-schedules.md"};
    std::string const guide{std::istreambuf_iterator<char>{file}, {}};
    for (ScheduleRow const& row : pipeline_schedules()) {
        if (row.asynchronous) { continue; }
        PipelineShape const shape{8, row.chunks > 0 ? row.chunks : 2, 32};
        bool const whole = row.layout == ChunkLayout::bidirectional || row.chunks == 1; // a chunk is a whole stage
        Ticks const part = whole ? 1000 : 500;
        PassTicks const equal{part, part, part}, usual{part, part * 3 / 2, part * 4 / 5};
        auto const run = run_pipeline(row.order(shape), test::equal_times(shape, equal));
        Ticks const idle = (row.validates_late ? run->period : run->makespan) - run->busy[0];
        std::string const cells = "| " + idle_share(row, equal, 0) + " | " + idle_share(row, usual, 0) + " | " +
                                  idle_share(row, equal, 30, idle) + " |\n"; // a hundredth of a stage
        auto const at = guide.find("| `" + std::string{row.name} + "`", guide.find("| | equal |"));
        ASSERT_NE(at, std::string::npos) << row.name;
        EXPECT_NE(guide.substr(at, guide.find('\n', at) + 1 - at).find(cells), std::string::npos)
            << row.name << " " << cells;
    }
}

TEST(PipelineSchedules, AreFoundByName) {
    std::set<std::string_view> names;
    for (ScheduleRow const& row : pipeline_schedules()) {
        EXPECT_EQ(schedule_from(row.name), row.id);
        EXPECT_EQ(name_of(row.id), row.name);
        EXPECT_EQ(schedule_row(row.id).title, row.title);
        EXPECT_TRUE(row.order && row.held) << row.name;
        names.insert(row.name);
    }
    EXPECT_EQ(names.size(), static_cast<std::size_t>(pipeline_schedule_count));
    EXPECT_EQ(schedule_from("1F1B"), std::nullopt);
    EXPECT_EQ(schedule_from(""), std::nullopt);
}

TEST(PipelineSchedules, SourcesAreInTheBibliography) {
    std::ifstream file{std::string{HEADROOM_SOURCE_DIR} + "/docs/references.bib"};
    std::string const text{std::istreambuf_iterator<char>{file}, {}};
    for (ScheduleRow const& row : pipeline_schedules()) {
        EXPECT_NE(text.find("{" + std::string{row.source} + ","), std::string::npos) << row.source;
    }
}

TEST(PipelineSchedules, SayWhyTheyCannotRun) {
    auto const why = [](PipelineSchedule id, PipelineShape const& shape) { return impossible_because(id, shape); };
    EXPECT_EQ(why(PipelineSchedule::interleaved, {4, 2, 8}), "");
    EXPECT_NE(why(PipelineSchedule::interleaved, {4, 2, 6}).find("no multiple of 4 stages"), std::string::npos);
    EXPECT_NE(why(PipelineSchedule::interleaved, {4, 1, 8}).find("two or more chunks"), std::string::npos);
    EXPECT_NE(why(PipelineSchedule::one_f_one_b, {4, 2, 8}).find("one chunk a stage, not 2"), std::string::npos);
    EXPECT_NE(why(PipelineSchedule::zbv, {4, 1, 8}).find("two chunks a stage, not 1"), std::string::npos);
    EXPECT_EQ(why(PipelineSchedule::zbv, {5, 2, 1}), ""); // odd depths run; see the guide
    EXPECT_NE(why(PipelineSchedule::dualpipe, {5, 2, 10}).find("even number of stages"), std::string::npos);
    EXPECT_NE(why(PipelineSchedule::dualpipe, {4, 2, 9}).find("an even number, not 9"), std::string::npos);
    EXPECT_NE(why(PipelineSchedule::dualpipe, {4, 2, 6}).find("twice as many"), std::string::npos);
    EXPECT_NE(why(PipelineSchedule::dualpipe_v, {4, 2, 7}).find("twice as many"), std::string::npos);
    EXPECT_EQ(why(PipelineSchedule::dualpipe_v, {3, 2, 7}), "");
    EXPECT_NE(why(PipelineSchedule::gpipe, {0, 1, 1}).find("at least one"), std::string::npos);
    EXPECT_NE(why(PipelineSchedule::gpipe, {1, 1, -3}).find("at least one"), std::string::npos);
}

TEST(PipelineSchedules, RefuseWhatIsTooLongToUnroll) {
    int const largest = std::numeric_limits<int>::max();
    for (ScheduleRow const& row : pipeline_schedules()) {
        int const chunks = row.chunks > 0 ? row.chunks : 2;
        EXPECT_NE(impossible_because(row.id, {64, chunks, 4'000'000}), "") << row.name;
        EXPECT_NE(impossible_because(row.id, {largest, chunks, largest}), "") << row.name;
        EXPECT_NE(impossible_because(row.id, {largest, chunks, 1}), "") << row.name;
        EXPECT_NE(impossible_because(row.id, {2, largest, 4}), "") << row.name;
        EXPECT_EQ(impossible_because(row.id, {8, chunks, 800'000}), "") << row.name;
    }
}

TEST(PipelineSchedules, TheBookSBubbleIsThatOfRowsRun) {
    // Expectation: of 39 slots on each of 8 stages 7 wait, with 32 micro-batches.
    auto const book = nlohmann::json::parse(
        std::ifstream{std::string{HEADROOM_SOURCE_DIR} + "/tests/data/textbook.json"})["pipeline_bubble"];
    PipelineShape const shape{book["stages"].get<int>(), 1, book["micro_batches"].get<int>()};
    for (auto const id : {PipelineSchedule::gpipe, PipelineSchedule::one_f_one_b}) {
        auto const run = run_pipeline(schedule_row(id).order(shape), test::equal_times(shape, {1, 1, 1}));
        ASSERT_TRUE(run);
        auto const makespan = static_cast<double>(run->makespan);
        EXPECT_NEAR(1.0 - static_cast<double>(run->busy[0]) / makespan, book["bubble_fraction"].get<double>(), 1e-12);
        double const alone = shape.stages * static_cast<double>(run->busy[0]);
        EXPECT_NEAR(alone / makespan, book["speedup"].get<double>(), 0.05); // one decimal is shown
    }
}

// ---- PipeDream: every micro-batch is an update -----------------------------------------------------------------------

TEST(PipeDream, KeepsAVersionOfItsWeightsForEachMicroBatchUnderWay) {
    // Expectation: counted along the rows, each backward pass being an update, a micro-batch comes back p - 1 - i updates
    // after it went forward, and p - i versions are in use at once.
    auto const& row = schedule_row(PipelineSchedule::pipedream);
    for (int p = 1; p <= 9; ++p) {
        PipelineShape const shape{p, 1, 4 * p};
        auto const order = row.order(shape);
        for (int stage = 0; stage < p; ++stage) {
            std::vector<int> version_of(static_cast<std::size_t>(shape.micro_batches), -1);
            std::multiset<int> in_use;
            int updates = 0, staleness = 0;
            std::size_t versions = 0;
            for (Pass const& pass : order.row(stage)) {
                auto& version = version_of[static_cast<std::size_t>(pass.micro_batch)];
                if (pass.kind == PassKind::forward) {
                    in_use.insert(version = updates);
                    versions = std::max(versions, std::set<int>{in_use.begin(), in_use.end()}.size());
                } else {
                    staleness = std::max(staleness, updates - version);
                    in_use.erase(in_use.find(version));
                    ++updates;
                }
            }
            EXPECT_EQ(versions, static_cast<std::size_t>(row.versions(shape, stage))) << p << " " << stage;
            EXPECT_EQ(staleness, row.staleness(shape, stage)) << p << " " << stage;
        }
    }
}

TEST(PipeDream, HasNoBubbleBetweenSteps) {
    // Expectation: p micro-batches more take p times a stage's time, no more.
    auto const& row = schedule_row(PipelineSchedule::pipedream);
    for (int p = 1; p <= 9; ++p) {
        PassTicks const ticks{5, 7, 3};
        auto const after = [&](int m) {
            PipelineShape const shape{p, 1, m};
            return run_pipeline(row.order(shape), test::equal_times(shape, ticks, 0, false))->makespan;
        };
        StageTimes const times{5.0, 7.0, 3.0};
        double const expected = p * times.all();
        EXPECT_NEAR(static_cast<double>(after(7 * p) - after(6 * p)), expected, 1e-9) << p;
    }
}

} // namespace
} // namespace headroom
