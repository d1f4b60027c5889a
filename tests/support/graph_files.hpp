#pragma once

// Graphs as tests look at them, and protobuf messages as they write them.

#include "headroom/error.hpp"
#include "headroom/io/task_graph.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom::test {

/// The one line with which a file is refused; always exit code 4.
inline std::string refused(std::string_view bytes, std::string const& where) {
    try {
        io::read_task_graph(bytes, where);
    } catch (InputError const& error) {
        EXPECT_EQ(error.fault(), Fault::unreadable) << error.what();
        return error.what();
    }
    ADD_FAILURE() << "accepted: " << bytes.substr(0, 200);
    return {};
}

inline std::string name_of(laws::TaskGraph const& graph, laws::TaskId task) {
    return graph.names.empty() ? std::to_string(task) : graph.names[task];
}

/// "a -> b" of every edge, in the order of tasks.
inline std::vector<std::string> edges_of(laws::TaskGraph const& graph) {
    std::vector<std::string> edges;
    for (laws::TaskId task = 0; task < graph.dag.size(); ++task) {
        for (laws::TaskId const next : graph.dag.successors(task)) {
            edges.push_back(name_of(graph, task) + " -> " + name_of(graph, next));
        }
    }
    return edges;
}

/// The cost of a task in the graph's unit.
inline double cost_of(laws::TaskGraph const& graph, laws::TaskId task) {
    return static_cast<double>(graph.dag.cost(task)) * graph.per_tick;
}

inline std::vector<double> costs_of(laws::TaskGraph const& graph) {
    std::vector<double> costs;
    for (laws::TaskId task = 0; task < graph.dag.size(); ++task) { costs.push_back(cost_of(graph, task)); }
    return costs;
}

inline std::string kind_of(laws::TaskGraph const& graph, laws::TaskId task) {
    return graph.kind_of.empty() ? std::string{} : graph.kinds[graph.kind_of[task]];
}

inline std::string resource_of(laws::TaskGraph const& graph, laws::TaskId task) {
    return graph.resource_of.empty() ? std::string{} : graph.resources[graph.resource_of[task]].name;
}

/// A protobuf message, field after field.
class Message {
public:
    Message& whole(std::uint32_t tag, std::int64_t value) {
        protozero::pbf_writer{bytes_}.add_int64(tag, value);
        return *this;
    }
    Message& text(std::uint32_t tag, std::string_view value) {
        protozero::pbf_writer{bytes_}.add_bytes(tag, value.data(), value.size());
        return *this;
    }
    Message& message(std::uint32_t tag, Message const& value) { return text(tag, value.bytes_); }
    Message& number(std::uint32_t tag, float value) {
        protozero::pbf_writer{bytes_}.add_float(tag, value);
        return *this;
    }
    Message& packed(std::uint32_t tag, std::vector<std::int64_t> const& values) {
        protozero::pbf_writer{bytes_}.add_packed_int64(tag, values.begin(), values.end());
        return *this;
    }
    [[nodiscard]] std::string const& bytes() const { return bytes_; }

private:
    std::string bytes_;
};

} // namespace headroom::test
