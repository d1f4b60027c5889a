#include "graphs/onnx_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace headroom::io {

namespace {

constexpr int deepest = 64;              ///< graphs in attributes of nodes of graphs
constexpr std::size_t most_numbers = 64; ///< of a tensor whose numbers are kept

enum DataType : std::int64_t { float32 = 1, int32 = 6, int64 = 7, boolean = 9, float64 = 11 };

OnnxGraph read_graph(ProtoReader message, int depth);

/// Numbers as a list of bytes, little-endian.
template <class Number> void append_raw(std::string_view raw, std::vector<double>& values) {
    for (; raw.size() >= sizeof(Number); raw.remove_prefix(sizeof(Number))) {
        Number number{};
        std::memcpy(&number, raw.data(), sizeof number);
        values.push_back(static_cast<double>(number));
    }
}

/// Fields of a tensor; the type may come after the data.
struct TensorData {
    std::int64_t type = 0;
    std::string_view raw;
    std::vector<std::int64_t> wholes;
    std::vector<float> numbers;
};

std::optional<OnnxNumbers> small_numbers(TensorData const& data, Dims const& dims) {
    double count = 1.0;
    for (std::int64_t const size : dims) { count *= static_cast<double>(size); }
    if (!(count >= 0.0 && count <= double{most_numbers})) { return std::nullopt; }
    OnnxNumbers numbers{.values = {}, .whole = data.type != float32 && data.type != float64};
    auto& values = numbers.values;
    values.assign(data.wholes.begin(), data.wholes.end());
    values.insert(values.end(), data.numbers.begin(), data.numbers.end());
    if (!data.raw.empty()) {
        switch (data.type) {
        case float32: append_raw<float>(data.raw, values); break;
        case float64: append_raw<double>(data.raw, values); break;
        case int32: append_raw<std::int32_t>(data.raw, values); break;
        case int64: append_raw<std::int64_t>(data.raw, values); break;
        case boolean: append_raw<std::int8_t>(data.raw, values); break;
        default: break;
        }
    }
    if (static_cast<double>(values.size()) != count) { return std::nullopt; } // elsewhere, or of another type
    return numbers;
}

OnnxTensor read_tensor(ProtoReader message) {
    OnnxTensor tensor;
    TensorData data;
    while (message.next()) {
        switch (message.tag()) {
        case 1: message.wholes(tensor.dims); break;
        case 2: data.type = message.signed_whole(); break;
        case 4: // weights are not needed: long lists are passed over
        case 5:
        case 7:
            if (message.is_list_longer_than(16 * most_numbers)) {
                message.skip();
            } else if (message.tag() == 4) {
                message.numbers(data.numbers);
            } else {
                message.wholes(data.wholes);
            }
            break;
        case 8: tensor.name = message.text(); break;
        case 9: data.raw = message.bytes(); break;
        default: message.skip();
        }
    }
    tensor.numbers = small_numbers(data, tensor.dims);
    return tensor;
}

/// A sparse tensor is known by the name of its values and has dimensions of its own.
OnnxTensor read_sparse(ProtoReader message) {
    OnnxTensor tensor;
    while (message.next()) {
        switch (message.tag()) {
        case 1: tensor.name = read_tensor(message.message()).name; break;
        case 3: message.wholes(tensor.dims); break;
        default: message.skip();
        }
    }
    return tensor;
}

std::vector<OnnxDim> read_shape(ProtoReader message) {
    std::vector<OnnxDim> dims;
    while (message.next()) {
        if (message.tag() != 1) {
            message.skip();
            continue;
        }
        OnnxDim& dim = dims.emplace_back();
        for (ProtoReader field = message.message(); field.next();) {
            switch (field.tag()) {
            case 1: dim.size = field.signed_whole(); break;
            case 2: dim.symbol = field.text(); break;
            default: field.skip();
            }
        }
    }
    return dims;
}

/// The shape of a tensor's type; lists, maps and the like have none.
std::optional<std::vector<OnnxDim>> read_type(ProtoReader message) {
    std::optional<std::vector<OnnxDim>> dims;
    while (message.next()) {
        if (message.tag() != 1 && message.tag() != 8) { // dense and sparse tensors
            message.skip();
            continue;
        }
        for (ProtoReader tensor = message.message(); tensor.next();) {
            if (tensor.tag() == 2) {
                dims = read_shape(tensor.message());
            } else {
                tensor.skip();
            }
        }
    }
    return dims;
}

OnnxValueInfo read_value(ProtoReader message) {
    OnnxValueInfo value;
    while (message.next()) {
        switch (message.tag()) {
        case 1: value.name = message.text(); break;
        case 2: value.dims = read_type(message.message()); break;
        default: message.skip();
        }
    }
    return value;
}

OnnxAttribute read_attribute(ProtoReader message, int depth) {
    OnnxAttribute attribute;
    while (message.next()) {
        switch (message.tag()) {
        case 1: attribute.name = message.text(); break;
        case 2: attribute.number = message.number(); break;
        case 3: attribute.whole = message.signed_whole(); break;
        case 4: attribute.text = message.bytes(); break;
        case 5: attribute.tensor = read_tensor(message.message()); break;
        case 6:
        case 11: attribute.graphs.push_back(read_graph(message.message(), depth + 1)); break;
        case 7: message.numbers(attribute.numbers); break;
        case 8: message.wholes(attribute.wholes); break;
        default: message.skip();
        }
    }
    return attribute;
}

OnnxNode read_node(ProtoReader message, int depth) {
    OnnxNode node;
    node.place = message.place();
    while (message.next()) {
        switch (message.tag()) {
        case 1: node.inputs.push_back(message.text()); break;
        case 2: node.outputs.push_back(message.text()); break;
        case 3: node.name = message.text(); break;
        case 4: node.op = message.text(); break;
        case 5: node.attributes.push_back(read_attribute(message.message(), depth)); break;
        case 7: node.domain = message.text(); break;
        default: message.skip();
        }
    }
    return node;
}

OnnxGraph read_graph(ProtoReader message, int depth) {
    if (depth > deepest) {
        message.file().fail(message.place(), "graphs nested too deeply",
                            fmt::format("at most {} levels are read", deepest));
    }
    OnnxGraph graph;
    while (message.next()) {
        switch (message.tag()) {
        case 1: graph.nodes.push_back(read_node(message.message(), depth)); break;
        case 2: graph.name = message.text(); break;
        case 5: graph.initializers.push_back(read_tensor(message.message())); break;
        case 11: graph.inputs.push_back(read_value(message.message())); break;
        case 12: graph.outputs.push_back(read_value(message.message())); break;
        case 13: graph.values.push_back(read_value(message.message())); break;
        case 15: graph.initializers.push_back(read_sparse(message.message())); break;
        default: message.skip();
        }
    }
    return graph;
}

/// The version of the standard operators; those of other domains have versions of their own.
void read_opset(ProtoReader message, OnnxModel& model) {
    std::string_view domain;
    std::int64_t version = 0;
    while (message.next()) {
        switch (message.tag()) {
        case 1: domain = message.text(); break;
        case 2: version = message.signed_whole(); break;
        default: message.skip();
        }
    }
    if (domain.empty() || domain == "ai.onnx") { model.opset = version; }
}

} // namespace

OnnxAttribute const* OnnxNode::attribute(std::string_view called) const {
    auto const found = std::ranges::find(attributes, called, &OnnxAttribute::name);
    return found == attributes.end() ? nullptr : &*found;
}

OnnxModel read_onnx_model(ProtoFile const& file) {
    OnnxModel model;
    bool has_graph = false;
    for (ProtoReader message{file.bytes, file}; message.next();) {
        switch (message.tag()) {
        case 7:
            model.graph = read_graph(message.message(), 0);
            has_graph = true;
            break;
        case 8: read_opset(message.message(), model); break;
        case 25:
            ++model.functions;
            message.skip();
            break;
        default: message.skip();
        }
    }
    if (!has_graph) { file.fail(file.bytes.data(), "a model without a graph"); }
    return model;
}

} // namespace headroom::io
