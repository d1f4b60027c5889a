#pragma once

#include "headroom/measure/measurement.hpp"
#include "headroom/network/collective.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::probe {

/// What the ranks of a job do while a clock runs. `peer` is the rank that rank 0 talks to.
enum class CommPattern : std::int32_t {
    one_way,     ///< 0 sends, the peer answers: half of a round trip, by one clock
    both_ways,   ///< 0 and the peer send to each other at the same time, several times in a row: one exchange
    shifted,     ///< every rank sends to the next one and receives from the one before, likewise: one exchange
    all_at_once, ///< every rank sends its share to every other at the same time
    pairs,       ///< all pairs of one of `pair_rounds`: one way each, all at the same time
    loaded,      ///< one_way while the other ranks exchange megabytes two by two
    computing,   ///< one_way while every rank has a thread that computes
    train,       ///< 0 sends `messages` in a row and the peer answers the last: see `fit::MessageTrain`
    adding,      ///< every rank adds a vector to another: no message
    collective,  ///< one of MPI's
};
std::string_view name_of(CommPattern pattern);

/// One point, to be repeated a few times. Plain, so that it goes to other processes as it lies in memory.
struct CommRequest {
    CommPattern pattern = CommPattern::one_way;
    network::Collective collective = network::Collective::all_reduce;
    std::int32_t algorithm = 0; ///< the library's number; 0: as it chooses
    std::int32_t peer = 1;
    std::int32_t repeats = 1, warm_ups = 0;
    std::int32_t in_a_row =
        1; ///< of one_way, loaded, computing and pairs: round trips in one repetition, of which the mean
    std::int32_t messages = 1; ///< of a train
    std::int32_t round = 0;    ///< of pairs
    std::uint64_t bytes =
        8; ///< of a message; of a collective and all_at_once the whole vector, as `actual_bytes` rounds it
    double pause_seconds = 0.0; ///< between messages of a train; zero: none
};

/// The whole vector that is really used where a size is asked for: whole floats, as many for every rank.
std::uint64_t actual_bytes(CommPattern pattern, network::Collective collective, std::uint64_t asked, int ranks);

struct CommRepetition {
    bool warm_up = false;
    std::int64_t began_ns = 0;
    std::vector<double> seconds = {}; ///< the longest of all ranks; of pairs one value a pair of the round
    double late_seconds = 0.0;        ///< after the agreed instant, of the rank that began last
    std::string failure = {};         ///< the library's word, or what was wrong with the result; empty: all is well
};

/// A forced way of one collective, by the library's own name.
struct CommAlgorithm {
    network::Collective collective = network::Collective::all_reduce;
    std::string name;
    int number = 0;
};

/// Who takes part.
struct CommWorld {
    std::vector<std::string> hosts; ///< a rank
    std::vector<int> cores;         ///< of a rank's host, that its processes may use
    std::string implementation;     ///< first line of its version
    std::vector<CommAlgorithm> algorithms;
    std::string no_algorithms; ///< why none can be forced; empty where they can
    [[nodiscard]] int ranks() const { return static_cast<int>(hosts.size()); }
    /// The first rank on rank 0's host and the first one elsewhere.
    [[nodiscard]] std::optional<int> near_peer() const;
    [[nodiscard]] std::optional<int> far_peer() const;
    /// Some host has fewer cores than ranks.
    [[nodiscard]] bool crowded() const;
    [[nodiscard]] int nodes() const;
};

/// The processes of a job as the first of them sees them.
class CommJob {
public:
    CommJob() = default;
    CommJob(CommJob const&) = delete;
    CommJob& operator=(CommJob const&) = delete;
    virtual ~CommJob() = default;
    [[nodiscard]] virtual CommWorld const& world() const = 0;
    using Heard = std::function<bool(CommRepetition const&)>;
    /// Repeats one point; each repetition is heard before the next begins, and none begins after `heard` said false.
    virtual void measure(CommRequest const& request, Heard const& heard) = 0;
    /// How long one repetition may take before the job is given up: the process ends with exit code 5 and a line.
    virtual void set_patience(double seconds) = 0;
    /// How far the clocks of the ranks may disagree at an agreed instant: half of the shortest round trip to each, the
    /// largest of them; zero where all share a clock.
    [[nodiscard]] virtual double clock_error_seconds() const = 0;
};

/// The job of this process; null where it is none. Set by the program that knows how to reach the others.
CommJob*& comm_job();

} // namespace headroom::probe
