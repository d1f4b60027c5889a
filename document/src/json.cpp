#include "headroom/document/json.hpp"

#include "headroom/text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace headroom::document {
namespace {

void append_code(std::string& out, unsigned code) {
    static constexpr char digits[] = "0123456789abcdef";
    out += "\\u";
    for (unsigned const shift : {12U, 8U, 4U, 0U}) { out += digits[(code >> shift) & 0xFU]; }
}

/// A character as JSON takes it: those that steer a terminal by their code.
void append_escaped(std::string& out, std::string_view character, bool steers) {
    auto const byte = [character](std::size_t i) { return static_cast<unsigned char>(character[i]); };
    switch (character[0]) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\n': out += "\\n"; return;
    case '\t': out += "\\t"; return;
    case '\r': out += "\\r"; return;
    default: break;
    }
    if (!steers) {
        out += character;
    } else if (character.size() == 1) {
        append_code(out, byte(0));
    } else if (character.size() == 2) {
        append_code(out, (byte(0) & 0x1FU) << 6U | (byte(1) & 0x3FU));
    } else {
        append_code(out, (byte(0) & 0xFU) << 12U | (byte(1) & 0x3FU) << 6U | (byte(2) & 0x3FU));
    }
}

} // namespace

void append_json_string(std::string& out, std::string_view text) {
    auto const plain = [](char one) {
        return static_cast<unsigned char>(one) - 0x20U < 0x5FU && one != '"' && one != '\\';
    };
    out += '"';
    while (!text.empty()) {
        auto const run = static_cast<std::size_t>(std::ranges::find_if_not(text, plain) - text.begin());
        out += text.substr(0, run);
        text.remove_prefix(run);
        if (text.empty()) { break; }
        text::Character const one = text::first_character(text);
        if (one.length == 0) {
            out += "\\ufffd";
        } else {
            append_escaped(out, text.substr(0, one.length), one.steers);
        }
        text.remove_prefix(std::max<std::size_t>(one.length, 1));
    }
    out += '"';
}

std::string exact(double value) {
    if (!std::isfinite(value)) { return {}; }
    char buffer[32];
    auto const end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
    return {buffer, end};
}

Json::Json() : value_{nullptr} {}
Json::Json(std::nullptr_t) : value_{nullptr} {}
Json::Json(bool value) : value_{value} {}
Json::Json(double value) : value_{value} {}
Json::Json(Integer value) : value_{value.value} {}
Json::Json(std::string value) : value_{std::move(value)} {}
Json::Json(std::string_view value) : value_{std::string{value}} {}
Json::Json(char const* value) : value_{std::string{value}} {}
// GCC 12's copy of a variant destroys what it has not made where the copy of an alternative throws: the copy is made first.
Json::Json(Json const& other) : value_{nullptr} {
    std::visit([this](auto copy) { value_ = std::move(copy); }, other.value_);
}
Json::Json(Json&&) noexcept = default;
Json& Json::operator=(Json const& other) {
    Json copy{other};
    return *this = std::move(copy);
}
Json& Json::operator=(Json&&) noexcept = default;
Json::~Json() = default;

Json Json::array() {
    Json result;
    result.value_ = std::vector<Json>{};
    return result;
}

Json Json::object() {
    Json result;
    result.value_ = Members{};
    return result;
}

Json& Json::push(Json value) {
    std::get<std::vector<Json>>(value_).push_back(std::move(value));
    return *this;
}

Json& Json::set(std::string_view key, Json value) {
    auto& members = std::get<Members>(value_);
    if (members.empty()) { members.reserve(8); }
    members.push_back({std::string{key}, std::move(value)});
    return *this;
}

bool Json::empty() const {
    auto const* items = std::get_if<std::vector<Json>>(&value_);
    auto const* members = std::get_if<Members>(&value_);
    return std::holds_alternative<std::nullptr_t>(value_) || (items != nullptr && items->empty()) ||
           (members != nullptr && members->empty());
}

bool Json::scalar() const { return value_.index() < 5; }

std::string Json::text() const {
    std::string out;
    write(out, 0);
    out += '\n';
    return out;
}

void Json::write(std::string& out, int depth) const {
    auto const indent = [&out](int levels) {
        out.append(1, '\n').append(std::size_t{2} * static_cast<std::size_t>(levels), ' ');
    };
    if (auto const* flag = std::get_if<bool>(&value_)) {
        out += *flag ? "true" : "false";
    } else if (auto const* whole = std::get_if<std::int64_t>(&value_)) {
        out += std::to_string(*whole);
    } else if (auto const* real = std::get_if<double>(&value_)) {
        out += std::isfinite(*real) ? exact(*real) : "null";
    } else if (auto const* string = std::get_if<std::string>(&value_)) {
        append_json_string(out, *string);
    } else if (auto const* items = std::get_if<std::vector<Json>>(&value_)) {
        bool flat = items->size() <= 4;
        for (Json const& item : *items) { flat = flat && item.scalar() && item.value_.index() != 4; }
        out += '[';
        bool first = true;
        for (Json const& item : *items) {
            if (!first) { out += flat ? ", " : ","; }
            if (!flat) { indent(depth + 1); }
            item.write(out, depth + 1);
            first = false;
        }
        if (!flat) { indent(depth); }
        out += ']';
    } else if (auto const* members = std::get_if<Members>(&value_)) {
        out += '{';
        bool first = true;
        for (JsonMember const& member : *members) {
            if (!first) { out += ','; }
            indent(depth + 1);
            append_json_string(out, member.key);
            out += ": ";
            member.value.write(out, depth + 1);
            first = false;
        }
        if (!members->empty()) { indent(depth); }
        out += '}';
    } else {
        out += "null";
    }
}

} // namespace headroom::document
