#include "collective_sketch.hpp"

#include <limits>

namespace headroom::laws::builders {
namespace {

enum Kind : std::uint16_t { message_kind, combine_kind };

constexpr std::int64_t most_resources = std::numeric_limits<std::uint16_t>::max();

} // namespace

CollectiveSketch::CollectiveSketch(GraphSize size, std::int64_t ranks, Reduces reduces)
    : sketch_{reduces == Reduces::nothing ? Sketch{size, {"message"}} : Sketch{size, {"message", "combine"}}} {
    bool const combines = reduces != Reduces::nothing;
    if (combines) {
        std::string const whole = "a combine is one operation: it adds two whole vectors";
        std::string const chunk = "a combine of one chunk is one operation: a chunk is 1/" + std::to_string(ranks) +
                                  " of the vector, so " + std::to_string(ranks) + " of them add two whole vectors";
        sketch_.note(reduces == Reduces::chunks ? chunk : whole);
    }
    sketch_.note("a message costs nothing unless --message gives each the same cost, whatever it carries");
    if ((combines ? 2 : 1) * ranks > most_resources) {
        sketch_.note("too many ranks for a schedule with a port a rank");
        return;
    }
    TaskGraph& graph = sketch_.graph();
    for (std::int64_t rank = 0; combines && rank < ranks; ++rank) {
        graph.resources.push_back({.name = "rank " + std::to_string(rank), .capacity = 1});
    }
    first_port_ = graph.resources.size();
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
        graph.resources.push_back({.name = "port " + std::to_string(rank), .capacity = 1});
    }
    graph.resource_of.reserve(static_cast<std::size_t>(size.tasks));
    sketch_.note("edges are data alone; on resources a rank sends one message at a time and receives any number");
}

void CollectiveSketch::place(std::size_t resource) {
    TaskGraph& graph = sketch_.graph();
    if (!graph.resources.empty()) { graph.resource_of.push_back(static_cast<std::uint16_t>(resource)); }
} // namespace headroom::laws::builders

TaskId CollectiveSketch::message(std::size_t from, std::optional<TaskId> sends) {
    TaskId const task = sketch_.add(message_kind, 0);
    sketch_.after(task, sends);
    place(first_port_ + from);
    return task;
}

TaskId CollectiveSketch::combine(std::size_t at, TaskId arrives, std::optional<TaskId> held, Ticks cost) {
    TaskId const task = sketch_.add(combine_kind, cost);
    sketch_.after(task, arrives);
    sketch_.after(task, held);
    place(at);
    return task;
}

} // namespace headroom::laws::builders
