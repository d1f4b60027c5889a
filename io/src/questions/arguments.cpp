#include "headroom/io/arguments.hpp"

#include "headroom/error.hpp"
#include "headroom/text.hpp"

namespace headroom::io {

std::optional<std::string> Arguments::text(std::string const& name) const {
    auto const found = values_.find(name);
    if (found == values_.end()) { return std::nullopt; }
    return found->second.empty() ? std::string{} : found->second.front();
}

std::vector<std::string> Arguments::all(std::string const& name) const {
    auto const found = values_.find(name);
    return found == values_.end() ? std::vector<std::string>{} : found->second;
}

std::string Arguments::required(std::string const& name, std::string_view hint) const {
    if (auto given = text(name); given && !given->empty()) { return *std::move(given); }
    refuse(name, "missing", "", std::string{hint});
}

void Arguments::require_all(std::vector<std::pair<std::string, std::string>> const& options) const {
    std::vector<std::string> absent;
    for (auto const& [name, example] : options) {
        if (text(name).value_or("").empty()) { absent.push_back(name + " (" + example + ")"); }
    }
    if (absent.size() < 2) { return; } // whoever reads that one says more
    std::string const last = absent.back();
    absent.pop_back();
    refuse("command line", text::join(absent, ", ") + " and " + last + " are missing");
}

std::optional<int> Arguments::count(std::string const& name) const {
    if (auto const given = text(name)) { return parse_whole(*given, name); }
    return std::nullopt;
}

std::optional<std::string> Arguments::choice(std::string const& name, std::vector<std::string> const& choices) const {
    if (auto const given = text(name)) { return parse_choice(*given, choices, name); }
    return std::nullopt;
}

} // namespace headroom::io
