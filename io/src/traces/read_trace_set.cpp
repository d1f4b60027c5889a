// Many files to digests: side by side, each trace dropped as soon as its digest is there, and the same set whatever the
// number of threads and of parts.

#include "traces/head_source.hpp"
#include "traces/natural_order.hpp"
#include "traces/rank_names.hpp"
#include "traces/trace_runs.hpp"

#include "headroom/io/executor.hpp"
#include "headroom/io/file.hpp"
#include "headroom/io/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <map>
#include <mutex>
#include <new>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>

namespace headroom::io {

using namespace headroom::trace;

namespace {

namespace fs = std::filesystem;

/// Refuses a trace without times: a graph of operations and shapes does not show where time went.
void require_times(RankTrace const& trace) {
    if (!trace.no_times) { return; }
    throw InputError{Fault::insufficient,
                     {trace.source, "no times in this trace", "it says what ran, not when or how long",
                      "record the run with a profiler, which writes times"}};
}

void add_unread(TraceSet& set, std::string line, Fault fault) {
    set.unread.push_back(std::move(line));
    set.faults.push_back(fault);
}

/// A pipe can be read only once.
bool is_regular(fs::path const& path) {
    std::error_code error;
    return fs::is_regular_file(path, error);
}

/// Ranks of one file, or the reason why it gave none. A part that was read holds reasons of its own.
struct FileReading {
    TraceSet set;
    bool failed = false;
};
FileReading read_one(fs::path const& path, DigestQuestion const& question, TraceReading const& reading) {
    FileReading read;
    TraceSet& set = read.set;
    try {
        bool const regular = is_regular(path);
        if (regular && looks_like_trace_part(HeadSource{open_source(path, {}), 64}.head())) {
            return {read_trace_part(read_file(path, std::numeric_limits<std::uintmax_t>::max()), path.string())};
        }
        for (std::vector<RankTrace> traces = read_traces(path, reading); RankTrace & trace : traces) {
            if (reading.stop.stop_requested()) { return {}; } // of a file in part nobody knows which
            RankTrace const now = std::move(trace);           // and then no longer
            require_times(now);
            set.ranks.push_back(digest_of(now, question, executor(reading.threads)));
        }
    } catch (InputError const& error) {
        if (reading.stop.stop_requested()) { return {}; }
        read.failed = true;
        add_unread(set, error.what(), error.fault());
    } catch (std::bad_alloc const&) {
        read.failed = true;
        add_unread(set, path.string() + ": too large for the memory that is there", Fault::unreadable);
    }
    return read;
}

/// Reads files on several threads; slot i is of file i. The largest go first, so that none is left to wait for.
class SetReader {
public:
    SetReader(std::vector<fs::path> files, DigestQuestion const& question, TraceReading const& reading,
              std::function<bool(std::uint64_t, std::uint64_t)> const& progress)
        : files_{std::move(files)},
          question_{question},
          reading_{reading},
          progress_{progress},
          slots_(files_.size()),
          sizes_(files_.size()),
          order_(files_.size()) {
        for (std::size_t i = 0; i < files_.size(); ++i) {
            std::error_code error;
            std::uintmax_t const size = fs::file_size(files_[i], error);
            sizes_[i] = error ? 0 : size;
        }
        all_ = std::accumulate(sizes_.begin(), sizes_.end(), std::uint64_t{0});
        std::iota(order_.begin(), order_.end(), std::size_t{0});
        std::stable_sort(order_.begin(), order_.end(),
                         [&](std::size_t left, std::size_t right) { return sizes_[left] > sizes_[right]; });
    }

