#include "records/record.hpp"
#include "records/records.hpp"
#include "records/toml_text.hpp"

#include "headroom/io/catalog.hpp"
#include "headroom/serving/serving.hpp"

#include <fmt/format.h>

namespace headroom::io {

using namespace headroom::serving;

namespace {

constexpr Range shares{0.01, 100.0}, ratios{1e-6, 1e6}, counts{0, 1e9};

EngineOverhead read_overhead(Section section) {
    EngineOverhead overhead;
    Seconds layer, prompt_layer;
    section.read("layer", layer, Presence::required);
    section.read("prompt_layer", prompt_layer, Presence::required);
    section.read("sequence", overhead.sequence, Presence::required);
    section.read("largest_batch", overhead.largest_batch, counts);
    overhead.layer = layer, overhead.prompt_layer = prompt_layer;
    return overhead;
}

ServingBand read_band(Section section) {
    ServingBand band;
    section.read("low", band.low, ratios, Presence::required);
    section.read("high", band.high, ratios, Presence::required);
    section.read("rows", band.rows, counts);
    section.read("families", band.families, counts);
    return band;
}

ServingBands read_bands(Section section) {
    return {read_band(section.section("first_token")), read_band(section.section("pace"))};
}

std::string microseconds(Seconds time) { return toml_string(fmt::format("{:.4g} us", time.base() * 1e6)); }

std::string written(std::string_view name, EngineOverhead const& overhead) {
    return fmt::format("\n[{}]\nlayer = {}\nprompt_layer = {}\nsequence = {}\nlargest_batch = {:.0f}\n", name,
                       microseconds(overhead.layer.value_or(Seconds{})),
                       microseconds(overhead.prompt_layer.value_or(Seconds{})), microseconds(overhead.sequence),
                       overhead.largest_batch);
}

std::string written(std::string_view name, ServingBands const& bands) {
    std::string text;
    for (auto const& [part, band] : {std::pair{"first_token", bands.first_token}, {"pace", bands.pace}}) {
        text += fmt::format("\n[{}.{}]\nlow = {:.4g}\nhigh = {:.4g}\nrows = {}\nfamilies = {}\n", name, part, band.low,
                            band.high, band.rows, band.families);
    }
    return text;
}

} // namespace

ServingCalibration read_serving_calibration(std::string_view toml, std::string_view where) {
    Record record{toml, where};
    Section root = record.root();
    root.skip({"name", "date", "notes"});
    ServingCalibration set;
    Section factors = root.section("factors");
    factors.read("prefill", set.factors.prefill, shares, Presence::required);
    factors.read("cache_share", set.factors.cache_share, shares, Presence::required);
    factors.read("grouped_cache_share", set.factors.grouped_cache_share, shares, Presence::required);
    factors.read("wide_share", set.factors.wide_share, ratios, Presence::required);
    Seconds exchange;
    factors.read("exchange", exchange, Presence::required);
    set.factors.exchange = exchange;
    double peers = 0.0;
    factors.read("peer_share", peers, shares, Presence::required);
    set.factors.peer_share = peers;
    set.mean = read_overhead(root.section("mean"));
    Section engines = root.section("engines");
    for (auto const& name : engines.keys()) { set.engines.emplace(name, read_overhead(engines.section(name))); }
    set.named = read_bands(root.section("named"));
    set.guessed = read_bands(root.section("guessed"));
    record.refuse_the_rest();
    return set;
}

std::string write_serving_calibration(ServingCalibration const& set, std::vector<std::string> const& header) {
    std::string text;
    for (auto const& line : header) { text += toml_comment(line); }
    text += fmt::format("\nname = \"serving\"\n\n[factors]\nprefill = {:.4g}\ncache_share = {:.4g}\n"
                        "grouped_cache_share = {:.4g}\nwide_share = {:.4g}\nexchange = {}\npeer_share = {:.4g}\n",
                        set.factors.prefill, set.factors.cache_share, set.factors.grouped_cache_share,
                        set.factors.wide_share, microseconds(set.factors.exchange.value_or(Seconds{})),
                        set.factors.peer_share.value_or(1.0));
    text += written("mean", set.mean);
    for (auto const& [name, overhead] : set.engines) { text += written("engines." + name, overhead); }
    return text + written("named", set.named) + written("guessed", set.guessed);
}

namespace {

void read_limits(Section& section, EngineLimits& limits) {
    section.read("max_batch", limits.most_sequences, {1, most_batch_sequences});
    bool const stated = section.read("prefill_chunk", limits.prefill_chunk, {1, longest_prefill_chunk});
    limits.states_chunk = limits.states_chunk || stated;
}

} // namespace

Engine read_engine(std::string_view toml, std::string_view where) {
    Record record{toml, where};
    Section root = record.root();
    Engine engine;
    root.read("name", engine.name, Presence::required);
    engine.title = engine.name;
    root.read("title", engine.title);
    skip_provenance(root);
    root.read("memory_share", engine.memory_share, {0.01, 1.0}, Presence::required);
    read_limits(root, engine.limits);
    for (Section& section : root.sections("limits")) {
        AcceleratorLimits& other = engine.others.emplace_back();
        other.limits = engine.limits;
        section.read("accelerators", other.accelerators);
        section.read("memory_from", other.memory_from);
        read_limits(section, other.limits);
    }
    record.refuse_the_rest();
    return engine;
}

} // namespace headroom::io
