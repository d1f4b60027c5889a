#include "headroom/training/validation_answer.hpp"

namespace headroom::training {

bool predicted(ErrorSummary const& summary) { return summary.rows > summary.skipped; }

bool counted(ErrorSummary const& summary) { return predicted(summary) || summary.median_absolute_error > 0.0; }

double share_predicted(ErrorSummary const& summary) {
    return static_cast<double>(summary.predicted_of_stating_enough) / summary.states_enough;
}

std::vector<ComparedRun> compared_runs(ValidationAnswer const& answer) {
    std::vector<ComparedRun> runs;
    for (std::size_t i = 0; i < answer.validation.rows.size(); ++i) {
        runs.push_back({&answer.validation.rows[i], answer.left_out ? &answer.left_out->rows.at(i) : nullptr});
    }
    return runs;
}

std::vector<OrdinaryFamily> ordinary_families(ValidationAnswer const& answer) {
    std::map<std::string, OrdinaryFamily> found;
    auto const take = [&](std::optional<Validation> const& validation, ErrorSummary OrdinaryFamily::*into) {
        if (!validation) { return; }
        for (ErrorGroup const& group : validation->groups) {
            if (group.by != "source") { continue; }
            OrdinaryFamily& one = found[group.name];
            one.family = group.name, one.*into = group.summary;
        }
    };
    take(answer.ordinary, &OrdinaryFamily::in_sample);
    take(answer.ordinary_left_out, &OrdinaryFamily::left_out);
    take(answer.ordinary_unnamed, &OrdinaryFamily::unnamed);
    std::vector<OrdinaryFamily> families;
    for (auto& [name, one] : found) { families.push_back(std::move(one)); }
    return families;
}

std::vector<BandSummary> bands_of(ValidationAnswer const& answer) {
    if (!answer.left_out) { return {}; }
    std::vector<RunComparison> rows = answer.left_out->rows;
    for (RunComparison& row : rows) {
        if (row.extrapolation == Extrapolation::mixture) { row.extrapolation = Extrapolation::unseen_mixture; }
    }
    if (answer.models_left_out) {
        for (RunComparison row : answer.models_left_out->rows) {
            row.extrapolation = Extrapolation::mixture;
            rows.push_back(row);
        }
    }
    return summarise_bands(rows);
}

std::vector<PaceWithoutSource> pace_without_each(ValidationAnswer const& answer, std::string const& framework) {
    std::map<std::string, std::optional<double>> found;
    for (RunComparison const& row : answer.validation.rows) {
        if (!row.run->question || row.run->question->framework.name != framework) { continue; }
        auto const fold = answer.pace_without.find(row.run->source);
        if (fold == answer.pace_without.end()) { continue; }
        auto const pace = fold->second.find(framework);
        found[row.run->source] = pace == fold->second.end() ? std::nullopt : std::optional{pace->second.factor};
    }
    std::vector<PaceWithoutSource> paces;
    for (auto const& [source, factor] : found) { paces.push_back({source, factor}); }
    return paces;
}

} // namespace headroom::training
