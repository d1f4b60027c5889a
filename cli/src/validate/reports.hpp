#pragma once

#include "gate.hpp"
#include "output.hpp"

#include "headroom/document/document.hpp"
#include "headroom/fit/communication_answer.hpp"
#include "headroom/fit/communication_validation.hpp"
#include "headroom/fit/serving_validation.hpp"
#include "headroom/io/catalog.hpp"
#include "headroom/training/accuracy_measures.hpp"
#include "headroom/training/memory_validation.hpp"
#include "headroom/training/validation.hpp"
#include "headroom/training/validation_answer.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace headroom::cli {

/// Answer of `validate` with what its document names.
template <class Answer> struct Validated {
    io::Catalog const& catalog;
    std::string calibration; ///< empty where none is used
    Answer answer;
};
using ValidationReport = Validated<training::ValidationAnswer>;
using CommunicationReport = Validated<fit::CommunicationAnswer>;
using AgreementReport = Validated<training::AgreementAnswer>;
using MemoryReport = Validated<training::MemoryValidationAnswer>;
using ServedReport = Validated<fit::ServingValidationAnswer>;

Document document_of(ValidationReport const& report);
Document document_of(CommunicationReport const& report);
Document document_of(AgreementReport const& report);
Document document_of(MemoryReport const& report);
Document document_of(ServedReport const& report);

// Numbers that --require may ask about; without values where `answer` is null.
std::vector<Metric> metrics_of(training::ValidationAnswer const* answer);
std::vector<Metric> metrics_of(fit::CommunicationAnswer const* answer);
std::vector<Metric> metrics_of(training::AgreementAnswer const* answer);
std::vector<Metric> metrics_of(training::MemoryValidationAnswer const* answer);
std::vector<Metric> metrics_of(fit::ServingValidationAnswer const* answer);

/// One line on the memory of the runs of a plain `validate`.
Paragraph memory_words(training::Validation const& validation);

/// Number of rows by reason, the most frequent first or by reason; without rows where there is none.
Table reasons_table(char const* title, char const* counted, std::map<std::string, int> const& reasons, bool most_first);

/// Coverage and width of 90 % intervals by how far a run lay from those fitted; no rows without left-out constants.
Table bands_table(training::ValidationAnswer const& answer);

/// Every figure that the step model is held to, with its bar, one a line.
Table measures_table(std::vector<training::AccuracyMeasure> const& measures);

/// Factor of each framework with kernels of its own, and without each source; rows for frameworks of compared runs.
Table pace_table(training::ValidationAnswer const& answer);

/// Suspect rows that each rule of validation/README.md drops, with their number; empty where there is none.
Table dropped_table(training::Validation const& validation);

// Checks of `validate` next to the errors of single rows: the cost of choosing plans by prediction, larger runs given one
// measured run, and whether operations are counted as sources count them.

void add_choice(std::vector<Block>& blocks, training::PlanChoice const& choice, bool left_out);
void add_utilization(std::vector<Block>& blocks, training::UtilizationCheck const& check);
void add_scales(std::vector<Block>& blocks, training::ScaleValidation const& scales);

/// Predicted against measured steps, one point a run that has both; empty with fewer than two. Of very many runs
/// every so many are drawn, and the caption says so.
std::optional<Chart> error_chart(std::vector<training::RunComparison> const& rows);

/// Predicted over measured against size: fitted and unfitted, one point a row. Empty with fewer than two.
std::optional<Chart> ratio_chart(std::vector<fit::CommunicationComparison> const& rows);

} // namespace headroom::cli
