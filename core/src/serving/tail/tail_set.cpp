#include "rebuilt_service.hpp"

#include "headroom/error.hpp"
#include "headroom/serving/tail_answer.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::serving {
namespace {

/// The greatest sample is no estimate of a quantile that lies beyond all of them.
bool is_seen(std::uint64_t count, double q) {
    return std::ceil(q * static_cast<double>(count)) < static_cast<double>(count) || (count > 1 && q <= 0.5);
}

TailPercentiles stated_percentiles(std::vector<StatedQuantile> const& stated) {
    TailPercentiles rows;
    for (double const q : tail_quantiles) {
        TailPercentile row{.q = q};
        row.samples_needed = q < 1.0 ? samples_for_quantile(q) : 0;
        for (StatedQuantile const& one : stated) {
            if (std::abs(one.q - q) < 1e-9) { row.value = one.value; }
        }
        row.stated = row.value.has_value();
        rows.push_back(row);
    }
    for (StatedQuantile const& one : stated) { // those that only this report has
        auto const same = [&](TailPercentile const& row) { return std::abs(row.q - one.q) < 1e-9; };
        if (std::ranges::none_of(rows, same)) {
            rows.push_back({.q = one.q, .value = one.value, .low = {}, .high = {}, .stated = true});
        }
    }
    std::ranges::stable_sort(rows, {}, &TailPercentile::q);
    return rows;
}

std::optional<double> intended_interval(LatencySamples const& samples, TailQuestion const& question) {
    return question.interval ? question.interval : samples.expected_interval;
}

TailPercentiles percentiles_of(LatencyHistogram const& values, double coverage, SampleWorth worth) {
    TailPercentiles rows;
    for (double const q : tail_quantiles) {
        if (q >= 1.0) {
            rows.push_back({.q = 1.0, .value = values.most(), .low = {}, .high = {}});
            continue;
        }
        QuantileEstimate const found = quantile_estimate(values, q, coverage, worth.at(q));
        TailPercentile row{.q = q, .value = {}, .low = found.low, .high = found.high, .coverage = found.coverage};
        row.samples_beyond = found.samples_beyond;
        row.samples_needed = samples_for_quantile(q, coverage);
        if (is_seen(values.count(), q)) { row.value = found.value; }
        rows.push_back(row);
    }
    return rows;
}

/// Values between two points that a file states are anywhere between them: so is a quantile that it does not state.
/// Beyond the last point nothing is known.
void widen_between(TailPercentiles& rows, std::vector<StatedQuantile> const& known) {
    constexpr double rounding = 1e-9;
    for (TailPercentile& row : rows) {
        auto const above = std::ranges::lower_bound(known, row.q - rounding, {}, &StatedQuantile::q);
        if (known.empty() || (above != known.end() && above->q <= row.q + rounding)) { continue; }
        row.known_low = above == known.begin() ? 0.0 : (above - 1)->value;
        row.low = std::min(row.low.value_or(*row.known_low), *row.known_low);
        if (above == known.end()) {
            row.value = row.high = std::nullopt;
            continue;
        }
        row.known_high = above->value;
        if (row.high) { row.high = std::max(*row.high, *row.known_high); }
    }
}

/// Widens the intervals of quantiles of several files, which lie between the points of each that are next to their values.
void widen_around(TailPercentiles& rows, std::vector<StatedQuantile> const& known) {
    for (TailPercentile& row : rows) {
        auto const above = std::ranges::lower_bound(known, row.value.value_or(INFINITY), {}, &StatedQuantile::value);
        if (row.q >= 1.0 || above == known.end()) { continue; }
        double const below = above == known.begin() ? 0.0 : (above - 1)->value;
        row.known_low = std::min(row.known_low.value_or(below), below);
        row.known_high = std::max(row.known_high.value_or(above->value), above->value);
        row.low = std::min(row.low.value_or(below), below);
        if (row.high) { row.high = std::max(*row.high, above->value); }
    }
}

std::vector<LevelChange> changes_of(LatencyDigest const& digest) {
    std::vector<LevelChange> changes;
    for (ChangePoint const& one : find_changes(digest.blocks())) {
        LevelChange change{.before = one.before, .after = one.after, .probability = one.probability};
        (digest.has_times() ? change.at_seconds : change.at_sample) = one.at;
        changes.push_back(change);
    }
    return changes;
}

void add_digest(TailSource& source, TailPart const& part, TailQuestion const& question) {
    LatencyDigest const& digest = part.samples.digest;
    source.duration_seconds = digest.has_times() ? digest.duration() : 0.0;
    source.times_backwards = digest.times_backwards();
    source.first_backwards = digest.first_backwards();
    if (digest.values().count() > 1) {
        source.worth = worth_of(digest);
        source.changes = changes_of(digest);
    }
    if (part.times() && !part.steps && part.samples.format != "trace") {
        source.omission = find_omission(digest, intended_interval(part.samples, question));
    }
    source.percentiles = percentiles_of(digest.values(), question.coverage, source.worth);
    widen_between(source.percentiles, part.samples.known);
}

TailSource source_of(TailPart const& part, TailQuestion const& question) {
    LatencySamples const& samples = part.samples;
    LatencyHistogram const& values = samples.digest.values();
    TailSource source{.name = part.name,
                      .format = samples.format,
                      .column = samples.column,
                      .unit_from = samples.unit_from,
                      .unit = samples.unit,
                      .count = values.empty() ? samples.stated_count : values.count(),
                      .rows = samples.rows,
                      .histogram_error = samples.histogram_error,
                      .issues = samples.issues,
                      .notes = samples.notes,
                      .steps = part.steps};
    if (values.empty()) {
        source.percentiles = stated_percentiles(samples.stated);
    } else {
        add_digest(source, part, question);
    }
    return source;
}

/// With --interval always; without it where something was left out for sure.
std::optional<double> correction_of(TailSource const& source, TailQuestion const& question) {
    if (!source.omission) { return std::nullopt; }
    if (question.interval) { return question.interval; }
    bool const found = source.omission->suspected && source.omission->interval > 0.0;
    return found ? std::optional{source.omission->interval} : std::nullopt;
}

void merge_part(TailSet& set, TailPart const& part, TailSource const& source, TailQuestion const& question) {
    LatencyHistogram const& values = part.samples.digest.values();
    set.worth = joined_worth(set.worth, set.values.count(), source.worth, values.count());
    set.values.merge(values);
    if (auto const interval = correction_of(source, question)) {
        if (!set.corrected) { set.corrected.emplace(); }
        set.corrected->merge(corrected_for_omission(values, *interval));
    } else if (set.corrected) {
        set.corrected->merge(values);
    }
}

/// Parts before the first corrected one are added afterwards: merging knows no order.
void complete_correction(TailSet& set, std::vector<TailPart> const& parts, TailQuestion const& question) {
    if (!set.corrected) { return; }
    for (std::size_t at = 0; at < parts.size(); ++at) {
        if (correction_of(set.sources[at], question)) { return; }
        set.corrected->merge(parts[at].samples.digest.values());
    }
}

/// Squared coefficient of variation of the times between requests; nothing where a clock of whole seconds or the like
/// puts most of them at 0.
std::optional<double> gap_variation(std::vector<TailPart> const& parts) {
    LatencyHistogram const& gaps = parts.front().samples.digest.gaps();
    if (parts.size() > 1 || gaps.count() < 20 || !(gaps.quantile(0.5) > 0.0)) { return std::nullopt; }
    return gaps.variance() / (gaps.mean() * gaps.mean());
}

void correct_percentiles(TailSet& set) {
    if (!set.corrected) { return; }
    for (TailPercentile& row : set.percentiles) {
        if (row.q >= 1.0 || is_seen(set.corrected->count(), row.q)) {
            row.corrected = row.q >= 1.0 ? set.corrected->most() : set.corrected->quantile(row.q);
        }
    }
}

/// Quantiles that several reports state do not add up.
void demand_one_report(std::vector<TailPart> const& parts) {
    if (parts.size() == 1) { return; }
    refuse(parts.front().name, "states only quantiles", "those of several runs do not add up",
           "give one such report at a time");
}

void demand_two_samples(TailSet const& set, std::vector<TailPart> const& parts) {
    if (set.values.count() > 1) { return; }
    too_little(parts.front().name, "one sample determines no tail",
               "an interval of the median takes " + std::to_string(samples_for_quantile(0.5)) +
                   " samples, one of p99 " + std::to_string(samples_for_quantile(0.99)),
               "measure more");
}

} // namespace

