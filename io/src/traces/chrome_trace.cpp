#include "traces/byte_source.hpp"
#include "traces/chrome_finish.hpp"
#include "traces/chrome_metadata.hpp"
#include "traces/chrome_part.hpp"
#include "traces/chrome_reader.hpp"
#include "traces/trace_formats.hpp"

#include "headroom/error.hpp"
#include "headroom/io/executor.hpp"
#include "headroom/io/trace.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <stop_token>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace headroom::io {

using namespace headroom::trace;

namespace {

/// Reads a source on a thread of its own, some blocks ahead: decompression and what is made of the text go side by side.
/// The source must not be touched until this is gone.
class ReadAhead {
public:
    ReadAhead(ByteSource& source, std::size_t block);
    ReadAhead(ReadAhead const&) = delete;
    ReadAhead& operator=(ReadAhead const&) = delete;
    ~ReadAhead();

    /// As `ByteSource::read`; what the source throws is thrown here.
    std::size_t read(char* into, std::size_t size);

private:
    struct Block {
        std::vector<char> bytes;
        std::size_t size = 0;
    };
    void fill();
    bool next_block();

    ByteSource& source_;
    std::array<Block, 4> blocks_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::size_t filled_ = 0, emptied_ = 0; ///< blocks since the beginning
    bool ended_ = false, given_up_ = false;
    std::exception_ptr failure_;
    std::size_t at_ = 0; ///< within the block that is being given
    bool giving_ = false;
    std::thread thread_;
};

ReadAhead::ReadAhead(ByteSource& source, std::size_t block) : source_(source) {
    for (Block& one : blocks_) { one.bytes.resize(std::max<std::size_t>(block, 1)); }
    try {
        thread_ = std::thread([this] { fill(); });
    } catch (std::system_error const&) {} // no thread is to be had: the reader reads itself
}

ReadAhead::~ReadAhead() {
    {
        std::lock_guard const lock(mutex_);
        given_up_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) { thread_.join(); }
}

void ReadAhead::fill() {
    bool ended = false;
    while (!ended) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return given_up_ || filled_ - emptied_ < blocks_.size(); });
        if (given_up_) { return; }
        Block& block = blocks_[filled_ % blocks_.size()];
        lock.unlock();
        std::exception_ptr failure;
        try {
            block.size = source_.read(block.bytes.data(), block.bytes.size());
        } catch (...) {
            failure = std::current_exception();
            block.size = 0;
        }
        ended = block.size < block.bytes.size();
        lock.lock();
        failure_ = failure;
        ended_ = ended;
        ++filled_;
        lock.unlock();
        changed_.notify_all();
    }
}

/// Goes to the next block that is filled; false at the end.
bool ReadAhead::next_block() {
    std::unique_lock lock(mutex_);
    if (giving_) { ++emptied_; }
    changed_.notify_all();
    changed_.wait(lock, [this] { return filled_ > emptied_ || ended_; });
    giving_ = filled_ > emptied_;
    at_ = 0;
    bool const last = filled_ == emptied_ + 1 && ended_;
    if (giving_ && last && failure_) { std::rethrow_exception(failure_); }
    return giving_;
}

std::size_t ReadAhead::read(char* into, std::size_t size) {
    if (!thread_.joinable()) { return source_.read(into, size); }
    std::size_t given = 0;
    while (given < size) {
        if (!giving_ || at_ == blocks_[emptied_ % blocks_.size()].size) {
            if (!next_block()) { break; }
            continue;
        }
        Block const& block = blocks_[emptied_ % blocks_.size()];
        std::size_t const count = std::min(size - given, block.size - at_);
        std::memcpy(into + given, block.bytes.data() + at_, count);
        given += count;
        at_ += count;
    }
    return given;
}

constexpr std::size_t window_bytes = std::size_t{128} << 10; ///< fits in a core's own cache
constexpr std::uint64_t guess_reach = std::uint64_t{1} << 20;
constexpr std::uint64_t chunks_a_thread = 4;

/// Text that any thread can read at any place.
struct PlacedText {
    int file = -1;
    std::string_view memory;
    std::uint64_t size = 0;

