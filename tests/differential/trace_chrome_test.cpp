// Events of a trace as the reader gives them and as a general JSON library does; and the same text in windows and
// chunks of any size, whole and damaged.

#include "support/chrome_documents.hpp"
#include "traces/json_index.hpp"

#include "headroom/error.hpp"
#include "headroom/io/trace.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace headroom {

using namespace headroom::trace;

namespace {

using Json = nlohmann::json;

/// Device, name, begin, end, correlation, place where that is a number.
using Row = std::tuple<bool, std::string, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t>;

std::int64_t nanoseconds(double micros) { return std::llround(micros * 1000.0); }

std::optional<double> number(Json const& object, char const* key) {
    auto const found = object.find(key);
    if (found == object.end() || !found->is_number()) { return {}; }
    return found->get<double>();
}

std::int64_t place(Json const& event, char const* key) { return std::llround(number(event, key).value_or(0)); }

bool runs_on_device(std::string const& category) {
    return category == "kernel" || category == "Kernel" || category == "gpu_memcpy" ||
           category == "gpu_user_annotation";
}

std::vector<Row> rows_of(Json const& document) {
    std::vector<Row> rows;
    Json const events = document.is_array() ? document : document.value("traceEvents", Json::array());
    for (Json const& event : events) {
        if (!event.is_object() || event.value("ph", Json()) != "X") { continue; }
        Json const category = event.value("cat", Json());
        std::string const known = category.is_string() ? category.get<std::string>() : "";
        auto const time = number(event, "ts"), length = number(event, "dur");
        if (known == "python_function" || !time || !length) { continue; }
        Json const given = event.value("args", Json::object());
        Json const arguments = given.is_object() ? given : Json::object();
        bool const device = runs_on_device(known);
        bool const stated_device = device && number(arguments, "device"),
                   stated = device && number(arguments, "stream");
        Json const word = event.value("tid", Json());
        bool const named = device && !stated && word.is_string() && word.get<std::string>().ends_with("7");
        std::int64_t const process = place(stated_device ? arguments : event, stated_device ? "device" : "pid");
        std::int64_t const thread = named ? 7 : place(stated ? arguments : event, stated ? "stream" : "tid");
        Json const name = event.value("name", Json(""));
        rows.emplace_back(device, name.is_string() ? name.get<std::string>() : "", nanoseconds(*time),
                          nanoseconds(*time) + std::max<std::int64_t>(nanoseconds(*length), 0),
                          std::max<std::int64_t>(place(arguments, "correlation"), 0), process, thread);
    }
    return rows;
}

/// Rows of a trace; places that are words count only as no number.
std::vector<Row> rows_of(RankTrace const& trace, std::int64_t base) {
    std::vector<Row> rows;
    auto const& line = trace.timeline;
    for (std::size_t span = 0; span < trace.size(); ++span) {
        TraceLane const& lane = trace.lanes[line.lane[span]];
        auto const plain = [](std::int64_t of) { return std::max<std::int64_t>(of, 0); };
        rows.emplace_back(lane.device, line.names[line.name[span]], line.begin[span] + trace.epoch_ns - base,
                          line.end[span] + trace.epoch_ns - base, trace.correlation[span], plain(lane.process),
                          plain(lane.thread));
    }
    return rows;
}

/// Where no category tells device work, names of threads do; that is tested by itself (trace_devices_test.cpp).
std::vector<Row> without_names(std::vector<Row> given, std::vector<Row> const& expected) {
    bool const told = std::any_of(expected.begin(), expected.end(), [](Row const& row) { return std::get<0>(row); });
    for (Row& row : given) { std::get<0>(row) = told && std::get<0>(row); }
    return given;
}

/// Whether ranks of one process have what another reader gives: intervals in its order, of devices each in one rank, of
/// the host each in one or more.
bool share_rows(std::vector<std::vector<Row>> const& ranks, std::vector<Row> const& expected) {
    std::map<Row, std::size_t> all, most;
    for (auto const& rank : ranks) {
        std::map<Row, std::size_t> here;
        auto next = expected.begin();
        for (Row const& row : rank) {
            next = std::find(next, expected.end(), row);
            if (next++ == expected.end()) { return false; }
            ++all[row];
            ++here[row];
        }
        for (auto const& [row, count] : here) { most[row] = std::max(most[row], count); }
    }
    std::map<Row, std::size_t> wanted;
    for (Row const& row : expected) { ++wanted[row]; }
    return std::all_of(wanted.begin(), wanted.end(), [&](auto const& entry) {
        auto const& [row, count] = entry;
        return std::get<0>(row) ? all[row] == count : all[row] >= count && most[row] <= count;
    });
}

bool same_rows(std::vector<RankTrace> const& traces, std::vector<Row> const& expected, std::int64_t base) {
    std::vector<std::vector<Row>> ranks;
    std::transform(traces.begin(), traces.end(), std::back_inserter(ranks),
                   [&](RankTrace const& trace) { return without_names(rows_of(trace, base), expected); });
    return ranks.size() == 1 ? ranks.front() == expected : share_rows(ranks, expected);
}

std::int64_t base_of(Json const& document) {
    return document.is_object() ? document.value("baseTimeNanoseconds", std::int64_t{0}) : 0;
}

TEST(ChromeReader, GivesWhatAnotherReaderGives) {
    int spans = 0, several = 0;
    for (std::uint32_t seed = 0; seed < 300; ++seed) {
        std::string const text = test::ChromeDocuments(seed).document(20);
        Json const document = Json::parse(text);
        auto const expected = rows_of(document);
        auto const traces = io::read_traces(text, "trace");
        bool const one_rank = text.find("distributedInfo") != std::string::npos;
        ASSERT_TRUE(traces.size() == 1 || !one_rank) << text;
        ASSERT_TRUE(same_rows(traces, expected, base_of(document))) << "seed " << seed << "\n" << text;
        spans += static_cast<int>(expected.size());
        several += traces.size() > 1 ? 1 : 0;
    }
    EXPECT_GT(spans, 2000);
    EXPECT_GT(several, 20) << "devices of one process";
}

/// Everything that a trace says, as text.
std::string said(std::vector<RankTrace> const& traces) {
    std::string text;
    auto const add = [&](auto const&... values) {
        auto const one = [&](auto const& value) {
            if constexpr (std::is_convertible_v<decltype(value), std::string>) {
                text += value;
            } else {
                text += std::to_string(static_cast<std::int64_t>(value));
            }
            text += ' ';
        };
        (one(values), ...);
        text += '\n';
    };
    for (RankTrace const& trace : traces) {
        auto const& line = trace.timeline;
        add(trace.epoch_ns, trace.events, trace.rank.value_or(-1), trace.clock_is_absolute, trace.format,
            trace.device.name);
        for (std::size_t i = 0; i < trace.size(); ++i) {
            add(line.begin[i], line.end[i], line.lane[i], line.name[i], trace.kind[i], trace.correlation[i]);
        }
        for (auto const& name : line.names) { add(name); }
        for (auto const& lane : line.lanes) { add(lane); }
        for (auto const& lane : trace.lanes) { add(lane.device, lane.process, lane.thread); }
        for (auto const& shape : trace.shapes) { add(shape.span, trace.shape_texts[shape.text]); }
        for (auto const& call : trace.collectives) {
            add(call.span, call.group, trace.collective_names[call.what], call.elements_in);
        }
        for (auto const& wait : trace.waits) { add(wait.span, wait.lane, wait.record); }
        for (auto const& issue : trace.issues) { add(issue.kind, issue.count, issue.first_at); }
    }
    return text;
}

std::string read_with(std::string const& text, std::size_t block, int threads) {
    io::TraceReading reading;
    reading.block = block;
    reading.threads = threads;
    try {
        return said(io::read_traces(text, "trace", reading));
    } catch (InputError const& error) { return error.what(); }
}

TEST(ChromeReader, WindowsAndChunksChangeNothing) {
    for (std::uint32_t seed = 0; seed < 60; ++seed) {
        test::ChromeDocuments documents(seed);
        std::string text = documents.document(30);
        if (seed % 4 != 0) { text = documents.damaged(text); }
        std::string const whole = read_with(text, std::size_t{1} << 20, 1);
        for (std::size_t const block : {64U, 100U, 257U, 1000U, 4096U}) {
            for (int const threads : {1, 2, 4}) {
                ASSERT_EQ(read_with(text, block, threads), whole)
                    << "seed " << seed << " block " << block << " threads " << threads << "\n"
                    << text;
            }
        }
    }
}

TEST(ChromeReader, InstructionsChangeNothing) {
    for (std::uint32_t seed = 0; seed < 60; ++seed) {
        test::ChromeDocuments documents(seed);
        std::string const text = documents.damaged(documents.document(20));
        std::string const best = read_with(text, 4096, 1);
        for (auto const instructions :
             {io::JsonInstructions::avx2, io::JsonInstructions::sse2, io::JsonInstructions::plain}) {
            io::use_json_instructions(instructions);
            std::string const other = read_with(text, 4096, 1);
            io::use_json_instructions(io::JsonInstructions::best);
            ASSERT_EQ(other, best) << "seed " << seed << "\n" << text;
        }
    }
}

/// Whether all numbers of a document are such that a double holds their thousandths.
bool is_moderate(Json const& value) {
    if (value.is_number()) { return std::abs(value.get<double>()) < 1e12; }
    bool moderate = true;
    if (value.is_structured()) {
        for (auto const& [key, one] : value.items()) {
            moderate = moderate && (key == "baseTimeNanoseconds" || is_moderate(one));
        }
    }
    return moderate;
}

TEST(ChromeReader, DamagedTextGivesTheSameWhereItIsStillJson) {
    int same = 0, read = 0;
    for (std::uint32_t seed = 0; seed < 6000; ++seed) {
        test::ChromeDocuments documents(seed);
        std::string const text = documents.damaged(documents.document(6));
        std::vector<RankTrace> traces;
        try {
            traces = io::read_traces(text, "trace");
        } catch (InputError const&) { continue; }
        ++read;
        Json const document = Json::parse(text, nullptr, false);
        if (document.is_discarded() || !is_moderate(document)) { continue; }
        auto const expected = rows_of(document);
        if (!same_rows(traces, expected, base_of(document))) {
            // A number between quotes is read as a number, which JSON does not do.
            bool const quoted = text.find("\"1") != std::string::npos || text.find("\"0") != std::string::npos;
            EXPECT_TRUE(quoted) << "seed " << seed << "\n" << text;
            continue;
        }
        ++same;
    }
    EXPECT_GT(read, 4000);
    EXPECT_GT(same, 400);
}

} // namespace
} // namespace headroom
