#pragma once

#include "step_passes.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace headroom::training::simulation {

/// Seconds of collectives by group: tensor, context, experts.
using OfGroups = std::array<double, group3_count>;

/// Kernels that follow one another with nothing between, seconds; what is hidden beside them, and what shows behind.
struct Leg {
    double launch = 0.0;               ///< what the first of them waits for: issuing it
    double issue = 0.0;                ///< issuing the others, one after the other
    double kernels = 0.0, last = 0.0;  ///< all of them, and the last one
    std::vector<double> ends;          ///< of each: the kernels until it has ended
    OfGroups beside{}, shown{};        ///< hidden collectives, which the next leg waits for; those that stand behind
    double late = 0.0, standing = 0.0; ///< without kernels: a wait for the host, and how long it stands still itself
    bool waits = false;                ///< the leg is such a wait
};

/// A pass of a unit: its items, those that follow one another with the same beside them taken together.
std::vector<Leg> legs_of(UnitPass const& pass);

/// Who is in whose way on one chip.
struct StageRules {
    double loss = 0.0;                       ///< share of their rate that kernels lose beside traffic
    bool data_leaves = false;                ///< traffic leaves by the adapter of the node,
    std::array<bool, group3_count> leaves{}; ///< and so do these collectives: all under way have equal shares
    double tick = 1e-12;                     ///< shorter times are none
};

/// Traffic that is queued when so many of a visit's kernels have ended.
struct Queued {
    std::size_t after = 0;
    double seconds = 0.0;
};

/// Copies to the host that wait for traffic.
struct CopyBehind {
    double mark = 0.0, ready = 0.0, seconds = 0.0; ///< traffic that they wait for, and when gradients are made
    double sent = 0.0;                             ///< when that traffic was through
};

/// The time of one chip, its host and its queue of traffic, which is worked off in its order whatever else runs.
///
///     kernels advance at 1 - loss of their rate while the queue is not empty, and no faster than the host issues them
class StageClock {
public:
    explicit StageClock(StageRules const& rules) : rules_{rules} {}

    /// Runs a leg behind `done` other kernels of its visit, and takes off what it queues.
    void run(Leg const& leg, double share, std::size_t done, std::span<Queued const>& queued);
    /// One kernel that no launch holds up.
    void kernel(double seconds);
    /// Queues traffic that is ready when the last kernel has ended.
    void queue(double seconds);
    [[nodiscard]] double queued() const { return queued_; }

    // What the next kernel waits for, beside the last one.
    void wait_for_traffic(double mark);
    void wait_until(double time);
    void wait_alone(double seconds); ///< for something that hides behind nothing

    /// The next launch is not before that time.
    void hold_host(double time) { add({.kind = Wait::hold, .seconds = time}); }

    /// When all is done that the next kernel waits for.
    [[nodiscard]] double now() const { return state_.now; }
    /// When the last kernel, or wait for the host, has ended.
    [[nodiscard]] double computed() const { return state_.compute; }
    /// When the queue is empty.
    [[nodiscard]] double drained() const;
    /// A copy to the host, not before that time and not before so much traffic is through.
    void copy_behind(double mark, double ready, double seconds);
    /// When the last of these copies has gone, on a bus that is free from then on.
    [[nodiscard]] double copied(double free) const;

private:
    struct State {
        double now = 0.0, host = 0.0, sent = 0.0, compute = 0.0;
        std::size_t copies = 0; ///< whose traffic is through
    };
    enum class Wait : std::uint8_t { together, traffic, until, alone, host, hold };
    struct Behind { ///< what stands behind the last kernel
        Wait kind = Wait::until;
        OfGroups groups{};
        double seconds = 0.0, launch = 0.0, standing = 0.0;
    };

    [[nodiscard]] bool busy(State const& s) const { return queued_ - s.sent > rules_.tick; }
    [[nodiscard]] double share_of_adapter(State const& s, OfGroups const& groups) const;
    [[nodiscard]] double until_change(State const& s, OfGroups const& groups) const;
    void pass(State& s, OfGroups& groups, double seconds);
    void idle_until(State& s, OfGroups& groups, double time);
    void follow(State& s, Behind const& wait);
    void add(Behind const& wait);
    void run_kernels(Leg const& leg, double share, std::size_t done, std::span<Queued const>& queued, OfGroups& rest);

    StageRules rules_;
    double queued_ = 0.0;
    State state_, made_;        ///< now, and when the last kernel had ended
    std::vector<Behind> trail_; ///< what has been waited for since
    std::vector<CopyBehind> copies_;
};

} // namespace headroom::training::simulation
