#pragma once

#include "headroom/fields.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom::measure {

/// Names and what they say, in the order in which they were found: of a machine, of a point, of what was asked.
using Facts = std::vector<std::pair<std::string, std::string>>;
/// Value of the first fact of that name; nothing if there is none.
std::optional<std::string_view> fact(Facts const& facts, std::string_view name);

/// One thing that is timed again and again: "triad of 64 MiB on 2 cores", "all_reduce of 1 MiB", "4 workers".
struct MeasuredPoint {
    std::string label; ///< unique in its campaign, and the same in every campaign that measures the same
    Facts parameters;  ///< its fields: {"kernel", "triad"}, {"bytes", "67108864"}, {"threads", "2"}
    std::string unit;  ///< of the samples, a base unit: "seconds", "bytes/second", "flops/second"
    bool operator==(MeasuredPoint const&) const = default;
};
FieldTable const& field_table_of(MeasuredPoint const*);

/// Outcome of one repetition.
enum class SampleOutcome {
    measured,
    warm_up, ///< taken and kept, and left out of every answer
    failed,  ///< the command ended with an error
    timed_out,
    unreadable, ///< it ended well, and its result is no number
};
std::string_view name_of(SampleOutcome outcome);
std::optional<SampleOutcome> sample_outcome_from(std::string_view name);

/// One repetition of one point, raw.
struct Sample {
    std::uint32_t point = 0;      ///< index into the campaign's points
    std::uint32_t repetition = 0; ///< of this point, from 0, warm-ups among them
    double value = 0.0;           ///< in the point's unit; 0 unless `measured` or `warm_up`
    SampleOutcome outcome = SampleOutcome::measured;
    std::string message = {};  ///< why there is no value, in words
    std::int64_t began_ns = 0; ///< since 1970, of the machine's clock
    /// Processes that wanted to run when it began (load average of a minute); nothing where that is not known.
    std::optional<double> load = {};
    bool operator==(Sample const&) const = default;
    [[nodiscard]] bool has_value() const {
        return outcome == SampleOutcome::measured || outcome == SampleOutcome::warm_up;
    }
};
FieldTable const& field_table_of(Sample const*);

enum class CampaignState {
    running, ///< or ended without a word: power cut, SIGKILL
    done,
    interrupted, ///< stopped by the user; may go on
};
std::string_view name_of(CampaignState state);
std::optional<CampaignState> campaign_state_from(std::string_view name);

/// A set of measurements that belong together, with the machine they were taken on.
struct Campaign {
    std::int64_t id = 0; ///< of the store; 0: not stored
    std::string kind;    ///< "roofline", "comm", "scaling"
    std::string name;    ///< as the user calls it; may be empty
    Facts settings;      ///< options; two campaigns with the same settings measure the same
    Facts machine;       ///< CPU, clocks, caches, versions of libraries, pinning, variables that change speed
    CampaignState state = CampaignState::running;
    std::int64_t began_ns = 0, ended_ns = 0; ///< since 1970; ended: 0 while it runs
    std::vector<MeasuredPoint> points;
    std::vector<Sample> samples; ///< in the order in which they were taken
};

/// The values of one point that count: outcome `measured`, in the order in which they were taken.
std::vector<double> values_of(Campaign const& campaign, std::uint32_t point);

/// Where samples go as they are taken; returns when the sample is kept for good.
using SampleSink = std::function<void(Sample const&)>;

} // namespace headroom::measure
