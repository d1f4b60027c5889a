#include "headroom/error.hpp"
#include "headroom/fit/campaign_fit.hpp"
#include "headroom/fit/measured_messages.hpp"
#include "headroom/probe/comm.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace headroom::fit {

using namespace headroom::measure;
using namespace headroom::network;

namespace {

/// A job of four ranks on two hosts whose messages take 1 us + 1 ns/B inside a host, ten times as long between hosts, and
/// three times as long with cold buffers.
class FakeJob final : public probe::CommJob {
public:
    FakeJob() {
        world_.hosts = {"a", "a", "b", "b"};
        world_.cores = {2, 2, 2, 2};
    }
    [[nodiscard]] CommWorld const& world() const override { return world_; }
    void set_patience(double) override {}
    [[nodiscard]] double clock_error_seconds() const override { return 0.0; }
    void measure(probe::CommRequest const& request, Heard const& heard) override {
        for (int i = 0; i < request.warm_ups + request.repeats; ++i) {
            bool const both = request.pattern == CommPattern::both_ways;
            bool const far = world_.host_of(request.peer) != "a";
            double const seconds = (1e-6 + 1e-9 * static_cast<double>(request.bytes)) * (far ? 10.0 : 1.0) *
                                   (request.cold != 0 ? 3.0 : 1.0);
            probe::CommRepetition one{.warm_up = i < request.warm_ups, .seconds = {both ? 1.5 * seconds : seconds}};
            if (request.collective == Collective::broadcast) { one.failure = "wrong result"; }
            if (!heard(one)) { return; }
        }
    }

private:
    CommWorld world_;
};

probe::CommQuestion question() {
    return {.sizes = {8, 4096, 262144},
            .collectives = {Collective::all_reduce, Collective::broadcast},
            .algorithms = {"library"},
            .parts = {probe::CommPart::messages, probe::CommPart::collectives},
            .budget_seconds = 1e6, // as many repetitions as there may be, at once
            .rounds = 2};
}

/// `largest_hot`: messages up to it are taken with hot buffers.
void measure(MeasuredMessages& answer, std::string const& largest_hot = "4096") {
    FakeJob job;
    answer.world = job.world();
    probe::CommTasks const tasks = comm_tasks(question(), answer.world);
    answer.campaign.points = tasks.points;
    answer.campaign.machine = {
        {"processor", "a processor"}, {"ranks", "4"}, {"nodes", "2"}, {"largest hot message", largest_hot}};
    answer.late_seconds = run_comm_tasks(question(), tasks, job, {},
                                         [&](Sample const& one) { answer.campaign.samples.push_back(one); }, {})
                              .late_seconds;
    work_out(answer);
}

TEST(MeasuredMessages, FitsRatiosAndPredictionsFollowFromTheSamples) {
    MeasuredMessages answer;
    measure(answer, "262144");
    ASSERT_EQ(answer.ratios.size(), 12U); // hot and cold
    for (MessageRatio const& one : answer.ratios) { EXPECT_NEAR(one.both_ways.value_or(0.0), 1.5, 1e-9); }
    auto const far = std::ranges::find_if(answer.fit.result.fits, [](CommunicationFit const& fit) {
        return fit.algorithm == "one_way" && fit.nodes == 2;
    });
    ASSERT_NE(far, answer.fit.result.fits.end());
    EXPECT_NEAR(far->segments.front().alpha_seconds.value, 1e-5, 1e-7);
    EXPECT_NEAR(far->segments.front().beta_seconds_per_byte.value, 1e-8, 1e-10);
    EXPECT_EQ(answer.predictions.size(), 4U) << "all_reduce from four elements of each rank on, hot and cold";
}

TEST(MeasuredMessages, TheTableHasTheRowsThatCalibrateTakes) {
    MeasuredMessages answer;
    measure(answer);
    auto const rows = measured_collectives(answer.campaign, {.system = "a processor", .source = {}}).rows;
    ASSERT_EQ(answer.table_rows, rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        MeasuredCollective const& row = answer.fit.rows[i];
        EXPECT_EQ(row.time, rows[i].time) << i;
        EXPECT_EQ(row.system, "a processor") << i;
        EXPECT_EQ(row.interconnect, row.nodes == 1 ? "host memory" : "") << i;
        double const hot = (1e-6 + 1e-9 * row.size.size.base()) * (row.nodes == 2 && row.ranks == 2 ? 10.0 : 1.0);
        EXPECT_NEAR(row.time.base() / hot, row.size.size.base() <= 4096 ? 1.0 : 3.0, 1e-9) << i;
    }
}

TEST(MeasuredMessages, NotesARatioThatNoLinkHas) {
    MeasuredMessages answer;
    measure(answer);
    auto const impossible = [](MeasuredMessages const& of) {
        return std::ranges::any_of(
            of.notes, [](std::string const& note) { return note.find("no link does that") < note.size(); });
    };
    EXPECT_FALSE(impossible(answer));
    answer.ratios.front().both_ways = 0.38;
    answer.notes.clear();
    add_notes(answer);
    EXPECT_TRUE(impossible(answer));
}

TEST(MeasuredMessages, NamesPointsThatFailed) {
    MeasuredMessages answer;
    measure(answer);
    ASSERT_EQ(answer.failures.size(), 6U); // hot and cold
    EXPECT_EQ(answer.failures.front().point, "broadcast of 8 B");
    EXPECT_EQ(answer.failures.front().message, "wrong result");
    MeasuredMessages nothing;
    nothing.world = answer.world;
    EXPECT_THROW(work_out(nothing), InputError);
}

/// Campaign of all pairs of eight ranks of one host; those of rank 3 take twice as long.
TEST(MeasuredMessages, FindsTheRankWhoseLinksAreSlow) {
    MeasuredMessages answer;
    answer.world.hosts.assign(8, "a");
    answer.world.cores.assign(8, 8);
    for (int first = 0; first < 8; ++first) {
        for (int second = first + 1; second < 8; ++second) {
            auto const point = static_cast<std::uint32_t>(answer.campaign.points.size());
            answer.campaign.points.push_back({"pair " + std::to_string(point),
                                              {{"pattern", "pairs"},
                                               {"bytes", "8"},
                                               {"first", std::to_string(first)},
                                               {"second", std::to_string(second)}},
                                              "seconds"});
            answer.campaign.samples.push_back(
                {.point = point, .value = first == 3 || second == 3 ? 2e-6 : 1e-6 + 1e-9 * point});
        }
    }
    work_out(answer);
    ASSERT_TRUE(answer.pairs_small);
    EXPECT_FALSE(answer.pairs_large);
    EXPECT_EQ(answer.pairs_small->times.size(), 28U);
    ASSERT_EQ(answer.pairs_small->slow_ranks.size(), 1U);
    EXPECT_EQ(answer.pairs_small->slow_ranks.front().rank, 3);
    EXPECT_EQ(answer.pairs_small->slow_ranks.front().host, "a");
}

} // namespace
} // namespace headroom::fit
