#include "support/term_formula.hpp"

#include "headroom//error.hpp"
#include "headroom/term.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace headroom {
namespace {

std::string refusal(std::string_view formula, std::vector<std::pair<std::string, double>> const& inputs = {}) {
    try {
        (void)test::evaluate(formula, inputs);
    } catch (InputError const& error) {
        EXPECT_EQ(error.fault(), Fault::usage);
        return error.what();
    }
    return {};
}

TEST(Evaluate, FollowsTheUsualPrecedence) {
    EXPECT_EQ(test::evaluate("1 + 2 * 3", {}), 7.0);
    EXPECT_EQ(test::evaluate("(1 + 2) * 3", {}), 9.0);
    EXPECT_EQ(test::evaluate("10 - 4 - 3", {}), 3.0); // to the left
    EXPECT_EQ(test::evaluate("24 / 4 / 2", {}), 3.0);
    EXPECT_EQ(test::evaluate("2 ^ 3 ^ 2", {}), 512.0); // to the right
    EXPECT_EQ(test::evaluate("-2 ^ 2", {}), -4.0);     // the sign comes last
    EXPECT_EQ(test::evaluate("2 ^ -1", {}), 0.5);
    EXPECT_EQ(test::evaluate("2 * -3", {}), -6.0);
    EXPECT_EQ(test::evaluate("--2", {}), 2.0);
    EXPECT_EQ(test::evaluate(" 1.5e3 + .5 ", {}), 1500.5);
}

TEST(Evaluate, KnowsItsFunctions) {
    EXPECT_EQ(test::evaluate("min(3, 1, 2)", {}), 1.0);
    EXPECT_EQ(test::evaluate("max(3, 1, 2)", {}), 3.0);
    EXPECT_EQ(test::evaluate("max(4)", {}), 4.0);
    EXPECT_EQ(test::evaluate("ceil(1.2) + floor(1.8)", {}), 3.0);
    EXPECT_EQ(test::evaluate("log2(8) + sqrt(9)", {}), 6.0);
}

TEST(Evaluate, LooksNamesUp) {
    // Expectation: 2(p-1)/p n/B of 140 GB on 8 ranks at 450 GB/s is 0.5444 s.
    EXPECT_NEAR(
        test::evaluate("2 * (p - 1) / p * n / link.bandwidth", {{"p", 8.0}, {"n", 140e9}, {"link.bandwidth", 450e9}}),
        0.544444, 1e-6);
    EXPECT_EQ(test::evaluate("min_latency + t2", {{"min_latency", 1.0}, {"t2", 2.0}}), 3.0); // not the function min
    EXPECT_EQ(test::evaluate("max", {{"max", 5.0}}), 5.0); // a function's name without parentheses is a name
}

TEST(Evaluate, DividesAsArithmeticDoes) {
    EXPECT_TRUE(std::isinf(test::evaluate("1 / 0", {})));
    EXPECT_TRUE(std::isnan(test::evaluate("0 / 0", {})));
}

TEST(Evaluate, SaysWhereAFormulaBreaks) {
    EXPECT_EQ(refusal("1 + "), "formula '1 + ': the formula ends too early (at character 5)");
    EXPECT_EQ(refusal("(1 + 2"), "formula '(1 + 2': a closing ')' is missing (at character 7)");
    EXPECT_EQ(refusal("1 2"), "formula '1 2': unexpected '2' (at character 3)");
    EXPECT_EQ(refusal("1 + )"), "formula '1 + )': unexpected ')' (at character 5)");
    EXPECT_EQ(refusal("layer * 2", {{"layers", 3.0}}),
              "formula 'layer * 2': unknown name 'layer' (at character 1). did you mean 'layers'?");
    EXPECT_EQ(refusal("exp(1)"), "formula 'exp(1)': unknown function 'exp' (at character 1). there are min, max, ceil, "
                                 "floor, log2, sqrt and picoseconds");
    EXPECT_FALSE(refusal("").empty());
    EXPECT_FALSE(refusal("ceil(1, 2)").empty());
    EXPECT_FALSE(refusal("min()").empty());
    EXPECT_FALSE(refusal("1e999").empty());
    EXPECT_FALSE(refusal(".").empty());
}

TEST(Evaluate, RefusesDeepNestingInsteadOfOverflowingTheStack) {
    EXPECT_NE(refusal(std::string(100000, '(')).find("nested too deeply"), std::string::npos);
    EXPECT_NE(refusal(std::string(100000, '-') + "1").find("nested too deeply"), std::string::npos);
    std::string powers = "2";
    for (int i = 0; i < 100000; ++i) { powers += "^1"; }
    EXPECT_NE(refusal(powers).find("nested too deeply"), std::string::npos);
    EXPECT_EQ(test::evaluate(std::string(90, '(') + "1" + std::string(90, ')'), {}), 1.0);
}

TEST(Term, RoundsToTheClockOfAStep) {
    // 1.6 ps are two ticks of a picosecond
    EXPECT_DOUBLE_EQ(test::evaluate("picoseconds(a)", {{"a", 1.6e-12}}), 2e-12);
    EXPECT_DOUBLE_EQ(test::evaluate("picoseconds(a)", {{"a", 0.25}}), 0.25);
}

TEST(Term, OpensWhatItDependsOn) {
    TermBook book;
    book.add(TermKind::catalog, "rate", "B/s", "accelerator", 4.0);
    book.add(TermKind::option, "bytes", "B", "--bytes", 8.0);
    book.formula("seconds", "s", "bytes / rate", 2.0);
    book.formula("step", "s", "2 * seconds + seconds", 6.0);
    auto const names = [&](int depth) {
        std::string all;
        for (Term const& term : opened(book.terms(), {"step"}, depth)) { all += term.name + " "; }
        return all;
    };
    EXPECT_EQ(names(0), "step ");
    EXPECT_EQ(names(1), "step seconds ");
    EXPECT_EQ(names(to_the_facts), "step seconds bytes rate ");
    EXPECT_TRUE(opened(book.terms(), {"no such term"}, to_the_facts).empty());
}

} // namespace
} // namespace headroom
