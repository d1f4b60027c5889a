#include "headroom/document/fields.hpp"
#include "headroom/error.hpp"

#include <map>

namespace headroom::document {
namespace {

/// Structs that a schema defines, by name, those that were met first first.
class Definitions {
public:
    /// {"$ref": "#/definitions/NAME"}; the struct is defined later.
    Json reference(FieldTable const& table) {
        auto const [known, is_new] = tables_.emplace(table.name, &table);
        if (is_new) { order_.push_back(&table); }
        if (known->second != &table) {
            throw ContractError{"two structs of a schema are named " + std::string{table.name}};
        }
        return Json::object().set("$ref", "#/definitions/" + std::string{table.name});
    }
    /// Defines all that were referred to, and what these refer to.
    Json all();

private:
    std::map<std::string_view, FieldTable const*> tables_;
    std::vector<FieldTable const*> order_;
};

char const* type_name(FieldKind kind) {
    switch (kind) {
    case FieldKind::boolean: return "boolean";
    case FieldKind::integer: return "integer";
    case FieldKind::number: return "number";
    case FieldKind::text: return "string";
    case FieldKind::list: return "array";
    case FieldKind::object:
    case FieldKind::map: return "object";
    }
    return "";
}

/// {"type": ...} with what the elements are.
Json shape_schema(FieldShape const& shape, Definitions& definitions) {
    if (shape.kind == FieldKind::object) {
        Json reference = definitions.reference(shape.table());
        if (!shape.nullable) { return reference; }
        return Json::object().set("anyOf",
                                  Json::array().push(std::move(reference)).push(Json::object().set("type", "null")));
    }
    Json const type{type_name(shape.kind)};
    Json schema = Json::object().set("type", shape.nullable ? Json::array().push(type).push("null") : type);
    if (shape.kind == FieldKind::list) {
        schema.set("items", shape_schema(*shape.element, definitions));
        if (shape.length > 0) { schema.set("minItems", shape.length).set("maxItems", shape.length); }
    }
    if (shape.kind == FieldKind::map) { schema.set("additionalProperties", shape_schema(*shape.element, definitions)); }
    return schema;
}

/// Next to a reference nothing else counts, so it stands in a list of its own.
Json field_schema(Field const& field, Definitions& definitions) {
    Json schema = shape_schema(*field.shape, definitions);
    if (field.shape->kind == FieldKind::object && !field.shape->nullable) {
        schema = Json::object().set("allOf", Json::array().push(std::move(schema)));
    }
    schema.set("description", field.meaning);
    if (!field.unit.empty()) { schema.set("unit", field.unit); }
    return schema;
}

struct Properties {
    Json all = Json::object();
    Json required = Json::array();
};

/// `always`: of an optional part that is inlined nothing is required.
void add_properties(Properties& properties, FieldTable const& table, Definitions& definitions, bool always = true) {
    for (Field const& field : table.rows) {
        if (field.inlined()) {
            add_properties(properties, field.shape->table(), definitions, always && !field.shape->nullable);
            continue;
        }
        properties.all.set(field.name, field_schema(field, definitions));
        if (always && field.presence == Presence::always) { properties.required.push(field.name); }
    }
}

Json object_schema(std::vector<FieldTable const*> const& tables, Definitions& definitions) {
    Properties properties;
    for (FieldTable const* table : tables) { add_properties(properties, *table, definitions); }
    return Json::object()
        .set("type", "object")
        .set("required", std::move(properties.required))
        .set("additionalProperties", false)
        .set("properties", std::move(properties.all));
}

Json Definitions::all() {
    Json found = Json::object();
    for (std::size_t i = 0; i < order_.size(); ++i) { // grows meanwhile
        FieldTable const* table = order_[i];
        found.set(table->name, object_schema({table}, *this));
    }
    return found;
}

} // namespace

Json json_schema(std::string_view title, std::vector<FieldTable const*> const& answers, FieldTable const& head,
                 FieldTable const& tail) {
    Definitions definitions;
    Json schema = Json::object().set("$schema", "http://json-schema.org/draft-07/schema#").set("title", title);
    Json several = Json::array();
    for (FieldTable const* answer : answers) { several.push(object_schema({&head, answer, &tail}, definitions)); }
    schema.set("anyOf", std::move(several));
    return schema.set("definitions", definitions.all());
}

} // namespace headroom::document
