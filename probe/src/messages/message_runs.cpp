#include "headroom/probe/comm.hpp"
#include "headroom/probe/machine_facts.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>

namespace headroom::probe {

using namespace headroom::measure;

namespace {

constexpr int least_repeats = 3, most_repeats = 60;
constexpr double keep_every = 0.25; ///< seconds after which what was taken goes to the store, also amid a block

/// Splitmix64: one order for one seed, on every machine.
std::uint64_t next_random(std::uint64_t& state) {
    std::uint64_t z = (state += 0x9E3779B97F4A7C15ULL);
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31U);
}

class Runner {
public:
    Runner(CommQuestion const& question, CommTasks const& tasks, CommJob& job, std::span<Sample const> earlier,
           SampleSink const& keep, std::stop_token stop)
        : question_{question},
          tasks_{tasks},
          job_{job},
          keep_{keep},
          stop_{std::move(stop)},
          cost_(tasks.tasks.size(), 0.0),
          values_(tasks.tasks.size()),
          failed_(tasks.tasks.size(), false),
          next_(tasks.points.size(), 0) {
        progress_.late_seconds.resize(tasks.points.size());
        for (Sample const& one : earlier) {
            if (one.point < next_.size()) { next_[one.point] = std::max(next_[one.point], one.repetition + 1); }
        }
    }

    CommProgress run() {
        std::uint64_t random = question_.seed;
        for (int round = 0; round < question_.rounds && !over(round); ++round) {
            progress_.rounds = round + 1;
            std::vector<std::size_t> order(tasks_.groups.size());
            std::iota(order.begin(), order.end(), std::size_t{0});
            for (std::size_t i = order.size(); i > 1; --i) { std::swap(order[i - 1], order[next_random(random) % i]); }
            visits_left_ = order.size() * static_cast<std::size_t>(question_.rounds - round);
            for (std::size_t const group : order) {
                if (over(round)) { break; }
                for (std::size_t const task : tasks_.groups[group]) { visit(task, round); }
                --visits_left_;
            }
        }
        progress_.interrupted = stop_.stop_requested();
        return std::move(progress_);
    }

private:
    [[nodiscard]] double seconds() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    }

    /// The first round is always whole: every point has a few values.
    [[nodiscard]] bool over(int round) const {
        return stop_.stop_requested() || (round > 0 && seconds() > question_.budget_seconds);
    }

    /// As many as fit into this visit's share of the time that is left.
    [[nodiscard]] int repeats_of(std::size_t task, int round) const {
        double const left = std::max(0.0, question_.budget_seconds - seconds());
        if (cost_[task] <= 0.0) { return left > 0.0 ? least_repeats : 1; }
        double const share = left / static_cast<double>(std::max<std::size_t>(1, visits_left_));
        int const least = round == 0 && left > 0.0 ? least_repeats : 1;
        return static_cast<int>(std::clamp(share / cost_[task], 1.0 * least, 1.0 * most_repeats));
    }

    void visit(std::size_t at, int round) {
        CommTask const& task = tasks_.tasks[at];
        if (failed_[at] || stop_.stop_requested()) { return; }
        CommRequest request = task.request;
        request.warm_ups = 1;
        request.repeats = repeats_of(at, round);
        if (task.paused_by >= 0) {
            auto values = values_[static_cast<std::size_t>(task.paused_by)];
            if (values.empty()) { return; }
            std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                             values.end());
            request.pause_seconds = values[values.size() / 2];
        }
        double const begin = seconds();
        int count = 0;
        since_kept_ = begin;
        job_.measure(request, [&](CommRepetition const& one) {
            ++count;
            hear(at, one);
            return !stop_.stop_requested();
        });
        keep();
        if (count > 0) { cost_[at] = (seconds() - begin) / count; }
    }

    void hear(std::size_t at, CommRepetition const& one) {
        CommTask const& task = tasks_.tasks[at];
        auto const load = load_now();
        for (std::size_t i = 0; i < task.points.size(); ++i) {
            std::uint32_t const point = task.points[i];
            Sample sample{.point = point, .repetition = next_[point]++, .began_ns = one.began_ns, .load = load};
            if (!one.failure.empty()) {
                sample.outcome = SampleOutcome::failed;
                sample.message = one.failure;
                failed_[at] = true;
            } else {
                sample.value = one.seconds[i];
                sample.outcome = one.warm_up ? SampleOutcome::warm_up : SampleOutcome::measured;
                if (!one.warm_up) {
                    values_[at].push_back(sample.value);
                    progress_.late_seconds[point].push_back(one.late_seconds);
                }
            }
            taken_.push_back(std::move(sample));
        }
        if (seconds() - since_kept_ > keep_every) { keep(); }
    }

    /// A block of short repetitions is kept when it ends: writing to a disk between two of them would cool the caches.
    void keep() {
        for (Sample const& one : taken_) { keep_(one); }
        taken_.clear();
        since_kept_ = seconds();
    }

    CommQuestion const& question_;
    CommTasks const& tasks_;
    CommJob& job_;
    SampleSink const& keep_;
    std::stop_token stop_;
    std::chrono::steady_clock::time_point const begin_ = std::chrono::steady_clock::now();
    std::vector<double> cost_; ///< seconds of a repetition, with what stands around it
    std::vector<std::vector<double>> values_;
    std::vector<bool> failed_;
    std::vector<std::uint32_t> next_;
    std::vector<Sample> taken_;
    std::size_t visits_left_ = 1;
    double since_kept_ = 0.0;
    CommProgress progress_;
};

} // namespace

CommProgress run_comm_tasks(CommQuestion const& question, CommTasks const& tasks, CommJob& job,
                            std::span<Sample const> earlier, SampleSink const& keep, std::stop_token stop) {
    job.set_patience(question.patience_seconds);
    return Runner{question, tasks, job, earlier, keep, std::move(stop)}.run();
}

} // namespace headroom::probe
