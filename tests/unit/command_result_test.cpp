// Results that commands print: found in the last line that matches, a number above zero or a reason.

#include "support/processor_time.hpp"

#include "headroom/error.hpp"
#include "headroom/io/command_result.hpp"

#include <gtest/gtest.h>

#include <string>

namespace {

using headroom::io::ResultPattern;
using headroom::measure::CommandResult;
using headroom::measure::ResultUnit;

CommandResult read(std::string_view pattern, std::string_view output, ResultUnit unit = ResultUnit::seconds) {
    return ResultPattern{pattern, unit, "--result"}.read(output);
}

TEST(CommandResult, TheLastLineThatMatchesCounts) {
    EXPECT_DOUBLE_EQ(*read(R"(step = ([0-9.]+))", "step = 1.5\nstep = 2.5\ndone\n").value, 2.5);
    EXPECT_DOUBLE_EQ(*read(R"(([0-9.]+) s)", "10 s\r11 s\r12 s").value, 12.0) << "a progress bar";
}

TEST(CommandResult, OfSeveralMatchesInALineTheFirst) {
    EXPECT_DOUBLE_EQ(*read(R"(([0-9.]+))", "took 123.5 of 200\n").value, 123.5);
}

TEST(CommandResult, WithoutAGroupTheWholeMatchIsTheNumber) {
    EXPECT_DOUBLE_EQ(*read(R"([0-9.]+)", "123.5").value, 123.5);
}

TEST(CommandResult, UnitsScale) {
    EXPECT_DOUBLE_EQ(*read(R"(([0-9.]+))", "20", ResultUnit::milliseconds).value, 0.02);
    EXPECT_DOUBLE_EQ(*read(R"(([0-9.]+))", "20", ResultUnit::microseconds).value, 20e-6);
    EXPECT_DOUBLE_EQ(*read(R"(([0-9.]+))", "20", ResultUnit::nanoseconds).value, 20e-9);
    EXPECT_DOUBLE_EQ(*read(R"(([0-9.]+))", "20", ResultUnit::throughput).value, 20.0);
    EXPECT_DOUBLE_EQ(*read(R"(time: (.*))", "time: 180ms").value, 0.18) << "a unit of its own says more";
    EXPECT_DOUBLE_EQ(*read(R"(time: (.*))", "time: +1.8e-1 ").value, 0.18);
}

TEST(CommandResult, AUnitAfterTheNumberIsItsUnit) {
    EXPECT_DOUBLE_EQ(*read(R"(time: ([0-9.]+) ms)", "step time: 22 ms").value, 0.022);
    EXPECT_DOUBLE_EQ(*read(R"(time: ([0-9.]+))", "step time: 22ms, loss 3").value, 0.022)
        << "though the pattern leaves it out";
    EXPECT_DOUBLE_EQ(*read(R"(([0-9.]+))", "22 min (of 30)").value, 1320.0);
    EXPECT_DOUBLE_EQ(*read(R"(([0-9.]+))", "22 of 30 s").value, 22.0);
    EXPECT_DOUBLE_EQ(*read(R"(([0-9.]+))", "22 30 40").value, 22.0) << "numbers are no units";
    EXPECT_DOUBLE_EQ(*read(R"(([0-9.]+))", "22 s", ResultUnit::milliseconds).value, 0.022) << "what is stated counts";
    EXPECT_NE(read(R"(([0-9.]+))", "1200 tokens/s").problem.find("--result-unit throughput"), std::string::npos);
    EXPECT_DOUBLE_EQ(*read(R"(([0-9.]+))", "1200 tokens/s", ResultUnit::throughput).value, 1200.0);
}

TEST(CommandResult, WhatIsNoResultSaysWhy) {
    auto const problem = [](std::string_view text) { return read("x=(.*)", text).problem; };
    EXPECT_EQ(problem("y=1"), "the pattern matches no line of its output");
    EXPECT_EQ(problem(""), "the pattern matches no line of its output");
    for (char const* text : {"x=nan", "x=-1", "x=0", "x=inf", "x=1e999"}) {
        EXPECT_NE(problem(text).find("no number above zero"), std::string::npos) << text << ": " << problem(text);
    }
    for (char const* text : {"x=1e300", "x=1e-300", "x=1e19"}) {
        EXPECT_NE(problem(text).find("beyond any"), std::string::npos) << text << ": " << problem(text);
    }
    for (char const* text : {"x=", "x=1.2.3", "x=1,234", "x=abc", "x=0x10", "x=12 bananas"}) {
        EXPECT_NE(problem(text).find("is no number"), std::string::npos) << text << ": " << problem(text);
    }
    EXPECT_EQ(read("x(=([0-9]))?", "x").problem, "the group of the pattern took no part in its match");
}

TEST(CommandResult, AnyBytesMayStandAround) {
    EXPECT_DOUBLE_EQ(*read("t=([0-9]+)", std::string("\xff\xfe\0 t=7 \x80", 10)).value, 7.0);
    EXPECT_DOUBLE_EQ(*read("\xc2\xb5s: ([0-9]+)", "\xc2\xb5s: 7", ResultUnit::microseconds).value, 7e-6);
}

TEST(CommandResult, NoPatternTakesLongOnAnyOutput) {
    double const began = headroom::test::processor_seconds();
    std::string const hostile(1 << 20, 'a');
    EXPECT_FALSE(read("(a*)*b", hostile).value);
    EXPECT_FALSE(read("(a|aa)+$x", hostile).value);
    EXPECT_FALSE(read("((a?){30}){30}b", hostile).value);
    EXPECT_FALSE(read("b([0-9]+)", std::string(1 << 20, '\n')).value);
    EXPECT_LT(headroom::test::processor_seconds() - began, 60.0);
}

TEST(CommandResult, PatternsThatAreNoneAreRefused) {
    for (std::string const& pattern : {std::string{"(["}, std::string{}, std::string{"(?=x)"}, std::string{R"((a)\1)"},
                                       std::string{"((a{900}){900}){900}"}, std::string(5000, 'a')}) {
        try {
            ResultPattern const refused{pattern, ResultUnit::seconds, "--result"};
            FAIL() << pattern;
        } catch (headroom::InputError const& error) {
            EXPECT_EQ(error.fault(), headroom::Fault::usage);
            EXPECT_EQ(std::string{error.what()}.rfind("--result: ", 0), 0U) << error.what();
        }
    }
}

} // namespace