    std::vector<TraceSet> read() {
        auto const threads = static_cast<std::size_t>(std::max(1, reading_.threads));
        std::size_t const crew = std::min(threads, std::max<std::size_t>(1, files_.size()));
        reading_.threads = static_cast<int>(threads / crew);
        alone_ = threads == 1;
        {
            std::vector<std::jthread> workers;
            try {
                for (std::size_t i = 1; i < crew; ++i) {
                    workers.emplace_back([this] { work(); });
                }
            } catch (std::system_error const&) {} // no more threads are to be had: fewer do all of it
            work();
        }
        read_again();
        if (failure_) { std::rethrow_exception(failure_); }
        return std::move(slots_);
    }

private:
    std::vector<fs::path> files_;
    DigestQuestion question_;
    TraceReading reading_;
    std::function<bool(std::uint64_t, std::uint64_t)> const& progress_;
    std::vector<TraceSet> slots_;
    std::vector<std::uint64_t> sizes_;
    std::vector<std::size_t> order_;
    std::vector<std::size_t> failed_; ///< files to be read again
    std::uint64_t all_ = 0, done_ = 0;
    std::atomic<std::size_t> next_{0};
    std::atomic<bool> stop_{false};
    bool alone_ = false; ///< one file at a time, on one thread
    std::mutex told_;
    std::exception_ptr failure_;

    void work() {
        try {
            for (std::size_t i = next_++; i < files_.size() && !stop_; i = next_++) {
                read_file_of(order_[i], !alone_);
            }
        } catch (...) { // a defect of ours, or of the caller's
            std::lock_guard const lock{told_};
            if (!failure_) { failure_ = std::current_exception(); }
            stop_ = true;
        }
    }

    void read_file_of(std::size_t file, bool once_more) {
        FileReading read = read_one(files_[file], question_, reading_);
        slots_[file] = std::move(read.set);
        stop_ = stop_ || reading_.stop.stop_requested();
        std::lock_guard const lock{told_};
        if (read.failed && once_more && is_regular(files_[file])) {
            failed_.push_back(file);
        } else if (!stop_) {
            tell(sizes_[file]);
        }
    }

    /// Files that were read together with others may have lacked memory or descriptors.
    void read_again() {
        reading_.threads = 1;
        std::sort(failed_.begin(), failed_.end());
        for (std::size_t const file : failed_) {
            if (!stop_) { read_file_of(file, false); }
        }
    }

