#include "tail_fit_cells.hpp"

#include "headroom/error.hpp"
#include "headroom/fit/tail_fit.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::fit {

using namespace headroom::serving;

namespace {

constexpr double fewest_beyond = 50.0, first_share = 0.5, less_each = 0.6;

/// A threshold with the tail beyond it.
struct Candidate {
    std::span<FilledCell const> cells;
    std::optional<ParetoFit> fit;
    double probability = 0.0; ///< of a fit as bad or worse; 0 where there is none
};

/// The lower edges of cells, so that half of the samples lie beyond, then 0.6 of these, ... down to 50.
std::vector<Candidate> candidates_of(std::span<FilledCell const> cells) {
    std::vector<Candidate> candidates;
    double wanted = first_share * cells.front().from;
    for (std::size_t at = 0; at < cells.size() && cells[at].from >= fewest_beyond; ++at) {
        if (cells[at].from > wanted) { continue; }
        Candidate candidate{.cells = cells.subspan(at), .fit = {}};
        if (candidate.cells.size() > 2) { candidate.fit = fit_pareto(candidate.cells); }
        if (candidate.fit) {
            double const statistic = anderson_darling(candidate.cells, *candidate.fit);
            candidate.probability = anderson_darling_probability(statistic, candidate.fit->shape);
        }
        candidates.push_back(candidate);
        wanted = less_each * std::min(wanted, cells[at].from);
    }
    return candidates;
}

/// Number of the ordered tests that are refused: the most whose mean of -ln(1 - P) does not exceed the rate of false
/// discoveries (ForwardStop).
std::size_t refused_of(std::span<Candidate const> candidates) {
    constexpr double false_discoveries = 0.1;
    double sum = 0.0;
    std::size_t refused = 0;
    for (std::size_t at = 0; at < candidates.size(); ++at) {
        sum -= std::log1p(-std::min(candidates[at].probability, 1.0 - 1e-12));
        if (sum <= false_discoveries * static_cast<double>(at + 1)) { refused = at + 1; }
    }
    return refused;
}

} // namespace

std::optional<TailFit> fit_pareto_tail(LatencyHistogram const& samples) {
    if (samples.empty()) { too_little("samples", "no sample", {}, "give at least one"); }
    std::vector<FilledCell> const cells = cells_of(samples);
    std::vector<Candidate> const candidates = candidates_of(cells);
    auto const chosen =
        std::find_if(candidates.begin() + static_cast<std::ptrdiff_t>(refused_of(candidates)), candidates.end(),
                     [](Candidate const& candidate) { return candidate.fit.has_value(); });
    if (chosen == candidates.end()) { return std::nullopt; }
    FilledCell const& first = chosen->cells.front();
    TailFit fit;
    fit.distribution = {.family = TailFamily::pareto_tail,
                        .a = chosen->fit->scale,
                        .b = chosen->fit->shape,
                        .threshold = first.low,
                        .share_beyond = first.from / cells.front().from};
    fit.a_error = fit.distribution.a * std::sqrt(chosen->fit->covariance.aa);
    fit.b_error = std::sqrt(chosen->fit->covariance.bb);
    fit.log_likelihood = chosen->fit->log_likelihood;
    fit.aicc = aicc_of(fit.log_likelihood, first.from);
    fit.distance = distance_of(fit.distribution, chosen->cells);
    fit.tail_error = tail_error_of(fit.distribution, samples);
    return fit;
}

} // namespace headroom::fit
