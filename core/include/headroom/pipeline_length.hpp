#pragma once

#include <span>

namespace headroom {

/// Neighbouring stages of a pipeline that take equally long.
struct EqualStages {
    int count = 1;
    double time = 1.0; ///< of one micro-batch, forward and backward, in any unit
};

/// How many groups of equal stages `one_f_one_b_length` takes: an end, two kinds between, the other end; and where only the last
/// blocks are trained, those that have none of them and the one that has some.
inline constexpr int most_stage_groups = 6;

/// How long 1F1B takes on stages that differ, with transfers of `hop` between neighbours: from the first pass to the end of
/// the last.
///
///     t      = sum of all stages + 2 (p-1) c + the longest way to spend m - 1 micro-batches
///     period = max over windows of k neighbours of  (sum of the window + 2 (k-1) c)/k   for each of them
///
/// One micro-batch goes all the way down and up. A stage alone does each of the others in its time; k neighbours do k of
/// them in the time of all and a round trip, since a stage begins one more only when the first has come back. To get to a
/// window the stages behind it are passed once, which counts as a micro-batch each; or they are not waited for: the stages
/// before run ahead or behind by their forward or backward passes.
/// Transfers that block stand in the way of the stages at both ends of them, and hide nothing else.
/// Holds for:  m >= p, groups in the order of stages, at most `most_stage_groups`. Equal stages: exact. Else the longest chain
///             of passes of nine in ten random pipelines, within 1 % of all where no stage is shorter than two thirds of
///             the longest, 2.5 % below that (`pipeline_length_property_test`); 4.1 % where m = p and one takes four times as
///             long as all others. O(1), nothing is allocated.
/// Source:     [Narayanan2021]
double one_f_one_b_length(std::span<EqualStages const> groups, double forward_share, int micro_batches, double hop,
                          bool blocking);

/// How long a micro-batch takes in the windows of neighbours of a run of 1F1B without a flush that begin at the first stage, at
/// the last, or at one between.
///
///     period = max over windows of k > 1 neighbours of  (sum of the window + 2 (k-1) c + u)/k
///
/// u is what the first stage of a window does between the backward pass of one micro-batch and the forward pass of the next,
/// beside its passes: those behind do it while they wait. Stages alone, and transfers that block, are not counted.
/// Source:     [Harlap2018]
enum class WindowBegin { first, between, last };
double window_period(std::span<EqualStages const> groups, WindowBegin begin, double between, double hop);

} // namespace headroom
