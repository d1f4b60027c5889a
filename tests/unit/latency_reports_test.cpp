// Samples and stated quantiles out of JSON, histogram logs and the reports of load generators.

#include "latencies/hdr_counts.hpp"
#include "support/compressed.hpp"
#include "support/latency_texts.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

namespace headroom {
namespace {

using namespace test;

double stated(io::LatencySamples const& samples, double q) {
    for (auto const& one : samples.stated) {
        if (one.q == q) { return one.value; }
    }
    return -1.0;
}

TEST(LatencyJson, NumbersAndObjectsALine) {
    auto const samples =
        read_latencies("{\"ts\":\"2024-05-01T10:00:00Z\",\"took_ms\":12.5,\"tags\":[{\"a\":1}]}\n"
                       "{\"took_ms\":\"13ms\",\"ts\":\"2024-05-01T10:00:01Z\"}\n{broken\n14\n{\"ts\":1}\n");
    EXPECT_EQ(samples.format, "jsonl");
    EXPECT_EQ(samples.column, "took_ms");
    EXPECT_EQ(samples.time_column, "ts");
    EXPECT_EQ(samples.digest.values().count(), 3U);
    EXPECT_EQ(samples.digest.values().most(), 0.014);
    EXPECT_EQ(samples.digest.duration(), 1.0);
    EXPECT_EQ(dirt_of(samples, "no JSON"), (DirtSeen{1, 3}));
    EXPECT_EQ(dirt_of(samples, "without the column"), (DirtSeen{1, 5}));
    EXPECT_EQ(read_latencies("[1.5, 2.5]").digest.values().most(), 2.5);
    EXPECT_EQ(read_latencies("[{\"latency_ms\":3},\n{\"latency_ms\":4}]").digest.values().most(), 0.004);
}

TEST(LatencyJson, TheOneListWithinObjectsIsRead) {
    for (char const* const text : {R"({"latencies_ms":[12.5,13,14],"seed":3})",
                                   R"({"data":{"samples":[{"latency_ms":12.5},{"latency_ms":14}]}})",
                                   "{\n \"tags\": [\"a\", \"b\"],\n \"results\": [\"12.5ms\",\n  \"14ms\"]\n}\n"}) {
        auto const samples = read_latencies(text);
        EXPECT_EQ(samples.format, "json") << text;
        EXPECT_EQ(samples.digest.values().least(), 0.0125) << text;
        EXPECT_EQ(samples.digest.values().most(), 0.014) << text;
        EXPECT_TRUE(notes_say(samples, "of a JSON object")) << text;
    }
    constexpr char const* two = R"({"ttft_ms":[1,2,3],"tpot_ms":[4,5,6]})";
    expect_refused(two, Fault::usage, "several lists hold numbers");
    EXPECT_EQ(read_latencies(two, {.column = "tpot_ms"}).digest.values().most(), 0.006);
    expect_refused("{\n\"p50\": 3,\n\"names\": [\"a\"]\n}", Fault::usage, "no list of latencies in this JSON");
    // a line of an object that holds lists, too, is a sample
    EXPECT_EQ(read_latencies("{\"ms\":3,\"tags\":[1]}\n{\"ms\":4,\"tags\":[1]}\n").format, "jsonl");
    EXPECT_EQ(read_latencies("{\"ms\":3,\"tags\":[\"a\"]}\n").digest.values().count(), 1U);
}

TEST(LatencyJson, WhatIsNoJsonIsLeftOutWithItsFirstLine) {
    for (std::string const wrong :
         {"{\"ms\":1,\"a\":01x}", "{\"ms\":1,\"a\":tru}", "{\"ms\":1,\"a\":nul}", "{\"ms\":1,\"a\":nulll}",
          "{\"ms\":1,\"a\":NaN}", "{\"ms\":1,\"a\":[1,tru]}", "{\"ms\":1", "{\"ms\":1} 2", "{\"ms\":1}}", "{\"ms\":1,}",
          "{\"ms\" 1}", "{ms:1}", "{\"ms\":1,\"a\":\"\\x\"}", "{\"ms\":1e}", "{\"ms\":1.}", "{\"ms\":-}", "{\"ms\":+1}",
          "{\"ms\":1,\"a\":\"tab\tinside\"}"}) {
        for (std::uint64_t const first : {1U, 2U}) {
            std::string const good = "{\"ms\":3}\n", bad = wrong + "\n";
            auto const samples = read_latencies((first == 1 ? bad + good : good + bad) + "{\"ms\":4}\n" + bad);
            EXPECT_EQ(samples.digest.values().count(), 2U) << wrong;
            EXPECT_EQ(samples.digest.values().most(), 0.004) << wrong;
            EXPECT_EQ(dirt_of(samples, "no JSON"), (DirtSeen{2, first})) << wrong;
        }
    }
    std::string deep = "{\"ms\":1,\"a\":" + std::string(100'000, '[') + "1" + std::string(100'000, ']') + "}\n";
    EXPECT_EQ(dirt_of(read_latencies("{\"ms\":3}\n" + deep), "no JSON"), (DirtSeen{1, 2}));
}

TEST(LatencyJson, TextsComeWithoutTheirEscapes) {
    std::string const text = "{\"a\\u002fb\":\"say \\\"yes\\\"\",\"ms\":12}\n{\"a\\/b\":\"no\",\"ms\":13}\n";
    EXPECT_EQ(read_latencies(text, {.where = {{"a/b", "say \"yes\""}}}).digest.values().most(), 0.012);
    EXPECT_EQ(read_latencies(text, {.where = {{"a/b", "no"}}}).digest.values().least(), 0.013);
    EXPECT_EQ(
        read_latencies("{\"id\":123456789012345678901234567890,\"ms\":12}\n", {.column = "ms"}).digest.values().most(),
        0.012);
}

TEST(LatencyJson, FieldsWithinObjectsHavePoints) {
    std::string const text = "{\"request\":{\"name\":\"a\",\"t\":[1,2]},\"x\":{\"cost\":5}}\n"
                             "{\"request\":{\"name\":\"b\"},\"x\":{\"cost\":6}}\n";
    EXPECT_EQ(read_latencies(text, {.column = "x.cost", .unit = "ms"}).digest.values().most(), 0.006);
    EXPECT_EQ(read_latencies(text, {.unit = "ms", .where = {{"request.name", "a"}}}).digest.values().most(), 0.005);
    expect_refused("{\"a\":1,\"b\":2}\n", Fault::usage, "several fields hold numbers (a or b)");
    expect_refused("{\"a\":1,\"b\":2}\n", Fault::usage, "no column 'c'", {.column = "c"});
}

TEST(LatencyJson, VegetaAndK6AreKnown) {
    auto const vegeta = latency_file("vegeta.jsonl");
    EXPECT_EQ(vegeta.digest.values().count(), 2U);
    EXPECT_EQ(vegeta.digest.values().least(), 0.0125);
    EXPECT_EQ(vegeta.digest.duration(), 2.0);
    EXPECT_EQ(dirt_of(vegeta, "failed"), (DirtSeen{1, 2}));
    auto const k6 = latency_file("k6.jsonl");
    EXPECT_EQ(k6.digest.values().most(), 0.0125);
    EXPECT_EQ(dirt_of(k6, "failed"), (DirtSeen{1, 4}));
    EXPECT_EQ(latency_file("k6.jsonl", {.keep_failed = true}).digest.values().count(), 2U);
}

TEST(LatencyJson, RepetitionsOfGoogleBenchmark) {
    auto const samples = latency_file("google_benchmark.json");
    EXPECT_EQ(samples.digest.values().count(), 2U);
    EXPECT_EQ(samples.digest.values().most(), 2.5e-6);
}

// Expectation: 4000 values that were recorded with three digits: counts and quantiles of the values themselves.
TEST(HistogramLogs, AreReadAsTheirWriterCounted) {
    auto const samples = latency_file("intervals.hlog");
    EXPECT_EQ(samples.format, "hdrlog");
    EXPECT_EQ(samples.digest.values().count(), 4000U);
    EXPECT_NEAR(samples.digest.values().quantile(0.5), 0.003830, 0.003830 * 2e-3);
    EXPECT_NEAR(samples.digest.values().most(), 0.148149, 0.148149 * 1e-3);
    EXPECT_EQ(samples.histogram_error, 0.5 / 1024);
    EXPECT_EQ(samples.unit_from, "assumed");
    EXPECT_TRUE(samples.digest.blocks().empty());
    EXPECT_TRUE(notes_say(samples, "several tags"));
    EXPECT_EQ(latency_file("intervals.hlog", {.where = {{"Tag", "B"}}}).digest.values().count(), 2000U);
}

/// A histogram of whole numbers from 1 to 3,600,000 with two digits, by hand.
std::string encoded(std::uint32_t cookie, std::string const& counts) {
    std::string bytes;
    auto const put = [&](std::uint64_t value, int size) {
        for (int i = size; i-- > 0;) { bytes += static_cast<char>(value >> (8 * i) & 0xffU); }
    };
    put(cookie, 4);
    bool const first = (cookie & ~0xf0U) == 0x1c849308U;
    if (!first) {
        put(counts.size(), 4);
        put(0, 4);
    }
    put(2, 4);
    put(1, 8);
    put(3'600'000, 8);
    put(first ? 7 : 0x3ff0000000000000U, 8); // the count of all, or 1.0
    return bytes + counts;
}

std::map<double, std::uint64_t> counted(std::string const& bytes, bool& good) {
    std::map<double, std::uint64_t> cells;
    io::HdrFacts facts;
    good = io::read_hdr_counts(bytes, facts, [&](double value, std::uint64_t count) { cells[value] += count; });
    return cells;
}

// Expectation: with two digits cells are single up to 255, and two wide up to 511: index 278 is the cell of 300 and 301,
// for 278 / 128 - 1 = 1 doubling and 128 + 278 % 128 = 150 such cells. Five values of 1, two of 300 or 301.
TEST(HistogramLogs, EveryVersionOfTheEncoding) {
    std::map<double, std::uint64_t> const expected{{1.0, 5}, {301.0, 2}};
    bool good = false;
    // Version 2: a run of one zero, 5, a run of 276 zeros, 2, as signed numbers of seven bits a byte.
    EXPECT_EQ(counted(encoded(0x1c849313, std::string("\x01\x0a\xa7\x04\x04", 5)), good), expected);
    EXPECT_TRUE(good);
    std::string words(2 * 279, '\0');
    words[3] = 5;
    words[2 * 278 + 1] = 2;
    EXPECT_EQ(counted(encoded(0x1c849321, words), good), expected);
    EXPECT_TRUE(good);
    EXPECT_EQ(counted(encoded(0x1c849328, words), good), expected);
    EXPECT_TRUE(good);
}

TEST(HistogramLogs, DamagedHistogramsAreCounted) {
    bool good = true;
    std::string const whole = encoded(0x1c849313, std::string("\x01\x0a\xa7\x04\x04", 5));
    for (std::size_t size = 0; size < whole.size(); ++size) {
        static_cast<void>(counted(whole.substr(0, size), good));
        EXPECT_FALSE(good) << size;
    }
    auto text = std::string{"#[Histogram log format version 1.3]\n0,1,2,HISTFAAAADBAAAA\n"};
    expect_refused(text, Fault::unreadable, "1 x histogram that cannot be decoded from line 2");
}

TEST(PercentileTables, CountsAreWhatTheTotalGrowsBy) {
    auto const samples = latency_file("vegeta_hdrplot.txt");
    EXPECT_EQ(samples.format, "hgrm");
    EXPECT_EQ(samples.unit_from, "header");
    EXPECT_EQ(samples.digest.values().count(), 100U);
    EXPECT_NEAR(samples.digest.values().quantile(0.5), 1.501890e-3, 1e-6);
    EXPECT_NEAR(samples.digest.values().quantile(0.6), 9.501890e-3, 1e-5);
    EXPECT_GT(samples.histogram_error, 0.5);
    auto const table = latency_file("percentiles.hgrm");
    EXPECT_EQ(table.digest.values().count(), 4000U);
    EXPECT_NEAR(table.stated_mean, 0.019088, 1e-9);
    EXPECT_NEAR(table.digest.values().quantile(0.5), latency_file("intervals.hlog").digest.values().quantile(0.5),
                1e-5);
}

TEST(Reports, OfWrkStateQuantiles) {
    auto const samples = latency_file("wrk.txt");
    EXPECT_TRUE(samples.digest.values().empty());
    EXPECT_DOUBLE_EQ(stated(samples, 0.99), 0.0058);
    EXPECT_DOUBLE_EQ(stated(samples, 1.0), 0.01292);
    EXPECT_EQ(samples.stated_count, 22464657U);
    EXPECT_DOUBLE_EQ(samples.stated_mean, 635.91e-6);
    EXPECT_EQ(dirt_of(samples, "failed"), (DirtSeen{13, 12}));
    auto const spectrum = latency_file("wrk2.txt");
    EXPECT_EQ(spectrum.digest.values().count(), 39461U);
    EXPECT_NEAR(spectrum.digest.values().quantile(0.5), 6.667e-3, 1e-5);
    EXPECT_DOUBLE_EQ(stated(spectrum, 0.75), 7.78e-3);
}

TEST(Reports, OfHeyVegetaAndK6StateQuantiles) {
    auto const hey = latency_file("hey.txt");
    EXPECT_DOUBLE_EQ(stated(hey, 0.5), 0.0203);
    EXPECT_EQ(hey.stated_count, 198U);
    EXPECT_EQ(dirt_of(hey, "failed"), (DirtSeen{2, 30}));
    auto const vegeta = latency_file("vegeta_report.txt");
    EXPECT_DOUBLE_EQ(stated(vegeta, 0.95), 5.5e-3);
    EXPECT_DOUBLE_EQ(stated(vegeta, 1.0), 60.5);
    EXPECT_EQ(vegeta.stated_count, 250U);
    EXPECT_NEAR(vegeta.expected_interval.value_or(0.0), 1.0 / 50.2, 1e-12);
    auto const json = latency_file("vegeta_report.json");
    EXPECT_DOUBLE_EQ(stated(json, 0.99), 3.53e-3);
    EXPECT_EQ(json.stated_count, 100U);
    auto const k6 = latency_file("k6_summary.txt");
    EXPECT_DOUBLE_EQ(stated(k6, 0.9), 0.1309);
    EXPECT_DOUBLE_EQ(stated(k6, 1.0), 62.5);
    EXPECT_EQ(k6.stated_count, 60U);
    EXPECT_TRUE(notes_say(k6, "failed requests"));
    EXPECT_DOUBLE_EQ(stated(latency_file("k6_summary.json"), 0.95), 0.14);
}

TEST(Reports, AFormatThatIsAskedForMayBeItsWritersOther) {
    EXPECT_EQ(latency_file("vegeta.csv", {.format = "vegeta"}).format, "csv");
    EXPECT_EQ(latency_file("vegeta.jsonl", {.format = "vegeta"}).format, "jsonl");
    EXPECT_EQ(latency_file("vegeta_hdrplot.txt", {.format = "vegeta"}).format, "hgrm");
    EXPECT_EQ(latency_file("vegeta_report.txt", {.format = "vegeta"}).format, "vegeta");
    EXPECT_EQ(latency_file("k6.csv", {.format = "k6"}).format, "csv");
    EXPECT_EQ(latency_file("intervals.hlog", {.format = "hgrm"}).format, "hdrlog");
    expect_refused("1\n2\n", Fault::unreadable, "no number in it, read as wrk", {.format = "wrk"});
}

TEST(Reports, ThatAreCutShortAreToldAsSuch) {
    expect_refused("{\"latencies\":{\"99th\":1", Fault::unreadable, "samples:1: no JSON");
    std::string const deep = "{\"context\":0,\"benchmarks\":" + std::string(1000, '[');
    expect_refused(deep, Fault::unreadable, "nested too deeply");
}

TEST(Compressed, SamplesAreReadAndDamageIsTold) {
    std::string text;
    for (int i = 0; i < 20'000; ++i) { text += std::to_string(i % 977) + ".25\n"; }
    auto const plain = read_latencies(text);
    for (std::string const& packed : {gzip_of(text), zstd_of(text)}) {
        auto const samples = read_latencies(packed);
        EXPECT_EQ(samples.digest.values(), plain.digest.values());
        EXPECT_EQ(samples.rows, 20'000U);
        EXPECT_EQ(samples.bytes, packed.size());
        auto const cut = read_latencies(packed.substr(0, packed.size() - 4));
        EXPECT_EQ(dirt_of(cut, "damaged").count, 1U);
        EXPECT_TRUE(notes_say(cut, "cut short"));
    }
}

} // namespace
} // namespace headroom
