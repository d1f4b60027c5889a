#pragma once

#include "output.hpp"

#include "headroom/graph_answer.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headroom::cli {

/// What is asked about a graph.
struct GraphQuestion {
    TaskGraph graph;    ///< with the cost of messages that was asked for
    std::string source; ///< as given
    bool is_file = false;
    std::optional<Ticks> burden, message;
    std::vector<std::int64_t> workers; ///< empty: those that tell most
    ListOrder order = ListOrder::arrival;
    std::vector<std::pair<std::string, std::int64_t>> capacities; ///< of --resources
    bool wants_timeline = false;
};

/// Bounds and a greedy schedule on K equal workers, in ticks.
struct GraphSchedule {
    std::int64_t workers = 1;
    double lower = 0.0, brent = 0.0, graham = 0.0;
    std::optional<Ticks> greedy; ///< empty: not simulated
};

/// The schedule on resources of several types.
struct GraphPlacement {
    std::vector<Resource> resources;
    std::vector<std::uint16_t> resource_of;
    ResourceBounds bounds;
    std::optional<Ticks> greedy;
};

struct GraphReport {
    io::Catalog const& catalog;
    GraphQuestion question;
    DagMeasure measured;
    std::optional<Ticks> burdened_depth;
    std::size_t levels = 0;
    std::uint64_t widest = 0;
    std::vector<LevelBin> bins;
    std::vector<KindShare> kinds;
    std::vector<GraphSchedule> schedules;
    std::optional<GraphPlacement> placement;
    std::vector<std::string> notes;
    std::optional<Timeline> timeline;
    std::optional<double> wall_seconds;

    [[nodiscard]] TaskGraph const& graph() const { return question.graph; }
    /// Ticks in the graph's unit.
    [[nodiscard]] double amount(double ticks) const { return ticks * graph().per_tick; }
    [[nodiscard]] double amount(Ticks ticks) const { return amount(static_cast<double>(ticks)); }
    [[nodiscard]] std::optional<double> parallelism() const;
};

constexpr double worthwhile_share = 0.9; ///< of the ideal speedup: what the verdict calls efficient
constexpr std::size_t longest_timeline = 1'000'000;

GraphReport answer_of(GraphQuestion question, io::Catalog const& catalog);

Document document_of(GraphReport const& report);
Json json_of(GraphReport const& report);
Sheet sheet_of(GraphReport const& report);

/// Speedup against workers, the level profile, and where the critical path goes (graph_charts.cpp).
std::vector<Block> charts_of(GraphReport const& report);
/// A sentence or two: how parallel, which worker count is worth it, what bounds past it (graph_words.cpp).
std::string verdict(GraphReport const& report);
/// A number of the graph's unit for people, with the unit where `with_unit`.
std::string amount_words(GraphReport const& report, double ticks, bool with_unit = false);
/// A ratio with four digits, without zeros at its end.
std::string ratio_words(double ratio);
/// The last of the schedules that is efficient: as simulated, else as Graham's bound promises. Empty: none is.
std::optional<std::size_t> efficient_row(GraphReport const& report);
/// A task for people: its name, or its kind and number.
std::string task_words(TaskGraph const& graph, TaskId task);
std::string_view kind_name(TaskGraph const& graph, TaskId task);
/// "port" of "port 12": what resources of one sort share.
std::string family_of(std::string const& resource);

} // namespace headroom::cli
