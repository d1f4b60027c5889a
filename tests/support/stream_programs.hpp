#pragma once

// Programs of streams, each from a seed, and a second simulator that looks at every task at every event.

#include "support/random_graphs.hpp"

#include "headroom/training/stream_simulation.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace headroom::test {

/// Sharing and slowing as they come: some programs have neither.
inline std::vector<training::Stream> random_streams(CounterRandom& random) {
    int const chips = 1 + random.below(3), links = random.below(3);
    std::vector<training::Stream> streams(static_cast<std::size_t>(1 + random.below(8)));
    for (std::size_t s = 0; s < streams.size(); ++s) {
        streams[s].name = "stream " + std::to_string(s);
        streams[s].chip = static_cast<std::uint16_t>(random.below(chips));
        if (random.below(2) == 0 && links > 0) {
            streams[s].link = static_cast<training::LinkIndex>(random.below(links));
        }
        streams[s].computes = random.below(2) == 0;
        streams[s].network = random.below(2) == 0;
    }
    return streams;
}

/// Costs of at most `longest`; edges lead from smaller to larger numbers, unless `any_order`: then there may be
/// circles.
inline training::StreamProgram random_program(std::uint64_t seed, int most_tasks, Ticks longest,
                                              bool any_order = false) {
    constexpr std::array slowdowns{0.0, 0.1, 0.2, 0.237431, 0.5, 0.9};
    RawGraph graph = random_graph(seed, most_tasks);
    CounterRandom random{~seed};
    training::StreamProgram program;
    program.streams = random_streams(random);
    program.slowdown = slowdowns[any_task(random, slowdowns.size())];
    for (std::size_t v = 0; v < graph.size(); ++v) {
        auto const on = static_cast<training::StreamId>(random.below(static_cast<int>(program.streams.size())));
        auto const kind = static_cast<training::WorkKind>(random.below(static_cast<int>(training::work_kind_count)));
        program.names.push_back("task " + std::to_string(v));
        program.add(on, kind, std::min(graph.costs[v], longest), static_cast<std::uint32_t>(v));
    }
    program.edges = graph.edges;
    for (laws::Edge& edge : program.edges) {
        if (!any_order && edge.from > edge.to) { std::swap(edge.from, edge.to); }
    }
    return program;
}

/// The order of the streams and what else tasks wait for.
inline std::vector<laws::Edge> all_edges(training::StreamProgram const& program) {
    std::vector<laws::Edge> edges = program.edges;
    std::map<training::StreamId, laws::TaskId> last;
    for (laws::TaskId v = 0; v < program.size(); ++v) {
        if (auto const before = last.find(program.stream[v]); before != last.end()) {
            edges.push_back({before->second, v});
        }
        last[program.stream[v]] = v;
    }
    return edges;
}

