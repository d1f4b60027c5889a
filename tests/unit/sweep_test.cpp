#include "headroom/error.hpp"
#include "headroom/io/sweep.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace headroom::io {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> decimal(std::string_view text) { return swept_values(text, SweepScale::decimal, "--sweep"); }
std::vector<std::string> binary(std::string_view text) { return swept_values(text, SweepScale::binary, "--sweep"); }

template <class Call> std::string refused(Call call) {
    try {
        call();
    } catch (InputError const& error) { return error.what(); }
    return "accepted";
}

TEST(SweptValues, ARangeDoublesUpToItsEnd) {
    EXPECT_THAT(binary("4k..32k"), ElementsAre("4k", "8k", "16k", "32k"));
    EXPECT_THAT(decimal("3..20"), ElementsAre("3", "6", "12"));
    EXPECT_THAT(decimal("0.5..2"), ElementsAre("0.5", "1", "2"));
    EXPECT_THAT(decimal("7..7"), ElementsAre("7"));
}

TEST(SweptValues, ARangeKeepsTheUnitOfBothEnds) {
    EXPECT_THAT(decimal("100GB/s..400GB/s"), ElementsAre("100GB/s", "200GB/s", "400GB/s"));
    EXPECT_THAT(refused([] { decimal("1$/h..8$/s"); }), HasSubstr("two units"));
}

TEST(SweptValues, LettersOfScaleAreOfTokensOrOfThousands) {
    EXPECT_THAT(binary("1024..4k"), ElementsAre("1024", "2048", "4096"));
    EXPECT_THAT(decimal("1000..4k"), ElementsAre("1000", "2000", "4000"));
    EXPECT_THAT(decimal("500k..2M"), ElementsAre("500000", "1000000", "2000000"));
}

TEST(SweptValues, AListIsTakenAsItIsEachValueOnce) {
    EXPECT_THAT(decimal("none, selective,full,none"), ElementsAre("none", "selective", "full"));
    EXPECT_THAT(refused([] { decimal("1,,2"); }), HasSubstr("empty value"));
}

TEST(SweptValues, WhatIsNoRangeIsRefused) {
    EXPECT_THAT(refused([] { decimal("none..full"); }), HasSubstr("not a range of numbers"));
    EXPECT_THAT(refused([] { decimal("0..8"); }), HasSubstr("not a range of numbers"));
    EXPECT_THAT(refused([] { decimal("8..4"); }), HasSubstr("backwards"));
    EXPECT_THAT(refused([] { decimal("1e-300..1e300"); }), HasSubstr("more than 256"));
}

TEST(ListedValues, ANameMayHoldDots) {
    EXPECT_THAT(listed_values("../mine.toml,dgx-h100, dgx-h100", "--cluster"), ElementsAre("../mine.toml", "dgx-h100"));
}

TEST(Combinations, TheLastSweepVariesFastest) {
    std::vector<Sweep> const sweeps{{"a", {"1", "2"}}, {"b", {"x", "y", "z"}}};
    EXPECT_THAT(combinations_of(sweeps),
                ElementsAre(ElementsAre("1", "x"), ElementsAre("1", "y"), ElementsAre("1", "z"), ElementsAre("2", "x"),
                            ElementsAre("2", "y"), ElementsAre("2", "z")));
    EXPECT_THAT(combinations_of({}), ElementsAre(ElementsAre()));
}

TEST(Combinations, TheirNumberIsBounded) {
    Sweep sweep{"a", std::vector<std::string>(16, "1")};
    std::vector<Sweep> sweeps{sweep, sweep};
    EXPECT_EQ(combinations_of(sweeps).size(), 256U);
    sweeps.push_back({"b", {"1", "2"}});
    EXPECT_THAT(refused([&] { combinations_of(sweeps); }), HasSubstr("512 combinations"));
}

} // namespace
} // namespace headroom::io
