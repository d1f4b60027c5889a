#include "headroom/error.hpp"

#include <gtest/gtest.h>

#include <string>

namespace headroom {
namespace {

TEST(ErrorLine, FollowsTheGrammar) {
    // Expectation: where: problem (why). hint - in this order, each mark only where its part is present.
    EXPECT_EQ(error_line({.where = "foo.toml:7",
                          .problem = "unknown unit 'GBs'",
                          .why = "needs bytes per second",
                          .hint = "did you mean 'GB/s'?"}),
              "foo.toml:7: unknown unit 'GBs' (needs bytes per second). did you mean 'GB/s'?");
    EXPECT_EQ(error_line({.problem = "nothing to do"}), "nothing to do");
    EXPECT_EQ(error_line({.where = "--tp", .problem = "too large", .hint = "use 8"}), "--tp: too large. use 8");
    EXPECT_EQ(error_line({.where = "--tp", .problem = "too large", .why = "8 heads"}), "--tp: too large (8 heads)");
}

TEST(ErrorLine, IsOneLineWithoutControls) {
    // Expectation: foreign text cannot break the line or reach the terminal as an escape sequence.
    EXPECT_EQ(error_line({.where = "a\nb", .problem = "bell \x07 and \x1b[31mred"}), "a b: bell ? and ?[31mred");
    EXPECT_EQ(error_line({.problem = "broken \xff byte and C1 \xc2\x9b"}), "broken ? byte and C1 ?");
}

TEST(InputErrorTest, CarriesItsKindAndItsLine) {
    InputError const error{Fault::unreadable, {.where = "a.csv:3", .problem = "broken"}};
    EXPECT_EQ(error.fault(), Fault::unreadable);
    EXPECT_STREQ(error.what(), "a.csv:3: broken");
    EXPECT_EQ(error.text().where, "a.csv:3");
}

TEST(Quoted, KeepsWholeCharactersAndCutsLongText) {
    EXPECT_EQ(headroom::quoted("450GB/s"), "'450GB/s'");
    EXPECT_EQ(headroom::quoted("5 \xC2\xB5s"), "'5 \xC2\xB5s'");
    // Expectation: 60 bytes are shown; the 61st, half of a two-byte letter, is not shown by halves.
    EXPECT_EQ(headroom::quoted("a\xE2\x80\xAE"
                               "b"),
              "'a?b'"); // text that would run backwards
    EXPECT_EQ(headroom::quoted("a\xE2\x81\xA6"
                               "b\xE2\x80\xA7"),
              "'a?b\xE2\x80\xA7'"); // the neighbours stay
    EXPECT_EQ(headroom::quoted(std::string(59, 'x') + "\xC2\xB5" + "y"), "'" + std::string(59, 'x') + "...'");
    EXPECT_EQ(headroom::quoted(std::string(60, 'x')), "'" + std::string(60, 'x') + "'");
    EXPECT_EQ(headroom::quoted(std::string(61, 'x')), "'" + std::string(60, 'x') + "...'");
}

TEST(Normalised, DropsCaseAndSeparators) {
    EXPECT_EQ(normalised("NVIDIA H100-SXM (80 GB)"), "nvidiah100sxm80gb");
    EXPECT_EQ(normalised("tpu_v5e"), normalised("TPU-v5e"));
    EXPECT_EQ(normalised("meta-llama/Llama-3.1-8B"), "metallamallama3.18b");
    // Expectation: the point of a decimal stays, so 1.3B is not taken for 13B.
    EXPECT_EQ(normalised("GPT.3 1.3B."), "gpt31.3b");
    EXPECT_NE(normalised("opt-1.3b"), normalised("opt-13b"));
}

TEST(Nearest, FindsTheNearMiss) {
    std::vector<std::string> const names{"llama-3-8b", "llama-3-70b", "gpt3-175b", "dgx-h100", "dgx-h200"};
    EXPECT_EQ(nearest("lama-3-70b", names), "llama-3-70b");  // one letter is missing
    EXPECT_EQ(nearest("LLaMA 3 70B", names), "llama-3-70b"); // only case and separators differ
    EXPECT_EQ(nearest("llama-3-07b", names), "llama-3-70b"); // swapped neighbours count as one edit
    std::vector<std::string> const sizes{"llama-2-7b-chat", "llama-2-7b", "llama-2-13b", "mixtral-8x7b", "gpt3-13b"};
    EXPECT_EQ(nearest("llama-13b-chat", sizes), "llama-2-13b"); // another size is another model
    EXPECT_EQ(nearest("Llama-2-13B-chat", sizes), "llama-2-13b");
    EXPECT_EQ(nearest("llama-7b-chat", sizes), "llama-2-7b-chat");
    EXPECT_EQ(nearest("mistral-13b", sizes), "") << "a size alone makes no name near";
    EXPECT_EQ(nearest("h100", names), "dgx-h100"); // a part of the name
    EXPECT_EQ(nearest("dgx-h10", names), "dgx-h100");
    EXPECT_EQ(nearest("resnet-50", names), ""); // nothing near
    EXPECT_EQ(nearest("", names), "");
    EXPECT_EQ(nearest(std::string(10000, 'x'), names), ""); // not compared at all
    EXPECT_EQ(nearest("x", {}), "");
}

} // namespace
} // namespace headroom
