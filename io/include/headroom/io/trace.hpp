#pragma once

#include "headroom/error.hpp"
#include "headroom/trace/rank_digest.hpp"
#include "headroom/trace/rank_trace.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

namespace headroom::io {

/// Options for reading traces. Only the limits change what is read.
struct TraceReading {
    int threads = 1;                                    ///< for one file
    std::size_t block = std::size_t{4} << 20;           ///< bytes of text that are held at a time, for each thread
    std::uint64_t text_limit = std::uint64_t{64} << 30; ///< of one file after decompression: a bomb ends here
    double ratio_limit = 1100.0;                        ///< of text over compressed bytes; deflate reaches 1032
    /// Ends reading soon after a request: what was read by then is given as if the file ended there.
    std::stop_token stop = {};
};

/// The traces in one file: one a rank, in the order of their ranks; several where a file holds several.
/// Damage is counted in `RankTrace::issues`, not thrown.
/// Errors: InputError{unreadable} when the file cannot be opened or is no trace that headroom can read;
///         InputError{insufficient} when it is of one and holds no event.
std::vector<trace::RankTrace> read_traces(std::filesystem::path const& path, TraceReading const& reading = {});

/// The trace in bytes that are in memory already; `where` names them.
std::vector<trace::RankTrace> read_traces(std::string_view bytes, std::string const& where,
                                          TraceReading const& reading = {});

/// Files that a list of files and folders means, in the order of their names (numbers by value), each once: folders
/// with all below them that look like traces; what else lies there is left out and listed in `left_out`.
struct TraceFiles {
    std::vector<std::filesystem::path> files;
    std::vector<std::string> left_out = {};
    std::vector<std::string> unread = {}; ///< in folders, and perhaps traces: they could not be opened, with the reason
};
/// Errors: InputError{unreadable} for what is not there; InputError{insufficient} for a folder without traces.
TraceFiles trace_files(std::vector<std::string> const& paths);

/// A part of a set: of n parts the i-th takes files i, i + n, ... of the list.
struct TraceShard {
    int index = 0, of = 1;
    auto operator<=>(TraceShard const&) const = default;
};

/// Digests of many files: files side by side and threads within one, results in the order of the files.
/// Ranks that nobody states come from names of files, then from their order; two files of one rank are kept apart.
struct TraceSet {
    std::vector<trace::RankDigest> ranks;
    std::vector<std::string> unread; ///< files that could not be read, with the reason
    std::vector<Fault> faults;       ///< by unread file
    std::vector<TraceShard> shards;  ///< parts that it consists of, where not all parts of their set are among them
};
/// Files that hold parts of a set (`write_trace_part`) are read as well. Of a part (`shard.of` above 1) ranks are not
/// final before `merge_trace_sets`, and nothing is thrown where no file of it can be read.
/// `progress(bytes done, bytes in all)` is called from one thread at a time; false stops, as does `reading.stop`: the set
/// holds the files that were finished.
/// A file that could not be read together with others is read again alone, with one thread: it may have lacked memory or
/// descriptors. A trace without any times is unread: InputError{insufficient}.
/// Errors: that of the first file where none can be read.
TraceSet read_trace_set(TraceFiles const& files, trace::DigestQuestion const& question, TraceReading const& reading,
                        TraceShard shard = {}, std::function<bool(std::uint64_t, std::uint64_t)> const& progress = {});

/// Parts to one set: the same whatever their order, and the same as without parts. Files come in the order of their
/// names, and ranks are given as for all of them.
/// Errors: InputError as of the first unread file where there is no rank at all.
TraceSet merge_trace_sets(std::vector<TraceSet> parts);

/// Counts the parts of a set that nobody gave as unread: what was read is not the run.
void name_missing_parts(TraceSet& set);

/// Refuses traces of several runs, which would count as ranks of one: a rank in two folders, a rank that two files have
/// whose clocks do not put them at one time, whose names differ in a word or whose steps have the same numbers, or files
/// without ranks that were recorded one after the other. `digests` are of a whole set.
/// Errors: InputError{usage}, with a list of the runs.
void refuse_several_runs(std::vector<trace::RankDigest> const& digests);

/// A partial result as bytes, and back: "headroom.trace-part/4".
/// Errors: InputError{unreadable} with the place.
std::string write_trace_part(TraceSet const& part);
TraceSet read_trace_part(std::string_view bytes, std::string const& where);
bool looks_like_trace_part(std::string_view bytes);

} // namespace headroom::io
