#include "headroom/training/pipeline_length.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace headroom::training {
namespace {

constexpr std::size_t most_groups = most_stage_groups + 2; // blocking transfers tell the ends from their groups

/// A group of equal stages, with sums over all stages before it.
struct Group {      // not initialised: of an array of them most are never used
    int first, end; ///< stages
    double time;
    double before;                            ///< time of the stages before
    double slowest_forward, slowest_backward; ///< of a pass up to here

    [[nodiscard]] int count() const { return end - first; }
    [[nodiscard]] double all() const { return before + count() * time; } ///< up to its end
};

/// Neighbours of which each does one micro-batch while a first one goes down and up.
struct Round {
    int stages = 1;
    double time = 0.0;
};

/// Stages in order, as the longest chain of passes is looked for.
class Chain {
public:
    explicit Chain(double hop) : hop_{hop} {}

    void add(EqualStages const& stages) {
        if (stages.count < 1) { return; }
        double const backward = stages.time - stages.forward;
        if (size_ == 0) {
            groups_[0] = {0, stages.count, stages.time, 0.0, stages.forward, backward};
        } else {
            Group const& last = groups_[size_ - 1];
            groups_[size_] = {.first = last.end,
                              .end = last.end + stages.count,
                              .time = stages.time,
                              .before = last.all(),
                              .slowest_forward = std::max(last.slowest_forward, stages.forward),
                              .slowest_backward = std::max(last.slowest_backward, backward)};
        }
        ++size_;
    }

    [[nodiscard]] double length(int micro_batches) {
        micro_batches_ = micro_batches;
        double most = 0.0;
        for (std::size_t g = size_; g-- > 0;) {
            Group const& group = groups_[g];
            longest_ = std::max(longest_, group.time);
            // up to an end of the group, or to the first stage up to which there are micro-batches enough
            int const reached = std::clamp(count() - micro_batches_ + 1, group.first, group.end - 1);
            int before = -1;
            for (int const stage : {group.end - 1, reached, group.first}) {
                if (stage != before) { most = std::max(most, turning_at(g, stage)); }
                before = stage;
            }
            behind_ = round_from(g, group.first);
        }
        return micro_batches_ <= count() ? std::max(most, turning_once()) : most;
    }

private:
    [[nodiscard]] int count() const { return groups_[size_ - 1].end; }
    [[nodiscard]] double until(Group const& group, int stage) const {
        return group.before + (stage - group.first) * group.time;
    }
    [[nodiscard]] double window(double time, int stages) const { return time + 2.0 * hop_ * (stages - 1); }

    /// All passes down to a stage and up again, and so many waits at the slowest pass of a kind meanwhile.
    [[nodiscard]] double down_to(std::size_t g, int stage, double Group::*slowest) const {
        Group const& group = groups_[g];
        return window(until(group, stage + 1), stage + 1) + (count() - 1 - stage) * (group.*slowest);
    }

    /// The window from this stage on that takes longest for each of its stages, or one further behind.
    [[nodiscard]] Round round_from(std::size_t g, int stage) const {
        Round most = behind_;
        for (std::size_t last = hop_ > 0.0 ? g : size_; last < size_; ++last) {
            Round const one{.stages = groups_[last].end - stage,
                            .time = window(groups_[last].all() - until(groups_[g], stage), groups_[last].end - stage)};
            if (one.time * most.stages > most.time * one.stages) { most = one; }
        }
        return most;
    }

    /// The longest chain that goes up to this stage and no further between its first turn and its last.
    [[nodiscard]] double turning_at(std::size_t g, int stage) {
        first_turn_ = std::max(first_turn_, down_to(g, stage, &Group::slowest_forward));
        last_turn_ = std::max(last_turn_, down_to(g, stage, &Group::slowest_backward));
        int const left = micro_batches_ - 1 - (count() - stage);
        if (left < 0) { return 0.0; }
        return first_turn_ + last_turn_ - until(groups_[g], stage) - 2.0 * hop_ * stage + spent(left, g, stage);
    }

    /// The longest way to spend micro-batches on the stages from one on.
    [[nodiscard]] double spent(int micro_batches, std::size_t g, int stage) const {
        double most = micro_batches * longest_;
        if (hop_ <= 0.0) { return most; }
        auto const [stages, time] = round_from(g, stage);
        int const rounds = micro_batches / stages, over = micro_batches % stages;
        if (stages == 1) { return std::max(most, micro_batches * time); }
        most = std::max(most, rounds * time + longest_window(over, g, stage));
        if (rounds > 0 && stages + over <= count() - stage) {
            most = std::max(most, (rounds - 1) * time + longest_window(stages + over, g, stage));
        }
        return most;
    }

