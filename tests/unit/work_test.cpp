#include "headroom/error.hpp"
#include "headroom/io/work.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace headroom::io {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string refused(std::string_view text) {
    try {
        read_work(text, "work.csv");
    } catch (InputError const& error) {
        EXPECT_EQ(error.fault(), Fault::unreadable);
        return error.what();
    }
    ADD_FAILURE() << "accepted: " << text;
    return {};
}

TEST(Work, ReadsItsColumnAndNoOther) {
    EXPECT_THAT(read_work("rank,work,host\n0, 1.5 ,a\n1,0,b\n2,2e3,c\n", "work.csv"), ElementsAre(1.5, 0.0, 2000.0));
}

TEST(Work, NamesTheLineOfWhatIsNoAmount) {
    EXPECT_THAT(refused("rank,work\n0,1\n1,much\n"), HasSubstr("work.csv:3: no amount of work 'much'"));
    EXPECT_THAT(refused("work\n1\n-1\n"), HasSubstr("work.csv:3: a negative amount of work '-1'"));
    EXPECT_THAT(refused("work\nnan\n"), HasSubstr("work.csv:2"));
    EXPECT_THAT(refused("work\ninf\n"), HasSubstr("work.csv:2"));
    EXPECT_THAT(refused("work\n1e999\n"), HasSubstr("work.csv:2"));
    EXPECT_THAT(refused("work\n1e31\n"), HasSubstr("too large"));
    EXPECT_THAT(refused("rank,work\n0,\n"), HasSubstr("work.csv:2: no amount of work ''"));
}

TEST(Work, NeedsTheColumnARankAndSomeWork) {
    EXPECT_THAT(refused("rank,load\n0,1\n"), HasSubstr("no column 'work'"));
    EXPECT_THAT(refused("work\n"), HasSubstr("no rank"));
    EXPECT_THAT(refused("work\n0\n0\n"), HasSubstr("no rank has work"));
    EXPECT_THAT(refused(""), HasSubstr("empty"));
}

} // namespace
} // namespace headroom::io
