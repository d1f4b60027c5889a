#include "setting_parts.hpp"

#include "headroom/document/text.hpp"

#include <algorithm>
#include <map>

namespace headroom::cli {

using namespace headroom::training;

Table assumptions_table(std::vector<Assumption> const& assumptions) {
    Table table{.title = "Assumed", .columns = {left("what"), wrapped("value"), wrapped("why")}, .part = Part::assumed};
    for (Assumption const& one : assumptions) { table.rows.push_back({one.field, one.value, one.reason}); }
    return table;
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
