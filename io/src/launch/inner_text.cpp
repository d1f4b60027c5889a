#include "launch/inner_text.hpp"

#include "launch/shell_conditions.hpp"

#include <cstddef>
#include <string_view>

namespace headroom::io::launch {

InnerText inner_text(std::vector<Word> const& words) {
    InnerText found;
    std::string_view const first = words.front().text;
    if (is_one_of(first, {"ssh", "pdsh", "clush", "sky"})) {
        bool const has = words.size() > 1 && words.back().text.find(' ') != std::string::npos;
        if (has) { found.text = words.back().text; }
        return found;
    }
    if (first == "eval") {
        for (std::size_t i = 1; i < words.size(); ++i) { found.text += words[i].text + ' '; }
        return found;
    }
    for (std::size_t at = 1; at < words.size(); ++at) {
        std::string_view const before = words[at - 1].text, word = words[at].text;
        bool const shell = before == "bash" || before == "sh" || before.ends_with("/bash") || before.ends_with("/sh");
        bool const wraps = before == "--wrap" || word.starts_with("--wrap=");
        bool const commands = shell && word.starts_with('-') && !word.starts_with("--") && word.ends_with('c');
        if (commands && at + 1 < words.size()) { found.text = words[at + 1].text; }
        if (wraps) { found.text = before == "--wrap" ? word : word.substr(7); }
        if (found.text.empty()) { continue; }
        found.launcher = {words.begin(), words.begin() + static_cast<std::ptrdiff_t>(at - 1)};
        break;
    }
    return found;
}

} // namespace headroom::io::launch
