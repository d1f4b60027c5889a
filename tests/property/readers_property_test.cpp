// A file with a line lost, a line twice, or text behind a number reads to something else, is counted as such, or is refused.
// Readers keep no such damage to themselves.

#include "support/latency_texts.hpp"
#include "support/training.hpp"

#include "headroom/counter_random.hpp"
#include "headroom/error.hpp"
#include "headroom/io/benchmark_log.hpp"
#include "headroom/io/file.hpp"
#include "headroom/io/request_trace.hpp"
#include "headroom/io/runs.hpp"
#include "headroom/io/scaling_table.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace headroom {
namespace {

using Lines = std::vector<std::string>;

std::string counted(std::vector<Issue> const& issues) {
    std::string text;
    for (Issue const& one : issues) { text += fmt::format("{} {} {} {}\n", one.kind, one.count, one.column, one.text); }
    return text;
}

/// Figures of samples, without the number of lines.
std::string latencies(std::string const& text) {
    io::LatencySamples const samples = test::read_latencies(text);
    auto const& values = samples.digest.values();
    std::string found =
        fmt::format("{} {} {} {:.9g}\n", samples.format, samples.unit, samples.stated_count, samples.stated_mean);
    for (auto const& one : samples.stated) { found += fmt::format("{} {:.9g}\n", one.q, one.value); }
    if (!values.empty()) {
        found += fmt::format("{} {:.9g} {:.9g} {:.12g} {:.9g}\n", values.count(), values.least(), values.most(),
                             values.mean(), samples.digest.duration());
        for (double const q : {0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999}) {
            found += fmt::format("{:.6g} ", values.quantile(q));
        }
    }
    for (std::string const& note : samples.notes) { found += "\n" + note; }
    return found + "\n" + counted(samples.issues);
}

std::string collectives(std::string const& text, std::string const& name) {
    std::string found;
    io::BenchmarkLog const log = io::read_benchmark_log(text, name, {});
    for (auto const& row : log.rows) {
        found += fmt::format("{} {} {} {} {} {} {} {}\n", name_of(row.collective), row.ranks, row.nodes,
                             row.size.size.base(), row.time.base(), row.data_type, row.algorithm, row.system);
    }
    for (std::string const& note : log.notes) { found += note + "\n"; }
    return found + counted(log.issues);
}

std::string requests(std::string const& text) {
    io::RequestTrace const trace = io::read_request_text(text, "t", {});
    std::string found = fmt::format("{} {} {}\n", trace.format, trace.time_unit, trace.out_of_order);
    for (auto const& one : trace.requests) { found += fmt::format("{} {} {}\n", one.arrives, one.prompt, one.output); }
    return found + counted(trace.issues);
}

std::string runs(std::string const& text) {
    std::vector<Issue> issues;
    std::string found;
    for (auto const& run : io::read_runs(text, "t", training::catalog(), &issues)) {
        found += fmt::format("{} {} {} {} {}\n", run.id, run.source, run.accelerator, run.measured.base(),
                             run.skipped_reason);
    }
    return found + counted(issues);
}

// ---- damage -----------------------------------------------------------------------------------------------------------

Lines lines_of(std::string const& text) {
    Lines lines;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t const end = std::min(text.find('\n', at), text.size() - 1);
        lines.push_back(text.substr(at, end - at + 1));
        at = end + 1;
    }
    return lines;
}

std::string joined(Lines const& lines) {
    std::string text;
    for (std::string const& line : lines) { text += line; }
    return text;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Ends of the numbers of a line that a reader has to look at: of a table those of the columns that it uses.
std::vector<std::size_t> number_ends(std::string const& line, bool json, std::vector<int> const& columns) {
    std::string_view const between = json ? " \t,:|\r\n\"{}[]" : !columns.empty() ? ",\t\r\n" : " \t,;|\r\n\"{}[]()";
    std::vector<std::size_t> ends;
    int column = 0;
    std::size_t const begin = line.starts_with("[1,0]<") ? line.find(':') : 0; // behind the mark of a launcher
    for (std::size_t i = begin; i < line.size(); ++column) {
        std::size_t const end = std::min(line.find_first_of(between, i), line.size());
        bool const wanted = columns.empty() || std::ranges::find(columns, column) != columns.end();
        bool const text = json && i > 0 && line[i - 1] == '"';
        if (end > i && is_digit(line[i]) && wanted && !text) { ends.push_back(end); }
        i = end + 1;
    }
    return ends;
}

/// Facts of a file that the damage has to know.
struct Layout {
    std::vector<std::string_view> quiet = {}; ///< parts of lines without a figure: nobody can tell that one is missing
    std::vector<std::string_view> free = {};  ///< parts of lines whose text is anything
    std::vector<int> columns = {};            ///< of a table that are used, from 0
    bool json = false;
};

using Damage = std::function<bool(Lines& lines, std::size_t line, Layout const& layout, CounterRandom& random)>;

bool lose(Lines& lines, std::size_t line, Layout const&, CounterRandom&) {
    lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(line));
    return true;
}
bool repeat(Lines& lines, std::size_t line, Layout const&, CounterRandom&) {
    lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(line), lines[line]);
    return true;
}
/// False where the line holds no number.
bool add_text(Lines& lines, std::size_t line, Layout const& layout, CounterRandom& random) {
    auto const ends = number_ends(lines[line], layout.json, layout.columns);
    if (ends.empty()) { return false; }
    lines[line].insert(ends[random.next() % ends.size()], "#x");
    return true;
}

