// Cells of tables: numbers with marks of groups and decimals, units, durations; rows of every layout; heads with units.

#include "tables/columns.hpp"
#include "tables/numbers.hpp"
#include "tables/rows.hpp"

#include "headroom/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace headroom::io {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using NumberFault = CellNumber::Fault;

/// A number among the cells of its column.
CellNumber number_in(std::string_view cell, std::vector<std::string_view> const& column, bool comma_groups = true) {
    NumberMarks marks{.comma_groups = comma_groups};
    for (std::string_view const one : column) { marks.learn(one); }
    return cell_number(cell, marks.completed({}));
}

TEST(TableCells, MarksOfGroupsAreTakenOff) {
    for (char const* text : {"1500", "1,500", "1 500", "1'500", "1_500",
                             "1\xC2\xA0"
                             "500",
                             "1\xE2\x80\xAF"
                             "500",
                             "1\xE2\x80\x99"
                             "500",
                             "+1,500.0", "1.5e3", "1_500.", "1.500,0"}) {
        CellNumber const number = cell_number(text);
        EXPECT_EQ(number.fault, NumberFault::none) << text;
        EXPECT_EQ(number.value, 1500.0) << text;
        EXPECT_EQ(number.rest, "") << text;
    }
    EXPECT_EQ(cell_number("-1,234,567.25").value, -1234567.25);
    EXPECT_EQ(cell_number("1.234.567").value, 1234567.0);
    EXPECT_EQ(cell_number("1,500 img/s").rest, "img/s");
}

TEST(TableCells, ALoneMarkIsReadAsItsColumnShows) {
    EXPECT_EQ(number_in("1.500", {}).value, 1.5) << "a point is decimal unless a cell shows otherwise";
    EXPECT_EQ(number_in("1.500", {"1.234.567"}).value, 1500.0);
    EXPECT_EQ(number_in("1.500", {"10,5"}).value, 1500.0);
    EXPECT_EQ(number_in("1,500", {}).value, 1500.0);
    EXPECT_EQ(number_in("1,500", {"0,125"}).value, 1.5);
    EXPECT_EQ(number_in("10,5", {}).value, 10.5);
    EXPECT_EQ(number_in("1,500", {}, false).fault, NumberFault::ambiguous_mark) << "among semicolons";
    EXPECT_EQ(number_in("1,500", {"2,25"}, false).value, 1.5);
    EXPECT_EQ(number_in("1,500", {"2.25"}, false).value, 1500.0);
    EXPECT_EQ(number_in("1,500", {"2,25", "1,500,000"}).fault, NumberFault::ambiguous_mark)
        << "the cells contradict each other";
    EXPECT_EQ(number_in("1.5", {"2,25"}).fault, NumberFault::ambiguous_mark);
}

TEST(TableCells, UnevenGroupsAreNoNumber) {
    for (char const* text : {"1,50,000", "1 50", "1'5000", "1,500.000.1", "1.2.3", "12 34"}) {
        EXPECT_EQ(cell_number(text).fault, NumberFault::uneven_groups) << text;
    }
    for (char const* text : {"", "x", ".", "-", "+x", "nan"}) {
        EXPECT_EQ(cell_number(text).fault, NumberFault::no_number) << text;
    }
}

TEST(TableCells, ACellIsReadToItsEnd) {
    using Kind = CellValue::Kind;
    auto const seconds = [](std::string_view cell) { return cell_value(cell, CellMeasure::time).value; };
    EXPECT_DOUBLE_EQ(seconds("1m12.271s"), 72.271);
    EXPECT_DOUBLE_EQ(seconds("2 min 3 s"), 123.0);
    EXPECT_EQ(seconds("180 ms"), 0.18);
    EXPECT_EQ(seconds("1:23:45"), 5025.0);
    EXPECT_EQ(seconds("12:34.5"), 754.5);
    EXPECT_EQ(seconds("1-02:00:00"), 93600.0);
    EXPECT_EQ(cell_value("4 MiB", CellMeasure::size).value, 4194304.0);
    for (char const* text :
         {"5 furlongs", "1:2:3", "12:61", "1:00:00 h", "3 ms later", "5 MiB", "1e", "12:34:", "1:23.x"}) {
        EXPECT_EQ(cell_value(text, CellMeasure::time).kind, Kind::text) << text;
    }
    EXPECT_EQ(cell_value("5 ms", CellMeasure::nothing).kind, Kind::text);
    EXPECT_EQ(cell_value(" n/a ", CellMeasure::time).kind, Kind::empty);
    EXPECT_EQ(cell_value("-inf", CellMeasure::time).kind, Kind::infinite);
    EXPECT_EQ(cell_value("1e999", CellMeasure::time).kind, Kind::infinite);
    EXPECT_EQ(cell_value("NaN", CellMeasure::time).kind, Kind::not_a_number);
}

