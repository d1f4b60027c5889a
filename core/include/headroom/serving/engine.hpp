#pragma once

#include "headroom/machine.hpp"
#include "headroom/quantity.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace headroom::serving {

/// Time that an engine adds to an iteration: scheduling, sampling, launches.
struct EngineOverhead {
    std::optional<Seconds> layer = {};        ///< a layer of a decode step; empty: the gap of the step model
    std::optional<Seconds> prompt_layer = {}; ///< a layer where prompts are computed, outside of graphs; empty: `layer`
    Seconds sequence = {};                    ///< a decoding sequence, by the host
    double largest_batch = 0.0;               ///< of the published runs that it was fitted to; 0: not known
};

/// Evidence of the overhead of a sequence: the batch where published runs end, and the overheads of all engines.
///
/// Beyond that batch the overhead of a further sequence is that of any engine: an iteration of B takes between
/// t - (B - largest) (own - least) and t + (B - largest) (most - own).
struct BatchEvidence {
    double largest_batch = 0.0; ///< 0: not known
    Seconds least = {}, most = {};

    [[nodiscard]] double beyond(double batch) const {
        return largest_batch > 0.0 ? std::max(0.0, batch - largest_batch) : 0.0;
    }
};

/// Factors on the step model that all engines share, as fitted to published serving.
struct ServingFactors {
    double prefill = 1.0;                 ///< on products, attention and element-wise work of prompts
    double cache_share = 0.85;            ///< bandwidth of decoding attention over that of large streams
    double grouped_cache_share = 0.85;    ///< where several queries share keys
    double wide_share = 1.0;              ///< rate of decoding attention over tensor cores', above 16 queries a key
    std::optional<Seconds> exchange = {}; ///< floor of an exchange by an engine's own kernels; empty: the library's
    /// Bus bandwidth of exchanges over PCIe rate, of cards that write to each other's memory; empty: the library's.
    std::optional<double> peer_share = {};
};

/// Law of one engine: what it does beyond the roofline.
struct ServingLaw {
    ServingFactors factors = {};
    EngineOverhead overhead = {};
};

/// Sizes of an iteration that an engine allows by default.
struct EngineLimits {
    int most_sequences = 256;  ///< in one iteration
    int prefill_chunk = 2048;  ///< prompt tokens in one iteration
    bool states_chunk = false; ///< by its record; else a guess
};

/// Limits that hold on a part of all accelerators.
struct AcceleratorLimits {
    std::vector<std::string> accelerators; ///< beginnings of their names; empty: any
    Bytes memory_from;                     ///< of one, at least
    EngineLimits limits;
};

/// An engine: a record of the catalog.
struct Engine {
    std::string name, title;
    double memory_share = 0.9; ///< of an accelerator, that it takes by default
    EngineLimits limits;
    std::vector<AcceleratorLimits> others; ///< the first that applies to an accelerator, instead of `limits`

    /// Default limits on an accelerator.
    [[nodiscard]] EngineLimits const& limits_on(Accelerator const& accelerator) const {
        auto const applies = [&](AcceleratorLimits const& one) {
            auto const begins = [&](std::string const& start) { return accelerator.name.starts_with(start); };
            bool const named = one.accelerators.empty() || std::ranges::any_of(one.accelerators, begins);
            return named && accelerator.memory >= one.memory_from;
        };
        auto const found = std::ranges::find_if(others, applies);
        return found == others.end() ? limits : found->limits;
    }
};

/// 90 % of measured over predicted figures, each predicted without its family; families weigh alike.
struct ServingBand {
    double low = 1.0, high = 1.0;
    int rows = 0, families = 0;
};

/// Bands of times: to the first token, and of iterations (a time per token, the inverse of a rate).
struct ServingBands {
    ServingBand first_token = {}, pace = {};
};

/// Constants of serving, as fitted to published runs: a record of the catalog.
struct ServingCalibration {
    ServingFactors factors = {};
    EngineOverhead mean = {}; ///< of engines that no run is published of
    std::map<std::string, EngineOverhead> engines = {};
    ServingBands named = {}, guessed = {}; ///< the engine is in the fit, or not known

    [[nodiscard]] bool knows(std::string const& engine) const { return engines.contains(engine); }
    /// Its own overheads; without them those of another release ("vllm" of "vllm-2024"), or of the mean engine.
    [[nodiscard]] ServingLaw law(std::string const& engine) const { return {factors, overhead(engine)}; }
    /// Where its published runs end, or for an engine without runs the batch that every measured engine reached.
    [[nodiscard]] BatchEvidence evidence(std::string const& engine) const {
        BatchEvidence found{.largest_batch = 0.0, .least = mean.sequence, .most = mean.sequence};
        for (auto const& [name, one] : engines) {
            found.least = std::min(found.least, one.sequence), found.most = std::max(found.most, one.sequence);
            bool const fewer = found.largest_batch <= 0.0 || one.largest_batch < found.largest_batch;
            if (one.largest_batch > 0.0 && fewer) { found.largest_batch = one.largest_batch; }
        }
        EngineOverhead const& own = overhead(engine);
        if (&own != &mean && own.largest_batch > 0.0) { found.largest_batch = own.largest_batch; }
        return found;
    }
    [[nodiscard]] ServingBands const& bands(std::string const& engine) const { return knows(engine) ? named : guessed; }

private:
    [[nodiscard]] EngineOverhead const& overhead(std::string const& engine) const {
        if (auto const own = engines.find(engine); own != engines.end()) { return own->second; }
        for (auto const& [name, one] : engines) {
            if (name.starts_with(engine + '-') || engine.starts_with(name + '-')) { return one; }
        }
        return mean;
    }
};

} // namespace headroom::serving
