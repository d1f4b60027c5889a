// Files of one byte over and over: what a power loss or a full disk leaves. Every reader refuses them after a look at
// their beginning, whatever the byte, plain or compressed, and memory does not grow with what they unpack to.

#include "support/compressed.hpp"
#include "support/processor_time.hpp"
#include "support/scratch_folder.hpp"

#include "headroom/error.hpp"
#include "headroom/io/benchmark_log.hpp"
#include "headroom/io/file.hpp"
#include "headroom/io/latency_samples.hpp"
#include "headroom/io/request_trace.hpp"
#include "headroom/io/task_graph.hpp"
#include "headroom/io/trace.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <sys/resource.h>
#include <vector>

namespace headroom {
namespace {

constexpr std::size_t plain_size = std::size_t{1} << 20, packed_size = std::size_t{8} << 20;

struct Reader {
    std::string name;
    std::function<void(std::string const& bytes, std::string const& path)> read;
    bool unpacks = false;
};

/// Every way in which bytes of a user come in. Tables, logs, configs, records and calibrations are read by `read_file`.
std::vector<Reader> readers() {
    return {
        {"file", [](auto const&, auto const& path) { io::read_file(path); }},
        {"trace", [](auto const&, auto const& path) { io::read_traces(std::filesystem::path{path}); }, true},
        {"trace in memory", [](auto const& bytes, auto const&) { io::read_traces(bytes, "trace"); }, true},
        {"graph", [](auto const& bytes, auto const&) { io::read_task_graph(bytes, "graph"); }, true},
        {"latencies", [](auto const&, auto const& path) { io::read_latency_samples(path, {}); }, true},
        {"latencies in memory", [](auto const& bytes, auto const&) { io::read_latency_text(bytes, "samples", {}); },
         true},
        {"requests", [](auto const&, auto const& path) { io::read_request_trace(path, {}); }, true},
        {"log", [](auto const& bytes, auto const&) { io::read_benchmark_log(bytes, "log"); }},
    };
}

/// Peak of the memory that this process has held, bytes.
std::size_t peak_memory() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    return static_cast<std::size_t>(used.ru_maxrss) * 1024;
}

/// The line with which a reader refuses; empty where it does not.
std::string refusal(Reader const& reader, std::string const& bytes, std::string const& path) {
    io::write_file(path, bytes);
    try {
        reader.read(bytes, path);
    } catch (InputError const& error) {
        EXPECT_NE(error.fault(), Fault::usage) << error.what();
        return error.what();
    }
    return {};
}

class HostileBytes : public testing::Test {
protected:
    test::ScratchFolder folder_ = test::ScratchFolder::in_memory();
    std::string path_ = (folder_.path() / "file").string();
};

TEST_F(HostileBytes, EachByteOverAndOverIsRefusedByEveryReader) {
    std::size_t const before = peak_memory();
    double const began = test::processor_seconds();
    std::size_t reads = 0;
    for (auto const& reader : readers()) {
        for (int byte = 0; byte < 256; ++byte) {
            std::string const text(plain_size, static_cast<char>(byte));
            EXPECT_NE(refusal(reader, text, path_), "") << reader.name << ": " << byte;
            ++reads;
        }
    }
    EXPECT_LT((test::processor_seconds() - began) / static_cast<double>(reads), 0.05) << "a read, on average";
    EXPECT_LT(peak_memory() - before, 16 * plain_size);
}

TEST_F(HostileBytes, CompressionHidesNothing) {
    for (int byte = 0; byte < 256; ++byte) {
        std::string const text(packed_size, static_cast<char>(byte));
        std::vector<std::string> const packed{test::gzip_of(text), test::zstd_of(text)};
        std::size_t const before = peak_memory();
        double const began = test::processor_seconds();
        for (auto const& bytes : packed) {
            for (auto const& reader : readers()) {
                if (reader.unpacks) { EXPECT_NE(refusal(reader, bytes, path_), "") << reader.name << ": " << byte; }
            }
        }
        EXPECT_LT(test::processor_seconds() - began, 1.0) << "of 12 reads: " << byte;
        EXPECT_LT(peak_memory() - before, 2 * packed_size) << byte;
    }
}

TEST_F(HostileBytes, ZerosBehindABeginningGrowNoMemory) {
    // Chakra: metadata and one node, then what was never written.
    std::string const head = std::string{"\x07\x0a\x05"
                                         "0.0.4\x0d\x08\x01\x12\x04"
                                         "gemm\x18\x04\x38\x05",
                                         22};
    std::string const text = head + std::string(packed_size, '\0');
    std::size_t const before = peak_memory();
    io::write_file(path_, text);
    try {
        auto const traces = io::read_traces(std::filesystem::path{path_});
        EXPECT_LT(traces.at(0).size(), 100U);
        EXPECT_FALSE(traces[0].issues.empty());
    } catch (InputError const& error) { EXPECT_NE(error.fault(), Fault::usage) << error.what(); }
    EXPECT_THROW(io::read_task_graph(text, "graph.et"), InputError);
    EXPECT_LT(peak_memory() - before, 8 * packed_size);
}

TEST_F(HostileBytes, MessagesThatSayNothingAreNoNodes) {
    std::string text = std::string{"\x07\x0a\x05"
                                   "0.0.4",
                                   8};
    while (text.size() < packed_size) { text += std::string{"\x02\x18\x01", 3}; } // a type and nothing else
    std::size_t const before = peak_memory();
    EXPECT_THROW(io::read_traces(text, "trace.et"), InputError);
    EXPECT_THROW(io::read_task_graph(text, "graph.et"), InputError);
    EXPECT_LT(peak_memory() - before, 16 * packed_size);
}

TEST_F(HostileBytes, ReadingStopsWhenItIsAsked) {
    std::string text = R"({"traceEvents": [)";
    while (text.size() < packed_size) {
        text += R"({"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":1,"dur":5,"args":{"stream":7}},)";
    }
    std::stop_source stop;
    stop.request_stop();
    io::TraceReading reading;
    reading.stop = stop.get_token();
    io::write_file(path_, text);
    for (int const threads : {1, 2}) {
        reading.threads = threads;
        auto const set = io::read_trace_set(io::trace_files({path_}), {}, reading);
        EXPECT_TRUE(set.ranks.empty()) << "a file in part is none";
        EXPECT_TRUE(set.unread.empty());
    }
}

} // namespace
} // namespace headroom
