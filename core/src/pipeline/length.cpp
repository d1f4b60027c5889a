#include "headroom/pipeline_length.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace headroom {
namespace {

/// Groups of equal stages, with sums over neighbours.
class Stages {
public:
    void add(EqualStages const& group) {
        if (group.count < 1) { return; }
        groups_[size_++] = group;
        end_[size_] = end_[size_ - 1] + group.count;
        sum_[size_] = sum_[size_ - 1] + group.count * group.time;
    }

    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] int count() const { return end_[size_]; }
    [[nodiscard]] int first(std::size_t group) const { return end_[group]; }
    [[nodiscard]] int end(std::size_t group) const { return end_[group + 1]; }
    [[nodiscard]] double time(int stage) const { return groups_[group_of(stage)].time; }
    [[nodiscard]] double sum(int first, int end) const { return before(end) - before(first); }
    [[nodiscard]] double longest(int first, int end) const {
        double slowest = 0.0;
        for (std::size_t g = group_of(first); g < size_ && end_[g] < end; ++g) {
            slowest = std::max(slowest, groups_[g].time);
        }
        return slowest;
    }

private:
    [[nodiscard]] std::size_t group_of(int stage) const {
        std::size_t g = 0;
        while (g + 1 < size_ && end_[g + 1] <= stage) { ++g; }
        return g;
    }
    [[nodiscard]] double before(int stage) const {
        std::size_t const g = group_of(stage);
        return sum_[g] + (stage - end_[g]) * groups_[g].time;
    }

    static constexpr std::size_t most = most_stage_groups + 2; // blocking transfers tell the ends from their groups
    std::size_t size_ = 0;
    std::array<EqualStages, most> groups_{};
    std::array<int, most + 1> end_{};    ///< of the group before: group g is end_[g] up to end_[g + 1]
    std::array<double, most + 1> sum_{}; ///< of all groups before
};

/// Transfers that block, as part of the stages at both ends of them: a stage sends and receives at once, twice a
/// micro-batch, at the ends of the pipeline once.
Stages with_transfers(std::span<EqualStages const> groups, double hop) {
    Stages stages;
    for (std::size_t g = 0; g < groups.size(); ++g) {
        int const first = g == 0 ? 1 : 0, last = g + 1 == groups.size() ? 1 : 0;
        double const time = groups[g].time;
        if (groups[g].count == 1 && first + last == 2) {
            stages.add({1, time});
            continue;
        }
        stages.add({first, time + hop});
        stages.add({groups[g].count - first - last, time + 2.0 * hop});
        stages.add({last, time + hop});
    }
    return stages;
}

/// The longest way to spend micro-batches in a window of neighbouring stages.
class Window {
public:
    Window(Stages const& stages, int first, int end, double hop)
        : stages_{stages}, first_{first}, end_{end}, hop_{hop}, round_{of(first, end)} {}

    [[nodiscard]] double period() const { return round_ / (end_ - first_); }

    [[nodiscard]] double spent(int micro_batches) const {
        if (micro_batches <= 0) { return 0.0; }
        int const size = end_ - first_;
        int const rounds = micro_batches / size, left = micro_batches % size;
        return rounds * round_ + (rounds == 0 ? entered(left) : over(left));
    }

private:
    /// One micro-batch each, down and up.
    [[nodiscard]] double of(int first, int end) const {
        return stages_.sum(first, end) + 2.0 * hop_ * (end - first - 1);
    }
    /// Too few to go round once: from the last stage as far as they reach.
    [[nodiscard]] double entered(int left) const {
        return std::max(of(end_ - left, end_), left * stages_.time(end_ - 1));
    }
    /// What is left after the last round: at the longest stage, or in the longest window of as many.
    [[nodiscard]] double over(int left) const {
        if (left == 0) { return 0.0; }
        double most = left * stages_.longest(first_, end_);
        for (std::size_t g = 0; g < stages_.size(); ++g) {
            for (int const from : {stages_.first(g), stages_.end(g) - left}) {
                if (from >= first_ && from + left <= end_) { most = std::max(most, of(from, from + left)); }
            }
        }
        return most;
    }

    Stages const& stages_;
    int first_, end_;
    double hop_, round_;
};

/// How a micro-batch passes from stage to stage.
struct Passing {
    double hop = 0.0;           ///< beside computation
    double inside = 0.0;        ///< of transfers that block: a part of each pass of a stage
    double shorter_share = 0.0; ///< of a stage's time without them, its forward or backward passes

    [[nodiscard]] double shorter_pass(double stage) const { return shorter_share * (stage - 2.0 * inside) + inside; }
};

/// The longest that m - 1 micro-batches take, most of them in a window.
double spent_in(Stages const& stages, int first, int end, Passing const& passing, int others) {
    double const hop = passing.hop;
    Window const window{stages, first, end, hop};
    int const behind = stages.count() - end;
    double const passed = stages.sum(end, stages.count()) + 2.0 * hop * behind;
    double const all = window.spent(others);
    double most = all - std::min(passed, behind * passing.shorter_pass(window.period())); // they are not waited for
    if (others > behind) { most = std::max(most, passed + window.spent(others - behind)); }
    return most;
}

} // namespace

double window_period(std::span<EqualStages const> groups, WindowBegin begin, double between, double hop) {
    Stages stages;
    for (EqualStages const& group : groups) { stages.add(group); }
    double longest = 0.0;
    auto const from = [&](int first) {
        for (std::size_t last = 0; last < stages.size(); ++last) {
            int const size = stages.end(last) - first;
            if (size < 2) { continue; }
            double const all = stages.sum(first, stages.end(last)) + 2.0 * hop * (size - 1) + between;
            longest = std::max(longest, all / size);
        }
    };
    if (begin == WindowBegin::first) { from(0); }
    for (std::size_t g = 0; g < stages.size() && begin == WindowBegin::between; ++g) { // of equal ones the outer two
        if (stages.end(g) > 1) { from(std::max(1, stages.first(g))), from(stages.end(g) - 1); }
    }
    return longest;
}

double one_f_one_b_length(std::span<EqualStages const> groups, double forward_share, int micro_batches, double hop,
                          bool blocking) {
    Stages stages;
    if (blocking) {
        stages = with_transfers(groups, hop);
    } else {
        for (EqualStages const& group : groups) { stages.add(group); }
    }
    Passing const passing{.hop = blocking ? 0.0 : hop,
                          .inside = blocking ? hop : 0.0,
                          .shorter_share = std::min(forward_share, 1.0 - forward_share)};
    double most = 0.0;
    for (std::size_t last = 0; last < stages.size(); ++last) {
        int const end = stages.end(last);
        if (stages.first(last) < end - 1) { // else the loop below tries it
            most = std::max(most, spent_in(stages, end - 1, end, passing, micro_batches - 1));
        }
        for (std::size_t g = 0; g <= last; ++g) {
            most = std::max(most, spent_in(stages, stages.first(g), end, passing, micro_batches - 1));
        }
    }
    return stages.sum(0, stages.count()) + 2.0 * passing.hop * (stages.count() - 1) + most;
}

} // namespace headroom