TEST(TableCells, RoundingIsHalfAUnitOfTheLastDigit) {
    EXPECT_DOUBLE_EQ(printed_number("12.34")->half_unit, 0.005);
    EXPECT_DOUBLE_EQ(printed_number("12")->half_unit, 0.5);
    EXPECT_DOUBLE_EQ(printed_number("1.2e-3")->half_unit, 0.5e-4);
    EXPECT_DOUBLE_EQ(printed_number("1,200")->half_unit, 0.5);
    EXPECT_FALSE(printed_number("12x"));
}

CsvTable read(std::string_view text) { return read_csv(text, "t", {.header_required = false}); }

// Expectation: one table, whatever parts its cells.
TEST(TableCells, OtherFormatsAreNamed) {
    EXPECT_EQ(read(R"([{"workers": 1, "time": 100}])").header, (std::vector<std::string>{"workers", "time"}));
    for (auto const* text : {"{\n  \"results\": []}", "[[1, 2], [3, 4]]"}) {
        EXPECT_THAT([&] { read(text); }, ThrowsMessage<InputError>(HasSubstr("t: JSON without rows"))) << text;
    }
    EXPECT_THAT([&] { read("<table><tr><th>n</th></tr></table>"); },
                ThrowsMessage<InputError>(HasSubstr("t: HTML or XML (it is not read as a table)")));
    EXPECT_EQ(read("[s],n\n1,2\n").header, (std::vector<std::string>{"[s]", "n"}));
}

TEST(TableRows, EveryLayoutHasTheSameCells) {
    for (char const* text :
         {"cores,wall time\n1,9.5\n16,0.75\n", "cores;wall time\r\n1;9.5\r\n16;0.75\r\n",
          "cores\twall time\n1\t9.5\n16\t0.75", "\xEF\xBB\xBF\"cores\" , \"wall time\"\n\"1\",9.5\n16,\"0.75\"\n",
          "# a run of 2026\n\ncores,wall time\n1,9.5\n# again\n16,0.75\n",
          "cores | wall time\n--|--\n1 | 9.5\n16 | 0.75\n",
          "| `cores` | **wall time** |\n|:-:|--:|\n| 1 | 9.5 |\n| 16 | 0.75 |\n",
          "|cores|wall time|\n|-|-|\n|1|9.5|\n|16|0.75|\n", "cores  wall time\n1      9.5\n16     0.75\n",
          "cores   wall time\n------  ---------\n   1    9.5\n   16   0.75\n", "# cores, wall time\n1, 9.5\n16, 0.75\n",
          "+-------+-----------+\n| cores | wall time |\n+=======+===========+\n| 1     | 9.5       |\n| 16    | 0.75  "
          "    |\n+-------+-----------+\n",
          "┌───────┬───────────┐\n│ cores │ wall time │\n├───────┼───────────┤\n│ 1     │ 9.5       │\n│ 16    │ 0.75  "
          "    │\n└───────┴───────────┘\n",
          "┏━━━━━━━┳━━━━━━━━━━━┓\n┃ cores ┃ wall time ┃\n┡━━━━━━━╇━━━━━━━━━━━┩\n│ 1     │ 9.5       │\n│ 16    │ 0.75  "
          "    │\n└───────┴───────────┘\n"}) {
        CsvTable const table = read(text);
        EXPECT_THAT(table.header, ElementsAre("cores", "wall time")) << text;
        ASSERT_EQ(table.records.size(), 2U) << text;
        EXPECT_THAT(table.records[0].cells, ElementsAre("1", "9.5")) << text;
        EXPECT_THAT(table.records[1].cells, ElementsAre("16", "0.75")) << text;
        EXPECT_TRUE(table.named) << text;
    }
}

