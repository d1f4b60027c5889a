#pragma once

// JSON graphs, read event by event: nothing but the graph is kept, and nesting costs a byte a level.

#include "graphs/graph_named.hpp"
#include "records/record.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <charconv>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// Meaning of a key of a task or an edge; several spellings have one meaning.
enum class JsonField : std::uint8_t { none, id, label, cost, kind, resource, after, from, to, call_stack, phase };

struct JsonFieldName {
    std::string_view key;
    JsonField field;
};

/// A value that is neither a list nor an object.
struct JsonScalar {
    enum class Type : std::uint8_t { null, boolean, number, text } type = Type::null;
    bool whole = false; ///< of a number
    bool truth = false;
    double number = 0.0;
    std::string_view text = {}; ///< of a text; of a whole number, its digits
};

/// Where the reader stands: in which list or object.
enum class JsonPlace : std::uint8_t { top, tasks, task, after, edges, pair, edge, resources, skipped };

/// Collects a graph from the events of the parser; the public functions are the interface of nlohmann's SAX.
class JsonGraph {
public:
    JsonGraph(std::string_view bytes, std::string const& where)
        : bytes_{bytes}, say_{lines_of(bytes, where)}, costs_{say_}, graph_{bytes, where}, seen_{bytes.data()} {}

    laws::TaskGraph read();

    bool null() { return value({}); }
    bool boolean(bool truth) { return value({.type = JsonScalar::Type::boolean, .truth = truth}); }
    bool number_integer(std::int64_t number) { return whole(number); }
    bool number_unsigned(std::uint64_t number) { return whole(number); }
    bool number_float(double number, std::string const&) {
        return value({.type = JsonScalar::Type::number, .number = number});
    }
    bool string(std::string const& text) { return value({.type = JsonScalar::Type::text, .text = text}); }
    bool binary(std::vector<std::uint8_t> const&) { return true; } // JSON has none
    bool start_object(std::size_t) { return start(true); }
    bool start_array(std::size_t) { return start(false); }
    bool key(std::string const& key);
    bool end_object() { return end(); }
    bool end_array() { return end(); }
    bool parse_error(std::size_t byte, std::string const&, nlohmann::json::exception const& error);

private:
    template <class Whole> bool whole(Whole number) {
        std::array<char, 24> digits;
        auto const stop = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
        return value({.type = JsonScalar::Type::number,
                      .whole = true,
                      .number = static_cast<double>(number),
                      .text = {digits.data(), static_cast<std::size_t>(stop - digits.data())}});
    }
    bool value(JsonScalar const& scalar);
    bool start(bool object);
    bool end();

    void top_key(std::string const& key);
    void top_value(JsonScalar const& scalar);
    JsonPlace opened_at_top(bool object);
    void field_key(std::string const& key, std::span<JsonFieldName const> fields);
    void task_value(JsonScalar const& scalar);
    void edge_value(JsonScalar const& scalar);
    void pair_value(JsonScalar const& scalar);
    void end_task();
    void end_edge();

    std::uint32_t task_named(JsonScalar const& scalar);
    double cost_of(JsonScalar const& scalar);
    std::string_view word_of(JsonScalar const& scalar) const;
    void list_resource(JsonScalar const& scalar);
    void ignore(std::string_view key);
    void refuse_unread() const;

    /// The byte read last.
    [[nodiscard]] Place here() const {
        return seen_ == bytes_.data() ? 0 : static_cast<Place>(seen_ - bytes_.data() - 1);
    }
    [[noreturn]] void fail(std::string problem, std::string why = {}, std::string hint = {}) const {
        unreadable_error(say_(here()), std::move(problem), std::move(why), std::move(hint));
    }
    [[noreturn]] void refuse_trace() const {
        fail("a profiler trace", "reading one as a graph is not there yet",
             "give a Chakra trace, an ONNX model or an edge list");
    }

    std::string_view bytes_;
    SayPlace say_;
    CostReader costs_;
    NamedGraph graph_;
    char const* seen_;
    std::vector<JsonPlace> open_;
    bool has_tasks_ = false, has_edges_ = false;
    std::string key_;                                      ///< of the object at the top, or of `resources`
    std::set<std::string> top_seen_;                       ///< keys of the object at the top
    std::set<std::string> ignored_;                        ///< keys that nothing reads
    std::set<std::string> unread_of_tasks_, unread_lists_; ///< keys that nothing reads; of lists and objects at the top
    std::string unread_cost_;                              ///< of a task that states no cost
    std::string task_unread_;                              ///< of the task that is read: one that names a cost
    JsonField field_ = JsonField::none;                    ///< of the task or edge
    std::uint32_t fields_seen_ = 0;                        ///< of the task or edge, by bit
    NamedGraph::Task task_;
    std::optional<std::uint32_t> id_;
    std::vector<std::uint32_t> after_;
    GraphDraft::Link edge_;
    int ends_ = 0; ///< of a pair, as far as it is read
};

} // namespace headroom::io
