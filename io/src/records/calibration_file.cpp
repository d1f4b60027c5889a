#include "records/band_section.hpp"
#include "records/pace_section.hpp"
#include "records/record.hpp"
#include "records/toml_text.hpp"

#include "headroom/io/catalog.hpp"
#include "headroom/network/measured_network.hpp"
#include "headroom/training/calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace headroom::io {

using namespace headroom::network;
using namespace headroom::training;

namespace {

using namespace headroom::network;
using namespace headroom::training;

constexpr double most_seconds = 1e6, most_bytes = 1e24, most_rate = 1e18, most_seconds_per_byte = 1e3;
constexpr int most_ranks = 1'000'000'000;

/// Units are part of the keys: a bare number has the unit that its key names.
MeasuredValue read_value(Section section, double most, bool above_zero) {
    MeasuredValue value;
    section.read("value", value.value, {0.0, most}, Presence::required);
    if (above_zero && !(value.value > 0.0)) { section.fail("value", "not above zero"); }
    value.low = value.high = value.value;
    section.read("low", value.low, {0.0, most});
    section.read("high", value.high, {0.0, most});
    if (value.low > value.value || value.value > value.high) {
        section.fail("value", "outside its interval", "an interval runs from low to high around the value");
    }
    return value;
}

std::string read_source(Section& section) {
    std::string source, provenance;
    section.read("source", source);
    section.read("provenance", provenance);
    if (!provenance.empty() && provenance != name_of(Provenance::measured)) {
        section.fail("provenance", "unknown word " + headroom::quoted(provenance), "links are given as measured");
    }
    return source;
}

MeasuredLink read_link(Section section) {
    if (!section.has("latency_seconds")) { section.fail("latency_seconds", "missing", "a link has a latency"); }
    MeasuredLink link{.latency_seconds = read_value(section.section("latency_seconds"), most_seconds, false),
                      .bytes_per_second = {},
                      .source = read_source(section)};
    section.read("interconnect", link.interconnect);
    if (section.has("bytes_per_second")) {
        link.bytes_per_second = read_value(section.section("bytes_per_second"), most_rate, true);
    }
    return link;
}

MeasuredSegment read_segment(Section section) {
    double from = 0.0, to = 0.0, alpha = 0.0, beta = 0.0;
    section.read("from_bytes", from, {0.0, most_bytes}, Presence::required);
    section.read("to_bytes", to, {0.0, most_bytes}, Presence::required);
    section.read("alpha_seconds", alpha, {0.0, most_seconds}, Presence::required);
    section.read("beta_seconds_per_byte", beta, {0.0, most_seconds_per_byte}, Presence::required);
    if (from > to) { section.fail("from_bytes", "above to_bytes", "a segment runs from its smallest size on"); }
    if (!(alpha + beta > 0.0)) { section.fail("alpha_seconds", "zero, like beta", "such messages take no time"); }
    return {Bytes{from}, Bytes{to}, Seconds{alpha}, SecondsPerByte{beta}};
}

MeasuredCurve read_curve(Section section) {
    MeasuredCurve curve;
    std::string name;
    section.read("collective", name, Presence::required);
    auto const collective = collective_from(name);
    if (!collective) { section.fail("collective", "unknown collective " + headroom::quoted(name)); }
    curve.collective = *collective;
    section.read("algorithm", curve.algorithm);
    section.read("ranks", curve.ranks, {1, most_ranks}, Presence::required);
    section.read("nodes", curve.nodes, {1, most_ranks});
    section.read("interconnect", curve.interconnect);
    section.read("source", curve.source);
    if (curve.ranks % curve.nodes != 0) { section.fail("nodes", "do not share the ranks evenly"); }
    for (Section& segment : section.sections("segments")) {
        curve.segments.push_back(read_segment(segment));
        bool const rises =
            curve.segments.size() < 2 || curve.segments.back().from > curve.segments[curve.segments.size() - 2].to;
        if (!rises) { segment.fail("from_bytes", "not above the segment before", "segments rise with size"); }
    }
    if (curve.segments.empty()) { section.fail("segments", "missing", "a curve has at least one"); }
    return curve;
}

std::string written(std::string_view key, MeasuredValue const& value) {
    return fmt::format("{} = {{ value = {}, low = {}, high = {} }}\n", key, toml_number(value.value),
                       toml_number(value.low), toml_number(value.high));
}

std::string written_interconnect(std::string const& words) {
    return words.empty() ? "" : fmt::format("interconnect = {}\n", toml_string(words));
}

std::string written(std::string_view level, std::optional<MeasuredLink> const& link) {
    if (!link) { return ""; }
    std::string text = fmt::format("\n[network.{}]\n", level) + written("latency_seconds", link->latency_seconds);
    if (link->bytes_per_second) { text += written("bytes_per_second", *link->bytes_per_second); }
    return text + written_interconnect(link->interconnect) +
           fmt::format("provenance = {}\nsource = {}\n", toml_string(name_of(Provenance::measured)),
                       toml_string(link->source));
}

std::string written(MeasuredCurve const& curve) {
    std::string text =
        fmt::format("\n[[network.collectives]]\ncollective = {}\nalgorithm = {}\nranks = {}\nnodes = {}\n",
                    toml_string(name_of(curve.collective)), toml_string(curve.algorithm), curve.ranks, curve.nodes) +
        written_interconnect(curve.interconnect) +
        fmt::format("source = {}\nsegments = [\n", toml_string(curve.source));
    for (MeasuredSegment const& one : curve.segments) {
        text += fmt::format("  {{ from_bytes = {}, to_bytes = {}, alpha_seconds = {}, beta_seconds_per_byte = {} }},\n",
                            toml_number(one.from.base()), toml_number(one.to.base()), toml_number(one.alpha.base()),
                            toml_number(one.beta.base()));
    }
    return text + "]\n";
}

void add_curve(MeasuredNetwork& network, Section const& section) {
    MeasuredCurve curve = read_curve(section);
    bool const twice = std::ranges::any_of(network.curves, [&](MeasuredCurve const& other) {
        return other.collective == curve.collective && other.algorithm == curve.algorithm &&
               other.ranks == curve.ranks && other.nodes == curve.nodes;
    });
    if (twice) {
        section.fail("collective", "stated twice", "one curve for each collective, algorithm, ranks and nodes");
    }
    network.curves.push_back(std::move(curve));
}

/// [network] of a calibration file: what was measured of the links of one machine; empty where there is none.
MeasuredNetwork read_network(Section section) {
    MeasuredNetwork network;
    section.read("system", network.system);
    if (section.has("scale_up")) { network.scale_up = read_link(section.section("scale_up")); }
    if (section.has("scale_out")) { network.scale_out = read_link(section.section("scale_out")); }
    for (Section const& one : section.sections("collectives")) { add_curve(network, one); }
    return network;
}

/// Section as text; nothing where it is empty.
std::string written_network(MeasuredNetwork const& network) {
    if (network.empty()) { return ""; }
    std::string text = fmt::format("\n[network]\nsystem = {}\n", toml_string(network.system)) +
                       written("scale_up", network.scale_up) + written("scale_out", network.scale_out);
    for (MeasuredCurve const& curve : network.curves) { text += written(curve); }
    return text;
}

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

/// Constants of earlier versions whose work one of today's does.
constexpr std::pair<std::string_view, std::string_view> followed[]{{"bytes_hidden", "bytes_elementwise"},
                                                                   {"bytes_sharded", "bytes_elementwise"},
                                                                   {"bytes_ffn", "bytes_elementwise"},
                                                                   {"context_exposed", "tensor_exposed"},
                                                                   {"attention_blackwell", "attention_hopper"}};

/// Refuses a file of another version: all constants that are not known, at once. A single one may be misspelt.
void refuse_other_version(Section const& values) {
    std::vector<std::string> unknown;
    std::string list;
    bool renamed = false;
    for (std::string const& key : values.keys()) {
        if (std::ranges::find(constants(), key, &ConstantInfo::key) != constants().end()) { continue; }
        auto const now = std::ranges::find(followed, key, &std::pair<std::string_view, std::string_view>::first);
        renamed = renamed || now != std::end(followed);
        list += (unknown.empty() ? "" : ", ") + key;
        if (now != std::end(followed)) { list += fmt::format(" (now {})", now->second); }
        unknown.push_back(key);
    }
    if (unknown.empty() || (unknown.size() == 1 && !renamed)) { return; }
    refuse(values.place(unknown.front()), "constants of another version of headroom", list,
           "calibrate anew, or leave them out of a file with partial = true");
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

std::vector<MeasuredEntry> entries_of(Section root) {
    std::vector<MeasuredEntry> entries;
    for (Section section : root.sections("measured")) {
        MeasuredEntry entry;
        for (auto const& key : section.keys()) {
            std::vector<std::string> words;
            bool is_switch = false;
            section.read_words(key, words, is_switch);
            if (words.size() != 1) { section.fail(key, "a list where one value is due"); }
            if (is_switch) { words.front() = words.front() == "true" ? "on" : "off"; }
            if (entry.place.empty()) { entry.place = section.place(key); }
            entry.words.emplace_back(key, words.front());
        }
        entries.push_back(std::move(entry));
    }
    return entries;
}

} // namespace

std::vector<MeasuredEntry> read_measured_entries(std::string_view toml, std::string_view where) {
    Record record{toml, where};
    return entries_of(record.root());
}

std::string written_measured_entry(MeasuredEntry const& entry) {
    std::string text = "\n[[measured]]\n";
    for (auto const& [key, value] : entry.words) { text += fmt::format("{} = {}\n", key, toml_string(value)); }
    return text;
}

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
    refuse_other_version(values);
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
    Section likeness = root.section("likeness");
    if (likeness.has("dense")) { set.warm.dense = read_likeness(likeness.section("dense")); }
    if (likeness.has("mixtures")) { set.warm.mixtures = read_likeness(likeness.section("mixtures")); }
    entries_of(root); // of no use here, but no mistake
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

std::string write_partial_calibration(PartialCalibration const& set, std::vector<std::string> const& header) {
    std::string text;
    for (auto const& line : header) { text += toml_comment(line); }
    text += fmt::format("\nname = {}\npartial = true\n", toml_string(set.name));
    for (auto const& [id, constant] : set.constants) {
        auto const info = std::ranges::find(constants(), id, &ConstantInfo::id);
        text += '\n' + written(*info, constant);
    }
    text += written_network(set.network);
    for (auto const& entry : set.entries) { text += written_measured_entry(entry); }
    return text;
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
            '\n' + toml_comment("Measured over predicted computation of frameworks with kernels of their own [ratio]");
    }
    for (auto const& [framework, pace] : set.pace) { text += written_pace(framework, pace); }
    if (set.warm.dense.pairs > 0) {
        text += '\n' + toml_comment("Variances of ln(measured / predicted) by what two steps of one site share, and of "
                                    "repeats; from pairs of runs predicted with their source left out");
        text += written_likeness("dense", set.warm.dense).substr(1) + written_likeness("mixtures", set.warm.mixtures);
    }
    return text + written_network(set.network);
}

} // namespace headroom::io
