#pragma once

#include "comm/comm_question.hpp"
#include "output.hpp"

#include "headroom/bucketed_exchange.hpp"
#include "headroom/comparison.hpp"
#include "headroom/flow_simulation.hpp"
#include "headroom/local_updates.hpp"
#include "headroom/message_schedule.hpp"

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace headroom::cli {

/// How the time of a row was found.
enum class PricedBy {
    closed_form, ///< the algorithm's formula
    channels,    ///< a formula of what communication libraries run, over channels that leave by different adapters
    simulated,   ///< its messages, one by one
    measured,    ///< as a fit of measured times has it
};
std::string_view name_of(PricedBy by);
/// The algorithm, and how it was priced where that is not its formula.
std::string label_of(std::string const& algorithm, PricedBy by);

struct CommRow {
    std::string collective, algorithm, source, holds_for;
    PricedBy priced_by = PricedBy::closed_form;
    int ranks = 1;
    TotalBytes size;
    CollectiveTime time;
    bool adding_modelled = true;
    std::optional<BytesPerSecond> bus_bandwidth;
    Seconds lower_bound;
    std::optional<ActorLearnerTime> parts;
    std::optional<SimulatedCollective> simulated; ///< beside a closed form, where it was asked for
    bool fastest = false;                         ///< of its ranks and size
    int place = 0;                                ///< among its ranks and size by time, the fastest 0
    [[nodiscard]] std::string label() const { return label_of(algorithm, priced_by); }
};

struct CommCrossover {
    int ranks = 1;
    TotalBytes size;
    std::string below, above;
    Seconds time;
};

/// An algorithm that has no row for these ranks, and why.
struct CommLeftOut {
    int ranks = 1;
    std::string algorithm, why;
    bool too_long = false; ///< its messages are too many to simulate
};

/// What NCCL would run.
struct CommNccl {
    int ranks = 1;
    TotalBytes size;
    NcclChoice choice;
};

/// One collective of a step, priced by the fastest formula.
struct CommPriced {
    std::string algorithm;
    CollectiveTime time;
};

/// One collective of a compressed step, priced.
struct CommSent {
    SentCollective sent;
    CommPriced choice;
};

struct CommCompressed {
    int ranks = 1;
    CompressedGradients gradients;
    std::vector<CommSent> sent;
    CollectiveTime time, uncompressed;
};

/// A change of the plain all-reduce: averages over steps.
struct CommLever {
    int ranks = 1;
    std::string name;
    Bytes bytes = {};   ///< of the vectors that are exchanged, a step
    double count = 1.0; ///< collectives a step
    Seconds time = {}, exposed = {}, plain = {};
};

/// A measured time beside the fastest prediction.
struct CommMeasured {
    MeasuredCollective measured;
    CommPriced predicted;
    std::optional<Seconds> nccl;
};

/// The groups of one number of ranks, on a network whose links they share.
struct CommContended {
    int ranks = 1, groups = 1, stride = 1;
    std::string topology, algorithm;
    ContendedTime time;
};

struct CommReport {
    io::Catalog const& catalog;
    std::string calibration; ///< empty: nothing calibrated
    CommQuestion question;
    std::vector<CommRow> rows;
    std::vector<CommCrossover> crossovers;
    std::vector<CommLeftOut> left_out;
    std::vector<CommNccl> nccl;
    std::vector<CommCompressed> compressed;
    std::vector<CommLever> levers;
    std::vector<CommMeasured> measured;
    std::vector<CommContended> contention;
    std::size_t measured_elsewhere = 0; ///< rows of the logs that are of other collectives or ranks
    bool complete = true;               ///< else somebody asked to stop: `question.ranks` are those that were answered
    std::optional<double> wall_seconds;
};

/// Every algorithm at every number of ranks and every size, which is the fastest, where that changes, and what else was
/// asked.
CommReport answer_of(CommQuestion question, io::Catalog const& catalog, std::string calibration,
                     std::stop_token const& stop = {});

/// The messages of the algorithm that `--schedule` names, or of the fastest that has any, as a Chrome trace.
std::string schedule_of(CommReport const& report);

/// Algorithms that a table shows without --all.
std::size_t shown_places(CommReport const& report);

/// Powers of two read in binary units, others in decimal ones.
std::string size_words(Bytes size);

/// What holds for the whole answer, in sentences.
std::vector<std::string> assumptions_of(CommReport const& report);

Document document_of(CommReport const& report);
Json json_of(CommReport const& report);
Sheet sheet_of(CommReport const& report);

} // namespace headroom::cli
