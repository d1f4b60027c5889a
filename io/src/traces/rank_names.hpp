#pragma once

#include "headroom/trace/rank_digest.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// A number in a file's name, and the name around it where that matters.
struct NamedNumber {
    std::optional<std::int64_t> number;
    std::string around;
};
/// The number that a file's name gives its rank: "rank3.json", "trace_rank-3.json.gz", "Rank 3/trace.json"; the last of
/// several. Larger than a million is no rank but a time or a process.
NamedNumber named_rank(std::string_view path);
/// "worker3.1623143089861.pt.trace.json"; "num_workers_3" is none.
NamedNumber named_worker(std::string_view path);
/// "trace_3.json.gz", "all_reduce.3.et", "3.json": the number before the suffixes of the file's name.
NamedNumber last_number(std::string_view path);
/// "3/trace.json": the number at the end of the folder's name.
NamedNumber folder_number(std::string_view path);

/// The worker that PyTorch names its files by, before a time: "node1_4711" of "node1_4711.1700000000000.pt.trace.json",
/// folders included. Empty for other names.
std::string_view profiled_process(std::string_view path);

/// Whether the device work of two traces shares a moment, by clocks of the day.
bool overlap_in_time(trace::RankDigest const& one, trace::RankDigest const& other);

/// Gives every digest its rank. What a trace states holds; of two that state the same the first in the order of `digests`
/// keeps it. Traces that state none take it from the names of their files, by the first of the rules above that gives
/// all of them numbers of their own; else the smallest free ranks in order, as do those whose rank was taken.
/// Traces of one rank, or of one worker by PyTorch's names of files, that do not overlap in time are of one process that
/// was profiled several times: they share a rank.
/// Depends on `stated_rank`, `source`, times and the order alone, so it may be done again with more digests.
void assign_ranks(std::vector<trace::RankDigest>& digests);

/// As the trace states it, before anything was assigned.
void unassign_rank(trace::RankDigest& digest);

} // namespace headroom::io
