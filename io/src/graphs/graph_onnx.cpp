// ONNX models: a task an operator, an edge where one reads what another makes.

#include "graphs/graph_draft.hpp"
#include "graphs/graph_formats.hpp"
#include "graphs/onnx_counter.hpp"
#include "records/record.hpp"

#include "headroom/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

namespace headroom::io {

using namespace headroom::laws;

namespace {

constexpr double most_operations = 1e30;

class OnnxTasks {
public:
    OnnxTasks(std::string_view bytes, std::string const& where) : file_{bytes, where}, model_{read_onnx_model(file_)} {}

    TaskGraph read();

private:
    void find_producers();
    void link(TaskId task);
    void collect_reads(OnnxNode const& node, bool inner, std::vector<TaskId>& before) const;
    void count_work();
    [[nodiscard]] std::string say(Place place) const;
    [[nodiscard]] std::string name_of(TaskId task) const;

    ProtoFile file_;
    OnnxModel model_;
    std::unordered_map<std::string_view, TaskId> producer_;
    std::unordered_set<std::string_view> given_; ///< inputs and weights
    GraphDraft draft_;
};

std::string OnnxTasks::name_of(TaskId task) const {
    OnnxNode const& node = model_.graph.nodes[task];
    return node.name.empty() ? fmt::format("{} {}", node.op, task) : std::string{node.name};
}

std::string OnnxTasks::say(Place place) const {
    bool const there = place < model_.graph.nodes.size();
    return there ? fmt::format("{}: node {}", file_.where, headroom::quoted(name_of(place))) : file_.where;
}

void OnnxTasks::find_producers() {
    for (OnnxValueInfo const& input : model_.graph.inputs) { given_.insert(input.name); }
    for (OnnxTensor const& weight : model_.graph.initializers) { given_.insert(weight.name); }
    for (TaskId task = 0; task < model_.graph.nodes.size(); ++task) {
        for (std::string_view const output : model_.graph.nodes[task].outputs) {
            if (!output.empty() && !producer_.emplace(output, task).second) {
                unreadable_error(say(task), fmt::format("value {} is made twice", headroom::quoted(output)),
                                 fmt::format("by {} too", headroom::quoted(name_of(producer_.at(output)))));
            }
        }
    }
}

/// The tasks whose values a node reads, those read by graphs inside of it too.
void OnnxTasks::collect_reads(OnnxNode const& node, bool inner, std::vector<TaskId>& before) const {
    for (std::string_view const input : node.inputs) {
        auto const producer = producer_.find(input);
        if (producer != producer_.end()) {
            before.push_back(producer->second);
        } else if (!inner && !input.empty() && !given_.contains(input)) {
            auto const task = static_cast<TaskId>(&node - model_.graph.nodes.data());
            unreadable_error(say(task), fmt::format("it reads {}", headroom::quoted(input)),
                             "no input, weight or operator of the graph has that name");
        }
    }
    for (OnnxAttribute const& attribute : node.attributes) {
        for (OnnxGraph const& graph : attribute.graphs) {
            for (OnnxNode const& each : graph.nodes) { collect_reads(each, true, before); }
            for (OnnxValueInfo const& output : graph.outputs) { // a branch may hand out what stands outside of it
                auto const producer = producer_.find(output.name);
                if (producer != producer_.end()) { before.push_back(producer->second); }
            }
        }
    }
}

void OnnxTasks::link(TaskId task) {
    std::vector<TaskId> before;
    collect_reads(model_.graph.nodes[task], false, before);
    std::ranges::sort(before);
    before.erase(std::unique(before.begin(), before.end()), before.end());
    for (TaskId const producer : before) { draft_.links.push_back({.edge = {producer, task}, .place = task}); }
}

void OnnxTasks::count_work() {
    OnnxCounter counter{model_.opset};
    OnnxScope scope;
    counter.open(model_.graph, scope);
    for (TaskId task = 0; task < model_.graph.nodes.size(); ++task) {
        double const work = counter.node(model_.graph.nodes[task], scope);
        if (!(work <= most_operations)) {
            unreadable_error(say(task), "more operations than can be counted", "1e30 is most");
        }
        draft_.costs.push_back(std::round(work));
    }
    draft_.notes = counter.notes(model_.functions);
}

TaskGraph OnnxTasks::read() {
    std::vector<OnnxNode> const& nodes = model_.graph.nodes;
    if (nodes.size() >= most_tasks) { too_many_tasks(file_.where); }
    find_producers();
    for (TaskId task = 0; task < nodes.size(); ++task) {
        draft_.names.push_back(name_of(task));
        draft_.places.push_back(task);
        draft_.kind_of.push_back(draft_.kind(nodes[task].op));
        link(task);
    }
    count_work();
    draft_.name = model_.graph.name;
    draft_.unit = "FLOPs";
    return finish_graph(std::move(draft_), file_.where, [this](Place place) { return say(place); });
}

} // namespace

bool looks_like_onnx(std::string_view bytes) {
    if (!looks_binary(bytes)) { return false; }
    constexpr std::uint64_t latest_version = 1000;
    try {
        ProtoFile const file{bytes, {}};
        ProtoReader model{bytes, file};
        if (!model.next() || model.tag() != 1 || model.whole() > latest_version) { return false; }
        while (model.next() && model.tag() != 7) {
            if (model.tag() > 26) { return false; }
            model.skip();
        }
        return model.tag() == 7 || model.tag() == 1;
    } catch (InputError const&) { return false; }
}

TaskGraph read_onnx_graph(std::string_view bytes, std::string const& where) { return OnnxTasks{bytes, where}.read(); }

} // namespace headroom::io
