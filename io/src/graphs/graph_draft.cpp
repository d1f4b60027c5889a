#include "graphs/graph_draft.hpp"

#include "records/record.hpp"

#include "headroom/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace headroom::io {

using namespace headroom::laws;

namespace {

constexpr std::size_t most_named = unnamed; ///< kinds or resources of one graph
constexpr std::size_t longest_cycle = 8;    ///< tasks of a cycle that are shown
constexpr double most_ticks = 0x1.fffffp61; ///< of a total: 2^62, less what rounding may add
constexpr double least_seconds = 1e-9;      ///< of a cost whose thousandth is a picosecond
constexpr double largest_double = std::numeric_limits<double>::max();
constexpr int finest_exact = 12, finest = 30, coarsest = -30;

constexpr std::array powers{1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10,
                            1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21,
                            1e22, 1e23, 1e24, 1e25, 1e26, 1e27, 1e28, 1e29, 1e30};

/// `value` in ticks of 10^-k, to the nearest. The whole part is multiplied in whole numbers: it stays exact.
Ticks ticks_of(double value, int k) {
    if (k <= 0) { return std::llround(value / powers[static_cast<std::size_t>(-k)]); }
    double const scale = powers[static_cast<std::size_t>(k)];
    double const whole = std::floor(value);
    if (k > 18 || whole == 0.0) { return std::llround(value * scale); }
    return static_cast<Ticks>(whole) * static_cast<Ticks>(scale) + std::llround((value - whole) * scale);
}

/// Whether a decimal of k places is what the file wrote: it lies within four roundings of the double.
bool is_exact(double value, int k) {
    double const rounding = value * 0x1p-51;
    double const part = value - std::floor(value);
    double const scale = powers[static_cast<std::size_t>(k)];
    return std::abs(part * scale - std::round(part * scale)) <= rounding * scale;
}

/// The tick of 10^-k that all costs are counted in, and whether every one is a whole number of it.
struct TickChoice {
    int k = 0;
    bool exact = true;
};

TickChoice choose_tick(std::vector<double> const& costs, bool seconds) {
    double total = 0.0, least = largest_double;
    int k = 0;
    for (double const cost : costs) {
        total += cost;
        if (cost > 0.0) { least = std::min(least, cost); }
        while (k <= finest_exact && !is_exact(cost, k)) { ++k; }
    }
    auto const fits = [&](int places) {
        return places >= 0 ? total * powers[static_cast<std::size_t>(places)] <= most_ticks
                           : total / powers[static_cast<std::size_t>(-places)] <= most_ticks;
    };
    if (k <= finest_exact && fits(k)) {
        if (seconds && fits(finest_exact)) { k = finest_exact; } // picoseconds, as everywhere where time is counted
        return {k, true};
    }
    k = seconds && least >= least_seconds && fits(finest_exact) ? finest_exact : finest;
    while (k > coarsest && !fits(k)) { --k; }
    return {k, false};
}

/// Fills what the file did not state.
void state_costs(GraphDraft& draft) {
    auto const stated = [](double cost) { return !std::isnan(cost); };
    auto const with = static_cast<std::size_t>(std::ranges::count_if(draft.costs, stated));
    bool const on_edges = std::ranges::any_of(draft.links, [](auto const& link) { return link.cost > 0.0; });
    bool const none = with == 0 && !on_edges;
    for (double& cost : draft.costs) {
        if (!stated(cost)) { cost = none ? 1.0 : 0.0; }
    }
    std::size_t const without = draft.costs.size() - with;
    if (none && !draft.costs.empty()) {
        draft.unit = "tasks";
        draft.notes.emplace_back("the file states no costs: every task counts as 1");
    } else if (without > 0) {
        draft.notes.push_back(fmt::format("{} of {} without a cost of its own, counted as 0", without,
                                          counted(draft.costs.size(), "task")));
    }
}

/// Turns edges that have a cost into tasks between their ends; the remaining edges have no cost. Returns places by
/// edge.
std::vector<Place> split_links(GraphDraft& draft, std::string const& where, std::vector<Edge>& edges) {
    std::vector<Place> places;
    places.reserve(draft.links.size());
    edges.reserve(draft.links.size());
    std::size_t messages = 0;
    bool const kinds = std::ranges::any_of(draft.links, [](auto const& link) { return link.cost > 0.0; });
    std::uint16_t const message = kinds ? draft.kind("message") : unnamed;
    for (auto const& link : draft.links) {
        if (link.cost > 0.0) {
            if (draft.costs.size() >= most_tasks) { too_many_tasks(where); }
            auto const between = static_cast<TaskId>(draft.costs.size());
            draft.costs.push_back(link.cost);
            draft.places.push_back(link.place);
            draft.names.push_back(draft.names[link.edge.from] + " -> " + draft.names[link.edge.to]);
            draft.kind_of.push_back(link.kind == unnamed ? message : link.kind);
            draft.resource_of.push_back(link.resource);
            edges.push_back({link.edge.from, between});
            edges.push_back({between, link.edge.to});
            places.insert(places.end(), 2, link.place);
            ++messages;
        } else {
            edges.push_back(link.edge);
            places.push_back(link.place);
        }
    }
    draft.links = {}; // as large as all the rest together
    if (messages > 0) { draft.notes.push_back(counted(messages, "task") + " made of edges that carry a cost"); }
    return places;
}

/// Kinds and resources by task: dropped where none is stated, completed where some are.
void complete_columns(GraphDraft& draft) {
    auto const none = [](auto const& column) {
        return std::ranges::all_of(column, [](std::uint16_t number) { return number == unnamed; });
    };
    if (none(draft.kind_of)) { draft.kind_of.clear(); }
    if (!draft.kind_of.empty() && std::ranges::count(draft.kind_of, unnamed) > 0) {
        std::ranges::replace(draft.kind_of, unnamed, draft.kind("task"));
    }
    if (none(draft.resource_of)) {
        draft.resource_of.clear();
        draft.resources.clear();
    }
    auto const free = std::ranges::count(draft.resource_of, unnamed);
    if (free > 0) {
        auto const number = static_cast<std::uint16_t>(draft.resources.size());
        draft.resources.push_back({"no resource", free});
        std::ranges::replace(draft.resource_of, unnamed, number);
        draft.notes.push_back(counted(static_cast<std::size_t>(free), "task") +
                              " without a resource, which never waits for one");
    }
}

/// Names for people: no control characters; none at all where tasks are called 0, 1, 2, ... in order.
std::vector<std::string> shown_names(std::vector<std::string> names) {
    bool numbered = true;
    for (std::size_t i = 0; i < names.size(); ++i) {
        for (char& c : names[i]) {
            if (static_cast<unsigned char>(c) < 0x20U || c == 0x7F) { c = ' '; }
        }
        numbered = numbered && names[i] == std::to_string(i);
    }
    if (numbered) { names.clear(); }
    return names;
}

// ---- what build_dag finds wrong -----------------------------------------------------------------------------------

/// "a -> b -> c -> a"; the middle of a long cycle is left out, and so are edges that became tasks.
std::string cycle_text(std::vector<TaskId> const& cycle, GraphDraft const& draft, std::size_t tasks) {
    std::vector<std::string> names;
    for (TaskId const task : cycle) {
        if (task < tasks) { names.push_back(headroom::quoted(draft.names[task])); }
    }
    std::size_t const count = names.size();
    if (names.empty()) { return {}; }
    names.push_back(names.front());
    if (count > longest_cycle) {
        auto const first = names.begin() + longest_cycle / 2;
        auto const last = names.end() - longest_cycle / 2;
        *first = fmt::format("({} more)", last - first);
        names.erase(first + 1, last);
    }
    return fmt::format("{}", fmt::join(names, " -> "));
}

[[noreturn]] void report(GraphFault const& fault, GraphDraft const& draft, std::vector<Edge> const& edges,
                         std::vector<Place> const& places, std::size_t tasks, std::string const& where,
                         SayPlace const& say) {
    auto const ends = [&](std::size_t edge) {
        // an edge that became a task is named by that task: "a -> b"
        for (TaskId const end : {edges[edge].from, edges[edge].to}) {
            if (end >= tasks) { return headroom::quoted(draft.names[end]); }
        }
        return headroom::quoted(draft.names[edges[edge].from]) + " -> " + headroom::quoted(draft.names[edges[edge].to]);
    };
    using Kind = GraphFault::Kind;
    switch (fault.kind) {
    case Kind::self_edge:
        unreadable_error(say(places[fault.edge]),
                         fmt::format("task {} waits for itself", headroom::quoted(draft.names[fault.task])),
                         "it could never begin", "remove the edge");
    case Kind::cycle:
        if (std::ranges::count_if(fault.cycle, [&](TaskId task) { return task < tasks; }) == 1) {
            unreadable_error(say(places[fault.edge]),
                             fmt::format("edge {} leads back to its own task", ends(fault.edge)),
                             "it could never begin", "remove the edge");
        }
        unreadable_error(say(places[fault.edge]), fmt::format("edge {} closes a cycle", ends(fault.edge)),
                         cycle_text(fault.cycle, draft, tasks), "remove one of them");
    case Kind::negative_cost:
        unreadable_error(say(draft.places[fault.task]),
                         fmt::format("task {} has a negative cost", headroom::quoted(draft.names[fault.task])));
    case Kind::overflow: unreadable_error(where, "the costs add up to more than can be counted", "2^62 ticks is most");
    case Kind::unknown_task: unreadable_error(say(places[fault.edge]), "an edge to a task that is not there");
    case Kind::too_large: break;
    }
    too_many_tasks(where);
}

} // namespace

