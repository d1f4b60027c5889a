#include "headroom/training/framework.hpp"

#include <algorithm>
#include <charconv>

namespace headroom::training {

std::string_view software_of(std::string_view release) { return release.substr(0, release.find(' ')); }

std::optional<Release> release_of(std::string_view text, std::string_view software) {
    auto const at = text.find(software);
    if (software.empty() || at == std::string_view::npos) { return std::nullopt; }
    char const* from = text.data() + std::min(text.size(), at + software.size() + 1);
    char const* const end = text.data() + text.size();
    Release release;
    auto const [behind, failed] = std::from_chars(from, end, release.major);
    if (failed != std::errc{}) { return std::nullopt; }
    if (behind != end && *behind == '.') { std::from_chars(behind + 1, end, release.minor); }
    return release;
}

Framework as_of(Framework framework, std::string_view release) {
    for (OlderFacts const& older : framework.older) {
        auto const software = software_of(older.before);
        auto const before = release_of(older.before, software), ran = release_of(release, software);
        if (!before || !ran || *ran >= *before) { continue; }
        framework.update_copies = older.update_copies.value_or(framework.update_copies);
        framework.activation_copies = older.activation_copies.value_or(framework.activation_copies);
    }
    return framework;
}

} // namespace headroom::training
