#include "headroom/document/document.hpp"
#include "headroom/document/page_data.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace headroom::document {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char const* hostile = "</script><script>alert(1)</script><!-- & \u2028 \" '";

Document document_with(std::string const& name) {
    Chart const chart{.title = name,
                      .caption = name,
                      .x = {name},
                      .y = {name},
                      .series = {{.name = name,
                                  .x = {0.1, 2},
                                  .y = {1e-7, std::numeric_limits<double>::infinity()},
                                  .labels = {name, name}}},
                      .rules = {{true, 1.0, name}}};
    StackedBars const bars{.title = name,
                           .unit = name,
                           .parts = {name},
                           .labels = {name},
                           .values = {{1}},
                           .limit = 2.0,
                           .limit_name = name,
                           .caption = name};
    SpanTimeline const timeline{.title = name,
                                .caption = name,
                                .file = name,
                                .lanes = {{name, name}},
                                .kinds = {name},
                                .names = {name},
                                .spans = {{0, 0, 0, 5, 10}, {0, 0, 0, 20, 1}},
                                .path_name = name,
                                .path = {{0, 0, 0, 5, 10}},
                                .end = 21};
    HeatMap const heat{.title = name,
                       .caption = name,
                       .unit = name,
                       .row_name = name,
                       .column_name = name,
                       .rows = {name},
                       .columns = {name},
                       .values = {{1.0}},
                       .notes = {{name}}};
    return {name, {chart, bars, timeline, heat, Paragraph{.text = name, .linked = {{name, name}}}}, name};
}

TEST(PageData, NoNameEndsTheScript) {
    std::string const data = page_data(document_with(hostile));
    EXPECT_THAT(data, Not(HasSubstr("<")));
    EXPECT_THAT(data, Not(HasSubstr(">")));
    EXPECT_THAT(data, Not(HasSubstr("&")));
    EXPECT_THAT(data, HasSubstr(R"(\u003c/script\u003e\u003cscript\u003ealert(1))"));
    EXPECT_THAT(data, HasSubstr(R"(\u0026 )"));
    EXPECT_THAT(data, HasSubstr(R"(\" ')"));
}

// 2 of 1 to 5 is a quarter of the way. A cell without a value has no colour.
TEST(PageData, AHeatMapHasItsCellsAndTheirPlaces) {
    HeatMap const map{.title = "MFU",
                      .caption = "",
                      .unit = "%",
                      .row_name = "model",
                      .column_name = "workers",
                      .rows = {"a"},
                      .columns = {"8", "16", "32", "64"},
                      .values = {{1.0, 2.0, 5.0, std::nullopt}},
                      .notes = {{"tp1", "tp2", "tp4", ""}}};
    std::string const data = page_data({"", {map}, ""});
    EXPECT_THAT(data, HasSubstr(R"("kind": "heat")"));
    for (char const* text : {"1.00", "2.00", "5.00", "-", "tp1", "tp2", "tp4"}) {
        EXPECT_THAT(data, HasSubstr("\"" + std::string{text} + "\""));
    }
    EXPECT_THAT(data, HasSubstr("[0, 0.25, 1, 0]"));
    EXPECT_THAT(render_html({"", {map}, ""}, {}), HasSubstr("rgb(212,236,249)\">2.00<br><small>tp2</small>"));
    EXPECT_THAT(render_html({"", {map}, ""}, {}), Not(HasSubstr("left out"))); // it needs no script
}

// A number that JSON lacks is null, and its point is not among those to be drawn.
TEST(PageData, NumbersInFullAndOnlyNumbers) {
    std::string const data = page_data(document_with("plain"));
    EXPECT_THAT(data, HasSubstr("1e-07, null"));
    EXPECT_THAT(data, HasSubstr("0.1, 2"));
    EXPECT_THAT(data, HasSubstr("\"points\": [0]"));
    EXPECT_THAT(data, Not(HasSubstr("inf")));
    EXPECT_THAT(data, Not(HasSubstr("nan")));
}

// Begin less the end before, duration, name, kind of each interval.
TEST(PageData, IntervalsOfATimelineAreFourNumbersEach) {
    std::string const data = page_data(document_with("plain"));
    EXPECT_THAT(data, HasSubstr(R"("spans": "5 10 0 0 5 1 0 0")"));
    EXPECT_THAT(data, HasSubstr(R"("path": "5 10 0 0")"));
}

