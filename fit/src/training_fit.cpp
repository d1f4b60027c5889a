#include "headroom/fit/training_fit.hpp"

#include "headroom/error.hpp"
#include "headroom/step.hpp"

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>
#include <set>
#include <thread>
#include <vector>

namespace headroom::fit {
namespace {

/// A run with everything computed once that does not depend on constants.
struct FitRow {
    PublishedRun const* run;
    LayerShape shape;
    StepProgram program;
    double weight;
};

double log_error(FitRow const& row, Calibration const& constants) {
    auto const& question = *row.run->question;
    StepSetting const setting = step_setting(question, question.cluster, constants);
    auto const costs = layer_costs(row.program, row.shape, question.cluster, question.framework, constants);
    return std::log(step_time(setting, question.strategy, costs).total() / row.run->measured);
}

/// Stacks whose kernels are their own say nothing about the constants of the others.
bool fitted(PublishedRun const& run) { return run.question && !run.question->framework.paced; }

/// Runs that share what one source left unsaid: its mixtures and its dense models are tables of their own.
std::string crowd_of(PublishedRun const& run) { return run.source + (run.kind == "moe" ? " mixtures" : ""); }

/// How far a run says something about constants that other runs share. Repeats of one mixture differ by 4 % in the
/// median and 11 % in the mean, three times as much as dense ones; of some runs the batch, of offloaded ones the host is not stated.
double confidence(PublishedRun const& run) {
    auto const& question = *run.question;
    constexpr double of_mixtures = 0.4, of_the_unstated = 0.2;
    if (run.batch_assumed || question.strategy.offload != Offload::none) { return of_the_unstated; }
    return question.model.moe.experts > 0 ? of_mixtures : 1.0;
}

std::vector<FitRow> fit_rows(std::span<PublishedRun const> runs, std::string const& without) {
    std::map<std::string, int> of_source;
    std::map<std::pair<std::string, std::string>, int> of_both;
    for (auto const& run : runs) {
        if (!fitted(run) || run.source == without) { continue; }
        ++of_source[crowd_of(run)];
        ++of_both[{crowd_of(run), run.accelerator}];
    }
    std::vector<FitRow> rows;
    for (auto const& run : runs) {
        if (!fitted(run) || run.source == without) { continue; }
        auto const& question = *run.question;
        auto const shape = shape_of(question.strategy, question.workload);
        constexpr double few = 20.0; // rows: a source of fewer must not weigh like a whole table
        double const crowd = (of_source[crowd_of(run)] + few) * (of_both[{crowd_of(run), run.accelerator}] + few);
        rows.push_back({&run, shape, step_program(question.model, shape, question.framework),
                        std::pow(crowd, -0.25) * confidence(run)});
    }
    double sum = 0.0;
    for (auto const& row : rows) { sum += row.weight * row.weight; }
    double const scale = std::sqrt(static_cast<double>(rows.size()) / std::max(sum, 1e-300));
    for (auto& row : rows) { row.weight *= scale; }
    return rows;
}

/// Residuals r_i(z) of the penalised problem in standardised log constants z.
class Problem {
public:
    Problem(std::vector<FitRow> const& rows, CalibrationSet const& independent, FitSettings const& settings)
        : rows_{rows}, base_{independent}, settings_{settings} {
        for (auto const& info : constants()) {
            if (constant(info.id).spread > 0.0) { free_.push_back(info.id); }
        }
    }

    [[nodiscard]] int parameters() const { return static_cast<int>(free_.size()); }
    [[nodiscard]] int residuals() const { return static_cast<int>(rows_.size()) + parameters(); }
    [[nodiscard]] std::vector<Constant> const& free() const { return free_; }

    [[nodiscard]] Calibration at(Eigen::VectorXd const& z) const {
        Calibration values = base_.values();
        for (int i = 0; i < parameters(); ++i) {
            auto const& known = constant(free_[static_cast<std::size_t>(i)]);
            values[free_[static_cast<std::size_t>(i)]] = known.independent * std::exp(known.spread * z[i]);
        }
        return values;
    }

    [[nodiscard]] Eigen::VectorXd residual(Eigen::VectorXd const& z) const {
        Eigen::VectorXd r(residuals());
        fill_rows(at(z), r);
        r.tail(parameters()) = z;
        return r;
    }

