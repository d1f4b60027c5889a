#include "headroom/document/fields.hpp"
#include "headroom/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace headroom::document {
namespace {

using testing::ElementsAre;

struct Part {
    Bytes size;
    int count = 0;
};
constexpr Field part_rows[] = {
    {"size_bytes", "Size of the part.", member<&Part::size>},
    {"count", "Number of parts.", member<&Part::count>},
};
constexpr FieldTable part_table = field_table<Part>("part", part_rows);
FieldTable const& field_table_of(Part const*) { return part_table; }

struct Extra {
    double ratio = 0.5;
};
constexpr Field extra_rows[] = {{"ratio", "Ratio of the answer.", member<&Extra::ratio>}};
constexpr FieldTable extra_table = field_table<Extra>("extra", extra_rows);
FieldTable const& field_table_of(Extra const*) { return extra_table; }

struct Answer {
    Seconds step{0.25};
    std::pair<Seconds, Seconds> interval{Seconds{0.2}, Seconds{0.3}};
    std::optional<double> days = {};
    Part part{Bytes{8.0}, 2};
    std::vector<Part> parts{{Bytes{1.0}, 1}, {Bytes{3.0}, 4}};
    std::vector<std::string> notes = {};
    std::map<std::string, int> reasons{{"memory", 3}};
    bool fits = true;
    std::optional<Extra> extra = {};
};
constexpr Field answer_rows[] = {
    {"step_seconds", "Time of one step.", member<&Answer::step>},
    {"interval_seconds", "Interval of the step.", member<&Answer::interval>},
    {"days", "Duration of the run.", member<&Answer::days>, Unit{"d"}},
    {"part", "One part.", member<&Answer::part>},
    {"parts", "All parts.", member<&Answer::parts>},
    {"notes", "Remarks.", member<&Answer::notes>, Presence::if_any},
    {"reasons", "Counts by reason.", member<&Answer::reasons>},
    {"fits", "Whether it fits.", member<&Answer::fits>},
    {"*", "Fields of an extra part.", member<&Answer::extra>},
};
constexpr FieldTable answer_table = field_table<Answer>("answer", answer_rows);
FieldTable const& field_table_of(Answer const*) { return answer_table; }

std::string compact(std::string text) {
    std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
    return text;
}

TEST(FieldTable, WritesJsonInTheOrderOfItsRows) {
    // Expectation: by hand; notes are empty and marked, so they are not there, and neither is the extra part.
    EXPECT_EQ(compact(to_json(Answer{}).text()),
              R"({"step_seconds":0.25,"interval_seconds":[0.2,0.3],"days":null,"part":{"size_bytes":8,"count":2},)"
              R"("parts":[{"size_bytes":1,"count":1},{"size_bytes":3,"count":4}],"reasons":{"memory":3},"fits":true})");
}

TEST(FieldTable, InlinesTheFieldsOfAPart) {
    Answer answer;
    answer.extra = Extra{};
    answer.notes = {"a"};
    std::string const text = compact(to_json(answer).text());
    EXPECT_THAT(text, testing::HasSubstr(R"("notes":["a"],"reasons")"));
    EXPECT_THAT(text, testing::EndsWith(R"("fits":true,"ratio":0.5})"));
}

TEST(FieldTable, TakesUnitsFromTypesAndNames) {
    EXPECT_EQ(answer_rows[0].unit, "s");
    EXPECT_EQ(answer_rows[1].unit, "s"); // of both ends
    EXPECT_EQ(answer_rows[2].unit, "d");
    EXPECT_EQ(part_rows[0].unit, "B");
    EXPECT_EQ(part_rows[1].unit, "");
    EXPECT_EQ(unit_symbol({.bytes = 1, .seconds = -1}), "B/s");
}

TEST(FieldTable, WritesNumbersThatAreNoneAsNull) {
    EXPECT_FALSE(finite(std::numeric_limits<double>::infinity()).has_value());
    EXPECT_FALSE(finite(std::numeric_limits<double>::quiet_NaN()).has_value());
    EXPECT_EQ(finite(2.0), 2.0);
}

std::vector<std::string> paths_of(std::vector<Leaf> const& leaves) {
    std::vector<std::string> paths;
    for (Leaf const& leaf : leaves) { paths.push_back(leaf.path); }
    return paths;
}

TEST(FieldTable, NamesItsLeavesWithoutAnAnswer) {
    // Expectation: what a list of objects holds is no leaf of the answer; ends of a pair are.
    EXPECT_THAT(paths_of(leaves_of(answer_table, nullptr, Lists::joined)),
                ElementsAre("step_seconds", "interval_seconds.low", "interval_seconds.high", "days", "part.size_bytes",
                            "part.count", "notes", "reasons", "fits", "ratio"));
}

TEST(FieldTable, JoinsListsInOneCell) {
    Answer answer;
    answer.notes = {"a", "b"};
    auto const leaves = leaves_of(answer_table, &answer, Lists::joined);
    EXPECT_EQ(leaves[1].number, 0.2);
    EXPECT_FALSE(leaves[3].number.has_value());
    EXPECT_EQ(leaves[6].text, "a b");
    EXPECT_EQ(leaves[7].text, "memory=3");
}

TEST(FieldTable, SheetOfOneAnswerHasEveryValue) {
    Answer const answer;
    Sheet const sheet = leaf_sheet(answer);
    EXPECT_THAT(sheet.header, ElementsAre("quantity", "value"));
    EXPECT_THAT(sheet.rows, testing::Contains(ElementsAre("parts.1.size_bytes", "3")));
    EXPECT_THAT(sheet.rows, testing::Contains(ElementsAre("interval_seconds.high", "0.3")));
    EXPECT_THAT(sheet.rows, testing::Contains(ElementsAre("reasons.memory", "3")));
}

TEST(FieldTable, SheetOfRowsHasAColumnALeaf) {
    Sheet const sheet = row_sheet(Answer{}.parts);
    EXPECT_THAT(sheet.header, ElementsAre("size_bytes", "count"));
    EXPECT_THAT(sheet.rows, ElementsAre(ElementsAre("1", "1"), ElementsAre("3", "4")));
}

TEST(FieldTable, ShowsColumnsInTheUnitThatSuitsThem) {
    std::vector<Part> const parts{{Bytes{2e9}, 7}, {Bytes{5e6}, 1}};
    Table const table = field_rows("Parts", parts, {{"size_bytes"}, {"count", "how many"}});
    EXPECT_EQ(table.columns[0].title, "size GB");
    EXPECT_EQ(table.columns[1].title, "how many");
    EXPECT_THAT(table.rows, ElementsAre(ElementsAre("2.00", "7"), ElementsAre("0.00500", "1")));
    EXPECT_THROW(field_rows("Parts", parts, {{"weight"}}), ContractError);
}

TEST(FieldTable, SchemaRequiresWhatIsAlwaysThere) {
    std::string const text = compact(json_schema("T", {&answer_table}, extra_table, part_table).text());
    EXPECT_THAT(text, testing::HasSubstr(R"("required":["ratio","step_seconds","interval_seconds","days","part",)"
                                         R"("parts","reasons","fits","size_bytes","count"])"));
    EXPECT_THAT(
        text, testing::HasSubstr(R"("days":{"type":["number","null"],"description":"Durationoftherun.","unit":"d"})"));
    EXPECT_THAT(text, testing::HasSubstr(R"("minItems":2,"maxItems":2)"));
    EXPECT_THAT(text, testing::HasSubstr(R"("parts":{"type":"array","items":{"$ref":"#/definitions/part"})"));
}

} // namespace
} // namespace headroom::document
