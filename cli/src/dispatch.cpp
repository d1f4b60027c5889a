#include "dispatch.hpp"

#include <algorithm>

namespace headroom::cli {

using namespace headroom::serving;

std::optional<Dispatch> read_dispatch(Arguments const& arguments, std::span<Dispatch const> known) {
    std::vector<std::string> words;
    for (Dispatch const one : known) { words.emplace_back(name_of(one)); }
    auto const chosen = arguments.choice("--dispatch", words);
    if (!chosen) { return std::nullopt; }
    return *std::ranges::find(known, *chosen, [](Dispatch one) { return name_of(one); });
}

} // namespace headroom::cli
