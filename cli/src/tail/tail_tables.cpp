#include "tail/tail_report.hpp"

#include "headroom/document/text.hpp"

#include <algorithm>

namespace headroom::cli {
namespace {

std::string interval_cell(TailPercentile const& row, TailUnit unit) {
    if (row.stated || row.q >= 1.0) { return "-"; }
    if (row.low && row.high) { return unit.interval(*row.low, *row.high); }
    if (row.low) { return "above " + unit.words(*row.low); }
    if (row.high) { return "below " + unit.words(*row.high); }
    return "-";
}

/// Evidence of a row: the number of samples beyond it, or the number needed.
std::string rests_on(TailPercentile const& row) {
    if (row.q >= 1.0) { return "-"; }
    if (!row.value) { return "takes " + grouped(row.samples_needed); }
    return grouped(row.samples_beyond);
}

std::string corrected_cell(TailPercentile const& row, TailUnit unit) { return unit.words(row.corrected); }

Table percentile_table(TailAnswer const& answer) {
    TailSet const& set = answer.set;
    bool const seen = answer.has_samples(), corrected = set.corrected.has_value();
    std::string const requests = set.stated_count > 0 ? grouped(set.stated_count) + " requests" : "Requests";
    std::string const title = seen ? grouped(set.values.count()) + " samples, mean " + unit_of(answer).words(set.mean())
                                   : requests + ", as the report states them";
    Table table{.title = title, .columns = {left(""), corrected ? "measured" : "value"}};
    if (seen) { table.columns.push_back(interval_title(answer.question.coverage)); }
    if (corrected) { table.columns.push_back("corrected"); }
    if (seen) { table.columns.push_back("samples beyond"); }
    for (TailPercentile const& row : set.percentiles) {
        std::vector<std::string> cells{percentile_name(row.q), unit_of(answer).words(row.value)};
        if (seen) { cells.push_back(interval_cell(row, unit_of(answer))); }
        if (corrected) { cells.push_back(corrected_cell(row, unit_of(answer))); }
        if (seen) { cells.push_back(rests_on(row)); }
        table.rows.push_back(std::move(cells));
    }
    return table;
}

Table each_table(TailAnswer const& answer) {
    Table table{.title = "Each apart", .columns = {wrapped("samples of"), "samples"}};
    constexpr std::array shown{0.5, 0.9, 0.99, 0.999, 1.0};
    for (double const q : shown) { table.columns.push_back(percentile_name(q)); }
    auto const add = [&](std::string name, std::uint64_t count, std::vector<TailPercentile> const& rows) {
        std::vector<std::string> cells{std::move(name), grouped(count)};
        for (double const q : shown) {
            auto const found = std::ranges::find(rows, q, &TailPercentile::q);
            cells.push_back(found == rows.end() ? "-" : unit_of(answer).words(found->value));
        }
        table.rows.push_back(std::move(cells));
    };
    for (TailSource const& source : answer.set.sources) {
        add(printable(source.name), source.count, source.percentiles);
    }
    add("all", answer.set.values.count(), answer.set.percentiles);
    return table;
}

std::string bounded(double value, bool beyond, TailUnit unit) { return (beyond ? "> " : "") + unit.words(value); }

Table fan_out_table(TailAnswer const& answer) {
    bool const fitted = answer.beyond() != nullptr;
    Table table{.title = "Waiting for the slowest of K", .columns = {"K", "any slow %", "p50", "p99", "mean over one"}};
    if (fitted) { table.columns.push_back("p99 fitted"); }
    table.columns.push_back("p99 = each's");
    for (TailFanOut const& row : answer.fan_outs) {
        std::vector<std::string> cells{std::to_string(row.seen.workers.count()), percent(row.seen.probability_slow),
                                       unit_of(answer).words(row.seen.p50),
                                       bounded(row.seen.p99, row.seen.p99_beyond_samples, unit_of(answer)),
                                       significant(row.seen.slowdown) + "x"};
        if (fitted) { cells.push_back(row.fitted ? unit_of(answer).words(row.fitted->p99) : "-"); }
        cells.push_back("p" + significant(100.0 * row.each_must_keep, row.each_must_keep > 0.9999 ? 6 : 5));
        table.rows.push_back(std::move(cells));
    }
    return table;
}

Table fit_table(TailAnswer const& answer) {
    Table table{.title = "Fitted distributions, best first",
                .columns = {left("family"), "a", "b", "distance", "tail error %", "p99.99"}};
    auto const add = [&](TailFit const& one) {
        std::string family{name_of(one.distribution.family)};
        if (one.distribution.family == TailFamily::pareto_tail) {
            family += " beyond " + unit_of(answer).words(one.distribution.threshold);
        }
        table.rows.push_back({std::move(family), significant(one.distribution.a), significant(one.distribution.b),
                              significant(one.distance, 2), percent(one.tail_error, 2),
                              unit_of(answer).words(one.distribution.quantile(0.9999))});
    };
    add(*answer.beyond());
    for (TailFit const& one : answer.fits) {
        if (&one != answer.beyond()) { add(one); }
    }
    return table;
}

Table backup_table(TailAnswer const& answer) {
    Table table{.title = "Workers that nobody waits for",
                .columns = {"K", "backups", "p50", "p99", "mean over one", "useful work"}};
    for (TailFanOut const& row : answer.fan_outs) {
        for (BackupWorkers const& one : row.backups) {
            double const gain = one.useful_per_second / row.backups.front().useful_per_second - 1.0;
            table.rows.push_back({std::to_string(one.workers.count()), std::to_string(one.backups),
                                  unit_of(answer).words(one.p50), unit_of(answer).words(one.p99),
                                  significant(one.slowdown) + "x", one.backups == 0 ? "1" : signed_percent(gain)});
        }
    }
    return table;
}

/// Sentence on the load that copies put on the present replicas.
std::string room_words(TailAnswer const& answer) {
    bool const known = answer.slo && answer.slo->utilization && answer.question.replicas;
    if (!known || !(*answer.slo->utilization < 1.0)) { return {}; }
    auto const found =
        std::ranges::find_if(answer.hedging->delays, [](Hedge const& one) { return one.extra_load <= 0.1; });
    if (found == answer.hedging->delays.end()) { return {}; }
    HedgeLoad const load = hedge_load(*found, *answer.slo->utilization, *answer.question.replicas);
    std::string const text = " Copies after " + unit_of(answer).words(found->delay) +
                             " that run on make the replicas " + percent(load.utilization) + " % busy instead of " +
                             percent(*answer.slo->utilization) + " %";
    if (!load.stable) { return text + ", which they cannot be."; }
    return text + ", and waits " + significant(load.wait_growth) + "x as long.";
}

} // namespace

std::vector<Block> percentile_blocks(TailAnswer const& answer) {
    std::vector<Block> blocks{percentile_table(answer)};
    if (answer.question.each && answer.set.sources.size() > 1) { blocks.emplace_back(each_table(answer)); }
    return blocks;
}

std::vector<Block> comparison_blocks(TailAnswer const& answer) {
    if (!answer.comparison) { return {}; }
    Table table{.title = "Against the baseline (" + grouped(answer.comparison->baseline.values.count()) + " samples)",
                .columns = {left(""), "baseline", "now", "change", "95 % interval", "by chance"},
                .part = Part::answer};
    for (QuantileChange const& one : answer.comparison->runs.quantiles) {
        table.rows.push_back({percentile_name(one.q), unit_of(answer).words(one.first),
                              unit_of(answer).words(one.second), signed_percent(one.ratio - 1.0),
                              signed_percent(one.low - 1.0) + " .. " + signed_percent(one.high - 1.0),
                              chance(one.probability)});
    }
    return {std::move(table)};
}

std::vector<Block> fan_out_blocks(TailAnswer const& answer) {
    std::vector<Block> blocks;
    if (!answer.fan_outs.empty()) { blocks.emplace_back(fan_out_table(answer)); }
    if (answer.beyond() != nullptr) {
        blocks.emplace_back(fit_table(answer));
        blocks.emplace_back(Paragraph{"Beyond the samples the first row is asked. Its figures there are as good as the "
                                      "family: nothing was measured."});
    }
    add_table(blocks, backup_table(answer));
    return blocks;
}

std::vector<Block> hedging_blocks(TailAnswer const& answer) {
    if (!answer.hedging) { return {}; }
    Table table{.title = "A second copy of a request that has not come back",
                .columns = {"after", "at", "sent twice %", "work", "p50", "p99", "p99.9"}};
    for (Hedge const& one : answer.hedging->delays) {
        std::string const at =
            one.delay_quantile > 0.0 && one.delay > 0.0 ? "p" + significant(100.0 * one.delay_quantile) : "once";
        table.rows.push_back({unit_of(answer).words(one.delay), at, percent(one.extra_load),
                              signed_percent(one.extra_work_cancelled), unit_of(answer).words(one.p50),
                              unit_of(answer).words(one.p99), unit_of(answer).words(one.p999)});
    }
    return {
        std::move(table),
        Paragraph{std::string{
                      "If what makes one slow is its server, not the request, and the others have room. 'work' is time "
                      "of servers where the slower copy is stopped; where it runs on, work grows as what is sent."} +
                  room_words(answer)}};
}

std::vector<Block> step_blocks(TailAnswer const& answer) {
    std::vector<Block> blocks;
    for (TailSource const& source : answer.set.sources) {
        if (!source.steps) { continue; }
        SynchronousSteps const& steps = *source.steps;
        blocks.emplace_back(Paragraph{
            grouped(steps.steps) + (steps.steps == 1 ? " step of " : " steps of ") + std::to_string(steps.ranks) +
                " ranks: one takes " + unit_of(answer).words(steps.mean_seconds) +
                " on average, the slowest of each step " + unit_of(answer).words(steps.slowest_seconds) + ", " +
                significant(steps.slowdown, 4) + "x. If every step of every rank were drawn anew it would be " +
                significant(steps.independent_slowdown, 4) +
                "x: less than that is slowness that all ranks share, more is slowness that stays with a rank.",
            "steps"});
    }
    return blocks;
}

} // namespace headroom::cli
