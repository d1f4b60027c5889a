#include "comm/comm_report.hpp"

#include "comm/comm_chart.hpp"
#include "document/text.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::cli {
namespace {

constexpr char const* size_convention =
    "size is the whole vector in bytes, counted once: for all_gather and reduce_scatter the sum over ranks, for "
    "all_to_all what one rank holds for all ranks, for the others the vector of one rank";

/// Powers of two read in binary units, others in decimal ones.
std::string size_words(Bytes size) {
    double const kib = size.in(units::KiB);
    bool const binary = kib >= 1.0 && std::exp2(std::round(std::log2(kib))) == kib;
    return binary ? format_binary(size) : format(size);
}

std::string ratio_words(double a, double b) { return b > 0.0 ? significant(a / b) : "-"; }

// ---- JSON -------------------------------------------------------------------------------------------------------

Json link_json(Link link) {
    return Json::object()
        .set("bandwidth_bytes_per_second", link.bandwidth.base())
        .set("latency_seconds", link.latency.base());
}

Json network_json(CommNetwork const& network) {
    bool const one_level = network.domain == 0;
    return Json::object()
        .set("name", network.name)
        .set("domain", one_level ? Json{} : Json{network.domain})
        .set("scale_up", link_json(network.fabric.scale_up))
        .set("scale_out", one_level ? Json{} : link_json(network.fabric.scale_out));
}

Json parts_json(std::optional<ActorLearnerTime> const& parts) {
    if (!parts) { return {}; }
    return Json::object()
        .set("broadcast_seconds", parts->broadcast.total().base())
        .set("gather_seconds", parts->gather.total().base())
        .set("asynchronous_seconds", parts->asynchronous().base());
}

Json row_json(CommRow const& row) {
    return Json::object()
        .set("collective", row.collective)
        .set("algorithm", row.algorithm)
        .set("ranks", row.ranks)
        .set("size_bytes", row.size.size.base())
        .set("seconds", row.time.total().base())
        .set("latency_seconds", row.time.latency.base())
        .set("bandwidth_seconds", row.time.bandwidth.base())
        .set("reduction_seconds", row.reduction ? Json{row.reduction->base()} : Json{})
        .set("bus_bandwidth_bytes_per_second", row.bus_bandwidth ? Json{row.bus_bandwidth->base()} : Json{})
        .set("lower_bound_seconds", row.lower_bound.base())
        .set("parts", parts_json(row.parts))
        .set("source", row.source);
}

Json fastest_json(CommRow const& row) {
    return Json::object()
        .set("ranks", row.ranks)
        .set("size_bytes", row.size.size.base())
        .set("collective", row.collective)
        .set("algorithm", row.algorithm)
        .set("seconds", row.time.total().base());
}

Json crossover_json(CommCrossover const& one) {
    return Json::object()
        .set("ranks", one.ranks)
        .set("size_bytes", one.size.size.base())
        .set("below", one.below)
        .set("above", one.above)
        .set("seconds", one.time.base());
}

Json compressed_row_json(CommCompressed const& one) {
    Json sent = Json::array();
    for (CommSent const& part : one.sent) {
        sent.push(Json::object()
                      .set("collective", name_of(part.sent.collective))
                      .set("algorithm", part.choice.algorithm)
                      .set("size_bytes", part.sent.bytes.size.base())
                      .set("share_of_steps", part.sent.steps)
                      .set("seconds", part.choice.time.total().base()));
    }
    return Json::object()
        .set("ranks", one.ranks)
        .set("byte_ratio", one.gradients.byte_ratio)
        .set("rounds", one.gradients.rounds)
        .set("seconds", one.time.total().base())
        .set("uncompressed_seconds", one.uncompressed.total().base())
        .set("touched_bytes_per_parameter", one.gradients.touched_per_parameter)
        .set("kept_bytes_per_parameter", one.gradients.kept_per_parameter)
        .set("product_flops", one.gradients.products.base())
        .set("sent", sent);
}

Json compression_json(CommReport const& report) {
    if (!report.question.compression) { return {}; }
    CommCompression const& given = *report.question.compression;
    Json rows = Json::array();
    for (CommCompressed const& one : report.compressed) { rows.push(compressed_row_json(one)); }
    return Json::object()
        .set("kind", name_of(given.how.kind))
        .set("parameter", given.parameter.empty() ? Json{} : Json{given.parameter})
        .set("elements", report.question.size.size / given.element)
        .set("bytes_per_element", given.element.base())
        .set("rows", rows);
}

// ---- for people -------------------------------------------------------------------------------------------------

std::string network_words(CommNetwork const& network) {
    auto const link = [](Link one) { return format(one.bandwidth) + ", " + format(one.latency); };
    if (network.domain == 0) { return "one level, " + link(network.fabric.scale_up); }
    return network.name + ": " + link(network.fabric.scale_up) + " inside domains of " +
           std::to_string(network.domain) + ", " + link(network.fabric.scale_out) + " between them; calibrated";
}

std::string counted(std::size_t count, std::string const& what) {
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

/// "; of 84 cases tree is the fastest in 80, ring in 4": who wins how often, the most frequent first.
std::string winners_words(CommReport const& report) {
    std::vector<std::pair<std::string, std::size_t>> wins;
    std::size_t cases = 0;
    for (CommRow const& row : report.rows) {
        if (!row.fastest) { continue; }
        ++cases;
        auto const same = std::ranges::find(wins, row.algorithm, &std::pair<std::string, std::size_t>::first);
        if (same == wins.end()) {
            wins.emplace_back(row.algorithm, 1);
        } else {
            ++same->second;
        }
    }
    std::ranges::stable_sort(wins, std::greater<>{}, &std::pair<std::string, std::size_t>::second);
    if (wins.size() == 1) { return "; it is the fastest in all " + std::to_string(cases) + " cases"; }
    std::string text;
    for (auto const& [algorithm, count] : wins) {
        text += (text.empty() ? "; of " + std::to_string(cases) + " cases " + algorithm + " is the fastest in "
                              : ", " + algorithm + " in ") +
                std::to_string(count);
    }
    return text;
}

/// The fastest at the largest size and number of ranks; of a sweep also how often which algorithm is.
std::string verdict(CommReport const& report) {
    CommQuestion const& question = report.question;
    std::string const who = question.actors ? "actor" : "rank";
    auto best = report.rows.begin();
    for (auto row = best; row != report.rows.end(); ++row) {
        if (row->fastest && (!best->fastest || std::pair{row->ranks, row->size.size.base()} >=
                                                   std::pair{best->ranks, best->size.size.base()})) {
            best = row;
        }
    }
    std::string text = best->algorithm + ": " + format(best->time.total()) + " for " + question.movement + " of " +
                       size_words(best->size.size) + " over " + counted(static_cast<std::size_t>(best->ranks), who);
    if (best->bus_bandwidth) { text += ", bus bandwidth " + format(*best->bus_bandwidth); }
    if (question.ranks.size() > 1 || question.sweep) { return text + winners_words(report) + "."; }
    return text + (report.rows.size() > 1 ? "; the fastest of " + std::to_string(report.rows.size()) + "." : ".");
}

Table rows_table(CommReport const& report) {
    Table table{.title = "Times",
                .columns = {{"*", Align::left}, // the fastest of its size and ranks
                            {report.question.actors ? "actors" : "ranks"},
                            {"size"},
                            {"algorithm", Align::left, true},
                            {"time"},
                            {"latency"},
                            {"bandwidth"},
                            {"bus rate"},
                            {"x bound"}},
                .rows = {}};
    for (CommRow const& row : report.rows) {
        table.rows.push_back({row.fastest ? "*" : "", std::to_string(row.ranks), size_words(row.size.size),
                              row.algorithm, format(row.time.total()), format(row.time.latency),
                              format(row.time.bandwidth), row.bus_bandwidth ? format(*row.bus_bandwidth) : "-",
                              ratio_words(row.time.total().base(), row.lower_bound.base())});
    }
    return table;
}

Table parts_table(CommReport const& report) {
    Table table{.title = "Weights out, experience in",
                .columns = {{"actors"},
                            {"size"},
                            {"algorithm", Align::left, true},
                            {"weights"},
                            {"experience"},
                            {"one after another"},
                            {"at once"}},
                .rows = {}};
    for (CommRow const& row : report.rows) {
        table.rows.push_back({std::to_string(row.ranks), size_words(row.size.size), row.algorithm,
                              format(row.parts->broadcast.total()), format(row.parts->gather.total()),
                              format(row.time.total()), format(row.parts->asynchronous())});
    }
    return table;
}

Table crossover_table(CommReport const& report) {
    Table table{.title = "Crossovers: sizes at which the fastest changes",
                .columns = {{report.question.actors ? "actors" : "ranks"},
                            {"size"},
                            {"below", Align::left, true},
                            {"above", Align::left, true},
                            {"time"}},
                .rows = {}};
    for (CommCrossover const& one : report.crossovers) {
        table.rows.push_back(
            {std::to_string(one.ranks), format(one.size.size), one.below, one.above, format(one.time)});
    }
    return table;
}

Table compression_table(CommReport const& report) {
    CommCompression const& given = *report.question.compression;
    Table table{.title = "Compressed gradients: " + std::string{name_of(given.how.kind)} +
                         (given.parameter.empty() ? "" : " " + given.parameter) + ", averages over steps",
                .columns = {{"ranks"},
                            {"sent", Align::left, true},
                            {"bytes"},
                            {"steps %"},
                            {"time"},
                            {"step"},
                            {"uncompressed"},
                            {"bytes x"}},
                .rows = {}};
    for (CommCompressed const& one : report.compressed) {
        bool first = true;
        for (CommSent const& part : one.sent) {
            table.rows.push_back({first ? std::to_string(one.ranks) : "", std::string{name_of(part.sent.collective)},
                                  format(part.sent.bytes.size), percent(part.sent.steps),
                                  format(part.choice.time.total()), first ? format(one.time.total()) : "",
                                  first ? format(one.uncompressed.total()) : "",
                                  first ? significant(one.gradients.byte_ratio) : ""});
            first = false;
        }
    }
    return table;
}

std::string compression_words(CommReport const& report) {
    CompressedGradients const& gradients = report.compressed.front().gradients;
    CommCompression const& given = *report.question.compression;
    std::string text = significant(gradients.touched_per_parameter) + " bytes of memory traffic and " +
                       significant(gradients.kept_per_parameter) + " bytes of error feedback a parameter";
    if (gradients.products.base() > 0.0) { text += ", matrix products of " + format(gradients.products); }
    text += " (" + std::to_string(report.compressed.front().ranks) + " ranks); their time is not in the table.";
    if (given.how.kind == Compression::low_rank && !given.matrix) {
        text += " The gradients count as one square matrix, the least any shapes need: give --matrix ROWSxCOLUMNS.";
    }
    return text;
}

} // namespace

Json json_of(CommReport const& report) {
    Json rows = Json::array(), best = Json::array(), changes = Json::array();
    for (CommRow const& row : report.rows) {
        rows.push(row_json(row));
        if (row.fastest) { best.push(fastest_json(row)); }
    }
    for (CommCrossover const& one : report.crossovers) { changes.push(crossover_json(one)); }
    Json json = result_head("comm", report.catalog, report.calibration);
    json.set("size_convention", size_convention)
        .set("collective", report.question.movement)
        .set("network", network_json(report.question.network))
        .set("rows", rows)
        .set("fastest", best)
        .set("crossovers", changes)
        .set("compression", compression_json(report));
    if (report.wall_seconds) { json.set("stats", stats_json(*report.wall_seconds)); }
    return json;
}

Document document_of(CommReport const& report) {
    Document document{"Communication: " + report.question.movement, {}, footer(report.catalog, report.calibration)};
    auto& blocks = document.blocks;
    blocks.emplace_back(Paragraph{verdict(report), "", true});
    blocks.emplace_back(Paragraph{network_words(report.question.network), "network"});
    for (Chart& chart : comm_charts(report)) { blocks.emplace_back(std::move(chart)); }
    blocks.emplace_back(rows_table(report));
    if (report.question.actors) { blocks.emplace_back(parts_table(report)); }
    if (!report.crossovers.empty()) { blocks.emplace_back(crossover_table(report)); }
    if (!report.compressed.empty()) {
        blocks.emplace_back(compression_table(report));
        blocks.emplace_back(Paragraph{compression_words(report), "beside it"});
    }
    blocks.emplace_back(Paragraph{size_convention, "size"});
    blocks.emplace_back(Paragraph{"closed forms: full-duplex ports, no other traffic, reductions not counted; "
                                  "x bound is the time over the least that the links' rates allow",
                                  "assumes"});
    return document;
}

Sheet sheet_of(CommReport const& report) {
    Sheet sheet{{"collective", "algorithm", "ranks", "size_bytes", "seconds", "latency_seconds", "bandwidth_seconds",
                 "reduction_seconds", "bus_bandwidth_bytes_per_second", "lower_bound_seconds", "fastest", "source"},
                {}};
    for (CommRow const& row : report.rows) {
        sheet.rows.push_back({row.collective, row.algorithm, std::to_string(row.ranks), exact(row.size.size.base()),
                              exact(row.time.total().base()), exact(row.time.latency.base()),
                              exact(row.time.bandwidth.base()), row.reduction ? exact(row.reduction->base()) : "",
                              row.bus_bandwidth ? exact(row.bus_bandwidth->base()) : "", exact(row.lower_bound.base()),
                              row.fastest ? "true" : "false", row.source});
    }
    return sheet;
}

} // namespace headroom::cli
