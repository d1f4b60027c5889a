#pragma once

#include "headroom/fit/communication_fit.hpp"
#include "headroom/measure/measurement.hpp"
#include "headroom/network/measured_collective.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace headroom::fit {

/// A point that gave nothing, and why.
struct LeftOutPoint {
    std::string label, why;
};

/// The median of repetitions with its 90 % interval by order statistics (`summarize`). Below five samples no such
/// interval covers 90 %: its ends are then moved out, on a logarithmic scale, as a normal error would have it.
///
///     half' = half z(90 %) / z(coverage)
///
/// Empty with fewer than three samples, and where one is not above zero.
/// Assumes:    samples are independent; those of one campaign share what its day did to them, see `pool`.
/// Source:     [DavidNagaraja2003]
std::optional<Fitted> point_median(std::span<double const> samples);

// ---- collectives ----------------------------------------------------------------------------------------------------

/// Name of the processor or device of a campaign, as its facts state it; empty where they do not.
std::string system_of(measure::Campaign const& campaign);

/// State of the buffers, "hot" or "cold", in which a program sends messages of so many bytes: hot while the private cache of
/// a core still holds what was computed, as the campaign's facts say; cold beyond.
std::string_view buffers_of_programs(measure::Campaign const& campaign, double bytes);

/// Facts of a machine that its campaign does not state.
struct CampaignSettings {
    std::string system; ///< name of the machine
    std::string source; ///< name of the rows in residuals
    int nodes = 0;      ///< that the ranks were on; 0: what a point says, else one
};

/// Times of messages and of collectives as rows for `fit_communication`: one a repetition, at most 32 of a point, evenly
/// spread over the order of their times. Of points with hot and with cold buffers those that programs have count.
struct CampaignCollectives {
    std::vector<network::MeasuredCollective> rows;
    std::size_t points = 0, samples = 0; ///< that the rows stand for
    std::vector<LeftOutPoint> left_out;
};
CampaignCollectives measured_collectives(measure::Campaign const& campaign, CampaignSettings const& settings);

// ---- rates of a machine ---------------------------------------------------------------------------------------------

/// A rate that a machine sustained.
struct MeasuredRate {
    std::string kernel; ///< "triad", "gemm"
    std::string level;  ///< "memory", "L2"; empty for arithmetic
    std::string format; ///< "fp32"; empty where the point names none
    int threads = 0;    ///< 0: not stated
    std::size_t samples = 0;
    bool product = false; ///< of matrices
    Fitted value;         ///< bytes or operations a second
};

/// The rates of a campaign on the most threads that a kernel was run with: those of the whole machine.
struct CampaignRates {
    std::vector<MeasuredRate> bytes, flops; ///< bytes a second, operations a second; in the order of the points
    std::vector<LeftOutPoint> left_out;
};
CampaignRates measured_rates(measure::Campaign const& campaign);

/// Rate taken as sustained bandwidth of main memory: the triad's; without one the copy's, else that of the fastest
/// other kernel. Null where main memory was not measured.
MeasuredRate const* memory_rate(CampaignRates const& rates);
/// The product of matrices in this format; null where there is none.
MeasuredRate const* product_rate(CampaignRates const& rates, std::string const& format);

// ---- steps ----------------------------------------------------------------------------------------------------------

/// Time of a command on so many workers.
struct MeasuredWorkers {
    int workers = 1;
    std::size_t samples = 0;
    Fitted seconds;
};

struct CampaignSteps {
    std::vector<MeasuredWorkers> steps; ///< by rising workers
    bool weak = false;                  ///< the work grew with the workers
    bool whole_command = false;         ///< the time is that of the command, from its start to its end
    std::vector<LeftOutPoint> left_out;
};
CampaignSteps measured_steps(measure::Campaign const& campaign);

} // namespace headroom::fit
