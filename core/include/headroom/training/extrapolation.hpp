#pragma once

#include "headroom/machine.hpp"

#include <array>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::training {

/// Distance of a question from the runs that the constants were fitted to; the error of a prediction grows with it.
enum class Extrapolation {
    seen,              ///< accelerator generation and framework both moved the constants
    unseen_framework,  ///< the generation did, the framework did not
    ordinary_alone,    ///< software that its users put together, on one accelerator: no links, no sharding
    ordinary,          ///< such software on several: how it is set up moves the step by more than the chip
    ordinary_offload,  ///< such software, state in the host's memory: how it is updated there is not stated
    guessed_framework, ///< nobody named the framework
    assumed,           ///< the generation did; some degree, the micro-batch or the recomputation is a guess
    unseen_hardware, ///< no run on this generation moved them, or the host or an encoder takes part, which none describes
    mixture,         ///< experts or scans, on a generation and framework that such runs were fitted on
    unseen_mixture, ///< experts or scans, on others
    given_pace,     ///< kernels of its own, with the pace of a run of the same on fewer workers
    own_kernels,    ///< kernels of its own, with the factor fitted to its framework
};
inline constexpr std::array extrapolations{
    Extrapolation::seen,           Extrapolation::unseen_framework, Extrapolation::ordinary_alone,
    Extrapolation::ordinary,       Extrapolation::ordinary_offload, Extrapolation::guessed_framework,
    Extrapolation::assumed,        Extrapolation::unseen_hardware,  Extrapolation::mixture,
    Extrapolation::unseen_mixture, Extrapolation::given_pace,       Extrapolation::own_kernels};
/// Its key in files: "unseen_framework".
std::string_view name_of(Extrapolation kind);
/// Words behind "published" for all questions of a kind: "runs of this hardware with other frameworks".
std::string_view words_of(Extrapolation kind);

/// Hardware and frameworks of the runs that moved the constants.
struct Experience {
    std::set<Generation> hardware;
    std::set<std::string> frameworks; ///< by name
    [[nodiscard]] bool has(Generation generation, std::string const& framework) const {
        return hardware.contains(generation) && frameworks.contains(framework);
    }
    bool operator==(Experience const&) const = default;
};

/// Experience with dense models, and with mixtures and hybrids: their constants differ.
struct Seen {
    Experience dense, mixtures;
    bool operator==(Seen const&) const = default;
};

/// Multiplicative band around a prediction that holds the measured value with probability `coverage`.
struct Band {
    double low = 1.0, high = 1.0;
    double coverage = 0.9;
    int rows = 0;    ///< of its own kind that it was made from
    int sources = 0; ///< groups of those rows
    /// Square root of high over low: 1.2 is a fifth either way.
    [[nodiscard]] double half_width() const;
    bool operator==(Band const&) const = default;
};
using Bands = std::map<Extrapolation, Band>;

/// A prediction of a run that the constants had not seen, and its measured step.
struct Residual {
    Extrapolation kind = Extrapolation::seen;
    std::string source;     ///< that published it
    std::string group;      ///< source or model that was left out with it
    double log_ratio = 0.0; ///< of measured over predicted
};

/// A band for each kind, by split conformal prediction over groups that were left out whole: quantiles of the residuals, each of n rows of a
/// group and kind with the weight
///
///     w = b / sqrt(n + 20)
///
/// so that no group outvotes the others and none of a few rows weighs like a table. b is 1 for rows of the kind itself;
/// kinds that lie near lend theirs (b < 1), for few sources have any one. Each end lies half way between the tail's own
/// quantile and that of |log ratio|: errors are skewed, but which way a new source is off is not known. Groups are few:
/// with g = (sum of weights)^2 / (sum of squares) over them the quantiles are those of
///
///     coverage (1 + 1/g)
///
/// which holds whatever the errors' law; where that is not below 1, g <= coverage / (1 - coverage), they are those of the coverage,
/// and both ends are sqrt(1 + 1/g) times as far in log units: a new group scatters about a middle that g groups tell to
/// 1/g of their variance. A kind with fewer than 5 rows of its own has no band.
/// Source: [Lei2018]
Bands conformal_bands(std::span<Residual const> residuals, double coverage = 0.9);

/// The band of a kind, else of the nearest kind that lies farther out and has one; that of no kind is empty.
Band band_of(Bands const& bands, Extrapolation kind);

} // namespace headroom::training