void too_many_tasks(std::string const& where) {
    unreadable_error(where, "too many tasks or edges", "at most 2^32 - 2 of each are read");
}

std::uint16_t GraphDraft::kind(std::string_view called) {
    if (kinds.size() >= most_named - 1 && !kinds.find(called)) { called = "other"; }
    return static_cast<std::uint16_t>(kinds.intern(called));
}

TaskGraph finish_graph(GraphDraft draft, std::string const& where, SayPlace const& say) {
    std::size_t const tasks = draft.costs.size();
    if (tasks == 0) { unreadable_error(where, "a graph without tasks", "there is nothing to run"); }
    draft.kind_of.resize(tasks, unnamed);
    draft.resource_of.resize(tasks, unnamed);
    state_costs(draft);
    std::vector<Edge> edges;
    std::vector<Place> const places = split_links(draft, where, edges);
    complete_columns(draft);

    TickChoice const tick = choose_tick(draft.costs, draft.unit == "seconds");
    std::vector<Ticks> costs(draft.costs.size());
    std::ranges::transform(draft.costs, costs.begin(), [&](double cost) { return ticks_of(cost, tick.k); });
    if (!tick.exact) {
        draft.notes.push_back(
            fmt::format("costs are rounded to 1e{}{}{}", -tick.k, draft.unit.empty() ? "" : " ", draft.unit));
    }
    DagResult built = build_dag(std::move(costs), edges);
    if (built.fault) { report(*built.fault, draft, edges, places, tasks, where, say); }

    TaskGraph graph;
    graph.name = std::move(draft.name);
    graph.dag = std::move(built.dag);
    graph.unit = std::move(draft.unit);
    graph.per_tick =
        tick.k >= 0 ? 1.0 / powers[static_cast<std::size_t>(tick.k)] : powers[static_cast<std::size_t>(-tick.k)];
    if (!draft.kind_of.empty()) { graph.kinds = std::move(draft.kinds.names()); }
    graph.kind_of = std::move(draft.kind_of);
    for (std::size_t i = 0; i < draft.labels.size(); ++i) {
        if (!draft.labels[i].empty()) { draft.names[i] = std::move(draft.labels[i]); }
    }
    graph.names = shown_names(std::move(draft.names));
    graph.resources = std::move(draft.resources);
    graph.resource_of = std::move(draft.resource_of);
    graph.notes = std::move(draft.notes);
    return graph;
}

} // namespace headroom::io
