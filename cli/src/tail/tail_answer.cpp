#include "tail/tail_answer.hpp"

#include "document/text.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::cli {
namespace {

constexpr std::array hedge_quantiles{0.0, 0.5, 0.75, 0.9, 0.95, 0.99};

/// The greatest sample is no estimate of a quantile that lies beyond all of them.
bool is_seen(std::uint64_t count, double q) {
    return std::ceil(q * static_cast<double>(count)) < static_cast<double>(count) || (count > 1 && q <= 0.5);
}

std::vector<TailPercentile> stated_percentiles(std::vector<io::StatedQuantile> const& stated) {
    std::vector<TailPercentile> rows;
    for (double const q : tail_quantiles) {
        TailPercentile row{.q = q};
        row.samples_needed = q < 1.0 ? samples_for_quantile(q) : 0;
        for (io::StatedQuantile const& one : stated) {
            if (std::abs(one.q - q) < 1e-9) { row.value = one.value; }
        }
        row.stated = row.value.has_value();
        rows.push_back(row);
    }
    for (io::StatedQuantile const& one : stated) { // those that only this report has
        auto const same = [&](TailPercentile const& row) { return std::abs(row.q - one.q) < 1e-9; };
        if (std::ranges::none_of(rows, same)) {
            rows.push_back({.q = one.q, .value = one.value, .low = {}, .high = {}, .stated = true});
        }
    }
    std::ranges::stable_sort(rows, {}, &TailPercentile::q);
    return rows;
}

std::optional<double> intended_interval(io::LatencySamples const& samples, TailQuestion const& question) {
    return question.interval ? question.interval : samples.expected_interval;
}

/// What one part says by itself; its samples stay where they are.
TailSource source_of(TailPart const& part, TailQuestion const& question) {
    io::LatencySamples const& samples = part.samples;
    LatencyDigest const& digest = samples.digest;
    TailSource source{.name = part.name,
                      .format = samples.format,
                      .column = samples.column,
                      .unit_from = samples.unit_from,
                      .unit = samples.unit,
                      .count = digest.values().empty() ? samples.stated_count : digest.values().count(),
                      .rows = samples.rows,
                      .histogram_error = samples.histogram_error,
                      .percentiles = {},
                      .dirt = samples.dirt,
                      .notes = samples.notes,
                      .steps = part.steps};
    if (digest.values().empty()) {
        source.percentiles = stated_percentiles(samples.stated);
        return source;
    }
    source.duration_seconds = digest.has_times() ? digest.duration() : 0.0;
    source.times_backwards = digest.times_backwards();
    source.first_backwards = digest.first_backwards();
    source.changes_by_time = digest.has_times();
    if (digest.values().count() > 1) {
        source.worth = worth_of(digest);
        source.changes = find_changes(digest.blocks());
    }
    bool const times = samples.unit != "1";
    if (times && part.steps == std::nullopt && samples.format != "trace") {
        source.omission = find_omission(digest, intended_interval(samples, question));
    }
    source.percentiles = percentiles_of(digest.values(), question.coverage, source.worth);
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

void compare_runs(TailAnswer& answer) {
    if (!answer.baseline) { return; }
    if (answer.baseline->times != answer.set.times) {
        refuse("--baseline", answer.baseline->times ? "it holds times" : "it holds plain numbers",
               answer.set.times ? "the samples are times" : "the samples are plain numbers", "give --unit");
    }
    if (answer.baseline->values.empty()) {
        throw InputError{Fault::insufficient,
                         {.where = "--baseline",
                          .problem = "it states quantiles and holds no samples",
                          .why = "whether two differ is told from samples",
                          .hint = "give the raw latencies of that run"}};
    }
    std::vector<double> const quantiles(tail_quantiles.begin(), tail_quantiles.end() - 1);
    answer.comparison =
        compare_tails(answer.baseline->values, answer.set.values, quantiles, answer.baseline->worth, answer.set.worth);
}

void fit_families(TailAnswer& answer) {
    if (!answer.question.fit) { return; }
    try {
        answer.fits = fit::fit_tails(answer.set.values);
        answer.tail_fit = fit::fit_pareto_tail(answer.set.values);
    } catch (InputError const& error) { answer.why_no_fit = error.text().problem; }
}

void ask_backups(TailFanOut& row, TailAnswer const& answer, Ranks workers) {
    row.backups.push_back(backup_workers(answer.set.values, workers, 0));
    for (int const backups : answer.question.backups) {
        if (backups < workers.count()) { row.backups.push_back(backup_workers(answer.set.values, workers, backups)); }
    }
    row.best_backup = best_backup_workers(answer.set.values, workers);
}

void ask_fan_outs(TailAnswer& answer) {
    TailQuestion const& question = answer.question;
    for (int const workers : question.fan_out) {
        Ranks const ranks{workers};
        TailFanOut row{.seen = fan_out(answer.set.values, ranks, answer.slow),
                       .each_must_keep = quantile_for_each(0.99, ranks)};
        if (fit::TailFit const* const beyond = answer.beyond()) {
            row.fitted = fan_out(answer.set.values, beyond->distribution, ranks, answer.slow);
        }
        if (question.wants_backups && workers > 1) { ask_backups(row, answer, ranks); }
        answer.fan_outs.push_back(std::move(row));
    }
}

double resolve(TailPoint const& point, TailAnswer const& answer, std::string_view where) {
    if (point.q) { return answer.set.values.quantile(*point.q); }
    return value_in(point.text, answer.unit.times, where);
}

void ask_hedges(TailAnswer& answer) {
    LatencyHistogram const& values = answer.set.values;
    if (answer.question.hedge) {
        answer.hedges = {hedged_request(values, resolve(*answer.question.hedge, answer, "--hedge"))};
        return;
    }
    answer.hedges = hedging_choices(values, hedge_quantiles);
    std::ranges::stable_sort(answer.hedges, {}, &Hedge::delay);
    answer.tied = tied_request(values);
}

void refuse_without_samples(TailAnswer const& answer) {
    if (answer.question.needs_samples.empty()) { return; }
    throw InputError{Fault::insufficient,
                     {.where = answer.question.needs_samples.front(),
                      .problem = "it takes samples, and " + headroom::quoted(answer.set.sources.front().name) +
                                 " states only quantiles",
                      .why = "what the others did between them is not in it",
                      .hint = "give the raw latencies: wrk2 -L, vegeta encode, k6 --out json or csv"}};
}

} // namespace

std::vector<TailPercentile> percentiles_of(LatencyHistogram const& values, double coverage, SampleWorth worth) {
    std::vector<TailPercentile> rows;
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

TailSet set_of(std::vector<TailPart> parts, TailQuestion const& question) {
    TailSet set{.sources = {}, .values = {}};
    set.times = parts.front().samples.unit != "1";
    double rate = 0.0;
    bool timed = true;
    for (TailPart const& part : parts) {
        set.sources.push_back(source_of(part, question));
        TailSource const& source = set.sources.back();
        if (part.samples.digest.values().empty()) {
            set.stated = part.samples.stated;
            set.stated_count += part.samples.stated_count;
            set.stated_mean = part.samples.stated_mean;
            continue;
        }
        merge_part(set, part, source, question);
        timed = timed && source.duration_seconds > 0.0 && source.count > 1;
        if (timed) { rate += static_cast<double>(source.count - 1) / source.duration_seconds; }
    }
    if (set.values.empty()) {
        if (parts.size() > 1) {
            refuse(parts.front().name, "states only quantiles", "those of several runs do not add up",
                   "give one such report at a time");
        }
        set.percentiles = set.sources.front().percentiles;
        return set;
    }
    if (set.values.count() < 2) {
        throw InputError{Fault::insufficient,
                         {.where = parts.front().name,
                          .problem = "one sample says nothing about a tail",
                          .why = "an interval of the median takes " + std::to_string(samples_for_quantile(0.5)) +
                                 " samples, one of p99 " + std::to_string(samples_for_quantile(0.99)),
                          .hint = "measure more"}};
    }
    if (timed) {
        set.arrivals_per_second = rate;
        set.arrival_variation = gap_variation(parts);
    }
    complete_correction(set, parts, question);
    set.percentiles = percentiles_of(set.values, question.coverage, set.worth);
    correct_percentiles(set);
    return set;
}

TailAnswer answer_of(TailQuestion const& question, std::vector<TailPart> parts, std::vector<TailPart> baseline) {
    TailAnswer answer{.question = question, .unit = {}, .set = set_of(std::move(parts), question)};
    answer.unit.times = answer.set.times;
    if (!answer.has_samples()) {
        refuse_without_samples(answer);
        return answer;
    }
    if (!baseline.empty()) { answer.baseline = set_of(std::move(baseline), question); }
    compare_runs(answer);
    answer.slow = resolve(question.slow.value_or(TailPoint{"p99", 0.99}), answer, "--slow");
    answer.slow_share = answer.set.values.share_above(answer.slow);
    fit_families(answer);
    ask_fan_outs(answer);
    ask_hedges(answer);
    if (question.objective) { answer.slo = replicas_for(question, answer.set); }
    return answer;
}

} // namespace headroom::cli
