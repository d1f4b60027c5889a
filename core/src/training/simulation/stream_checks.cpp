#include "stream_checks.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
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

} // namespace headroom::training::simulation
