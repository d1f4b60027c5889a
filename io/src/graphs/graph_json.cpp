#include "graphs/graph_formats.hpp"
#include "graphs/json_graph.hpp"
#include "records/record.hpp"

#include "headroom/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace headroom::io {

using namespace headroom::laws;

namespace {

using nlohmann::json;

constexpr std::size_t most_ignored = 20; ///< keys that a note lists

// clang-format off
constexpr std::array task_fields{
    JsonFieldName{"id", JsonField::id}, JsonFieldName{"name", JsonField::label}, JsonFieldName{"label", JsonField::label},
    JsonFieldName{"cost", JsonField::cost}, JsonFieldName{"weight", JsonField::cost}, JsonFieldName{"work", JsonField::cost},
    JsonFieldName{"duration", JsonField::cost}, JsonFieldName{"time", JsonField::cost},
    JsonFieldName{"kind", JsonField::kind}, JsonFieldName{"class", JsonField::kind}, JsonFieldName{"type", JsonField::kind},
    JsonFieldName{"resource", JsonField::resource},
    JsonFieldName{"after", JsonField::after}, JsonFieldName{"deps", JsonField::after}, JsonFieldName{"dependencies", JsonField::after},
    JsonFieldName{"depends_on", JsonField::after}, JsonFieldName{"predecessors", JsonField::after},
    JsonFieldName{"dependsOn", JsonField::after}, JsonFieldName{"depends", JsonField::after}, JsonFieldName{"requires", JsonField::after},
    JsonFieldName{"needs", JsonField::after}, JsonFieldName{"parents", JsonField::after}, JsonFieldName{"prerequisites", JsonField::after},
    JsonFieldName{"ctrl_deps", JsonField::call_stack}, JsonFieldName{"ph", JsonField::phase},
};
constexpr std::array edge_fields{
    JsonFieldName{"from", JsonField::from}, JsonFieldName{"source", JsonField::from}, JsonFieldName{"src", JsonField::from},
    JsonFieldName{"to", JsonField::to}, JsonFieldName{"target", JsonField::to}, JsonFieldName{"dst", JsonField::to},
    JsonFieldName{"cost", JsonField::cost}, JsonFieldName{"weight", JsonField::cost}, JsonFieldName{"work", JsonField::cost},
    JsonFieldName{"duration", JsonField::cost}, JsonFieldName{"time", JsonField::cost},
    JsonFieldName{"kind", JsonField::kind}, JsonFieldName{"class", JsonField::kind}, JsonFieldName{"type", JsonField::kind},
    JsonFieldName{"resource", JsonField::resource}, JsonFieldName{"ph", JsonField::phase},
};
// clang-format on

/// Hands bytes to the parser and remembers how far it is: its events do not say.
class CountedBytes {
public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = char const*;
    using reference = char const&;
    CountedBytes(char const* at, char const** seen) : at_{at}, seen_{seen} {}
    reference operator*() const { return *at_; }
    CountedBytes& operator++() {
        *seen_ = ++at_;
        return *this;
    }
    bool operator==(CountedBytes const& other) const { return at_ == other.at_; }
    bool operator!=(CountedBytes const& other) const { return at_ != other.at_; }

private:
    char const* at_;
    char const** seen_;
};

} // namespace

TaskGraph JsonGraph::read() {
    CountedBytes const begin{bytes_.data(), &seen_};
    CountedBytes const end{bytes_.data() + bytes_.size(), &seen_};
    json::sax_parse(begin, end, this);
    if (!has_tasks_ && !has_edges_) {
        seen_ = bytes_.data();
        fail("no list of tasks or edges", {}, "write {\"tasks\": [...], \"edges\": [...]} or a list of edges");
    }
    refuse_unread();
    if (graph_.link_count() == 0) { graph_.note("the file states no edges: no task waits for another"); }
    if (!ignored_.empty()) { graph_.note(fmt::format("not read: {}", fmt::join(ignored_, ", "))); }
    return graph_.finish(costs_);
}