TEST(TableRows, OfSingleBlanksAndWithoutNames) {
    CsvTable const table = read("1 2.5\n10 3\n");
    EXPECT_THAT(table.header, ElementsAre("1", "2"));
    EXPECT_FALSE(table.named);
    EXPECT_THAT(table.records[1].cells, ElementsAre("10", "3"));
    EXPECT_THAT(read("a | b\nx\\|y | 2\n").records[0].cells, ElementsAre("x|y", "2"));
    EXPECT_EQ(read("a,b\n1,2\n").head_line, 1U);
    EXPECT_THAT(read("\t1\t2\t\n\t3\t4\t\n").records[1].cells, ElementsAre("", "3", "4", ""))
        << "a blank may part cells";
    EXPECT_EQ(read("\t1\t2\t\n\t3\t4\t\n").header.size(), 4U);
}

TEST(TableRows, AnotherCountOfCellsIsRefusedWithItsLine) {
    for (char const* text : {"| a | b |\n|---|---|\n| 1 |\n", "a;b\n1;2\n1;2;3\n", "a\tb\n1\t2\n\n3\n"}) {
        EXPECT_THROW(read(text), InputError) << text;
        std::vector<CsvTable::Record> ragged;
        read_csv(text, "t", {.ragged = &ragged});
        ASSERT_EQ(ragged.size(), 1U);
        EXPECT_EQ(ragged[0].line, std::string_view{text}.starts_with("a\t") ? 4U : 3U);
    }
}

TEST(TableColumns, HeadsAreNamesWithUnits) {
    constexpr ColumnRow time{.names = "latency time", .measure = CellMeasure::time};
    for (char const* head :
         {"latency_ms", "Latency (ms)", "latency [msec]", "latencyMs", "LATENCY-MS", "latency.millis"}) {
        ColumnMatch const match = match_head(head, time);
        EXPECT_EQ(match.rank, 0) << head;
        ASSERT_TRUE(match.unit) << head;
        EXPECT_EQ(match.unit->name, "ms") << head;
    }
    EXPECT_EQ(match_head("time", time).rank, 1);
    EXPECT_FALSE(match_head("latency (p50)", time).unit);
    EXPECT_EQ(match_head("decode_us", time).rank, ColumnMatch::unit_alone);
    EXPECT_EQ(match_head("decode", time).rank, ColumnMatch::never);
    EXPECT_EQ(match_head("latency_m", time).rank, ColumnMatch::never) << "m may be another word";
    constexpr std::array words{HeadWords{"avg", -1}, HeadWords{"num", 0}, HeadWords{"max", ColumnMatch::never}};
    EXPECT_EQ(match_head("avg_time_us", time, words).rank, 0);
    EXPECT_EQ(match_head("time_us_avg", time, words).unit->name, "us");
    EXPECT_GE(match_head("max time", time, words).rank, ColumnMatch::never);
    for (char const* head : {"samples_per_sec", "requests_per_s", "tokensPerSecond", "tokens per ms", "tokens/s",
                             "samples / s", "qps", "img_s", "tokens_per_s_per_gpu", "time_per_second"}) {
        EXPECT_EQ(match_head(head, time).rank, ColumnMatch::never) << head << " is a rate";
        EXPECT_FALSE(asked_column({head}, true, head, CellMeasure::time, "t").unit) << head;
        EXPECT_THROW(refuse_other_unit(head, "t"), InputError) << head;
    }
    for (char const* head : {"time_per_token_s", "seconds_per_step_s", "step_s", "latency at 100 rps (ms)"}) {
        EXPECT_NE(match_head(head, time).rank, ColumnMatch::never) << head << " is a time";
        EXPECT_NO_THROW(refuse_other_unit(head, "t")) << head;
    }
    EXPECT_THAT(unused_columns({"a", "b", "c"}, std::vector{1}), ElementsAre("a", "c"));
    std::vector<Issue> issues;
    report_unused(issues, {"a", "c"});
    ASSERT_EQ(issues.size(), 1U);
    EXPECT_EQ(words_of(issues[0]), "2 left out: column not used (column 'a': 'a, c')");
}

} // namespace
} // namespace headroom::io
