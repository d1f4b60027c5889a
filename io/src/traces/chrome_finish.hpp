#pragma once

#include "traces/chrome_metadata.hpp"
#include "traces/chrome_part.hpp"

#include "headroom/trace/rank_trace.hpp"

#include <string>
#include <vector>

namespace headroom::io {

/// Finishes the traces once all text is read: pairs ranges that begin and end apart, leaves out repeated events, moves
/// columns into traces. One trace, or one a rank where events themselves state several, or one process computes on several
/// devices.
std::vector<trace::RankTrace> finish_chrome(ChromePart&& part, ChromeMetadata const& metadata,
                                            std::string const& where);

/// Tells device work by the names of processes and threads, where no category does: XLA's profiler (JAX, TensorFlow;
/// GPU and TPU), AMD's rocprof and rpd, Ascend's, and Nsight Systems turned into Chrome's format. Those also draw
/// lanes that say the same time again (modules, steps, name scopes, an analysis of their own), which become
/// annotations; steps that they draw count where the host names none. Where a file holds several devices each becomes a
/// rank, by its number.
///
/// Changes nothing where categories tell device work, or no name does.
void name_device_lanes(ChromePart& part);

/// Marks intervals whose begin is no time of the recording, and counts them: zero where everything else begins a
/// multiple of the recording later, and a year or more from the middle of all begins. `left_out` may be empty: nothing is.
/// Returns the first begin of those that stay; 0 where none does.
std::int64_t leave_undated_out(ChromePart& part, std::vector<bool>& left_out);

/// Where nothing ran on a device, communication of the host is communication: by the names of its ranges; in traces of
/// no known profiler also by words such as "allreduce" in them, by `MPI_`, and by threads that are called
/// communication, as their authors have nothing else to say it with. Returns the number of transfers that devices make,
/// of which such a trace has the start alone.
std::uint64_t name_host_communication(ChromePart& part, bool known_profiler);

} // namespace headroom::io
