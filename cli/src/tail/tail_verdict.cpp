#include "tail/tail_report.hpp"

#include "headroom/document/text.hpp"
#include "headroom/quantity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace headroom::cli {

std::string TailUnit::words(double value) const {
    if (!std::isfinite(value)) { return "without end"; }
    return times ? format(Seconds{value}) : significant(value, 3);
}

std::string TailUnit::interval(double low, double high) const {
    std::string const first = words(low), second = words(high);
    auto const unit_at = [](std::string const& text) { return text.rfind(' '); };
    bool const alike = unit_at(first) != std::string::npos && unit_at(second) != std::string::npos &&
                       first.substr(unit_at(first)) == second.substr(unit_at(second));
    return (alike ? first.substr(0, unit_at(first)) : first) + " .. " + second;
}

TailScale scale_for(double value, TailUnit unit) {
    if (!unit.times) { return {}; }
    constexpr std::array<TailScale, 4> scales{{{"s", 1.0}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}}};
    for (TailScale const& scale : scales) {
        if (value >= scale.size) { return scale; }
    }
    return scales.back();
}

std::string interval_title(double coverage) { return fmt::format("{:.6g} % interval", 100.0 * coverage); }

std::string signed_percent(double ratio) {
    return (ratio < 0.0 ? "-" : "+") + significant(100.0 * std::abs(ratio), std::abs(ratio) < 0.1 ? 2 : 3) + " %";
}

std::string grouped(unsigned long long count) {
    std::string text = std::to_string(count);
    for (std::size_t at = text.size(); at > 3;) {
        at -= 3;
        text.insert(at, ",");
    }
    return text;
}

std::string chance(double probability) { return probability < 0.001 ? "below 0.001" : significant(probability, 2); }

