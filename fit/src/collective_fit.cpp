#include "headroom/fit/collective_fit.hpp"

#include "pulled_constants.hpp"

#include "headroom/network/library_collectives.hpp"
#include "headroom/training/step.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace headroom::fit {

using namespace headroom::network;
using namespace headroom::training;

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

/// The rows that are used, and the weight of each.
struct WeighedRows {
    std::vector<PlacedCollective const*> rows;
    std::vector<double> weights;

    explicit WeighedRows(std::span<PlacedCollective const> given) {
        std::map<Table, int> count;
        for (auto const& one : given) {
            if (is_used(one.row)) { ++count[table_of(one.row)]; }
        }
        for (auto const& one : given) {
            if (!is_used(one.row)) { continue; }
            rows.push_back(&one);
            weights.push_back(1.0 / std::sqrt(count.at(table_of(one.row))));
        }
    }
    void residuals(Calibration const& values, std::span<double> r) const {
        for (std::size_t i = 0; i < rows.size(); ++i) {
            double const e = std::log(step_model_time(*rows[i], values) / rows[i]->row.time);
            r[i] = weights[i] * robust(e, huber) / noise;
        }
    }
    /// Systems that have a say in a constant: of a hundredth of what the pull has. None where all of them together have
    /// less than a tenth of it.
    [[nodiscard]] int systems_behind(std::span<double const> slopes) const {
        std::vector<std::string const*> systems;
        for (auto const* one : rows) { systems.push_back(&one->row.system); }
        constexpr double noticeable = 0.1, of_one = 0.01;
        auto const of_rows = slopes.first(rows.size());
        if (dot(of_rows, of_rows) < noticeable) { return 0; }
        return static_cast<int>(std::ranges::count_if(information_by_name(slopes, systems),
                                                      [](auto const& entry) { return entry.second > of_one; }));
    }
};

} // namespace

Seconds step_model_time(PlacedCollective const& collective, Calibration const& constants) {
    auto const& [row, cluster] = collective;
    return Seconds{constants[Constant::base_latency]} +
           fastest(row.collective, row.size, group_of(collective), calibrated_fabric(cluster, constants)).time.total();
}

CalibrationSet fit_collectives(std::span<PlacedCollective const> rows, CalibrationSet const& independent) {
    WeighedRows const weighed{rows};
    PulledConstants const unknowns{independent, {collective_constants.begin(), collective_constants.end()}};
    auto const solution = unknowns.solved(
        weighed.rows.size(), [&](Calibration const& values, std::span<double> r) { weighed.residuals(values, r); },
        std::vector<double>(collective_constants.size()), {});
    auto const covariance = inverse_information(solution.jacobian);
    Calibration const values = unknowns.at(solution.z);
    CalibrationSet set = independent;
    for (std::size_t i = 0; i < collective_constants.size(); ++i) {
        auto& constant = set[collective_constants[i]];
        double const error = constant.spread * std::sqrt((*covariance)(i, i));
        constant.spread = 0.0;
        constant.sources = weighed.systems_behind(solution.jacobian.column(i));
        if (constant.sources == 0) { continue; }
        set_fitted(constant, values[collective_constants[i]], error);
        constant.provenance = Provenance::fitted;
        constant.source = "fitted to published collective benchmarks, pulled towards: " + constant.source;
    }
    return set;
}

} // namespace headroom::fit
