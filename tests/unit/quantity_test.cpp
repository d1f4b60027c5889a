#include "headroom/error.hpp"
#include "headroom/quantity.hpp"
#include "headroom/serving/request_rate.hpp"
#include "headroom/share.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <type_traits>

namespace headroom {

using namespace headroom::serving;

namespace {

using namespace units;

/// The error line of a refused text; empty when it was accepted.
template <class Q> std::string refusal(std::string_view text, std::string_view where) {
    try {
        (void)parse<Q>(text, where);
    } catch (InputError const& error) {
        EXPECT_EQ(error.fault(), Fault::usage);
        return error.what();
    }
    return {};
}

std::string count_refusal(std::string_view text) {
    try {
        (void)parse_count(text, "--tokens");
    } catch (InputError const& error) { return error.what(); }
    return {};
}

// ---- the type -----------------------------------------------------------------------------------------------------

TEST(QuantityType, KnowsItsDimension) {
    static_assert(std::is_same_v<decltype(GB / s), BytesPerSecond>);
    static_assert(std::is_same_v<decltype(GB / (GB / s)), Seconds>);
    static_assert(std::is_same_v<decltype(TFLOP / s * s), Flops>);
    static_assert(std::is_same_v<decltype(GB / GB), double>);
    static_assert(std::is_same_v<decltype(s * (1.0 / 2.0)), Seconds>);
    // The ridge point of an A100: 312 TFLOP/s over 2 TB/s is 156 operations a byte.
    static_assert(312.0 * TFLOP / s / (2000.0 * GB / s) == FlopsPerByte{156.0});
    static_assert(!std::is_convertible_v<double, Bytes>);
    static_assert(!std::is_aggregate_v<Bytes>);
}

TEST(QuantityType, SaysHowManyUnitsItIs) {
    EXPECT_DOUBLE_EQ((1.5 * hour).in(minute), 90.0);
    EXPECT_DOUBLE_EQ((80.0 * GiB).in(GB), 85.89934592); // decimal and binary prefixes differ
    EXPECT_DOUBLE_EQ((400.0 * Gbit / s).in(GB / s), 50.0);
}

// ---- reading ------------------------------------------------------------------------------------------------------

TEST(Parse, BytesInBothPrefixesAndBits) {
    EXPECT_EQ(parse<Bytes>("450GB", "x").base(), 450e9);
    EXPECT_EQ(parse<Bytes>("80 GiB", "x").base(), 80.0 * 1073741824.0);
    EXPECT_EQ(parse<Bytes>("1kB", "x"), parse<Bytes>("1KB", "x"));
    EXPECT_EQ(parse<Bytes>("1KiB", "x").base(), 1024.0);
    EXPECT_EQ(parse<Bytes>("2PiB", "x").base(), 2.0 * 1125899906842624.0);
    EXPECT_EQ(parse<Bytes>("16 bit", "x").base(), 2.0);
    EXPECT_EQ(parse<Bytes>("1Tbit", "x").base(), 125e9);
    EXPECT_EQ(parse<Bytes>("0 B", "x").base(), 0.0);
    EXPECT_EQ(parse<Bytes>("1EB", "x").base(), 1e18); // an exabyte, not 1e<nothing>
    EXPECT_EQ(parse<Bytes>("1e3 B", "x").base(), 1e3);
    EXPECT_NE(parse<Bytes>("80GB", "x"), parse<Bytes>("80GiB", "x"));
}

TEST(Parse, RatesOfBytes) {
    EXPECT_EQ(parse<BytesPerSecond>("450GB/s", "x").base(), 450e9);
    EXPECT_EQ(parse<BytesPerSecond>("450 GB/sec", "x").base(), 450e9);
    EXPECT_EQ(parse<BytesPerSecond>("450 GB / s", "x").base(), 450e9);
    EXPECT_EQ(parse<BytesPerSecond>("400Gbit/s", "x").base(), 50e9);
    EXPECT_EQ(parse<BytesPerSecond>("400Gbps", "x").base(), 50e9);
    EXPECT_EQ(parse<BytesPerSecond>("3.35 TB/s", "x").base(), 3.35e12);
}

TEST(Parse, WorkAndRatesOfWork) {
    EXPECT_EQ(parse<Flops>("16 GFLOP", "x").base(), 16e9);
    EXPECT_EQ(parse<FlopsPerSecond>("312TFLOP/s", "x").base(), 312e12);
    EXPECT_EQ(parse<FlopsPerSecond>("1.5 EFLOP/s", "x").base(), 1.5e18);
    EXPECT_EQ(parse<FlopsPerByte>("156 FLOP/B", "x").base(), 156.0);
}

TEST(Parse, TimesAreTheNearestDouble) {
    // Expectation: 5us is the double nearest to 5e-6; 5 times a rounded 1e-6 is its neighbour.
    EXPECT_EQ(parse<Seconds>("5us", "x").base(), 5e-6);
    EXPECT_EQ(parse<Seconds>("180ms", "x").base(), 0.18);
    EXPECT_EQ(parse<Seconds>("5\xC2\xB5s", "x").base(), 5e-6); // micro sign
    EXPECT_EQ(parse<Seconds>("5\xCE\xBCs", "x").base(), 5e-6); // Greek mu
    EXPECT_EQ(parse<Seconds>("250ns", "x").base(), 250e-9);
    EXPECT_EQ(parse<Seconds>("5usec", "x").base(), 5e-6);
    EXPECT_EQ(parse<Seconds>("30d", "x").base(), 30 * 86400.0);
    EXPECT_EQ(parse<Seconds>("2 weeks", "x").base(), 14 * 86400.0);
    EXPECT_EQ(parse<Seconds>("1.5h", "x").base(), 5400.0);
    EXPECT_EQ(parse<Seconds>("90 min", "x").base(), 5400.0);
}

TEST(Parse, Money) {
    EXPECT_EQ(parse<Dollars>("5000$", "x").base(), 5000.0);
    EXPECT_EQ(parse<Dollars>("$2M", "x").base(), 2e6);
    EXPECT_EQ(parse<Dollars>("1.5k$", "x").base(), 1500.0);
    EXPECT_EQ(parse<DollarsPerSecond>("2.95 $/h", "x").base(), 2.95 / 3600.0);
    EXPECT_EQ(parse<DollarsPerSecond>("$2.95/h", "x").base(), 2.95 / 3600.0);
    EXPECT_EQ(parse<DollarsPerSecond>("$ 2.95 / hour", "x").base(), 2.95 / 3600.0);
    EXPECT_EQ(parse<DollarsPerSecond>("3 $/s", "x").base(), 3.0);
}

TEST(Parse, PowerAndEnergy) {
    EXPECT_EQ(parse<Watts>("700W", "x").base(), 700.0);
    EXPECT_EQ(parse<Watts>("10.2 kW", "x").base(), 10200.0);
    EXPECT_EQ(parse<Joules>("1kWh", "x").base(), 3.6e6);
    EXPECT_EQ(parse<Joules>("5 kJ", "x").base(), 5e3);
}

TEST(Parse, RatesOfRequests) {
    EXPECT_EQ(parse<PerSecond>("500/s", "x").base(), 500.0);
    EXPECT_EQ(parse<PerSecond>("500 / s", "x").base(), 500.0);
    EXPECT_EQ(parse<PerSecond>("1/s", "x").base(), 1.0);
    EXPECT_EQ(parse<PerSecond>("30k/min", "x").base(), 500.0);
    EXPECT_EQ(parse<PerSecond>("1.8M/h", "x").base(), 500.0);
    EXPECT_EQ(parse<PerSecond>("0.2/ms", "x").base(), 200.0);
    EXPECT_EQ(parse<PerSecond>("500 requests/s", "x").base(), 500.0);
    EXPECT_EQ(parse<PerSecond>("500 rps", "x").base(), 500.0);
    EXPECT_EQ(refusal<PerSecond>("500", "--arrivals"),
              "--arrivals: '500' has no unit (needs a number per second). for example '500/s'");
    EXPECT_EQ(refusal<PerSecond>("5ms", "--arrivals"),
              "--arrivals: needs a number per second, not seconds (got '5ms'). for example '500/s'");
    EXPECT_EQ(refusal<PerSecond>("5k", "--arrivals"),
              "--arrivals: unknown unit 'k' (needs a number per second). for example '500/s'");
    EXPECT_EQ(refusal<PerSecond>("5k/B", "--arrivals"),
              "--arrivals: unknown unit 'k/B' (needs a number per second). for example '500/s'");
    EXPECT_EQ(refusal<PerSecond>("1e308k/s", "--arrivals"),
              "--arrivals: '1e308k/s' is not a finite number (it is too large for a double)");
    EXPECT_EQ(refusal<Seconds>("5/s", "--link"),
              "--link: needs seconds, not a number per second (got '5/s'). for example '180ms'");
}

TEST(Parse, NamesTheDimensionThatWasGiven) {
    EXPECT_EQ(refusal<Seconds>("450GB/s", "--link: 'latency'"),
              "--link: 'latency' needs seconds, not bytes per second (got '450GB/s'). for example '5us'");
    EXPECT_EQ(refusal<FlopsPerSecond>("312TFLOP", "a.toml:4"),
              "a.toml:4: needs FLOP per second, not FLOP (got '312TFLOP'). did you mean '312TFLOP/s'?");
    EXPECT_EQ(refusal<DollarsPerSecond>("$2.95", "--price"),
              "--price: needs dollars per hour, not dollars (got '$2.95'). did you mean '$2.95/h'?");
    EXPECT_EQ(refusal<Bytes>("5m", "--size"), "--size: unknown unit 'm' (needs bytes). for example '1GB'");
}

TEST(Parse, AsksForAMissingUnit) {
    EXPECT_EQ(refusal<BytesPerSecond>("450", "--link: 'bandwidth'"),
              "--link: '450' has no unit ('bandwidth' needs bytes per second). for example '450GB/s'");
    EXPECT_EQ(refusal<Seconds>("30", "--deadline"), "--deadline: '30' has no unit (needs seconds). for example '30d'");
    EXPECT_EQ(refusal<Seconds>("30", "--mtbf"), "--mtbf: '30' has no unit (needs seconds). for example '50700h'");
    EXPECT_EQ(refusal<Seconds>("30", "--latency"), "--latency: '30' has no unit (needs seconds). for example '5us'");
    EXPECT_EQ(refusal<Seconds>("30", "--a-time"), "--a-time: '30' has no unit (needs seconds). for example '180ms'");
    EXPECT_EQ(refusal<Bytes>("2", "--gradient-bytes"),
              "--gradient-bytes: '2' has no unit (needs bytes). for example '2B'");
    EXPECT_EQ(refusal<DollarsPerSecond>("3", "--price"),
              "--price: '3' has no unit (needs dollars per hour). for example '2.95$/h'");
}

TEST(Parse, OffersTheUnitThatWasMeant) {
    auto const hint = [](std::string const& line) {
        std::size_t const end = line.find("). ");
        return end == std::string::npos ? "no hint in: " + line : line.substr(end + 3);
    };
    EXPECT_EQ(refusal<BytesPerSecond>("2GBs", "a.toml:7: 'memory.bandwidth'"),
              "a.toml:7: unknown unit 'GBs' ('memory.bandwidth' needs bytes per second). did you mean 'GB/s'?");
    EXPECT_EQ(hint(refusal<BytesPerSecond>("450GBps", "x")), "did you mean 'GB/s'?");
    EXPECT_EQ(hint(refusal<FlopsPerSecond>("312TFLOPS", "x")), "did you mean 'TFLOP/s'?");
    EXPECT_EQ(hint(refusal<FlopsPerSecond>("312TFLOPs", "x")), "did you mean 'TFLOP/s'?");
    EXPECT_EQ(hint(refusal<FlopsPerSecond>("312tflop/s", "x")), "did you mean 'TFLOP/s'?");
    EXPECT_EQ(hint(refusal<Bytes>("80gib", "x")), "did you mean 'GiB'?");
    EXPECT_EQ(hint(refusal<Seconds>("5Min", "x")), "did you mean 'min'?");
    // Expectation: a small b may be a bit or a slip for a byte; both are named, neither is guessed.
    EXPECT_EQ(hint(refusal<Bytes>("80Gb", "x")), "write 'Gbit' for bits or 'GB' for bytes");
    EXPECT_EQ(hint(refusal<BytesPerSecond>("400gb/s", "x")), "write 'Gbit/s' for bits or 'GB/s' for bytes");
    EXPECT_EQ(hint(refusal<BytesPerSecond>("400 furlongs", "x")), "for example '450GB/s'");
}

TEST(Parse, RefusesWhatIsNoUsableNumber) {
    EXPECT_EQ(refusal<Seconds>("", "x"), "x: '' is not a number with a unit (needs seconds). for example '180ms'");
    EXPECT_EQ(refusal<Seconds>("soon", "x"),
              "x: 'soon' is not a number with a unit (needs seconds). for example '180ms'");
    EXPECT_EQ(refusal<Seconds>("-5us", "x"), "x: '-5us' is negative (only zero and above make sense here)");
    EXPECT_EQ(refusal<Seconds>("inf s", "x"),
              "x: 'inf s' is not a finite number (it is too large, too small or no number)");
    EXPECT_EQ(refusal<Seconds>("nan s", "x"),
              "x: 'nan s' is not a finite number (it is too large, too small or no number)");
    EXPECT_EQ(refusal<Seconds>("1e999s", "x"),
              "x: '1e999s' is not a finite number (it is too large, too small or no number)");
    EXPECT_EQ(refusal<Bytes>("1e308 TB", "x"), "x: '1e308 TB' is not a finite number (it is too large for a double)");
    EXPECT_FALSE(refusal<Seconds>("5 us us", "x").empty());
    EXPECT_FALSE(refusal<BytesPerSecond>("5 GB/s/s", "x").empty());
    EXPECT_FALSE(refusal<Seconds>("1,5 s", "x").empty()); // no decimal comma
    EXPECT_FALSE(refusal<Seconds>("0x10 s", "x").empty());
}

// ---- writing ------------------------------------------------------------------------------------------------------

TEST(Format, PicksThePrefixThatReadsBest) {
    EXPECT_EQ(format(450.0 * GB / s), "450 GB/s");
    EXPECT_EQ(format(1.2345 * ms), "1.23 ms");
    EXPECT_EQ(format(312.0 * TFLOP / s), "312 TFLOP/s");
    EXPECT_EQ(format(1.5 * minute), "1.5 min");
    EXPECT_EQ(format(36.0 * hour), "1.5 d");
    EXPECT_EQ(format(2.95 / 3600.0 * (dollar / s)), "2.95 $/h");
    EXPECT_EQ(format(1.25e6 * dollar), "1.25 M$");
    EXPECT_EQ(format(700.0 * watt), "700 W");
    EXPECT_EQ(format(FlopsPerByte{156.0}), "156 FLOP/B");
    EXPECT_EQ(format(1.0 * s / (450.0 * GB)), "2.22 s/TB");
    EXPECT_EQ(format(Joules{3.6e6}), "1 kWh");
    EXPECT_EQ(format(PerSecond{12000.0}), "12 k/s");
    EXPECT_EQ(format(PerSecond{0.25}), "0.25 /s");
}

TEST(Format, KeepsTheDigitsAskedFor) {
    EXPECT_EQ(format(1.23456789 * ms, 5), "1.2346 ms");
    EXPECT_EQ(format(123.456 * ms, 2), "120 ms");
    EXPECT_EQ(format(123.456 * ms, 6), "123.456 ms");
    EXPECT_EQ(format(1.0 * s, 6), "1 s"); // no trailing zeros
}

TEST(Format, RoundsAcrossAPrefix) {
    // Expectation: 999.96 GB is 1000 GB to three digits, and that reads 1 TB.
    EXPECT_EQ(format(999.96 * GB), "1 TB");
    EXPECT_EQ(format(999.4 * GB), "999 GB");
    EXPECT_EQ(format(59.96 * s), "1 min");
}

TEST(Format, EdgesStayReadable) {
    EXPECT_EQ(format(Seconds{}), "0 s");
    EXPECT_EQ(format(Bytes{}), "0 B");
    EXPECT_EQ(format(-2.5 * ms), "-2.5 ms");
    EXPECT_EQ(format(0.25 * ns), "0.25 ns");        // below the smallest unit
    EXPECT_EQ(format(Seconds{1e12}), "11600000 d"); // above the largest, never 1.16e+07
    EXPECT_EQ(format(Seconds{std::numeric_limits<double>::infinity()}), "inf s");
    EXPECT_EQ(format(Seconds{std::numeric_limits<double>::denorm_min()}, 1).substr(0, 4), "0.00");
    EXPECT_EQ(format_base(2.5, {.bytes = 2, .seconds = -1}, 3), "2.5 B^2 s^-1"); // a dimension without a name
    EXPECT_EQ(format_base(2.5, {}, 3), "2.5");
    EXPECT_EQ(format_base(std::numeric_limits<double>::max(), {}, 1).size(), 309U); // 2e308 is no double
}

TEST(FormatBinary, UsesPowersOf1024) {
    EXPECT_EQ(format_binary(71.2 * GiB), "71.2 GiB");
    EXPECT_EQ(format_binary(80.0 * GB), "74.5 GiB");
    EXPECT_EQ(format_binary(512.0 * byte), "512 B");
    EXPECT_EQ(format_binary(1023.9 * GiB, 3), "1 TiB");
}

// ---- counts -------------------------------------------------------------------------------------------------------

TEST(ParseCount, ReadsScales) {
    EXPECT_EQ(parse_count("1024", "x"), 1024.0);
    EXPECT_EQ(parse_count("2T", "x"), 2e12);
    EXPECT_EQ(parse_count("1.5B", "x"), 1.5e9);
    EXPECT_EQ(parse_count("1.5G", "x"), 1.5e9);
    EXPECT_EQ(parse_count("300k", "x"), 3e5);
    EXPECT_EQ(parse_count(" 70 M ", "x"), 7e7);
    EXPECT_EQ(parse_count("1e6", "x"), 1e6);
    EXPECT_EQ(parse_count("1.1B", "x"), 1.1e9); // whole, although 1.1 is no double
    EXPECT_EQ(parse_count("1000000000000000000", "x"), 1e18);
}

TEST(ParseCount, RefusesTheRest) {
    EXPECT_EQ(count_refusal("1.5"), "--tokens: '1.5' is not whole (it counts things)");
    EXPECT_EQ(count_refusal("0"), "--tokens: '0' is not positive (the smallest count is 1)");
    EXPECT_EQ(count_refusal("-3"), "--tokens: '-3' is negative (only zero and above make sense here)");
    EXPECT_EQ(count_refusal("2X"),
              "--tokens: unknown scale 'X' (in the count '2X'). write 'k', 'M', 'B' or 'T', or the number in full");
    EXPECT_EQ(count_refusal("8-64"), "--tokens: '8-64' is not one count. for example '1024', '300k' or '2T'");
    EXPECT_EQ(count_refusal("many"), "--tokens: 'many' is not a count. for example '1024', '300k' or '2T'");
    EXPECT_EQ(count_refusal("2000000T"), "--tokens: '2000000T' is too large (the largest count is 10^18)");
    EXPECT_FALSE(count_refusal("1e999").empty());
    EXPECT_FALSE(count_refusal("nan").empty());
    EXPECT_FALSE(count_refusal("").empty());
}

TEST(FormatCount, PicksTheScale) {
    EXPECT_EQ(format_count(2e12), "2T");
    EXPECT_EQ(format_count(1.5e9), "1.5B");
    EXPECT_EQ(format_count(8), "8");
    EXPECT_EQ(format_count(1024), "1.02k");
    EXPECT_EQ(format_count(1024, 4), "1.024k");
    EXPECT_EQ(format_count(0), "0");
    EXPECT_EQ(format_count(999999), "1M");
}

// ---- shares ------------------------------------------------------------------------------------------------

TEST(ShareIn, TakesPercentAndFractions) {
    EXPECT_EQ(share_in("35%"), 0.35);
    EXPECT_EQ(share_in(" 35 % "), 0.35);
    EXPECT_EQ(share_in("0.35"), 0.35);
    EXPECT_EQ(share_in("-250%"), -2.5);
    for (char const* wrong : {"", "%", "a", "1%%", "1 2", "inf", "nan%", "1e999", "0.35x"}) {
        EXPECT_EQ(share_in(wrong), std::nullopt) << wrong;
    }
}

} // namespace
} // namespace headroom
