#include "stream_order.hpp"

#include <span>

namespace headroom::training::simulation {

using namespace headroom::laws;

namespace {

/// Sorts dependencies by the task that others wait for: a counting sort.
void sort_edges(std::span<Edge const> edges, std::size_t tasks, StreamOrder& order) {
    order.first.assign(tasks + 2, 0); // counts are kept two places late, so that the sort leaves them where they belong
    for (Edge const& edge : edges) {
        ++order.first[edge.from + std::size_t{2}];
        ++order.waiting[edge.to].tasks;
    }
    for (std::size_t v = 2; v < order.first.size(); ++v) { order.first[v] += order.first[v - 1]; }
    order.followers = std::make_unique_for_overwrite<TaskId[]>(edges.size());
    for (Edge const& edge : edges) { order.followers[order.first[edge.from + std::size_t{1}]++] = edge.to; }
    order.first.pop_back();
}

/// Links the tasks of each stream to a list.
void string_streams(StreamProgram const& program, StreamOrder& order) {
    std::vector<TaskId> last(program.streams.size(), no_task);
    order.head.assign(program.streams.size(), no_task);
    order.next.assign(program.size(), no_task);
    for (std::size_t v = 0; v < program.size(); ++v) {
        StreamId const stream = program.stream[v];
        TaskId const before = last[stream];
        (before == no_task ? order.head[stream] : order.next[before]) = static_cast<TaskId>(v);
        order.waiting[v] = {.tasks = before == no_task ? 0U : 1U};
        last[stream] = static_cast<TaskId>(v);
    }
}

} // namespace

StreamOrder order_of(StreamProgram const& program) {
    StreamOrder order;
    order.tasks = program.size();
    order.waiting = std::make_unique_for_overwrite<Waiting[]>(program.size());
    string_streams(program, order);
    sort_edges(program.edges, program.size(), order);
    return order;
}

} // namespace headroom::training::simulation
