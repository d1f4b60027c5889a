#pragma once

#include "headroom/fields.hpp"
#include "headroom/issue.hpp"
#include "headroom/training/accuracy_measures.hpp"
#include "headroom/training/narrowing.hpp"
#include "headroom/training/plan_choice.hpp"
#include "headroom/training/scale_validation.hpp"
#include "headroom/training/simulation_agreement.hpp"
#include "headroom/training/utilization_check.hpp"
#include "headroom/training/validation.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace headroom::training {

/// Factor of a framework's kernels with one source left out; empty where no other source determines it.
struct PaceWithoutSource {
    std::string source;
    std::optional<double> factor;
};

/// Answer of `headroom validate`: published runs, predicted and compared.
struct ValidationAnswer {
    std::string runs_name;
    Validation validation;
    std::vector<Issue> issues = {};                 ///< of the table
    std::vector<Narrowing> narrows = {};            ///< facts that would narrow the intervals of its runs
    std::optional<Validation> left_out = {};        ///< every source predicted by constants fitted without it
    std::optional<Validation> models_left_out = {}; ///< mixtures, each by constants fitted without its model
    int free_constants = 0;                         ///< that runs were free to move
    bool refitted = false;                          ///< `left_out` was fitted now, not read
    std::map<std::string, Pace> pace = {};          ///< by framework, as fitted to every source
    std::map<std::string, std::map<std::string, Pace>> pace_without = {}; ///< by the source left out
    std::optional<Validation> ordinary = {};          ///< runs of ordinary software, in figures of their own
    std::optional<Validation> ordinary_left_out = {}; ///< each family by constants that never saw it
    std::optional<Validation> ordinary_unnamed = {};  ///< each family left out, with the framework guessed
    PlanChoice choice = {};                     ///< of the left-out comparison where there is one, else of the other
    UtilizationCheck utilization = {};          ///< of the measured steps
    std::optional<ScaleValidation> scales = {}; ///< where constants that never saw a source are known
    bool asked_for_scales = false;              ///< --leave-one-scale
    std::vector<AccuracyMeasure> measures = {}; ///< each with its bar
    bool complete = true;                       ///< false where refitting without each source was interrupted
};
FieldTable const& field_table_of(ValidationAnswer const*);

/// A run with its comparison where its source was left out.
struct ComparedRun {
    RunComparison const* row = nullptr;
    RunComparison const* left_out = nullptr; ///< null where no source was left out
};
FieldTable const& field_table_of(ComparedRun const*);
FieldTable const& field_table_of(ScaledRun const*);
/// Every run, in the order of the table.
std::vector<ComparedRun> compared_runs(ValidationAnswer const& answer);

/// Errors of a family of ordinary software.
struct OrdinaryFamily {
    std::string family;
    ErrorSummary in_sample, left_out, unnamed;
};
FieldTable const& field_table_of(OrdinaryFamily const*);
/// Every family of ordinary software, by name.
std::vector<OrdinaryFamily> ordinary_families(ValidationAnswer const& answer);

/// Coverage of intervals by how far a run lay from those fitted; mixtures once with their model left out, once with their
/// source. Empty where no source was left out.
std::vector<BandSummary> bands_of(ValidationAnswer const& answer);

/// Factors of a framework's kernels without each source whose runs determine it.
std::vector<PaceWithoutSource> pace_without_each(ValidationAnswer const& answer, std::string const& framework);

/// Whether any row was predicted: a mean of none does not exist.
bool predicted(ErrorSummary const& summary);
/// Whether any row counts in the median: predicted, or skipped although it states enough.
bool counted(ErrorSummary const& summary);
/// Share of the rows that state enough that are predicted.
double share_predicted(ErrorSummary const& summary);

/// Answer of `headroom validate --simulation`.
struct AgreementAnswer {
    int asked = 0; ///< plans
    std::uint64_t seed = 0;
    std::vector<AgreementRow> rows = {}; ///< by index; fewer than asked: interrupted
    AgreementTable table = {};
    [[nodiscard]] bool complete() const { return rows.size() == static_cast<std::size_t>(asked); }
};
FieldTable const& field_table_of(AgreementAnswer const*);
FieldTable const& field_table_of(AgreementRow const*);

} // namespace headroom::training
