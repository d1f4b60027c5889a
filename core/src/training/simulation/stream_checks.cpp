#include "stream_checks.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>

namespace headroom::training::simulation {

using namespace headroom::laws;

namespace {

constexpr std::size_t most_tasks = std::numeric_limits<std::uint32_t>::max() - 2;
constexpr Ticks most_ticks = Ticks{1} << 61;

void require(bool holds, char const* what) {
    if (!holds) { throw ContractError{what}; }
}

void check_columns(StreamProgram const& program) {
    std::size_t const tasks = program.size();
    require(program.stream.size() == tasks && program.kind.size() == tasks && program.name.size() == tasks,
            "every task of a program has a cost, a stream, a kind and a name");
    require(tasks <= most_tasks && program.edges.size() <= most_tasks,
            "a program has fewer than 2^32 - 2 tasks and edges");
    require(std::ranges::all_of(program.stream, [&](StreamId one) { return one < program.streams.size(); }),
            "a task names a stream that is not there");
    require(std::ranges::all_of(program.kind, [](WorkKind one) { return one < WorkKind::count_; }),
            "a task is of a kind that there is not");
    require(std::ranges::all_of(program.name, [&](std::uint32_t one) { return one < program.names.size(); }),
            "a task has a name that is not there");
    require(std::ranges::all_of(program.edges, [&](Edge const& one) { return std::max(one.from, one.to) < tasks; }),
            "a task waits for one that is not there");
}

/// Largest ratio of a task's duration to its cost, rounded up.
Ticks largest_stretch(StreamProgram const& program) {
    std::map<LinkIndex, Ticks> sharers;
    Ticks most = 1;
    for (Stream const& stream : program.streams) {
        if (stream.link != no_link) { most = std::max(most, ++sharers[stream.link]); }
    }
    Ticks const left = whole_rate - lost_rate(program);
    return (most * whole_rate + left - 1) / left;
}

void check_costs(StreamProgram const& program) {
    if (std::ranges::any_of(program.cost, [](Ticks cost) { return cost < 0; })) {
        throw ContractError{"a task costs no less than nothing"};
    }
    Ticks const most = most_ticks / largest_stretch(program);
    Ticks left = most;
    for (Ticks const cost : program.cost) {
        if (cost > left) {
            throw InputError{Fault::usage,
                             {.where = "simulation",
                              .problem = "its tasks take too long together",
                              .why = "times are whole ticks, and all of them with the longest that sharing makes of "
                                     "them have to stay below 2^61, here " +
                                     std::to_string(most) + " without sharing",
                              .hint = "simulate fewer micro-batches or a shorter step"}};
        }
        left -= cost;
    }
}

std::string task_text(StreamProgram const& program, TaskId task) {
    return quoted(program.names[program.name[task]]) + " on " + quoted(program.streams[program.stream[task]].name);
}

/// All edges of a program, those of the order of its streams first.
std::vector<Edge> all_edges(StreamProgram const& program) {
    std::vector<Edge> edges;
    std::vector<std::optional<TaskId>> last(program.streams.size());
    for (std::size_t v = 0; v < program.size(); ++v) {
        auto& before = last[program.stream[v]];
        if (before) { edges.push_back({.from = *before, .to = static_cast<TaskId>(v)}); }
        before = static_cast<TaskId>(v);
    }
    edges.insert(edges.end(), program.edges.begin(), program.edges.end());
    return edges;
}

/// Tasks of which each waits for the one before it, the first for the last. Of those that follow each other on one
/// stream the ends are kept.
std::vector<TaskId> circle_of(StreamProgram const& program) {
    auto const fault = build_dag(program.cost, all_edges(program)).fault;
    if (!fault) { throw ContractError{"tasks that never began wait for each other"}; }
    if (fault->kind == GraphFault::Kind::self_edge) { return {fault->task}; }
    std::vector<TaskId> const& cycle = fault->cycle;
    std::vector<TaskId> ends;
    for (std::size_t i = 0; i < cycle.size(); ++i) {
        StreamId const stream = program.stream[cycle[i]];
        StreamId const before = program.stream[cycle[(i + cycle.size() - 1) % cycle.size()]];
        StreamId const after = program.stream[cycle[(i + 1) % cycle.size()]];
        if (before != stream || after != stream) { ends.push_back(cycle[i]); }
    }
    return ends.empty() ? std::vector{cycle.front(), cycle.back()} : ends;
}

/// "'a' on 'x' waits for 'b' on 'y', that for 'a' on 'x'"
std::string circle_text(StreamProgram const& program, std::vector<TaskId> const& circle) {
    constexpr std::size_t most_named = 6;
    std::string text = task_text(program, circle.front());
    std::size_t const named = std::min(circle.size() - 1, most_named);
    for (std::size_t i = 0; i < named; ++i) {
        text += (i == 0 ? " waits for " : ", that for ") + task_text(program, circle[circle.size() - 1 - i]);
    }
    std::size_t const left = circle.size() - 1 - named;
    if (left > 0) { text += ", that by way of " + std::to_string(left) + " more"; }
    return text + (circle.size() == 1 ? " waits for itself" : ", that for the first");
}

} // namespace

Ticks lost_rate(StreamProgram const& program) {
    return static_cast<Ticks>(std::llround(program.slowdown * static_cast<double>(whole_rate)));
}

void check_program(StreamProgram const& program) {
    check_columns(program);
    if (!(program.slowdown >= 0.0 && program.slowdown < 1.0) || lost_rate(program) == whole_rate) {
        throw InputError{Fault::usage,
                         {.where = "slowdown of kernels by communication",
                          .problem = "is a share of their rate from 0 to 0.999999"}};
    }
    check_costs(program);
}

void throw_circle(StreamProgram const& program) {
    throw InputError{Fault::usage,
                     {.where = "simulation",
                      .problem = "tasks wait for each other in a circle",
                      .why = circle_text(program, circle_of(program)),
                      .hint =
                          "a stream runs its tasks one after the other: give one that others wait for a place before "
                          "those that wait, or a stream of its own"}};
}

} // namespace headroom::training::simulation