struct Kind {
    std::string_view name;
    Damage make;
};
std::vector<Kind> const& kinds() {
    static std::vector<Kind> const all{{"lost", lose}, {"twice", repeat}, {"text behind a number", add_text}};
    return all;
}

bool holds_one(std::string const& line, std::vector<std::string_view> const& parts) {
    return std::ranges::any_of(parts, [&](std::string_view part) { return line.find(part) != std::string::npos; });
}

/// Whether a damage of a line cannot be seen: of empty ones, comments, and those that the layout names.
bool is_silent(std::string const& line, Kind const& kind, Layout const& layout) {
    std::size_t const first = line.find_first_not_of(" \t\r\n");
    if (first == std::string::npos || line[first] == '#' || holds_one(line, layout.free)) { return true; }
    return kind.name != "text behind a number" && holds_one(line, layout.quiet);
}

using Reading = std::function<std::string(std::string const&)>;

/// Twenty damages of each kind, or as many as the file has lines for.
void expect_seen(std::string const& name, std::string const& text, Reading const& read, Layout const& layout = {}) {
    std::string whole;
    try {
        whole = read(text);
    } catch (InputError const& error) { FAIL() << name << ": " << error.what(); }
    Lines const lines = lines_of(text);
    for (Kind const& kind : kinds()) {
        CounterRandom random{7};
        for (int tries = 0, made = 0; tries < 400 && made < 20; ++tries) {
            std::size_t const line = random.next() % lines.size();
            Lines damaged = lines;
            if (is_silent(lines[line], kind, layout) || !kind.make(damaged, line, layout, random)) { continue; }
            ++made;
            try {
                EXPECT_NE(read(joined(damaged)), whole)
                    << name << ": " << kind.name << ": line " << line + 1 << ": " << lines[line];
            } catch (InputError const&) {} // said so
        }
    }
}

std::string data(std::string const& name) {
    return io::read_file(std::string{HEADROOM_SOURCE_DIR} + "/tests/data/" + name);
}

/// Lines of reports, and keys, that hold nothing of latencies.
std::vector<std::string_view> const quiet_lines{"Running",
                                                "threads and",
                                                "Thread calibration",
                                                "Thread Stats",
                                                "Req/Sec",
                                                "Detailed Percentile",
                                                "Requests/sec",
                                                "Transfer/sec",
                                                "------",
                                                "Buckets",
                                                "Summary:",
                                                "Success rate",
                                                "Total:",
                                                "Total data",
                                                "Size/",
                                                "histogram",
                                                "DNS",
                                                "req write",
                                                "resp wait",
                                                "resp read",
                                                "Details",
                                                "Name:",
                                                "Count:",
                                                "Done!",
                                                "Statistics",
                                                "Reqs/sec",
                                                "Throughput",
                                                "Server",
                                                "Document",
                                                "Concurrency",
                                                "Time taken",
                                                "(Connect:",
                                                "transferred",
                                                "Requests per second",
                                                "Time per request:",
                                                "Transfer rate",
                                                "Connection Times",
                                                "min ",
                                                "Connect:",
                                                "Processing:",
                                                "Waiting:",
                                                "Finished",
                                                "Availability",
                                                "Elapsed",
                                                "Data tr",
                                                "Transaction rate",
                                                "Successful",
                                                "Iterations",
                                                "Rampup",
                                                "Base URL",
                                                "Sample standard",
                                                "starting benchmark",
                                                "Application protocol",
                                                "finished in",
                                                "status codes",
                                                "traffic:",
                                                "time for connect",
                                                "time to 1st",
                                                "req/s ",
                                                "data_received",
                                                "http_req_blocked",
                                                "Bytes ",
                                                "Duration ",
                                                "Status Codes",
                                                "Error Set",
                                                "Vegeta is",
                                                "Done!",
                                                "Writing",
                                                "StartTimestamp",
                                                "HTTP codes",
                                                "Value ",
                                                "Status code",
                                                "\"S",
                                                "\"A",
                                                "\"L",
                                                "\"N",
                                                "\"R",
                                                "\"t",
                                                "\"s",
                                                "\"r",
                                                "\"error",
                                                "\"receivedK",
                                                "\"url",
                                                "{\"spec",
                                                "0.99",
                                                "1.00000000",
                                                "100.000%",
                                                "4.001     0.5",
                                                "0.076715"};