/// Refuses keys of tasks that nothing reads and that look like edges, or like costs where a task has none; and lists at
/// the top that look like edges where there are no others.
void JsonGraph::refuse_unread() const {
    constexpr std::array edges{"depend",     "successor",   "children", "parent", "prerequisite", "upstream",
                               "downstream", "predecessor", "unblocks", "blocks", "adjacen"};
    constexpr std::array edge_lists{"edge", "link", "connection", "arcs"};
    constexpr std::array costs{"duration", "time",  "cost", "weight", "start",   "end",    "latency",
                               "elapsed",  "flops", "data", "attr",   "seconds", "runtime"};
    auto const is_in = [](std::string const& key, auto const& words) {
        std::string const plain = headroom::normalised(key);
        return std::ranges::any_of(words, [&](char const* word) { return plain.find(word) != std::string::npos; });
    };
    for (std::string const& key : unread_of_tasks_) {
        if (is_in(key, edges)) {
            unreadable_error(say_(0), fmt::format("key {} of a task is not read", headroom::quoted(key)),
                             "it may say which task waits for which", "list the tasks before it as 'after'");
        }
        if (!costs_.any() && is_in(key, costs)) {
            unreadable_error(say_(0), fmt::format("key {} of a task is not read", headroom::quoted(key)),
                             "it may hold costs, and no task has another", "write \"cost\": \"3ms\"");
        }
    }
    if (!unread_cost_.empty()) {
        unreadable_error(say_(0), fmt::format("key {} of a task is not read", headroom::quoted(unread_cost_)),
                         "it may hold the cost of a task that states no other", "write \"cost\": \"3ms\"");
    }
    for (std::string const& key : unread_lists_) {
        if (graph_.link_count() > 0 || !(is_in(key, edges) || is_in(key, edge_lists))) { continue; }
        unreadable_error(say_(0), fmt::format("key {} is not read", headroom::quoted(key)),
                         "it may say which task waits for which, and nothing else does",
                         "write \"edges\": [[\"a\", \"b\"]]");
    }
}

// ---- the parser's events, by where the reader stands ----------------------------------------------------------------

bool JsonGraph::key(std::string const& key) {
    switch (open_.back()) {
    case JsonPlace::top: top_key(key); break;
    case JsonPlace::task: field_key(key, task_fields); break;
    case JsonPlace::edge: field_key(key, edge_fields); break;
    case JsonPlace::resources: key_ = key; break;
    default: break;
    }
    return true;
}

bool JsonGraph::value(JsonScalar const& scalar) {
    switch (open_.empty() ? JsonPlace::tasks : open_.back()) {
    case JsonPlace::top: top_value(scalar); break;
    case JsonPlace::tasks: // a task may be its name alone
        if (open_.empty()) { fail("neither a list nor an object", {}, "write {\"tasks\": [...], \"edges\": [...]}"); }
        graph_.declare(task_named(scalar), {.label = {}, .place = here()});
        break;
    case JsonPlace::task: task_value(scalar); break;
    case JsonPlace::after: after_.push_back(task_named(scalar)); break;
    case JsonPlace::edges: fail("an edge that is neither a list nor an object", {}, "write [\"a\", \"b\"]");
    case JsonPlace::pair: pair_value(scalar); break;
    case JsonPlace::edge: edge_value(scalar); break;
    case JsonPlace::resources: list_resource(scalar); break;
    case JsonPlace::skipped: break;
    }
    return true;
}

bool JsonGraph::start(bool object) {
    JsonPlace next = JsonPlace::skipped;
    switch (open_.empty() ? JsonPlace::skipped : open_.back()) {
    case JsonPlace::top: next = opened_at_top(object); break;
    case JsonPlace::tasks:
        if (!object) { fail("a task that is a list", {}, "write {\"id\": \"a\", \"cost\": 3}"); }
        task_ = {.label = {}, .place = here()};
        id_.reset(), after_.clear(), task_unread_.clear(), fields_seen_ = 0;
        next = JsonPlace::task;
        break;
    case JsonPlace::task:
        if (field_ == JsonField::after && !object) {
            next = JsonPlace::after;
        } else if (field_ != JsonField::none) {
            fail("a list or an object where a single value is due");
        }
        break;
    case JsonPlace::edges:
        edge_ = {.place = here()};
        ends_ = 0, fields_seen_ = 0;
        next = object ? JsonPlace::edge : JsonPlace::pair;
        break;
    case JsonPlace::pair: // networkx: [from, to, {"weight": 3}]
        if (!object || ends_ != 2) { fail("a list or an object where a task is due", {}, "name it by text or number"); }
        ++ends_;
        next = JsonPlace::edge;
        break;
    case JsonPlace::edge:
        if (field_ != JsonField::none) { fail("a list or an object where a single value is due"); }
        break;
    case JsonPlace::after:
    case JsonPlace::resources: fail("a list or an object where a single value is due");
    case JsonPlace::skipped:
        if (open_.empty()) {
            next = object ? JsonPlace::top : JsonPlace::edges;
            has_edges_ = !object;
        }
        break;
    }
    open_.push_back(next);
    return true;
}

