#include "support/latency_texts.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

namespace headroom {

using namespace headroom::serving;

namespace {

/// Digits, perhaps a point among them, perhaps an exponent.
rc::Gen<std::string> decimal() {
    return rc::gen::map(rc::gen::tuple(rc::gen::inRange<std::uint64_t>(0, 1'000'000'000'000'000'000U),
                                       rc::gen::inRange(0, 19), rc::gen::inRange(-12, 60)),
                        [](auto const& parts) {
                            auto const [digits, point, exponent] = parts;
                            std::string text = std::to_string(digits >> (digits % 60));
                            if (point < static_cast<int>(text.size())) {
                                text.insert(static_cast<std::size_t>(point), ".");
                            }
                            return exponent > 0 ? text : text + "e" + std::to_string(exponent);
                        });
}

/// The number with a digit on each side of its point, as JSON wants it.
std::string in_json(std::string number) {
    if (number.front() == '.') { number.insert(0, "0"); }
    auto const point = number.find('.');
    if (point == std::string::npos) { return number; }
    auto const next = point + 1;
    if (next == number.size() || number[next] == 'e') { number.insert(next, "0"); }
    return number;
}

// Expectation: numbers of any length are the doubles that the C library reads, alone in a line, within a table and in JSON.
RC_GTEST_PROP(LatencyTextProperty, NumbersAreThoseOfTheCLibrary, ()) {
    auto const numbers = *rc::gen::nonEmpty(rc::gen::container<std::vector<std::string>>(decimal()));
    LatencyHistogram expected;
    std::string lines, table = "endpoint,latency,status\n", json;
    for (std::string const& number : numbers) {
        expected.record(std::strtod(number.c_str(), nullptr));
        lines += number + "\n";
        table += "/path," + number + ",200\r\n";
        json += "{\"latency\": " + in_json(number) + "}\n";
    }
    for (std::string const& text : {lines, table, json}) {
        RC_ASSERT(test::read_latencies(text, {.unit = "s"}).digest.values() == expected);
    }
}

} // namespace
} // namespace headroom
