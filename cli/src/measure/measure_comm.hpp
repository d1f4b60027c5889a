#pragma once

// Parts of `headroom measure comm`: what was asked, what is timed, and what came of it.

#include "headroom/document/document.hpp"
#include "headroom/document/json.hpp"
#include "measure/measure.hpp"
#include "output.hpp"

#include "headroom/fit/communication_fit.hpp"
#include "headroom/fit/loggp_fit.hpp"
#include "headroom/fit/pair_links.hpp"
#include "headroom/probe/comm.hpp"
#include "headroom/sample_statistics.hpp"

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace headroom::cli {

enum class CommPart { messages, collectives, pairs, load, loggp };

struct CommMeasureQuestion {
    std::vector<std::uint64_t> sizes; ///< rising
    std::vector<network::Collective> collectives;
    std::vector<std::string> algorithms; ///< "library", "all" or names of the library's
    std::vector<CommPart> parts;
    double budget_seconds = 60.0, patience_seconds = 60.0;
    int rounds = 5; ///< over which the repetitions of a point are spread
    std::uint64_t seed = 1;
    std::string save; ///< empty: no table
    [[nodiscard]] bool wants(CommPart part) const;
};
std::span<Option const> comm_measure_options();
/// Errors: InputError{usage}.
CommMeasureQuestion read_comm_measure_question(Arguments const& arguments, Output const& output);
/// What two campaigns share if they measure the same.
measure::Facts settings_of(CommMeasureQuestion const& question, probe::CommWorld const& world);

/// One request to the job and the points that its times belong to: one, or one a pair of a round.
struct CommTask {
    probe::CommRequest request;
    std::vector<std::uint32_t> points;
    int paused_by = -1; ///< of a paced train: the task of the lone train whose time is the pause
};
struct CommTasks {
    std::vector<measure::MeasuredPoint> points;
    std::vector<CommTask> tasks;
    std::vector<std::vector<std::size_t>> groups; ///< tasks that are taken one after the other; groups go in any order
    std::vector<std::string> notes;               ///< what was asked and cannot be
};
/// Errors: InputError{usage} for algorithms that the library does not have.
CommTasks comm_tasks(CommMeasureQuestion const& question, probe::CommWorld const& world);

struct CommProgress {
    std::vector<std::vector<double>> late_seconds; ///< a point, of repetitions that count
    bool interrupted = false;
    int rounds = 0; ///< that were begun
};
/// Times everything in rounds, each in an order of its own, until the budget is spent; what was taken is kept as it is taken.
CommProgress run_comm_tasks(CommMeasureQuestion const& question, CommTasks const& tasks, probe::CommJob& job,
                            Recorder& recorder, std::stop_token const& stop);

/// A point and what its repetitions say.
struct CommTimed {
    std::uint32_t point = 0;
    std::size_t task = 0, pair = 0; ///< which pair of the task's round
    SampleSummary seconds;
    double late_median = 0.0, late_most = 0.0; ///< after the agreed instant
};
/// What could not be done, or came out wrong.
struct CommFailure {
    std::uint32_t point = 0;
    std::string message;
    std::size_t count = 0;
};
/// Both ways, a shift of all or all at once over one way, for messages of one size.
struct CommRatio {
    std::string link; ///< "inside a host", "between hosts"
    std::uint64_t bytes = 0;
    double one_way = 0.0;
    std::optional<double> both_ways, shifted; ///< seconds over seconds
};
/// What one message costs by the probes alone, for the collectives' models.
struct CommPrediction {
    std::uint32_t point = 0;
    std::string algorithm; ///< of Headroom's table
    bool chosen = false;   ///< by Headroom, as the fastest, where the library does not say which it took
    double least_seconds = 0.0, median_seconds = 0.0; ///< by the probes' least times, by their medians
    double least_ratio = 0.0, median_ratio = 0.0;     ///< predicted over measured
};
struct CommLogGp {
    std::string link;
    fit::LogGpFit fit;
};
struct CommLoad {
    std::string link, load; ///< "others transfer", "cores compute"
    std::uint64_t bytes = 0;
    double alone = 0.0, loaded = 0.0;
};

struct CommMeasureReport {
    CommMeasureQuestion question;
    probe::CommWorld world;
    CommTasks tasks;
    measure::Campaign campaign;
    CommProgress progress;
    std::size_t resumed = 0;
    double clock_error_seconds = 0.0;
    std::vector<CommTimed> timed;
    std::vector<CommFailure> failures;
    std::vector<network::MeasuredCollective> rows; ///< medians, as `headroom comm --fit` reads them
    fit::CommunicationFits fits;                   ///< of `rows`
    std::vector<CommRatio> ratios;
    std::vector<CommPrediction> predictions;
    std::optional<double> median_prediction_error; ///< absolute, of least times from 256 KiB, forced algorithms
    std::vector<CommLogGp> loggp;
    std::vector<fit::PairTime> pair_small, pair_large;
    std::vector<std::size_t> pair_small_at, pair_large_at; ///< of which `timed`
    fit::PairVerdict slow_small, slow_large;
    std::vector<CommLoad> load;
    std::vector<std::string> notes;
    std::optional<double> wall_seconds;
    std::string saved;
};

std::string link_words(probe::CommWorld const& world, int peer);
probe::CommRequest const& request_of(CommMeasureReport const& report, CommTimed const& one);
CommTimed const* timed_of(CommMeasureReport const& report, std::uint32_t point);

/// Fills everything that follows from the campaign's samples.
void work_out(CommMeasureReport& report);
void add_predictions(CommMeasureReport& report);
void add_comm_notes(CommMeasureReport& report);

Document document_of(CommMeasureReport const& report, io::Catalog const& catalog);
Json json_of(CommMeasureReport const& report, io::Catalog const& catalog);
Sheet sheet_of(CommMeasureReport const& report);
/// The table that `headroom comm --fit` reads.
std::string comm_table_of(CommMeasureReport const& report);
std::vector<Chart> comm_measure_charts(CommMeasureReport const& report);

} // namespace headroom::cli