namespace {

TailPercentile const* row_of(TailAnswer const& answer, double q) {
    auto const found = std::ranges::find(answer.set.percentiles, q, &TailPercentile::q);
    return found == answer.set.percentiles.end() || !found->value ? nullptr : &*found;
}

std::string with_interval(TailPercentile const& row, TailUnit unit) {
    std::string const text = unit.words(*row.value);
    return row.low && row.high ? text + " [" + unit.interval(*row.low, *row.high) + "]" : text;
}

/// The mean and the extremes of a report that states nothing else.
std::string without_quantiles(TailAnswer const& answer) {
    std::vector<std::string> known;
    if (answer.set.stated_mean > 0.0) {
        known.push_back("the mean is " + unit_of(answer).words(answer.set.stated_mean));
    }
    if (auto const* const most = row_of(answer, 1.0)) {
        known.push_back("the slowest took " + unit_of(answer).words(*most->value));
    }
    std::string const name = printable(answer.set.sources.front().name);
    if (known.empty()) { return "Neither a median nor a tail is known: " + name; }
    return name + " states neither a median nor a tail percentile: " + join(known, ", ") + ".";
}

/// The farthest percentile out that has an interval: the limit of statements on the tail.
std::string tail_words(TailAnswer const& answer) {
    TailPercentile const *const median = row_of(answer, 0.5), *far = row_of(answer, 0.99);
    if (far == nullptr) { far = row_of(answer, 0.95); }
    if (far == nullptr) { far = row_of(answer, 0.9); }
    if (median == nullptr && far == nullptr) { return without_quantiles(answer); }
    if (median == nullptr) {
        return percentile_name(far->q) + " is " + with_interval(*far, unit_of(answer)) + "; the median is not known.";
    }
    if (far == nullptr) {
        return "The median is " + with_interval(*median, unit_of(answer)) + "; of a tail nothing is known.";
    }
    if (answer.has_samples() && answer.set.values.least() == answer.set.values.most()) {
        return "All " + grouped(answer.set.values.count()) + " samples are " + unit_of(answer).words(*median->value) +
               ": there is no tail.";
    }
    std::string text = percentile_name(far->q) + " is " + with_interval(*far, unit_of(answer));
    if (*median->value > 0.0) {
        text += ", " + significant(*far->value / *median->value) + "x the median of " +
                unit_of(answer).words(*median->value);
    }
    if (far->corrected) {
        text += "; " + unit_of(answer).words(*far->corrected) + " with the requests that were never sent put back";
    }
    return text + ".";
}

/// Sentence on the first fan-out in which a slow one is likelier than not, else on the largest.
std::string fan_out_words(TailAnswer const& answer) {
    if (answer.fan_outs.empty() || !(answer.slow->share > 0.0)) { return {}; }
    auto found =
        std::ranges::find_if(answer.fan_outs, [](TailFanOut const& row) { return row.seen.probability_slow >= 0.4; });
    if (found == answer.fan_outs.end()) { found = answer.fan_outs.end() - 1; }
    FanOut const& row = found->seen;
    if (row.workers.count() == 1) { return {}; }
    return "Waiting for all of " + std::to_string(row.workers.count()) + ", " + percent(row.probability_slow) +
           " % meet one slower than " + unit_of(answer).words(answer.slow->threshold) + ": half take " +
           unit_of(answer).words(row.p50) + " or longer.";
}

std::string step_words(SynchronousSteps const& steps) {
    std::string text = "A step waits for the slowest of " + std::to_string(steps.ranks) + " ranks and takes " +
                       significant(steps.slowdown, 4) + "x the mean rank's";
    if (steps.slow.empty()) { return text + "; no rank is the slowest more often than chance has it."; }
    SlowRank const& worst = steps.slow.front();
    return text + "; rank " + std::to_string(worst.rank) + " is the slowest in " + grouped(worst.slowest) + " of " +
           grouped(steps.steps) + ", which chance does not explain.";
}

std::string change_words(QuantileChange const& one) {
    std::string const range = " [" + signed_percent(one.low - 1.0) + ", " + signed_percent(one.high - 1.0) + "]";
    std::string const name = one.q == 0.5 ? "the median" : percentile_name(one.q);
    if (!(one.probability < tail_significance)) { return name + " did not move" + range; }
    return name + " got " + (one.ratio > 1.0 ? "worse by " : "better by ") +
           signed_percent(std::abs(one.ratio - 1.0)).substr(1) + range;
}

void add_source_warnings(std::vector<std::string>& lines, TailSource const& source, TailUnit unit, bool alone) {
    std::string const before = alone ? "" : printable(source.name) + ": ";
    auto const add = [&](std::string const& text) { lines.push_back(before + text); };
    if (source.omission && source.omission->suspected) {
        add("requests are missing: " + source.omission->why + ". About " + scaled(source.omission->missing) +
            " were never sent while " + grouped(source.omission->affected) +
            " answers took longer than the interval of " + TailUnit{true}.words(source.omission->interval) +
            "; the column 'corrected' puts them back");
    }
    for (LevelChange const& one : source.changes) {
        std::string const at = one.at_seconds ? "after " + TailUnit{true}.words(*one.at_seconds)
                                              : "at sample " + grouped(std::llround(*one.at_sample));
        add(at + " the mean goes from " + unit.words(one.before) + " to " + unit.words(one.after) +
            " and stays there (chance: " + chance(one.probability) + "): these are two runs, not one");
    }
    if (source.times_backwards > 0) {
        add("the clock goes backwards " +
            (source.times_backwards == 1 ? std::string{"once"} : grouped(source.times_backwards) + " times") +
            ", first at sample " + grouped(*source.first_backwards + 1) + "; the samples are kept");
    }
    for (Issue const& one : source.issues) { add(printable(words_of(one))); }
    double const worth = source.worth.at(0.5);
    if (worth < 0.5) {
        add("neighbours are alike: " + grouped(source.count) + " samples say as much as " +
            grouped(std::llround(std::max(1.0, worth * static_cast<double>(source.count)))) +
            " independent ones, and the intervals are as wide as those have them");
    }
    if (source.unit_from == "assumed") {
        add("the values state no unit and were taken for " + source.unit + "; say it with --unit");
    }
}

/// Number of independent samples with as much information.
std::string independent_words(double worth, std::uint64_t count) {
    return grouped(static_cast<unsigned long long>(std::llround(std::max(1.0, worth * static_cast<double>(count)))));
}

std::string too_few_words(TailAnswer const& answer) {
    for (TailPercentile const& row : answer.set.percentiles) {
        if (row.q >= 1.0 || (row.low && row.high)) { continue; }
        double const worth = answer.set.worth.at(row.q);
        std::string const there = grouped(answer.set.values.count());
        return "from " + percentile_name(row.q) +
               " on there are too few samples: " + (row.value ? "an interval of " : "") + percentile_name(row.q) +
               " takes " + grouped(row.samples_needed) + " independent ones, and there are " + there +
               (worth < 1.0 ? ", worth " + independent_words(worth, answer.set.values.count()) : "");
    }
    return {};
}

std::string comparison_words(TailAnswer const& answer) {
    std::vector<std::string> words;
    for (double const q : {0.99, 0.999, 0.5}) {
        for (QuantileChange const& one : answer.comparison->runs.quantiles) {
            if (one.q == q) { words.push_back(change_words(one)); }
        }
    }
    if (words.empty()) { return "Neither run has the samples to compare a quantile."; }
    std::string text = "Against the baseline " + join(words, ", ") + ".";
    bool const same = answer.comparison->runs.probability >= tail_significance;
    if (same) { text += " As a whole the two do not differ significantly."; }
    return text;
}

std::vector<std::string> verdict_of(TailAnswer const& answer) {
    std::vector<std::string> lines;
    auto const add = [&](std::string text) {
        if (!text.empty()) { lines.push_back(std::move(text)); }
    };
    if (answer.slo) { add(answer.slo->verdict); }
    if (answer.slo) { add(doubling_words(*answer.slo, unit_of(answer))); }
    if (answer.comparison) { add(answer.comparison->verdict); }
    for (TailSource const& source : answer.set.sources) {
        if (source.steps) { add(step_words(*source.steps)); }
    }
    add(tail_words(answer));
    add(fan_out_words(answer));
    return lines;
}

std::string words_of(OmissionSign sign) {
    switch (sign) {
    case OmissionSign::no_sample: return "no sample";
    case OmissionSign::no_interval: return "unknown without times of requests, or the interval between them";
    case OmissionSign::none_longer: return "no sample is longer than the interval between requests";
    case OmissionSign::longer:
        return "samples are longer than the interval, and no times show whether requests waited for them";
    case OmissionSign::sent_after_answer:
        return "after samples longer than the interval, the next request was sent when the answer was back";
    case OmissionSign::farther_apart:
        return "requests were sent farther apart while answers took longer, as by connections that wait";
    case OmissionSign::none_longer_of_many:
        return "no sample is longer than the interval between requests of a connection";
    case OmissionSign::sent_on_time:
        return "requests were sent while answers were still missing, and as often while those took long";
    }
    return {};
}

void add_omission_words(TailSet& set) {
    for (TailSource& source : set.sources) {
        if (source.omission) { source.omission->why = words_of(source.omission->sign); }
    }
}

std::vector<std::string> warnings_of(TailAnswer const& answer) {
    std::vector<std::string> lines;
    bool const alone = answer.set.sources.size() == 1;
    for (TailSource const& source : answer.set.sources) { add_source_warnings(lines, source, unit_of(answer), alone); }
    if (answer.comparison) {
        for (TailSource const& source : answer.comparison->baseline.sources) {
            add_source_warnings(lines, source, unit_of(answer), false);
        }
    }
    if (!answer.has_samples()) {
        lines.emplace_back("the report states quantiles and holds no samples: no intervals, fan-outs, hedging or "
                           "comparison can be made of it");
        return lines;
    }
    if (auto text = too_few_words(answer); !text.empty()) { lines.push_back(std::move(text)); }
    for (TailFanOut const& row : answer.fan_outs) {
        if (!row.seen.p99_beyond_samples) { continue; }
        lines.push_back("of the slowest of " + std::to_string(row.seen.workers.count()) + " the p99 is p" +
                        significant(100.0 * row.each_must_keep, 6) +
                        " of each, beyond all samples: '>' marks the greatest sample as a lower bound" +
                        (answer.question.fit ? "" : "; --fit says what a fitted tail has there"));
        break;
    }
    if (!answer.why_no_fit.empty()) { lines.push_back("nothing was fitted: " + answer.why_no_fit); }
    return lines;
}

} // namespace

void add_words(TailAnswer& answer) {
    add_omission_words(answer.set);
    if (answer.comparison) { add_omission_words(answer.comparison->baseline); }
    if (answer.slo) {
        ReplicasForSlo& slo = *answer.slo;
        for (ReplicaInput const input : slo.missing) {
            slo.missing_words.push_back(missing_words(input, slo, answer.question));
        }
        slo.verdict = replicas_words(slo, unit_of(answer));
    }
    if (answer.comparison) { answer.comparison->verdict = comparison_words(answer); }
    answer.verdict = verdict_of(answer);
    answer.warnings = warnings_of(answer);
}

} // namespace headroom::cli
