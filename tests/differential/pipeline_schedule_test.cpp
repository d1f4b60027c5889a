// 1F1B and interleaved 1F1B, unrolled task by task in whole units of time, against the closed forms.

#include "../../core/src/training/stage.hpp"
#include "support/random.hpp"

#include "headroom/laws/laws.hpp"
#include "headroom/training/laws.hpp"
#include "headroom/training/memory.hpp"
#include "headroom/training/step.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace headroom {

using namespace headroom::training;

namespace {

struct Task {
    bool backward;
    int chunk, micro_batch;
};

/// Time of one chunk of a stage.
struct ChunkTime {
    int forward = 1, backward = 2;
    [[nodiscard]] int both() const { return forward + backward; }
};

/// p stages of v chunks; the forward pass of one chunk takes 1, its backward pass 2, unless each stage has times of its
/// own. Only dependencies make a task wait.
class Schedule {
public:
    Schedule(int stages, int micro_batches, int chunks)
        : Schedule{std::vector<ChunkTime>(static_cast<std::size_t>(stages)), micro_batches, chunks} {}

    Schedule(std::vector<ChunkTime> times, int micro_batches, int chunks)
        : p_{static_cast<int>(times.size())},
          m_{micro_batches},
          v_{chunks},
          times_{std::move(times)},
          tasks_(static_cast<std::size_t>(p_)),
          next_(tasks_.size(), 0),
          free_at_(tasks_.size(), 0),
          held_(tasks_.size(), 0),
          peak_(tasks_.size(), 0),
          done_(static_cast<std::size_t>(2 * p_ * v_ * m_)) {
        for (int stage = 0; stage < p_; ++stage) { order(stage); }
        while (advance()) {}
    }

    [[nodiscard]] bool finished() const {
        return std::ranges::all_of(done_, [](auto const& end) { return end.has_value(); });
    }
    [[nodiscard]] int length() const { return *std::ranges::max_element(free_at_); }
    /// Most chunk activations that a stage holds at once.
    [[nodiscard]] int peak(int stage) const { return peak_[static_cast<std::size_t>(stage)]; }

private:
    /// The k-th forward task of a stage: p micro-batches through one chunk, then through the next.
    [[nodiscard]] Task forward(int k) const { return {false, k / p_ % v_, v_ == 1 ? k : k / (p_ * v_) * p_ + k % p_}; }
    [[nodiscard]] Task backward(int k) const {
        Task task = forward(k);
        return {true, v_ - 1 - task.chunk, task.micro_batch};
    }

    void order(int stage) {
        auto& list = tasks_[static_cast<std::size_t>(stage)];
        int const all = m_ * v_;
        int const warm_up = std::min(all, v_ == 1 ? p_ - 1 - stage : 2 * (p_ - 1 - stage) + (v_ - 1) * p_);
        for (int k = 0; k < warm_up; ++k) { list.push_back(forward(k)); }
        for (int k = warm_up; k < all; ++k) {
            list.push_back(forward(k));
            list.push_back(backward(k - warm_up));
        }
        for (int k = all - warm_up; k < all; ++k) { list.push_back(backward(k)); }
    }

    std::optional<int>& done(int stage, Task task) {
        return done_[static_cast<std::size_t>(((task.backward ? p_ : 0) + stage) * v_ * m_ + task.chunk * m_ +
                                              task.micro_batch)];
    }

    /// When the task's input arrives; empty while what makes it has not run.
    std::optional<int> ready(int stage, Task task) {
        if (!task.backward) {
            if (stage > 0) { return done(stage - 1, task); }
            return task.chunk == 0 ? std::optional{0} : done(p_ - 1, {false, task.chunk - 1, task.micro_batch});
        }
        if (stage < p_ - 1) { return done(stage + 1, task); }
        return task.chunk == v_ - 1 ? done(stage, {false, task.chunk, task.micro_batch})
                                    : done(0, {true, task.chunk + 1, task.micro_batch});
    }

    bool advance() {
        bool any = false;
        for (int stage = 0; stage < p_; ++stage) {
            auto const i = static_cast<std::size_t>(stage);
            while (next_[i] < tasks_[i].size()) {
                Task const task = tasks_[i][next_[i]];
                auto const input = ready(stage, task);
                if (!input) { break; }
                free_at_[i] = std::max(free_at_[i], *input) + (task.backward ? times_[i].backward : times_[i].forward);
                done(stage, task) = free_at_[i];
                held_[i] += task.backward ? -1 : 1;
                peak_[i] = std::max(peak_[i], held_[i]);
                ++next_[i];
                any = true;
            }
        }
        return any;
    }