    /// Central differences, column by column; columns are independent, so threads cannot change them.
    [[nodiscard]] Eigen::MatrixXd jacobian(Eigen::VectorXd const& z) const {
        Eigen::MatrixXd j(residuals(), parameters());
        auto const work = [&](int first, int stride) {
            for (int i = first; i < parameters(); i += stride) { j.col(i) = column(z, i); }
        };
        std::vector<std::jthread> others;
        for (int t = 1; t < settings_.threads; ++t) { others.emplace_back(work, t, settings_.threads); }
        work(0, std::max(1, settings_.threads));
        others.clear();
        return j;
    }

private:
    [[nodiscard]] CalibratedConstant const& constant(Constant id) const {
        return base_.constant[static_cast<std::size_t>(id)];
    }

    [[nodiscard]] Eigen::VectorXd column(Eigen::VectorXd const& z, int i) const {
        constexpr double step = 1e-4;
        Eigen::VectorXd above = z, below = z;
        above[i] += step;
        below[i] -= step;
        return (residual(above) - residual(below)) / (2.0 * step);
    }

    void fill_rows(Calibration const& values, Eigen::VectorXd& r) const {
        double const delta = settings_.huber;
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            double const e = log_error(rows_[i], values);
            double const rho = 2.0 * delta * delta * (std::sqrt(1.0 + e * e / (delta * delta)) - 1.0);
            r[static_cast<Eigen::Index>(i)] = rows_[i].weight * std::copysign(std::sqrt(rho), e) / settings_.noise;
        }
    }

    std::vector<FitRow> const& rows_;
    CalibrationSet const& base_;
    FitSettings const& settings_;
    std::vector<Constant> free_;
};

struct Solution {
    Eigen::VectorXd z;
    Eigen::MatrixXd jacobian;
};

/// Levenberg-Marquardt with the damping of the normal equations; the penalty rows keep them regular.
Solution solve(Problem const& problem, Eigen::VectorXd z, int iterations) {
    double damping = 1e-3;
    Eigen::VectorXd r = problem.residual(z);
    double cost = r.squaredNorm();
    Eigen::MatrixXd j = problem.jacobian(z);
    for (int iteration = 0; iteration < iterations; ++iteration) {
        Eigen::MatrixXd const normal = j.transpose() * j;
        Eigen::VectorXd const gradient = j.transpose() * r;
        bool improved = false;
        double shift = 0.0;
        while (damping < 1e8) {
            Eigen::MatrixXd damped = normal;
            damped.diagonal() += damping * normal.diagonal();
            Eigen::VectorXd const step = damped.ldlt().solve(-gradient);
            Eigen::VectorXd const trial = z + step;
            Eigen::VectorXd const trial_r = problem.residual(trial);
            if (trial_r.squaredNorm() < cost) {
                shift = step.cwiseAbs().maxCoeff();
                z = trial;
                r = trial_r;
                cost = r.squaredNorm();
                damping = std::max(damping * 0.2, 1e-9);
                improved = true;
                break;
            }
            damping *= 4.0;
        }
        if (!improved || shift < 1e-9) { break; }
        j = problem.jacobian(z);
    }
    return {z, j};
}

Eigen::VectorXd standardised(CalibrationSet const& start, CalibrationSet const& independent,
                             std::vector<Constant> const& free) {
    Eigen::VectorXd z(static_cast<Eigen::Index>(free.size()));
    for (std::size_t i = 0; i < free.size(); ++i) {
        auto const index = static_cast<std::size_t>(free[i]);
        auto const& known = independent.constant[index];
        z[static_cast<Eigen::Index>(i)] = std::log(start.constant[index].value / known.independent) / known.spread;
    }
    return z;
}

/// How many sources have a say in a constant: those whose rows move by more than a tenth of what the
/// pull towards the independent value does.
int sources_behind(Eigen::VectorXd const& column, std::vector<FitRow> const& rows) {
    std::map<std::string, double> information;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        double const slope = column[static_cast<Eigen::Index>(i)];
        information[rows[i].run->source] += slope * slope;
    }
    constexpr double noticeable = 0.1;
    return static_cast<int>(
        std::ranges::count_if(information, [](auto const& entry) { return entry.second > noticeable; }));
}

