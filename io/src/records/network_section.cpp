#include "records/network_section.hpp"

#include "records/toml_text.hpp"

#include "headroom/training/calibration.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace headroom::io {

using namespace headroom::network;
using namespace headroom::training;

namespace {

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

} // namespace

MeasuredNetwork read_network(Section section) {
    MeasuredNetwork network;
    section.read("system", network.system);
    if (section.has("scale_up")) { network.scale_up = read_link(section.section("scale_up")); }
    if (section.has("scale_out")) { network.scale_out = read_link(section.section("scale_out")); }
    for (Section const& one : section.sections("collectives")) { add_curve(network, one); }
    return network;
}

std::string written_network(MeasuredNetwork const& network) {
    if (network.empty()) { return ""; }
    std::string text = fmt::format("\n[network]\nsystem = {}\n", toml_string(network.system)) +
                       written("scale_up", network.scale_up) + written("scale_out", network.scale_out);
    for (MeasuredCurve const& curve : network.curves) { text += written(curve); }
    return text;
}

} // namespace headroom::io
