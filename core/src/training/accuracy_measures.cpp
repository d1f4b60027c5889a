#include "headroom/training/accuracy_measures.hpp"

#include "headroom/order_statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

namespace headroom::training {
namespace {

using Chooses = std::function<bool(PublishedRun const&)>;

constexpr char const* in_sample = "in sample";
constexpr char const* source_left_out = "source left out";

bool on_data_centre_gpu(PublishedRun const& run) {
    constexpr std::array generations{Generation::volta,  Generation::ampere,    Generation::ada,
                                     Generation::hopper, Generation::blackwell, Generation::blackwell_ultra};
    return std::ranges::find(generations, run.question->cluster.accelerator.generation) != generations.end();
}

/// By the fields of the row, because a skipped row has no question.
bool dense(PublishedRun const& run) {
    if (run.kind != "dense" || !run.question) { return false; }
    auto const& strategy = run.question->strategy;
    return on_data_centre_gpu(run) && strategy.trained == Trained::all && strategy.offload == Offload::none &&
           run.question->framework.name != "llm-q"; // a trainer of its own in C++, which the bars leave out
}
bool mixture(PublishedRun const& run) { return run.kind == "moe"; }
bool on_one_node(PublishedRun const& run) {
    return run.question && run.question->strategy.workers() <= run.question->cluster.accelerators_per_node;
}
/// Small models in one source's sweep of every plan of a node: a line of their own, or they would be a sixth of the rows.
bool small_on_one_node(PublishedRun const& run) { return run.source == "vtrain" && on_one_node(run); }
bool core_dense(PublishedRun const& run) { return dense(run) && !small_on_one_node(run); }
bool small_dense(PublishedRun const& run) { return dense(run) && small_on_one_node(run); }
bool specified(PublishedRun const& run) { return core_dense(run) && !run.structural_assumption; }

std::vector<RunComparison> those(std::span<RunComparison const> rows,
                                 std::function<bool(RunComparison const&)> const& hold) {
    std::vector<RunComparison> kept;
    std::ranges::copy_if(rows, std::back_inserter(kept), hold);
    return kept;
}

/// Bars of the median and the 90th percentile of absolute errors; what has none is not judged.
struct ErrorBars {
    std::optional<double> median = {}, p90 = {};
};

class Measures {
public:
    void errors(std::string name, char const* constants, std::span<RunComparison const> rows, ErrorBars const& bars) {
        auto const summary = summarise(rows), whole = summarise(rows, Suspects::kept);
        AccuracyMeasure measure{std::move(name), constants, summary.rows, {}};
        auto const add = [&](char const* figure, double ErrorSummary::*value, std::optional<double> bar) {
            if (!bar) { return; }
            measure.figures.push_back({.name = figure, .value = summary.*value, .bar = *bar});
            if (summary.dropped > 0) { measure.figures.back().with_suspects = whole.*value; }
        };
        add("median", &ErrorSummary::median_absolute_error, bars.median);
        add("90th", &ErrorSummary::p90_absolute_error, bars.p90);
        keep(std::move(measure));
    }
    void errors_of(std::string name, char const* constants, Validation const* validation, Chooses const& chooses,
                   ErrorBars const& bars) {
        if (validation == nullptr) { return; }
        auto const rows = those(validation->rows, [&](RunComparison const& row) { return chooses(*row.run); });
        errors(std::move(name), constants, rows, bars);
    }
    void keep(AccuracyMeasure measure) {
        if (measure.rows > 0) { all_.push_back(std::move(measure)); }
    }
    std::vector<AccuracyMeasure> all() && { return std::move(all_); }

private:
    std::vector<AccuracyMeasure> all_;
};

void add_published(Measures& measures, AccuracyEvidence const& e) {
    constexpr ErrorBars tuned{0.07, 0.18};
    measures.errors_of("dense, tuned", source_left_out, e.left_out, core_dense, tuned);
    measures.errors_of("dense, tuned, specified", source_left_out, e.left_out, specified, tuned);
    measures.errors_of("dense, small models on one node", source_left_out, e.left_out, small_dense, tuned);
    measures.errors_of("mixtures and hybrids", "model left out", e.models_left_out, mixture, {0.11, {}});
    auto const given = those(e.in_sample.rows, [](RunComparison const& row) { return row.anchor != nullptr; });
    measures.errors("CNN, BERT and kin, given 1 worker", in_sample, given, {0.06, {}});
}

void add_given_one_run(Measures& measures, ScaleValidation const* scales) {
    if (scales == nullptr) { return; }
    std::vector<ScaledRun> rows;
    std::ranges::copy_if(scales->rows, std::back_inserter(rows), [](ScaledRun const& row) { return dense(*row.run); });
    auto const add = [&](char const* name, std::span<ScaledRun const> some) {
        auto const summary = summarise_scales("kind", "dense", some);
        measures.keep({name,
                       "given one run",
                       summary.rows,
                       {{.name = "median", .value = summary.median_after, .bar = 0.03},
                        {.name = "90th", .value = summary.p90_after, .bar = 0.15}}});
    };
    auto const several = std::stable_partition(rows.begin(), rows.end(),
                                               [](ScaledRun const& row) { return !small_on_one_node(*row.run); });
    std::vector<ScaledRun> const on_nodes(several, rows.end());
    rows.erase(several, rows.end());
    add("dense, tuned, larger scales", rows);
    add("dense, small models on one node, larger scales", on_nodes);
}

/// Regret of sweeps with enough plans to choose from.
void add_choice(Measures& measures, PlanChoice const* choice, char const* constants) {
    constexpr std::size_t enough = 5;
    if (choice == nullptr) { return; }
    std::vector<double> regrets;
    for (PlanSweep const& sweep : choice->sweeps) {
        if (sweep.plans.size() >= enough) { regrets.push_back(sweep.regret); }
    }
    if (regrets.empty()) { return; }
    measures.keep({"regret of the chosen plan, sweeps of 5 plans or more",
                   constants,
                   static_cast<int>(regrets.size()),
                   {{.name = "median", .value = quantile(regrets, 0.5), .bar = 0.01},
                    {.name = "worst", .value = std::ranges::max(regrets), .bar = 0.10}}});
}

void add_skips(Measures& measures, Validation const& in_sample_rows) {
    auto const& all = in_sample_rows.summary;
    if (all.states_enough == 0) { return; }
    auto const skipped = [](ErrorSummary const& s) {
        return 1.0 - static_cast<double>(s.predicted_of_stating_enough) / s.states_enough;
    };
    AccuracyFigure figure{.name = "skipped", .value = skipped(all), .bar = 0.02};
    if (all.dropped > 0) { figure.with_suspects = skipped(summarise(in_sample_rows.rows, Suspects::kept)); }
    measures.keep({"runs that state enough", in_sample, all.states_enough, {figure}});
}

// ---- ordinary software ------------------------------------------------------------------------------------------------

bool any(PublishedRun const&) { return true; }

using Rows = std::vector<RunComparison const*>;

/// Predicted rows that count, each with the weight that makes families alike.
struct AlikeRows {
    Rows rows;
    std::vector<double> weights;
};

AlikeRows alike(Validation const& validation, Chooses const& chooses) {
    AlikeRows found;
    std::map<std::string, int> of_family;
    for (auto const& row : validation.rows) {
        if (!row.relative_error || !row.run->counts() || !chooses(*row.run)) { continue; }
        found.rows.push_back(&row);
        ++of_family[row.run->source];
    }
    for (auto const* row : found.rows) { found.weights.push_back(1.0 / of_family[row->run->source]); }
    return found;
}

double alike_quantile(AlikeRows const& of, double share) {
    std::vector<WeightedValue> errors;
    for (std::size_t i = 0; i < of.rows.size(); ++i) {
        errors.push_back({std::abs(*of.rows[i]->relative_error), of.weights[i]});
    }
    return weighted_quantile(std::move(errors), share);
}

double alike_coverage(AlikeRows const& of) {
    double inside = 0.0, all = 0.0;
    for (std::size_t i = 0; i < of.rows.size(); ++i) {
        all += of.weights[i];
        inside += of.rows[i]->inside_interval ? of.weights[i] : 0.0;
    }
    return inside / all;
}

/// The least coverage of a family with enough rows.
std::optional<double> least_coverage(AlikeRows const& of) {
    constexpr int enough = 8;
    std::map<std::string, std::pair<int, int>> inside;
    for (auto const* row : of.rows) {
        auto& [all, held] = inside[row->run->source];
        ++all, held += row->inside_interval ? 1 : 0;
    }
    std::optional<double> least;
    for (auto const& [family, counts] : inside) {
        if (counts.first < enough) { continue; }
        double const share = static_cast<double>(counts.second) / counts.first;
        least = std::min(least.value_or(1.0), share);
    }
    return least;
}

/// The share of runs inside their 90 % intervals, and that of the family with the least.
std::vector<AccuracyFigure> coverage_figures(double inside, AlikeRows const& of) {
    std::vector<AccuracyFigure> figures{{.name = "inside", .value = inside, .bar = 0.95, .least = 0.85}};
    if (auto const least = least_coverage(of)) {
        figures.push_back({.name = "least family", .value = *least, .bar = 1.0, .least = 0.75});
    }
    return figures;
}

void add_intervals(Measures& measures, Validation const* left_out) {
    if (left_out == nullptr) { return; }
    auto const all = summarise(left_out->rows);
    measures.keep({"90 % interval", source_left_out, all.rows - all.skipped,
                   coverage_figures(all.interval_coverage, alike(*left_out, any))});
}

bool on_several_nodes(PublishedRun const& run) { return run.question && !on_one_node(run); }
bool of_another_vendor(PublishedRun const& run) {
    return run.question && run.question->cluster.accelerator.vendor != "NVIDIA";
}
bool over_slow_links(PublishedRun const& run) { return run.slow_links && run.question->strategy.workers() > 1; }

void add_alike(Measures& measures, char const* name, char const* constants, AlikeRows const& of,
               ErrorBars const& bars) {
    if (of.rows.empty()) { return; }
    measures.keep({name,
                   constants,
                   static_cast<int>(of.rows.size()),
                   {{.name = "median", .value = alike_quantile(of, 0.5), .bar = *bars.median},
                    {.name = "90th", .value = alike_quantile(of, 0.9), .bar = *bars.p90}}});
}

void add_ordinary(Measures& measures, AccuracyEvidence const& e) {
    constexpr char const* family_left_out = "family left out";
    constexpr ErrorBars whole{0.12, 0.30}, part{0.15, 0.40};
    if (e.ordinary != nullptr) { add_alike(measures, "ordinary software", in_sample, alike(*e.ordinary, any), whole); }
    if (e.ordinary_left_out != nullptr) {
        Validation const& left_out = *e.ordinary_left_out;
        auto const all = alike(left_out, any);
        add_alike(measures, "ordinary software", family_left_out, all, whole);
        add_alike(measures, "ordinary, several nodes", family_left_out, alike(left_out, on_several_nodes), part);
        add_alike(measures, "ordinary, other vendors", family_left_out, alike(left_out, of_another_vendor), part);
        add_alike(measures, "ordinary, PCIe or Ethernet", family_left_out, alike(left_out, over_slow_links), part);
        if (!all.rows.empty()) {
            measures.keep({"90 % interval, ordinary software", family_left_out, static_cast<int>(all.rows.size()),
                           coverage_figures(alike_coverage(all), all)});
        }
    }
    if (e.ordinary_unnamed == nullptr) { return; }
    auto const unnamed = alike(*e.ordinary_unnamed, any);
    if (unnamed.rows.empty()) { return; }
    measures.keep({"90 % interval, framework not named",
                   family_left_out,
                   static_cast<int>(unnamed.rows.size()),
                   {{.name = "inside", .value = alike_coverage(unnamed), .bar = 0.95, .least = 0.85}}});
}

} // namespace

bool AccuracyMeasure::holds() const { return std::ranges::all_of(figures, &AccuracyFigure::holds); }

std::vector<AccuracyMeasure> accuracy_measures(AccuracyEvidence const& evidence) {
    Measures measures;
    add_published(measures, evidence);
    add_given_one_run(measures, evidence.scales);
    add_intervals(measures, evidence.left_out);
    add_choice(measures, evidence.choice, evidence.left_out != nullptr ? source_left_out : in_sample);
    add_skips(measures, evidence.in_sample);
    add_ordinary(measures, evidence);
    return std::move(measures).all();
}

} // namespace headroom::training
