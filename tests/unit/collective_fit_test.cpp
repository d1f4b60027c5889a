#include "support/training.hpp"

#include "headroom/fit/collective_fit.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace headroom::fit {

using namespace headroom::network;
using namespace headroom::training;

namespace {

/// Gathers of 1 KiB to 1 GiB on a node of eight, as long as `truth` takes for them.
std::vector<PlacedCollective> gathers(char const* node, Calibration const& truth, std::string system = "a") {
    std::vector<PlacedCollective> rows;
    for (double size = 1024.0; size <= 1e9; size *= 4.0) {
        PlacedCollective one{.row = {}, .cluster = training::catalog().cluster(node)};
        one.row.system = system;
        one.row.collective = Collective::all_gather;
        one.row.size = {Bytes{size}};
        one.row.ranks = 8;
        one.row.time = step_model_time(one, truth);
        rows.push_back(one);
    }
    return rows;
}

CalibrationSet independent() { return training::catalog().calibration("independent"); }

TEST(FitCollectives, FindsWhatManySystemsSay) {
    Calibration truth = independent().values();
    truth[Constant::nvlink_hopper] = 0.9;
    std::vector<PlacedCollective> rows;
    for (int i = 0; i < 200; ++i) {
        auto const more = gathers("dgx-h100", truth, "system " + std::to_string(i));
        rows.insert(rows.end(), more.begin(), more.end());
    }
    auto const set = fit_collectives(rows, independent());
    EXPECT_NEAR(set[Constant::nvlink_hopper].value, 0.9, 0.02);
    EXPECT_EQ(set[Constant::nvlink_hopper].sources, 200);
    EXPECT_EQ(set[Constant::nvlink_hopper].provenance, Provenance::fitted);
    EXPECT_LT(set[Constant::nvlink_hopper].low, set[Constant::nvlink_hopper].value);
    // Expectation: what no row touches stays as it was, and all of them are held from here on.
    EXPECT_EQ(set[Constant::scale_out].value, independent()[Constant::scale_out].value);
    EXPECT_EQ(set[Constant::scale_out].provenance, independent()[Constant::scale_out].provenance);
    for (Constant const id : collective_constants) { EXPECT_EQ(set[id].spread, 0.0); }
    EXPECT_EQ(set[Constant::gemm_hopper].spread, independent()[Constant::gemm_hopper].spread);
}

TEST(FitCollectives, FewSystemsAreDrawnTowardsTheIndependentValue) {
    Calibration truth = independent().values();
    double const before = truth[Constant::nvlink_hopper];
    truth[Constant::nvlink_hopper] = 1.2 * before;
    std::vector<PlacedCollective> rows;
    for (char const* system : {"a", "b", "c", "d"}) {
        auto const more = gathers("dgx-h100", truth, system);
        rows.insert(rows.end(), more.begin(), more.end());
    }
    double const few = fit_collectives(rows, independent())[Constant::nvlink_hopper].value;
    EXPECT_GT(few, before);
    EXPECT_LT(few, truth[Constant::nvlink_hopper]);
}

TEST(FitCollectives, OneWildSystemPullsLittle) {
    Calibration const truth = independent().values();
    auto rows = gathers("dgx-h100", truth, "a");
    auto wild = gathers("dgx-h100", truth, "b");
    for (auto& one : wild) { one.row.time = one.row.time * 10.0; }
    rows.insert(rows.end(), wild.begin(), wild.end());
    double const value = fit_collectives(rows, independent())[Constant::nvlink_hopper].value;
    EXPECT_GT(value, 0.9 * truth[Constant::nvlink_hopper]);
}

TEST(FitCollectives, NothingChangesNothing) {
    auto const set = fit_collectives({}, independent());
    for (Constant const id : collective_constants) { EXPECT_EQ(set[id].value, independent()[id].value); }
}

TEST(FitCollectives, OtherCollectivesHaveNoSay) {
    Calibration truth = independent().values();
    truth[Constant::nvlink_hopper] *= 2.0;
    auto rows = gathers("dgx-h100", truth);
    for (auto& one : rows) { one.row.collective = Collective::broadcast; }
    EXPECT_EQ(fit_collectives(rows, independent())[Constant::nvlink_hopper].sources, 0);
}

} // namespace
} // namespace headroom::fit
