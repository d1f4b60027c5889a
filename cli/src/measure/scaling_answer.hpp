#pragma once

#include "laws/laws_fit_report.hpp"
#include "measure/scaling_question.hpp"
#include "measure/scaling_runs.hpp"
#include "output.hpp"

#include "headroom/sample_statistics.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headroom::cli {

/// What the runs at one worker count say.
struct ScalingRow {
    int workers = 1;
    std::string command = {}; ///< as it was run
    std::optional<std::string> size = {};
    std::size_t planned = 0, taken = 0; ///< runs, warm-ups apart
    std::size_t warm_ups = 0, failed = 0, timed_out = 0, unreadable = 0;
    std::string first_message = {};                            ///< of the first of those three
    std::vector<double> values = {};                           ///< in the order in which they were taken
    std::optional<SampleSummary> summary = {};                 ///< of them
    std::optional<double> speedup = {}, efficiency = {};       ///< over the smallest count that has a value
    std::optional<double> speedup_low = {}, speedup_high = {}; ///< 95 %; where both have four values or more
};

/// Something that makes the numbers less than they look.
struct ScalingWarning {
    std::string kind, text;
};

/// A campaign and what came out of it.
struct ScalingAnswer {
    ScalingQuestion question;
    measure::Campaign campaign;
    std::string store = {}; ///< where it is kept; empty: nowhere
    std::size_t resumed = 0;
    RunsNoticed noticed = {};
    bool complete = true;
    std::vector<ScalingRow> rows = {};
    std::vector<ScalingWarning> warnings = {};
    std::optional<FitAnswer> fit = {}; ///< empty: too few counts have a value
    std::string why_no_fit = {};
    std::optional<double> wall_seconds = {};

    [[nodiscard]] std::size_t failures() const;
    [[nodiscard]] std::size_t values() const;
    /// Of the first run that failed, whatever its count.
    [[nodiscard]] std::string first_message() const;
};

/// Every so many of many values, in their order: for what looks at each pair of them.
std::vector<double> thinned(std::vector<double> const& values);

/// The rows of a campaign. Pure.
std::vector<ScalingRow> rows_of(ScalingQuestion const& question, measure::Campaign const& campaign);
/// What to be careful about; `cores` of this machine, `others` where another campaign was measured beside it.
std::vector<ScalingWarning> warnings_of(ScalingAnswer const& answer, int cores, bool others);
/// The laws fitted to what was measured. Errors: InputError{insufficient}.
FitAnswer fit_of(ScalingQuestion const& question, measure::Campaign const& campaign, Arguments const& arguments);

/// Where more workers stop to be worth it, in a sentence.
std::string stop_words(FitAnswer const& fit);

Document document_of(ScalingAnswer const& answer, io::Catalog const& catalog);
Json json_of(ScalingAnswer const& answer, io::Catalog const& catalog);
/// A row a measured run, in the order in which they were taken: what `headroom laws --fit` reads.
Sheet sheet_of(ScalingAnswer const& answer);

// ---- --dry-run ------------------------------------------------------------------------------------------------------

/// What would be run, and how long that takes by what is known already.
struct ScalingPlan {
    ScalingQuestion question;
    std::vector<measure::PlannedRun> left;
    std::size_t there = 0; ///< samples of an unfinished campaign that would go on
    std::optional<double> estimate_seconds = {}, at_most_seconds = {};
    std::string estimated_from = {};
};
ScalingPlan plan_of(ScalingQuestion const& question, Arguments const& arguments);
Document document_of(ScalingPlan const& plan, io::Catalog const& catalog);
Json json_of(ScalingPlan const& plan, io::Catalog const& catalog);
Sheet sheet_of(ScalingPlan const& plan);

} // namespace headroom::cli
