#include "support/graph_files.hpp"

#include <gmock/gmock.h>

#include <cstring>

namespace headroom {

using namespace headroom::laws;

namespace {

using test::edges_of;
using test::Message;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Sizes = std::vector<std::int64_t>;

// Field numbers: onnx.proto. A model is written as its bytes, field by field.
Message attribute(std::string_view name, std::int64_t value) {
    return Message{}.text(1, name).whole(3, value).whole(20, 2);
}
Message attribute(std::string_view name, std::string_view value) {
    return Message{}.text(1, name).text(4, value).whole(20, 3);
}
Message attribute(std::string_view name, Sizes const& values) {
    Message message;
    message.text(1, name);
    for (std::int64_t const value : values) { message.whole(8, value); } // as proto2 writers do: not packed
    return message.whole(20, 7);
}
Message attribute(std::string_view name, Message const& graph) {
    return Message{}.text(1, name).message(6, graph).whole(20, 5);
}

Message node(std::string_view op, std::vector<std::string> const& inputs, std::vector<std::string> const& outputs,
             std::vector<Message> const& attributes = {}, std::string_view domain = "") {
    Message message;
    for (auto const& input : inputs) { message.text(1, input); }
    for (auto const& output : outputs) { message.text(2, output); }
    message.text(3, outputs.empty() ? op : outputs[0]).text(4, op);
    for (auto const& one : attributes) { message.message(5, one); }
    return message.text(7, domain);
}

/// A size below 0 is a symbol: -1 "n1", -2 "n2".
Message value(std::string_view name, Sizes const& sizes) {
    Message shape;
    for (std::int64_t const size : sizes) {
        shape.message(1, size < 0 ? Message{}.text(2, "n" + std::to_string(-size)) : Message{}.whole(1, size));
    }
    return Message{}.text(1, name).message(2, Message{}.message(1, Message{}.whole(1, 1).message(2, shape)));
}

Message tensor(std::string_view name, Sizes const& dims) { return Message{}.packed(1, dims).whole(2, 1).text(8, name); }
Message numbers(std::string_view name, Sizes const& values) {
    std::string raw(values.size() * sizeof(std::int64_t), '\0');
    std::memcpy(raw.data(), values.data(), raw.size());
    return Message{}.packed(1, {static_cast<std::int64_t>(values.size())}).whole(2, 7).text(8, name).text(9, raw);
}

struct Model {
    std::vector<Message> nodes;
    std::vector<Message> inputs = {}, weights = {}, stated = {};
    std::vector<std::string> outputs = {};
    [[nodiscard]] Message graph() const {
        Message graph;
        for (auto const& one : nodes) { graph.message(1, one); }
        graph.text(2, "net");
        for (auto const& one : weights) { graph.message(5, one); }
        for (auto const& one : inputs) { graph.message(11, one); }
        for (auto const& one : outputs) { graph.message(12, Message{}.text(1, one)); }
        for (auto const& one : stated) { graph.message(13, one); }
        return graph;
    }
    [[nodiscard]] std::string bytes() const {
        return Message{}.whole(1, 8).text(2, "test").message(7, graph()).message(8, Message{}.whole(2, 17)).bytes();
    }
};

TaskGraph onnx(Model const& model) { return io::read_task_graph(model.bytes(), "model.onnx"); }

/// Operations of the last node of a model.
Ticks work(Model const& model) {
    TaskGraph const graph = onnx(model);
    EXPECT_EQ(graph.unit, "FLOPs");
    EXPECT_EQ(graph.per_tick, 1.0);
    EXPECT_THAT(graph.notes, IsEmpty()) << graph.notes[0];
    return graph.dag.costs().back();
}

TEST(OnnxGraph, AnOperatorIsATaskAndAValueAnEdge) {
    TaskGraph const graph = onnx({.nodes = {node("MatMul", {"x", "w"}, {"a"}), node("Relu", {"a"}, {"b"}),
                                            node("Add", {"a", "b"}, {"c"}), node("Mul", {"c", "c"}, {"d"})},
                                  .inputs = {value("x", {8, 4})},
                                  .weights = {tensor("w", {4, 6})}});
    EXPECT_EQ(graph.name, "net");
    EXPECT_THAT(graph.names, ElementsAre("a", "b", "c", "d"));
    EXPECT_THAT(edges_of(graph), ElementsAre("a -> b", "a -> c", "b -> c", "c -> d"));
    EXPECT_EQ(test::kind_of(graph, 0), "MatMul");
    EXPECT_THAT(graph.dag.costs(), ElementsAre(2 * 8 * 4 * 6, 48, 48, 48));
}

TEST(OnnxGraph, MatrixProductsAreTwoOperationsEach) {
    auto const product = [](Sizes const& a, Sizes const& b) {
        return work({.nodes = {node("MatMul", {"a", "b"}, {"c"})}, .inputs = {value("a", a), value("b", b)}});
    };
    EXPECT_EQ(product({5}, {5}), 10);
    EXPECT_EQ(product({2, 3, 4, 5}, {5, 7}), 2 * 2 * 3 * 4 * 7 * 5);
    EXPECT_EQ(product({4, 5}, {3, 5, 6}), 2 * 3 * 4 * 6 * 5);
    auto const gemm = [](std::vector<std::string> const& inputs, std::vector<Message> const& turned) {
        return work({.nodes = {node("Gemm", inputs, {"c"}, turned)},
                     .inputs = {value("a", {4, 5}), value("b", {5, 6}), value("t", {6, 5}), value("d", {6})}});
    };
    EXPECT_EQ(gemm({"a", "b"}, {}), 2 * 4 * 6 * 5);
    EXPECT_EQ(gemm({"a", "t", "d"}, {attribute("transB", 1)}), 2 * 4 * 6 * 5 + 4 * 6);
    EXPECT_EQ(work({.nodes = {node("Einsum", {"a", "b"}, {"c"}, {attribute("equation", "bij,bjk->bik")})},
                    .inputs = {value("a", {2, 3, 4}), value("b", {2, 4, 5})}}),
              2 * 2 * 3 * 4 * 5);
}

/// Multiplications of a convolution, counted one by one: the second way to the same number.
Ticks counted_products(Sizes const& image, Sizes const& weights, std::int64_t stride, std::int64_t pad) {
    Ticks products = 0;
    for (std::int64_t n = 0; n < image[0]; ++n) {
        for (std::int64_t m = 0; m < weights[0]; ++m) {
            for (std::int64_t y = -pad; y + weights[2] <= image[2] + pad; y += stride) {
                for (std::int64_t x = -pad; x + weights[3] <= image[3] + pad; x += stride) {
                    products += weights[1] * weights[2] * weights[3];
                }
            }
        }
    }
    return products;
}

TEST(OnnxGraph, ConvolutionsTakeAProductForEachWeightOfAnOutput) {
    for (auto const& [groups, stride, pad] : {std::tuple{1, 1, 0}, {1, 2, 1}, {2, 3, 2}}) {
        Sizes const image{2, 4, 17, 13}, weights{6, 4 / groups, 3, 5};
        EXPECT_EQ(work({.nodes = {node("Conv", {"x", "w"}, {"y"},
                                       {attribute("group", groups), attribute("strides", Sizes{stride, stride}),
                                        attribute("pads", Sizes{pad, pad, pad, pad})})},
                        .inputs = {value("x", image)},
                        .weights = {tensor("w", weights)}}),
                  2 * counted_products(image, weights, stride, pad));
    }
    // ResNet's first layer: 224 x 224 x 3, 64 kernels of 7 x 7, stride 2: 118.0 million products, and a bias each.
    EXPECT_EQ(work({.nodes = {node("Conv", {"x", "w", "b"}, {"y"},
                                   {attribute("strides", Sizes{2, 2}), attribute("pads", Sizes{3, 3, 3, 3})})},
                    .inputs = {value("x", {1, 3, 224, 224})},
                    .weights = {tensor("w", {64, 3, 7, 7}), tensor("b", {64})}}),
              2 * 118'013'952 + 64 * 112 * 112);
    // Transposed: each of 2 x 4 x 9 x 8 inputs meets 3 x 3 x 5 weights.
    EXPECT_EQ(work({.nodes = {node("ConvTranspose", {"x", "w"}, {"y"})},
                    .inputs = {value("x", {2, 4, 9, 8})},
                    .weights = {tensor("w", {4, 3, 3, 5})}}),
              2 * (2 * 4 * 9 * 8) * (3 * 3 * 5));
}

TEST(OnnxGraph, OtherOperatorsCountByElement) {
    auto const of = [](std::string_view op, std::vector<Message> const& attributes = {}) {
        return work({.nodes = {node(op, {"x"}, {"y"}, attributes)}, .inputs = {value("x", {2, 3, 8, 8})}});
    };
    EXPECT_EQ(of("Tanh"), 384);
    EXPECT_EQ(of("Softmax"), 5 * 384);
    EXPECT_EQ(of("ReduceMean", {attribute("axes", Sizes{2, 3})}), 384);
    EXPECT_EQ(of("GlobalAveragePool"), 384);
    EXPECT_EQ(of("MaxPool", {attribute("kernel_shape", Sizes{2, 2}), attribute("strides", Sizes{2, 2})}),
              2 * 3 * 16 * 4);
    EXPECT_EQ(of("Transpose"), 0);
    EXPECT_EQ(of("LayerNormalization"), 7 * 384);
    // LSTM of 5 steps, batch 2: four gates, each of 6 x 7 weights of the input and 6 x 6 of the state.
    EXPECT_EQ(work({.nodes = {node("LSTM", {"x", "w", "r"}, {"y"})},
                    .inputs = {value("x", {5, 2, 7})},
                    .weights = {tensor("w", {1, 24, 7}), tensor("r", {1, 24, 6})}}),
              2 * 5 * 2 * 4 * (6 * 7 + 6 * 6));
    // Attention of 4 heads over 10 positions, 16 wide: both products, and the softmax of 4 x 10 x 10 scores.
    EXPECT_EQ(work({.nodes = {node("Attention", {"q", "q", "q"}, {"y"},
                                   {attribute("q_num_heads", 4), attribute("kv_num_heads", 4)})},
                    .inputs = {value("q", {1, 10, 64})}}),
              2 * (2 * 10 * 10 * 64) + 5 * 4 * 10 * 10);
    // The fused operator also makes its queries, keys and values: 64 x 192 weights.
    EXPECT_EQ(work({.nodes = {node("Attention", {"x", "w"}, {"y"}, {attribute("num_heads", 4)}, "com.microsoft")},
                    .inputs = {value("x", {1, 10, 64})},
                    .weights = {tensor("w", {64, 192})}}),
              2 * 10 * 64 * 192 + 2 * (2 * 10 * 10 * 64) + 5 * 4 * 10 * 10);
}

TEST(OnnxGraph, ShapesThatTheModelComputesAreFollowed) {
    // As exporters write x.reshape(x.shape[0], -1): the shape is taken, an entry gathered, and put together again.
    Model model{.nodes = {node("Shape", {"x"}, {"s"}), node("Gather", {"s", "zero"}, {"d"}),
                          node("Unsqueeze", {"d", "zero"}, {"u"}),
                          node("Concat", {"u", "rest"}, {"c"}, {attribute("axis", 0)}),
                          node("Reshape", {"x", "c"}, {"r"}), node("MatMul", {"r", "w"}, {"y"})},
                .inputs = {value("x", {2, 3, 4})},
                .weights = {numbers("rest", {-1}), tensor("w", {12, 5})}};
    model.weights.push_back(Message{}.whole(2, 7).text(8, "zero").packed(7, {0})); // a single number
    model.nodes[2] = node("Unsqueeze", {"d", "axes"}, {"u"});
    model.weights.push_back(numbers("axes", {0}));
    EXPECT_EQ(work(model), 2 * 2 * 12 * 5);

    Model slice{.nodes = {node("Slice", {"x", "from", "to"}, {"t"}), node("Exp", {"t"}, {"y"})},
                .inputs = {value("x", {7, 6})},
                .weights = {numbers("from", {-3}), numbers("to", {INT64_MAX})}};
    EXPECT_EQ(work(slice), 3 * 6);
}

TEST(OnnxGraph, WhatIsAssumedOrLeftOutIsNoted) {
    TaskGraph const open = onnx({.nodes = {node("MatMul", {"x", "w"}, {"y"})},
                                 .inputs = {value("x", {-1, 4})},
                                 .weights = {tensor("w", {4, 6})}});
    EXPECT_THAT(open.dag.costs(), ElementsAre(2 * 1 * 4 * 6));
    EXPECT_THAT(open.notes, ElementsAre("sizes that the model leaves open count as 1: 'n1'"));

    TaskGraph const unknown = onnx({.nodes = {node("Nonsense", {"x"}, {"a"}, {}, "com.acme"),
                                              node("Relu", {"a"}, {"b"}), node("Relu", {"x"}, {"c"})},
                                    .inputs = {value("x", {4})}});
    EXPECT_THAT(unknown.dag.costs(), ElementsAre(0, 0, 4));
    EXPECT_THAT(unknown.notes,
                ElementsAre("1 of 3 operators without a known shape; their work is not counted",
                            "1 of 3 operators not known ('com.acme.Nonsense'); their work is not counted"));

    // Expectation: a stated shape helps over what is not known.
    TaskGraph const stated =
        onnx({.nodes = {node("Nonsense", {"x"}, {"a"}, {}, "com.acme"), node("Relu", {"a"}, {"b"})},
              .inputs = {value("x", {4})},
              .stated = {value("a", {10, 2})}});
    EXPECT_THAT(stated.dag.costs(), ElementsAre(0, 20));
}

TEST(OnnxGraph, GraphsInsideOfOperatorsAreCountedOnceAndReadWhatIsAround) {
    Model const cheap{.nodes = {node("Add", {"x", "outside"}, {"p"})}, .outputs = {"p"}};
    Model const dear{.nodes = {node("Softmax", {"x"}, {"q"})}, .outputs = {"q"}};
    TaskGraph const graph =
        onnx({.nodes = {node("Neg", {"x"}, {"outside"}),
                        node("If", {"c"}, {"y"},
                             {attribute("then_branch", dear.graph()), attribute("else_branch", cheap.graph())}),
                        node("Relu", {"y"}, {"z"})},
              .inputs = {value("x", {2, 3}), value("c", {})}});
    EXPECT_THAT(graph.dag.costs(), ElementsAre(6, 30, 6));
    EXPECT_THAT(edges_of(graph), ElementsAre("outside -> y", "y -> z"));
    EXPECT_THAT(graph.notes, ElementsAre(HasSubstr("1 operator with graphs inside")));
}

TEST(OnnxGraph, WhatIsNoModelIsNamedWithItsPlace) {
    auto const refused = [](std::string_view bytes) { return test::refused(bytes, "model.onnx"); };
    Model const loop{.nodes = {node("Relu", {"b"}, {"a"}), node("Exp", {"a"}, {"b"})}};
    EXPECT_EQ(refused(loop.bytes()),
              "model.onnx: node 'a': edge 'b' -> 'a' closes a cycle ('a' -> 'b' -> 'a'). remove one of them");
    Model const twice{.nodes = {node("Relu", {"x"}, {"a"}), node("Exp", {"x"}, {"a"})}, .inputs = {value("x", {1})}};
    EXPECT_EQ(refused(twice.bytes()), "model.onnx: node 'a': value 'a' is made twice (by 'a' too)");
    Model const missing{.nodes = {node("Relu", {"gone"}, {"a"})}};
    EXPECT_EQ(refused(missing.bytes()),
              "model.onnx: node 'a': it reads 'gone' (no input, weight or operator of the graph has that name)");
    Model const huge{.nodes = {node("MatMul", {"x", "x"}, {"a"})},
                     .inputs = {value("x", {1 << 30, 1 << 30, 1 << 30, 1 << 30, 1 << 30, 1 << 30})}};
    EXPECT_THAT(refused(huge.bytes()), HasSubstr("more operations than can be counted"));
    EXPECT_THAT(refused(Model{}.bytes()), HasSubstr("a graph without tasks"));
    EXPECT_THAT(refused(Message{}.whole(1, 8).bytes()), HasSubstr("a model without a graph"));
    Model const broken_name{.nodes = {node("Relu", {"x\xff"}, {"a"})}};
    EXPECT_THAT(refused(broken_name.bytes()), HasSubstr("a name that is not text"));
    Message deep = Model{.nodes = {node("Relu", {"x"}, {"a"})}}.graph();
    for (int i = 0; i < 100; ++i) {
        deep = Model{.nodes = {node("Loop", {}, {"a"}, {attribute("body", deep)})}}.graph();
    }
    EXPECT_THAT(refused(Message{}.whole(1, 8).message(7, deep).bytes()), HasSubstr("graphs nested too deeply"));
}

TEST(OnnxGraph, ATruncatedModelIsRefusedWhereverItEnds) {
    std::string const whole = Model{.nodes = {node("Conv", {"x", "w"}, {"y"}, {attribute("pads", Sizes{1, 1, 1, 1})})},
                                    .inputs = {value("x", {1, 3, 8, 8})},
                                    .weights = {tensor("w", {4, 3, 3, 3})}}
                                  .bytes();
    std::size_t const graph_end = whole.size() - 4; // what follows the graph may be missing: it says the version
    for (std::size_t length = 1; length < graph_end; ++length) {
        EXPECT_THAT(test::refused(std::string_view{whole}.substr(0, length), "model.onnx"),
                    ::testing::StartsWith("model.onnx: byte "));
    }
}

TEST(OnnxGraph, WeightsMayBeElsewhere) {
    Message const external = Message{}
                                 .packed(1, {4, 6})
                                 .whole(2, 1)
                                 .text(8, "w")
                                 .message(13, Message{}.text(1, "location").text(2, "weights.bin"))
                                 .whole(14, 1);
    EXPECT_EQ(
        work({.nodes = {node("MatMul", {"x", "w"}, {"y"})}, .inputs = {value("x", {8, 4})}, .weights = {external}}),
        2 * 8 * 4 * 6);
}

} // namespace
} // namespace headroom
