#include "headroom/error.hpp"
#include "headroom/io/overhead.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headroom {

using namespace headroom::laws;

namespace {

using testing::HasSubstr;
using testing::Matcher;

TEST(Overhead, ReadsSumsOfPowers) {
    auto const terms = io::parse_overhead(" 50*K + 3 W^(2/3) K^0.5 log2(K)^2+7 ", "--overhead");
    ASSERT_EQ(terms.size(), 3U);
    EXPECT_EQ(terms[0].coefficient, 50.0);
    EXPECT_EQ(terms[0].worker_exponent, 1.0);
    EXPECT_EQ(terms[0].log_exponent, 0.0);
    EXPECT_EQ(terms[1].coefficient, 3.0);
    EXPECT_EQ(terms[1].work_exponent, 2.0 / 3.0);
    EXPECT_EQ(terms[1].worker_exponent, 0.5);
    EXPECT_EQ(terms[1].log_exponent, 2.0);
    EXPECT_EQ(terms[2].coefficient, 7.0);
    // Expectation: T_o = 50 x 4 + 3 x 8^(2/3) x 2 x 2^2 + 7 = 200 + 96 + 7 at W = 8, K = 4.
    EXPECT_NEAR(total_overhead(terms, 8.0, 4.0), 303.0, 1e-12);
}

TEST(Overhead, EqualFactorsAddTheirExponents) {
    auto const terms = io::parse_overhead("2 k 3 K^0.5 log2 K", "--overhead");
    EXPECT_EQ(terms.front().coefficient, 6.0);
    EXPECT_EQ(terms.front().worker_exponent, 1.5);
    EXPECT_EQ(terms.front().log_exponent, 1.0);
}

TEST(Overhead, QuotesWhatItCannotRead) {
    auto const line = [](char const* text, Matcher<std::string> const& expected) {
        try {
            io::parse_overhead(text, "--overhead");
            ADD_FAILURE() << text;
        } catch (InputError const& error) { EXPECT_THAT(error.what(), expected) << text; }
    };
    line("", HasSubstr("something is missing at the end"));
    line("2 K +", HasSubstr("something is missing at the end"));
    line("2 log(K)", HasSubstr("at 'log(K)'"));
    line("K^(2/0)", HasSubstr("cannot read"));
    line("K - 3", HasSubstr("at '- 3'"));
    line("8..4", HasSubstr("at '.4'"));
    line("1.5.2 K", HasSubstr("at '.2 K'"));
    line("inf K", HasSubstr("at 'inf K'"));
    line("0 K", HasSubstr("no usable factor"));
    line("K^17", HasSubstr("exponent is too large"));
    line("W^0.5 W^0.5", HasSubstr("no problem is ever large enough"));
}

} // namespace
} // namespace headroom
