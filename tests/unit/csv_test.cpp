#include "headroom/error.hpp"
#include "headroom/io/csv.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace headroom::io {
namespace {

using ::testing::ElementsAre;

std::string refused(std::string_view text) {
    try {
        read_csv(text, "t.csv");
    } catch (InputError const& error) {
        EXPECT_EQ(error.fault(), Fault::unreadable);
        return error.what();
    }
    ADD_FAILURE() << "accepted: " << text;
    return {};
}

TEST(Csv, ReadsCellsAndKeepsLines) {
    CsvTable const table = read_csv("a,b\n1,2\n\n\"x\ny\",\"say \"\"hi\"\"\"\n,\n", "t.csv");
    EXPECT_THAT(table.header, ElementsAre("a", "b"));
    ASSERT_EQ(table.records.size(), 3U);
    EXPECT_THAT(table.records[0].cells, ElementsAre("1", "2"));
    EXPECT_THAT(table.records[1].cells, ElementsAre("x\ny", "say \"hi\""));
    EXPECT_EQ(table.records[1].line, 4U);
    EXPECT_THAT(table.records[2].cells, ElementsAre("", ""));
    EXPECT_EQ(table.records[2].line, 6U);
    EXPECT_EQ(table.column("b"), 1);
    EXPECT_EQ(table.column("c"), -1);
}

TEST(Csv, LineEndsAndByteOrderMarkDoNotMatter) {
    for (std::string const text : {"a,b\r\n1,2\r\n", "a,b\n1,2",
                                   "\xEF\xBB\xBF"
                                   "a,b\n1,2\n",
                                   "\n\na,b\n1,2\r"}) {
        CsvTable const table = read_csv(text, "t.csv");
        EXPECT_THAT(table.header, ElementsAre("a", "b"));
        ASSERT_EQ(table.records.size(), 1U);
        EXPECT_THAT(table.records[0].cells, ElementsAre("1", "2"));
    }
}

TEST(Csv, DamageIsNamedWithItsLine) {
    EXPECT_EQ(refused("a,b\n1\n"), "t.csv:2: 1 cells (the header has 2)");
    EXPECT_EQ(refused("a,b\n1,\"2\n3\n"), "t.csv:2: a quote that is never closed (the cell runs to the end)");
    EXPECT_EQ(refused("a,b,a\n"), "t.csv:1: column 'a' twice (columns are identified by name)");
    EXPECT_EQ(refused(std::string_view{"a\n\0\n", 4}), "t.csv:2: a zero byte (the file is not text)");
    EXPECT_EQ(refused(std::string_view{"\xff\xfe"
                                       "a\0",
                                       4}),
              "t.csv: text in UTF-16 (it is not read as a table). write it in UTF-8: iconv -f UTF-16 -t UTF-8");
    std::string unmarked;
    for (char const c : std::string_view{"workers,seconds\n1,100\n2,52\n4,28\n8,17\n"}) { unmarked += {c, '\0'}; }
    EXPECT_EQ(refused(unmarked),
              "t.csv: text in UTF-16 (it is not read as a table). write it in UTF-8: iconv -f UTF-16 -t UTF-8");
    EXPECT_EQ(refused("a\n" + std::string(1'000'000, ',')),
              "t.csv:2: more than 16384 cells in a line (it is no table)");
    EXPECT_EQ(refused("a\n\"1\"2\n").substr(0, 9), "t.csv:2: ");
    EXPECT_EQ(refused("a\nx\"y\n").substr(0, 9), "t.csv:2: ");
    EXPECT_EQ(refused("\n\n").substr(0, 5), "t.csv");
    EXPECT_EQ(refused("").substr(0, 5), "t.csv");
}

TEST(Csv, CellsAreQuotedOnlyWhenTheyMustBe) {
    EXPECT_EQ(csv_cell("plain text"), "plain text");
    EXPECT_EQ(csv_cell("a,b"), "\"a,b\"");
    EXPECT_EQ(csv_cell("a \"b\""), "\"a \"\"b\"\"\"");
    EXPECT_EQ(csv_cell("a\nb"), "\"a\nb\"");
    EXPECT_EQ(csv_cell(""), "");
}

} // namespace
} // namespace headroom::io
