#include "records/band_section.hpp"
#include "records/network_section.hpp"
#include "records/record.hpp"
#include "records/toml_text.hpp"

#include "headroom/io/catalog.hpp"

#include <fmt/format.h>

namespace headroom::io {

namespace {

constexpr double largest = 1e30;

/// Bands by kind of extrapolation, over those of the file below. One that has `stated` and nothing of what was seen tells
/// stated from assumed fields alone.
void read_bands_over(Section bands, CalibrationSet& set) {
    if (bands.has("stated")) {
        set.seen.reset();
        set.bands = {{Extrapolation::seen, read_band(bands.section("stated"))}};
    }
    for (auto const& [kind, band] : read_bands(bands)) { set.bands.insert_or_assign(kind, band); }
}

Provenance read_provenance(Section& section) {
    std::string word;
    if (!section.read("provenance", word)) { return Provenance::guessed; }
    if (auto const provenance = provenance_from(word)) { return *provenance; }
    std::vector<std::string> known;
    for (Provenance const provenance : provenances) { known.emplace_back(name_of(provenance)); }
    section.fail("provenance", fmt::format("unknown word {}", headroom::quoted(word)),
                 fmt::format("known: {}", one_of(known)), did_you_mean(word, known));
}

CalibratedConstant read_constant(Section section) {
    constexpr Range any{-largest, largest};
    CalibratedConstant constant;
    section.read("value", constant.value, any, Presence::required);
    constant.low = constant.high = constant.independent = constant.value;
    section.read("low", constant.low, any);
    section.read("high", constant.high, any);
    section.read("independent", constant.independent, any);
    section.read("spread", constant.spread, {0, largest});
    constant.provenance = read_provenance(section);
    std::vector<std::string> sources;
    section.read("source", sources);
    for (auto const& source : sources) { constant.source += (constant.source.empty() ? "" : ", ") + source; }
    section.read("sources", constant.sources, {0, 1e9});
    section.skip({"meaning", "unit", "notes"});
    if (constant.low > constant.high) { section.fail("low", "above high", "an interval runs from low to high"); }
    return constant;
}

Pace read_pace(Section section) {
    Pace pace;
    section.read("factor", pace.factor, {1e-3, 1e3}, Presence::required);
    section.read("rows", pace.rows, {0, 1e9});
    section.read("sources", pace.sources, {0, 1e9});
    return pace;
}

std::string written(std::string_view name, Pace const& pace) {
    return fmt::format("\n[pace.{}]\nfactor = {}\nrows = {}\nsources = {}\n", toml_string(name),
                       toml_number(pace.factor), pace.rows, pace.sources);
}

std::string written(ConstantInfo const& info, CalibratedConstant const& constant) {
    std::string text =
        toml_comment(fmt::format("{} [{}]", info.meaning, info.unit)) + fmt::format("[constants.{}]\n", info.key);
    text += fmt::format("value = {}\nlow = {}\nhigh = {}\nindependent = {}\nspread = {}\n", toml_number(constant.value),
                        toml_number(constant.low), toml_number(constant.high), toml_number(constant.independent),
                        toml_number(constant.spread));
    text += fmt::format("provenance = {}\nsource = {}\nsources = {}\n", toml_string(name_of(constant.provenance)),
                        toml_string(constant.source), constant.sources);
    return text;
}

} // namespace

CalibrationSet read_calibration(std::string_view toml, std::string_view where, CalibrationSet const& below) {
    Record record{toml, where};
    Section root = record.root();
    bool partial = false;
    root.read("partial", partial);
    CalibrationSet set = partial ? below : CalibrationSet{};
    set.network = {};
    set.name = where;
    root.read("name", set.name);
    root.skip({"aliases", "date", "rows", "sources", "source", "source_detail", "notes", "confidence"});

    read_bands_over(root.section("bands"), set);
    if (root.has("seen")) { set.seen = read_seen(root.section("seen")); }

    Section values = root.section("constants");
    for (auto const& info : constants()) {
        std::string const key{info.key};
        if (values.has(key)) {
            set.constant[static_cast<std::size_t>(info.id)] = read_constant(values.section(key));
        } else {
            values.skip({key}); // known, so offered when another key is near it
            if (!partial) {
                values.fail(key, "missing", "a calibration states every constant",
                            "write partial = true to leave some out");
            }
        }
    }
    Section pace = root.section("pace");
    for (auto const& framework : pace.keys()) {
        set.pace.insert_or_assign(framework, read_pace(pace.section(framework)));
    }
    set.network = read_network(root.section("network"));
    record.refuse_the_rest();
    return set;
}

std::string write_measured_network(MeasuredNetwork const& network, std::string_view name,
                                   std::vector<std::string> const& header) {
    std::string text;
    for (auto const& line : header) { text += toml_comment(line); }
    return text + fmt::format("\nname = {}\npartial = true\n", toml_string(name)) + written_network(network);
}

std::string write_calibration(CalibrationSet const& set, std::vector<std::string> const& header) {
    std::string text;
    for (auto const& line : header) { text += toml_comment(line); }
    text += fmt::format("{}name = {}\n\n", header.empty() ? "" : "\n", toml_string(set.name));
    text += written_bands("bands", set.bands);
    if (set.seen) { text += written_seen("seen", *set.seen); }
    for (auto const& info : constants()) {
        text += written(info, set.constant[static_cast<std::size_t>(info.id)]);
        if (&info != &constants().back()) { text += '\n'; }
    }
    if (!set.pace.empty()) {
        text +=
            '\n' + toml_comment("Measured over predicted computation of stacks whose kernels are their own [ratio]");
    }
    for (auto const& [framework, pace] : set.pace) { text += written(framework, pace); }
    return text + written_network(set.network);
}

} // namespace headroom::io
