#include "arguments.hpp"
#include "graph/graph_report.hpp"

#include "headroom/document/text.hpp"
#include "headroom/error.hpp"
#include "headroom/io/catalog.hpp"
#include "headroom/io/file.hpp"
#include "headroom/io/task_graph.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace headroom::cli {
namespace {

constexpr std::array positionals{Positional{
    "SOURCE",
    "a builder and its size, sum-tree:1000000 (--list shows all), or a file: a JSON edge list, DOT, ONNX or a "
    "Chakra trace"}};

constexpr std::array options{
    Option{"--list", "", "show the builders", "Question", Takes::nothing},
    Option{"--workers", "COUNTS", "8, 8,16,64, 8..1024 (doubling) or 8..64:8 (default: 1, 2, 4 ... past the crossover)",
           "Question"},
    Option{"--order", "ORDER", "of the greedy schedules: arrival (default) or longest-path", "Question"},
    Option{"--efficiency", "SHARE", "called efficient, 0.7 or 70%: how many workers keep it (default: 90%)",
           "Question"},
    Option{"--burden", "COST", "of each edge, in the graph's unit: the burdened depth", "Question"},
    Option{"--message", "COST", "of each message of a collective (default: nothing)", "Question"},
    Option{"--resources", "NAME=N,...", "how many of each resource: port=2 for all ports; or of each kind of task",
           "Question"},
    Option{"--timeline", "FILE", "write the greedy schedule as a Chrome trace (up to a million tasks)", "Output"},
};

constexpr char const* examples = "  headroom graph sum-tree:1000000 --workers 1,8,64\n"
                                 "  headroom graph --list\n"
                                 "  headroom graph cholesky:20 --order longest-path --html cholesky.html\n"
                                 "  headroom graph ring-all-reduce:8 --message 5 --timeline ring.json\n"
                                 "  headroom graph examples/tasks.json --burden 2us --workers 1..64 \\\n"
                                 "      --efficiency 70%";

constexpr std::uintmax_t largest_file = std::uintmax_t{1} << 30U;
constexpr double largest_cost = 1e15;

// ---- source -----------------------------------------------------------------------------------------------------

std::vector<std::string> builder_names() {
    std::vector<std::string> names;
    for (GraphBuilder const& builder : graph_builders()) { names.emplace_back(builder.name); }
    return names;
}

bool is_builder(std::string_view name) {
    for (std::string const& known : builder_names()) {
        if (normalised(known) == normalised(name)) { return true; }
    }
    return false;
}

/// A builder's name goes before a file's; what has a slash or a dot in its name is a file in any case.
void read_source(std::string const& source, GraphQuestion& question) {
    question.source = source;
    std::string const name = source.substr(0, source.find(':'));
    bool const names_file = source.find('/') != std::string::npos || name.find('.') != std::string::npos;
    if (!names_file && (is_builder(name) || (source.find(':') != std::string::npos && !io::is_there(source)))) {
        question.graph = build_graph(source, "SOURCE");
        return;
    }
    if (!names_file && !io::is_there(source)) {
        std::string const near = nearest(name, builder_names());
        refuse("SOURCE", "neither a builder nor a file: " + headroom::quoted(source), "",
               near.empty() ? "a builder has a size, as in sum-tree:1000; headroom graph --list shows them"
                            : "did you mean '" + near + ":N'?");
    }
    question.is_file = true;
    question.graph = io::read_task_graph(io::read_file(source, largest_file), source);
    if (question.graph.name.empty()) { question.graph.name = source; }
}

// ---- resources ----------------------------------------------------------------------------------------------------

std::vector<std::string> names_of(std::vector<Resource> const& resources) {
    std::vector<std::string> names;
    for (Resource const& resource : resources) {
        names.push_back(resource.name);
        std::string family = family_of(resource.name);
        if (family != resource.name) { names.push_back(std::move(family)); }
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

/// A capacity goes to the resource of that name, or to all of that sort: "port" is "port 0", "port 1", ...
void set_capacity(std::vector<Resource>& resources, std::string const& name, std::int64_t capacity) {
    bool found = false;
    for (Resource& resource : resources) {
        if (normalised(resource.name) != normalised(name) && normalised(family_of(resource.name)) != normalised(name)) {
            continue;
        }
        resource.capacity = capacity;
        found = true;
    }
    if (found) { return; }
    refuse("--resources", "unknown resource " + headroom::quoted(name), "",
           did_you_mean(name, names_of(resources), "choose from " + join(names_of(resources), ", ").substr(0, 200)));
}

/// Where a graph names no resources, each kind of task can be given one.
void set_kinds(GraphQuestion& question) {
    TaskGraph const& graph = question.graph;
    if (graph.kinds.empty()) {
        refuse("--resources", "the graph names neither resources nor kinds of tasks", "", "leave it out");
    }
    for (std::string const& kind : graph.kinds) { question.resources.push_back({.name = kind, .capacity = 0}); }
    question.resource_of = graph.kind_of;
    question.resource_of.resize(graph.dag.size(), 0);
}

/// Kinds without tasks get a place that nothing uses.
void check_kinds(GraphQuestion& question) {
    std::vector<KindShare> const kinds = kind_shares(question.graph, {});
    for (Resource& resource : question.resources) {
        if (resource.capacity > 0) { continue; }
        if (std::ranges::find(kinds, resource.name, &KindShare::kind) != kinds.end()) {
            refuse("--resources", "no number for " + headroom::quoted(resource.name),
                   "every kind of task needs a place to run", "add " + resource.name + "=1");
        }
        resource.capacity = 1;
    }
}

using Capacities = std::vector<std::pair<std::string, std::int64_t>>;

void set_resources(GraphQuestion& question, Capacities const& capacities) {
    question.resources = question.graph.resources;
    question.resource_of = question.graph.resource_of;
    if (capacities.empty()) { return; }
    bool const by_kind = question.resources.empty();
    if (by_kind) { set_kinds(question); }
    for (auto const& [name, capacity] : capacities) { set_capacity(question.resources, name, capacity); }
    if (by_kind) { check_kinds(question); }
}

// ---- options ----------------------------------------------------------------------------------------------------

/// A cost in the graph's unit: "5", or a time where the unit is seconds.
Ticks read_cost(std::string const& text, std::string const& option, TaskGraph const& graph) {
    std::string const unit = graph.unit.empty() ? "the file's unit" : graph.unit;
    double const cost = graph.unit == "seconds" ? parse<Seconds>(text, option).base()
                                                : io::parse_between(text, 0.0, largest_cost, "cost in " + unit, option);
    double const ticks = std::round(cost / graph.per_tick);
    if (cost < 0.0 || !(ticks <= largest_cost)) { refuse(option, headroom::quoted(text) + " is out of range", "", ""); }
    if (std::abs(ticks * graph.per_tick - cost) > 1e-6 * cost) {
        refuse(option, headroom::quoted(text) + " is finer than the graph's costs",
               "they are counted in steps of " + significant(graph.per_tick) + " " + unit, "");
    }
    return static_cast<Ticks>(ticks);
}

void read_costs(Arguments const& arguments, GraphQuestion& question) {
    if (auto const text = arguments.text("--message")) {
        question.message = read_cost(*text, "--message", question.graph);
        question.graph = with_message_cost(std::move(question.graph), *question.message, "--message");
    }
    if (auto const text = arguments.text("--burden")) {
        question.burden = read_cost(*text, "--burden", question.graph);
        constexpr double most = 2e18; // ticks: every path with its burdens stays below what a count holds
        if (static_cast<double>(*question.burden) * static_cast<double>(question.graph.dag.size()) > most) {
            refuse("--burden", headroom::quoted(*text) + " is too large", "paths add up to more than can be counted",
                   "");
        }
    }
}

Capacities read_capacities(Arguments const& arguments) {
    Capacities capacities;
    auto const text = arguments.text("--resources");
    if (!text) { return capacities; }
    for (auto const& [name, number] : parse_pairs(*text, "--resources", "port=2,rank=1")) {
        for (auto const& [given, capacity] : capacities) {
            if (normalised(given) == normalised(name)) {
                refuse("--resources", headroom::quoted(name) + " twice", "one of the two would be ignored", "keep one");
            }
        }
        capacities.emplace_back(name, parse_whole(number, "--resources"));
    }
    return capacities;
}

void check_timeline(Arguments const& arguments, Output const& output, GraphQuestion const& question) {
    if (!timeline_file(arguments, output)) { return; }
    if (question.graph.dag.size() > longest_timeline) {
        refuse("--timeline", std::to_string(question.graph.dag.size()) + " tasks are too many to draw",
               "a timeline has up to " + std::to_string(longest_timeline), "ask for a smaller graph");
    }
}

GraphQuestion read_question(Arguments const& arguments, Output const& output) {
    GraphQuestion question;
    std::string const order = arguments.choice("--order", {"arrival", "longest-path"}).value_or("arrival");
    question.order = order == "arrival" ? ListOrder::arrival : ListOrder::longest_path;
    if (auto const text = arguments.text("--workers")) {
        std::vector<int> const counts = parse_counts(*text, "--workers");
        question.workers.assign(counts.begin(), counts.end());
    }
    if (auto const text = arguments.text("--efficiency")) {
        question.efficiency = io::parse_between(*text, 0.001, 0.9999, "efficiency between 0 and 1", "--efficiency");
    }
    Capacities const capacities = read_capacities(arguments);
    read_source(arguments.required("SOURCE", "a builder or a file: headroom graph sum-tree:1000"), question);
    check_timeline(arguments, output, question);
    read_costs(arguments, question);
    set_resources(question, capacities);
    question.wants_timeline = arguments.has("--timeline");
    return question;
}

// ---- the list of builders ---------------------------------------------------------------------------------------

Document list_document(io::Catalog const& catalog) {
    Table table{"Builders", {left("builder"), wrapped("what"), left("source")}, {}, {}};
    for (GraphBuilder const& builder : graph_builders()) {
        table.rows.push_back({std::string{builder.name} + ":" + std::string{builder.parameters},
                              std::string{builder.summary}, std::string{builder.source}});
    }
    return {"Builders of task graphs", {std::move(table)}, footer(catalog, "")};
}

int run_list(Arguments const& arguments, Output output, io::Catalog const& catalog) {
    if (arguments.has("SOURCE")) { refuse("--list", "given with a graph", "it shows the builders", "leave one out"); }
    if (output.length == Length::screen) { output.length = Length::full; } // a list is asked for to be read
    GraphBuilderList const answer;
    write_result(output, result_of(
                             head_of("graph", catalog, ""), answer, [&] { return list_document(catalog); },
                             {{}, stats_of(output)}, [&] { return row_sheet(answer.builders); }));
    return Exit::done;
}

int run(Arguments const& arguments) {
    Output const output = read_output(arguments, screen_lines);
    io::Catalog const catalog;
    if (arguments.has("--list")) { return run_list(arguments, output, catalog); }
    GraphAnswer answer = answer_of(read_question(arguments, output));
    answer.verdict = verdict(answer);
    add_notes(answer);
    if (answer.timeline && result_has_place(output)) { // else the result is refused, and nothing is left behind
        io::write_file(*arguments.text("--timeline"), graph_trace(*answer.timeline, answer.graph()));
    }
    write_result(output, result_of(
                             head_of("graph", catalog, ""), answer, [&] { return document_of(answer, catalog); },
                             {{}, stats_of(output)}, [&] { return row_sheet(schedule_rows(answer)); }));
    return Exit::done;
}

} // namespace

Verb graph_verb() {
    Verb verb{"graph", "work, depth and schedules of a task graph", positionals, examples, run};
    verb.options = {options, length_options(), output_options()};
    verb.answers = tables_of<GraphAnswer, GraphBuilderList>();
    return verb;
}

} // namespace headroom::cli
