#include "screen.hpp"

#include "headroom/document/text.hpp"

#include <algorithm>

namespace headroom::cli {

bool fit_to_screen(Document& document, std::size_t table, std::size_t least_rows, ScreenSize screen) {
    auto const lines = [&document, screen] {
        std::string const text = render_text(document, {.width = screen.width});
        return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    };
    auto& rows = std::get<Table>(document.blocks[table]);
    while (rows.rows.size() > least_rows && lines() > screen.lines) {
        std::size_t const marked = rows.marked.value_or(rows.rows.size() - 1);
        std::size_t const gone = marked > 1 ? 1 : rows.rows.size() - 2; // far from the chosen one
        if (gone == marked) { break; }
        rows.rows.erase(rows.rows.begin() + static_cast<std::ptrdiff_t>(gone));
        if (rows.marked && gone < marked) { --*rows.marked; }
    }
    return lines() <= screen.lines;
}

Paragraph assumed_in_short(std::vector<training::Assumption> const& assumptions) {
    constexpr std::size_t most = 4;
    std::vector<std::string> parts;
    for (training::Assumption const& one : assumptions) {
        if (parts.size() < most) { parts.push_back(one.field + " " + one.value); }
    }
    std::string text = join(parts, ", ");
    if (assumptions.size() > most) { text += " and " + std::to_string(assumptions.size() - most) + " more"; }
    return {text + " (--full has all, with reasons)", "assumed"};
}

Verbatim command_block(std::string const& command, ScreenSize screen) {
    constexpr std::size_t margin = 4; // of the continued line, and its mark
    return {"", join(wrap(command, screen.width - margin), " \\\n  ")};
}

} // namespace headroom::cli
