// Motivation: traces are gzip, and what reads them can be no faster than what unpacks them.
// Target: 80 % of the fastest decompressor at hand, ISA-L itself in one call over the whole input; zlib, libdeflate and
// zstd for comparison where they are installed.
// Last result (2 cores of a shared x86-64 virtual machine with seven times their work to do, g++ 12 -O2, processor
// seconds): made text 3.2 GB/s from memory and 3.1 from a file, ISA-L at once 2.8, zlib 1.1; zstd 2.0 through the source,
// 2.5 at once. A recorded trace (HEADROOM_BENCH_TRACE, 53.7 MB of text): 4.2 and 3.8, ISA-L 3.4, zlib 1.2. Four megabytes
// at a time stay in the cache, which is why a source is faster than one call over everything.
#include "traces/byte_source.hpp"

#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <isa-l/igzip_lib.h>
#include <iterator>
#include <memory>
#include <string>
#include <zstd.h>

#if __has_include(<zlib.h>) && defined(HEADROOM_BENCH_LIB_z)
#include <zlib.h>
#endif
#if __has_include(<libdeflate.h>) && defined(HEADROOM_BENCH_LIB_deflate)
#include <libdeflate.h>
#endif

namespace {

using namespace headroom;

/// About 64 MB of events as Kineto writes them: the same words around numbers that differ.
std::string made_text() {
    std::string text;
    std::uint64_t state = 1;
    for (std::uint64_t i = 0; text.size() < (std::size_t{64} << 20); ++i) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        text += "  {\n    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"void "
                "at::native::vectorized_elementwise_kernel<4, " +
                std::to_string(state >> 60) +
                ">\", \"pid\": 0, \"tid\": 7,\n    \"ts\": " + std::to_string(state >> 40) + "." +
                std::to_string(i % 1000) + ", \"dur\": " + std::to_string(state >> 56) +
                ",\n    \"args\": {\n      \"External id\": " + std::to_string(i) + ", \"device\": 0, \"stream\": 7, " +
                "\"correlation\": " + std::to_string(2 * i) + ", \"grid\": [" + std::to_string(state >> 58 & 63) +
                ", 1, 1]\n    }\n  },\n";
    }
    return text;
}

std::string gzip_of(std::string const& text) {
    auto const stream = std::make_unique<isal_zstream>();
    std::string level_buffer(ISAL_DEF_LVL3_DEFAULT, '\0'), out(text.size() + (1 << 16), '\0');
    isal_deflate_init(stream.get());
    stream->level = 3;
    stream->level_buf = reinterpret_cast<std::uint8_t*>(level_buffer.data());
    stream->level_buf_size = static_cast<std::uint32_t>(level_buffer.size());
    stream->gzip_flag = IGZIP_GZIP;
    stream->end_of_stream = 1;
    stream->next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
    stream->avail_in = static_cast<std::uint32_t>(text.size());
    stream->next_out = reinterpret_cast<std::uint8_t*>(out.data());
    stream->avail_out = static_cast<std::uint32_t>(out.size());
    isal_deflate(stream.get());
    out.resize(stream->total_out);
    return out;
}

/// The gzip file that HEADROOM_BENCH_TRACE names, else a made one; and its text.
struct Input {
    std::string text, gzip, zstd;
};
std::string drain(std::string const& bytes) {
    auto const source = io::open_source(bytes, "input", {});
    std::string text, block(std::size_t{4} << 20, '\0');
    for (std::size_t got = block.size(); got == block.size();) {
        got = source->read(block.data(), block.size());
        text.append(block, 0, got);
    }
    return text;
}
Input const& input() {
    static Input const made = [] {
        Input input;
        if (char const* const path = std::getenv("HEADROOM_BENCH_TRACE")) {
            std::ifstream file{path, std::ios::binary};
            input.gzip.assign(std::istreambuf_iterator<char>{file}, {});
            input.text = drain(input.gzip);
        } else {
            input.text = made_text();
            input.gzip = gzip_of(input.text);
        }
        input.zstd.resize(ZSTD_compressBound(input.text.size()));
        input.zstd.resize(ZSTD_compress(input.zstd.data(), input.zstd.size(), input.text.data(), input.text.size(), 3));
        return input;
    }();
    return made;
}

