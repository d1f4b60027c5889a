// 1F1B and interleaved 1F1B, unrolled task by task in whole units of time, against the closed forms.

#include "headroom/laws.hpp"
#include "headroom/memory.hpp"
#include "headroom/step.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace headroom {
namespace {

struct Task {
    bool backward;
    int chunk, micro_batch;
};

/// p stages of v chunks; the forward pass of one chunk takes 1, its backward pass 2. Only dependencies make a task wait.
class Schedule {
public:
    Schedule(int stages, int micro_batches, int chunks)
        : p_{stages},
          m_{micro_batches},
          v_{chunks},
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
                free_at_[i] = std::max(free_at_[i], *input) + (task.backward ? 2 : 1);
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
    // Expectation: (m + (p-1)/v)(t_F + t_B), with t_F + t_B = 3 v units, and the step model says the same of its stages.
    for_all_schedules([](int p, int m, int v) {
        Schedule const schedule{p, m, v};
        ASSERT_TRUE(schedule.finished()) << "deadlock: p " << p << " m " << m << " v " << v;
        EXPECT_EQ(schedule.length(), 3 * v * m + 3 * (p - 1)) << "p " << p << " m " << m << " v " << v;

        Model model;
        model.layers = p * v;
        Cluster const cluster;
        Framework const framework;
        Calibration constants;
        constants[Constant::bubble] = 1.0;
        constants[Constant::memory_fraction] = 1.0;
        LayerCosts costs;
        costs.block.gemm = Seconds{3.0};
        costs.block.backward = Seconds{2.0};
        StepSetting const setting{model, cluster, framework, constants, {.sequence_length = 1, .global_batch = m}};
        auto const time = step_time(setting, {.pp = p, .virtual_pp = v}, costs);
        EXPECT_NEAR((time.compute + time.pipeline_bubble).base(), schedule.length(), 1e-9);
        EXPECT_NEAR(time.pipeline_bubble / (time.compute + time.pipeline_bubble),
                    pipeline_bubble_fraction(Ranks{p}, Ranks{m}, Ranks{v}), 1e-12);
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

} // namespace
} // namespace headroom