std::vector<std::string_view> const free_lines{"This is ApacheBench",
                                               "Copyright",
                                               "Licensed",
                                               "Benchmarking",
                                               "Completed",
                                               "Bombarding",
                                               " / ",
                                               "spawning",
                                               "progress",
                                               "Thread calibration",
                                               "data_received",
                                               "http_req_blocked",
                                               "expected_response",
                                               "Vegeta is",
                                               "Writing",
                                               "rpc error",
                                               "Get \"",
                                               "traffic:",
                                               "aborted",
                                               "Running",
                                               "Status Codes",
                                               "GET,/",
                                               "POST,/",
                                               "Home,",
                                               "Search,",
                                               "\"Home\"",
                                               "\"transaction\" : \"Home\"",
                                               "maxResTime\" : 400",
                                               "Value ",
                                               "Value(ms)",
                                               "Server Hostname",
                                               "\"url\"",
                                               "Vegeta",
                                               "Done!",
                                               "http_reqs,",
                                               "/a,inf",
                                               "/a,late",
                                               "\"/a,15",
                                               "/a,-3",
                                               "/a,,",
                                               "/a,NaN",
                                               ",503,",
                                               "home,500",
                                               ",1050,false",
                                               "timeout, it was",
                                               "\"attack\"",
                                               "Label,"};
/// Columns of the tables that are read.
std::map<std::string, std::vector<int>> const used_columns{{"jmeter.csv", {0, 1}},
                                                           {"hey.csv", {0, 7}},
                                                           {"apache_bench.tsv", {1, 4}},
                                                           {"vegeta.csv", {0, 2}},
                                                           {"k6.csv", {1, 2}},
                                                           {"table.csv", {0, 2}},
                                                           {"locust_stats.csv", {4, 15, 17, 18}},
                                                           {"jmeter_aggregate.csv", {1, 2, 3, 4, 5, 6, 7, 8}}};

TEST(Readers, OfTablesAndReportsOfLatenciesLoseNothing) {
    for (auto const& file :
         std::filesystem::directory_iterator{std::string{HEADROOM_SOURCE_DIR} + "/tests/data/latencies"}) {
        std::string const name = file.path().filename().string();
        Layout layout{.quiet = quiet_lines, .free = free_lines, .json = name.find(".json") != std::string::npos};
        if (auto const used = used_columns.find(name); used != used_columns.end()) { layout.columns = used->second; }
        expect_seen(name, data("latencies/" + name), latencies, layout);
    }
}

TEST(Readers, OfBenchmarkLogsLoseNothing) {
    for (auto const& file :
         std::filesystem::directory_iterator{std::string{HEADROOM_SOURCE_DIR} + "/tests/data/logs"}) {
        std::string const name = file.path().filename().string();
        Layout const layout{.quiet = {"Out of bounds"},
                            .free = {"Out of bounds", "$ ", "./build", "+ mpirun", ">: #", "additional processes",
                                     "620.61", "NCCL WARN", "\"version\""}};
        expect_seen(
            name, data("logs/" + name), [&](std::string const& text) { return collectives(text, name); }, layout);
    }
}

TEST(Readers, OfRecordedRequestsLoseNothing) {
    std::string table = "arrival_s,prompt,output,user\n", objects;
    for (int i = 0; i < 40; ++i) {
        table += fmt::format("{}.{},{},{},u{}\n", i, i % 10, 100 + i, 20 + i, i);
        objects += fmt::format("{{\"timestamp\": {}, \"input_length\": {}, \"output_length\": {}, \"hash\": \"h\"}}\n",
                               100 * i, 100 + i, 20 + i);
    }
    expect_seen("table", table, requests);
    expect_seen("objects", objects, requests);
}

} // namespace
} // namespace headroom