void finish(benchmark::State& state, bool right) {
    if (!right) { state.SkipWithError("other bytes than were packed"); }
    auto const bytes = static_cast<std::int64_t>(input().text.size());
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * bytes);
    state.counters["ratio"] = static_cast<double>(bytes) / static_cast<double>(input().gzip.size());
}

/// As readers do it: four megabytes at a time.
void through(benchmark::State& state, io::ByteSource& source, std::string& block, std::size_t& total) {
    total = 0;
    for (std::size_t got = block.size(); got == block.size();) {
        got = source.read(block.data(), block.size());
        total += got;
    }
    if (!source.damage().empty()) { state.SkipWithError("damage where there is none"); }
}

void source_of_memory(benchmark::State& state, std::string const& packed) {
    std::string block(std::size_t{4} << 20, '\0');
    std::size_t total = 0;
    for (auto _ : state) { through(state, *io::open_source(packed, "input", {}), block, total); }
    finish(state, total == input().text.size());
}
void our_gzip(benchmark::State& state) { source_of_memory(state, input().gzip); }
void our_zstd(benchmark::State& state) { source_of_memory(state, input().zstd); }

void our_gzip_file(benchmark::State& state) {
    std::filesystem::path const path = std::filesystem::temp_directory_path() / "headroom-inflate-bench.gz";
    std::ofstream{path, std::ios::binary} << input().gzip;
    std::string block(std::size_t{4} << 20, '\0');
    std::size_t total = 0;
    for (auto _ : state) { through(state, *io::open_source(path, {}), block, total); }
    finish(state, total == input().text.size());
    std::filesystem::remove(path);
}

void isal_at_once(benchmark::State& state) {
    auto const inflating = std::make_unique<inflate_state>();
    std::string text(input().text.size(), '\0');
    for (auto _ : state) {
        isal_inflate_init(inflating.get());
        inflating->crc_flag = ISAL_GZIP;
        inflating->next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(input().gzip.data()));
        inflating->avail_in = static_cast<std::uint32_t>(input().gzip.size());
        inflating->next_out = reinterpret_cast<std::uint8_t*>(text.data());
        inflating->avail_out = static_cast<std::uint32_t>(text.size());
        benchmark::DoNotOptimize(isal_inflate(inflating.get()));
    }
    finish(state, text == input().text);
}

void zstd_at_once(benchmark::State& state) {
    std::string text(input().text.size(), '\0');
    for (auto _ : state) {
        benchmark::DoNotOptimize(ZSTD_decompress(text.data(), text.size(), input().zstd.data(), input().zstd.size()));
    }
    finish(state, text == input().text);
}

BENCHMARK(our_gzip)->Unit(benchmark::kMillisecond);
BENCHMARK(our_gzip_file)->Unit(benchmark::kMillisecond);
BENCHMARK(isal_at_once)->Unit(benchmark::kMillisecond);
BENCHMARK(our_zstd)->Unit(benchmark::kMillisecond);
BENCHMARK(zstd_at_once)->Unit(benchmark::kMillisecond);

#if __has_include(<zlib.h>) && defined(HEADROOM_BENCH_LIB_z)
void zlib_at_once(benchmark::State& state) {
    std::string text(input().text.size(), '\0');
    for (auto _ : state) {
        z_stream stream{};
        inflateInit2(&stream, 15 + 16);
        stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input().gzip.data()));
        stream.avail_in = static_cast<uInt>(input().gzip.size());
        stream.next_out = reinterpret_cast<Bytef*>(text.data());
        stream.avail_out = static_cast<uInt>(text.size());
        benchmark::DoNotOptimize(inflate(&stream, Z_FINISH));
        inflateEnd(&stream);
    }
    finish(state, text == input().text);
}
BENCHMARK(zlib_at_once)->Unit(benchmark::kMillisecond);
#endif

#if __has_include(<libdeflate.h>) && defined(HEADROOM_BENCH_LIB_deflate)
void libdeflate_at_once(benchmark::State& state) {
    libdeflate_decompressor* const inflating = libdeflate_alloc_decompressor();
    std::string text(input().text.size(), '\0');
    for (auto _ : state) {
        benchmark::DoNotOptimize(libdeflate_gzip_decompress(inflating, input().gzip.data(), input().gzip.size(),
                                                            text.data(), text.size(), nullptr));
    }
    libdeflate_free_decompressor(inflating);
    finish(state, text == input().text);
}
BENCHMARK(libdeflate_at_once)->Unit(benchmark::kMillisecond);
#endif

} // namespace
