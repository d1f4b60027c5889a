#pragma once

#include "logs/log_builder.hpp"

namespace headroom::io {

/// One row a format: whether a text is of it, and how it is read. Readers return what `LogBuilder::finish` needs:
/// the name of the format and the count of lines.
struct ReadLog {
    std::string_view format;
    std::size_t lines = 0;
};

bool looks_like_nccl_text(std::string_view text);
/// nccl-tests and rccl-tests: any number of tables; ranks from the list of devices. A size is that of the larger of
/// what a rank sends and receives, in bytes: for every operation our whole vector; for all-to-all what one rank holds for all.
/// Source: [NcclTests] doc/PERFORMANCE.md and src/common.cu (size = max(sendBytes, expectedBytes))
ReadLog read_nccl_text(std::string_view text, LogBuilder& log);

bool looks_like_nccl_json(std::string_view text);
/// Results of nccl-tests in JSON from `-J FILE`, and the records that rccl-tests writes with `-Z json`. A file that
/// ends early is read as far as its results are whole.
/// Errors: InputError{unreadable} where it is no JSON.
ReadLog read_nccl_json(std::string_view text, LogBuilder& log);

bool looks_like_osu(std::string_view text);
/// OSU micro-benchmarks, blocking collectives and osu_latency. Sizes become total bytes:
///
///     allreduce, reduce, broadcast, reduce_scatter, latency    1 x size
///     allgather, gather, scatter, all-to-all                   p x size
///
/// Their counts are those of the MPI calls, for a share; of reduce_scatter the tests divide the size among the ranks.
/// The time is the average over ranks. Bandwidth tests send a window of messages and tell no message's time: not used.
/// Source: [OsuBenchmarks]
ReadLog read_osu(std::string_view text, LogBuilder& log);

bool looks_like_imb(std::string_view text);
/// Intel MPI benchmarks, the MPI-1 part. Sizes become total bytes:
///
///     Allreduce, Reduce, Bcast, Reduce_scatter, PingPong, Sendrecv    1 x size
///     Allgather, Gather, Scatter, Alltoall, Reduce_scatter_block      p x size
///
/// The time is the average over ranks, half a round trip for PingPong.
/// Source: [IntelMpiBenchmarks]
ReadLog read_imb(std::string_view text, LogBuilder& log);

bool looks_like_tool_table(std::string_view text);
/// Latency tests of perftest (ib_write_lat, ib_send_lat: half a round trip), ds_bench of DeepSpeed, comms of PARAM. The size
/// of ds_bench's all-gather is one rank's. Bandwidth tests of perftest keep a window of messages in flight: not used.
ReadLog read_tool_table(std::string_view text, LogBuilder& log);

bool looks_like_csv_log(std::string_view text);
/// A table of measurements: columns of any order, units in their names or in the cells. Sizes are total bytes.
/// Errors: InputError{unreadable} where the table itself cannot be read.
ReadLog read_csv_log(std::string_view text, LogBuilder& log);

} // namespace headroom::io
