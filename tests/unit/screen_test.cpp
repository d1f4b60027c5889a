#include "headroom/document/document.hpp"
#include "headroom/document/text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace headroom::document {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string screen(Document const& whole, ScreenSize size = {}) {
    return render_text(screen_of(whole, size), {.width = size.width});
}

std::size_t line_count(std::string const& text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

Table curve(std::size_t rows) {
    Table table{.title = "Curve", .columns = {{"workers"}, {"step s"}, {"lost"}}, .rows = {}};
    for (std::size_t i = 1; i <= rows; ++i) { table.rows.push_back({std::to_string(i), "1.5", "0"}); }
    return table;
}

Table names(std::size_t rows) {
    Table table{.title = "Names, longest first", .columns = {{"name", Align::left}, {"s"}}, .rows = {}};
    for (std::size_t i = 1; i <= rows; ++i) { table.rows.push_back({"kernel " + std::to_string(i), "2"}); }
    table.rows.push_back({"all", "9"});
    return table;
}

/// A result of everything, longer than a screen.
Document whole() {
    Document document{"Result", {}, "footer"};
    auto& blocks = document.blocks;
    blocks.emplace_back(Paragraph{"Eight are enough. More do not help.", "", true});
    blocks.emplace_back(curve(40));
    blocks.emplace_back(Paragraph{"caption of the table"});
    for (char const* label : {"one", "two", "three", "four"}) { blocks.emplace_back(Paragraph{"a note", label}); }
    blocks.emplace_back(names(9));
    blocks.emplace_back(Paragraph{"rates are dense; nothing else runs", "assumes"});
    return document;
}

TEST(Wrap, BreaksALongWordBehindAHyphen) {
    EXPECT_EQ(wrap("llama-3-70b-instruct", 12), (std::vector<std::string>{"llama-3-70b-", "instruct"}));
    EXPECT_EQ(wrap("abcdefghij", 4), (std::vector<std::string>{"abcd", "efgh", "ij"}));
    EXPECT_EQ(wrap("a-bcdefghi", 6), (std::vector<std::string>{"a-bcde", "fghi"}))
        << "a hyphen far from the end leaves an empty line";
}

TEST(Wrap, KeepsANumberWithItsUnit) {
    EXPECT_EQ(wrap("fits (12.2 GiB to", 12), (std::vector<std::string>{"fits", "(12.2 GiB to"}));
    EXPECT_EQ(wrap("of 24 GiB): 205", 8), (std::vector<std::string>{"of", "24 GiB):", "205"}));
    EXPECT_EQ(wrap("bf16 125 TFLOP/s", 12), (std::vector<std::string>{"bf16", "125 TFLOP/s"}));
}

TEST(Narrow, KeepsWordsWholeBeforeColumns) {
    Table table{.title = "",
                .columns = {wrapped("model"), wrapped("cluster"), "step s", spare("MFU %")},
                .rows = {{"llama-3-70b", "dgx-h100", "128", "46.4"}}};
    EXPECT_EQ(narrow(table, 34), 0U); // 11 + 8 + 6 + 5 and three gaps
    EXPECT_EQ(narrow(table, 32), 1U);
    EXPECT_EQ(table.columns.back().title, "step s");
    Document const document{"", {table}, ""};
    EXPECT_THAT(render_text(document, {.width = 27}), HasSubstr("llama-3-70b dgx-h100"));
}

TEST(ScreenOf, AShortResultIsWholeButForItsFooter) {
    Document document{"Result", {Paragraph{"Yes.", "", true}, curve(3), Paragraph{"a note", "why"}}, "footer"};
    std::string const text = screen(document);
    EXPECT_THAT(text, HasSubstr("lost"));
    EXPECT_THAT(text, HasSubstr("why: a note"));
    EXPECT_THAT(text, Not(HasSubstr("footer")));
    EXPECT_THAT(text, Not(HasSubstr("--full")));
}

TEST(ScreenOf, ALongResultKeepsAnswerTableNotesAndNamesTheRest) {
    std::string const text = screen(whole());
    EXPECT_LE(line_count(text), 25U);
    EXPECT_THAT(text, StartsWith("Eight are enough. More do not help.\n\nCurve\n"));
    EXPECT_THAT(text, HasSubstr("three: a note"));
    EXPECT_THAT(text, Not(HasSubstr("four: a note"))) << "three notes at most";
    EXPECT_THAT(text, Not(HasSubstr("caption")));
    EXPECT_THAT(text, HasSubstr("assumes: rates are dense"));
    EXPECT_THAT(text, HasSubstr("--full adds: 26 rows, Names, 1 note"));
}

TEST(ScreenOf, ASequenceKeepsItsEndsAndAListItsHeadAndSum) {
    std::string const text = screen(whole(), {.lines = 14});
    EXPECT_THAT(text, HasSubstr("\n      1     1.5\n"));
    EXPECT_THAT(text, HasSubstr("\n     40     1.5\n"));
    Document document{"Result", {Paragraph{"Yes.", "", true}, names(30)}, ""};
    std::string const list = screen(document, {.lines = 12});
    EXPECT_THAT(list, HasSubstr("kernel 1 "));
    EXPECT_THAT(list, HasSubstr("\nall "));
    EXPECT_THAT(list, Not(HasSubstr("kernel 30")));
}

TEST(ScreenOf, TheMarkedRowStays) {
    Document document = whole();
    std::get<Table>(document.blocks[1]).marked = 22;
    EXPECT_THAT(screen(document, {.lines = 14}), HasSubstr("*      23"));
}

TEST(ScreenOf, ZerosAreLeftOut) {
    EXPECT_THAT(screen(whole()), Not(HasSubstr("lost"))) << "a column of zeros";
    Document document = whole();
    Table table = names(40);
    table.rows[0][1] = "0";
    document.blocks[1] = table;
    EXPECT_THAT(screen(document), Not(HasSubstr("kernel 1 "))) << "a row of zeros";
}

TEST(ScreenOf, WarningsAreCountedWhateverTheRoom) {
    Document document = whole();
    document.blocks.emplace_back(as(Part::warning, Items{"Not used", {"12 left out: failed request", "cut short"}}));
    for (std::size_t const lines : {25U, 12U, 6U}) {
        std::string const text = screen(document, {.lines = lines});
        EXPECT_THAT(text, HasSubstr("warnings: 2, first: 12 left out: failed request (--full has all)")) << lines;
    }
    EXPECT_EQ(line_of(document), "Eight are enough. More do not help. (2 warnings: --full)");
}

TEST(ScreenOf, WhatWasAskedForReplacesTheFirstTable) {
    Document document = whole();
    document.blocks.emplace_back(as(Part::answer, names(3)));
    std::string const text = screen(document);
    EXPECT_THAT(text, Not(HasSubstr("workers")));
    EXPECT_THAT(text, HasSubstr("kernel 3"));
}

TEST(ScreenOf, ANarrowPageLosesSpareColumnsFirst) {
    Table table = curve(40);
    table.columns.push_back({"cost $"});
    table.columns[1] = spare("a very long title of a column");
    for (auto& row : table.rows) { row = {row[0], "1.5", "7", "12.50"}; }
    EXPECT_EQ(narrow(table, 40), 1U);
    EXPECT_EQ(table.columns.back().title, "cost $");
    EXPECT_EQ(table.rows.front(), (std::vector<std::string>{"1", "7", "12.50"}));
}

TEST(LineOf, KeepsWholeSentencesOf160Columns) {
    std::string const sentence(100, 'x');
    Document document{"Result", {Paragraph{sentence + ". " + "Y" + sentence + ".", "", true}}, ""};
    EXPECT_EQ(line_of(document), sentence + ".");
    EXPECT_EQ(line_of({"Title", {}, ""}), "Title");
}

} // namespace
} // namespace headroom::document
