#pragma once

#include "headroom/fields.hpp"
#include "headroom/training/assume.hpp"
#include "headroom/training/step_roofline.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headroom::training {

// Answer of `headroom roofline`, with its field tables.

/// A training step whose kernels are asked about.
struct RooflineModel {
    Question question;
    CalibrationSet calibration;
    std::vector<Assumption> assumptions;
};

struct RooflineQuestion {
    laws::NamedMachine machine;
    laws::NumberFormat format = laws::NumberFormat::bf16;
    laws::Conditions conditions;
    std::vector<laws::Kernel> kernels; ///< given, or counted by name
    std::vector<double> counts;        ///< runs of each
    std::optional<RooflineModel> model;
    std::optional<laws::NamedMachine> against; ///< with a cluster, where there is a model
};

/// A kernel under the roof, and under that of the other machine.
struct RooflineRow {
    StepKernel of; ///< of a kernel that is not of a step only `kernel` and `count` are filled
    bool in_step = false;
    laws::Attained at;
    std::vector<laws::Gain> gains; ///< the largest first
    double share = 0.0;            ///< of the time of all rows: predicted where there is a prediction, else attainable
    std::optional<laws::Attained> other;
    std::optional<Seconds> other_predicted;
    std::string bound_by; ///< "bf16 peak", or the name of a memory level
    std::string advice;   ///< in a sentence or two, by the face
    [[nodiscard]] Seconds seconds() const { return in_step ? of.predicted : at.time; }
};

/// Times of all kernels.
struct RooflineTotals {
    Seconds attainable, predicted; ///< predicted is zero without a model
};

/// One lever pulled for every kernel that it applies to.
struct RooflineLever {
    laws::GainBy by = laws::GainBy::memory;
    Seconds attainable = {}; ///< of all kernels then
    Seconds seconds = {};    ///< predicted time of all kernels then, where there is a prediction
};

/// Caveats of an answer.
enum class RooflineNote {
    nominal_work,              ///< element-wise work has no count of its own
    framework_pace,            ///< predicted times include a factor fitted to the framework
    calibrated_above_measured, ///< the calibrated rate is above the best measured product
    unknown_caches,            ///< only main memory is described
};

struct RooflineAnswer {
    RooflineQuestion question;
    std::string calibration = {}; ///< empty: nothing calibrated
    std::vector<laws::Ceiling> ceilings = {};
    FlopsPerByte ridge = {};
    std::vector<RooflineRow> rows = {};
    RooflineTotals totals = {};
    std::optional<RooflineTotals> other_totals = {};
    std::optional<StepKernels> step = {};
    std::vector<GroupTime> groups = {};
    std::vector<RooflineLever> levers = {};
    std::vector<RooflineNote> caveats = {};

    // words, by the face
    std::string verdict = {};
    std::vector<std::string> comparison = {};
    std::vector<std::string> notes = {};

    [[nodiscard]] laws::Processor const& processor() const { return question.machine.processor; }
    /// Speed of the other machine over this one, by the roof; empty without one or without kernels.
    [[nodiscard]] std::optional<double> speedup_there() const;
    /// Predicted speed of the other machine over this one; empty without a model.
    [[nodiscard]] std::optional<double> predicted_speedup_there() const;
};

/// Refuses a format without a rate. `where` is the option or place that asks for it.
/// Errors: InputError{usage}.
void require_format(laws::Processor const& processor, laws::NumberFormat format, std::string const& where);

/// Places every kernel. `constants` are those of the catalog or of the user.
/// Errors: InputError{usage} for formats without a rate, and for memory levels that the other machine does not have.
RooflineAnswer answer_of(RooflineQuestion question, CalibrationSet const& constants);

/// Element of an answer with the answer: a kernel, a ceiling.
template <class T> struct RooflinePart {
    RooflineAnswer const* answer;
    T const* of;
};
std::vector<RooflinePart<RooflineRow>> kernel_parts(RooflineAnswer const& answer);
std::vector<RooflinePart<laws::Ceiling>> ceiling_parts(RooflineAnswer const& answer);

FieldTable const& field_table_of(RooflineAnswer const*);
FieldTable const& field_table_of(RooflinePart<RooflineRow> const*);
FieldTable const& field_table_of(RooflinePart<laws::Ceiling> const*);
FieldTable const& field_table_of(GroupTime const*);

} // namespace headroom::training

namespace headroom::laws {

FieldTable const& field_table_of(NamedMachine const*);
FieldTable const& field_table_of(MemoryLevel const*);
FieldTable const& field_table_of(Gain const*);

} // namespace headroom::laws
