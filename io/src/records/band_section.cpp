#include "records/band_section.hpp"

#include "records/toml_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

namespace headroom::io {

using namespace headroom::training;

namespace {

constexpr double largest = 1e30;

Experience read_experience(Section section) {
    std::vector<std::string> hardware, frameworks;
    section.read("hardware", hardware);
    section.read("frameworks", frameworks);
    Experience experience;
    experience.frameworks.insert(frameworks.begin(), frameworks.end());
    for (auto const& name : hardware) {
        auto const generation = generation_from(name);
        if (!generation) {
            section.fail("hardware", fmt::format("unknown generation {}", headroom::quoted(name)),
                         "write it as records of accelerators do");
        }
        experience.hardware.insert(*generation);
    }
    return experience;
}

std::string written(std::string_view section, std::string_view name, Experience const& experience) {
    std::vector<std::string> hardware, frameworks;
    for (Generation const generation : experience.hardware) { hardware.push_back(toml_string(name_of(generation))); }
    for (auto const& framework : experience.frameworks) { frameworks.push_back(toml_string(framework)); }
    return fmt::format("[{}.{}]\nhardware = [{}]\nframeworks = [{}]\n\n", section, name, fmt::join(hardware, ", "),
                       fmt::join(frameworks, ", "));
}

} // namespace

Band read_band(Section section) {
    Band band;
    section.read("low", band.low, {0, largest}, Presence::required);
    section.read("high", band.high, {0, largest}, Presence::required);
    section.read("coverage", band.coverage, {0, 1});
    section.read("rows", band.rows, {0, 1e9});
    section.read("sources", band.sources, {0, 1e9});
    if (band.low > band.high) { section.fail("low", "above high", "a band runs from low to high"); }
    return band;
}

Bands read_bands(Section section) {
    Bands bands;
    for (Extrapolation const kind : extrapolations) {
        std::string const key{name_of(kind)};
        if (section.has(key)) { bands.emplace(kind, read_band(section.section(key))); }
    }
    return bands;
}

std::string written_bands(std::string_view section, Bands const& bands) {
    std::string text;
    for (auto const& [kind, band] : bands) {
        text += fmt::format("[{}.{}]\nlow = {}\nhigh = {}\ncoverage = {}\nrows = {}\nsources = {}\n\n", section,
                            name_of(kind), toml_number(band.low), toml_number(band.high), toml_number(band.coverage),
                            band.rows, band.sources);
    }
    return text;
}

Seen read_seen(Section section) {
    return {read_experience(section.section("dense")), read_experience(section.section("mixtures"))};
}

std::string written_seen(std::string_view section, Seen const& seen) {
    return written(section, "dense", seen.dense) + written(section, "mixtures", seen.mixtures);
}

} // namespace headroom::io