    std::size_t read(char* into, std::size_t count, std::uint64_t at) const {
        if (file < 0) {
            std::size_t const got = at < memory.size() ? std::min<std::size_t>(count, memory.size() - at) : 0;
            std::memcpy(into, memory.data() + at, got);
            return got;
        }
        std::size_t got = 0;
        while (got < count) {
            auto const more = ::pread(file, into + got, count - got, static_cast<off_t>(at + got));
            if (more <= 0) { break; }
            got += static_cast<std::size_t>(more);
        }
        return got;
    }
};

/// Events that a thread read from a chunk.
struct ChromeChunk {
    std::uint64_t from = ChromeReader::never; ///< the guess
    ChromePart part;
    ChromeMetadata unused;
    ChromeReader reader{part, unused};
};

class ChunkedReading {
public:
    ChunkedReading(PlacedText const& text, TraceReading const& reading)
        : text_(text),
          stop_(reading.stop),
          block_(std::min(reading.block, window_bytes)),
          threads_(static_cast<std::uint64_t>(std::max(reading.threads, 1))) {
        std::uint64_t const chunks = threads_ == 1 ? 1 : threads_ * chunks_a_thread;
        // A chunk holds many windows; but tests cut small texts into chunks, too.
        std::uint64_t const least = std::max<std::uint64_t>(reading.block / 4, 64);
        step_ = std::max((text.size + chunks - 1) / chunks, least);
        for (std::uint64_t at = step_; at < text.size; at += step_) { chunks_.push_back(nullptr); }
        finished_ = std::vector<std::atomic<bool>>(chunks_.size());
    }

    /// Reads everything into `part`.
    void read(ChromePart& part, ChromeMetadata& metadata) {
        ChromeReader reader(part, metadata);
        reserve(part, text_.size);
        reader.stop_at(chunks_.empty() ? ChromeReader::never : step_);
        std::size_t joined = 0;
        auto const join_finished = [&] {
            while (joined < chunks_.size() && finished_[joined]) { join(joined++, reader, part); }
        };
        int const threads = chunks_.empty() ? 1 : static_cast<int>(threads_);
        run_each(executor(threads), threads, [&](int self) {
            bool const joins = self == 0; // one joins what is there while the others read on
            if (joins) { feed(reader, 0); }
            while (work_on_one()) {
                if (joins) { join_finished(); }
            }
        });
        join_finished();
    }

private:
    [[nodiscard]] std::uint64_t end_of(std::size_t chunk) const {
        return chunk + 1 == chunks_.size() ? ChromeReader::never : (chunk + 2) * step_;
    }
    void feed(ChromeReader& reader, std::uint64_t from) const {
        std::uint64_t at = from;
        feed_all(
            reader,
            [&](char* into, std::size_t size) {
                auto const got = stop_.stop_requested() ? 0 : text_.read(into, size, at);
                at += got;
                return got;
            },
            from, block_);
    }

    /// Room for what an average trace has; memory that is not written to is not held.
    static void reserve(ChromePart& part, std::uint64_t bytes) { part.reserve(static_cast<std::size_t>(bytes / 240)); }

    /// Reads the next chunk that nobody reads; whether there was one.
    bool work_on_one() {
        auto const chunk = next_++;
        if (chunk >= chunks_.size()) { return false; }
        chunks_[chunk] = read_chunk(chunk);
        finished_[chunk] = true;
        return true;
    }

    [[nodiscard]] std::unique_ptr<ChromeChunk> read_chunk(std::size_t number) const {
        auto chunk = std::make_unique<ChromeChunk>();
        chunk->from = guess((number + 1) * step_, std::min(end_of(number), text_.size));
        if (chunk->from == ChromeReader::never) { return chunk; }
        ChromeReader& reader = chunk->reader;
        reserve(chunk->part, step_);
        reader.resume(chunk->from);
        reader.stop_at(end_of(number));
        reader.stop_behind_events();
        feed(reader, chunk->from);
        return chunk;
    }

