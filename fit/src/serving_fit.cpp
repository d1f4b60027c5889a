#include "headroom/fit/serving_fit.hpp"

#include "least_squares.hpp"

#include "headroom/error.hpp"
#include "headroom/order_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace headroom::fit {

using namespace headroom::serving;

namespace {

/// Log standard deviation of a run that nothing explains, and the residual beyond which a run pulls linearly.
constexpr double noise = 0.06, huber = 1.5;
/// Rows of a family below which each has a say of its own, and the weight of one row among so many.
constexpr double few_rows = 20.0, weight_of_few = 4.0;
/// Share of measured over predicted figures below a band, and above it. Of iterations less than 5 %, for a dozen families
/// are a small sample of how a further one differs; beyond 5 % of first tokens lie the runs of one machine alone.
constexpr double pace_tail = 0.018, first_token_tail = 0.04;

/// A constant with its centre, and the spread of its logarithm that the pull allows.
struct Pull {
    double centre, spread;
};
/// Factors: prompts as the step model has them; caches read at the guess that stood before; an exchange between what
/// engines print for their own kernels (8 to 20 us); over PCIe 24 of 31.5 GB/s, as NCCL's own model has it [NCCL].
constexpr Pull prefill_pull{1.0, 0.2}, cache_pull{0.85, 0.2}, grouped_pull{0.85, 0.3}, exchange_pull{12e-6, 0.5},
    peer_pull{24.0 / 31.5, 0.3};
/// Vector units compute a sixteenth of what tensor cores do: 67 of 989 TFLOP/s of an H100, 19.5 of 312 of an A100.
constexpr Pull wide_pull{1.0 / 16.0, 0.7};
/// Overheads of the mean engine: the step model's gap between kernels (25 us) and launches outside of graphs; a
/// microsecond to some hundred of the host for a sequence. And how far an engine may be from the mean.
constexpr std::array mean_pulls{Pull{40e-6, 0.7}, Pull{80e-6, 0.7}, Pull{20e-6, 1.0}};
constexpr std::array engine_spreads{0.5, 0.7, 1.0};
constexpr std::size_t overheads = mean_pulls.size(), factors = 6;

double at(Pull const& pull, double z) { return pull.centre * std::exp(pull.spread * z); }

EngineOverhead overhead_of(std::array<double, overheads> const& seconds) {
    return {.layer = Seconds{seconds[0]}, .prompt_layer = Seconds{seconds[1]}, .sequence = Seconds{seconds[2]}};
}

ServingCalibration constants_at(std::span<double const> z, std::vector<std::string> const& engines) {
    ServingCalibration set;
    set.factors = {.prefill = at(prefill_pull, z[0]),
                   .cache_share = at(cache_pull, z[1]),
                   .grouped_cache_share = at(grouped_pull, z[2]),
                   .wide_share = at(wide_pull, z[5]),
                   .exchange = Seconds{at(exchange_pull, z[3])},
                   .peer_share = at(peer_pull, z[4])};
    std::array<double, overheads> mean{};
    for (std::size_t j = 0; j < overheads; ++j) { mean[j] = at(mean_pulls[j], z[factors + j]); }
    set.mean = overhead_of(mean);
    for (std::size_t i = 0; i < engines.size(); ++i) {
        auto own = mean;
        for (std::size_t j = 0; j < overheads; ++j) {
            own[j] *= std::exp(engine_spreads[j] * z[factors + (i + 1) * overheads + j]);
        }
        set.engines.emplace(engines[i], overhead_of(own));
    }
    return set;
}

std::map<std::string, int> rows_by_family(std::span<ServingSample const> samples) {
    std::map<std::string, int> rows;
    for (auto const& sample : samples) { ++rows[sample.run->family]; }
    return rows;
}

/// Measured over predicted time of a sample by a law, where the metric was measured.
std::optional<double> time_ratio(ServingSample const& sample, ServingLaw const& law, ServingMetric metric) {
    auto const pair = served_pair(*sample.run, served_figures(*sample.run, sample.loads, law), metric);
    if (!pair) { return std::nullopt; }
    double const ratio = pair->measured / pair->predicted;
    return metric == ServingMetric::throughput ? 1.0 / ratio : ratio;
}

/// A ratio of a family's row.
struct FamilyRatio {
    std::string const* family;
    double ratio;
};

ServingBand band_of(std::vector<FamilyRatio> const& ratios, std::string const& without, double tail) {
    std::map<std::string, int> rows;
    for (auto const& one : ratios) { ++rows[*one.family]; }
    rows.erase(without);
    std::vector<WeightedValue> weighted;
    for (auto const& one : ratios) {
        if (*one.family != without) { weighted.push_back({one.ratio, 1.0 / rows.at(*one.family)}); }
    }
    if (weighted.empty()) { return {}; }
    return {.low = std::min(1.0, weighted_quantile(weighted, tail)),
            .high = std::max(1.0, weighted_quantile(weighted, 1.0 - tail)),
            .rows = static_cast<int>(weighted.size()),
            .families = static_cast<int>(rows.size())};
}

/// Ratios of all families by constants that never saw them.
struct LeftOutRatios {
    std::vector<FamilyRatio> first_token, pace;
    void add(ServingSample const& sample, ServingLaw const& law) {
        for (ServingMetric const metric : serving_metrics) {
            auto const ratio = time_ratio(sample, law, metric);
            if (!ratio) { continue; }
            (metric == ServingMetric::ttft ? first_token : pace).push_back({&sample.run->family, *ratio});
        }
    }
    [[nodiscard]] ServingBands bands(std::string const& without) const {
        return {band_of(first_token, without, first_token_tail), band_of(pace, without, pace_tail)};
    }
};

/// The largest batches that each engine's runs decode, and that any does.
void add_batches(ServingCalibration& set, std::span<ServingSample const> samples, std::string const& without) {
    for (auto const& sample : samples) {
        bool const decodes = sample.run->output_tokens > 1.0 && sample.run->family != without;
        if (!decodes) { continue; }
        for (double* largest : {&set.mean.largest_batch, &set.engines.at(sample.run->engine).largest_batch}) {
            *largest = std::max(*largest, sample.loads.batch);
        }
    }
}

} // namespace

