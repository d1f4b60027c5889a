// Values of the keys of tasks and edges.

#include "graphs/json_graph.hpp"

#include "headroom/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace headroom::io {

namespace {

constexpr double most_capacity = 1e9;
constexpr std::size_t most_unread = 200; ///< keys of tasks that are looked at

} // namespace

// ---- tasks and edges ------------------------------------------------------------------------------------------------

void JsonGraph::field_key(std::string const& key, std::span<JsonFieldName const> fields) {
    auto const found = std::ranges::find(fields, std::string_view{key}, &JsonFieldName::key);
    field_ = found == fields.end() ? JsonField::none : found->field;
    if (field_ == JsonField::phase) { refuse_trace(); }
    if (field_ == JsonField::call_stack) {
        fail("a PyTorch execution trace in JSON", "it says who called whom, not who waits for whom",
             "convert it to a Chakra trace");
    }
    if (field_ == JsonField::none) {
        if (key != "key") { ignore(key); }
        bool const of_task = open_.back() == JsonPlace::task && unread_of_tasks_.size() < most_unread;
        if (of_task) { unread_of_tasks_.insert(key); }
        if (of_task && names_cost(key)) { task_unread_ = key; }
        return;
    }
    std::uint32_t const bit = 1U << static_cast<unsigned>(field_);
    if ((fields_seen_ & bit) != 0 && field_ != JsonField::label) {
        fail(fmt::format("key {} repeats an earlier key", headroom::quoted(key)), "one of the two would be ignored",
             "remove one");
    }
    fields_seen_ |= bit;
}

void JsonGraph::task_value(JsonScalar const& scalar) {
    if (scalar.type == JsonScalar::Type::null && field_ != JsonField::id) { return; } // as if it were not there
    switch (field_) {
    case JsonField::id: id_ = task_named(scalar); break;
    case JsonField::label: task_.label = word_of(scalar); break;
    case JsonField::cost: task_.cost = cost_of(scalar); break;
    case JsonField::kind: task_.kind = graph_.kind(word_of(scalar)); break;
    case JsonField::resource: task_.resource = graph_.resource(word_of(scalar), here()); break;
    case JsonField::after: after_.push_back(task_named(scalar)); break;
    default: break;
    }
}

void JsonGraph::end_task() {
    if (!id_ && !task_.label.empty()) { // a name alone is what the task is called
        id_ = graph_.mention(task_.label, false);
        task_.label.clear();
    }
    if (std::isnan(task_.cost) && !task_unread_.empty()) { unread_cost_ = task_unread_; }
    Place const place = task_.place;
    std::uint32_t const number = graph_.declare(id_, std::move(task_));
    for (std::uint32_t const before : after_) { graph_.link({.edge = {before, number}, .place = place}); }
}

void JsonGraph::edge_value(JsonScalar const& scalar) {
    bool const end = field_ == JsonField::from || field_ == JsonField::to;
    if (scalar.type == JsonScalar::Type::null && !end) { return; } // as if it were not there
    switch (field_) {
    case JsonField::from: edge_.edge.from = task_named(scalar); break;
    case JsonField::to: edge_.edge.to = task_named(scalar); break;
    case JsonField::cost: edge_.cost = cost_of(scalar); break;
    case JsonField::kind: edge_.kind = graph_.kind(word_of(scalar)); break;
    case JsonField::resource: edge_.resource = graph_.resource(word_of(scalar), here()); break;
    default: break;
    }
}

void JsonGraph::end_edge() {
    for (auto const& [name, field] : {JsonFieldName{"from", JsonField::from}, JsonFieldName{"to", JsonField::to}}) {
        if ((fields_seen_ & (1U << static_cast<unsigned>(field))) == 0) {
            fail(fmt::format("an edge without '{}'", name), {}, "write {\"from\": \"a\", \"to\": \"b\"}");
        }
    }
    graph_.link(edge_);
}

void JsonGraph::pair_value(JsonScalar const& scalar) {
    if (ends_ > 2) { fail("an edge of more than three values", {}, "write [from, to] or [from, to, cost]"); }
    if (ends_ == 2) {
        if (scalar.type != JsonScalar::Type::null) { edge_.cost = cost_of(scalar); }
    } else {
        (ends_ == 0 ? edge_.edge.from : edge_.edge.to) = task_named(scalar);
    }
    ++ends_;
}

// ---- values -----------------------------------------------------------------------------------------------------------

std::uint32_t JsonGraph::task_named(JsonScalar const& scalar) {
    bool const named =
        scalar.type == JsonScalar::Type::text || (scalar.type == JsonScalar::Type::number && scalar.whole);
    if (!named) { fail("a task that is named by neither text nor a whole number"); }
    return graph_.mention(scalar.text, scalar.type == JsonScalar::Type::number);
}

double JsonGraph::cost_of(JsonScalar const& scalar) {
    switch (scalar.type) {
    case JsonScalar::Type::number: return costs_.number(scalar.number, here());
    case JsonScalar::Type::text: return costs_.text(scalar.text, here());
    default: break;
    }
    fail("a cost that is no number", {}, "write a number, or one with its unit: '3ms'");
}

std::string_view JsonGraph::word_of(JsonScalar const& scalar) const {
    bool const word =
        scalar.type == JsonScalar::Type::text || (scalar.type == JsonScalar::Type::number && scalar.whole);
    if (!word) { fail("a value that is no text"); }
    return scalar.text;
}

void JsonGraph::list_resource(JsonScalar const& scalar) {
    double const capacity = scalar.number;
    bool const count =
        scalar.type == JsonScalar::Type::number && scalar.whole && capacity >= 1 && capacity <= most_capacity;
    if (!count) {
        fail(fmt::format("resource {} is no count", headroom::quoted(key_)), "a whole number from 1 to 1e9");
    }
    graph_.list_resource(key_, static_cast<std::int64_t>(capacity), here());
}

} // namespace headroom::io
