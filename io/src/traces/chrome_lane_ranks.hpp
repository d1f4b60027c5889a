#pragma once

#include "traces/chrome_part.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace headroom::io {

/// Rank of each lane where devices are ranks (`devices`: their numbers by process): of the device for its lanes, and,
/// where processes are `named` by it, for the host's lanes of that process. Other threads of the host go with the one
/// device that they start work on, else with all (`ChromePart::every_rank`); other lanes of devices with the first.
std::vector<std::int64_t> ranks_of_lanes(ChromePart const& part,
                                         std::map<ChromePart::Place, std::int64_t> const& devices, bool named);

/// Number of devices on which the process computes, by the events' own numbers, where categories tell device work. With
/// `split` each of several becomes a rank (`ChromePart::lane_ranks`). A device with less than a hundredth of the
/// computation of the busiest counts for none: a process that drives another one leaves such kernels on the first.
std::size_t number_devices_of_process(ChromePart& part, bool split);

/// Keeps of `step_ranges` on the host what is a step, as an annotation: the outer of two inside each other. A thread that
/// states one number for several ranges states it of parts of steps, and has none.
void settle_step_ranges(ChromePart& part);

} // namespace headroom::io
