#include "calibrate/calibrate_report.hpp"

#include "headroom/document/text.hpp"

#include <algorithm>
#include <optional>

namespace headroom::cli {
namespace {

std::string interval_words(CalibratedConstant const& one) {
    return one.low == one.high ? "none" : significant(one.low) + " .. " + significant(one.high);
}

/// "matrix products of traces: 24 kernels, 2026-11-22"; sources that were left out with the reason.
std::string rests_on(fit::ExplainedConstant const& one) {
    CalibratedConstant const& constant = one.constant;
    std::string text = printable(constant.source.empty() ? "no source is stated" : constant.source);
    if (constant.provenance == Provenance::fitted) { // the source is of the value that the fit is drawn to
        text += "; " + (constant.sources > 0
                            ? "moved by runs of " + counted(static_cast<std::size_t>(constant.sources), "source")
                            : std::string{"no run moved it"});
    }
    for (fit::ConstantSource const* source : one.sources) {
        std::string const of =
            significant(source->constant.value) + " of " + printable(one.answer->evidence[source->evidence].name);
        if (source->weight <= 0.0) {
            text += "; left out: " + of + ", " + source->why;
        } else if (source->weight < 1.0) {
            text += "; " + of + " weighs " + percent(source->weight, 2) + " %";
        }
    }
    return text;
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

Table links_table(fit::CalibrationAnswer const& answer) {
    Table table{.title = "Links, and what each source says of them",
                .columns = {left("level"), "latency", "bytes at", "weighs %", wrapped("source")}};
    for (fit::LinkSource const& one : answer.link_sources) {
        auto const& [latency, rate, interconnect, source] = one.link;
        table.rows.push_back({one.scale_out ? "between nodes" : "inside a node",
                              latency.value > 0.0 ? format(Seconds{latency.value}) : "0",
                              rate ? format(BytesPerSecond{rate->value}) : "not seen", percent(one.weight, 2),
                              printable((one.name == source ? one.name : one.name + ": " + source) +
                                        (interconnect.empty() ? "" : ", " + interconnect))});
    }
    return table;
}

} // namespace

std::vector<Block> explained_blocks(fit::CalibrationAnswer const& answer) {
    std::vector<Table> tables;
    std::optional<Provenance> group;
    for (fit::ExplainedConstant const& one : explained_constants(answer)) {
        if (group != one.constant.provenance) {
            group = one.constant.provenance;
            tables.push_back(
                {.title = title_of(*group), .columns = {left("constant"), "value", "90 %", wrapped("rests on")}});
        }
        tables.back().rows.push_back(
            {std::string{one.info.key}, significant(one.constant.value), interval_words(one.constant), rests_on(one)});
    }
    std::vector<std::string> counts;
    for (Provenance const provenance : provenances) {
        auto const is = [&](CalibratedConstant const& one) { return one.provenance == provenance; };
        auto const count = std::ranges::count_if(answer.effective->constant, is);
        if (count > 0) { counts.push_back(std::to_string(count) + " " + std::string{name_of(provenance)}); }
    }
    std::vector<Block> blocks;
    blocks.emplace_back(Paragraph{"of " + counted(constants().size(), "constant") + ": " + join(counts, ", ") +
                                      ". A prediction rests on those that its model and machine touch.",
                                  "what it rests on"});
    if (!answer.link_sources.empty()) { blocks.emplace_back(links_table(answer)); }
    for (Table& table : tables) { blocks.emplace_back(std::move(table)); }
    return blocks;
}

} // namespace headroom::cli
