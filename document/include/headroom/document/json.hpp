#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace headroom::document {

struct JsonMember;

/// A JSON value to be written: members keep their order, doubles round-trip, what is not finite is null.
class Json {
public:
    Json();
    Json(std::nullptr_t);
    Json(bool value);
    Json(double value);
    Json(std::string value);
    Json(std::string_view value);
    Json(char const* value);
    template <std::integral T>
    requires(!std::same_as<T, bool>) Json(T value) : Json(Integer{static_cast<std::int64_t>(value)}) {}
    template <class T> Json(std::optional<T> const& value) : Json() {
        if (value) { *this = Json(*value); }
    }
    Json(Json const&);
    Json(Json&&) noexcept;
    Json& operator=(Json const&);
    Json& operator=(Json&&) noexcept;
    ~Json();

    static Json array();
    static Json object();
    /// An array of anything that converts.
    template <class Range> static Json array_of(Range const& range) {
        Json result = array();
        for (auto const& item : range) { result.push(Json(item)); }
        return result;
    }

    /// Appends to an array.
    Json& push(Json value);
    /// Appends a member to an object.
    Json& set(std::string_view key, Json value);
    /// Whether it is null, or an array or object without elements.
    [[nodiscard]] bool empty() const;
    /// Calls `visitor` with the value: nullptr_t, bool, int64_t, double, string, vector<Json> or vector<JsonMember>.
    template <class Visitor> decltype(auto) visit(Visitor&& visitor) const {
        return std::visit(std::forward<Visitor>(visitor), value_);
    }
    /// The text, indented, with a line break at its end.
    [[nodiscard]] std::string text() const;

private:
    struct Integer {
        std::int64_t value;
    };
    explicit Json(Integer value);
    void write(std::string& out, int depth) const;
    [[nodiscard]] bool scalar() const;

    using Members = std::vector<JsonMember>;
    std::variant<std::nullptr_t, bool, std::int64_t, double, std::string, std::vector<Json>, Members> value_;
};

struct JsonMember {
    std::string key;
    Json value;
};

/// The shortest text that reads back as the same double; empty when it is not finite.
std::string exact(double value);

/// Appends `text` as a JSON string, whatever its bytes are.
void append_json_string(std::string& out, std::string_view text);

} // namespace headroom::document
