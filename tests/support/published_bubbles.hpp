#pragma once

#include "headroom/training/pipeline.hpp"

#include <optional>

namespace headroom::test {

/// Idle time of the stage that waits longest, in a step of equal stages without transfer times: from the first pass of all
/// stages to the last; within the stage's own period where updates are validated late. Exact; empty where no closed form is
/// known for the shape and times.
///
///     1F1B, GPipe       (p-1)(t_F + t_B), interleaved over v                               [Narayanan2021], [Huang2019]
///     ZB-H1             (p-1)(t_F + t_Bin - min(t_W, t_F, t_Bin)); the source has t_W in place of the minimum    [Qi2024]
///     ZB-2P             (p-1) max(0, t_F + t_Bin - 2 t_W, t_Bin - t_F): the source has the second; the third is larger where
///                       t_W > t_F, since gradients come back slower than passes go ahead                         [Qi2024]
///     ZBV               (p-1)(t_Bin - t_W), m >= 2p - 1                                                         [Qi2024]
///     V-Half            in sixths of a stage's time 3p - 4 for odd p, 3p - 7 for even p up to 12 and 3p - 5 above; where
///                       passes differ, the longest of three (odd p) or six (even p) chains of passes; m >= p + 2  [Qi2024b]
///     V-Min             (4p - 5)(t_F + t_Bin + t_W)/6 for equal passes, 4p - 3 where 3 divides p; else the longest of two
///                       chains; m >= p > 2                                                                      [Qi2024b]
///     DualPipe, -V      the longer of k (2 t_F + t_Bin - t_W) and (k-1) t_F + k (2 t_Bin - t_W), k = p/2 - 1, for the V of
///                       times of one chunk and k = p - 1: the published form has the first with its t_F and t_Bin in each
///                       other's place                                                                          [DualPipe]
std::optional<double> published_bubble(training::PipelineSchedule id, training::PipelineShape const& shape,
                                       training::StageTimes const& times);

} // namespace headroom::test
