#include "headroom/fit/collective_fit.hpp"

#include "least_squares.hpp"

#include "headroom/library_collectives.hpp"
#include "headroom/step.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace headroom::fit {
namespace {

constexpr double noise = 0.15, huber = 0.1;
constexpr Bytes large{1048576.0};

Group group_of(PlacedCollective const& collective) {
    auto const& [row, cluster] = collective;
    bool const one_domain = row.nodes <= 1 || cluster.domain >= row.ranks;
    return {.size = row.ranks, .per_domain = one_domain ? row.ranks : std::max(1, row.ranks / row.nodes)};
}

/// A table as its words tell it apart: what one system did with one collective, below a size or above.
using Table = std::tuple<std::string, Collective, int, int, bool>;
Table table_of(MeasuredCollective const& row) {
    return {row.system + '\n' + row.interconnect, row.collective, row.ranks, row.nodes, row.size.size >= large};
}

bool is_used(MeasuredCollective const& row) {
    bool const known = row.collective == Collective::all_reduce || row.collective == Collective::all_gather ||
                       row.collective == Collective::reduce_scatter;
    return known && row.ranks > 1 && row.time.base() > 0.0 && row.size.size.base() > 0.0;
}

class CollectiveProblem {
public:
    CollectiveProblem(std::span<PlacedCollective const> rows, CalibrationSet const& independent) : base_{independent} {
        std::map<Table, int> count;
        for (auto const& one : rows) {
            if (is_used(one.row)) { ++count[table_of(one.row)]; }
        }
        for (auto const& one : rows) {
            if (!is_used(one.row)) { continue; }
            rows_.push_back(&one);
            weight_.push_back(1.0 / std::sqrt(count.at(table_of(one.row))));
        }
    }

    [[nodiscard]] Calibration at(Eigen::VectorXd const& z) const {
        Calibration values = base_.values();
        for (std::size_t i = 0; i < collective_constants.size(); ++i) {
            auto const& known = base_[collective_constants[i]];
            values[collective_constants[i]] =
                known.independent * std::exp(known.spread * z[static_cast<Eigen::Index>(i)]);
        }
        return values;
    }

    [[nodiscard]] Eigen::VectorXd residual(Eigen::VectorXd const& z) const {
        Calibration const values = at(z);
        Eigen::VectorXd r(static_cast<Eigen::Index>(rows_.size()) + z.size());
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            double const e = std::log(step_model_time(*rows_[i], values) / rows_[i]->row.time);
            r[static_cast<Eigen::Index>(i)] = weight_[i] * robust(e, huber) / noise;
        }
        r.tail(z.size()) = z;
        return r;
    }

    /// Systems that have a say in a constant: of a hundredth of what the pull has. None where all of them together have
    /// less than a tenth of it.
    [[nodiscard]] int systems_behind(Eigen::VectorXd const& column) const {
        std::map<std::string, double> information;
        double all = 0.0;
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            double const slope = column[static_cast<Eigen::Index>(i)];
            information[rows_[i]->row.system] += slope * slope;
            all += slope * slope;
        }
        constexpr double noticeable = 0.1, of_one = 0.01;
        if (all < noticeable) { return 0; }
        return static_cast<int>(
            std::ranges::count_if(information, [](auto const& entry) { return entry.second > of_one; }));
    }

private:
    CalibrationSet const& base_;
    std::vector<PlacedCollective const*> rows_;
    std::vector<double> weight_;
};

} // namespace

Seconds step_model_time(PlacedCollective const& collective, Calibration const& constants) {
    auto const& [row, cluster] = collective;
    return Seconds{constants[Constant::base_latency]} +
           fastest(row.collective, row.size, group_of(collective), calibrated_fabric(cluster, constants)).time.total();
}

CalibrationSet fit_collectives(std::span<PlacedCollective const> rows, CalibrationSet const& independent) {
    CollectiveProblem const problem{rows, independent};
    auto const count = static_cast<Eigen::Index>(collective_constants.size());
    auto const solution = least_squares([&problem](Eigen::VectorXd const& z) { return problem.residual(z); },
                                        Eigen::VectorXd::Zero(count), {});
    Eigen::MatrixXd const covariance = (solution.jacobian.transpose() * solution.jacobian).inverse();
    Calibration const values = problem.at(solution.z);
    CalibrationSet set = independent;
    for (Eigen::Index i = 0; i < count; ++i) {
        Constant const id = collective_constants[static_cast<std::size_t>(i)];
        auto& constant = set[id];
        double const deviation = constant.spread * std::sqrt(covariance(i, i));
        constant.spread = 0.0;
        constant.sources = problem.systems_behind(solution.jacobian.col(i));
        if (constant.sources == 0) { continue; }
        constexpr double ninety_per_cent = 1.6449; // of a normal distribution, in standard deviations to either side
        constant.value = values[id];
        constant.low = constant.value * std::exp(-ninety_per_cent * deviation);
        constant.high = constant.value * std::exp(ninety_per_cent * deviation);
        constant.provenance = Provenance::fitted;
        constant.source = "fitted to published collective benchmarks, pulled towards: " + constant.source;
    }
    return set;
}

} // namespace headroom::fit
