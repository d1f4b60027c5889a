#include "support/training.hpp"

#include "headroom/error.hpp"
#include "headroom/fit/collective_fit.hpp"
#include "headroom/io/catalog.hpp"
#include "headroom/training/calibration.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

namespace headroom {

using namespace headroom::training;

namespace {

TEST(Constants, AreListedInTheirOrder) {
    // Expectation: the table has a row for each enumerator, at its place, with a key of its own.
    ASSERT_EQ(constants().size(), static_cast<std::size_t>(constant_count));
    std::set<std::string_view> keys;
    for (int i = 0; i < constant_count; ++i) {
        auto const& info = constants()[static_cast<std::size_t>(i)];
        EXPECT_EQ(static_cast<int>(info.id), i) << info.key;
        EXPECT_TRUE(keys.insert(info.key).second) << info.key << " comes twice";
        EXPECT_EQ(constant_from(info.key), info.id);
        EXPECT_FALSE(info.meaning.empty()) << info.key;
        EXPECT_FALSE(info.unit.empty()) << info.key;
    }
    EXPECT_FALSE(constant_from("").has_value());
    EXPECT_FALSE(constant_from("gemm").has_value());
    EXPECT_FALSE(constant_from("GEMM_VOLTA").has_value());
}

TEST(Calibration, HoldsOneNumberForEachConstant) {
    Calibration values;
    for (auto const& info : constants()) { EXPECT_EQ(values[info.id], 0.0); }
    for (auto const& info : constants()) { values[info.id] = 1.0 + static_cast<int>(info.id); }
    for (auto const& info : constants()) { EXPECT_EQ(values[info.id], 1.0 + static_cast<int>(info.id)); }
}

TEST(CalibrationSet, GivesItsValues) {
    CalibrationSet set;
    for (auto const& info : constants()) {
        set.constant[static_cast<std::size_t>(info.id)].value = 2.0 * static_cast<int>(info.id);
    }
    auto const values = set.values();
    for (auto const& info : constants()) { EXPECT_EQ(values[info.id], 2.0 * static_cast<int>(info.id)) << info.key; }
}

TEST(Provenance, NamesReadBack) {
    for (auto const provenance : {Provenance::given, Provenance::measured, Provenance::fitted, Provenance::cited,
                                  Provenance::datasheet, Provenance::guessed}) {
        EXPECT_EQ(provenance_from(name_of(provenance)), provenance);
    }
    EXPECT_FALSE(provenance_from("hearsay").has_value());
}

class CatalogCalibration : public ::testing::TestWithParam<char const*> {
protected:
    CalibrationSet set = training::catalog().calibration(GetParam());
    [[nodiscard]] CalibratedConstant const& at(Constant id) const { return set.constant[static_cast<std::size_t>(id)]; }
};

TEST_P(CatalogCalibration, EveryConstantIsKnown) {
    for (auto const& info : constants()) {
        auto const& constant = at(info.id);
        EXPECT_GT(constant.value, 0.0) << info.key;
        EXPECT_GT(constant.independent, 0.0) << info.key;
        EXPECT_GE(constant.spread, 0.0) << info.key;
        EXPECT_FALSE(constant.source.empty()) << info.key;
        EXPECT_LE(constant.low, constant.value) << info.key;
        EXPECT_GE(constant.high, constant.value) << info.key;
        EXPECT_GE(constant.sources, 0) << info.key;
        if (constant.provenance == Provenance::fitted) { EXPECT_GT(constant.sources, 0) << info.key; }
    }
}

TEST_P(CatalogCalibration, FractionsAreFractions) {
    // Expectation: what is a share of a datasheet rate or of a time cannot be over one.
    using enum Constant;
    for (auto const id : {gemm_volta,
                          gemm_ampere,
                          gemm_ada,
                          gemm_hopper,
                          gemm_blackwell,
                          gemm_blackwell_ultra,
                          gemm_consumer,
                          gemm_tpu,
                          gemm_cdna,
                          gemm_other,
                          attention_ampere,
                          attention_hopper,
                          attention_consumer,
                          attention_tpu,
                          attention_other,
                          flash1_factor,
                          flash1_hopper,
                          flash2_hopper,
                          attention_small_head,
                          memory_fraction,
                          fused_bytes,
                          nvlink_volta,
                          nvlink_ampere,
                          nvlink_hopper,
                          nvlink_blackwell,
                          pcie,
                          other_scale_up,
                          scale_out,
                          tensor_exposed,
                          gradients_exposed_old,
                          gradients_exposed,
                          shard_overlap_loss}) {
        EXPECT_LE(at(id).value, 1.0) << constants()[static_cast<std::size_t>(id)].key;
    }
}

TEST_P(CatalogCalibration, BandsHoldThePrediction) {
    for (auto const& [kind, band] : set.bands) {
        EXPECT_LT(band.low, 1.0) << name_of(kind);
        EXPECT_GT(band.high, 1.0) << name_of(kind);
        EXPECT_EQ(band.coverage, 0.9) << name_of(kind);
    }
    // Expectation: guesses about degrees and recomputation widen the band.
    EXPECT_GE(band_of(set.bands, Extrapolation::assumed).half_width(),
              band_of(set.bands, Extrapolation::seen).half_width());
}

INSTANTIATE_TEST_SUITE_P(Catalog, CatalogCalibration, ::testing::Values("training", "independent"));

TEST(TrainingCalibration, StaysNearItsIndependentValues) {
    // Expectation: a constant that three of its own standard deviations cannot reach means that a formula is wrong.
    for (auto const& info : constants()) {
        auto const& constant = training::fitted().constant[static_cast<std::size_t>(info.id)];
        if (constant.provenance != Provenance::fitted) {
            EXPECT_EQ(constant.value, constant.independent) << info.key;
            continue;
        }
        double const spread = training::catalog().calibration("independent")[info.id].spread;
        EXPECT_LT(std::abs(std::log(constant.value / constant.independent)), 3.0 * spread) << info.key;
    }
}

constexpr auto of_collectives = fit::collective_constants;

TEST(TrainingCalibration, IsPulledTowardsTheIndependentFile) {
    auto const independent = training::catalog().calibration("independent");
    for (auto const& info : constants()) {
        auto const i = static_cast<std::size_t>(info.id);
        EXPECT_EQ(training::fitted().constant[i].independent, independent.constant[i].independent) << info.key;
        if (std::ranges::find(of_collectives, info.id) != of_collectives.end()) {
            EXPECT_EQ(training::fitted().constant[i].spread, 0.0) << info.key << " is fixed before runs are fitted";
            continue;
        }
        EXPECT_EQ(training::fitted().constant[i].spread, independent.constant[i].spread) << info.key;
    }
}

TEST(TrainingCalibration, HasAtMostSixtyFreeConstants) {
    EXPECT_LE(free_constants(training::fitted()), 70);
    // Expectation: a constant that is held is not counted, a pace is.
    CalibrationSet set;
    EXPECT_EQ(free_constants(set), 0);
    set[Constant::gemm_hopper].spread = 0.1;
    EXPECT_EQ(free_constants(set), 1);
    set.pace["some-stack"] = {};
    EXPECT_EQ(free_constants(set), 2);
}

TEST(CalibrationFile, OfAnotherVersionIsRefusedOnceWithTodaysNames) {
    std::string const older = "name = \"mine\"\n[constants.bytes_hidden]\nvalue = 1.2\n[constants.fp8_hopper]\n"
                              "value = 1.0\n[constants.context_exposed]\nvalue = 1.0\n";
    for (std::string const& text : {older, "partial = true\n" + older}) {
        try {
            static_cast<void>(io::read_calibration(text, "mine.toml"));
            ADD_FAILURE() << "read";
        } catch (InputError const& error) {
            for (char const* const part : {"constants of another version", "bytes_hidden (now bytes_elementwise)",
                                           "fp8_hopper", "context_exposed (now tensor_exposed)", "calibrate anew"}) {
                EXPECT_NE(std::string_view{error.what()}.find(part), std::string_view::npos) << error.what();
            }
        }
    }
}

} // namespace
} // namespace headroom
