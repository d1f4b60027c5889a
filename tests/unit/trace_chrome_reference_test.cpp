// Recorded traces against sums that another program made from them with whole nanoseconds.

#include "headroom/io/trace.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

namespace headroom {

using namespace headroom::trace;

namespace {

using Intervals = std::vector<std::pair<Ticks, Ticks>>;

std::filesystem::path recorded_traces() {
    char const* const shared = std::getenv("HEADROOM_SHARED");
    return std::filesystem::path(shared != nullptr ? shared : HEADROOM_SOURCE_DIR "/../shared") / "traces";
}

Ticks covered(Intervals intervals) {
    std::sort(intervals.begin(), intervals.end());
    Ticks sum = 0, reached = 0;
    bool any = false;
    for (auto const& [begin, end] : intervals) {
        Ticks const from = any ? std::max(begin, reached) : begin;
        if (end > from) { sum += end - from; }
        reached = any ? std::max(reached, end) : end;
        any = true;
    }
    return sum;
}

Intervals both(Intervals left, Intervals const& right) {
    left.insert(left.end(), right.begin(), right.end());
    return left;
}

struct DeviceSums {
    std::array<Intervals, 3> of; ///< computing, communication, memory
    std::array<Ticks, 3> sums{};
    Ticks first = 0, last = 0;
};

DeviceSums device_sums(RankTrace const& trace) {
    DeviceSums sums;
    bool any = false;
    auto const& line = trace.timeline;
    for (std::size_t span = 0; span < trace.size(); ++span) {
        if (!occupies_device(trace.kind[span])) { continue; }
        auto const kind = static_cast<std::size_t>(trace.kind[span]);
        sums.of[kind].emplace_back(line.begin[span], line.end[span]);
        sums.sums[kind] += line.end[span] - line.begin[span];
        if (line.end[span] == line.begin[span]) { continue; } // nothing ran: one stands before all work in a sample
        sums.first = any ? std::min(sums.first, line.begin[span]) : line.begin[span];
        sums.last = any ? std::max(sums.last, line.end[span]) : line.end[span];
        any = true;
    }
    return sums;
}

void compare(RankTrace const& trace, nlohmann::json const& expected) {
    DeviceSums const sums = device_sums(trace);
    auto const& [computing, communication, memory] = sums.of;
    Ticks const busy = covered(both(both(computing, communication), memory));
    Ticks const overlap = covered(computing) + covered(communication) - covered(both(computing, communication));
    EXPECT_EQ(sums.last - sums.first, expected.at("window_ns").get<Ticks>());
    EXPECT_EQ(busy, expected.at("busy_ns").get<Ticks>());
    EXPECT_EQ(covered(computing), expected.at("comp_ns").get<Ticks>());
    EXPECT_EQ(covered(communication), expected.at("comm_ns").get<Ticks>());
    EXPECT_EQ(covered(memory), expected.at("mem_ns").get<Ticks>());
    EXPECT_EQ(overlap, expected.at("comm_overlap_comp_ns").get<Ticks>());
    constexpr std::array names{"comp", "comm", "mem"};
    for (std::size_t kind = 0; kind < names.size(); ++kind) {
        EXPECT_EQ(sums.of[kind].size(), expected.at("kernel_count").at(names[kind]).get<std::size_t>()) << names[kind];
        EXPECT_EQ(sums.sums[kind], expected.at("sum_durations_ns").at(names[kind]).get<Ticks>()) << names[kind];
    }
}

nlohmann::json reference(std::filesystem::path const& file) {
    std::ifstream text(file);
    return nlohmann::json::parse(text);
}

TEST(ChromeReference, EveryRecordedTraceToTheNanosecond) {
    auto const folder = recorded_traces();
    if (!std::filesystem::exists(folder)) { GTEST_SKIP() << "recorded traces are not here"; }
    int files = 0;
    for (auto const& entry : std::filesystem::recursive_directory_iterator(folder)) {
        bool const sums = entry.path().parent_path().filename() == "exact_reference" &&
                          entry.path().extension() == ".json" &&
                          entry.path().string().find("skew") == std::string::npos;
        if (!sums) { continue; }
        auto const expected = reference(entry.path());
        for (auto const& [rank, row] : expected.at("ranks").items()) {
            if (!row.contains("whole_file") || row["whole_file"].is_null()) { continue; }
            SCOPED_TRACE(row.at("file").get<std::string>());
            auto const traces = io::read_traces(folder / row.at("file").get<std::string>());
            ASSERT_EQ(traces.size(), 1U);
            if (row["whole_file"].contains("window_ns")) { compare(traces[0], row["whole_file"]); }
            ++files;
        }
    }
    EXPECT_GT(files, 40);
    std::cout << files << " traces\n";
}

/// Two multiplications, [100, 150) and [200, 300) us, and a sum over ranks, [120, 180) us, in a file that is damaged.
class DamagedTrace : public testing::TestWithParam<std::pair<char const*, char const*>> {};

TEST_P(DamagedTrace, GivesWhatItHolds) {
    auto const [name, kind] = GetParam();
    auto const file = recorded_traces() / "damaged" / name;
    if (!std::filesystem::exists(file)) { GTEST_SKIP() << "recorded traces are not here"; }
    for (std::size_t const block : {64U, 100U, 1U << 20U}) {
        io::TraceReading reading;
        reading.block = block;
        auto const traces = io::read_traces(file, reading);
        ASSERT_EQ(traces.size(), 1U);
        auto const sums = device_sums(traces[0]);
        bool const truncated = std::string_view(name).starts_with("07");
        EXPECT_EQ(covered(sums.of[0]), truncated ? 50'000 : 150'000);
        EXPECT_EQ(covered(sums.of[1]), 60'000);
        EXPECT_EQ(covered(sums.of[0]) + covered(sums.of[1]) - covered(both(sums.of[0], sums.of[1])), 30'000);
        if (!truncated) { EXPECT_EQ(sums.last - sums.first, 200'000); }
        auto const& issues = traces[0].issues;
        EXPECT_EQ(issues.empty(), *kind == '\0');
        bool const said =
            std::any_of(issues.begin(), issues.end(), [wanted = kind](auto const& one) { return one.kind == wanted; });
        EXPECT_TRUE(said || *kind == '\0') << kind;
    }
}

INSTANTIATE_TEST_SUITE_P(
    Files, DamagedTrace,
    testing::Values(std::pair("00_good.json", ""), std::pair("01_inf_bandwidth.json", "not a number"),
                    std::pair("02_nan_value.json", "not a number"),
                    std::pair("03_windows_backslashes.json", "bad escape"),
                    std::pair("04_control_chars.json", "control character"),
                    std::pair("05_raw_newline_and_quote_in_name.json", "unreadable event"),
                    std::pair("06_invalid_utf8.json", "invalid UTF-8"),
                    std::pair("07_truncated_array.json", "cut short"),
                    std::pair("08_no_closing_brackets_trailing_comma.json", "comma at the end"),
                    std::pair("09_top_level_array.json", ""), std::pair("10_duplicate_keys.json", "duplicate key"),
                    std::pair("11_no_rank.json", ""), std::pair("12_metadata_after_events.json", ""),
                    std::pair("13_string_numbers.json", "number in quotes")));

} // namespace
} // namespace headroom
