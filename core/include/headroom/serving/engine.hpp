#pragma once

#include "headroom/quantity.hpp"

#include <map>
#include <optional>
#include <string>

namespace headroom::serving {

/// Time that an engine adds to an iteration: scheduling, sampling, launches.
struct EngineOverhead {
    std::optional<Seconds> layer = {};        ///< a layer of a decode step; empty: the gap of the step model
    std::optional<Seconds> prompt_layer = {}; ///< a layer where prompts are computed, outside of graphs; empty: `layer`
    Seconds sequence = {};                    ///< a decoding sequence, by the host
};

/// Factors on the step model that all engines share, as fitted to published serving.
struct ServingFactors {
    double prefill = 1.0;                 ///< on products, attention and element-wise work of prompts
    double cache_share = 0.85;            ///< bandwidth of decoding attention over that of large streams
    double grouped_cache_share = 0.85;    ///< where several queries share keys
    std::optional<Seconds> exchange = {}; ///< floor of an exchange by an engine's own kernels; empty: the library's
};

/// Law of one engine: what it does beyond the roofline.
struct ServingLaw {
    ServingFactors factors = {};
    EngineOverhead overhead = {};
};

/// An engine: a record of the catalog.
struct Engine {
    std::string name, title;
    double memory_share = 0.9; ///< of an accelerator, that it takes by default
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
    [[nodiscard]] ServingLaw law(std::string const& engine) const {
        if (auto const own = engines.find(engine); own != engines.end()) { return {factors, own->second}; }
        for (auto const& [name, overhead] : engines) {
            if (name.starts_with(engine + '-') || engine.starts_with(name + '-')) { return {factors, overhead}; }
        }
        return {factors, mean};
    }
    [[nodiscard]] ServingBands const& bands(std::string const& engine) const { return knows(engine) ? named : guessed; }
};

} // namespace headroom::serving
