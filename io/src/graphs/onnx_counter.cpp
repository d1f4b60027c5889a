#include "graphs/onnx_counter.hpp"

#include "graphs/graph_draft.hpp"
#include "records/record.hpp"

#include "headroom/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace headroom::io {

namespace {

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

} // namespace

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

} // namespace headroom::io
