// ONNX models: a task an operator, an edge where one reads what another makes.

#include "graphs/graph_draft.hpp"
#include "graphs/graph_formats.hpp"
#include "graphs/onnx_shapes.hpp"
#include "records/record.hpp"

#include "headroom/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace headroom::io {

using namespace headroom::laws;

namespace {

/// Values by name, as far as they are known; those of a graph around are seen through it.
struct OnnxScope {
    OnnxScope const* outer = nullptr;
    std::unordered_map<std::string_view, OnnxValue> values = {};
    std::unordered_map<std::string_view, OnnxValueInfo const*> stated = {}; ///< shapes that the model states

    [[nodiscard]] OnnxValue const* find(std::string_view name) const;
};

/// Follows the shapes through a model and counts the operations of its nodes.
class OnnxCounter {
public:
    explicit OnnxCounter(std::int64_t opset);

    /// Makes inputs, weights and stated shapes of a graph known; `given`: what its inputs are bound to.
    void open(OnnxGraph const& graph, OnnxScope& scope, std::span<OnnxValue const* const> given = {});
    /// Operations of a node, 0 where they are not known; its outputs become known.
    double node(OnnxNode const& node, OnnxScope& scope);
    /// Assumptions and omissions, in words.
    [[nodiscard]] std::vector<std::string> notes(std::size_t functions) const;

private:
    [[nodiscard]] Dims assumed(std::vector<OnnxDim> const& dims);
    void keep_outputs(OnnxCall& call, OnnxScope& scope);
    double inner_graphs(OnnxCall& call, OnnxScope& scope);

    std::unordered_map<std::string_view, OnnxFamily const*> families_;
    std::int64_t opset_;
    std::size_t nodes_ = 0, without_shape_ = 0, unknown_ = 0, with_graphs_ = 0, unnamed_sizes_ = 0;
    std::set<std::string> unknown_names_, symbols_;
};

constexpr std::size_t most_listed = 5;

/// Whose operators are known: the standard set, and that of ONNX Runtime.
bool is_known_domain(std::string_view domain) {
    return domain.empty() || domain == "ai.onnx" || domain == "com.microsoft";
}

std::string listed(std::set<std::string> const& names) {
    std::vector<std::string> shown;
    for (auto const& name : names) {
        if (shown.size() < most_listed) { shown.push_back(headroom::quoted(name)); }
    }
    if (names.size() > most_listed) { shown.emplace_back("..."); }
    return fmt::format("{}", fmt::join(shown, ", "));
}

/// Values that a loop passes to its body: the iteration and the condition, which are unknown, and the carried values.
std::vector<OnnxValue const*> carried_by_loop(OnnxNode const& node, OnnxScope const& scope) {
    std::vector<OnnxValue const*> given(2, nullptr);
    for (std::size_t i = 2; i < node.inputs.size(); ++i) { given.push_back(scope.find(node.inputs[i])); }
    return given;
}

OnnxValue const* OnnxScope::find(std::string_view name) const {
    for (auto const* scope = this; scope != nullptr; scope = scope->outer) {
        auto const found = scope->values.find(name);
        if (found != scope->values.end()) { return &found->second; }
    }
    return nullptr;
}

OnnxCounter::OnnxCounter(std::int64_t opset) : opset_{opset} {
    for (auto const families : {onnx_computing(), onnx_moving()}) {
        for (OnnxFamily const& family : families) {
            for (std::string_view names = family.names; !names.empty();) {
                auto const end = std::min(names.find(' '), names.size());
                families_.emplace(names.substr(0, end), &family);
                names.remove_prefix(std::min(end + 1, names.size()));
            }
        }
    }
}

/// A size without a number counts as 1.
Dims OnnxCounter::assumed(std::vector<OnnxDim> const& dims) {
    Dims sizes;
    for (OnnxDim const& dim : dims) {
        bool const numbered = dim.size && *dim.size >= 0;
        if (!numbered && dim.symbol.empty()) { ++unnamed_sizes_; }
        if (!numbered && !dim.symbol.empty()) { symbols_.emplace(dim.symbol); }
        sizes.push_back(numbered ? *dim.size : 1);
    }
    return sizes;
}

void OnnxCounter::open(OnnxGraph const& graph, OnnxScope& scope, std::span<OnnxValue const* const> given) {
    for (OnnxTensor const& tensor : graph.initializers) {
        scope.values[tensor.name] = {.dims = tensor.dims, .numbers = tensor.numbers};
    }
    for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
        OnnxValueInfo const& input = graph.inputs[i];
        if (scope.values.contains(input.name)) { continue; } // a weight: older models list them as inputs too
        OnnxValue& value = scope.values[input.name];
        if (i < given.size() && given[i] != nullptr && given[i]->dims) {
            value = *given[i];
        } else if (input.dims) {
            value.dims = assumed(*input.dims);
        }
    }
    for (auto const* const list : {&graph.values, &graph.outputs}) {
        for (OnnxValueInfo const& value : *list) {
            if (value.dims) { scope.stated[value.name] = &value; }
        }
    }
}

