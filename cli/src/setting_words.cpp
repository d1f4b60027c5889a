#include "setting_words.hpp"

#include "headroom/document/text.hpp"

#include <algorithm>
#include <map>

namespace headroom::cli {

bool fits_screen(Document const& document, ScreenSize screen) {
    std::string const text = render_text(document, {.width = screen.width});
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) <= screen.lines;
}

void leave_out_rows(Table& table, std::size_t most) {
    while (table.rows.size() > most) {
        std::size_t const marked = table.marked.value_or(table.rows.size() - 1);
        std::size_t const gone = marked > 1 ? 1 : table.rows.size() - 2; // far from the chosen one
        if (gone == marked) { break; }
        table.rows.erase(table.rows.begin() + static_cast<std::ptrdiff_t>(gone));
        if (table.marked && gone < marked) { --*table.marked; }
    }
}

bool fit_to_screen(Document& document, std::size_t table, std::size_t least_rows, ScreenSize screen) {
    auto& rows = std::get<Table>(document.blocks[table]);
    while (rows.rows.size() > least_rows && !fits_screen(document, screen)) {
        std::size_t const before = rows.rows.size();
        leave_out_rows(rows, before - 1);
        if (rows.rows.size() == before) { break; }
    }
    return fits_screen(document, screen);
}

Paragraph assumed_in_short(std::vector<training::Assumption> const& assumptions, std::string const& rest,
                           std::size_t most) {
    std::vector<std::string> parts;
    for (training::Assumption const& one : assumptions) {
        if (parts.size() < most) { parts.push_back(one.field + " " + one.value); }
    }
    std::string text = join(parts, ", ");
    if (assumptions.size() > most) { text += " and " + std::to_string(assumptions.size() - most) + " more"; }
    return {text + " (" + rest + ")", "assumed"};
}

Verbatim command_block(std::string const& command, ScreenSize screen) {
    constexpr std::size_t margin = 4; // of the continued line, and its mark
    constexpr char kept = '\x1f';     // in the place of a blank where no line ends
    std::string whole = command;
    for (std::size_t at = whole.find(' '); at != std::string::npos; at = whole.find(' ', at + 1)) {
        bool const precedes_option = whole.compare(at + 1, 2, "--") == 0;
        bool const follows_option = whole.compare(whole.rfind(' ', at - 1) + 1, 2, "--") == 0;
        if (follows_option && !precedes_option) { whole[at] = kept; }
    }
    std::string text = join(wrap(whole, screen.width - margin), " \\\n  ");
    std::ranges::replace(text, kept, ' ');
    return {"", std::move(text)};
}

Table assumptions_table(std::vector<Assumption> const& assumptions) {
    Table table{.title = "Assumed", .columns = {left("what"), wrapped("value"), wrapped("why")}, .part = Part::assumed};
    for (Assumption const& one : assumptions) { table.rows.push_back({one.field, one.value, one.reason}); }
    return table;
}

std::string_view unit_of_work(Model const& model) { return model.works_on_samples() ? "samples" : "tokens"; }

std::string batch_words(Workload const& workload, Model const& model) {
    std::string const batch = std::to_string(workload.global_batch);
    if (model.works_on_samples()) { return batch + (workload.global_batch == 1 ? " sample" : " samples"); }
    return batch + (workload.global_batch == 1 ? " sequence of " : " sequences of ") +
           std::to_string(workload.sequence_length) + (workload.sequence_length == 1 ? " token" : " tokens");
}

std::string unknown_model_words(Model const& model) {
    if (!model.range.open()) { return {}; }
    return "The architecture is not understood: parameters may be off by " + percent(model.range.low - 1.0) + " to +" +
           percent(model.range.high - 1.0) + " %. ";
}

std::string provenance_summary(CalibrationSet const& calibration) {
    std::map<Provenance, int> counts;
    std::vector<std::string> guesses;
    for (ConstantInfo const& info : constants()) {
        Provenance const provenance = calibration.constant[static_cast<std::size_t>(info.id)].provenance;
        ++counts[provenance];
        if (provenance == Provenance::guessed) { guesses.emplace_back(info.key); }
    }
    std::vector<std::string> parts;
    parts.reserve(counts.size());
    for (auto const& [provenance, count] : counts) {
        parts.push_back(std::to_string(count) + " " + std::string{name_of(provenance)});
    }
    std::string text = join(parts, ", ");
    if (guesses.empty()) { return text; }
    std::size_t const shown = std::min<std::size_t>(guesses.size(), 4);
    text += "; guessed: " + join({guesses.begin(), guesses.begin() + static_cast<std::ptrdiff_t>(shown)}, ", ");
    return text + (shown < guesses.size()
                       ? " and " + std::to_string(guesses.size() - shown) + " more (all with values in --format json)"
                       : "");
}

} // namespace headroom::cli
