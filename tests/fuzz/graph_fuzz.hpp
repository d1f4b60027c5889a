#pragma once

// Any bytes as a graph file: a graph that holds together, or one InputError of one line.

#include "headroom/error.hpp"
#include "headroom/io/task_graph.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace headroom::test {

template <class Column, class Named> bool fits(Column const& column, std::size_t tasks, Named const& named) {
    return column.empty() ||
           (column.size() == tasks && std::ranges::all_of(column, [&](auto number) { return number < named.size(); }));
}

inline int fuzz_graph(std::uint8_t const* data, std::size_t size, std::string const& where) {
    std::string_view const bytes{reinterpret_cast<char const*>(data), size};
    try {
        laws::TaskGraph const graph = io::read_task_graph(bytes, where);
        std::size_t const tasks = graph.dag.size();
        double total = 0.0;
        for (Ticks const cost : graph.dag.costs()) {
            if (cost < 0) { std::abort(); }
            total += static_cast<double>(cost);
        }
        bool const sound = tasks > 0 && total <= 0x1p62 && graph.per_tick > 0.0 && std::isfinite(graph.per_tick) &&
                           (graph.names.empty() || graph.names.size() == tasks) &&
                           fits(graph.kind_of, tasks, graph.kinds) && fits(graph.resource_of, tasks, graph.resources) &&
                           std::ranges::all_of(graph.resources, [](auto const& r) { return r.capacity > 0; });
        if (!sound) { std::abort(); }
    } catch (InputError const& error) {
        std::string_view const line{error.what()};
        bool const one_line = line.find('\n') == std::string_view::npos && line.starts_with(where);
        bool const of_input = error.fault() == Fault::unreadable || error.fault() == Fault::insufficient; // no event
        if (!one_line || !of_input) { std::abort(); }
    }
    return 0;
}

} // namespace headroom::test