std::string_view name_of(ServingMetric metric) {
    switch (metric) {
    case ServingMetric::ttft: return "ttft";
    case ServingMetric::tpot: return "tpot";
    case ServingMetric::throughput: return "throughput";
    }
    return "tpot";
}

std::optional<ServingPair> served_pair(PublishedServing const& run, ServedFigures const& figures,
                                       ServingMetric metric) {
    switch (metric) {
    case ServingMetric::ttft:
        if (run.first_token) { return ServingPair{figures.first_token.base(), run.first_token->base()}; }
        break;
    case ServingMetric::tpot:
        if (run.per_token) { return ServingPair{figures.per_token.base(), run.per_token->base()}; }
        break;
    case ServingMetric::throughput:
        if (run.tokens_per_second && run.output_tokens > 1.0) {
            return ServingPair{figures.tokens_per_second, *run.tokens_per_second};
        }
        break;
    }
    return std::nullopt;
}

ServingCalibration fit_serving(std::span<ServingSample const> samples, std::string const& without) {
    auto const rows = rows_by_family(samples);
    std::vector<std::pair<ServingSample const*, ServingMetric>> figures;
    std::set<std::string> seen;
    for (auto const& sample : samples) {
        if (sample.run->family == without) { continue; }
        seen.insert(sample.run->engine);
        for (ServingMetric const metric : serving_metrics) {
            if (served_pair(*sample.run, {}, metric)) { figures.emplace_back(&sample, metric); }
        }
    }
    std::vector<std::string> const engines{seen.begin(), seen.end()};
    std::size_t const unknowns = factors + overheads * (engines.size() + 1);
    Residuals residuals{.count = figures.size() + unknowns, .values = {}};
    residuals.values = [&](std::span<double const> z, std::span<double> r) {
        auto const set = constants_at(z, engines);
        for (std::size_t i = 0; i < figures.size(); ++i) {
            auto const& [sample, metric] = figures[i];
            double const log = std::log(time_ratio(*sample, set.law(sample->run->engine), metric).value());
            r[i] = weight_of_few / std::sqrt(few_rows + rows.at(sample->run->family)) * robust(log / noise, huber);
        }
        std::ranges::copy(z, r.begin() + static_cast<std::ptrdiff_t>(figures.size()));
    };
    auto const solved = least_squares(residuals, std::vector<double>(unknowns, 0.0), {.iterations = 30, .shift = 1e-3});
    auto set = constants_at(solved.z, engines);
    add_batches(set, samples, without);
    return set;
}

ServingFolds fit_serving_folds(std::span<ServingSample const> samples) {
    auto const rows = rows_by_family(samples);
    if (rows.size() < 2) {
        too_little("serving", "one family of runs", "each is predicted by constants fitted to the others");
    }
    ServingFolds folds{.all = fit_serving(samples), .without = {}};
    LeftOutRatios named, guessed;
    for (auto const& [family, count] : rows) {
        auto const& fold = folds.without.emplace(family, fit_serving(samples, family)).first->second;
        for (auto const& sample : samples) {
            if (sample.run->family != family) { continue; }
            named.add(sample, fold.law(sample.run->engine));
            guessed.add(sample, {fold.factors, fold.mean});
        }
    }
    folds.all.named = named.bands({}), folds.all.guessed = guessed.bands({});
    for (auto& [family, fold] : folds.without) {
        fold.named = named.bands(family), fold.guessed = guessed.bands(family);
    }
    return folds;
}

} // namespace headroom::fit
