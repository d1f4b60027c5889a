#include "headroom/document/fields.hpp"

namespace headroom::document {
namespace {

/// Builds the value of one field.
class JsonWriter final : public FieldWriter {
public:
    void null() override { put(Json{}); }
    void boolean(bool value) override { put(Json{value}); }
    void integer(std::int64_t value) override { put(Json{value}); }
    void number(double value) override { put(Json{value}); }
    void text(std::string_view value) override { put(Json{value}); }
    void object(FieldTable const& table, void const* value) override { put(json_of_fields(table, value)); }
    void begin_list() override { open_.push_back({Json::array(), {}, false}); }
    void end_list() override { close(); }
    void begin_map() override { open_.push_back({Json::object(), {}, true}); }
    void key(std::string_view name) override { open_.back().key = name; }
    void end_map() override { close(); }

    Json take() { return std::move(value_); }

private:
    struct Level {
        Json json;
        std::string key;
        bool map = false;
    };
    void put(Json value) {
        if (open_.empty()) {
            value_ = std::move(value);
        } else if (open_.back().map) {
            open_.back().json.set(open_.back().key, std::move(value));
        } else {
            open_.back().json.push(std::move(value));
        }
    }
    void close() {
        Json done = std::move(open_.back().json);
        open_.pop_back();
        put(std::move(done));
    }

    std::vector<Level> open_;
    Json value_;
};

/// Inlined objects write their fields into the object around them.
class InlineWriter final : public FieldWriter {
public:
    explicit InlineWriter(Json& json) : json_{&json} {}
    void object(FieldTable const& table, void const* value) override { append_fields(*json_, table, value); }
    void null() override {} // of an optional part: it has no fields
    void boolean(bool) override {}
    void integer(std::int64_t) override {}
    void number(double) override {}
    void text(std::string_view) override {}
    void begin_list() override {}
    void end_list() override {}
    void begin_map() override {}
    void key(std::string_view) override {}
    void end_map() override {}

private:
    Json* json_;
};

} // namespace

void append_fields(Json& json, FieldTable const& table, void const* object) {
    for (Field const& field : table.rows) {
        if (field.inlined()) {
            InlineWriter writer{json};
            field.write(object, writer);
            continue;
        }
        JsonWriter writer;
        field.write(object, writer);
        Json value = writer.take();
        if (field.presence == Presence::if_any && value.empty()) { continue; }
        json.set(field.name, std::move(value));
    }
}

Json json_of_fields(FieldTable const& table, void const* object) {
    Json json = Json::object();
    append_fields(json, table, object);
    return json;
}

} // namespace headroom::document
