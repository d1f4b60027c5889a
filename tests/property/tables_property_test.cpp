// Every sort of table reads to the same values in every layout, and no text behind a number is dropped.

#include "support/latency_texts.hpp"
#include "support/table_texts.hpp"
#include "support/training.hpp"

#include "headroom/error.hpp"
#include "headroom/io/benchmark_log.hpp"
#include "headroom/io/file.hpp"
#include "headroom/io/request_trace.hpp"
#include "headroom/io/runs.hpp"
#include "headroom/io/scaling_table.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace headroom {
namespace {

using test::TableCells;

/// Values of a table as one text, for comparison.
using Reading = std::function<std::string(std::string const&)>;

std::string scaling(std::string const& text) {
    std::string values;
    for (auto const& row : io::read_scaling_table(text, "t", {}).rows) {
        values += fmt::format("{} {}\n", row.workers, row.value);
    }
    return values;
}

std::string requests(std::string const& text) {
    io::RequestTrace const trace = io::read_request_text(text, "t", {});
    std::string values = fmt::format("{} dirty\n", trace.issues.size());
    for (auto const& one : trace.requests) { values += fmt::format("{} {} {}\n", one.arrives, one.prompt, one.output); }
    return values;
}

/// Plain cells are scaled before they are rounded, others after: they may differ in the last bit.
std::string latencies(std::string const& text) {
    io::LatencySamples const samples = test::read_latencies(text);
    auto const& values = samples.digest.values();
    return fmt::format("{} dirty, {} from {:.12g} to {:.12g}, {:.9g}", samples.issues.size(), values.count(),
                       values.least(), values.most(), values.quantile(0.5));
}

std::string collectives(std::string const& text) {
    std::string values;
    io::BenchmarkLog const log = io::read_benchmark_log(text, "t", {});
    for (auto const& row : log.rows) {
        values += fmt::format("{} {} {} {}\n", row.ranks, row.nodes, row.size.size.base(), row.time.base());
    }
    return values + fmt::format("{} troubles", log.issues.size());
}

std::string runs(std::string const& text) {
    std::string values;
    for (auto const& run : io::read_runs(text, "t", training::catalog())) {
        values += fmt::format("{} {} {}\n", run.id, run.measured.base(), run.skipped_reason);
    }
    return values;
}

/// A table of one sort, of random numbers with two decimals.
struct Sort {
    std::string_view name;
    Reading read;
    std::vector<std::string> header;
    std::vector<std::string> (*row)(int index, int number);
    std::size_t number_column;
};

std::string hundredths(int number) { return fmt::format("{}.{:02}", number / 100, number % 100); }

std::vector<Sort> const& sorts() {
    static std::vector<Sort> const all{
        {"scaling",
         scaling,
         {"host", "MPI ranks", "wall time (ms)"},
         [](int i, int n) {
             return std::vector<std::string>{"a" + std::to_string(i), std::to_string(i + 1), hundredths(n)};
         },
         2},
        {"requests",
         requests,
         {"arrival (s)", "prompt tokens", "user", "output tokens"},
         [](int i, int n) {
             return std::vector<std::string>{hundredths(n), std::to_string(i + 7), "u", std::to_string(n)};
         },
         0},
        {"latencies",
         latencies,
         {"end point", "latency [us]", "note"},
         [](int i, int n) {
             return std::vector<std::string>{"/x" + std::to_string(i), hundredths(n), "fine"};
         },
         1},
        {"collectives",
         collectives,
         {"collective", "ranks", "nodes", "size", "time (us)"},
         [](int i, int n) {
             return std::vector<std::string>{"all_reduce", "8", "2", std::to_string(1000 + i), hundredths(n)};
         },
         4},
    };
    return all;
}

TableCells random_table(Sort const& sort) {
    auto const numbers = *rc::gen::suchThat(rc::gen::container<std::vector<int>>(rc::gen::inRange(101, 900'000)),
                                            [](auto const& some) { return some.size() >= 3; });
    TableCells cells{sort.header};
    for (std::size_t i = 0; i < numbers.size(); ++i) { cells.push_back(sort.row(static_cast<int>(i), numbers[i])); }
    return cells;
}

RC_GTEST_PROP(TablesProperty, EveryLayoutHasTheSameValues, ()) {
    for (Sort const& sort : sorts()) {
        TableCells const cells = random_table(sort);
        std::string const expected = sort.read(test::in_layout(cells, "comma"));
        for (std::string_view const layout : test::layouts) {
            std::string const text = test::in_layout(cells, layout);
            std::string const found = sort.read(text);
            if (found != expected) {
                RC_FAIL(fmt::format("{} as {}:\n{}\n{}\nnot\n{}", sort.name, layout, text, found, expected));
            }
        }
    }
}

RC_GTEST_PROP(TablesProperty, DecimalCommasAndGroupsHaveTheSameValues, ()) {
    for (Sort const& sort : sorts()) {
        TableCells const cells = random_table(sort);
        std::string const expected = sort.read(test::in_layout(cells, "comma"));
        TableCells commas = cells, grouped = cells;
        for (std::size_t r = 1; r < cells.size(); ++r) {
            std::string& comma = commas[r][sort.number_column];
            std::replace(comma.begin(), comma.end(), '.', ',');
            std::string& group = grouped[r][sort.number_column];
            if (auto const point = group.find('.'); point > 3) { group.insert(point - 3, "'"); }
        }
        for (std::string_view const layout : test::layouts) {
            RC_ASSERT(sort.read(test::in_layout(commas, layout)) == expected);
            RC_ASSERT(sort.read(test::in_layout(grouped, layout)) == expected);
        }
    }
}

// Expectation: a row whose number has text behind it is refused, or is counted among those left out.
RC_GTEST_PROP(TablesProperty, TextBehindANumberIsNeverDropped, ()) {
    for (Sort const& sort : sorts()) {
        TableCells cells = random_table(sort);
        std::string const whole = sort.read(test::in_layout(cells, "comma"));
        auto const row = *rc::gen::inRange<std::size_t>(1, cells.size());
        cells[row][sort.number_column] += *rc::gen::element<std::string>(" or so", "?", "(est.)", " 7", ",5 x");
        for (std::string_view const layout : test::layouts) {
            try {
                RC_ASSERT(sort.read(test::in_layout(cells, layout)) != whole);
            } catch (InputError const& error) {
                RC_ASSERT(std::string_view{error.what()}.find('\n') == std::string_view::npos);
            }
        }
    }
}

// Expectation: published runs are the same between commas, semicolons and tabs.
TEST(TablesProperty, PublishedRunsInEveryLayout) {
    auto const table = io::read_csv(io::read_file(HEADROOM_SOURCE_DIR "/validation/published_runs.csv"), "runs");
    TableCells cells{table.header};
    for (std::size_t i = 0; i < table.records.size(); i += 40) { cells.push_back(table.records[i].cells); }
    std::string const expected = runs(test::in_layout(cells, "comma"));
    EXPECT_GT(expected.size(), 100U);
    for (std::string_view const layout : {"semicolon", "tab", "comment", "quotes and returns"}) {
        EXPECT_EQ(runs(test::in_layout(cells, layout)), expected) << layout;
    }
}

} // namespace
} // namespace headroom
