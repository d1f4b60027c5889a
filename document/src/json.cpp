#include "headroom/document/json.hpp"

#include <charconv>
#include <cmath>

namespace headroom::document {
namespace {

/// Length of the valid UTF-8 sequence that starts at `at`; 0 when there is none.
std::size_t sequence_length(std::string_view text, std::size_t at) {
    auto const lead = static_cast<unsigned char>(text[at]);
    std::size_t const length = lead < 0x80   ? 1
                               : lead < 0xC2 ? 0
                               : lead < 0xE0 ? 2
                               : lead < 0xF0 ? 3
                               : lead < 0xF5 ? 4
                                             : 0;
    if (length == 0 || at + length > text.size()) { return 0; }
    for (std::size_t i = 1; i < length; ++i) {
        if ((static_cast<unsigned char>(text[at + i]) & 0xC0) != 0x80) { return 0; }
    }
    if (length > 2) {
        auto const second = static_cast<unsigned char>(text[at + 1]);
        bool const overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
        bool const outside = (lead == 0xED && second >= 0xA0) || (lead == 0xF4 && second >= 0x90);
        if (overlong || outside) { return 0; }
    }
    return length;
}

void write_escaped(std::string& out, char c) {
    static constexpr char digits[] = "0123456789abcdef";
    switch (c) {
    case '"': out += "\\\""; break;
    case '\\': out += "\\\\"; break;
    case '\n': out += "\\n"; break;
    case '\t': out += "\\t"; break;
    case '\r': out += "\\r"; break;
    default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
            out += "\\u00";
            out += digits[static_cast<unsigned char>(c) >> 4U];
            out += digits[static_cast<unsigned char>(c) & 0xFU];
        } else {
            out += c;
        }
    }
}

} // namespace

void append_json_string(std::string& out, std::string_view text) {
    out += '"';
    for (std::size_t at = 0; at < text.size();) {
        std::size_t const length = sequence_length(text, at);
        if (length == 0) {
            out += "\\ufffd";
            ++at;
        } else if (length == 1) {
            write_escaped(out, text[at]);
            ++at;
        } else {
            out += text.substr(at, length);
            at += length;
        }
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
Json::Json(Json const&) = default;
Json::Json(Json&&) noexcept = default;
Json& Json::operator=(Json const&) = default;
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
    std::get<Members>(value_).push_back({std::string{key}, std::move(value)});
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