    int p_, m_, v_;
    std::vector<ChunkTime> times_;
    std::vector<std::vector<Task>> tasks_;
    std::vector<std::size_t> next_;
    std::vector<int> free_at_, held_, peak_;
    std::vector<std::optional<int>> done_;
};

template <class Check> void for_all_schedules(Check check) {
    for (int const p : {2, 4, 8}) {
        for (int const v : {1, 2, 4}) {
            for (int m = p; m <= 4 * p; m += p) { check(p, m, v); }
        }
    }
}

TEST(PipelineSchedule, TakesTheTimeOfTheClosedForm) {
    // Expectation: (m + (p-1)/v)(t_F + t_B), with t_F + t_B = 3 v units.
    for_all_schedules([](int p, int m, int v) {
        Schedule const schedule{p, m, v};
        ASSERT_TRUE(schedule.finished()) << "deadlock: p " << p << " m " << m << " v " << v;
        EXPECT_EQ(schedule.length(), 3 * v * m + 3 * (p - 1)) << "p " << p << " m " << m << " v " << v;
    });
}

TEST(PipelineSchedule, HoldsTheActivationsOfTheClosedForm) {
    // Expectation: the first stage holds p (1 + (p-1)/(p v)) micro-batches when interleaved, p otherwise, never over m.
    for_all_schedules([](int p, int m, int v) {
        Schedule const schedule{p, m, v};
        for (int stage = 0; stage < p; ++stage) {
            double const held = micro_batches_in_flight({.pp = p, .virtual_pp = v}, stage, m);
            EXPECT_NEAR(held, static_cast<double>(schedule.peak(stage)) / v, 1e-12)
                << "p " << p << " m " << m << " v " << v << " stage " << stage;
        }
    });
}

TEST(PipelineSchedule, ShortRunsHoldNoMoreThanTheyHave) {
    // Expectation: with fewer micro-batches than stages the plain schedule still ends, and holds them all at most.
    for (int const p : {4, 8}) {
        for (int m = 1; m < p; ++m) {
            Schedule const schedule{p, m, 1};
            ASSERT_TRUE(schedule.finished());
            EXPECT_EQ(schedule.length(), 3 * m + 3 * (p - 1));
            for (int stage = 0; stage < p; ++stage) {
                EXPECT_EQ(micro_batches_in_flight({.pp = p}, stage, m), schedule.peak(stage))
                    << p << " " << m << " " << stage;
            }
        }
    }
}

// ---- unequal stages -----------------------------------------------------------------------------------------------

struct Uneven {
    std::vector<ChunkTime> times;
    int slowest = 0; ///< the last of the slowest stages
    int most = 0, least = 0, all = 0;
    int lighter_behind = 0; ///< time by which the later stages are faster, in total
};

Uneven measured(std::vector<ChunkTime> times) {
    Uneven of{.times = std::move(times)};
    for (std::size_t i = 0; i < of.times.size(); ++i) {
        int const both = of.times[i].both();
        of.all += both;
        of.least = i == 0 ? both : std::min(of.least, both);
        of.lighter_behind = both >= of.most ? 0 : of.lighter_behind + of.most - both;
        if (both >= of.most) { of.slowest = static_cast<int>(i), of.most = both; }
    }
    return of;
}

TEST(UnevenStages, TakeTheTimeOfTheClosedForm) {
    // Expectation: m times the slowest stage and once every other, t = m t_max + (sum - t_max), exactly where no stage
    // behind the slowest is faster: it waits for nothing but filling and draining. Where some are, their slack is given
    // back while it waits, so the closed form is above by no more than that.
    test::CounterRandom random{1};
    int exact = 0;
    for (int trial = 0; trial < 3000; ++trial) {
        int const p = 2 + random.below(7), m = p + random.below(3 * p);
        std::vector<ChunkTime> times;
        for (int i = 0; i < p; ++i) {
            int const forward = 1 + random.below(6);
            times.push_back({forward, 2 * forward});
        }
        auto const of = measured(times);
        Schedule const schedule{of.times, m, 1};
        ASSERT_TRUE(schedule.finished()) << "trial " << trial;
        int const closed = (m - 1) * of.most + of.all;
        EXPECT_LE(schedule.length(), closed) << "trial " << trial;
        EXPECT_GE(schedule.length(), closed - of.lighter_behind) << "trial " << trial;
        exact += schedule.length() == closed ? 1 : 0;
    }
    EXPECT_GT(exact, 1000); // every third has its slowest stage last, or slack that makes no difference
}

TEST(UnevenStages, InterleavedAreWithinTheirSlack) {
    // Expectation: with v chunks a stage the bubble is a v-th; the schedule of stages with lighter ends is between the
    // work of the slowest stage and the closed form, and nearer to that than a schedule of mean stages would be.
    for (int const p : {2, 4}) {
        for (int const v : {2, 3}) {
            for (int chunk = 1; chunk <= 3; ++chunk) {
                for (int const m : {p, 2 * p, 6 * p}) {
                    std::vector<ChunkTime> times(static_cast<std::size_t>(p), {2 * chunk, 4 * chunk});
                    times.front() = times.back() = {2 * chunk - 1, 4 * chunk - 2}; // ends of a layer less a chunk
                    if (p == 2) { times.front() = {2 * chunk, 4 * chunk}; }
                    auto const of = measured(times);
                    double const closed = v * m * of.most + (of.all - of.most);
                    Schedule const schedule{times, m, v};
                    ASSERT_TRUE(schedule.finished());
                    EXPECT_LE(schedule.length(), closed) << p << " " << v << " " << chunk << " " << m;
                    double const mean = static_cast<double>(of.all) / p;
                    EXPECT_GE(schedule.length(), v * m * of.most) << p << " " << v << " " << chunk << " " << m;
                    EXPECT_GE(schedule.length(), closed * mean / of.most) << p << " " << v << " " << chunk << " " << m;
                }
            }
        }
    }
}

} // namespace
} // namespace headroom
