#include "calibrate/calibrate_report.hpp"
#include "document/text.hpp"

#include <algorithm>
#include <map>

namespace headroom::cli {
namespace {

std::vector<ConstantSource const*> sources_of(Constant id, CalibrateAnswer const& answer) {
    std::vector<ConstantSource const*> sources;
    for (ConstantSource const& one : answer.constant_sources) {
        if (one.id == id) { sources.push_back(&one); }
    }
    return sources;
}

std::map<Provenance, std::vector<ConstantInfo>> by_provenance(CalibrationSet const& set) {
    std::map<Provenance, std::vector<ConstantInfo>> groups;
    for (ConstantInfo const& info : constants()) { groups[set[info.id].provenance].push_back(info); }
    return groups;
}

// ---- JSON -----------------------------------------------------------------------------------------------------------

Json text_or_null(std::string const& text) { return text.empty() ? Json{} : Json{text}; }

Json source_json(ConstantSource const& one, CalibrateAnswer const& answer) {
    CalibrateEvidence const& evidence = answer.evidence[one.evidence];
    return Json::object()
        .set("name", evidence.name)
        .set("value", one.constant.value)
        .set("low", one.constant.low)
        .set("high", one.constant.high)
        .set("provenance", name_of(one.constant.provenance))
        .set("source", one.constant.source)
        .set("samples", one.samples > 0 ? Json{one.samples} : Json{})
        .set("from", text_or_null(evidence.from))
        .set("to", text_or_null(evidence.to))
        .set("machine", text_or_null(evidence.machine))
        .set("weight", one.weight)
        .set("left_out", text_or_null(one.why));
}

Json constant_json(ConstantInfo const& info, CalibratedConstant const& constant, CalibrateAnswer const& answer) {
    Json list = Json::array();
    auto const sources = sources_of(info.id, answer);
    for (ConstantSource const* one : sources) { list.push(source_json(*one, answer)); }
    return Json::object()
        .set("name", info.key)
        .set("meaning", info.meaning)
        .set("unit", info.unit)
        .set("value", constant.value)
        .set("low", constant.low)
        .set("high", constant.high)
        .set("provenance", name_of(constant.provenance))
        .set("source", constant.source)
        .set("sources", constant.sources)
        .set("from_catalog", sources.empty())
        .set("evidence", std::move(list));
}

Json value_json(std::optional<MeasuredValue> const& value) {
    if (!value) { return {}; }
    return Json::object().set("value", value->value).set("low", value->low).set("high", value->high);
}

Json links_json(CalibrateAnswer const& answer) {
    Json list = Json::array();
    for (LinkSource const& one : answer.link_sources) {
        list.push(Json::object()
                      .set("level", one.scale_out ? "scale_out" : "scale_up")
                      .set("name", one.name)
                      .set("latency_seconds", value_json(one.link.latency_seconds))
                      .set("bytes_per_second", value_json(one.link.bytes_per_second))
                      .set("weight", one.weight)
                      .set("source", one.link.source));
    }
    return list;
}

Json curves_json(CalibrateAnswer const& answer) {
    Json list = Json::array();
    for (MeasuredCurve const& one : answer.states.network.curves) {
        list.push(Json::object()
                      .set("collective", name_of(one.collective))
                      .set("algorithm", text_or_null(one.algorithm))
                      .set("ranks", one.ranks)
                      .set("nodes", one.nodes)
                      .set("segments", one.segments.size())
                      .set("source", one.source));
    }
    return list;
}

// ---- text -----------------------------------------------------------------------------------------------------------

std::string interval_words(CalibratedConstant const& one) {
    return one.low == one.high ? "none" : significant(one.low) + " .. " + significant(one.high);
}

/// "matrix products of traces: 24 kernels, 2026-11-22"; sources that were left out with the reason.
std::string rests_on(ConstantInfo const& info, CalibratedConstant const& constant, CalibrateAnswer const& answer) {
    std::string text = printable(constant.source.empty() ? "no source is stated" : constant.source);
    if (constant.provenance == Provenance::fitted) { // the source is of the value that the fit is drawn to
        text += "; " + (constant.sources > 0
                            ? "moved by runs of " + counted(static_cast<std::size_t>(constant.sources), "source")
                            : std::string{"no run moved it"});
    }
    for (ConstantSource const* one : sources_of(info.id, answer)) {
        std::string const name = printable(answer.evidence[one->evidence].name);
        if (one->weight <= 0.0) {
            text += "; left out: " + significant(one->constant.value) + " of " + name + ", " + one->why;
        } else if (one->weight < 1.0) {
            text +=
                "; " + significant(one->constant.value) + " of " + name + " weighs " + percent(one->weight, 2) + " %";
        }
    }
    return text;
}

Table constants_of(std::string title, std::vector<ConstantInfo> const& group, CalibrationSet const& set,
                   CalibrateAnswer const& answer) {
    Table table{.title = std::move(title),
                .columns = {{"constant", Align::left}, {"value"}, {"90 %"}, {"rests on", Align::left, true}},
                .rows = {}};
    for (ConstantInfo const& info : group) {
        CalibratedConstant const& one = set[info.id];
        table.rows.push_back(
            {std::string{info.key}, significant(one.value), interval_words(one), rests_on(info, one, answer)});
    }
    return table;
}

std::string title_of(Provenance provenance) {
    switch (provenance) {
    case Provenance::given: return "Given by a file";
    case Provenance::measured: return "Measured";
    case Provenance::fitted: return "Fitted to published runs, not measured here";
    case Provenance::cited: return "Cited from published measurements, not measured here";
    case Provenance::datasheet: return "From datasheets";
    case Provenance::guessed: return "Guessed: nobody measured these";
    }
    return {};
}

Table links_table(CalibrateAnswer const& answer) {
    Table table{
        .title = "Links, and what each source says of them",
        .columns = {{"level", Align::left}, {"latency"}, {"bytes at"}, {"weighs %"}, {"source", Align::left, true}},
        .rows = {}};
    for (LinkSource const& one : answer.link_sources) {
        auto const& [latency, rate, source] = one.link;
        table.rows.push_back({one.scale_out ? "between nodes" : "inside a node",
                              latency.value > 0.0 ? format(Seconds{latency.value}) : "0",
                              rate ? format(BytesPerSecond{rate->value}) : "not seen", percent(one.weight, 2),
                              printable(one.name == source ? one.name : one.name + ": " + source)});
    }
    return table;
}

} // namespace

Json explained_json(CalibrateAnswer const& answer, io::Catalog const& catalog) {
    CalibrationSet const set = effective(answer, catalog);
    Json list = Json::array(), counts = Json::object();
    auto const groups = by_provenance(set);
    for (Provenance const provenance : provenances) {
        auto const group = groups.find(provenance);
        counts.set(name_of(provenance), group == groups.end() ? 0 : static_cast<int>(group->second.size()));
        if (group == groups.end()) { continue; }
        for (ConstantInfo const& info : group->second) { list.push(constant_json(info, set[info.id], answer)); }
    }
    return Json::object()
        .set("counts", std::move(counts))
        .set("constants", std::move(list))
        .set("links", links_json(answer))
        .set("curves", curves_json(answer));
}

std::vector<Block> explained_blocks(CalibrateAnswer const& answer, io::Catalog const& catalog) {
    CalibrationSet const set = effective(answer, catalog);
    auto const groups = by_provenance(set);
    std::vector<std::string> counts;
    for (auto const& [provenance, group] : groups) {
        counts.push_back(std::to_string(group.size()) + " " + std::string{name_of(provenance)});
    }
    std::vector<Block> blocks;
    blocks.emplace_back(Paragraph{"of " + counted(constants().size(), "constant") + ": " + join(counts, ", ") +
                                      ". A prediction rests on those that its model and machine touch.",
                                  "what it rests on"});
    if (!answer.link_sources.empty()) { blocks.emplace_back(links_table(answer)); }
    for (auto const& [provenance, group] : groups) {
        blocks.emplace_back(constants_of(title_of(provenance), group, set, answer));
    }
    return blocks;
}

} // namespace headroom::cli
