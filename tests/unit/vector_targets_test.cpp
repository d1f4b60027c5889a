// Instruction sets that run here, and arrays for their loads.

#include "vector/aligned.hpp"
#include "vector/targets.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <set>
#include <vector>

namespace headroom::probe {
namespace {

TEST(VectorTargets, AreThoseThatHighwayFinds) { EXPECT_EQ(supported_targets(), hwy::SupportedTargets()); }

TEST(VectorTargets, ThoseAllowedAreChosenFrom) {
    hwy::ChosenTarget lowest;
    lowest.Update(HWY_STATIC_TARGET);
    allow_targets(HWY_STATIC_TARGET);
    EXPECT_EQ(chosen_target().GetIndex(), lowest.GetIndex());
    allow_targets(0);
    hwy::ChosenTarget best;
    best.Update(hwy::SupportedTargets());
    EXPECT_EQ(chosen_target().GetIndex(), best.GetIndex());
}

TEST(AlignedFloats, BeginAtDifferentLinesOfAPage) {
    std::vector<AlignedFloats> arrays;
    std::set<std::uintptr_t> lines;
    for (int i = 0; i < 4; ++i) {
        arrays.push_back(aligned_floats(1000));
        auto const at = reinterpret_cast<std::uintptr_t>(arrays.back().get());
        EXPECT_EQ(at % 128, 0u);
        lines.insert(at % 512);
        arrays.back()[999] = 1.0F;
    }
    EXPECT_EQ(lines.size(), 4u);
    EXPECT_EQ(aligned_floats(std::numeric_limits<std::size_t>::max()), nullptr);
    EXPECT_NE(aligned_floats(0), nullptr);
}

} // namespace
} // namespace headroom::probe
