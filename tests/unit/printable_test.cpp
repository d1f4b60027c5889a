#include "headroom/text.hpp"

#include <gtest/gtest.h>

namespace headroom::text {
namespace {

TEST(PrintableTest, LeavesTextOfAllLanguagesAlone) {
    for (std::string_view const text : {"abc", "größe 10 µs", "速度", "\U0001F600", "\u0410\u2192\uFFFD"}) {
        EXPECT_EQ(printable(text), text);
    }
}

TEST(PrintableTest, ReplacesWhatSteersATerminal) {
    EXPECT_EQ(printable("a\x1b[31mb"), "a?[31mb");
    EXPECT_EQ(printable("a\x7f\x01z"), "a??z");
    EXPECT_EQ(printable("a\u009b31m"), "a?31m");
    EXPECT_EQ(printable("a\u0085b\u00a0c"), "a?b\u00a0c"); // a no-break space is text
    for (std::string_view const turn :
         {"\u061c", "\u200e", "\u200f", "\u2028", "\u2029", "\u202a", "\u202e", "\u2066", "\u2069"}) {
        EXPECT_EQ(printable(turn), "?");
        EXPECT_TRUE(first_character(turn).steers);
    }
    EXPECT_EQ(printable("\u2027\u202f\u2065x"), "\u2027\u202f\u2065x");
}

TEST(PrintableTest, MakesOneLineOfMany) {
    EXPECT_EQ(printable("a\nb\tc\r\nd"), "a b c  d");
    EXPECT_EQ(printable_lines("a\nb\x1b\n\nc\n"), "a\nb?\n\nc\n");
    EXPECT_EQ(printable_lines(""), "");
}

TEST(PrintableTest, ReplacesBytesThatAreNoCharacters) {
    EXPECT_EQ(printable("\x80\xC0\xAF z\xE2\x82"), "??? z??");
    EXPECT_EQ(printable("\xED\xA0\x80"), "???");      // half of a surrogate pair
    EXPECT_EQ(printable("\xF4\x90\x80\x80"), "????"); // beyond the last code point
    EXPECT_EQ(printable("\xE0\x80\x80\xC1\x81"), "?????");
}

TEST(PrintableTest, CutsAtWholeCharacters) {
    EXPECT_EQ(printable("abcdef", 4), "abcd...");
    EXPECT_EQ(printable("abc\u00e9", 4), "abc...");
    EXPECT_EQ(printable("abcd", 4), "abcd");
}

} // namespace
} // namespace headroom::text
