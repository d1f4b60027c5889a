#include "dispatch.hpp"

#include <algorithm>

namespace headroom::cli {

std::string dispatch_word(Dispatch dispatch) {
    std::string word{name_of(dispatch)};
    std::ranges::replace(word, ' ', '-');
    return word;
}

std::optional<Dispatch> read_dispatch(Arguments const& arguments, std::span<Dispatch const> known) {
    std::vector<std::string> words;
    for (Dispatch const one : known) { words.push_back(dispatch_word(one)); }
    auto const chosen = arguments.choice("--dispatch", words);
    if (!chosen) { return std::nullopt; }
    return *std::ranges::find(known, *chosen, dispatch_word);
}

} // namespace headroom::cli