struct Weighted {
    double value, weight;
};

/// The least value at or below which `share` of the weight lies.
double weighted_quantile(std::vector<Weighted> samples, double share) {
    std::ranges::sort(samples, {}, &Weighted::value);
    double total = 0.0;
    for (auto const& sample : samples) { total += sample.weight; }
    double below = 0.0;
    for (auto const& sample : samples) {
        below += sample.weight;
        if (below >= share * total) { return sample.value; }
    }
    return samples.empty() ? 0.0 : samples.back().value;
}

Band band_of(std::vector<Weighted> const& samples) {
    Band band;
    band.coverage = 0.9;
    band.rows = static_cast<int>(samples.size());
    band.low = std::exp(weighted_quantile(samples, 0.05));
    band.high = std::exp(weighted_quantile(samples, 0.95));
    return band;
}

} // namespace

namespace {

double& value_of(CalibrationSet& set, Constant id) { return set.constant[static_cast<std::size_t>(id)].value; }

/// Penalised loss of one value of the spread over the runs that are given the pace of a 1-worker row.
double spread_loss(std::span<std::pair<PublishedRun const*, PublishedRun const*> const> pairs, CalibrationSet set,
                   double value, FitSettings const& settings) {
    auto const& known = set.constant[static_cast<std::size_t>(Constant::rank_spread)];
    double const pull = std::log(value / known.independent) / known.spread;
    double loss = pull * pull;
    value_of(set, Constant::rank_spread) = value;
    std::map<std::string, int> of_source;
    for (auto const& [run, alone] : pairs) { ++of_source[run->source]; }
    for (auto const& [run, alone] : pairs) {
        Question question = *run->question;
        question.pace = pace_to_meet(*alone, set);
        double const e = std::log(predict(question, set).step() / run->measured);
        double const delta = settings.huber;
        double const rho = 2.0 * delta * delta * (std::sqrt(1.0 + e * e / (delta * delta)) - 1.0);
        loss += rho / (settings.noise * settings.noise) / std::sqrt(of_source[run->source]);
    }
    return loss;
}

} // namespace

void fit_spread(std::span<PublishedRun const> runs, CalibrationSet& set, std::string const& without,
                FitSettings const& settings) {
    std::vector<std::pair<PublishedRun const*, PublishedRun const*>> pairs;
    std::set<std::string> sources;
    auto const given = anchors(runs);
    for (auto const& run : runs) { // in the order of the table: a map of pointers has none
        auto const alone = given.find(&run);
        if (alone == given.end() || run.source == without) { continue; }
        pairs.emplace_back(&run, alone->second);
        sources.insert(run.source);
    }
    if (pairs.empty()) { return; }
    constexpr double ratio = 0.6180339887498949; // golden section
    double low = std::log(1e-3), high = std::log(0.5);
    auto const loss = [&](double log_value) { return spread_loss(pairs, set, std::exp(log_value), settings); };
    double a = high - ratio * (high - low), b = low + ratio * (high - low);
    double at_a = loss(a), at_b = loss(b);
    while (high - low > 1e-8) {
        if (at_a < at_b) {
            high = b;
            b = a;
            at_b = at_a;
            a = high - ratio * (high - low);
            at_a = loss(a);
        } else {
            low = a;
            a = b;
            at_a = at_b;
            b = low + ratio * (high - low);
            at_b = loss(b);
        }
    }
    auto& constant = set.constant[static_cast<std::size_t>(Constant::rank_spread)];
    constant.value = std::exp(0.5 * (low + high));
    double const step = 0.05; // curvature of the loss: twice the information
    double const middle = std::log(constant.value);
    double const curvature = (loss(middle + step) - 2.0 * loss(middle) + loss(middle - step)) / (step * step);
    constexpr double ninety_per_cent = 1.6449;
    double const deviation = std::sqrt(2.0 / std::max(curvature, 2.0 / (constant.spread * constant.spread)));
    constant.low = constant.value * std::exp(-ninety_per_cent * deviation);
    constant.high = constant.value * std::exp(ninety_per_cent * deviation);
    constant.sources = static_cast<int>(sources.size());
    constant.provenance = Provenance::fitted;
}

