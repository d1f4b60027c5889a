#include "document/text.hpp"
#include "roofline/roofline_report.hpp"

#include "headroom/error.hpp"

#include <algorithm>

namespace headroom::cli {
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
void add_calibrated(RooflineReport& report, CalibrationSet const& constants) {
    auto const& chip = report.processor().accelerator;
    auto const precision = precision_of(report.question.format);
    if (!chip || !precision) { return; }
    auto const rates = kernel_rates(*chip, *precision, Framework{}, constants.values());
    for (auto& ceiling : calibrated_ceilings(report.processor(), report.question.format, rates)) {
        report.ceilings.push_back(std::move(ceiling));
    }
    report.calibration = constants.name;
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
                              .problem = "no bandwidth of " + headroom::quoted(name) + " is known of " + there.name,
                              .why = kernel.name + " gives its bytes",
                              .hint = "leave them out, or describe the machine in a file"}};
        }
        traffic.level = static_cast<std::size_t>(found - there.levels.begin());
    }
    return kernel;
}

void add_kernels(RooflineReport& report) {
    auto const& question = report.question;
    for (std::size_t i = 0; i < question.kernels.size(); ++i) {
        RooflineRow row;
        row.of.kernel = question.kernels[i];
        row.of.name = row.of.kernel.name;
        row.of.count = question.counts[i];
        row.at = attained(row.of.kernel, report.processor());
        row.gains = gains_of(row.of.kernel, report.processor());
        if (question.against) {
            Processor const& there = question.against->processor;
            require_format(there, row.of.kernel.format, "--against");
            row.other = attained(on_levels_of(row.of.kernel, report.processor(), there), there);
        }
        report.rows.push_back(std::move(row));
    }
}

/// The same step on the other machine: the same operations in the same order.
void add_step(RooflineReport& report) {
    auto const& model = *report.question.model;
    report.step = step_kernels(model.question, model.calibration);
    report.groups = group_times(*report.step);
    std::optional<StepKernels> other;
    if (report.question.against) {
        Question question = model.question;
        question.cluster = *report.question.against->cluster;
        other = step_kernels(question, model.calibration);
        report.other_totals = {other->attainable(), other->predicted()};
    }
    for (std::size_t i = 0; i < report.step->kernels.size(); ++i) {
        RooflineRow row;
        row.of = report.step->kernels[i];
        row.in_step = true;
        row.at = attained(row.of.kernel, report.step->processor);
        row.gains = gains_of(row.of, report.step->processor);
        if (other && i < other->kernels.size()) {
            row.other = attained(other->kernels[i].kernel, other->processor);
            row.other_predicted = other->kernels[i].predicted;
        }
        report.rows.push_back(std::move(row));
    }
}

void add_totals(RooflineReport& report) {
    Seconds all;
    for (RooflineRow const& row : report.rows) {
        report.totals.attainable += row.at.time * row.of.count;
        report.totals.predicted += row.of.predicted * row.of.count;
        all += row.seconds() * row.of.count;
    }
    for (RooflineRow& row : report.rows) {
        row.share = all.base() > 0.0 ? row.seconds() * row.of.count / all : 0.0;
        std::ranges::stable_sort(row.gains, std::greater<>{}, &Gain::speedup);
    }
    if (!report.question.against || report.step) { return; }
    report.other_totals.emplace();
    for (RooflineRow const& row : report.rows) { report.other_totals->attainable += row.other->time * row.of.count; }
}

/// Every lever pulled wherever it applies: what all kernels take then.
void add_levers(RooflineReport& report) {
    for (GainBy const by : {GainBy::memory, GainBy::peak, GainBy::precision, GainBy::batch, GainBy::fusion}) {
        RooflineLever lever{.by = by};
        bool applies = false;
        for (RooflineRow const& row : report.rows) {
            auto const gain = std::ranges::find(row.gains, by, &Gain::by);
            applies = applies || gain != row.gains.end();
            double const speedup = gain == row.gains.end() ? 1.0 : std::max(1.0, gain->speedup);
            lever.attainable += row.at.time * row.of.count / speedup;
            lever.seconds += row.seconds() * row.of.count / speedup;
        }
        if (applies) { report.levers.push_back(lever); }
    }
}

bool calibrated_above_measured(RooflineReport const& report) {
    FlopsPerSecond const measured = report.processor().measured[report.question.format];
    return measured.base() > 0.0 && std::ranges::any_of(report.ceilings, [&](Ceiling const& one) {
               return one.kind == CeilingKind::calibrated && one.format && one.rate > measured;
           });
}

void add_notes(RooflineReport& report) {
    bool const nominal = std::ranges::any_of(report.rows, [](RooflineRow const& row) { return row.of.kernel.nominal; });
    if (nominal) {
        report.notes.emplace_back("element-wise work and the optimizer stand for one operation an element that they "
                                  "read or write; their time is that of their bytes");
    }
    if (report.step && report.step->prediction.pace != 1.0) {
        report.notes.emplace_back("predicted computation is x" + significant(report.step->prediction.pace) +
                                  ": the factor fitted to this stack, whose kernels fuse what is counted apart here; "
                                  "below the roof is possible");
    }
    if (calibrated_above_measured(report)) {
        report.notes.emplace_back("the calibrated rate, which chips of several kinds share, is above the best measured "
                                  "product of this one: trust the measured one");
    }
    if (report.processor().levels.size() == 1) {
        report.notes.emplace_back("bandwidths of caches are not known of this machine: a machine file may state them");
    }
}

} // namespace

void require_format(Processor const& processor, NumberFormat format, std::string const& where) {
    if (processor.peak[format].base() > 0.0) { return; }
    std::vector<std::string> known;
    for (NumberFormat const one : number_formats) {
        if (processor.peak[one].base() > 0.0) { known.emplace_back(name_of(one)); }
    }
    throw InputError{Fault::usage,
                     {.where = where,
                      .problem = processor.name + " has no " + std::string{name_of(format)} + " arithmetic",
                      .why = "rates are known for " + join(known, ", "),
                      .hint = "choose one of these with --precision"}};
}

RooflineReport answer_of(RooflineQuestion question, io::Catalog const& catalog, CalibrationSet const& constants) {
    RooflineReport report{catalog, std::move(question), {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
    Processor const& processor = report.processor();
    require_format(processor, report.question.format, "--precision");
    report.ceilings = ceilings_of(processor, report.question.format, report.question.conditions);
    report.ridge = ridge_point(processor.peak[report.question.format], processor.memory().bandwidth);
    add_calibrated(report, constants);
    if (report.question.model) {
        add_step(report);
    } else {
        add_kernels(report);
    }
    add_totals(report);
    add_levers(report);
    add_notes(report);
    return report;
}

} // namespace headroom::cli
