#include "headroom/error.hpp"
#include "headroom/training/step_roofline_answer.hpp"

#include <algorithm>
#include <functional>

namespace headroom::training {

using namespace headroom::laws;

namespace {

/// The precision of the step model that a format stands for; none for fp64.
std::optional<Precision> precision_of(NumberFormat format) {
    switch (format) {
    case NumberFormat::fp64: return std::nullopt;
    case NumberFormat::fp32: return Precision::fp32;
    case NumberFormat::tf32: return Precision::tf32;
    case NumberFormat::bf16: return Precision::bf16;
    case NumberFormat::fp16: return Precision::fp16;
    case NumberFormat::fp8: return Precision::fp8;
    case NumberFormat::fp4: return Precision::nvfp4;
    }
    return std::nullopt;
}

/// Ceilings of the generation, for a processor that has one. Only the sustained rates are read, which no software moves.
void add_calibrated(RooflineAnswer& answer, CalibrationSet const& constants) {
    auto const& chip = answer.processor().accelerator;
    auto const precision = precision_of(answer.question.format);
    if (!chip || !precision) { return; }
    auto const rates = kernel_rates(*chip, *precision, Framework{}, constants.values());
    for (auto& ceiling : calibrated_ceilings(answer.processor(), answer.question.format, rates.gemm, rates.memory)) {
        answer.ceilings.push_back(std::move(ceiling));
    }
    answer.calibration = constants.name;
}

/// The kernel as it meets the levels of the other processor, which are found by name.
Kernel on_levels_of(Kernel kernel, Processor const& here, Processor const& there) {
    for (auto& traffic : kernel.nearer) {
        std::string const& name = here.levels.at(traffic.level).name;
        auto const found = std::ranges::find_if(
            there.levels, [&](MemoryLevel const& level) { return normalised(level.name) == normalised(name); });
        if (found == there.levels.end() || found == there.levels.begin()) {
            throw InputError{Fault::usage,
                             {.where = "--against",
                              .problem = "no bandwidth of " + quoted(name) + " is known of " + there.name,
                              .why = kernel.name + " gives its bytes",
                              .hint = "leave them out, or describe the machine in a file"}};
        }
        traffic.level = static_cast<std::size_t>(found - there.levels.begin());
    }
    return kernel;
}

void add_kernels(RooflineAnswer& answer) {
    auto const& question = answer.question;
    for (std::size_t i = 0; i < question.kernels.size(); ++i) {
        RooflineRow row;
        row.of.kernel = question.kernels[i];
        row.of.name = row.of.kernel.name;
        row.of.count = question.counts[i];
        row.at = attained(row.of.kernel, answer.processor());
        row.gains = gains_of(row.of.kernel, answer.processor());
        if (question.against) {
            Processor const& there = question.against->processor;
            require_format(there, row.of.kernel.format, "--against");
            row.other = attained(on_levels_of(row.of.kernel, answer.processor(), there), there);
        }
        answer.rows.push_back(std::move(row));
    }
}

/// Places the kernels of the step; the other machine runs the same operations in the same order.
void add_step(RooflineAnswer& answer) {
    auto const& model = *answer.question.model;
    answer.step = step_kernels(model.question, model.calibration);
    answer.groups = group_times(*answer.step);
    std::optional<StepKernels> other;
    if (answer.question.against) {
        Question question = model.question;
        question.cluster = *answer.question.against->cluster;
        other = step_kernels(question, model.calibration);
        answer.other_totals = {other->attainable(), other->predicted()};
    }
    for (std::size_t i = 0; i < answer.step->kernels.size(); ++i) {
        RooflineRow row;
        row.of = answer.step->kernels[i];
        row.in_step = true;
        row.at = attained(row.of.kernel, answer.step->processor);
        row.gains = gains_of(row.of, answer.step->processor);
        if (other && i < other->kernels.size()) {
            row.other = attained(other->kernels[i].kernel, other->processor);
            row.other_predicted = other->kernels[i].predicted;
        }
        answer.rows.push_back(std::move(row));
    }
}

std::string binding_name(RooflineRow const& row, Processor const& processor) {
    return row.at.level ? processor.levels.at(*row.at.level).name
                        : std::string{name_of(row.of.kernel.format)} + " peak";
}

void add_totals(RooflineAnswer& answer) {
    Seconds all;
    for (RooflineRow const& row : answer.rows) {
        answer.totals.attainable += row.at.time * row.of.count;
        answer.totals.predicted += row.of.predicted * row.of.count;
        all += row.seconds() * row.of.count;
    }
    for (RooflineRow& row : answer.rows) {
        row.bound_by = binding_name(row, answer.processor());
        row.share = all.base() > 0.0 ? row.seconds() * row.of.count / all : 0.0;
        std::ranges::stable_sort(row.gains, std::greater<>{}, &Gain::speedup);
    }
    if (!answer.question.against || answer.step || answer.rows.empty()) { return; }
    answer.other_totals.emplace();
    for (RooflineRow const& row : answer.rows) { answer.other_totals->attainable += row.other->time * row.of.count; }
}

/// Time of all kernels with every change applied wherever it applies.
void add_levers(RooflineAnswer& answer) {
    for (GainBy const by : {GainBy::memory, GainBy::peak, GainBy::precision, GainBy::batch, GainBy::fusion}) {
        RooflineLever lever{.by = by};
        bool applies = false;
        for (RooflineRow const& row : answer.rows) {
            auto const gain = std::ranges::find(row.gains, by, &Gain::by);
            applies = applies || gain != row.gains.end();
            double const speedup = gain == row.gains.end() ? 1.0 : std::max(1.0, gain->speedup);
            lever.attainable += row.at.time * row.of.count / speedup;
            lever.seconds += row.seconds() * row.of.count / speedup;
        }
        if (applies) { answer.levers.push_back(lever); }
    }
}

bool calibrated_above_measured(RooflineAnswer const& answer) {
    FlopsPerSecond const measured = answer.processor().measured[answer.question.format];
    return measured.base() > 0.0 && std::ranges::any_of(answer.ceilings, [&](Ceiling const& one) {
               return one.kind == CeilingKind::calibrated && one.format && one.rate > measured;
           });
}

void add_caveats(RooflineAnswer& answer) {
    auto const add = [&](bool holds, RooflineNote note) {
        if (holds) { answer.caveats.push_back(note); }
    };
    add(std::ranges::any_of(answer.rows, [](RooflineRow const& row) { return row.of.kernel.nominal; }),
        RooflineNote::nominal_work);
    add(answer.step && answer.step->prediction.pace != 1.0, RooflineNote::framework_pace);
    add(calibrated_above_measured(answer), RooflineNote::calibrated_above_measured);
    add(answer.processor().levels.size() == 1, RooflineNote::unknown_caches);
}

} // namespace

std::optional<double> RooflineAnswer::speedup_there() const {
    bool const any = other_totals && totals.attainable.base() > 0.0;
    return any ? std::optional{totals.attainable / other_totals->attainable} : std::nullopt;
}

std::optional<double> RooflineAnswer::predicted_speedup_there() const {
    return step && speedup_there() ? std::optional{totals.predicted / other_totals->predicted} : std::nullopt;
}

void require_format(Processor const& processor, NumberFormat format, std::string const& where) {
    if (processor.peak[format].base() > 0.0) { return; }
    std::string known;
    for (NumberFormat const one : number_formats) {
        if (processor.peak[one].base() <= 0.0) { continue; }
        known += (known.empty() ? "" : ", ") + std::string{name_of(one)};
    }
    throw InputError{Fault::usage,
                     {.where = where,
                      .problem = "no rate of " + std::string{name_of(format)} + " is known of " + processor.name,
                      .why = "rates are known of " + known,
                      .hint = "choose one of these with --precision, or state its rate in a file (--machine FILE)"}};
}

RooflineAnswer answer_of(RooflineQuestion question, CalibrationSet const& constants) {
    RooflineAnswer answer{.question = std::move(question)};
    Processor const& processor = answer.processor();
    require_format(processor, answer.question.format, "--precision");
    answer.ceilings = ceilings_of(processor, answer.question.format, answer.question.conditions);
    answer.ridge = ridge_point(processor.peak[answer.question.format], processor.memory().bandwidth);
    add_calibrated(answer, constants);
    if (answer.question.model) {
        add_step(answer);
    } else {
        add_kernels(answer);
    }
    add_totals(answer);
    add_levers(answer);
    add_caveats(answer);
    return answer;
}

} // namespace headroom::training