    void tell(std::uint64_t size) {
        done_ += size;
        if (progress_ && !stop_ && !progress_(done_, all_)) { stop_ = true; }
    }
};

/// Whether files of one name are in several parts: made on several machines.
bool share_names(std::vector<TraceSet> const& parts) {
    std::map<std::string_view, std::size_t> part_of;
    for (std::size_t part = 0; part < parts.size(); ++part) {
        for (RankDigest const& digest : parts[part].ranks) {
            if (part_of.try_emplace(digest.source, part).first->second != part) { return true; }
        }
    }
    return false;
}

/// So that the order in which parts are given says nothing: by all that they hold.
void sort_parts(std::vector<TraceSet>& parts) {
    if (!share_names(parts)) { return; }
    std::vector<std::pair<std::string, std::size_t>> order;
    for (std::size_t i = 0; i < parts.size(); ++i) { order.emplace_back(write_trace_part(parts[i]), i); }
    std::sort(order.begin(), order.end());
    std::vector<TraceSet> sorted;
    for (auto const& [bytes, i] : order) { sorted.push_back(std::move(parts[i])); }
    parts = std::move(sorted);
}

void sort_unread(TraceSet& set) {
    std::vector<std::pair<std::string, Fault>> unread;
    for (std::size_t i = 0; i < set.unread.size(); ++i) { unread.emplace_back(set.unread[i], set.faults[i]); }
    std::sort(unread.begin(), unread.end(), [](auto const& left, auto const& right) {
        return left.first != right.first ? natural_less(left.first, right.first) : left.second < right.second;
    });
    for (std::size_t i = 0; i < unread.size(); ++i) { std::tie(set.unread[i], set.faults[i]) = unread[i]; }
}

template <class Value> void append(std::vector<Value>& to, std::vector<Value>& from) {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

/// Numbers of the parts of `of` that are there.
std::set<int> parts_there(std::vector<TraceShard> const& shards, int of) {
    std::set<int> there;
    for (TraceShard const& shard : shards) {
        if (shard.of == of) { there.insert(shard.index); }
    }
    return there;
}

/// Leaves the parts of sets out of which all parts are there, and sorts the others.
void leave_whole_sets_out(std::vector<TraceShard>& shards) {
    std::sort(shards.begin(), shards.end());
    shards.erase(std::unique(shards.begin(), shards.end()), shards.end());
    std::vector<TraceShard> const all = shards;
    std::erase_if(shards, [&](TraceShard const& shard) {
        return parts_there(all, shard.of).size() >= static_cast<std::size_t>(std::max(1, shard.of));
    });
}

TraceSet joined(std::vector<TraceSet> parts) {
    for (TraceSet& part : parts) { // what an assignment said before is no part of what they hold
        std::for_each(part.ranks.begin(), part.ranks.end(), unassign_rank);
    }
    sort_parts(parts);
    TraceSet whole;
    for (TraceSet& part : parts) {
        append(whole.ranks, part.ranks);
        append(whole.unread, part.unread);
        append(whole.faults, part.faults);
        append(whole.shards, part.shards);
    }
    leave_whole_sets_out(whole.shards);
    // By the names of files; the ranks of one file keep their order.
    std::stable_sort(whole.ranks.begin(), whole.ranks.end(), [](RankDigest const& left, RankDigest const& right) {
        return natural_less(left.source, right.source);
    });
    sort_unread(whole);
    leave_copies_out(whole.ranks);
    assign_ranks(whole.ranks);
    return whole;
}

} // namespace

TraceSet merge_trace_sets(std::vector<TraceSet> parts) {
    TraceSet whole = joined(std::move(parts));
    if (whole.ranks.empty() && !whole.unread.empty()) {
        throw InputError{whole.faults.front(), {"", whole.unread.front(), "", ""}};
    }
    return whole;
}

void name_missing_parts(TraceSet& set) {
    constexpr std::size_t most_listed = 8;
    std::set<int> sizes;
    for (TraceShard const& shard : set.shards) { sizes.insert(shard.of); }
    for (int const of : sizes) {
        std::set<int> const there = parts_there(set.shards, of);
        std::string list;
        std::size_t const missing = static_cast<std::size_t>(of) - there.size();
        std::size_t listed = 0;
        for (int index = 0; index < of && listed < std::min(missing, most_listed); ++index) {
            if (there.contains(index)) { continue; }
            list += fmt::format("{}{}/{}", listed++ == 0 ? "" : ", ", index + 1, of);
        }
        if (missing > listed) { list += fmt::format(" and {} more", missing - listed); }
        add_unread(set, "--shard " + list + ": not among the parts that are given", Fault::unreadable);
    }
    set.shards.clear();
}

TraceSet read_trace_set(TraceFiles const& files, DigestQuestion const& question, TraceReading const& reading,
                        TraceShard shard, std::function<bool(std::uint64_t, std::uint64_t)> const& progress) {
    std::vector<fs::path> mine;
    auto const stride = static_cast<std::size_t>(std::max(1, shard.of));
    for (auto i = static_cast<std::size_t>(std::max(0, shard.index)); i < files.files.size(); i += stride) {
        mine.push_back(files.files[i]);
    }
    std::vector<TraceSet> sets = SetReader{std::move(mine), question, reading, progress}.read();
    if (shard.index <= 0) {
        TraceSet& others = sets.emplace_back();
        for (std::string const& line : files.unread) { add_unread(others, line, Fault::unreadable); }
    }
    if (stride > 1) {
        TraceSet part = joined(std::move(sets));
        part.shards.push_back(shard);
        return part;
    }
    TraceSet whole = merge_trace_sets(std::move(sets));
    name_missing_parts(whole);
    return whole;
}

} // namespace headroom::io
