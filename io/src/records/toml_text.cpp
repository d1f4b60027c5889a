#include "records/toml_text.hpp"

#include "headroom/error.hpp"

#include <fmt/format.h>

#include <cmath>

namespace headroom::io {

namespace {

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

} // namespace

std::string toml_number(double value) {
    if (!std::isfinite(value)) { throw ContractError{"a number to be written is not finite"}; }
    std::string text = fmt::format("{}", value);
    if (text.find_first_of(".e") == std::string::npos) { text += ".0"; }
    return text;
}

std::string toml_string(std::string_view text) {
    std::string result = "\"";
    for (char const c : text) {
        if (is_control(c)) {
            result += fmt::format("\\u{:04X}", static_cast<unsigned char>(c));
            continue;
        }
        if (c == '"' || c == '\\') { result += '\\'; }
        result += c;
    }
    return result + '"';
}

std::string toml_comment(std::string_view text) {
    std::string line = "#";
    if (!text.empty()) { line += ' '; }
    for (char const c : text) { line += is_control(c) ? ' ' : c; }
    return line + '\n';
}

} // namespace headroom::io
