#pragma once

#include "output.hpp"

#include "headroom/assume.hpp"
#include "headroom/io/processor.hpp"
#include "headroom/step_roofline.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headroom::cli {

/// A training step whose kernels are asked about.
struct RooflineModel {
    Question question;
    CalibrationSet calibration;
    std::vector<Assumption> assumptions;
};

/// What the verb was asked.
struct RooflineQuestion {
    io::Machine machine;
    NumberFormat format = NumberFormat::bf16;
    Conditions conditions;
    std::vector<Kernel> kernels; ///< given, or counted by name
    std::vector<double> counts;  ///< runs of each
    std::optional<RooflineModel> model;
    std::optional<io::Machine> against;
};

/// A kernel under the roof, and under that of the other machine.
struct RooflineRow {
    StepKernel of; ///< of a kernel that is not of a step only `kernel` and `count` are filled
    bool in_step = false;
    Attained at;
    std::vector<Gain> gains; ///< the largest first
    double share = 0.0;      ///< of the time of all rows: predicted where there is a prediction, else attainable
    std::optional<Attained> other;
    std::optional<Seconds> other_predicted;
    [[nodiscard]] Seconds seconds() const { return in_step ? of.predicted : at.time; }
};

/// Both machines on all that was asked.
struct RooflineTotals {
    Seconds attainable, predicted; ///< predicted is zero without a model
};

/// One lever pulled for every kernel that it applies to.
struct RooflineLever {
    GainBy by = GainBy::memory;
    Seconds attainable = Seconds{}; ///< of all kernels then
    Seconds seconds = Seconds{};    ///< the same of what is predicted, where there is a prediction
};

struct RooflineReport {
    io::Catalog const& catalog;
    RooflineQuestion question;
    std::string calibration; ///< empty: nothing calibrated
    std::vector<Ceiling> ceilings;
    FlopsPerByte ridge;
    std::vector<RooflineRow> rows;
    RooflineTotals totals;
    std::optional<RooflineTotals> other_totals;
    std::optional<StepKernels> step;
    std::vector<GroupTime> groups;
    std::vector<RooflineLever> levers;
    std::vector<std::string> notes;
    std::optional<double> wall_seconds;
    [[nodiscard]] Processor const& processor() const { return question.machine.processor; }
    /// Of all kernels: predicted where there is a prediction, else attainable.
    [[nodiscard]] Seconds seconds() const { return step ? totals.predicted : totals.attainable; }
};

/// Places every kernel. `constants` are those of the catalog or of --calibration.
RooflineReport answer_of(RooflineQuestion question, io::Catalog const& catalog, CalibrationSet const& constants);

/// Refuses a format without a rate. `where` is the option or place that asks for it.
void require_format(Processor const& processor, NumberFormat format, std::string const& where);

// ---- words --------------------------------------------------------------------------------------------------------

/// "0.25 FLOP/B", "none" without traffic.
std::string intensity_words(FlopsPerByte intensity);
/// What binds a kernel: "bf16 peak", or the name of a level.
std::string binding_name(RooflineRow const& row, Processor const& processor);
/// What would move a kernel and by how much, in a sentence or two.
std::string advice_for(RooflineRow const& row, RooflineReport const& report);
std::string roofline_verdict(RooflineReport const& report);
/// When the other machine helps and when more of the same would do; empty without one.
std::vector<std::string> comparison_words(RooflineReport const& report);
Chart chart_of(RooflineReport const& report);
/// A letter for each of the first kernels: their names in the chart. Rows beyond have none.
std::string mark_of(std::size_t index);
/// Rows with the largest share of the time first, at most `most`.
std::vector<std::size_t> rows_by_time(RooflineReport const& report, std::size_t most);

Document document_of(RooflineReport const& report);
Json json_of(RooflineReport const& report);
Sheet sheet_of(RooflineReport const& report);

} // namespace headroom::cli
