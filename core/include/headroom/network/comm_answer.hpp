#pragma once

#include "headroom/fields.hpp"
#include "headroom/network/bucketed_exchange.hpp"
#include "headroom/network/collective_algorithm.hpp"
#include "headroom/network/comm_question.hpp"
#include "headroom/network/flow_simulation.hpp"
#include "headroom/network/message_schedule.hpp"
#include "headroom/network/server.hpp"

#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::network {

// ---- rows -------------------------------------------------------------------------------------------------------------

/// Source of a row's time.
enum class PricedBy {
    closed_form, ///< the algorithm's formula
    channels,    ///< a formula of communication libraries, over channels that leave a domain by different NICs
    simulated,   ///< its messages, one by one
    measured,    ///< a curve that was fitted to measured times
};
std::string_view name_of(PricedBy by);
/// Name of the algorithm, with the source of its time where that is not its formula.
std::string label_of(std::string const& algorithm, PricedBy by);

/// Time of one algorithm at one number of ranks and one size.
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
    std::optional<SimulatedCollective> simulated; ///< in addition to a closed form, where it was asked for
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

/// Reason why an algorithm has no row.
enum class CommWhyNot {
    several_levels,    ///< switches that add join ranks on one level
    other_layouts,     ///< its formula holds for other numbers or arrangements of ranks
    too_many_messages, ///< its messages are too many, or last too long, to simulate
};

struct CommLeftOut {
    int ranks = 1;
    std::string algorithm;
    CommWhyNot why = CommWhyNot::other_layouts;
    std::string_view holds_for = {}; ///< layouts that its formula holds for
};
/// The reason as the result states it.
std::string words_of(CommLeftOut const& left_out);

// ---- comparisons ------------------------------------------------------------------------------------------------------

/// The algorithm and protocol that NCCL would choose.
struct CommNccl {
    int ranks = 1;
    TotalBytes size;
    NcclChoice choice;
};

/// A collective of a step, priced by the fastest formula.
struct CommPriced {
    std::string algorithm;
    CollectiveTime time;
};

/// A collective of a compressed step, priced.
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

enum class CommLeverKind { plain, compressed, local_steps, buckets };
std::string_view name_of(CommLeverKind kind);

/// A change of the plain all-reduce: averages over steps.
struct CommLever {
    int ranks = 1;
    CommLeverKind kind = CommLeverKind::plain;
    Bytes bytes = {};   ///< of the vectors that are exchanged, a step
    double count = 1.0; ///< collectives a step
    Seconds time = {}, exposed = {}, plain = {};
};

/// A measured time and the fastest prediction.
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

// ---- the answer -------------------------------------------------------------------------------------------------------

struct CommAnswer {
    CommQuestion question;
    std::vector<CommRow> rows;
    std::vector<CommCrossover> crossovers;
    std::vector<CommLeftOut> left_out;
    std::vector<CommNccl> nccl;
    std::vector<CommCompressed> compressed;
    std::vector<CommLever> levers;
    std::vector<CommMeasured> measured;
    std::vector<CommContended> contention;
    std::size_t measured_elsewhere = 0; ///< measured times of other collectives or ranks
    bool complete = true;               ///< else it was stopped: `question.ranks` are those that were answered
};
FieldTable const& field_table_of(CommAnswer const*);
FieldTable const& field_table_of(CommRow const*);
FieldTable const& field_table_of(CommCrossover const*);
FieldTable const& field_table_of(CommLever const*);
FieldTable const& field_table_of(CommMeasured const*);

/// Reason why a question has no answer.
enum class CommRefusal {
    no_outer_link,      ///< no link leaves a domain
    no_finite_time,     ///< a link is slower than any number
    no_row,             ///< `left_out` says why the first algorithm has no time, where one was asked about
    no_formula,         ///< nothing prices a collective that a lever or a measured time needs
    too_many_endpoints, ///< of all groups
    no_flat_algorithm,  ///< contention needs one of a single level
    messages_too_long,  ///< picoseconds cannot count their time, or they are too many to count
    too_many_messages,  ///< of all groups
    not_measured,       ///< no measured time is of this collective over these ranks
    no_messages,        ///< no row has a schedule
    schedule_too_long,  ///< as `messages_too_long`, of the schedule that is written
    too_many_to_write,  ///< messages
};

/// Thrown where a question has no answer.
class CommRefused : public std::runtime_error {
public:
    explicit CommRefused(CommRefusal why, int over_ranks = 0, std::string of_algorithm = {})
        : std::runtime_error{"no answer"}, reason{why}, ranks{over_ranks}, algorithm{std::move(of_algorithm)} {}
    CommRefusal reason;
    int ranks;
    std::string algorithm; ///< or the collective, of `no_formula`
    std::optional<CommLeftOut> left_out = {};
};

/// Times of every algorithm at every number of ranks and every size, the fastest, the sizes at which it changes, and the
/// comparisons that were asked for.
/// Errors: CommRefused.
CommAnswer comm_answer(CommQuestion question, std::stop_token const& stop = {});

/// Conditions that hold for the whole answer, in sentences.
std::vector<std::string> assumptions_of(CommAnswer const& answer);

/// Messages of the fastest algorithm that has any.
struct CommSchedule {
    CommRow const* row = nullptr;
    CollectiveCall call;
    std::unique_ptr<MessageSchedule> messages;
};
/// Errors: CommRefused where there is none, or where it has more than a million messages.
CommSchedule comm_schedule(CommAnswer const& answer);

} // namespace headroom::network

namespace headroom {

FieldTable const& field_table_of(Link const*);

} // namespace headroom
