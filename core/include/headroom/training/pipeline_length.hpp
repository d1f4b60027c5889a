#pragma once

#include <span>

namespace headroom::training {

/// Neighbouring stages of a pipeline that take equally long.
struct EqualStages {
    int count = 1;
    double time = 1.0;          ///< of one micro-batch, forward and backward, in any unit
    double forward = 1.0 / 3.0; ///< of it
};

/// How many groups of equal stages `one_f_one_b_length` takes.
inline constexpr int most_stage_groups = 16;

/// How long 1F1B takes on stages that differ, with transfers of `hop` = c between neighbours: from the first pass to the end
/// of the last. Stages s = 0 .. p-1 take f_s forward and b_s backward, t_s = f_s + b_s.
///
///     length   = max over u of  first(u) + last(u) - sum of t_s, s < u, - 2 u c + spent(m - 1 - (p - u), u)
///     first(u) = max over d >= u of  sum of t_s, s <= d, + 2 d c + (p - 1 - d) max of f_s, s <= d
///     last(u)  = the same with b_s for f_s
///     spent(n) = n micro-batches on windows of k neighbours from u on, each of which does k of them in
///                sum of its t_s + 2 (k - 1) c
///
/// The longest chain of passes goes down to a stage d, up to u, down again and out by way of a stage d'. A chain that turns
/// at d has to wait p-1-d times before, since the stage runs so far ahead of its first backward pass; it does so at the
/// slowest pass above. Whatever is left of the micro-batches it spends going round windows. With fewer micro-batches than
/// stages a chain may turn once, having waited x times on its way down and m + p - 2 - d - x times on its way up.
/// Transfers that block stand in the way of the stages at both ends of them, and hide nothing else.
/// Holds for:  groups in the order of stages, at most `most_stage_groups`. Equal stages: exact. Else the longest chain of
///             nine in ten random pipelines, of which the slowest stage takes up to three times as long as the fastest, and
///             within 1 % of 99 in 100 (`pipeline_length_property_test`). Nothing is allocated.
/// Source:     [Narayanan2021]
double one_f_one_b_length(std::span<EqualStages const> groups, int micro_batches, double hop, bool blocking);

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

} // namespace headroom::training
