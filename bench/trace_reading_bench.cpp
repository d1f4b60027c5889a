// Reading a large trace: bytes from the file, a bare pass of simdjson over them that takes the same members and numbers
// the names, and the reader with its columns. By processor time; peak memory as a share of the text.
// HEADROOM_TRACE names a plain trace; without it one is written as Kineto writes them.

#include "headroom/io/trace.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <unistd.h>
#include <unordered_map>
#include <vector>

#ifdef HEADROOM_SIMDJSON
#include <simdjson.h>
#endif

namespace headroom {
namespace {

constexpr std::size_t written_events = 1'000'000;

/// One event of a step: names and members as training of a language model has them.
void write_event(std::ofstream& file, std::size_t number, std::mt19937& random) {
    char text[1200];
    double const time = 4458676000000.0 + static_cast<double>(number) * 1.7;
    unsigned const which = random() % 10, some = random() % 40;
    int length = 0;
    if (which < 4) {
        length = std::snprintf(
            text, sizeof text,
            "  {\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::operator_%u\", \"pid\": 2910249, "
            "\"tid\": 2910249,\n    \"ts\": %.3f, \"dur\": %.3f,\n    \"args\": {\n      \"External id\": "
            "%zu,\"Record function id\": 0, \"Ev Idx\": %zu\n    }\n  },\n",
            some, time, 3.0 + some, number, number);
    } else if (which < 6) {
        length = std::snprintf(
            text, sizeof text,
            "  {\n    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"void "
            "at::native::vectorized_elementwise_kernel<4, "
            "at::native::CUDAFunctor_add<float>, at::detail::Array<char*, %u> >(int, "
            "at::native::CUDAFunctor_add<float>, "
            "at::detail::Array<char*, %u>)\", \"pid\": 0, \"tid\": 7,\n    \"ts\": %.3f, \"dur\": %.3f,\n    \"args\": "
            "{\n   "
            "   \"External id\": %zu,\n      \"queued\": 0, \"device\": 0, \"context\": 1,\n      \"stream\": 7, "
            "\"correlation\": %zu,\n      \"registers per thread\": 40,\n      \"shared memory\": 400,\n      \"blocks "
            "per "
            "SM\": 4.740741,\n      \"warps per SM\": 75.851852,\n      \"grid\": [512, 1, 1],\n      \"block\": [512, "
            "1, "
            "1],\n      \"est. achieved occupancy %%\": 75\n    }\n  },\n",
            some, some, time, 10.0 + some, number, number);
    } else if (which < 8) {
        length =
            std::snprintf(text, sizeof text,
                          "  {\n    \"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": "
                          "2910249, \"tid\": 2919752,\n    \"ts\": %.3f, \"dur\": %.3f,\n    \"args\": {\n      "
                          "\"External id\": %zu,\n      \"cbid\": 211, \"correlation\": %zu\n    }\n  },\n",
                          time, 5.0 + some, number, number);
    } else {
        length =
            std::snprintf(text, sizeof text,
                          "  {\n    \"ph\": \"%s\", \"id\": %zu, \"pid\": 0, \"tid\": 7, \"ts\": %.3f,\n    \"cat\": "
                          "\"ac2g\", \"name\": \"ac2g\"\n  },\n",
                          which == 8 ? "s" : "f", number, time);
    }
    file.write(text, length);
}

std::string const& trace_file() {
    static std::string const path = [] {
        if (char const* const given = std::getenv("HEADROOM_TRACE")) { return std::string(given); }
        std::string file = "trace_reading_bench.json";
        if (std::filesystem::exists(file)) { return file; }
        std::ofstream out(file);
        std::mt19937 random(1);
        out << "{\n  \"schemaVersion\": 1,\n  \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": 0, "
               "\"world_size\": "
               "2},\n  \"traceEvents\": [\n";
        for (std::size_t number = 0; number < written_events; ++number) { write_event(out, number, random); }
        out << "  {\n    \"name\": \"Record Window End\", \"ph\": \"i\", \"s\": \"g\", \"pid\": \"\", \"tid\": \"\", "
               "\"ts\": 1\n  }\n  ],\n  \"traceName\": \"trace.json\"\n}\n";
        return file;
    }();
    return path;
}

std::size_t text_bytes() { return static_cast<std::size_t>(std::filesystem::file_size(trace_file())); }

void set_rate(benchmark::State& state) {
    state.SetBytesProcessed(static_cast<std::int64_t>(text_bytes()) * state.iterations());
}

/// Time to read the bytes at all, a window at a time.
void bytes_of_file(benchmark::State& state) {
    std::vector<char> window(std::size_t{128} << 10);
    for (auto _ : state) {
        int const file = ::open(trace_file().c_str(), O_RDONLY | O_CLOEXEC);
        while (::read(file, window.data(), window.size()) > 0) { benchmark::ClobberMemory(); }
        ::close(file);
    }
    set_rate(state);
}
BENCHMARK(bytes_of_file)->Unit(benchmark::kMillisecond)->MinTime(2);

/// The reader: timeline, kinds, lanes, tables.
void reader(benchmark::State& state) {
    io::TraceReading reading;
    reading.threads = static_cast<int>(state.range(0));
    for (auto _ : state) { benchmark::DoNotOptimize(io::read_traces(trace_file(), reading)); }
    set_rate(state);
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    state.counters["peak_of_text"] = static_cast<double>(used.ru_maxrss) * 1024.0 / static_cast<double>(text_bytes());
}
BENCHMARK(reader)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime()->MeasureProcessCPUTime()->MinTime(2);

#ifdef HEADROOM_SIMDJSON
struct BareColumns {
    std::vector<double> time, length;
    std::vector<std::int64_t> correlation, stream;
    std::vector<std::uint32_t> name;
    std::unordered_map<std::string_view, std::uint32_t> names;
};

void take(simdjson::ondemand::object event, BareColumns& columns) {
    double time = 0.0, length = 0.0;
    std::int64_t correlation = 0, stream = -1;
    std::string_view name, category;
    bool complete = false;
    for (auto field : event) {
        simdjson::ondemand::raw_json_string const key = field.key();
        if (key == "ph") {
            complete = field.value().get_raw_json_string().value() == "X";
            if (!complete) { return; }
        } else if (key == "cat") {
            category = field.value().raw_json_token();
        } else if (key == "name") {
            name = field.value().raw_json_token();
        } else if (key == "ts") {
            time = field.value().get_double();
        } else if (key == "dur") {
            length = field.value().get_double();
        } else if (key == "args") {
            for (auto argument : field.value().get_object()) {
                simdjson::ondemand::raw_json_string const inner = argument.key();
                if (inner == "correlation") { correlation = argument.value().get_int64(); }
                if (inner == "stream") { stream = argument.value().get_int64(); }
            }
        }
    }
    benchmark::DoNotOptimize(category);
    columns.time.push_back(time);
    columns.length.push_back(length);
    columns.correlation.push_back(correlation);
    columns.stream.push_back(stream);
    columns.name.push_back(
        columns.names.try_emplace(name, static_cast<std::uint32_t>(columns.names.size())).first->second);
}

std::size_t pass(simdjson::ondemand::parser& parser, simdjson::padded_string_view text, BareColumns& columns) {
    auto document = parser.iterate(text);
    for (auto event : document["traceEvents"].get_array()) { take(event.get_object(), columns); }
    return columns.time.size();
}

/// Reading the file, then simdjson over it: no kinds, lanes, nanoseconds, tables or tolerance.
void bare_simdjson(benchmark::State& state) {
    for (auto _ : state) {
        simdjson::ondemand::parser parser;
        auto const text = simdjson::padded_string::load(trace_file()).take_value();
        BareColumns columns;
        benchmark::DoNotOptimize(pass(parser, text, columns));
    }
    set_rate(state);
}
void clear(BareColumns& columns) {
    columns.time.clear();
    columns.length.clear();
    columns.correlation.clear();
    columns.stream.clear();
    columns.name.clear();
}

/// All bytes of the trace; false where fewer can be read.
bool read_trace(std::vector<char>& text) {
    int const file = ::open(trace_file().c_str(), O_RDONLY | O_CLOEXEC);
    std::size_t got = 0;
    for (ssize_t more = 1; more > 0 && got < text_bytes();
         got += static_cast<std::size_t>(std::max<ssize_t>(more, 0))) {
        more = ::read(file, text.data() + got, text_bytes() - got);
    }
    ::close(file);
    return got == text_bytes();
}

/// simdjson into memory that is mapped already: without the cost of new pages. End-to-end times are compared with it
/// (bench/trace_sets.py): a pass beforehand is not timed.
void bare_simdjson_again(benchmark::State& state) {
    simdjson::ondemand::parser parser;
    std::vector<char> text(text_bytes() + simdjson::SIMDJSON_PADDING);
    BareColumns columns;
    auto const read_and_pass = [&] {
        if (!read_trace(text)) { state.SkipWithError("cannot be read"); }
        clear(columns);
        benchmark::DoNotOptimize(
            pass(parser, simdjson::padded_string_view(text.data(), text_bytes(), text.size()), columns));
    };
    read_and_pass();
    for (auto _ : state) { read_and_pass(); }
    set_rate(state);
}
BENCHMARK(bare_simdjson_again)->Unit(benchmark::kMillisecond)->MinTime(2);
BENCHMARK(bare_simdjson)->Unit(benchmark::kMillisecond)->MinTime(2);
#endif

} // namespace
} // namespace headroom