std::vector<Issue> issues_of(TailAnswer const& answer) {
    std::vector<Issue> all;
    for (TailSource const& source : answer.set.sources) { add_issues(all, source.issues, source.name); }
    if (!answer.comparison) { return all; }
    for (TailSource const& source : answer.comparison->baseline.sources) {
        add_issues(all, source.issues, source.name);
    }
    return all;
}

TailSet set_of(std::vector<TailPart> const& parts, TailQuestion const& question) {
    TailSet set{.sources = {}, .values = {}};
    set.times = parts.front().times();
    double rate = 0.0;
    bool timed = true;
    for (TailPart const& part : parts) {
        set.sources.push_back(source_of(part, question));
        TailSource const& source = set.sources.back();
        if (part.samples.digest.values().empty()) {
            set.stated_count += part.samples.stated_count;
            set.stated_mean = part.samples.stated_mean;
            continue;
        }
        merge_part(set, part, source, question);
        timed = timed && source.duration_seconds > 0.0 && source.count > 1;
        if (timed) { rate += static_cast<double>(source.count - 1) / source.duration_seconds; }
    }
    if (set.values.empty()) {
        demand_one_report(parts);
        set.percentiles = set.sources.front().percentiles;
        return set;
    }
    demand_two_samples(set, parts);
    if (timed) {
        set.arrivals_per_second = rate;
        set.arrival_variation = gap_variation(parts);
        bool const known = set.arrival_variation && !parts.front().samples.requests.empty();
        if (known && question.rebuilds_service()) {
            set.service = rebuilt_services(parts.front().samples.requests, *question.replicas);
        }
    }
    complete_correction(set, parts, question);
    set.percentiles = percentiles_of(set.values, question.coverage, set.worth);
    for (TailPart const& part : parts) {
        (parts.size() == 1 ? widen_between : widen_around)(set.percentiles, part.samples.known);
    }
    LatencySamples const& first = parts.front().samples;
    if (parts.size() == 1 && !first.known.empty()) { set.stated_mean = first.stated_mean; }
    correct_percentiles(set);
    return set;
}

} // namespace headroom::serving