TEST(Page, SentencesLinkToBlocksThatAreThere) {
    Document document{"title", {}, ""};
    document.blocks.emplace_back(
        Paragraph{.text = "One. Two.", .linked = {{"One.", "Who arrives last"}, {"Two.", "Absent"}}});
    document.blocks.emplace_back(Items{"Who arrives last", {"a"}});
    std::string const page = render_html(document, {});
    EXPECT_THAT(page, HasSubstr("href=\"#who-arrives-last\">One.</a> Two.</p>"));
    EXPECT_THAT(page, HasSubstr("<span id=\"who-arrives-last\"></span>"));
    EXPECT_THAT(page, Not(HasSubstr("absent")));
}

TEST(Page, NamesAreTextEverywhere) {
    std::string const page = render_html(document_with(hostile), {"library();", "sha256-abc"});
    EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
    EXPECT_THAT(page, Not(HasSubstr("<!--")));
    EXPECT_THAT(page, HasSubstr("<script>library();</script>"));
    EXPECT_THAT(page, HasSubstr("default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-abc'"));
}

TEST(Page, WithoutTheLibraryTheTablesAreOpenAndItIsSaid) {
    std::string const page = render_html(document_with("plain"), {});
    EXPECT_THAT(page, HasSubstr("built without the chart library"));
    EXPECT_THAT(page, HasSubstr("<details open>"));
    EXPECT_THAT(page, Not(HasSubstr("<script")));
    EXPECT_THAT(page, Not(HasSubstr("script-src")));
}

TEST(Page, OptionsKeepTheirHyphensAndNumbersTheirUnits) {
    std::string const page =
        render_html({"title", {Paragraph{"send copies (--hedge), or --service-samples <b>; 5 % -- no more"}}, ""}, {});
    EXPECT_THAT(page, HasSubstr("(<span class=\"option\">--hedge</span>), or "
                                "<span class=\"option\">--service-samples</span> &lt;b&gt;; 5&nbsp;% -- no more"));
}

TEST(Page, LongTablesHaveAWindowOfTheirOwn) {
    Table table{"rows", {{"what", Align::left}, {"n"}}, {}};
    table.rows.assign(60, {"a,b", "1,000"});
    EXPECT_THAT(render_html({"title", {table}, ""}, {}), Not(HasSubstr("class=\"scroll tall\"")));
    table.rows.push_back({"a,b", "1,000"});
    std::string const page = render_html({"title", {table}, ""}, {});
    EXPECT_THAT(page, HasSubstr("class=\"scroll tall\""));
    EXPECT_THAT(page, HasSubstr("a,<wbr>b"));
    EXPECT_THAT(page, HasSubstr(">1,000<"));
}

TEST(Page, AHeatMapColoursFromTheLeastToTheLargestWithoutAScript) {
    HeatMap const map{.title = "Rate",
                      .caption = hostile,
                      .unit = "tokens/s",
                      .row_name = "tp",
                      .column_name = "pp",
                      .rows = {"1", "<b>"},
                      .columns = {"1", "2"},
                      .values = {{10.0, 20.0}, {std::nullopt, 30.0}}};
    std::string const page = render_html({"", {map}, ""}, {});
    EXPECT_THAT(page, HasSubstr("background:rgb(255,255,255)\">10.0</td>"));
    EXPECT_THAT(page, HasSubstr("background:rgb(86,180,233)\">30.0</td>")); // #56b4e9
    EXPECT_THAT(page, HasSubstr(">-</td>"));
    EXPECT_THAT(page, Not(HasSubstr("<script>")));
    EXPECT_THAT(page, Not(HasSubstr("<b>"))) << "a name is text";
    EXPECT_THAT(render_text({"", {map}, ""}, {}), HasSubstr("10.0  20.0"));
}

TEST(Page, WithoutFiguresThereIsNoScript) {
    std::string const page = render_html({"title", {Paragraph{"words"}}, ""}, {"library();", "sha256-abc"});
    EXPECT_THAT(page, Not(HasSubstr("<script")));
    EXPECT_THAT(page, Not(HasSubstr("chart library")));
}

} // namespace
} // namespace headroom::document
