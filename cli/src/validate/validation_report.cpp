#include "validate/reports.hpp"

#include "headroom/document/text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>

namespace headroom::cli {
namespace {

constexpr std::size_t most_points = 2000;

void add(Series& series, RunComparison const& row) {
    series.x.push_back(row.run->measured.base());
    series.y.push_back(row.predicted->base());
}

} // namespace

std::optional<Chart> error_chart(std::vector<RunComparison> const& rows) {
    std::vector<RunComparison const*> known;
    for (RunComparison const& row : rows) {
        bool const positive = row.predicted && row.predicted->base() > 0.0 && row.run->measured.base() > 0.0;
        if (positive && row.relative_error && row.run->counts()) { known.push_back(&row); }
    }
    if (known.size() < 2) { return std::nullopt; }
    std::size_t const stride = (known.size() + most_points - 1) / most_points;
    Series outside{.name = "outside of its interval", .mark = Mark::points},
        inside{.name = "inside", .mark = Mark::points}, exact{.name = "exact", .mark = Mark::dashed};
    for (std::size_t i = 0; i < known.size(); i += stride) {
        add(known[i]->inside_interval ? inside : outside, *known[i]);
    }
    auto const [least, most] = std::ranges::minmax(known, {}, [](auto const* row) { return row->run->measured; });
    exact.x = {least->run->measured.base(), most->run->measured.base()};
    exact.y = exact.x;
    std::string caption =
        "Each point is a run; on the dashed line it is predicted exactly, above it too slow, below it "
        "too fast.";
    if (stride > 1) {
        caption += " One run in " + std::to_string(stride) + " of " + std::to_string(known.size()) + " is drawn.";
    }
    Chart chart{.title = "Predicted against measured",
                .caption = std::move(caption),
                .x = {"measured step, s", AxisScale::logarithmic},
                .y = {"predicted step, s", AxisScale::logarithmic}};
    for (Series* const series : {&outside, &inside, &exact}) {
        if (!series->x.empty()) { chart.series.push_back(std::move(*series)); }
    }
    return chart;
}

namespace {

constexpr std::size_t worst_shown = 15;

std::string runs_words(ErrorSummary const& s) {
    std::string const dropped = s.dropped > 0 ? ", " + std::to_string(s.dropped) + " suspect ones dropped" : "";
    return std::to_string(s.rows - s.skipped) + " of " + std::to_string(s.rows) + (s.rows == 1 ? " run" : " runs") +
           " (" + std::to_string(s.skipped) + " skipped" + dropped + ")";
}

std::string verdict(ValidationAnswer const& answer) {
    ErrorSummary const& s = answer.validation.summary;
    auto const memory_alone =
        std::ranges::count_if(answer.validation.rows, [](RunComparison const& row) { return row.run->only_memory(); });
    if (s.rows == 0 && memory_alone > 0) {
        return "No run states a time that can be compared: " + std::to_string(memory_alone) + " skipped" +
               ", reasons below; validate --memory compares their memory.";
    }
    if (!predicted(s)) { return "No run can be predicted: " + runs_words(s) + ", reasons below."; }
    std::string text = "Median absolute error of the step: " + percent(s.median_absolute_error) + " %";
    if (answer.left_out) {
        text +=
            " in sample, " + percent(answer.left_out->summary.median_absolute_error) + " % with each source left out";
    }
    return text + ", over " + runs_words(s) + ".";
}

std::string coverage_words(ErrorSummary const& s) {
    return std::to_string(s.predicted_of_stating_enough) + " of " + std::to_string(s.states_enough) +
           " runs that state enough are predicted (" + percent(share_predicted(s)) +
           " %); median absolute error of all that are predicted " + percent(s.median_absolute_error_predicted) + " %";
}

/// Group of the left-out comparison with this index; both list the same groups in the same order.
ErrorSummary const* left_out_group(ValidationAnswer const& answer, std::size_t index) {
    return answer.left_out ? &answer.left_out->groups.at(index).summary : nullptr;
}

/// The constants a line of a summary stands for.
constexpr char const* in_sample = "in sample";
constexpr char const* source_left_out = "source left out";

void add_summary(Table& table, std::string const& name, ErrorSummary const& s, char const* constants) {
    bool const some = predicted(s);
    table.rows.push_back({name, constants, std::to_string(s.rows), std::to_string(s.skipped),
                          counted(s) ? percent(s.median_absolute_error) : "-",
                          counted(s) ? percent(s.p90_absolute_error) : "-", some ? percent(s.mean_error) : "-",
                          some ? percent(s.interval_coverage) : "-"});
}

/// Every kind of model and all of them, in sample and left out one below the other.
Table kinds_table(ValidationAnswer const& answer) {
    Table table{.title = "Error of the step, by kind of model",
                .columns = {left("kind"), left("constants"), "runs", spare("skipped"), "median %", "90th %", "mean %",
                            "inside %"}};
    for (std::size_t i = 0; i < answer.validation.groups.size(); ++i) {
        ErrorGroup const& group = answer.validation.groups[i];
        if (group.by != "kind") { continue; }
        add_summary(table, group.name, group.summary, in_sample);
        if (ErrorSummary const* out = left_out_group(answer, i)) { add_summary(table, "", *out, source_left_out); }
    }
    add_summary(table, "all", answer.validation.summary, in_sample);
    if (answer.left_out) { add_summary(table, "", answer.left_out->summary, source_left_out); }
    return table;
}

/// Mixtures and hybrids by what the constants had not seen: nothing, the model, the source.
Table mixtures_table(ValidationAnswer const& answer) {
    Table table{.title = "Mixtures and hybrids, by what was left out of the fit",
                .columns = {left("constants"), "runs", "median %", "90th %", "mean %", "inside %"}};
    auto const mixtures = [](Validation const& validation) {
        std::vector<RunComparison> rows;
        std::ranges::copy_if(validation.rows, std::back_inserter(rows),
                             [](RunComparison const& row) { return !mixture_of(*row.run).empty(); });
        return summarise(rows);
    };
    auto const add = [&table](char const* constants, ErrorSummary const& s) {
        if (!predicted(s)) { return; }
        table.rows.push_back({constants, std::to_string(s.rows), percent(s.median_absolute_error),
                              percent(s.p90_absolute_error), percent(s.mean_error), percent(s.interval_coverage)});
    };
    if (!answer.left_out || !answer.models_left_out) { return table; }
    add(in_sample, mixtures(answer.validation));
    add("model left out", mixtures(*answer.models_left_out));
    add(source_left_out, mixtures(*answer.left_out));
    return table;
}

/// Title of the groups of a kind, and the heading of their names.
std::pair<std::string, std::string> titles_of(std::string const& by) {
    if (by == "states enough") { return {"Runs that state enough, by kind of model", "kind"}; }
    if (by == "given the 1-worker row") { return {"Scaling, given the measured step on one worker", "kind"}; }
    if (by == "assumed") { return {"Runs with an assumed dimension, batch, degree or recomputation", "runs that are"}; }
    if (by == "trained") { return {"By what is trained", "trained"}; }
    return {"By " + by, by};
}

/// A table each for sources, accelerators, strategies...
std::vector<Table> groups_tables(ValidationAnswer const& answer) {
    std::vector<Table> tables;
    std::string by;
    for (std::size_t i = 0; i < answer.validation.groups.size(); ++i) {
        ErrorGroup const& group = answer.validation.groups[i];
        if (group.by == "kind") { continue; } // stands above
        if (tables.empty() || group.by != by) {
            by = group.by;
            auto const [title, heading] = titles_of(by);
            tables.push_back(
                {.title = title,
                 .columns = {wrapped(heading), "runs", "skipped", "median %", "left out %", "mean %", "inside %"}});
        }
        ErrorSummary const& s = group.summary;
        ErrorSummary const* out = left_out_group(answer, i);
        tables.back().rows.push_back({group.name, std::to_string(s.rows), std::to_string(s.skipped),
                                      counted(s) ? percent(s.median_absolute_error) : "-",
                                      out != nullptr && counted(*out) ? percent(out->median_absolute_error) : "-",
                                      predicted(s) ? percent(s.mean_error) : "-",
                                      predicted(s) ? percent(s.interval_coverage) : "-"});
    }
    return tables;
}

/// Errors of ordinary software, by family, with constants that saw none of its runs; families without a time are left out.
Table ordinary_table(ValidationAnswer const& answer) {
    Table table{
        .title = "Ordinary software, by family left out",
        .columns = {wrapped("family"), "runs", "mean %", "median %", "90th %", "inside %", "not named %", "inside %"}};
    auto const cell = [](ErrorSummary const& s, double ErrorSummary::*value) {
        return predicted(s) ? percent(s.*value) : std::string{"-"};
    };
    for (OrdinaryFamily const& one : ordinary_families(answer)) {
        if (!predicted(one.left_out)) { continue; }
        table.rows.push_back({one.family, std::to_string(one.left_out.rows - one.left_out.skipped),
                              cell(one.left_out, &ErrorSummary::mean_error),
                              cell(one.left_out, &ErrorSummary::median_absolute_error),
                              cell(one.left_out, &ErrorSummary::p90_absolute_error),
                              cell(one.left_out, &ErrorSummary::interval_coverage),
                              cell(one.unnamed, &ErrorSummary::median_absolute_error),
                              cell(one.unnamed, &ErrorSummary::interval_coverage)});
    }
    return table;
}

Table worst_table(std::vector<RunComparison> const& rows) {
    std::vector<RunComparison const*> known;
    for (RunComparison const& row : rows) {
        if (row.relative_error && row.run->counts()) { known.push_back(&row); }
    }
    std::stable_sort(known.begin(), known.end(), [](RunComparison const* a, RunComparison const* b) {
        return std::abs(*a->relative_error) > std::abs(*b->relative_error);
    });
    known.resize(std::min(known.size(), worst_shown));
    Table table{
        .title = "Worst runs",
        .columns = {left("id"), wrapped("source"), wrapped("accelerator"), "measured s", "predicted s", "error %"}};
    for (RunComparison const* row : known) {
        table.rows.push_back({row->run->id, row->run->source, row->run->accelerator,
                              significant(row->run->measured.base()), significant(row->predicted->base()),
                              percent(*row->relative_error)});
    }
    return table;
}

Table skipped_table(std::vector<RunComparison> const& rows) {
    std::map<std::string, std::pair<int, int>> reasons; // all, and those that state enough
    for (RunComparison const& row : rows) {
        if (row.run->skipped_reason.empty() || !row.run->counts()) { continue; }
        auto& [all, enough] = reasons[row.run->skipped_reason];
        ++all;
        enough += row.run->states_enough ? 1 : 0;
    }
    Table table{.title = "Skipped", .columns = {"runs", "state enough", wrapped("reason")}};
    for (auto const& [reason, counts] : reasons) {
        table.rows.push_back({std::to_string(counts.first), std::to_string(counts.second), reason});
    }
    std::stable_sort(table.rows.begin(), table.rows.end(),
                     [](auto const& a, auto const& b) { return std::stoi(a[0]) > std::stoi(b[0]); });
    return table;
}

std::string left_out_words(ValidationAnswer const& answer) {
    if (!answer.left_out) { return "not known for these constants; headroom validate --leave-one-source-out finds it"; }
    return std::string{"constants fitted without any run of the source that is predicted: what to expect of a machine "
                       "or a team that the fit has not seen"} +
           (answer.refitted ? ", refitted now" : "");
}

} // namespace

std::vector<Metric> metrics_of(ValidationAnswer const* answer) {
    std::vector<Metric> metrics = metrics_of(field_table_of(answer), answer,
                                             {{"median_absolute_error", "summary.median_absolute_error"},
                                              {"p90_absolute_error", "summary.p90_absolute_error"},
                                              {"mean_error", "summary.mean_error"},
                                              {"mean_absolute_error", "summary.mean_absolute_error"},
                                              {"interval_coverage", "summary.interval_coverage"},
                                              {"skipped", "summary.skipped"},
                                              {"memory_median_absolute_error", "memory.median_absolute_error"},
                                              {"left_out_median_absolute_error", "left_out.median_absolute_error"},
                                              {"predicted_of_stating_enough", "summary.predicted_of_stating_enough"},
                                              {"left_out_mean_error", "left_out.mean_error"},
                                              {"regret_median", "regret.median_regret"},
                                              {"regret_worst", "regret.worst_regret"},
                                              {"regret_sweeps", "regret.sweeps"},
                                              {"median_tau", "regret.median_tau"}});
    ScaleSummary const* all = answer != nullptr && answer->scales && !answer->scales->rows.empty()
                                  ? &answer->scales->groups.front()
                                  : nullptr;
    auto const known = [all](double ScaleSummary::*value) {
        return all != nullptr ? std::optional{all->*value} : std::nullopt;
    };
    for (auto const& [name, value] : {std::pair{"scale_median_absolute_error", &ScaleSummary::median_after},
                                      {"scale_p90_absolute_error", &ScaleSummary::p90_after},
                                      {"scale_interval_coverage", &ScaleSummary::coverage_after}}) {
        metrics.push_back({.name = name, .value = known(value), .share = true});
    }
    return metrics;
}

Document document_of(ValidationReport const& given) {
    ValidationAnswer const& answer = given.answer;
    Document document{"Validation: " + answer.runs_name, {}, footer(given.catalog, given.calibration)};
    auto& blocks = document.blocks;
    blocks.emplace_back(Paragraph{verdict(answer), "", true});
    blocks.emplace_back(kinds_table(answer));
    blocks.emplace_back(Paragraph{"the constants in use", in_sample});
    blocks.emplace_back(Paragraph{left_out_words(answer), source_left_out});
    blocks.emplace_back(
        Paragraph{"median and 90th percentile of the absolute error; the mean keeps the sign (above "
                  "zero: predicted too slow); inside: share of runs within their interval; left out: the "
                  "median with the source left out",
                  "columns"});
    blocks.emplace_back(Paragraph{std::to_string(answer.free_constants) +
                                      " that the fit was free to move: constants that all runs share, and the pace of "
                                      "each framework with kernels of its own",
                                  "free constants"});
    if (answer.validation.summary.states_enough > 0 && predicted(answer.validation.summary)) {
        blocks.emplace_back(Paragraph{coverage_words(answer.validation.summary), "coverage"});
    }
    if (auto text = words_of(answer.narrows); !text.empty()) {
        blocks.emplace_back(Paragraph{std::move(text), "to narrow it"});
    }
    blocks.emplace_back(Paragraph{"a skipped run that states enough counts as a 100 % error in every median", "rule"});
    if (!answer.measures.empty()) {
        blocks.emplace_back(measures_table(answer.measures));
        blocks.emplace_back(Paragraph{
            "transformers without experts on data-centre GPUs, trained whole, with their state on the "
            "accelerator; small models on one node: vTrain's; specified: no dimension, batch, degree, virtual "
            "stage or recomputation assumed; kept: with suspect runs",
            "dense"});
    }
    if (Table families = ordinary_table(answer); !families.rows.empty()) {
        blocks.emplace_back(std::move(families));
        blocks.emplace_back(
            Paragraph{"mean, 90th percentile and the share inside are with the family left out; not named: "
                      "with the framework guessed, too",
                      "columns"});
    }
    if (auto chart = error_chart(answer.validation.rows)) { blocks.emplace_back(std::move(*chart)); }
    for (Table& table : std::array{mixtures_table(answer), bands_table(answer)}) {
        add_table(blocks, std::move(table));
    }
    for (Table& table : groups_tables(answer)) { blocks.emplace_back(std::move(table)); }
    if (Table paces = pace_table(answer); !paces.rows.empty()) {
        blocks.emplace_back(std::move(paces));
        blocks.emplace_back(
            Paragraph{"times the computation that the shared constants give, fitted to the runs of that "
                      "framework (above 1: slower); then what it is without each source of these runs, '-' "
                      "where no other source is left, and 1 is taken",
                      "factor"});
    }
    if (answer.scales && answer.asked_for_scales) { add_scales(blocks, *answer.scales); }
    if (!answer.choice.sweeps.empty()) { add_choice(blocks, answer.choice, answer.left_out.has_value()); }
    if (!answer.utilization.rows.empty()) { add_utilization(blocks, answer.utilization); }
    if (answer.validation.memory.rows > 0) { blocks.emplace_back(memory_words(answer.validation)); }
    add_table(blocks, worst_table(answer.validation.rows));
    add_table(blocks, dropped_table(answer.validation));
    add_table(blocks, skipped_table(answer.validation.rows));
    add_issues(blocks, answer.issues);
    return document;
}

} // namespace headroom::cli
