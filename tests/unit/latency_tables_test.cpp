// Samples of latency out of tables of text.

#include "support/latency_texts.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <string>

namespace headroom {
namespace {

using namespace test;

TEST(LatencyTables, ANumberALineIsSeconds) {
    auto const samples = latency_file("numbers.txt");
    EXPECT_EQ(samples.format, "csv");
    EXPECT_EQ(samples.digest.values().count(), 3U);
    EXPECT_EQ(samples.digest.values().most(), 0.014);
    EXPECT_EQ(samples.unit, "s");
    EXPECT_EQ(samples.unit_from, "assumed");
    EXPECT_TRUE(notes_say(samples, "taken for seconds"));
}

TEST(LatencyTables, LargeWholeNumbersAreNanosecondsAndThatIsSaid) {
    auto const samples = read_latencies("1250000\n1350000\n990000\n");
    EXPECT_EQ(samples.digest.values().most(), 0.00135);
    EXPECT_EQ(samples.unit, "ns");
    EXPECT_EQ(samples.unit_from, "assumed");
    EXPECT_TRUE(notes_say(samples, "nanoseconds"));
    EXPECT_EQ(read_latencies("1250000\n", {.unit = "us"}).digest.values().most(), 1.25);
    EXPECT_EQ(read_latencies("1250000\n", {.unit = "1"}).digest.values().most(), 1250000.0);
    EXPECT_EQ(read_latencies("1250000\n", {.unit = "1"}).unit, "1");
}

TEST(LatencyTables, TheUnitMayStandInTheHeaderOrInCells) {
    for (std::string const header :
         {"latency_ms", "Latency (ms)", "latencyMs", "latency[msec]", "response_time_ms", "ms"}) {
        auto const samples = read_latencies(header + "\n12.5\n");
        EXPECT_EQ(samples.digest.values().most(), 0.0125) << header;
        EXPECT_EQ(samples.unit_from, "header") << header;
    }
    auto const cells = latency_file("units.txt");
    EXPECT_EQ(cells.digest.values().count(), 4U);
    EXPECT_EQ(cells.digest.values().least(), 200e-6);
    EXPECT_EQ(cells.digest.values().most(), 62.5);
    EXPECT_EQ(cells.unit_from, "cells");
}

TEST(LatencyTables, FailuresHaveManyNames) {
    for (std::string const column :
         {"response_code,200,503", "code,200,503", "http_status,200,404", "failed,false,true", "failed,0,1",
          "is_error,no,yes", "grpc_status,OK,UNAVAILABLE", "grpc_code,0,14"}) {
        auto const first = column.find(','), second = column.find(',', first + 1);
        std::string const name = column.substr(0, first), good = column.substr(first + 1, second - first - 1),
                          bad = column.substr(second + 1);
        auto const csv =
            read_latencies("latency_ms," + name + "\n10," + good + "\n9000," + bad + "\n12," + good + "\n");
        EXPECT_EQ(csv.digest.values().most(), 0.012) << column;
        EXPECT_EQ(dirt_of(csv, "failed"), (DirtSeen{1, 3})) << column;
        auto const object = [&](std::string const& time, std::string const& cell) {
            return "{\"latency_ms\": " + time + ", \"" + name + "\": \"" + cell + "\"}\n";
        };
        auto const json = read_latencies(object("10", good) + object("9000", bad) + object("12", good));
        EXPECT_EQ(json.digest.values().most(), 0.012) << column;
        EXPECT_EQ(dirt_of(json, "failed"), (DirtSeen{1, 2})) << column;
    }
    std::string const late = "{\"latency_ms\": 10}\n{\"latency_ms\": 9000, \"error\": \"timeout\"}\n";
    EXPECT_EQ(dirt_of(read_latencies(late), "failed"), (DirtSeen{1, 2})) << "a key of failed requests alone";
    EXPECT_EQ(read_latencies(late, {.keep_failed = true}).digest.values().count(), 2U);
    EXPECT_EQ(
        read_latencies("latency_ms,status\n10,404\n20,200\n", {.where = {{"status", "404"}}}).digest.values().most(),
        0.01);
}

TEST(LatencyTables, RequestsAreKeptWhereTheyAreAskedFor) {
    std::string const text = "sent_s,latency_ms\n0.5,10\n0.75,20\n";
    EXPECT_TRUE(read_latencies(text).requests.empty());
    auto const kept = read_latencies(text, {.keep_requests = true}).requests;
    ASSERT_EQ(kept.size(), 2U);
    EXPECT_EQ(kept[1].sent, 0.25);
    EXPECT_EQ(kept[1].latency, 0.02);
    EXPECT_TRUE(read_latencies(text + "1,none\n", {.keep_requests = true}).requests.empty()) << "one is missing";
}

TEST(LatencyTables, RatesAreRefusedUnlessAUnitIsGiven) {
    for (std::string const head : {"samples_per_sec", "requests_per_s", "tokensPerSecond", "tokens/s", "qps"}) {
        std::string const json = "{\"" + head + "\": 9.13}\n{\"" + head + "\": 9.15}\n";
        for (std::string const& text : {head + "\n9.13\n9.15\n", json}) {
            expect_refused(text.c_str(), Fault::usage, "is a rate, not a time");
        }
    }
    EXPECT_EQ(read_latencies("tokens_per_s\n9.13\n9.15\n", {.unit = "1"}).digest.values().most(), 9.15);
    auto const with_rate = read_latencies("samples_per_sec,step_ms\n9.13,120\n9.15,110\n");
    EXPECT_EQ(with_rate.digest.values().most(), 0.12);
}

TEST(LatencyTables, CyclesAreRefusedUnlessAUnitIsGiven) {
    for (char const* const text :
         {"latency (cycles)\n1000\n1200\n", "{\"latency_cycles\": 1000}\n{\"latency_cycles\": 1200}\n",
          "name,p50 (cycles),p99 (cycles)\nall,1000,1200\n", "latency (cycles),count\n1000,20\n1200,30\n"}) {
        expect_refused(text, Fault::usage, "is in cycles, which is no unit of time");
    }
    auto const plain = read_latencies("latency (cycles)\n1000\n1200\n", {.unit = "1"});
    EXPECT_EQ(plain.digest.values().most(), 1200.0);
}

TEST(LatencyTables, RowsOfStatisticsAreNoSamples) {
    for (char const* const text :
         {"SQL statistics:\n    read:                14000\nLatency (ms):\n         min:                 2.10\n"
          "         avg:                 4.33\n         max:                60.20\n",
          "[READ], Operations, 952\n[READ], AverageLatency(us), 501.9\n[READ], MinLatency(us), 120\n"
          "[READ], 95thPercentileLatency(us), 900\n[READ], 99thPercentileLatency(us), 2011\n"}) {
        expect_refused(text, Fault::unreadable, "rows of statistics, not of samples");
    }
    EXPECT_EQ(read_latencies("name,latency_ms\nmax,1\nmax,2\nanna,3\n").digest.values().count(), 3U);
}

TEST(LatencyTables, MixedUnitsAreRefusedUnlessOneIsGiven) {
    expect_refused("180ms\n1.5\n", Fault::unreadable, "samples:2: a number without a unit");
    expect_refused("1.5\n\n180ms\n", Fault::unreadable, "samples:3: a number with a unit");
    expect_refused("180ms\n", Fault::unreadable, "plain numbers were asked for", {.unit = "1"});
    EXPECT_EQ(read_latencies("180ms\n1.5\n", {.unit = "s"}).digest.values().most(), 1.5);
    EXPECT_EQ(read_latencies("latency_us\n180ms\n1.5\n").digest.values().least(), 1.5e-6);
    EXPECT_EQ(read_latencies("0s\n0\n180ms\n").digest.values().count(), 3U); // zero has no unit
}

TEST(LatencyTables, DirtIsCountedWithItsFirstLine) {
    auto const samples = latency_file("table.csv");
    EXPECT_EQ(samples.column, "latency_ms");
    EXPECT_EQ(samples.time_column, "time");
    EXPECT_EQ(samples.digest.values().count(), 5U);
    EXPECT_EQ(samples.digest.values().most(), 2.0);
    EXPECT_EQ(samples.rows, 14U);
    EXPECT_EQ(dirt_of(samples, "negative"), (DirtSeen{1, 5}));
    EXPECT_EQ(dirt_of(samples, "empty"), (DirtSeen{1, 6}));
    EXPECT_EQ(dirt_of(samples, "NaN"), (DirtSeen{1, 8}));
    EXPECT_EQ(dirt_of(samples, "time that cannot"), (DirtSeen{1, 9}));
    EXPECT_EQ(dirt_of(samples, "infinite"), (DirtSeen{1, 10}));
    EXPECT_EQ(dirt_of(samples, "no number"), (DirtSeen{1, 11}));
    EXPECT_EQ(dirt_of(samples, "without the column"), (DirtSeen{1, 12}));
    EXPECT_EQ(dirt_of(samples, "quote"), (DirtSeen{1, 13}));
    EXPECT_DOUBLE_EQ(samples.digest.duration(), 0.9);
}

TEST(LatencyTables, TimesThatGoBackwardsAreCountedAndKept) {
    auto const samples = read_latencies("ts,latency_s\n1714550400.5,1\n1714550400.25,2\n1714550401,3\n1714550400,4\n");
    EXPECT_EQ(samples.digest.values().count(), 4U);
    EXPECT_EQ(samples.digest.times_backwards(), 2U);
    EXPECT_TRUE(samples.issues.empty());
    EXPECT_EQ(samples.digest.duration(), 1.0);
}

// Expectation: the same seconds, whatever they are counted in.
TEST(LatencyTables, EpochsOfEveryUnitAreTold) {
    for (std::string const zeros : {"", "000", "000000", "000000000"}) {
        std::string text = "timestamp,latency_ms\n";
        for (int i = 0; i < 5; ++i) { text += std::to_string(1714550400 + 2 * i) + zeros + ",1\n"; }
        EXPECT_EQ(read_latencies(text).digest.duration(), 8.0) << zeros;
    }
    EXPECT_EQ(
        read_latencies("t_start,time_ms,latency_ms\n1,0,1\n1,250,1\n", {.time_column = "time_ms"}).digest.duration(),
        0.25);
    EXPECT_EQ(read_latencies("time,latency_ms\n0,1\n250,1\n", {.time_unit = "us"}).digest.duration(), 250e-6);
    auto const dates = read_latencies("date,latency_ms\n2024-05-01 10:00:00,1\n2024-05-01T12:00:01.5+02:00,1\n");
    EXPECT_EQ(dates.digest.duration(), 1.5);
    // Nanoseconds since 1970 do not fit a double; their differences must.
    auto const close = read_latencies("ts,latency_ms\n1714550400000000001,1\n1714550400000000003,1\n");
    EXPECT_EQ(close.digest.duration(), 2e-9);
}

TEST(LatencyTables, AnyDelimiter) {
    for (std::string const mark : {",", ";", "\t", "|", " ", "  "}) {
        auto const samples = read_latencies("a" + mark + "latency_ms\n1" + mark + "5\n2" + mark + "7\n");
        EXPECT_EQ(samples.digest.values().most(), 0.007) << mark;
        EXPECT_EQ(samples.digest.values().count(), 2U) << mark;
    }
    EXPECT_EQ(read_latencies("180 ms\n190 ms\n").digest.values().most(), 0.19);
    EXPECT_EQ(read_latencies("latency_ms\r\n5\r\n7\r\n").digest.values().most(), 0.007);
    EXPECT_EQ(read_latencies("\xEF\xBB\xBFlatency_ms\n5\n").digest.values().most(), 0.005);
    EXPECT_EQ(read_latencies("\"say \"\"it\"\"\",latency_ms\n\"a,\"\"b\"\"\",\"5\"\n").digest.values().most(), 0.005);
}

TEST(LatencyTables, ColumnsAreNamedOrNumbered) {
    std::string const text = "a_ms,b_ms\n1,2\n";
    expect_refused(text, Fault::usage, "several columns could be the values (a_ms or b_ms)");
    EXPECT_EQ(read_latencies(text, {.column = "b_ms"}).digest.values().most(), 0.002);
    EXPECT_EQ(read_latencies(text, {.column = "1"}).digest.values().most(), 0.001);
    expect_refused(text, Fault::usage, "did you mean 'b_ms'", {.column = "b_m"});
    expect_refused(text, Fault::usage, "no column '3'", {.column = "3"});
    expect_refused("1,2\n3,4\n", Fault::usage, "2 columns hold numbers");
    EXPECT_EQ(read_latencies("1,2\n3,4\n", {.column = "2"}).digest.values().most(), 4.0);
    EXPECT_TRUE(read_latencies("1714550400,2\n1714550401,4\n").digest.has_times());
    expect_refused("1\n", Fault::usage, "unknown unit 'parsec'", {.unit = "parsec"});
    expect_refused("1\n", Fault::usage, "unknown format 'cvs'", {.format = "cvs"});
}

TEST(LatencyTables, RowsAreChosenByTheirCells) {
    std::string const text = "endpoint,latency_ms\n/a,1\n/b,2\n/a,3\n";
    auto const samples = read_latencies(text, {.where = {{"endpoint", "/a"}}});
    EXPECT_EQ(samples.digest.values().count(), 2U);
    EXPECT_EQ(samples.digest.values().most(), 0.003);
    expect_refused(text, Fault::usage, "no column 'endpont'", {.where = {{"endpont", "/a"}}});
    expect_refused(text, Fault::insufficient, "no sample with endpoint=/c", {.where = {{"endpoint", "/c"}}});
}

TEST(LatencyTables, WritersAreKnownByTheirColumns) {
    auto const vegeta = latency_file("vegeta.csv");
    EXPECT_EQ(vegeta.digest.values().most(), 0.001234567);
    EXPECT_EQ(dirt_of(vegeta, "failed"), (DirtSeen{1, 2}));
    EXPECT_EQ(latency_file("vegeta.csv", {.keep_failed = true}).digest.values().most(), 0.03);
    auto const k6 = latency_file("k6.csv");
    EXPECT_EQ(k6.digest.values().count(), 2U);
    EXPECT_EQ(k6.digest.values().most(), 0.0145);
    EXPECT_NEAR(k6.digest.duration(), 1.998, 1e-9); // times are of answers
    EXPECT_EQ(dirt_of(k6, "failed"), (DirtSeen{1, 4}));
    EXPECT_EQ(latency_file("k6.csv", {.where = {{"metric_name", "http_reqs"}}}).digest.values().most(), 0.001);
    auto const jmeter = latency_file("jmeter.csv");
    EXPECT_EQ(jmeter.digest.values().most(), 0.014);
    EXPECT_EQ(jmeter.digest.duration(), 0.2);
    EXPECT_EQ(dirt_of(jmeter, "failed"), (DirtSeen{1, 3}));
    EXPECT_EQ(latency_file("hey.csv").digest.values().most(), 0.0145);
    EXPECT_EQ(dirt_of(latency_file("hey.csv"), "failed"), (DirtSeen{1, 3}));
    EXPECT_EQ(latency_file("apache_bench.tsv").digest.values().most(), 0.014);
}

TEST(LatencyTables, NothingOfUseIsAnError) {
    expect_refused("", Fault::insufficient, "an empty file");
    expect_refused("\n\n", Fault::insufficient, "an empty file");
    expect_refused("hello\nworld\n", Fault::unreadable, "no number in it");
    expect_refused("-1\n-2\n", Fault::insufficient, "2 x negative value from line 1");
    expect_refused("latency_ms\n", Fault::insufficient, "no sample");
    expect_refused(std::string("PK\x03\x04zip"), Fault::unreadable, "a zip archive");
    expect_refused(std::string(64, '\0'), Fault::unreadable, "holds no data (it is the byte 0x00 over and over");
    EXPECT_EQ(read_latencies("5\n").digest.values().count(), 1U);
}

// Expectation: a line without an end is not kept in memory, and its line is reported.
TEST(LatencyTables, EndlessLinesAreRefused) {
    std::string text = "1\n2\n";
    text.append((std::size_t{40} << 20), '3');
    expect_refused(text, Fault::unreadable, "samples:3: a line longer than 16 MiB");
}

// Expectation: every decimal number is the double nearest to it, in seconds and in milliseconds as if divided by 1000.
TEST(LatencyTables, NumbersAreReadToTheLastBit) {
    for (std::string const number :
         {"0.1", "0.3", "123456789.123456789", "9007199254740993", "0.000000000000000123", "1e-7",
          "1.7976931348623157e10", "4.35", "0.5e0", "123456789012345678", "00000000000000000000001.5", "3.", ".5",
          "+2.5", "0.1000000000000000055511151231257827021181583404541015625"}) {
        double const exact = std::stod(number);
        EXPECT_EQ(read_latencies(number + "\n", {.unit = "s"}).digest.values().most(), exact) << number;
        EXPECT_EQ(read_latencies("x," + number + ",y\n", {.column = "2", .unit = "ms"}).digest.values().most(),
                  exact / 1e3)
            << number;
    }
}

TEST(LatencyObjects, LaterKeysRepeatedKeysAndStatedUnits) {
    auto const later = read_latencies("{\"latency_ms\":1}\n{\"latency_ms\":2,\"worker\":\"x\"}\n{\"latency_ms\":3}\n");
    EXPECT_EQ(dirt_of(later, "key not used").count, 1U);
    EXPECT_EQ(later.digest.values().count(), 3U);
    auto const twice = read_latencies("{\"latency_ms\":1}\n{\"latency_ms\":2,\"latency_ms\":5}\n{\"latency_ms\":3}\n");
    EXPECT_EQ(dirt_of(twice, "key that stands twice"), (DirtSeen{1, 2}));
    expect_refused("{\"latency\":12,\"unit\":\"ms\"}\n{\"latency\":13,\"unit\":\"ms\"}\n"
                   "{\"latency\":14,\"unit\":\"us\"}\n",
                   Fault::usage, "the rows above are in ms");
    auto const stated = read_latencies("{\"latency\":12,\"unit\":\"ms\"}\n{\"latency\":3,\"unit\":\"x\"}\n");
    EXPECT_EQ(dirt_of(stated, "row of another metric").count, 1U);
    EXPECT_NEAR(read_latencies("latency,unit\n12,ms\n13,ms\n").digest.values().most(), 0.013, 1e-6);
}

TEST(LatencyTables, TakeAUnitBehindTheValues) {
    std::string text;
    for (int i = 0; i < 20; ++i) { text += "step " + std::to_string(i) + ": 22.5 ms\n"; }
    auto const found = read_latencies(text);
    EXPECT_NEAR(found.digest.values().most(), 0.0225, 1e-4);
    EXPECT_EQ(found.unit_from, "cells");
    expect_refused(text + "step 21: 1.5 s\n", Fault::usage, "the rows above are in ms");
}

TEST(LatencyTables, ReadNoNumbersOfProse) {
    std::string labels, counts, words;
    for (int i = 0; i < 20; ++i) {
        std::string const number = std::to_string(i);
        labels += "op " + number + " latency=" + number + "us\n";
        counts += "model," + number + "," + number + "%\n";
        words += "request " + number + " budget=500ms\n";
    }
    expect_refused(labels, Fault::usage, "nothing says that the numbers in column 2 are times");
    expect_refused(words, Fault::usage, "nothing says that the numbers in column 2 are times");
    expect_refused("name,ngl,size\n" + counts, Fault::usage, "nothing says that 'ngl' holds times");
    expect_refused("warm p99: 12 ms\nwarm p99: 13 ms\n", Fault::usage, "holds no samples");
    std::string const comma = "2026-03-01T10:00:00Z request 0 took 12,5 ms\n";
    expect_refused(comma + comma + comma, Fault::usage, "a comma may part a number");
    EXPECT_EQ(read_latencies("req1 0.012\nreq2 0.015\n").digest.values().count(), 2U);
    for (char const* const head : {"p99_latency_ms", "latency_stddev_ms", "timeout_ms", "avg_latency_ms"}) {
        expect_refused("t," + std::string{head} + "\n1,20\n2,21\n3,19\n", Fault::usage, "holds no samples");
    }
    expect_refused("12100\n34500.5\n41200\n", Fault::usage, "more than an hour");
    EXPECT_EQ(read_latencies("12100\n34500.5\n41200\n", {.unit = "us"}).digest.values().count(), 3U);
}

TEST(LatencyTables, OfPercentilesTakeTheUnitOfEachHead) {
    auto const found = read_latencies("test,avg_latency_ms,p50_latency_ms,p99_latency_ms,max_latency_s\n"
                                      "GET,0.156,0.121,0.987,0.004125\n");
    EXPECT_DOUBLE_EQ(found.stated.back().value, 4.125e-3);
    EXPECT_DOUBLE_EQ(found.stated_mean, 156e-6);
    auto const pandas = read_latencies("count 150.0\nmean 15.6\n50% 12.1\n75% 20.0\nmax 412.5\n"
                                       "Name: latency_ms, dtype: float64\n");
    EXPECT_DOUBLE_EQ(pandas.stated.back().value, 0.4125);
    expect_refused("Memory (MiB)\np50: 12.1\np99: 98.7\n", Fault::usage, "percentiles without a unit");
}

TEST(LatencyTables, OfJsonTakeTheUnitNextToTheValue) {
    auto const line = [](std::string const& unit) {
        return R"({"latency": {"value": 20.5, "unit": ")" + unit +
               R"("}, "tokens": {"value": 7, "unit": "tokens"}})"
               "\n";
    };
    auto const found = read_latencies(line("ms") + line("ms"), {.column = "latency.value"});
    EXPECT_NEAR(found.digest.values().most(), 0.0205, 1e-4);
    expect_refused(line("ms") + line("us"), Fault::usage, "the rows above are in ms", {.column = "latency.value"});
    expect_refused(line("ms") + line("ms"), Fault::usage, "is no time", {.column = "tokens.value"});
    std::string const zipkin = R"({"traceId": "a", "id": "1", "timestamp": 1767225600000000, "duration": 20500})"
                               "\n"
                               R"({"traceId": "a", "id": "2", "parentId": "1", "timestamp": 1, "duration": 9000})"
                               "\n";
    EXPECT_EQ(read_latencies(zipkin).digest.values().count(), 1U);
    EXPECT_NEAR(read_latencies(zipkin).digest.values().most(), 0.0205, 1e-4);
    std::string const envoy = R"({"response_code": 200, "response_flags": "-", "duration": 20})"
                              "\n"
                              R"({"response_code": 503, "response_flags": "UF", "duration": 9000})"
                              "\n";
    EXPECT_NEAR(read_latencies(envoy).digest.values().most(), 0.02, 1e-3);
    EXPECT_EQ(dirt_of(read_latencies(envoy), "failed request").count, 1U);
}

} // namespace
} // namespace headroom