    /// So many stages from one on that take longest, or the slowest stage as often.
    [[nodiscard]] double longest_window(int stages, std::size_t g, int stage) const {
        if (stages <= 0) { return 0.0; }
        double most = stages * longest_;
        for (std::size_t at = g; at < size_; ++at) {
            Group const& group = groups_[at];
            int const from = std::max(stage, group.first), before = group.end - stages;
            if (from + stages <= count()) {
                most = std::max(most, window(until(from + stages, at) - until(group, from), stages));
            }
            if (before >= stage) { most = std::max(most, window(group.all() - until(before, g), stages)); }
        }
        return most;
    }

    /// Searched for from a group on.
    [[nodiscard]] double until(int stage, std::size_t g) const {
        while (groups_[g].end < stage) { ++g; }
        return until(groups_[g], stage);
    }

    /// So few micro-batches that the last has gone in before the first has come back.
    [[nodiscard]] double turning_once() const {
        double most = 0.0;
        for (std::size_t g = 0; g < size_; ++g) {
            for (int const stage : {groups_[g].first, groups_[g].end - 1, count() - micro_batches_}) {
                if (stage >= groups_[g].first && stage < groups_[g].end && stage >= count() - micro_batches_) {
                    most = std::max(most, turning_once_at(g, stage));
                }
            }
        }
        return most;
    }

    [[nodiscard]] double turning_once_at(std::size_t g, int stage) const {
        int const behind = count() - 1 - stage, others = micro_batches_ - 1;
        double most = 0.0;
        auto const with = [&](int forward) {
            if (forward < behind || forward > others) { return; }
            int const backward = others + behind - forward;
            most = std::max(most,
                            forward * slowest(&Group::slowest_forward, std::min(stage, count() - 1 - forward)) +
                                backward * slowest(&Group::slowest_backward, std::min(stage, count() - 1 - backward)));
        };
        with(behind);
        with(others);
        for (std::size_t at = 0; at <= g; ++at) { // the most waits that a group allows
            with(count() - 1 - groups_[at].first);
            with(others + behind - (count() - 1 - groups_[at].first));
        }
        return window(until(groups_[g], stage + 1), stage + 1) + most;
    }

    [[nodiscard]] double slowest(double Group::*pass, int stage) const {
        std::size_t g = 0;
        while (groups_[g].end <= stage) { ++g; }
        return groups_[g].*pass;
    }

    double hop_;
    int micro_batches_ = 0;
    std::size_t size_ = 0;
    double first_turn_ = 0.0, last_turn_ = 0.0;
    double longest_ = 0.0;
    Round behind_; ///< the best of those that begin with a later group
    std::array<Group, most_groups> groups_;
};

/// Transfers that block, as part of the stages at both ends of them: a stage sends and receives at once, twice a
/// micro-batch, at the ends of the pipeline once.
void add_with_transfers(Chain& chain, std::span<EqualStages const> groups, double hop) {
    for (std::size_t g = 0; g < groups.size(); ++g) {
        int const first = g == 0 ? 1 : 0, last = g + 1 == groups.size() ? 1 : 0;
        double const time = groups[g].time, forward = groups[g].forward;
        if (groups[g].count == 1 && first + last == 2) {
            chain.add(groups[g]);
            continue;
        }
        chain.add({first, time + hop, forward + hop / 2.0});
        chain.add({groups[g].count - first - last, time + 2.0 * hop, forward + hop});
        chain.add({last, time + hop, forward + hop / 2.0});
    }
}

} // namespace

double window_period(std::span<EqualStages const> groups, WindowBegin begin, double between, double hop) {
    double longest = 0.0;
    auto const from = [&](std::size_t g, int skipped) { // of the stages of this group
        double sum = between;
        for (int size = 0; g < groups.size(); ++g, skipped = 0) {
            size += groups[g].count - skipped;
            sum += (groups[g].count - skipped) * groups[g].time;
            if (size > 1) { longest = std::max(longest, (sum + 2.0 * hop * (size - 1)) / size); }
        }
    };
    if (begin == WindowBegin::first) { from(0, 0); }
    for (std::size_t g = 0; g < groups.size() && begin == WindowBegin::between; ++g) { // of equal ones the outer two
        int const first = g == 0 ? 1 : 0, last = groups[g].count - 1;
        if (first <= last) { from(g, first), from(g, last); }
    }
    return longest;
}

double one_f_one_b_length(std::span<EqualStages const> groups, int micro_batches, double hop, bool blocking) {
    Chain chain{blocking ? 0.0 : hop};
    if (blocking) {
        add_with_transfers(chain, groups, hop);
    } else {
        for (EqualStages const& group : groups) { chain.add(group); }
    }
    return chain.length(micro_batches);
}

} // namespace headroom::training