    /// The first place from `at` on, before `end`, where an event seems to begin.
    [[nodiscard]] std::uint64_t guess(std::uint64_t at, std::uint64_t end) const {
        std::uint64_t const from = at - std::min<std::uint64_t>(at, event_reach);
        std::uint64_t const to = std::min(end, at + guess_reach);
        std::string text(static_cast<std::size_t>(to - from + event_reach), ' ');
        text.resize(text_.read(text.data(), text.size(), from));
        std::size_t const last = std::min<std::size_t>(text.size(), static_cast<std::size_t>(to - from));
        auto const found = find_event(text, static_cast<std::size_t>(at - from), last);
        return found < last ? from + found : ChromeReader::never;
    }

    /// Joins a chunk, or goes on from where the text before it ended.
    void join(std::size_t number, ChromeReader& reader, ChromePart& part) {
        auto const chunk = std::move(chunks_[number]);
        bool const within = reader.stopped() && reader.mode() == ChromeReader::Mode::events;
        if (!within) { return; }                          // all was read
        if (reader.place() >= end_of(number)) { return; } // an event reaches over the whole chunk
        if (chunk->from != reader.place()) {
            reader.stop_at(end_of(number));
            feed(reader, reader.place());
            return;
        }
        part.append(std::move(chunk->part));
        reader.go_on_from(chunk->reader);
        bool const left_events = reader.stopped() && reader.mode() != ChromeReader::Mode::events;
        if (!left_events) { return; }
        reader.leave_events(reader.place());
        reader.stop_at(ChromeReader::never);
        feed(reader, reader.place());
    }

    PlacedText text_;
    std::stop_token stop_;
    std::size_t block_;
    std::uint64_t threads_, step_ = 0;
    std::vector<std::unique_ptr<ChromeChunk>> chunks_; ///< all but the first
    std::vector<std::atomic<bool>> finished_;          ///< by chunk
    std::atomic<std::size_t> next_{0};
};

/// Reads all of a source into one part; returns how much text it was. Plain files and memory are read in chunks by
/// several threads where that is asked for; what comes out is the same.
std::uint64_t read_chrome_text(ByteSource& source, TraceReading const& reading, ChromePart& part,
                               ChromeMetadata& metadata) {
    bool const in_memory = source.in_memory().data() != nullptr;
    if (in_memory || (source.plain_file() >= 0 && source.size() > 0)) {
        PlacedText const text{in_memory ? -1 : source.plain_file(), source.in_memory(),
                              in_memory ? source.in_memory().size() : source.size()};
        ChunkedReading(text, reading).read(part, metadata);
        return text.size;
    }
    std::uint64_t text = 0;
    ChromeReader reader(part, metadata);
    auto const read_all = [&](auto& from) {
        auto const take = [&](char* into, std::size_t size) {
            auto const got = from.read(into, size);
            text += got;
            return got;
        };
        feed_all(reader, take, 0, std::min(reading.block, window_bytes));
    };
    if (reading.threads > 1) {
        ReadAhead ahead(source, std::min(reading.block, 2 * window_bytes));
        read_all(ahead);
    } else {
        read_all(source);
    }
    return text;
}

bool holds(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

} // namespace

bool looks_like_chrome(std::string_view head) {
    constexpr std::string_view mark = "\xef\xbb\xbf";
    if (head.starts_with(mark)) { head.remove_prefix(mark.size()); }
    auto const first = head.find_first_not_of(" \n\r\t");
    if (first == std::string_view::npos) { return false; }
    if (head[first] == '[') { return holds(head, "\"ph\""); }
    if (head[first] != '{') { return false; }
    // Descriptions of many process groups may be longer than the beginning that is looked at.
    bool const kineto =
        holds(head, "\"schemaVersion\"") && (holds(head, "\"deviceProperties\"") || holds(head, "\"distributedInfo\""));
    return holds(head, "\"traceEvents\"") || kineto;
}

std::vector<RankTrace> read_chrome(ByteSource& source, std::string const& where, TraceReading const& reading) {
    ChromePart part;
    ChromeMetadata metadata;
    std::uint64_t const text = read_chrome_text(source, reading, part, metadata);
    if (part.size() == 0) { too_little(where, "no event in this trace", {}, "record at least one step"); }
    auto traces = finish_chrome(std::move(part), metadata, where);
    // A plain file is read at several places at once, past the source.
    traces.front().bytes_read = source.size() > 0 ? source.size() : source.bytes_read();
    traces.front().text_bytes = text;
    return traces;
}

} // namespace headroom::io
