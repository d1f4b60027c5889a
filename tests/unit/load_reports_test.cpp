// Reports of load generators: every figure that they state is read, and what is not read is counted.

#include "latencies/report_rows.hpp"
#include "support/latency_texts.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>

namespace headroom {
namespace {

using namespace test;

/// Stated quantiles by their share, rounded to 1e-6.
std::map<double, double> stated(io::LatencySamples const& samples) {
    std::map<double, double> all;
    for (auto const& one : samples.stated) { all[std::round(1e6 * one.q) / 1e6] = one.value; }
    return all;
}

TEST(ReportShapes, FitWholeLines) {
    auto const found = io::fits_shape("  Latency   635.91us    0.89ms  1m2.5s   93.69%", "Latency %t %t %t %p");
    ASSERT_TRUE(found);
    EXPECT_DOUBLE_EQ(found->number[0], 635.91e-6);
    EXPECT_DOUBLE_EQ(found->number[2], 62.5);
    EXPECT_DOUBLE_EQ(found->number[3], 0.9369);
    EXPECT_DOUBLE_EQ(io::fits_shape("Req/Sec 5.07k", "Req/Sec %n")->number[0], 5070.0);
    EXPECT_DOUBLE_EQ(io::fits_shape("10 % in 28.48 ms", "%p in %t")->number[1], 0.02848);
    EXPECT_DOUBLE_EQ(io::fits_shape("[200]  22,464 responses", "[%c] %c responses")->number[1], 22464.0);
    EXPECT_TRUE(io::fits_shape("Size/request: 10.05 KiB", "Size/request: %s"));
    for (char const* const wrong :
         {"Requests/sec: 12x", "Requests/sec:", "Requests/sec: 1 2", "Requests/sec: x", "Requests"}) {
        EXPECT_FALSE(io::fits_shape(wrong, "Requests/sec: %n")) << wrong;
    }
    EXPECT_FALSE(io::fits_shape("Slowest: 12", "Slowest: %t")); // no unit
    EXPECT_FALSE(io::fits_shape("50% 12 parsecs", "%p %t"));
    EXPECT_FALSE(io::fits_shape("120% 12ms", "%p %t"));
}

TEST(LoadReports, OfOhaAndGhzAreNotThoseOfHey) {
    auto const oha = latency_file("oha.txt");
    EXPECT_EQ(oha.format, "oha");
    EXPECT_EQ(stated(oha).size(), 11U); // nine percentiles and the extremes
    EXPECT_DOUBLE_EQ(stated(oha).at(0.999), 0.0109);
    EXPECT_EQ(oha.stated_count, 10'002U);
    EXPECT_EQ(dirt_of(oha, "failed").count, 7U);
    auto const json = latency_file("oha.json");
    EXPECT_DOUBLE_EQ(stated(json).at(0.9999), 0.0203);
    EXPECT_EQ(json.stated_count, 10'002U);
    auto const ghz = latency_file("ghz.txt");
    EXPECT_EQ(ghz.format, "ghz");
    EXPECT_DOUBLE_EQ(stated(ghz).at(0.99), 0.0665);
    EXPECT_EQ(ghz.stated_count, 200U);
}

TEST(LoadReports, OfOtherTools) {
    auto const bombardier = latency_file("bombardier.txt"), ab = latency_file("ab.txt"),
               siege = latency_file("siege.txt"), drill = latency_file("drill.txt"),
               h2load = latency_file("h2load.txt");
    EXPECT_DOUBLE_EQ(stated(bombardier).at(0.95), 6.97e-3);
    EXPECT_DOUBLE_EQ(stated(latency_file("bombardier.json")).at(0.95), 6.97e-3);
    EXPECT_EQ(bombardier.stated_count, 1'000'000U);
    EXPECT_DOUBLE_EQ(stated(ab).at(0.98), 0.022);
    EXPECT_DOUBLE_EQ(stated(ab).at(1.0), 0.042);
    EXPECT_DOUBLE_EQ(ab.stated_mean, 0.006);
    EXPECT_DOUBLE_EQ(stated(siege).at(1.0), 1.2);
    EXPECT_DOUBLE_EQ(siege.stated_mean, 0.05);
    EXPECT_DOUBLE_EQ(stated(drill).at(0.995), 0.493);
    EXPECT_DOUBLE_EQ(h2load.stated_mean, 1.01e-3);
    EXPECT_DOUBLE_EQ(stated(h2load).at(0.0), 102e-6);
}

TEST(LoadReports, OfListsOfPercentiles) {
    auto const list = latency_file("percentile_list.txt");
    EXPECT_EQ(list.format, "percentiles");
    EXPECT_DOUBLE_EQ(stated(list).at(0.99), 0.0649);
    EXPECT_DOUBLE_EQ(list.stated_mean, 0.0229);
    EXPECT_EQ(list.stated_count, 12'000U);
    EXPECT_EQ(list.unit_from, "cells");
    auto const table = latency_file("percentile_table.csv");
    EXPECT_DOUBLE_EQ(stated(table).at(0.999), 0.0931);
    EXPECT_TRUE(table.issues.empty());
    for (char const* const text :
         {"| stat | latency (ms) |\n|---|---|\n| p50 | 20.1 |\n| p90 | 38.2 |\n| p99 | 64.9 |\n",
          "P50 latency (ms) = 20.1\nP90 latency (ms) = 38.2\nP99 latency (ms) = 64.9\n",
          "quantile;dauer [ms]\n0,5;20,1\n0,9;38,2\n0,99;64,9\n",
          "endpoint\tpercentile\tms\n/a\t50%\t20.1\n/a\t90%\t38.2\n/a\t99%\t64.9\n",
          "latency_ms,percentile\n20.1,50\n38.2,90\n64.9,99\n"}) {
        auto const found = read_latencies(text);
        EXPECT_TRUE(found.digest.values().empty()) << text;
        ASSERT_EQ(found.stated.size(), 3U) << text;
        EXPECT_NEAR(stated(found).at(0.99), 0.0649, 1e-12) << text;
    }
    expect_refused("p50: 20ms\np90: 60ms\np99: 30ms\n", Fault::unreadable, "samples: p99 is less than p90");
    expect_refused("p50: 20ms\np99: 60ms\np50: 25ms\n", Fault::unreadable, "samples:3: a second report");
}

TEST(LoadReports, OfHistograms) {
    auto const table = latency_file("histogram.csv");
    EXPECT_EQ(table.digest.values().count(), 1700U);
    EXPECT_EQ(table.known.back().value, 0.1);
    EXPECT_NEAR(table.digest.values().quantile(0.5), 7.7e-3, 1e-4); // 490 of 900 samples between 5 and 10 ms
    auto const scrape = latency_file("prometheus.txt");
    EXPECT_EQ(scrape.digest.values().count(), 200U);
    EXPECT_DOUBLE_EQ(scrape.stated_mean, 0.076);
    EXPECT_EQ(dirt_of(scrape, "sample beyond the last bucket, counted at its end").count, 1U);
    auto const counted = read_latencies("latency_ms,count\n1,10\n2,20\n3,10\n");
    EXPECT_EQ(counted.digest.values().count(), 40U);
    EXPECT_NEAR(counted.digest.values().quantile(0.5), 2e-3, 1e-6);
    auto const unsorted = read_latencies("bucket_ms,count\n5,10\n1,50\n2,30\n");
    EXPECT_EQ(unsorted.digest.values().count(), 90U);
    EXPECT_EQ(unsorted.known.back().value, 5e-3);
    EXPECT_NEAR(stated(read_latencies("latency_ms,cdf\n10,0.1\n20,0.5\n60,0.99\n")).at(0.99), 0.06, 1e-12);
    EXPECT_EQ(read_latencies("size,latency_us,count\n1,10,9\n2,11,9\n4,12,9\n").digest.values().count(), 3U);
    auto const cumulative = read_latencies("le_ms,cumulative_count\n1,10\n2,30\n3,40\n");
    EXPECT_EQ(cumulative.digest.values().count(), 40U);
    auto const summary = read_latencies("rpc_seconds{quantile=\"0.5\"} 0.2\nrpc_seconds{quantile=\"0.99\"} 0.9\n"
                                        "rpc_seconds_sum 25\nrpc_seconds_count 100\n");
    EXPECT_DOUBLE_EQ(stated(summary).at(0.99), 0.9);
    EXPECT_EQ(summary.stated_count, 100U);
    std::string const two =
        "a_bucket{le=\"1\"} 1\na_bucket{le=\"+Inf\"} 1\nb_bucket{le=\"1\"} 2\nb_bucket{le=\"+Inf\"} 2\n";
    expect_refused(two, Fault::usage, "2 distributions in this file");
    // Rows with a time and a count are sums over a second, whose means are no samples of one request: they stay rows.
    EXPECT_EQ(read_latencies("time,latency_ms,count\n1,5,10\n2,6,9\n3,7,8\n").digest.values().count(), 3U);
}

TEST(LoadReports, OfServingBenchmarks) {
    auto const first = latency_file("vllm.txt", {.column = "ttft"});
    EXPECT_EQ(first.format, "vllm");
    EXPECT_DOUBLE_EQ(stated(first).at(0.99), 0.73093);
    EXPECT_DOUBLE_EQ(first.stated_mean, 0.31842);
    EXPECT_EQ(first.stated_count, 997U);
    EXPECT_EQ(dirt_of(first, "failed").count, 3U);
    EXPECT_EQ(dirt_of(first, "another metric").count, 4U);
    EXPECT_DOUBLE_EQ(stated(latency_file("vllm.json", {.column = "ITL"})).at(0.5), 0.0209);
    // The request that failed has a time of zero, which is none.
    auto const detailed = latency_file("vllm_detailed.json");
    EXPECT_EQ(detailed.digest.values().count(), 5U);
    EXPECT_DOUBLE_EQ(detailed.digest.values().least(), 0.110);
    EXPECT_DOUBLE_EQ(stated(detailed).at(0.99), 0.31096);
    EXPECT_EQ(dirt_of(detailed, "failed").count, 1U);
    for (char const* const name : {"genai_perf.json", "genai_perf.csv", "genai_perf.txt"}) {
        auto const request = latency_file(name, {.column = "Request Latency"});
        EXPECT_EQ(request.format, "genai-perf");
        EXPECT_DOUBLE_EQ(request.stated_mean, 0.4992) << name;
        EXPECT_GT(stated(request).at(0.99), 0.53) << name;
    }
    std::string const text = "============ Serving Benchmark Result ============\nSuccessful requests: 10\n";
    expect_refused(text + "Mean TTFT (ms): 3\nMedian TTFT (ms): 3\nMean ITL (ms): 2\nMedian ITL (ms): 2\n",
                   Fault::usage, "2 latencies in this report (TTFT or ITL). name one: --column 'TTFT'");
}

TEST(LoadReports, OfFio) {
    auto const report = latency_file("fio.json");
    EXPECT_EQ(report.format, "fio");
    EXPECT_EQ(report.column, "clat_ns");
    EXPECT_DOUBLE_EQ(stated(report).at(0.999), 5210112e-9);
    EXPECT_DOUBLE_EQ(report.stated_mean, 90112.25e-9);
    EXPECT_EQ(report.stated_count, 1000U);
    EXPECT_DOUBLE_EQ(latency_file("fio.json", {.column = "slat_ns"}).stated_mean, 2500.5e-9);
    // A cell of fio between 2^13 and 2^14 ns is 128 ns wide, and its value is the middle.
    auto const histogram = latency_file("fio_histogram.json");
    EXPECT_EQ(histogram.digest.values().count(), 100U);
    EXPECT_DOUBLE_EQ(histogram.known.front().value, 10240e-9);
    EXPECT_DOUBLE_EQ(histogram.known[1].value, 10368e-9);
    EXPECT_DOUBLE_EQ(histogram.known[1].q, 0.4);
    std::string const side = R"({"clat_ns": {"min": 1, "max": 9, "mean": 5, "N": 10, "percentile": {"50.000000": 4}}})";
    std::string const both =
        R"({"fio version": "fio-3.1", "jobs": [{"jobname": "a", "read": )" + side + R"(, "write": )" + side + "}]}";
    expect_refused(both, Fault::usage, "jobname=a direction=read");
    EXPECT_EQ(read_latencies(both, {.where = {{"direction", "write"}}}).stated_count, 10U);
    auto const old = read_latencies(
        "fio: warning\n{\"fio version\": \"fio-2.1\", \"jobs\": [{\"jobname\": \"a\", \"read\": {\"total_ios\": 7, "
        "\"clat\": {\"min\": 1, \"max\": 90, \"percentile\": {\"99.00\": 80, \"0.00\": 0}}}}]}\n");
    EXPECT_DOUBLE_EQ(stated(old).at(0.99), 80e-6);
    EXPECT_DOUBLE_EQ(stated(old).at(0.0), 1e-6);
    EXPECT_EQ(dirt_of(old, "line not used").count, 1U);
}

TEST(LoadReports, TakeUnitsFromTheNamesOfRows) {
    std::string const table = "what,p50,p90,p99\nrequest latency (ms),10,20,30\nlength (tokens),5,6,7\n";
    auto const chosen = read_latencies(table, {.where = {{"what", "request latency (ms)"}}});
    EXPECT_DOUBLE_EQ(stated(chosen).at(0.99), 0.03);
    EXPECT_EQ(chosen.unit_from, "cells");
    expect_refused(table, Fault::usage, "--where 'what=request latency (ms)'");
    EXPECT_THROW(static_cast<void>(read_latencies(table, {.where = {{"what", "length (tokens)"}}})), InputError);
}

TEST(LoadReports, OfTablesOfPercentiles) {
    auto const locust = latency_file("locust_stats.csv");
    EXPECT_EQ(locust.stated_count, 3500U);
    EXPECT_DOUBLE_EQ(stated(locust).at(0.999), 0.2);
    EXPECT_DOUBLE_EQ(locust.stated_mean, 0.0174);
    EXPECT_DOUBLE_EQ(stated(latency_file("locust_stats.csv", {.where = {{"Name", "/login"}}})).at(0.99), 0.12);
    EXPECT_EQ(dirt_of(locust, "apart from the one").count, 2U);
    auto const jmeter = latency_file("jmeter_aggregate.csv");
    EXPECT_DOUBLE_EQ(stated(jmeter).at(0.99), 0.7);
    EXPECT_DOUBLE_EQ(stated(latency_file("jmeter_statistics.json")).at(0.95), 0.26);
    EXPECT_DOUBLE_EQ(stated(latency_file("autocannon.json")).at(0.975), 2e-3);
    expect_refused("name,p50_ms,p99_ms\na,1,2\nb,1,3\n", Fault::usage, "2 rows of percentiles");
    EXPECT_DOUBLE_EQ(stated(read_latencies("name,p50_ms,p99_ms\na,1,2\n")).at(0.99), 2e-3);
    EXPECT_EQ(read_latencies("name,p50_ms,p99_ms\na,1,2\nb,1,3\n", {.column = "p99_ms"}).digest.values().count(), 2U);
}

// Expectation: p50 of 1000 samples is the 500th: 100 below 2 ms, then 400 of 500 spread over 2 to 4 ms: 3.6 ms.
TEST(LoadReports, OfFortioAreHistograms) {
    auto const samples = latency_file("fortio.json");
    EXPECT_EQ(samples.digest.values().count(), 1000U);
    EXPECT_NEAR(samples.digest.values().quantile(0.5), 3.6e-3, 3.6e-5);
    EXPECT_NEAR(samples.digest.values().quantile(0.99), 10e-3, 1e-4);
    EXPECT_EQ(samples.stated_mean, 0.0041);
}

// Expectation: the spectrum has rows at p50 and the maximum alone; between them the stated percentiles hold.
TEST(LoadReports, FinerStatementsHoldInAShortSpectrum) {
    auto const samples = latency_file("wrk2_short.txt");
    EXPECT_EQ(samples.digest.values().count(), 20'000U);
    EXPECT_NEAR(samples.digest.values().quantile(0.75), 5.1e-3, 5e-5);
    EXPECT_NEAR(samples.digest.values().quantile(0.99), 9.8e-3, 1e-4);
    EXPECT_NEAR(samples.digest.values().quantile(0.5), 4.0e-3, 4e-5);
}

TEST(LoadReports, AnOldVegetaStatesItsTailAlone) {
    auto const samples = latency_file("vegeta_old.txt");
    EXPECT_EQ(stated(samples), (std::map<double, double>{{0.95, 0.0112}, {0.99, 1.5}, {1.0, 2.75}}));
    EXPECT_EQ(samples.stated_count, 12'000U);
}

// Expectation: an answer of 503 has a time among the others, which says nothing of an answer: its count is in the result.
TEST(LoadReports, FailuresAmongTheTimesAreCounted) {
    constexpr char const* among = "failure among the times of the report";
    EXPECT_EQ(dirt_of(latency_file("ghz.txt"), among).count, 2U) << "[Unavailable]";
    std::string hey = io::read_file(std::string{HEADROOM_SOURCE_DIR} + "/tests/data/latencies/hey.txt");
    std::uint64_t const before = dirt_of(read_latencies(hey), among).count;
    hey.insert(hey.find("[200]"), "[503]\t40 responses\n  ");
    EXPECT_EQ(dirt_of(read_latencies(hey), among).count, before + 40U);
    EXPECT_EQ(dirt_of(read_latencies("{\"summary\":{\"slowest\":2.0},\"latencyPercentiles\":{\"p50\":1.0},"
                                     "\"statusCodeDistribution\":{\"200\":5,\"304\":1,\"404\":3,\"500\":4}}"),
                      among)
                  .count,
              7U);
    std::string fortio = io::read_file(std::string{HEADROOM_SOURCE_DIR} + "/tests/data/latencies/fortio.json");
    auto const codes = fortio.find("\"RetCodes\"");
    ASSERT_NE(codes, std::string::npos);
    fortio.insert(fortio.find('{', codes) + 1, "\"-1\": 6,");
    EXPECT_EQ(dirt_of(read_latencies(fortio), among).count, 6U) << "sockets that failed";
    EXPECT_EQ(dirt_of(latency_file("autocannon.json"), among).count, 0U);
}

TEST(LoadReports, TwoInOneFileAreRefused) {
    for (char const* const name :
         {"wrk.txt", "wrk2.txt", "hey.txt", "oha.txt", "ab.txt", "vegeta_report.txt", "k6_summary.txt",
          "bombardier.txt", "siege.txt", "drill.txt", "h2load.txt", "ghz.txt"}) {
        std::string const first = io::read_file(std::string{HEADROOM_SOURCE_DIR} + "/tests/data/latencies/" + name);
        std::string second = first;
        for (char& c : second) { c = c == '1' ? '2' : c == '2' ? '3' : c; } // another run
        expect_refused(first + second, Fault::unreadable, "a second report in this file");
        expect_refused("$ tool\n" + first + "\n$ tool\n" + second, Fault::unreadable, "a second report in this file");
    }
    for (char const* const name :
         {"oha.json", "vegeta_report.json", "k6_summary.json", "fortio.json", "autocannon.json"}) {
        std::string const first = io::read_file(std::string{HEADROOM_SOURCE_DIR} + "/tests/data/latencies/" + name);
        expect_refused(first + first, Fault::unreadable, "a second report in this file");
    }
}

TEST(LoadReports, LinesThatAreNotReadAreCounted) {
    std::string const text = io::read_file(std::string{HEADROOM_SOURCE_DIR} + "/tests/data/latencies/wrk.txt");
    auto const samples = read_latencies("$ wrk -t12 http://x\n" + text + "     99.5%  7.00parsecs\n");
    EXPECT_EQ(dirt_of(samples, "line not used"), (DirtSeen{2, 1}));
    std::string twice = text;
    twice.insert(twice.find("Requests/sec"), "Requests/sec: 748868.53\n");
    EXPECT_EQ(dirt_of(read_latencies(twice), "stands twice").count, 1U);
    EXPECT_EQ(dirt_of(read_latencies("{\"latencies\":{\"99th\":5,\"99th\":7,\"p42x\":1},\"requests\":3,\"mine\":1}"),
                      "key not used")
                  .count,
              2U);
    EXPECT_EQ(dirt_of(read_latencies("{\"latencies\":{\"99th\":5,\"99th\":5},\"requests\":3}"), "key that stands twice")
                  .count,
              1U);
}

/// A folder of inputs from public reports, where one was given.
std::filesystem::path shared_cases() {
    char const* const given = std::getenv("HEADROOM_SHARED");
    return (given != nullptr ? std::filesystem::path{given}
                             : std::filesystem::path{HEADROOM_SOURCE_DIR} / "../shared") /
           "cases";
}

TEST(SharedCases, OfTailsAreReadOrRefused) {
    auto const folder = shared_cases();
    if (!std::filesystem::exists(folder / "tail-oha")) { GTEST_SKIP() << "skipped: there is no " << folder; }
    auto const read = [&](char const* name) { return io::read_latency_samples((folder / name).string(), {}); };
    EXPECT_EQ(stated(read("tail-oha/oha.txt")).size(), 11U);
    EXPECT_DOUBLE_EQ(stated(read("tail-vegeta-old/vegeta_2014.txt")).at(0.99), 3.002067645);
    EXPECT_DOUBLE_EQ(stated(read("tail-vegeta-old/vegeta_2018.txt")).at(0.5), 0.451048775);
    EXPECT_NEAR(read("tail-wrk2-short-spectrum/w2k.txt").digest.values().quantile(0.75), 7.78e-3, 7.78e-5);
    EXPECT_DOUBLE_EQ(stated(read("tail-other-tools/ab.txt")).at(0.99), 0.091);
    EXPECT_NEAR(read("tail-other-tools/fortio.json").digest.values().quantile(0.9), 1.06, 0.0106);
    EXPECT_DOUBLE_EQ(stated(read("tail-other-tools/locust_stats.csv")).at(0.99), 0.12);
    for (char const* const two : {"tail-two-reports/wrk_two.txt", "tail-two-reports/wrk_pasted.txt"}) {
        EXPECT_THROW(static_cast<void>(read(two)), InputError) << two;
    }
}

} // namespace
} // namespace headroom
