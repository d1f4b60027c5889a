#include "headroom/document/fields.hpp"

#include <algorithm>
#include <map>

namespace headroom::document {
namespace {

bool of_objects(FieldShape const& shape) {
    return shape.kind == FieldKind::object || (shape.element != nullptr && of_objects(*shape.element));
}

std::string joined_path(std::string const& prefix, std::string_view name) {
    return prefix.empty() ? std::string{name} : prefix + "." + std::string{name};
}

/// Leaves without values, by the types of a table alone.
void list_leaves(std::vector<Leaf>& leaves, FieldTable const& table, std::string const& prefix) {
    for (Field const& field : table.rows) {
        FieldShape const& shape = *field.shape;
        std::string const path = field.inlined() ? prefix : joined_path(prefix, field.name);
        auto const add = [&](std::string name, FieldKind kind) {
            leaves.push_back({std::move(name), field.unit, field.meaning, kind});
        };
        if (shape.kind == FieldKind::object) {
            list_leaves(leaves, shape.table(), path);
        } else if (shape.kind == FieldKind::list && shape.length == 2 && !of_objects(shape)) {
            add(path + ".low", shape.element->kind);
            add(path + ".high", shape.element->kind);
        } else if (!of_objects(shape)) {
            add(path, shape.kind == FieldKind::list || shape.kind == FieldKind::map ? FieldKind::text : shape.kind);
        }
    }
}

struct Value {
    std::optional<double> number = {};
    std::string text = {};
};

/// Hands each value to `found` with the way to it.
class LeafWriter final : public FieldWriter {
public:
    using Found = std::function<void(std::string const& path, Field const& field, FieldKind kind, Value value)>;

    LeafWriter(Lists lists, Found found) : lists_{lists}, found_{std::move(found)} {}

    void write_all(FieldTable const& table, void const* object, std::string const& prefix) {
        for (Field const& field : table.rows) {
            Place const before = std::exchange(
                place_, {field.inlined() ? prefix : joined_path(prefix, field.name), &field, 0, false, {}, 0, {}});
            field.write(object, *this);
            place_ = before;
        }
    }

    void null() override { put(FieldKind::text, {}); }
    void boolean(bool value) override { put(FieldKind::boolean, {{}, value ? "true" : "false"}); }
    void integer(std::int64_t value) override {
        put(FieldKind::integer, {static_cast<double>(value), std::to_string(value)});
    }
    void number(double value) override { put(FieldKind::number, {value, exact(value)}); }
    void text(std::string_view value) override { put(FieldKind::text, {{}, std::string{value}}); }
    void object(FieldTable const& table, void const* value) override {
        if (place_.depth == 0) { return write_all(table, value, place_.path); }
        if (lists_ == Lists::numbered) { write_all(table, value, element_path()); }
        ++place_.index;
    }
    void begin_list() override { open(false); }
    void end_list() override { close(); }
    void begin_map() override { open(true); }
    void key(std::string_view name) override { place_.key = name; }
    void end_map() override { close(); }

private:
    struct Place {
        std::string path;
        Field const* field = nullptr;
        int depth = 0; ///< of lists and maps around
        bool map = false;
        std::string key;
        std::size_t index = 0;
        std::string joined;
    };

    [[nodiscard]] bool pair() const { return place_.field->shape->length == 2 && place_.depth == 1; }
    [[nodiscard]] std::string element_path() const {
        if (pair()) { return place_.path + (place_.index == 0 ? ".low" : ".high"); }
        return joined_path(place_.path, place_.map ? place_.key : std::to_string(place_.index));
    }
    void open(bool map) {
        ++place_.depth;
        if (place_.depth == 1) { place_.map = map; }
    }
    void close() {
        --place_.depth;
        bool const joins = place_.depth == 0 && lists_ == Lists::joined && place_.field->shape->length != 2;
        if (joins && !of_objects(*place_.field->shape)) {
            found_(place_.path, *place_.field, FieldKind::text, {{}, std::move(place_.joined)});
        }
    }
    void put(FieldKind kind, Value value) {
        if (place_.depth == 0) { return found_(place_.path, *place_.field, kind, std::move(value)); }
        if (pair() || lists_ == Lists::numbered) {
            found_(element_path(), *place_.field, kind, std::move(value));
        } else {
            if (!place_.joined.empty()) { place_.joined += ' '; }
            if (place_.map) { place_.joined += place_.key + "="; }
            place_.joined += value.text;
        }
        ++place_.index;
    }

    Lists lists_;
    Found found_;
    Place place_;
};

} // namespace

std::vector<Leaf> leaves_of(FieldTable const& table, void const* object, Lists lists) {
    std::vector<Leaf> leaves;
    if (object == nullptr || lists == Lists::joined) { list_leaves(leaves, table, ""); }
    if (object == nullptr) { return leaves; }
    std::map<std::string_view, std::size_t> places;
    for (std::size_t i = 0; i < leaves.size(); ++i) { places.emplace(leaves[i].path, i); }
    LeafWriter writer{lists, [&](std::string const& path, Field const& field, FieldKind kind, Value value) {
                          if (lists == Lists::numbered) {
                              leaves.push_back({path, field.unit, field.meaning, kind, value.number, value.text});
                          } else if (auto const known = places.find(path); known != places.end()) {
                              leaves[known->second].number = value.number;
                              leaves[known->second].text = std::move(value.text);
                          }
                      }};
    writer.write_all(table, object, "");
    return leaves;
}

Sheet leaf_sheet(FieldTable const& table, void const* object) {
    Sheet sheet{{"quantity", "value"}, {}};
    for (Leaf& leaf : leaves_of(table, object, Lists::numbered)) {
        sheet.rows.push_back({std::move(leaf.path), std::move(leaf.text)});
    }
    return sheet;
}

Sheet row_sheet(FieldTable const& table, std::vector<void const*> const& rows) {
    Sheet sheet;
    for (Leaf& leaf : leaves_of(table, nullptr, Lists::joined)) { sheet.header.push_back(std::move(leaf.path)); }
    for (void const* row : rows) {
        std::vector<std::string> cells;
        for (Leaf& leaf : leaves_of(table, row, Lists::joined)) { cells.push_back(std::move(leaf.text)); }
        sheet.rows.push_back(std::move(cells));
    }
    return sheet;
}

} // namespace headroom::document
