#pragma once

#include "headroom/measure/measurement.hpp"
#include "headroom/network/message_job.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::probe {

/// One point, to be repeated a few times. Plain, so that it goes to other processes as it lies in memory.
struct CommRequest {
    network::CommPattern pattern = network::CommPattern::one_way;
    network::Collective collective = network::Collective::all_reduce;
    std::int32_t algorithm = 0; ///< the library's number; 0: as it chooses
    std::int32_t peer = 1;
    std::int32_t repeats = 1, warm_ups = 0;
    std::int32_t in_a_row =
        1; ///< of one_way, loaded, computing and pairs: round trips in one repetition, of which the mean
    std::int32_t messages = 1; ///< of a train
    std::int32_t round = 0;    ///< of pairs
    std::int32_t cold = 0;     ///< 1: every message has buffers that no cache holds; 0: the same ones each time
    std::uint64_t bytes =
        8; ///< of a message; of a collective and all_at_once the whole vector, as `actual_bytes` rounds it
    double pause_seconds = 0.0; ///< between messages of a train; zero: none
};

/// The whole vector that is really used where a size is asked for: whole floats, as many for every rank.
std::uint64_t actual_bytes(network::CommPattern pattern, network::Collective collective, std::uint64_t asked,
                           int ranks);

struct CommRepetition {
    bool warm_up = false;
    std::int64_t began_ns = 0;
    std::vector<double> seconds = {}; ///< the longest of all ranks; of pairs one value a pair of the round
    double late_seconds = 0.0;        ///< after the agreed instant, of the rank that began last
    std::string failure = {};         ///< the library's word, or what was wrong with the result; empty: all is well
};

/// The processes of a job as the first of them sees them.
class CommJob {
public:
    CommJob() = default;
    CommJob(CommJob const&) = delete;
    CommJob& operator=(CommJob const&) = delete;
    virtual ~CommJob() = default;
    [[nodiscard]] virtual network::CommWorld const& world() const = 0;
    using Heard = std::function<bool(CommRepetition const&)>;
    /// Repeats one point; each repetition is passed to `heard` before the next begins, and none begins after it
    /// returned false.
    virtual void measure(CommRequest const& request, Heard const& heard) = 0;
    /// Sets the longest time of one repetition, after which the job is given up: the process ends with exit code 5 and
    /// a line.
    virtual void set_patience(double seconds) = 0;
    /// Largest disagreement of the ranks' clocks at an agreed instant, seconds: half of the shortest round trip to
    /// each; zero where all share a clock.
    [[nodiscard]] virtual double clock_error_seconds() const = 0;
};

/// The job of this process; null where it is none. Set by the program that knows how to reach the others.
CommJob*& comm_job();

// ---- a campaign -------------------------------------------------------------------------------------------------------

enum class CommPart { messages, collectives, pairs, load, loggp };
inline constexpr std::array<std::string_view, 5> comm_part_names{"messages", "collectives", "pairs", "load", "loggp"};

/// State of the buffers: used by the message before, or long ago.
enum class CommBuffers { hot, cold };
inline constexpr std::array<std::string_view, 2> comm_buffers_names{"hot", "cold"};

/// Question of a campaign of messages.
struct CommQuestion {
    std::vector<std::uint64_t> sizes; ///< rising
    std::vector<network::Collective> collectives;
    std::vector<std::string> algorithms; ///< "library", "all" or names of the library's
    std::vector<CommPart> parts;
    std::vector<CommBuffers> buffers{CommBuffers::hot, CommBuffers::cold};
    double budget_seconds = 60.0, patience_seconds = 60.0;
    int rounds = 5; ///< over which the repetitions of a point are spread
    std::uint64_t seed = 1;
    [[nodiscard]] bool wants(CommPart part) const;
};
/// Settings that two campaigns share if they measure the same.
measure::Facts settings_of(CommQuestion const& question, network::CommWorld const& world);
/// Facts about rank 0's machine and the job, with the variables that change the speed of MPI.
measure::Facts job_facts(network::CommWorld const& world);

/// One request to the job and the points that its times belong to: one, or one a pair of a round.
struct CommTask {
    CommRequest request;
    std::vector<std::uint32_t> points;
    int paused_by = -1; ///< of a paced train: the task of the lone train whose time is the pause
};
struct CommTasks {
    std::vector<measure::MeasuredPoint> points;
    std::vector<CommTask> tasks;
    std::vector<std::vector<std::size_t>> groups; ///< tasks that are taken one after the other; groups go in any order
    std::vector<std::string> notes;               ///< tasks in question that cannot be run
};
/// Errors: InputError{usage} for algorithms that the library does not have, and where nothing is left to measure.
CommTasks comm_tasks(CommQuestion const& question, network::CommWorld const& world);

struct CommProgress {
    std::vector<std::vector<double>> late_seconds; ///< a point, of repetitions that count
    bool interrupted = false;
    int rounds = 0; ///< that were begun
};
/// Times everything in rounds, each in an order of its own, until the budget is spent. Samples go to `keep` when a block
/// of them ends; `earlier` holds those of an interrupted run that goes on.
CommProgress run_comm_tasks(CommQuestion const& question, CommTasks const& tasks, CommJob& job,
                            std::span<measure::Sample const> earlier, measure::SampleSink const& keep,
                            std::stop_token stop);

} // namespace headroom::probe
