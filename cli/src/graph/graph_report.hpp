#pragma once

#include "output.hpp"

#include "headroom/laws/graph_answer.hpp"
#include "headroom/laws/task_graph.hpp"
#include "headroom/timeline.hpp"

#include <string>
#include <vector>

namespace headroom::cli {

constexpr std::size_t longest_timeline = 1'000'000;

Document document_of(laws::GraphAnswer const& report, io::Catalog const& catalog);

/// Speedup against workers, the level profile, and where the critical path goes (graph_charts.cpp).
std::vector<Block> charts_of(laws::GraphAnswer const& report);
/// A sentence or two: how parallel, which worker count is worth it, what bounds past it (graph_words.cpp).
std::string verdict(laws::GraphAnswer const& report);
/// Adds sentences about schedules that were left out and about the timeline.
void add_notes(laws::GraphAnswer& report);
/// A number of the graph's unit for people, with the unit where `with_unit`.
std::string amount_words(laws::GraphAnswer const& report, double ticks, bool with_unit = false);
/// A ratio with four digits, without zeros at its end.
std::string ratio_words(double ratio);
/// A task for people: its name, or its kind and number.
std::string task_words(laws::TaskGraph const& graph, laws::TaskId task);
/// "port" of "port 12": what resources of one sort share.
std::string family_of(std::string const& resource);

/// A schedule of a graph as a Chrome trace: JSON that trace viewers open. Every task is a complete event of its lane,
/// named after the task or its kind. A tick is as many microseconds as it is in the graph's unit where that is seconds,
/// else one.
std::string graph_trace(Timeline const& timeline, laws::TaskGraph const& graph);

} // namespace headroom::cli
