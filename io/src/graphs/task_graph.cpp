#include "headroom/io/task_graph.hpp"

#include "graphs/graph_draft.hpp"
#include "graphs/graph_formats.hpp"
#include "records/record.hpp"
#include "unread_bytes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

namespace headroom::io {

using namespace headroom::laws;

namespace {

struct FormatRow {
    std::array<std::string_view, 2> endings; ///< of file names, in lower case; empty: no other
    bool (*looks_like)(std::string_view);
    TaskGraph (*read)(std::string_view, std::string const&);
};

/// The binary formats first: their structure is checked, and chance may begin them with a brace.
constexpr std::array formats{
    FormatRow{{".et", ".chakra"}, looks_like_chakra, read_chakra_graph},
    FormatRow{{".onnx", ""}, looks_like_onnx, read_onnx_graph},
    FormatRow{{"", ""}, looks_like_chakra_json, read_chakra_json_graph},
    FormatRow{{"", ""}, looks_like_trace_graph, read_trace_graph},
    FormatRow{{".json", ""}, looks_like_json_graph, read_json_graph},
    FormatRow{{".dot", ".gv"}, looks_like_dot, read_dot_graph},
};

void refuse_known(std::string_view bytes, std::string const& where) {
    refuse_unread(bytes, where, "it is not read as a graph",
                  {.zip = "checkpoints are zip archives too: export the model as ONNX",
                   .database = "profiler reports are not read as graphs yet"});
    constexpr std::size_t largest = std::numeric_limits<Place>::max() - 1U;
    if (bytes.size() > largest) {
        unreadable_error(where, fmt::format("{} bytes are too many", bytes.size()),
                         fmt::format("at most {} are read", largest));
    }
    if (bytes.find_first_not_of(" \t\r\n") == std::string_view::npos) { unreadable_error(where, "an empty file"); }
}

bool has_ending(std::string const& where, FormatRow const& row) {
    std::string lower = where;
    std::ranges::transform(lower, lower.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
    return std::ranges::any_of(row.endings, [&](auto ending) { return !ending.empty() && lower.ends_with(ending); });
}

} // namespace

TaskGraph read_task_graph(std::string_view bytes, std::string const& where) {
    bool const trace = looks_like_trace_graph(bytes); // the one format that is read packed
    if (!trace) { refuse_known(bytes, where); }
    auto row = std::ranges::find_if(formats, [&](auto const& format) { return format.looks_like(bytes); });
    if (row == formats.end()) { // damaged, perhaps: its reader says where
        row = std::ranges::find_if(formats, [&](auto const& format) { return has_ending(where, format); });
    }
    if (row == formats.end()) {
        unreadable_error(where, "no known format of graphs", "neither a JSON edge list, DOT, ONNX nor a Chakra trace",
                         "write it as DOT or JSON; a damaged file needs its ending: .json, .dot, .onnx or .et");
    }
    TaskGraph graph = row->read(bytes, where);
    if (graph.name.empty()) { graph.name = where.substr(where.find_last_of('/') + 1); }
    return graph;
}

} // namespace headroom::io
