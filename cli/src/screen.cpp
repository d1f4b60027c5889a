#include "screen.hpp"

#include "headroom/document/text.hpp"
#include "headroom/error.hpp"

#include <algorithm>
#include <array>

namespace headroom::cli {
namespace {

constexpr std::array options{
    Option{"--full", "", "print everything: parts, charts, memory, assumptions with their reasons", "Output",
           Takes::nothing},
    Option{"--brief", "", "print one line", "Output", Takes::nothing},
};

} // namespace

std::span<Option const> length_options() { return options; }

Length read_length(Arguments const& arguments, Output const& output) {
    bool const brief = arguments.has("--brief"), full = arguments.has("--full");
    if (brief && full) { refuse("--brief", "given with --full", "one line or all", "keep one of the two"); }
    if (brief) { return Length::brief; }
    return full || output.format == "markdown" ? Length::full : Length::screen;
}

bool fit_to_screen(Document& document, std::size_t table, std::size_t least_rows) {
    auto const lines = [&document] {
        std::string const text = render_text(document, {});
        return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    };
    auto& rows = std::get<Table>(document.blocks[table]);
    while (rows.rows.size() > least_rows && lines() > screen_lines) {
        std::size_t const marked = rows.marked.value_or(rows.rows.size() - 1);
        std::size_t const gone = marked > 1 ? 1 : rows.rows.size() - 2; // far from the chosen one
        if (gone == marked) { break; }
        rows.rows.erase(rows.rows.begin() + static_cast<std::ptrdiff_t>(gone));
        if (rows.marked && gone < marked) { --*rows.marked; }
    }
    return lines() <= screen_lines;
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

} // namespace headroom::cli
