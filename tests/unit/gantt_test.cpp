#include "headroom/document/chart_frame.hpp"
#include "headroom/document/gantt_pieces.hpp"
#include "headroom/document/page_data.hpp"
#include "headroom/document/plot_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <sstream>

namespace headroom::document {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// GPipe of p stages and m micro-batches, a forward pass of 1 and a backward pass of 2: all forward, then all backward.
Gantt gpipe(int p, int m) {
    Gantt gantt;
    gantt.title = "Schedule";
    gantt.caption = "words";
    gantt.unit = "ms";
    gantt.idle = "bubble";
    gantt.label_name = "micro-batch";
    gantt.kinds = {{"forward", 'F'}, {"backward", 'B'}};
    gantt.end = 3.0 * (m + p - 1);
    for (int s = 0; s < p; ++s) {
        gantt.lanes.push_back("stage " + std::to_string(s));
        auto const lane = static_cast<std::size_t>(s);
        for (int i = 0; i < m; ++i) {
            double const forward = s + i, backward = m + p - 1 + 2.0 * (p - 1 - s + i);
            gantt.bars.push_back({lane, 0, forward, forward + 1.0, std::to_string(i)});
            gantt.bars.push_back({lane, 1, backward, backward + 2.0, std::to_string(i)});
        }
    }
    return gantt;
}

std::vector<std::string> lines_of(std::string const& text) {
    std::vector<std::string> lines;
    std::istringstream in{text};
    for (std::string line; std::getline(in, line);) { lines.push_back(line); }
    return lines;
}

std::string between_frames(std::string const& line) {
    auto const first = line.find('|');
    return line.substr(first + 1, line.rfind('|') - first - 1);
}

// The bubble of GPipe is (p - 1) (F + B) on every stage: 3 of 12 units for two stages and three micro-batches.
TEST(Gantt, TimesOfALaneAddUpToTheWhole) {
    Gantt const gantt = gpipe(2, 3);
    for (auto const& lane : lane_times(gantt)) { EXPECT_THAT(lane, ElementsAre(3.0, 6.0, 3.0)); }
    Table const table = numbers_of(gantt);
    ASSERT_EQ(table.rows.size(), 2U);
    EXPECT_THAT(table.rows[0], ElementsAre("stage 0", "3.000", "6.000", "3.000", "25.0"));
}

TEST(Gantt, BarsWithRoomCarryTheirMicroBatch) {
    auto const lines = lines_of(plot_text(gpipe(2, 2), {}));
    EXPECT_THAT(lines[0], testing::EndsWith("% bubble"));
    std::string const first = between_frames(lines[1]), second = between_frames(lines[2]);
    EXPECT_THAT(first, testing::StartsWith("F0"));
    EXPECT_LT(first.find("F1"), first.find("B0"));
    EXPECT_LT(first.find("B0"), first.find("B1"));
    EXPECT_THAT(first, testing::EndsWith("-")); // the first stage ends the step
    EXPECT_THAT(second, testing::StartsWith("."));
    EXPECT_THAT(second, testing::EndsWith("."));
    EXPECT_EQ(first.size(), second.size());
}

// Three units of 4 columns, four of 8: the shortest bar is a whole number of columns, so equal bars look equal.
TEST(Gantt, EqualBarsAreEquallyWide) {
    auto const lines = lines_of(plot_text(gpipe(3, 3), {}));
    EXPECT_THAT(between_frames(lines[1]), testing::StartsWith("F0--F1--F2--..."));
    EXPECT_THAT(between_frames(lines[1]), testing::EndsWith("...B0------B1------B2------"));
    EXPECT_EQ(between_frames(lines[1]).size(), 60U); // 15 units
}

// Each kind has its share of a row of letters: 16 x 1 and 16 x 2 of 69 units, and 21 idle.
TEST(Gantt, LettersAreInProportionToTimes) {
    for (std::string const& line : lines_of(plot_text(gpipe(8, 16), {}))) {
        if (line.find("stage") == std::string::npos) { continue; }
        std::string const row = between_frames(line);
        double const cell = 69.0 / static_cast<double>(row.size());
        EXPECT_NEAR(cell * static_cast<double>(std::ranges::count(row, 'F')), 16.0, 2 * cell) << row;
        EXPECT_NEAR(cell * static_cast<double>(std::ranges::count(row, 'B')), 32.0, 2 * cell) << row;
        EXPECT_NEAR(cell * static_cast<double>(std::ranges::count(row, '.')), 21.0, 2 * cell) << row;
        EXPECT_THAT(line, testing::EndsWith("30.4"));
    }
}

TEST(Gantt, EightyColumnsAndHonestAboutWhatIsLeftOut) {
    std::string const text = plot_text(gpipe(64, 512), {});
    auto const lines = lines_of(text);
    for (std::string const& line : lines) { EXPECT_LE(line.size(), 80U) << line; }
    EXPECT_EQ(std::ranges::count_if(lines, [](auto const& line) { return line.find("stage") != std::string::npos; }),
              24);
    EXPECT_THAT(text, HasSubstr("stage 0 |"));
    EXPECT_THAT(text, HasSubstr("stage 63 |"));
    EXPECT_THAT(text, HasSubstr("24 of 64 rows are drawn; a character is"));
}

TEST(Gantt, NoDrawingWithoutTime) {
    EXPECT_EQ(plot_text(Gantt{}, {}), "");
    Gantt gantt = gpipe(2, 2);
    gantt.end = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(plot_text(gantt, {}), "");
}

TEST(Gantt, NamesSteerNoTerminal) {
    Gantt gantt = gpipe(1, 1);
    gantt.lanes[0] = gantt.idle = gantt.kinds[0].name = gantt.bars[0].label = gantt.label_name = "\x1b[2J";
    EXPECT_THAT(plot_text(gantt, {}), Not(HasSubstr("\x1b")));
}

// ---- the page ------------------------------------------------------------------------------------------------------

TEST(GanttPage, EveryBarAndEveryGap) {
    GanttDrawing const drawing = drawing_of(gpipe(2, 3), 64, 1000);
    EXPECT_EQ(drawing.pieces.size(), 12U + 1 + 2); // the first stage waits once, the last before and after
    EXPECT_TRUE(drawing.notes.empty());
    EXPECT_EQ(std::ranges::count_if(drawing.pieces, [](GanttPiece const& piece) { return piece.kind == 2; }), 3);
}

// Thinned, the area of a colour is still the time that is spent on it.
TEST(GanttPage, AreasAreTimes) {
    Gantt const gantt = gpipe(8, 200);
    GanttDrawing const drawing = drawing_of(gantt, 64, 1500);
    ASSERT_LE(drawing.pieces.size(), 1500U);
    ASSERT_EQ(drawing.notes.size(), 1U);
    EXPECT_THAT(drawing.notes[0], HasSubstr("(3.20k)"));
    std::vector<double> areas(3, 0.0);
    for (GanttPiece const& piece : drawing.pieces) {
        ASSERT_LE(piece.high, 1.0);
        if (piece.lane == 3) { areas[piece.kind] += (piece.end - piece.begin) * (piece.high - piece.low); }
    }
    EXPECT_NEAR(areas[0], 200.0, 2.0);
    EXPECT_NEAR(areas[1], 400.0, 2.0);
    EXPECT_NEAR(areas[2], 21.0, 2.0);
}

TEST(GanttPage, LargeSchedulesStaySmall) {
    std::string const data = page_data({"title", {gpipe(64, 512)}, ""});
    EXPECT_LT(data.size(), 2'000'000U);
    EXPECT_THAT(data, HasSubstr("too many to be distinguished"));
    std::string const many = page_data({"title", {gpipe(1000, 2)}, ""});
    EXPECT_THAT(many, HasSubstr("64 of 1000 rows are drawn"));
    EXPECT_LT(many.size(), 2'000'000U);
}

TEST(GanttPage, FirstAndLastLaneAreDrawn) {
    EXPECT_THAT(drawn_lanes(1, 24), ElementsAre(0));
    EXPECT_THAT(drawn_lanes(9, 3), ElementsAre(0, 4, 8));
    EXPECT_EQ(drawn_lanes(1000, 24).back(), 999U);
}

} // namespace
} // namespace headroom::document