/// Every task is looked at whenever one ends. `Number`: Ticks rounds as the engine promises; double does not round.
template <class Number> class PlainStreams {
public:
    explicit PlainStreams(training::StreamProgram const& program)
        : program_{program}, edges_{all_edges(program)}, tasks_(program.size()) {}

    /// Whether all tasks ended.
    bool run() {
        while (true) {
            begin_tasks();
            look_round();
            Number next = -1;
            for (Task const& task : tasks_) {
                if (task.is_under_way && (next < 0 || task.ends < next)) { next = task.ends; }
            }
            if (next < 0) { break; }
            now_ = next;
            for (Task& task : tasks_) {
                if (task.is_under_way && task.ends <= now_) { end(task); }
            }
        }
        return std::ranges::all_of(tasks_, [](Task const& task) { return task.has_ended; });
    }

    [[nodiscard]] Number begin(std::size_t task) const { return tasks_[task].begin; }
    [[nodiscard]] Number end(std::size_t task) const { return tasks_[task].end; }
    [[nodiscard]] Number makespan() const { return now_; }

private:
    /// State that determines a task's rate.
    struct Situation {
        std::int64_t gains = 1, in = 1;
        std::vector<std::size_t> mates;
        bool operator==(Situation const&) const = default;
    };
    struct Task {
        bool is_under_way = false, has_ended = false;
        Number begin = -1, end = -1, left = 0, since = 0, ends = 0;
        Situation situation;
    };

    void end(Task& task) {
        task.is_under_way = false;
        task.has_ended = true;
        task.end = now_;
    }

    void begin_tasks() {
        for (bool again = true; again;) {
            again = false;
            std::vector<bool> waits(tasks_.size(), false);
            for (laws::Edge const& edge : edges_) { waits[edge.to] = waits[edge.to] || !tasks_[edge.from].has_ended; }
            for (std::size_t v = 0; v < tasks_.size(); ++v) {
                Task& task = tasks_[v];
                if (task.is_under_way || task.has_ended || waits[v]) { continue; }
                task.begin = task.since = now_;
                task.left = static_cast<Number>(program_.cost[v]);
                task.is_under_way = true;
                if (program_.cost[v] == 0) {
                    end(task);
                    again = true;
                }
            }
        }
    }

    [[nodiscard]] training::Stream const& on(std::size_t task) const { return program_.streams[program_.stream[task]]; }
    /// Waits for launches are not.
    [[nodiscard]] bool is_kernel(std::size_t task) const {
        return on(task).computes && program_.kind[task] != training::WorkKind::launch;
    }
    [[nodiscard]] bool is_slowed_at_times(std::size_t task) const {
        auto const slows = [&](training::Stream const& other) { return other.network && other.chip == on(task).chip; };
        return is_kernel(task) && program_.slowdown > 0.0 && std::ranges::any_of(program_.streams, slows);
    }
    [[nodiscard]] bool shares_at_times(training::Stream const& stream) const {
        return stream.link != training::no_link &&
               std::ranges::count(program_.streams, stream.link, &training::Stream::link) > 1;
    }
    /// Whether two tasks always have one rate.
    [[nodiscard]] bool are_mates(std::size_t v, std::size_t w) const {
        training::Stream const &a = on(v), &b = on(w);
        bool const slowed = is_slowed_at_times(v), shares = shares_at_times(a);
        return slowed == is_slowed_at_times(w) && shares == shares_at_times(b) && (!slowed || a.chip == b.chip) &&
               (!shares || a.link == b.link);
    }

    [[nodiscard]] Situation situation_of(std::size_t v) const {
        Situation situation;
        training::Stream const& stream = on(v);
        bool slowed = false;
        std::int64_t sharers = 0;
        for (std::size_t w = 0; w < tasks_.size(); ++w) {
            if (!tasks_[w].is_under_way) { continue; }
            slowed |= is_kernel(v) && on(w).network && on(w).chip == stream.chip;
            sharers += on(w).link == stream.link ? 1 : 0;
            if (are_mates(v, w)) { situation.mates.push_back(w); }
        }
        auto const lost = static_cast<std::int64_t>(std::llround(program_.slowdown * 1e6));
        if (slowed && lost > 0) {
            situation.gains = 1'000'000 - lost;
            situation.in = 1'000'000;
        }
        if (stream.link != training::no_link) { situation.in *= sharers; }
        std::int64_t const common = std::gcd(situation.gains, situation.in);
        situation.gains /= common;
        situation.in /= common;
        return situation;
    }

    static Number done(Number time, Situation const& s) {
        if constexpr (std::is_integral_v<Number>) { return time * s.gains / s.in; }
        return time * static_cast<Number>(s.gains) / static_cast<Number>(s.in);
    }
    static Number time_for(Number left, Situation const& s) {
        if constexpr (std::is_integral_v<Number>) { return (left * s.in + s.gains - 1) / s.gains; }
        return left * static_cast<Number>(s.in) / static_cast<Number>(s.gains);
    }

    void look_round() {
        for (std::size_t v = 0; v < tasks_.size(); ++v) {
            Task& task = tasks_[v];
            if (!task.is_under_way) { continue; }
            Situation situation = situation_of(v);
            if (situation == task.situation) { continue; }
            if (now_ > task.since) { task.left -= done(now_ - task.since, task.situation); }
            task.since = now_;
            task.ends = now_ + time_for(task.left, situation);
            task.situation = std::move(situation);
        }
    }

    training::StreamProgram const& program_;
    std::vector<laws::Edge> edges_;
    std::vector<Task> tasks_;
    Number now_ = 0;
};

} // namespace headroom::test