bool JsonGraph::end() {
    JsonPlace const ended = open_.back();
    open_.pop_back();
    bool const in_pair = !open_.empty() && open_.back() == JsonPlace::pair;
    if (ended == JsonPlace::task) { end_task(); }
    if (ended == JsonPlace::pair) {
        if (ends_ < 2) { fail("an edge of fewer than two tasks", {}, "write [\"a\", \"b\"]"); }
        graph_.link(edge_);
    }
    if (ended == JsonPlace::edge && !in_pair) { end_edge(); }
    return true;
}

bool JsonGraph::parse_error(std::size_t byte, std::string const&, json::exception const& error) {
    std::size_t const at = std::min(byte == 0 ? 0 : byte - 1, bytes_.size());
    seen_ = bytes_.data() + std::min(at + 1, bytes_.size());
    auto const around = bytes_.substr(at < 8 ? 0 : at - 8, 16);
    if (error.id == 406) { fail("a number out of range", "no double holds it"); }
    if (byte > bytes_.size()) { fail("not valid JSON", "the text ends before the value does"); }
    if (bytes_[at] == '\0') { fail("a zero byte", "the file is not text"); }
    if (first_not_text(around.substr(std::min<std::size_t>(at, 8), 1)) == 0 && utf8_length(bytes_.substr(at)) == 0) {
        fail("not valid UTF-8", fmt::format("at byte {}", at));
    }
    if (around.find("NaN") != std::string_view::npos || around.find("nfinity") != std::string_view::npos) {
        fail("a number that is not finite", "JSON has none");
    }
    fail("not valid JSON", "unexpected text from here on");
}

// ---- the object at the top ------------------------------------------------------------------------------------------

void JsonGraph::top_key(std::string const& key) {
    if (key == "traceEvents") { refuse_trace(); }
    if (key == "workload_graph") {
        fail("a Chakra trace written as JSON", "only the binary form is read", "give the .et file");
    }
    if (!top_seen_.insert(key).second) {
        fail(fmt::format("key {} twice", headroom::quoted(key)), "one of the two would be ignored", "remove one");
    }
    key_ = key;
}

JsonPlace JsonGraph::opened_at_top(bool object) {
    bool const tasks = key_ == "tasks" || key_ == "nodes";
    bool const edges = key_ == "edges" || key_ == "links";
    if (tasks || edges) {
        if (object) { fail(fmt::format("{} is an object", headroom::quoted(key_)), "a list is due"); }
        if (tasks ? has_tasks_ : has_edges_) {
            fail(fmt::format("a second list of {}", tasks ? "tasks" : "edges"), "one of the two would be ignored");
        }
        (tasks ? has_tasks_ : has_edges_) = true;
        if (tasks) { graph_.require_declarations(); }
        return tasks ? JsonPlace::tasks : JsonPlace::edges;
    }
    if (key_ == "resources") {
        if (!object) { fail("'resources' is a list", "an object of counts is due", "write {\"gpu0\": 1}"); }
        return JsonPlace::resources;
    }
    if (key_ == "unit" || key_ == "name" || key_ == "directed") { fail(fmt::format("'{}' is no single value", key_)); }
    if (key_ != "graph") { ignore(key_), unread_lists_.insert(key_); }
    return JsonPlace::skipped;
}

void JsonGraph::top_value(JsonScalar const& scalar) {
    if (key_ == "tasks" || key_ == "nodes" || key_ == "edges" || key_ == "links") {
        fail(fmt::format("'{}' is no list", key_));
    }
    if (key_ == "resources") { fail("'resources' is a single value", "an object of counts is due"); }
    if (key_ == "unit") {
        costs_.set_unit(word_of(scalar), here());
    } else if (key_ == "name") {
        graph_.set_name(word_of(scalar));
    } else if (key_ == "directed") {
        if (scalar.type != JsonScalar::Type::boolean) { fail("'directed' is neither true nor false"); }
        if (!scalar.truth) {
            fail("an undirected graph", "it does not state which task waits for which", "use a DiGraph");
        }
    } else if (key_ != "multigraph") {
        ignore(key_);
    }
}

void JsonGraph::ignore(std::string_view key) {
    if (ignored_.size() < most_ignored) { ignored_.insert(headroom::quoted(key)); }
}

bool looks_like_json_graph(std::string_view bytes) {
    if (bytes.starts_with(byte_order_mark)) { bytes.remove_prefix(byte_order_mark.size()); }
    auto const first = bytes.find_first_not_of(" \t\r\n");
    return first != std::string_view::npos && (bytes[first] == '{' || bytes[first] == '[');
}

TaskGraph read_json_graph(std::string_view bytes, std::string const& where) { return JsonGraph{bytes, where}.read(); }

} // namespace headroom::io
