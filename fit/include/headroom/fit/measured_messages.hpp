#pragma once

#include "headroom/fields.hpp"
#include "headroom/fit/communication_fit_answer.hpp"
#include "headroom/fit/loggp_fit.hpp"
#include "headroom/fit/pair_links.hpp"
#include "headroom/measure/measurement.hpp"
#include "headroom/network/message_job.hpp"
#include "headroom/sample_statistics.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headroom::fit {

FieldTable const& field_table_of(FittedSegment const*);
FieldTable const& field_table_of(LogGpResidual const*);
FieldTable const& field_table_of(PairTime const*);

// Answer of `headroom measure comm`: a campaign of messages between the ranks of a job.

/// A point with the statistics of its repetitions. Settings that the point does not state have their defaults.
struct TimedMessage {
    measure::MeasuredPoint const* point = nullptr;
    network::CommPattern pattern = network::CommPattern::one_way;
    std::uint64_t bytes = 0;
    std::string buffers = {};  ///< "hot", "cold"; empty where there is one state only
    bool usual = true;         ///< buffers are in the state in which programs send so many bytes
    int peer = 0;              ///< of patterns between two ranks
    int first = 0, second = 0; ///< of a pair
    network::Collective collective = network::Collective::all_reduce;
    std::string algorithm; ///< of a collective: the library's name, or "library" where that chose
    SampleSummary seconds;
    double late_median = 0.0, late_most = 0.0; ///< after the agreed instant
};
FieldTable const& field_table_of(TimedMessage const*);

/// Point of which repetitions failed.
struct FailedMessage {
    std::string point, message;
    std::size_t count = 0;
};
FieldTable const& field_table_of(FailedMessage const*);

/// Both ways, and a shift of all, over one way, for messages of one size.
struct MessageRatio {
    std::string link;    ///< "inside a host", "between hosts"
    std::string buffers; ///< "hot", "cold"
    std::uint64_t bytes = 0;
    double one_way = 0.0;                     ///< seconds
    std::optional<double> both_ways, shifted; ///< seconds over seconds
};
FieldTable const& field_table_of(MessageRatio const*);

/// Time of one way while something else loads the link or the cores.
struct LoadedMessage {
    std::string link, load; ///< "others transfer", "cores compute"
    std::uint64_t bytes = 0;
    double alone = 0.0, loaded = 0.0;
};
FieldTable const& field_table_of(LoadedMessage const*);

/// Time of a collective by its algorithm's messages, priced by the probes of single messages.
struct PredictedCollective {
    std::string point;
    std::string algorithm; ///< of Headroom's table
    bool chosen = false;   ///< by Headroom, as the fastest, where the library does not say which it took
    double least_seconds = 0.0, median_seconds = 0.0; ///< by the probes' least times, by their medians
    double least_ratio = 0.0, median_ratio = 0.0;     ///< predicted over measured
};
FieldTable const& field_table_of(PredictedCollective const*);

struct LinkLogGp {
    std::string link;
    LogGpFit fit;
};
FieldTable const& field_table_of(LinkLogGp const*);

/// Slow link of all pairs, with the hosts of its ranks.
struct SlowPair {
    int first = 0, second = 0;
    std::string first_host, second_host;
    double factor = 1.0; ///< time over that of healthy links
    bool always = true;  ///< also its least time
};
/// Rank most of whose links are slow.
struct SlowHostRank {
    int rank = 0;
    std::string host;
    double factor = 1.0;             ///< median of its slow links
    std::size_t slow = 0, links = 0; ///< its slow links, and all that were judged
};

/// All pairs of ranks with messages of one size.
struct MeasuredPairs {
    std::uint64_t bytes = 0;
    std::vector<PairTime> times;
    std::size_t judged = 0; ///< pairs that could be compared with others
    std::vector<SlowPair> slow_links;
    std::vector<SlowHostRank> slow_ranks;
};
FieldTable const& field_table_of(MeasuredPairs const*);
FieldTable const& field_table_of(SlowPair const*);
FieldTable const& field_table_of(SlowHostRank const*);

/// A campaign of messages. The first members are given, `work_out` fills the rest.
struct MeasuredMessages {
    network::CommWorld world;
    measure::Campaign campaign;
    std::vector<std::vector<double>> late_seconds; ///< a point, of repetitions of this call that count
    bool complete = true;
    std::size_t resumed = 0; ///< samples of an earlier call
    int rounds = 0;          ///< that were begun
    double clock_error_seconds = 0.0;
    bool wants_messages = true, wants_collectives = true;
    std::uint64_t seed = 1;               ///< of the intervals of LogGP's constants
    std::vector<std::string> unmeasured;  ///< remarks on what was asked and cannot be measured
    std::string saved = {};               ///< table that was written
    std::vector<TimedMessage> timed = {}; ///< in the order of the points
    std::vector<FailedMessage> failures = {};
    /// Rows that `headroom calibrate` takes of the campaign, then medians of the probes of other patterns, with fits of both.
    CommunicationFitAnswer fit = {};
    std::size_t table_rows = 0; ///< of those rows the first so many: the table that `headroom comm --fit` reads
    std::vector<MessageRatio> ratios = {};
    std::vector<PredictedCollective> predictions = {};
    /// Absolute, of least times from 256 KiB on with the buffers that programs have, forced algorithms.
    std::optional<double> median_prediction_error = {};
    std::vector<LinkLogGp> loggp = {};
    std::optional<MeasuredPairs> pairs_small = {}, pairs_large = {};
    std::vector<LoadedMessage> load = {};
    std::vector<std::string> notes = {};

    MeasuredMessages() = default;
    MeasuredMessages(MeasuredMessages const&) = delete; // `timed` points into `campaign`
    MeasuredMessages& operator=(MeasuredMessages const&) = delete;
};
FieldTable const& field_table_of(MeasuredMessages const*);

/// Fills all that follows from the samples of the campaign.
/// Errors: InputError{insufficient} where no point has a value.
void work_out(MeasuredMessages& answer);
void add_predictions(MeasuredMessages& answer);
void add_notes(MeasuredMessages& answer);

/// Row of the CSV form: a point with its settings.
struct TimedMessageRow {
    TimedMessage const* timed = nullptr;
};
FieldTable const& field_table_of(TimedMessageRow const*);
std::vector<TimedMessageRow> timed_rows(MeasuredMessages const& answer);

} // namespace headroom::fit
