#include "support/term_formula.hpp"

#include "headroom//error.hpp"
#include "headroom/quantity.hpp"
#include "headroom/term.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom {
namespace {

constexpr std::array dimensions{
    Dimension{.bytes = 1},
    Dimension{.flops = 1},
    Dimension{.seconds = 1},
    Dimension{.dollars = 1},
    Dimension{.joules = 1},
    Dimension{.bytes = 1, .seconds = -1},
    Dimension{.flops = 1, .seconds = -1},
    Dimension{.bytes = -1, .flops = 1},
    Dimension{.bytes = -1, .seconds = 1},
    Dimension{.seconds = -1, .dollars = 1},
    Dimension{.seconds = -1, .joules = 1},
    Dimension{.seconds = -1},
};

Dimension any_dimension() { return dimensions[*rc::gen::inRange<std::size_t>(0, dimensions.size())]; }

double spread(double low, double high) {
    double const share = *rc::gen::inRange(0, 1 << 20) / static_cast<double>(1 << 20);
    return low * std::pow(high / low, share);
}

double leading_number(std::string const& text) {
    double number = 0.0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

RC_GTEST_PROP(QuantityProperty, WhatIsWrittenReadsBack, ()) {
    Dimension const dimension = any_dimension();
    double const base = spread(1e-15, 1e25);
    int const digits = *rc::gen::inRange(1, 18);
    std::string const text = format_base(base, dimension, digits);
    RC_LOG() << text << '\n';
    double const error = std::abs(parse_base(text, dimension, "x") / base - 1.0);
    RC_ASSERT(error <= 0.5 * std::pow(10.0, 1 - digits) + 1e-14);
}

RC_GTEST_PROP(QuantityProperty, NumbersReadWell, ()) {
    // Expectation: between the smallest and the largest unit a number shows one to three digits before the point,
    // and no number is in scientific notation.
    std::array<Dimension, 3> const decimal{Dimension{.bytes = 1}, Dimension{.bytes = 1, .seconds = -1},
                                           Dimension{.flops = 1}};
    Dimension const dimension = decimal[*rc::gen::inRange<std::size_t>(0, decimal.size())];
    int const digits = *rc::gen::inRange(1, 7);
    std::string const text = format_base(spread(1.0, 9e20), dimension, digits);
    RC_LOG() << text << '\n';
    double const number = leading_number(text);
    RC_ASSERT(number >= 1.0);
    RC_ASSERT(number < 1000.0);
    RC_ASSERT(text.substr(0, text.find(' ')).find('e') == std::string::npos);
}

RC_GTEST_PROP(QuantityProperty, AnyTextIsReadOrRefused, ()) {
    std::string const text = *rc::gen::oneOf(
        rc::gen::arbitrary<std::string>(),
        rc::gen::container<std::string>(rc::gen::elementOf(std::string{"0123456789.eE+-/ $kMGTPBiFLOPsbhdWJ"})));
    try {
        double const base = parse_base(text, any_dimension(), "x");
        RC_ASSERT(std::isfinite(base));
        RC_ASSERT(base >= 0.0);
    } catch (InputError const& error) {
        RC_ASSERT(std::string_view{error.what()}.starts_with("x: "));
        RC_ASSERT(std::string_view{error.what()}.find('\n') == std::string_view::npos);
    }
}

RC_GTEST_PROP(QuantityProperty, AnotherDimensionIsNeverAccepted, ()) {
    Dimension const written = any_dimension();
    Dimension const expected = any_dimension();
    RC_PRE(!(written == expected));
    RC_ASSERT_THROWS_AS(parse_base(format_base(spread(1e-9, 1e18), written, 3), expected, "x"), InputError);
}

RC_GTEST_PROP(QuantityProperty, CountsReadBack, ()) {
    // Expectation: fifteen digits tell all counts below 10^15 apart, and a double keeps them.
    double const count = static_cast<double>(*rc::gen::inRange<std::int64_t>(1, 1'000'000'000'000'000));
    RC_ASSERT(parse_count(format_count(count, 15), "x") == count);
}

RC_GTEST_PROP(QuantityProperty, AlgebraKeepsItsLaws, ()) {
    Bytes const size{spread(1.0, 1e15)}, other{spread(1.0, 1e15)};
    BytesPerSecond const rate{spread(1.0, 1e13)};
    RC_ASSERT(size + other == other + size);
    RC_ASSERT(std::abs((size / rate * rate) / size - 1.0) < 1e-15);
    RC_ASSERT((size < other) == (size.base() < other.base()));
    RC_ASSERT(size.in(Bytes{1.0}) == size.base());
}

RC_GTEST_PROP(TermProperty, SumsAndProductsAreArithmetic, ()) {
    double const a = spread(1e-3, 1e3), b = spread(1e-3, 1e3), c = spread(1e-3, 1e3);
    std::vector<std::pair<std::string, double>> const inputs{{"a", a}, {"b", b}, {"c", c}};
    RC_ASSERT(test::evaluate("a + b * c", inputs) == a + b * c);
    RC_ASSERT(test::evaluate("(a + b) * c", inputs) == (a + b) * c);
    RC_ASSERT(test::evaluate("a - b - c", inputs) == a - b - c);
    RC_ASSERT(test::evaluate("a / b / c", inputs) == a / b / c);
    RC_ASSERT(test::evaluate("max(a, b, c)", inputs) == std::max({a, b, c}));
    RC_ASSERT(test::evaluate("a ^ -b", inputs) == std::pow(a, -b));
}

RC_GTEST_PROP(TermProperty, AnyFormulaIsEvaluatedOrRefused, ()) {
    std::string const formula =
        *rc::gen::container<std::string>(rc::gen::elementOf(std::string{"0123456789.+-*/^(), abminx"}));
    try {
        (void)test::evaluate(formula, {{"a", 1.0}, {"b", 2.0}});
    } catch (InputError const&) {}
}

} // namespace
} // namespace headroom
