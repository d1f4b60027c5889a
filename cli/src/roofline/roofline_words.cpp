#include "roofline/roofline_report.hpp"
#include "setting_words.hpp"

#include "headroom/document/text.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace headroom::cli {
namespace {

constexpr double noticeable = 1.01; ///< gains below are none

std::string times_words(double factor) { return format_count(factor) + "x"; }

/// A count of rows; far beyond any batch, its size.
std::string rows_words(double rows) { return rows < 1e12 ? whole(std::ceil(rows)) : significant(rows); }

/// The first letter large: a sentence.
std::string sentence(std::string text) {
    if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') { text[0] = static_cast<char>(text[0] - 'a' + 'A'); }
    return text + ".";
}

/// "2x", or "2x, up to 38x without limit" where more of the same helps on.
std::string gain_words(Gain const& gain) {
    bool const goes_on = std::isfinite(gain.at_most) && gain.at_most > noticeable * gain.speedup;
    return times_words(gain.speedup) + (goes_on ? " (at most " + times_words(gain.at_most) + ")" : "");
}

std::string batch_words_of(Gain const& gain, RooflineRow const& row, RooflineAnswer const& report) {
    Batched const& batched = *row.of.kernel.batched;
    auto const& model = report.question.model;
    std::string const unit = model ? " " + std::string{unit_of_work(model->question.model)} : " rows";
    if (!gain.rows) {
        return "no batch reaches the ridge; without end of" + unit + ", " + times_words(gain.at_most) + " for each";
    }
    if (gain.speedup < noticeable) {
        return "compute-bound from " + rows_words(*gain.rows) + unit + " on, " + rows_words(batched.rows) +
               " are there";
    }
    return "compute-bound from " + rows_words(*gain.rows) + unit + " on (" + rows_words(batched.rows) +
           " are there): " + times_words(gain.speedup) + " for each";
}

std::string lever_words(Gain const& gain, RooflineRow const& row, RooflineAnswer const& report) {
    switch (gain.by) {
    case GainBy::memory: {
        std::string const& level = report.processor().levels.at(row.at.level.value_or(0)).name;
        return "twice the bandwidth of " + level + ": " + gain_words(gain);
    }
    case GainBy::peak: return "twice the peak: " + gain_words(gain);
    case GainBy::precision: return "in " + std::string{name_of(*gain.format)} + ": " + times_words(gain.speedup);
    case GainBy::batch: return batch_words_of(gain, row, report);
    case GainBy::fusion: {
        std::string const how = row.of.group == "softmax" ? "by a fused attention kernel" : "with what makes its input";
        return "fused " + how + ", " + format(gain.saved) + " less: " + times_words(gain.speedup);
    }
    }
    return {};
}

std::string bound_words(RooflineRow const& row) {
    if (row.at.bound == Bound::memory && row.of.kernel.nominal) {
        return "memory-bound: its time is that of " + format(row.of.kernel.moved) + " a run";
    }
    std::string text =
        row.at.bound == Bound::memory ? "memory-bound by " + row.bound_by : "compute-bound by the " + row.bound_by;
    if (row.of.kernel.nearer.empty() && std::isfinite(row.at.intensity.base())) {
        text += " at " + significant(row.at.intensity.base()) + " FLOP/B, the ridge is at " +
                significant(row.at.ridge.base());
    }
    return text;
}

std::string advice_for(RooflineRow const& row, RooflineAnswer const& report) {
    std::string text = bound_words(row) + "."; // behind a name and a colon
    std::vector<std::string> helps, useless;
    for (Gain const& gain : row.gains) {
        bool const tells = gain.by == GainBy::batch && (gain.speedup >= noticeable || row.at.bound == Bound::compute);
        if (gain.speedup >= noticeable || tells) {
            helps.push_back(lever_words(gain, row, report));
        } else if (gain.by == GainBy::memory || gain.by == GainBy::peak) {
            useless.emplace_back(gain.by == GainBy::memory ? "faster memory" : "a higher peak");
        }
    }
    for (std::string& one : helps) { text += " " + sentence(std::move(one)); }
    if (!useless.empty()) { text += " " + sentence(join(useless, " and ") + " would change nothing"); }
    return text;
}

std::string ridge_words(RooflineAnswer const& report) {
    Processor const& processor = report.processor();
    NumberFormat const format_asked = report.question.format;
    return processor.name + " in " + std::string{name_of(format_asked)} + ": kernels above " +
           significant(report.ridge.base(), 4) + " operations a byte are compute-bound (" +
           format(processor.peak[format_asked]) + " over " + format(processor.memory().bandwidth) +
           "), below they wait for " + processor.memory().name + ".";
}

/// Share of the time of all kernels that is spent in compute-bound ones.
double compute_bound_share(RooflineAnswer const& report) {
    double bound = 0.0, all = 0.0;
    for (RooflineRow const& row : report.rows) {
        all += row.share;
        if (row.at.bound == Bound::compute) { bound += row.share; }
    }
    return all > 0.0 ? bound / all : 0.0;
}

std::string one_kernel_words(RooflineRow const& row, RooflineAnswer const& report) {
    std::string text = row.of.name + " is " + std::string{name_of(row.at.bound)} + "-bound on " +
                       report.processor().name + " (" + row.bound_by + "): ";
    if (row.of.kernel.work.base() > 0.0) {
        text += "at most " + format(row.at.rate) + ", " + percent(row.at.of_peak) + " % of the " +
                std::string{name_of(row.of.kernel.format)} + " peak, ";
    }
    return text + "in " + format(row.at.time) + ".";
}

std::string roofline_verdict(RooflineAnswer const& report) {
    if (report.rows.empty()) { return ridge_words(report); }
    if (report.step) {
        return report.question.model->question.model.name + " on " + report.processor().name + ": " +
               percent(compute_bound_share(report)) +
               " % of the kernels' time is compute-bound; the kernels of a step take " +
               format(report.totals.attainable) + " at least, and " + format(report.totals.predicted) +
               " as predicted.";
    }
    if (report.rows.size() == 1) { return one_kernel_words(report.rows.front(), report); }
    auto const bound =
        std::ranges::count_if(report.rows, [](RooflineRow const& row) { return row.at.bound == Bound::compute; });
    auto const all = static_cast<std::ptrdiff_t>(report.rows.size());
    std::string const how_many = std::to_string(bound) + " of " + std::to_string(all) + " kernels ";
    std::string const on = "compute-bound on " + report.processor().name;
    std::string const text =
        bound == 0     ? "None of " + std::to_string(all) + " kernels is " + on + ": all wait for memory"
        : bound == all ? "All " + std::to_string(all) + " kernels are " + on
                       : how_many + (bound == 1 ? "is " : "are ") + on + ", the others wait for memory";
    return text + "; one after the other they take " + format(report.totals.attainable) + " at least.";
}

std::vector<std::string> comparison_words(RooflineAnswer const& report) {
    if (!report.question.against) { return {}; }
    Processor const& here = report.processor();
    Processor const& there = report.question.against->processor;
    NumberFormat const asked = report.question.format;
    double const memory = there.memory().bandwidth / here.memory().bandwidth;
    double const peak = there.peak[asked].base() > 0.0 ? there.peak[asked] / here.peak[asked] : 0.0;
    std::vector<std::string> text;
    text.push_back(there.name + " has " + times_words(memory) + " the bandwidth" +
                   (peak > 0.0 ? " and " + times_words(peak) + " the " + std::string{name_of(asked)} + " peak"
                               : " and no " + std::string{name_of(asked)} + " arithmetic") +
                   ": memory-bound kernels gain the first, compute-bound ones the second.");
    if (!report.other_totals) { return text; }
    double const total = report.totals.attainable / report.other_totals->attainable;
    std::string sum = "All of it is " + times_words(total) + " as fast by the roof";
    if (report.step) {
        double const predicted = report.totals.predicted / report.other_totals->predicted;
        sum += ", " + times_words(predicted) + " as predicted";
    }
    text.push_back(sum + ".");
    if (total <= noticeable) {
        text.push_back("It is no faster at this: more of " + here.name + " is the way, where the work divides.");
    } else if (report.step) {
        text.push_back("It does what " + format_count(total) + " of " + here.name +
                       " would that share out the micro-batches and hide the exchange of gradients; `headroom plan "
                       "--against` prices both.");
    } else {
        text.push_back(
            "It does what " + format_count(total) + " of " + here.name +
            " would where the kernels divide; one that cannot be divided is helped by the faster part alone.");
    }
    return text;
}

std::string note_words(RooflineNote note, RooflineAnswer const& report) {
    switch (note) {
    case RooflineNote::nominal_work:
        return "element-wise work and the optimizer stand for one operation an element that they read or write; their "
               "time is that of their bytes";
    case RooflineNote::framework_pace:
        return "predicted computation is x" + significant(report.step->prediction.pace) +
               ": the factor fitted to runs of these kernels, which fuse what is counted apart here; below the roof "
               "is "
               "possible";
    case RooflineNote::calibrated_above_measured:
        return "the calibrated rate, which chips of several kinds share, is above the best measured product of this "
               "one: trust the measured one";
    case RooflineNote::unknown_caches:
        return "bandwidths of caches are not known of this machine: a machine file may state them";
    }
    return {};
}

} // namespace

std::string intensity_words(FlopsPerByte intensity) {
    return std::isfinite(intensity.base()) ? significant(intensity.base()) : "none";
}

std::vector<std::size_t> rows_by_time(RooflineAnswer const& report, std::size_t most) {
    std::vector<std::size_t> order(report.rows.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (report.step) { // given kernels stay as they were given
        std::ranges::stable_sort(order, std::greater<>{}, [&](std::size_t i) { return report.rows[i].share; });
    }
    if (order.size() > most) { order.resize(most); }
    return order;
}

std::string mark_of(std::size_t index) {
    constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    return index < letters.size() ? std::string(1, letters[index]) : std::string{};
}

void add_words(RooflineAnswer& report) {
    report.verdict = roofline_verdict(report);
    report.comparison = comparison_words(report);
    for (RooflineNote const note : report.caveats) { report.notes.push_back(note_words(note, report)); }
    for (RooflineRow& row : report.rows) { row.advice = advice_for(row, report); }
}

} // namespace headroom::cli