/// Outputs as the model states them in numbers, else as worked out, else as stated with 1 for every size without one.
void OnnxCounter::keep_outputs(OnnxCall& call, OnnxScope& scope) {
    for (std::size_t i = 0; i < call.node.outputs.size(); ++i) {
        std::string_view const name = call.node.outputs[i];
        if (name.empty()) { continue; }
        OnnxValue& value = call.outputs[i];
        auto const stated = scope.stated.find(name);
        if (stated != scope.stated.end()) {
            auto const& dims = *stated->second->dims;
            bool const in_numbers =
                std::ranges::all_of(dims, [](auto const& dim) { return dim.size && *dim.size >= 0; });
            if (in_numbers || !value.dims) { value.dims = assumed(dims); }
        }
        scope.values[name] = value;
    }
}

/// The work of graphs inside of a node: a loop's body once, of branches the larger, which also says the shapes.
double OnnxCounter::inner_graphs(OnnxCall& call, OnnxScope& scope) {
    std::vector<OnnxValue const*> given;
    if (call.node.op == "Loop") {
        given = carried_by_loop(call.node, scope);
        for (std::size_t i = 2; i < std::min(given.size(), call.outputs.size() + 2); ++i) {
            if (given[i] != nullptr) { call.outputs[i - 2].dims = given[i]->dims; } // what is carried keeps its shape
        }
    }
    double largest = 0.0;
    for (OnnxAttribute const& attribute : call.node.attributes) {
        for (OnnxGraph const& graph : attribute.graphs) {
            OnnxScope inner{.outer = &scope};
            open(graph, inner, given);
            double work = 0.0;
            for (OnnxNode const& each : graph.nodes) { work += node(each, inner); }
            bool const says_shapes = call.node.op == "If" && work >= largest;
            for (std::size_t i = 0; says_shapes && i < std::min(graph.outputs.size(), call.outputs.size()); ++i) {
                if (auto const* const value = inner.find(graph.outputs[i].name)) { call.outputs[i] = *value; }
            }
            largest = std::max(largest, work);
        }
    }
    return largest;
}

double OnnxCounter::node(OnnxNode const& node, OnnxScope& scope) {
    ++nodes_;
    std::vector<OnnxValue const*> inputs;
    for (std::string_view const name : node.inputs) { inputs.push_back(name.empty() ? nullptr : scope.find(name)); }
    OnnxCall call{node, std::move(inputs), opset_};
    std::optional<double> work;
    auto const family = families_.find(node.op);
    bool const known = family != families_.end() && is_known_domain(node.domain);
    bool const has_graphs = std::ranges::any_of(node.attributes, [](auto const& a) { return !a.graphs.empty(); });
    if (has_graphs) {
        ++with_graphs_;
        work = inner_graphs(call, scope);
    } else if (known) {
        family->second->shape(call);
        propagate_numbers(call);
    } else {
        ++unknown_;
        unknown_names_.insert(node.domain.empty() ? std::string{node.op} : fmt::format("{}.{}", node.domain, node.op));
    }
    keep_outputs(call, scope);
    if (known && !has_graphs) {
        for (std::size_t i = 0; i < node.outputs.size(); ++i) { // the work is counted by what was kept
            if (auto const* const kept = scope.find(node.outputs[i])) { call.outputs[i] = *kept; }
        }
        work = family->second->work(call);
        without_shape_ += work ? 0 : 1;
    }
    return work.value_or(0.0);
}

std::vector<std::string> OnnxCounter::notes(std::size_t functions) const {
    std::vector<std::string> notes;
    if (!symbols_.empty() || unnamed_sizes_ > 0) {
        std::string names = listed(symbols_);
        if (unnamed_sizes_ > 0) {
            names += fmt::format("{}{} without a name", names.empty() ? "" : ", ", unnamed_sizes_);
        }
        notes.push_back(fmt::format("sizes that the model leaves open count as 1: {}", names));
    }
    if (without_shape_ > 0) {
        notes.push_back(fmt::format("{} of {} without a known shape; their work is not counted", without_shape_,
                                    counted(nodes_, "operator")));
    }
    if (unknown_ > 0) {
        notes.push_back(fmt::format("{} of {} not known ({}); their work is not counted", unknown_,
                                    counted(nodes_, "operator"), listed(unknown_names_)));
    }
    if (unknown_ > 0 && functions > 0) {
        notes.emplace_back("the functions that the model defines are not looked into");
    }
    if (with_graphs_ > 0) {
        notes.push_back(counted(with_graphs_, "operator") +
                        " with graphs inside: of branches the larger is counted, a loop's body once");
    }
    return notes;
}

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