CalibrationSet fit_training(std::span<PublishedRun const> runs, CalibrationSet const& independent,
                            FitSettings const& settings) {
    auto const rows = fit_rows(runs, {});
    Problem const problem{rows, independent, settings};
    if (static_cast<int>(rows.size()) < problem.parameters()) {
        throw InputError{Fault::insufficient,
                         {.where = "fit",
                          .problem = std::to_string(rows.size()) + " predicted runs cannot determine " +
                                     std::to_string(problem.parameters()) + " constants"}};
    }
    auto const solution = solve(problem, Eigen::VectorXd::Zero(problem.parameters()), settings.iterations);
    Eigen::MatrixXd const covariance = (solution.jacobian.transpose() * solution.jacobian).inverse();
    auto const values = problem.at(solution.z);
    CalibrationSet set = independent;
    for (int i = 0; i < problem.parameters(); ++i) {
        auto& constant = set.constant[static_cast<std::size_t>(problem.free()[static_cast<std::size_t>(i)])];
        double const deviation = constant.spread * std::sqrt(covariance(i, i));
        constexpr double ninety_per_cent = 1.6449; // of a normal distribution, in standard deviations to either side
        constant.value = values[problem.free()[static_cast<std::size_t>(i)]];
        constant.low = constant.value * std::exp(-ninety_per_cent * deviation);
        constant.high = constant.value * std::exp(ninety_per_cent * deviation);
        constant.sources = sources_behind(solution.jacobian.col(i), rows);
        if (constant.sources > 0) { constant.provenance = Provenance::fitted; }
    }
    fit_spread(runs, set, {}, settings);
    set.pace = fit_paces(runs, set, {});
    return set;
}

std::map<std::string, Pace> fit_paces(std::span<PublishedRun const> runs, CalibrationSet const& set,
                                      std::string const& without) {
    std::map<std::string, std::vector<Weighted>> samples;
    std::map<std::string, std::set<std::string>> sources;
    std::map<std::pair<std::string, std::string>, int> of_both;
    auto const given = anchors(runs);
    auto const used = [&](PublishedRun const& run) {
        return run.question && run.question->framework.paced && run.source != without && !given.contains(&run);
    };
    for (auto const& run : runs) {
        if (used(run)) { ++of_both[{run.question->framework.name, run.source}]; }
    }
    for (auto const& run : runs) {
        if (!used(run)) { continue; }
        auto const& name = run.question->framework.name;
        double const weight = 1.0 / std::sqrt(of_both[{name, run.source}]);
        samples[name].push_back({std::log(pace_to_meet(run, set)), weight});
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

Folds leave_one_source_out(std::span<PublishedRun const> runs, CalibrationSet const& start,
                           CalibrationSet const& independent, FitSettings const& settings) {
    std::set<std::string> sources;
    for (auto const& run : runs) {
        if (run.question) { sources.insert(run.source); }
    }
    Folds folds;
    for (auto const& source : sources) {
        CalibrationSet set = independent;
        auto const rows = fit_rows(runs, source);
        Problem const problem{rows, independent, settings};
        auto const solution = solve(problem, standardised(start, independent, problem.free()), settings.iterations);
        folds.without.emplace(source, problem.at(solution.z));
        for (auto const& info : constants()) {
            set.constant[static_cast<std::size_t>(info.id)].value = folds.without.at(source)[info.id];
        }
        fit_spread(runs, set, source, settings);
        folds.without.at(source)[Constant::rank_spread] = value_of(set, Constant::rank_spread);
        folds.pace[source] = fit_paces(runs, set, source);
    }
    return folds;
}

Bands left_out_bands(std::span<PublishedRun const> runs, CalibrationSet const& set, Folds const& folds) {
    auto const validation = validate_left_out(runs, set, folds);
    std::map<std::string, int> of_source;
    for (auto const& row : validation.rows) {
        if (row.relative_error) { ++of_source[row.run->source]; }
    }
    std::vector<Weighted> stated, assumed;
    for (auto const& row : validation.rows) {
        if (!row.relative_error) { continue; }
        Weighted const sample{-std::log1p(*row.relative_error), 1.0 / std::sqrt(of_source[row.run->source])};
        (row.run->structural_assumption ? assumed : stated).push_back(sample);
    }
    return {band_of(stated), band_of(assumed)};
}

} // namespace headroom::fit
