#include "headroom/fit/training_fit.hpp"

#include "pulled_constants.hpp"
#include "scaling_statistics.hpp"

#include "headroom/error.hpp"
#include "headroom/training/step.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <set>
#include <vector>

namespace headroom::fit {

using namespace headroom::training;

namespace {

/// A run with everything computed once that does not depend on constants.
struct FitRow {
    PublishedRun const* run;
    LayerShape shape;
    StepProgram program;
    StepSetting setting; ///< of any constants
    double weight;
};

/// Setting with other constants: what follows from the model is not counted again.
StepSetting with_constants(StepSetting const& setting, Calibration const& constants) {
    return {.model = setting.model,
            .cluster = setting.cluster,
            .framework = setting.framework,
            .constants = constants,
            .workload = setting.workload,
            .disturbance = setting.disturbance,
            .expected_slowest = setting.expected_slowest,
            .fullest_of = setting.fullest_of,
            .count = setting.count,
            .blocks = setting.blocks,
            .sums = setting.sums};
}

/// Step of a run with some constants, priced or screened.
Seconds step_of(FitRow const& row, Calibration const& constants, bool priced) {
    auto const& question = *row.run->question;
    StepSetting const setting = with_constants(row.setting, constants);
    auto const costs = layer_costs(row.program, row.shape, question.cluster, question.framework, constants);
    return priced ? price_step(setting, question.strategy, costs).total()
                  : screen_step(setting, question.strategy, costs);
}

/// Whether a run takes part in the fit: frameworks with kernels of their own do not determine the constants of the
/// others.
bool fitted(PublishedRun const& run) { return run.question && run.counts() && !run.question->framework.paced; }

/// Runs that share what one source left unsaid: its mixtures and its dense models are tables of their own.
std::string crowd_of(PublishedRun const& run) { return run.source + (run.kind == "moe" ? " mixtures" : ""); }

/// Weight of a run in the fit of constants that runs share, 0 to 1. Repeats of one mixture differ by 4 % in the median
/// and 11 % in the mean, three times as much as dense ones; of some runs the batch, of offloaded ones the host is not
/// stated.
double confidence(PublishedRun const& run) {
    auto const& question = *run.question;
    constexpr double of_mixtures = 0.4, of_the_unstated = 0.2;
    if (run.batch_assumed || question.strategy.offload != Offload::none) { return of_the_unstated; }
    return question.model.moe.experts > 0 ? of_mixtures : 1.0;
}

using LeftOut = std::function<bool(PublishedRun const&)>;

std::vector<FitRow> fit_rows(std::span<PublishedRun const> runs, LeftOut const& left_out) {
    std::map<std::string, int> of_source;
    std::map<std::pair<std::string, std::string>, int> of_both;
    for (auto const& run : runs) {
        if (!fitted(run) || left_out(run)) { continue; }
        ++of_source[crowd_of(run)];
        ++of_both[{crowd_of(run), run.accelerator}];
    }
    std::vector<FitRow> rows;
    for (auto const& run : runs) {
        if (!fitted(run) || left_out(run)) { continue; }
        auto const& question = *run.question;
        auto const shape = shape_of(question.strategy, question.workload);
        constexpr double few = 20.0; // rows: a source of fewer must not weigh like a whole table
        double const crowd = (of_source[crowd_of(run)] + few) * (of_both[{crowd_of(run), run.accelerator}] + few);
        static constexpr Calibration unused{};
        rows.push_back({&run, shape, step_program(question.model, shape, question.framework),
                        step_setting(question, question.cluster, unused), std::pow(crowd, -0.25) * confidence(run)});
    }
    double sum = 0.0;
    for (auto const& row : rows) { sum += row.weight * row.weight; }
    double const scale = std::sqrt(static_cast<double>(rows.size()) / std::max(sum, 1e-300));
    for (auto& row : rows) { row.weight *= scale; }
    return rows;
}

/// Constants that ordinary software determines. Tuned frameworks determine all others, which are held here: how users
/// set their software up must not bend what a chip sustains.
constexpr std::array ordinary_constants{Constant::gemm_cdna,   Constant::power_exponent, Constant::untuned_exponent,
                                        Constant::host_launch, Constant::host_gather,    Constant::host_path,
                                        Constant::host_update};

/// Constants with a spread, those of ordinary software or the others.
std::vector<Constant> with_spread(CalibrationSet const& set, bool ordinary) {
    std::vector<Constant> free;
    for (auto const& info : constants()) {
        bool const of_ordinary = std::ranges::find(ordinary_constants, info.id) != ordinary_constants.end();
        if (set[info.id].spread > 0.0 && of_ordinary == ordinary) { free.push_back(info.id); }
    }
    return free;
}

/// Logarithm of price over screen of each run.
std::vector<double> beyond_screen(std::vector<FitRow> const& rows, Calibration const& constants) {
    std::vector<double> logs;
    for (auto const& row : rows) {
        logs.push_back(std::log(step_of(row, constants, true) / step_of(row, constants, false)));
    }
    return logs;
}

/// Error of a run: the logarithm of its screen over its measured step, and that of price over screen.
double error_of(FitRow const& row, Calibration const& constants, double beyond) {
    return std::log(step_of(row, constants, false) / row.run->measured) + beyond;
}

PulledConstants::Measured residuals_of(std::vector<FitRow> const& rows, std::vector<double> const& beyond,
                                       FitSettings const& settings) {
    return [&rows, &beyond, &settings](Calibration const& values, std::span<double> r) {
        for (std::size_t i = 0; i < rows.size(); ++i) {
            r[i] = rows[i].weight * robust(error_of(rows[i], values, beyond[i]), settings.huber) / settings.noise;
        }
    };
}

/// Fits the price of every run by Gauss-Newton steps on its screen: the screen is a hundred times faster, and its slopes are
/// those of the price to a few per cent.
///
///     residual(c) = log screen(c) + d - log measured,   d = log price - log screen at the constants of the step before
///
/// The steps end where no constant moves by more than a thousandth of its spread.
LeastSquares solved(std::vector<FitRow> const& rows, PulledConstants const& unknowns, FitSettings const& settings) {
    constexpr double settled = 1e-3;
    std::vector<double> start(unknowns.free().size());
    std::optional<LeastSquares> solution;
    for (int step = 0; step < settings.iterations; ++step) {
        auto const beyond = beyond_screen(rows, unknowns.at(start));
        solution = unknowns.solved(rows.size(), residuals_of(rows, beyond, settings), start,
                                   {.iterations = 1,
                                    .shift = settled,
                                    .step = settings.step,
                                    .threads = settings.threads,
                                    .stop = settings.stop});
        double moved = 0.0;
        for (std::size_t i = 0; i < start.size(); ++i) { moved = std::max(moved, std::abs(solution->z[i] - start[i])); }
        start = solution->z;
        if (moved < settled) { break; }
    }
    return std::move(*solution);
}

/// Number of sources that determine a constant: those whose rows move it by more than a tenth of the pull towards the
/// independent value.
int sources_behind(std::span<double const> slopes, std::vector<FitRow> const& rows) {
    std::vector<std::string const*> sources;
    for (auto const& row : rows) { sources.push_back(&row.run->source); }
    constexpr double noticeable = 0.1;
    return static_cast<int>(std::ranges::count_if(information_by_name(slopes, sources),
                                                  [](auto const& entry) { return entry.second > noticeable; }));
}

/// Takes over what a fit found of its free constants.
void take(LeastSquares const& solution, PulledConstants const& unknowns, std::vector<FitRow> const& rows,
          CalibrationSet& set) {
    auto const covariance = inverse_information(solution.jacobian);
    auto const values = unknowns.at(solution.z);
    auto const& free = unknowns.free();
    for (std::size_t i = 0; i < free.size(); ++i) {
        int const sources = sources_behind(solution.jacobian.column(i), rows);
        if (sources == 0) { continue; } // no run determines it
        auto& constant = set[free[i]];
        set_fitted(constant, values[free[i]], constant.spread * std::sqrt((*covariance)(i, i)));
        constant.sources = sources;
        constant.provenance = Provenance::fitted;
    }
}

/// Fits the constants of ordinary software to its runs, with all others held.
void fit_ordinary(std::span<PublishedRun const> runs, LeftOut const& left_out, CalibrationSet& set,
                  FitSettings const& settings) {
    auto const rows = fit_rows(runs, [&](PublishedRun const& run) { return !run.ordinary || left_out(run); });
    if (rows.empty()) { return; }
    PulledConstants const unknowns{set, with_spread(set, true)};
    take(solved(rows, unknowns, settings), unknowns, rows, set);
}

bool is_ordinary(PublishedRun const& run) { return run.ordinary; }

} // namespace

CalibrationSet fit_training(std::span<PublishedRun const> runs, CalibrationSet const& independent,
                            FitSettings const& settings) {
    auto const rows = fit_rows(runs, is_ordinary);
    PulledConstants const unknowns{independent, with_spread(independent, false)};
    auto const& free = unknowns.free();
    if (rows.size() < free.size()) {
        too_little("fit", std::to_string(rows.size()) + " predicted runs cannot determine " +
                              std::to_string(free.size()) + " constants");
    }
    CalibrationSet set = independent;
    take(solved(rows, unknowns, settings), unknowns, rows, set);
    fit_ordinary(
        runs, [](PublishedRun const&) { return false; }, set, settings);
    set.pace = fit_paces(runs, set, {});
    set.seen = seen_by(runs);
    return set;
}

void refit_ordinary(std::span<PublishedRun const> runs, std::string const& without, CalibrationSet& set,
                    FitSettings const& settings) {
    fit_ordinary(
        runs, [&without](PublishedRun const& run) { return run.source == without; }, set, settings);
}

std::map<std::string, Pace> fit_paces(std::span<PublishedRun const> runs, CalibrationSet const& set,
                                      std::string const& without) {
    std::map<std::string, std::vector<std::pair<double, double>>> samples; // log factor, weight
    std::map<std::string, std::set<std::string>> sources;
    std::map<std::pair<std::string, std::string>, int> of_both;
    auto const given = anchors(runs);
    auto const used = [&](PublishedRun const& run) {
        return run.question && run.counts() && run.question->framework.paced && run.source != without &&
               !given.contains(&run);
    };
    for (auto const& run : runs) {
        if (used(run)) { ++of_both[{run.question->framework.name, run.source}]; }
    }
    for (auto const& run : runs) {
        if (!used(run)) { continue; }
        auto const& name = run.question->framework.name;
        double const weight = 1.0 / std::sqrt(of_both[{name, run.source}]);
        samples[name].emplace_back(std::log(pace_to_meet(run, set)), weight);
        sources[name].insert(run.source);
    }
    std::map<std::string, Pace> paces;
    for (auto& [name, values] : samples) {
        constexpr double doubt = 3.0; // runs' worth of belief that the factor is 1
        double const trust = static_cast<double>(values.size()) / (static_cast<double>(values.size()) + doubt);
        paces[name] = {.factor = std::exp(trust * weighted_quantile(values, 0.5)),
                       .rows = static_cast<int>(values.size()),
                       .sources = static_cast<int>(sources[name].size())};
    }
    return paces;
}

namespace {

/// Fit of all runs at its end: what fits without some of them start from.
struct FitOfAll {
    CalibrationSet base; ///< values that constants are pulled towards; those of ordinary software as fitted
    CalibrationSet const& set;
    std::vector<FitRow> rows;
    std::vector<double> beyond;
    Matrix slopes; ///< of the errors by z, rows by constants
    std::map<PublishedRun const*, std::size_t> row_of;
};

/// Slopes of the errors at the constants of a fit.
FitOfAll fit_of_all(std::span<PublishedRun const> runs, CalibrationSet const& set, CalibrationSet const& independent,
                    FitSettings const& settings) {
    auto rows = fit_rows(runs, is_ordinary);
    CalibrationSet base = independent;
    for (Constant const id : ordinary_constants) { base[id].value = set[id].value; }
    PulledConstants const unknowns{base, with_spread(base, false)};
    auto beyond = beyond_screen(rows, set.values());
    auto const errors = [&](Calibration const& values, std::span<double> r) {
        for (std::size_t i = 0; i < rows.size(); ++i) { r[i] = error_of(rows[i], values, beyond[i]); }
    };
    auto slopes = unknowns.slopes(rows.size(), errors, unknowns.z_of(set),
                                  {.step = settings.step, .threads = settings.threads, .stop = settings.stop});
    std::map<PublishedRun const*, std::size_t> row_of;
    for (std::size_t i = 0; i < rows.size(); ++i) { row_of[rows[i].run] = i; }
    return {std::move(base), set, std::move(rows), std::move(beyond), std::move(slopes), std::move(row_of)};
}

/// Constants fitted without some runs, from those of all: few steps are left to go, with the slopes of the fit of all.
CalibrationSet fit_without(std::span<PublishedRun const> runs, LeftOut const& left_out, FitOfAll const& all,
                           FitSettings const& settings) {
    auto const rows = fit_rows(runs, [&](PublishedRun const& run) { return run.ordinary || left_out(run); });
    PulledConstants const unknowns{all.base, with_spread(all.base, false)};
    std::vector<double> beyond;
    for (auto const& row : rows) { beyond.push_back(all.beyond[all.row_of.at(row.run)]); }
    auto const slopes = [&](Calibration const& values, Matrix& jacobian) {
        for (std::size_t i = 0; i < rows.size(); ++i) {
            double const scale =
                rows[i].weight / settings.noise * robust_slope(error_of(rows[i], values, beyond[i]), settings.huber);
            std::size_t const row = all.row_of.at(rows[i].run);
            for (std::size_t j = 0; j < all.slopes.columns(); ++j) { jacobian(i, j) = scale * all.slopes(row, j); }
        }
    };
    constexpr double near = 1e-3; // of a constant's spread: what is left moves no prediction by a thousandth
    auto const solution =
        unknowns.solved(rows.size(), residuals_of(rows, beyond, settings), unknowns.z_of(all.set),
                        {.iterations = settings.iterations, .shift = near, .stop = settings.stop}, slopes);
    CalibrationSet set = all.set;
    auto const values = unknowns.at(solution.z);
    for (auto const& info : constants()) { set[info.id].value = values[info.id]; }
    bool const of_ordinary = std::ranges::any_of(
        runs, [&](PublishedRun const& run) { return run.ordinary && fitted(run) && left_out(run); });
    if (of_ordinary) { fit_ordinary(runs, left_out, set, settings); }
    return set;
}

/// Bands made without the residuals of each of these names.
std::map<std::string, Bands> bands_without_each(std::vector<Residual> const& residuals,
                                                std::map<std::string, Calibration> const& names,
                                                std::string Residual::*group) {
    std::map<std::string, Bands> found;
    for (auto const& [name, values] : names) {
        std::vector<Residual> others = residuals;
        std::erase_if(others,
                      [group, &without = name](Residual const& residual) { return residual.*group == without; });
        found.emplace(name, conformal_bands(others));
    }
    return found;
}

} // namespace

Folds leave_one_source_out(std::span<PublishedRun const> runs, CalibrationSet const& start,
                           CalibrationSet const& independent, FitSettings const& settings) {
    std::set<std::string> sources, mixtures;
    for (auto const& run : runs) {
        if (run.question) { sources.insert(run.source); }
        if (auto const mixture = mixture_of(run); !mixture.empty()) { mixtures.insert(mixture); }
    }
    auto const all = fit_of_all(runs, start, independent, settings);
    Folds folds;
    for (auto const& source : sources) {
        auto const left_out = [&source](PublishedRun const& run) { return run.source == source; };
        CalibrationSet set = fit_without(runs, left_out, all, settings);
        folds.without.emplace(source, set.values());
        folds.pace[source] = fit_paces(runs, set, source);
        folds.seen.emplace(source, seen_by(runs, source));
    }
    if (!settings.by_mixture) { return folds; }
    for (auto const& mixture : mixtures) {
        auto const left_out = [&mixture](PublishedRun const& run) { return mixture_of(run) == mixture; };
        folds.without_model.emplace(mixture, fit_without(runs, left_out, all, settings).values());
    }
    auto const residuals = left_out_residuals(runs, start, folds);
    folds.bands = bands_without_each(residuals, folds.without, &Residual::source);
    folds.bands_model = bands_without_each(residuals, folds.without_model, &Residual::group);
    return folds;
}

std::vector<Residual> left_out_residuals(std::span<PublishedRun const> runs, CalibrationSet const& set,
                                         Folds const& folds) {
    std::vector<Residual> residuals;
    auto const add = [&residuals](RunComparison const& row, Extrapolation kind, std::string const& group) {
        if (row.relative_error && row.run->counts()) {
            residuals.push_back({kind, row.run->source, group, -std::log1p(*row.relative_error)});
        }
    };
    auto const by_source = validate_left_out(runs, set, folds);
    for (auto const& row : by_source.rows) {
        bool const of_seen_kind = row.extrapolation == Extrapolation::mixture;
        Extrapolation const kind = of_seen_kind ? Extrapolation::unseen_mixture : row.extrapolation;
        // what users set up themselves tells nothing of how far tuned runs scatter
        bool const ordinary = row.run->ordinary && row.run->question && !row.run->question->framework.paced;
        add(row, ordinary ? extrapolation_of_ordinary(row.run->question->strategy) : kind, row.run->source);
    }
    auto const unnamed = unnamed_runs(runs);
    for (auto const& row : validate_left_out(unnamed, set, folds).rows) {
        if (row.extrapolation == Extrapolation::guessed_framework) { add(row, row.extrapolation, row.run->source); }
    }
    auto const by_model = validate_models_left_out(runs, set, folds);
    for (auto const& row : by_model.rows) { add(row, Extrapolation::mixture, mixture_of(*row.run)); }
    return residuals;
}

} // namespace headroom::fit
