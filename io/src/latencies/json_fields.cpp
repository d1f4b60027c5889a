#include "latencies/json_fields.hpp"

#include <algorithm>
#include <utility>

namespace headroom::io {
namespace {

constexpr int deepest = 32;
constexpr std::size_t most_fields = 4096;

} // namespace

void JsonFields::blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r')) { ++at_; }
}

bool JsonFields::take(char c) {
    blanks();
    if (at_ >= text_.size() || text_[at_] != c) { return false; }
    ++at_;
    return true;
}

void JsonFields::keep(ReadField field) {
    if (all_) {
        if (names_.size() >= most_fields) { return; }
        names_.push_back(path_);
        fields_.push_back(field);
        return;
    }
    for (std::size_t i = 0; i < names_.size(); ++i) {
        if (names_[i] == path_) { fields_[i] = field; }
    }
}

bool JsonFields::text_value(std::string_view& inside) {
    std::size_t const begin = at_ + 1;
    std::size_t end = begin;
    while (true) {
        end = text_.find_first_of("\"\\", end);
        if (end == std::string_view::npos) { return false; }
        if (text_[end] == '"') { break; }
        end += 2;
    }
    inside = text_.substr(begin, end - begin);
    at_ = end + 1;
    return true;
}

bool JsonFields::plain_value() {
    std::size_t const begin = at_;
    at_ = std::min(text_.find_first_of(",}] \t\r\n\":{[", at_), text_.size());
    if (at_ == begin) { return false; }
    keep({.value = text_.substr(begin, at_ - begin)});
    return true;
}

bool JsonFields::array(int depth) {
    std::size_t const begin = at_++;
    std::size_t const path = path_.size();
    bool const all = std::exchange(all_, false);
    std::vector<std::string> names = std::exchange(names_, {}); // what is within has no names of its own
    bool good = take(']');
    while (!good) {
        blanks();
        if (!value(depth + 1)) { break; }
        if (take(']')) {
            good = true;
        } else if (!take(',')) {
            break;
        }
    }
    all_ = all;
    names_ = std::move(names);
    path_.resize(path);
    if (good) { keep({.value = text_.substr(begin, at_ - begin), .is_nested = true}); }
    return good;
}

bool JsonFields::value(int depth) {
    if (depth > deepest || at_ >= text_.size()) { return false; }
    if (text_[at_] == '{') { return object(depth); }
    if (text_[at_] == '[') { return array(depth); }
    if (text_[at_] != '"') { return plain_value(); }
    std::string_view inside;
    if (!text_value(inside)) { return false; }
    keep({.value = inside, .is_text = true});
    return true;
}

bool JsonFields::object(int depth) {
    if (!take('{')) { return false; }
    if (take('}')) { return true; }
    std::size_t const path = path_.size();
    while (true) {
        blanks();
        std::string_view name;
        if (at_ >= text_.size() || text_[at_] != '"' || !text_value(name) || !take(':')) { return false; }
        if (path > 0) { path_ += '.'; }
        path_ += name;
        blanks();
        if (!value(depth + 1)) { return false; }
        path_.resize(path);
        if (take('}')) { return true; }
        if (!take(',')) { return false; }
    }
}

bool JsonFields::read_all(std::string_view text) {
    all_ = true;
    names_.clear();
    fields_.clear();
    text_ = text;
    at_ = 0;
    path_.clear();
    bool const good = object(0);
    blanks();
    return good && at_ == text_.size();
}

void JsonFields::want(std::vector<std::string> names) {
    all_ = false;
    names_ = std::move(names);
    fields_.resize(names_.size());
}

bool JsonFields::read_wanted(std::string_view text) {
    std::ranges::fill(fields_, ReadField{});
    text_ = text;
    at_ = 0;
    path_.clear();
    bool const good = object(0);
    blanks();
    return good && at_ == text_.size();
}

} // namespace headroom::io
