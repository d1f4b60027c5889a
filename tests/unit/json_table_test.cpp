// Tables in JSON: which objects are rows, and what becomes of objects and lists within them.

#include "headroom/error.hpp"
#include "headroom/io/csv.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace headroom::io {
namespace {

using testing::ElementsAre;

CsvTable read(std::string const& json) { return read_csv(json, "t.json"); }

TEST(JsonTable, ObjectsWithinARowAreColumns) {
    CsvTable const table = read(R"([{"config": {"gpus": 8}, "time": {"value": 3, "unit": "s"}, "t": {"mean": 1}},
                                    {"config": {"gpus": 16}, "time": {"value": 2, "unit": "s"}, "t": {"mean": 2}}])");
    EXPECT_THAT(table.header, ElementsAre("gpus", "time", "time_unit", "t_mean"));
    EXPECT_THAT(table.records[1].cells, ElementsAre("16", "2", "s", "2"));
    EXPECT_EQ(table.records[1].line, 2U);
}

/// Facts and measurements of something else are not the run's.
TEST(JsonTable, KeysStandBehindThoseThatAreNoGroups) {
    EXPECT_THAT(read(R"({"a": {"s": 1}, "b": {"c": {"s": 2}}})").header, ElementsAre("a_s", "b_c_s"));
    EXPECT_THAT(
        read(R"({"config": {"seq_len": 1, "eval": {"seq_len": 2}}, "metrics": {"warmup": {"step_time_s": 3}}})").header,
        ElementsAre("seq_len", "eval_seq_len", "warmup_step_time_s"));
    EXPECT_THAT(read(R"({"gpu": {"name": "H100", "count": 8}, "model": {"name": "m", "layers": 2}})").header,
                ElementsAre("gpu_name", "gpu_count", "model_name", "layers"));
    EXPECT_THAT(read(R"({"config": {"s": 1, "x": 3}, "result": {"s": 2}})").header,
                ElementsAre("config.s", "x", "result.s"));
}

/// A list stays in sight: it is a column that is not used, or a cell that is no number.
TEST(JsonTable, AListIsOneCell) {
    CsvTable const table = read("{\"gpus\": 8, \"loss\": [1, 2]}\n{\"gpus\": 16, \"loss\": []}\n");
    EXPECT_THAT(table.header, ElementsAre("gpus", "loss"));
    EXPECT_THAT(table.records[0].cells, ElementsAre("8", "[1, 2]"));
}

TEST(JsonTable, RowsAreTheLongestListAndValuesAboveAreColumns) {
    CsvTable const table = read(R"({"host": "a", "caches": [{"kb": 32}], "context": {"gpu": "H100"},
                                    "runs": [{"gpus": 1, "s": 9}, {"gpus": 2, "s": 5}]})");
    EXPECT_THAT(table.header, ElementsAre("host", "caches", "gpu", "gpus", "s"));
    EXPECT_EQ(table.records.size(), 2U);
}

TEST(JsonTable, Columns) {
    for (auto const* json :
         {R"({"gpus": [1, 2], "s": [9, 5]})", R"({"gpus": {"0": 1, "1": 2}, "s": {"0": 9, "1": 5}})"}) {
        CsvTable const table = read(json);
        EXPECT_THAT(table.header, ElementsAre("gpus", "s")) << json;
        ASSERT_EQ(table.records.size(), 2U) << json;
        EXPECT_THAT(table.records[1].cells, ElementsAre("2", "5")) << json;
    }
}

TEST(JsonTable, ObjectsUnderNames) {
    CsvTable const table = read(R"({"a": {"gpus": 1, "s": 9}, "b": {"gpus": 2, "s": 5}})");
    EXPECT_THAT(table.header, ElementsAre("name", "gpus", "s"));
    EXPECT_THAT(table.records[1].cells, ElementsAre("b", "2", "5"));
}

TEST(JsonTable, DamagedTextsAreRefused) {
    for (auto const* json :
         {"{\"a\": 1", "{\"a\": 1}\noops\n", "[{\"a\": 1}, {\"a\"}]", "[{\"a\": \"b}]", "[[1, 2]]", "{}"}) {
        EXPECT_THROW(read(json), InputError) << json;
    }
}

} // namespace
} // namespace headroom::io
