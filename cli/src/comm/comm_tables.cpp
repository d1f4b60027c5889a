#include "comm/comm_words.hpp"
#include "document/text.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace headroom::cli {
namespace {

std::string ratio_words(double a, double b) { return b > 0.0 ? significant(a / b) : "-"; }

char const* who(CommReport const& report) { return report.question.actors ? "actors" : "ranks"; }

/// What the table of rows tells apart; of many cases it leaves the parts of the times to figures and files.
struct RowColumns {
    explicit RowColumns(CommReport const& report)
        : counts{report.question.ranks.size() > 1},
          sizes{report.question.sweep},
          parts{!sizes || report.question.all},
          adding{report.question.reduction > SecondsPerByte{}},
          rates{std::ranges::any_of(report.rows, [](CommRow const& row) { return row.bus_bandwidth.has_value(); })} {}
    bool counts, sizes, parts, adding, rates;
};

std::vector<std::string> cells_of(CommRow const& row, RowColumns const& columns) {
    std::vector<std::string> cells{row.fastest ? "*" : ""};
    auto const add = [&](bool shown, std::string text) {
        if (shown) { cells.push_back(std::move(text)); }
    };
    add(columns.counts, std::to_string(row.ranks));
    add(columns.sizes, size_words(row.size.size));
    add(true, row.label());
    add(true, format(row.time.total()));
    add(columns.parts, format(row.time.latency));
    add(columns.parts, format(row.time.bandwidth));
    add(columns.parts && columns.adding, row.adding_modelled ? format(row.time.reduction) : "-");
    add(columns.rates, row.bus_bandwidth ? format(*row.bus_bandwidth) : "-");
    add(true, ratio_words(row.time.total().base(), row.lower_bound.base()));
    return cells;
}

/// Rows that the table has room for, the fastest of each case first.
std::vector<CommRow const*> shown_rows(CommReport const& report) {
    std::vector<CommRow const*> shown;
    std::size_t const places = shown_places(report);
    for (CommRow const& row : report.rows) {
        if (static_cast<std::size_t>(row.place) < places) { shown.push_back(&row); }
    }
    std::ranges::stable_sort(shown, {}, [](CommRow const* row) {
        return std::tuple{row->ranks, row->size.size.base(), row->place};
    });
    return shown;
}

} // namespace

Table rows_table(CommReport const& report) {
    RowColumns const columns{report};
    CommRow const& any = report.rows.front();
    Table table{.title = "Times", .columns = {{"*", Align::left}}, .rows = {}}; // the fastest of its size and ranks
    if (!columns.sizes && any.size.size > Bytes{}) { table.title += " of " + size_words(any.size.size); }
    if (!columns.counts) {
        table.title +=
            " over " + counted(static_cast<std::size_t>(any.ranks), report.question.actors ? "actor" : "rank");
    }
    if (columns.counts) { table.columns.push_back({who(report)}); }
    if (columns.sizes) { table.columns.push_back({"size"}); }
    table.columns.insert(table.columns.end(), {{"algorithm", Align::left, true}, {"time"}});
    if (columns.parts) { table.columns.insert(table.columns.end(), {{"latency"}, {"bandwidth"}}); }
    if (columns.parts && columns.adding) { table.columns.push_back({"adding"}); }
    if (columns.rates) { table.columns.push_back({"bus rate"}); }
    table.columns.push_back({"x bound"});
    for (CommRow const* one : shown_rows(report)) { table.rows.push_back(cells_of(*one, columns)); }
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
    bool simulates = false;
    for (CommRow const& row : report.rows) { simulates = simulates || row.priced_by == PricedBy::simulated; }
    Table table{
        .title = std::string{"Crossovers: sizes at which the fastest changes"} +
                 (simulates ? ", among those with a formula" : ""),
        .columns = {{who(report)}, {"size"}, {"below", Align::left, true}, {"above", Align::left, true}, {"time"}},
        .rows = {}};
    for (CommCrossover const& one : report.crossovers) {
        table.rows.push_back(
            {std::to_string(one.ranks), format(one.size.size), one.below, one.above, format(one.time)});
    }
    return table;
}

Table nccl_table(CommReport const& report) {
    Table table{.title = "What NCCL would take, by its own model",
                .columns = {{"ranks"},
                            {"size"},
                            {"algorithm", Align::left},
                            {"protocol", Align::left},
                            {"time"},
                            {"best here", Align::left, true},
                            {"time"},
                            {"NCCL x"}},
                .rows = {}};
    for (CommNccl const& one : report.nccl) {
        for (CommRow const& row : report.rows) {
            if (!row.fastest || row.ranks != one.ranks || row.size.size != one.size.size) { continue; }
            table.rows.push_back({std::to_string(one.ranks), size_words(one.size.size),
                                  std::string{name_of(one.choice.algorithm)}, std::string{name_of(one.choice.protocol)},
                                  format(one.choice.seconds), row.label(), format(row.time.total()),
                                  ratio_words(one.choice.seconds.base(), row.time.total().base())});
        }
    }
    return table;
}

Table compression_table(CommReport const& report) {
    CommCompression const& given = *report.question.levers.compression;
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

Table lever_table(CommReport const& report) {
    Table table{
        .title = "Levers: a step's exchange, changed",
        .columns =
            {{"ranks"}, {"lever", Align::left, true}, {"bytes"}, {"collectives"}, {"time"}, {"exposed"}, {"x plain"}},
        .rows = {}};
    for (CommLever const& one : report.levers) {
        table.rows.push_back({std::to_string(one.ranks), one.name, format(one.bytes), significant(one.count),
                              format(one.time), format(one.exposed),
                              ratio_words(one.exposed.base(), one.plain.base())});
    }
    return table;
}

Table contention_table(CommReport const& report) {
    CommContention const& given = *report.question.contention;
    Table table{.title = std::to_string(given.groups) + (given.groups == 1 ? " group" : " groups at once") + " on " +
                         given.topology + ", links shared fairly",
                .columns = {{"ranks"},
                            {"algorithm", Align::left, true},
                            {"alone"},
                            {"together"},
                            {"x alone"},
                            {"busiest link", Align::left, true},
                            {"used %"}},
                .rows = {}};
    for (CommContended const& one : report.contention) {
        ContendedGroup const& group = one.time.groups.front();
        bool first = true;
        for (LinkUse const& use : one.time.busiest) {
            table.rows.push_back({first ? std::to_string(one.ranks) : "", first ? one.algorithm : "",
                                  first ? format(group.alone) : "", first ? format(group.together) : "",
                                  first ? significant(group.slowdown()) : "", use.name, percent(use.utilisation)});
            first = false;
        }
    }
    return table;
}

Table measured_table(CommReport const& report) {
    Table table{
        .title = "Measured, beside the fastest formula",
        .columns = {{"ranks"}, {"size"}, {"measured"}, {"predicted"}, {"algorithm", Align::left, true}, {"pred/meas"}},
        .rows = {}};
    bool const nccl =
        std::ranges::any_of(report.measured, [](CommMeasured const& one) { return one.nccl.has_value(); });
    if (nccl) { table.columns.push_back({"NCCL/meas"}); }
    for (CommMeasured const& one : report.measured) {
        double const measured = one.measured.time.base();
        std::vector<std::string> cells{std::to_string(one.measured.ranks),
                                       size_words(one.measured.size.size),
                                       format(one.measured.time),
                                       format(one.predicted.time.total()),
                                       one.predicted.algorithm,
                                       ratio_words(one.predicted.time.total().base(), measured)};
        if (nccl) { cells.push_back(one.nccl ? ratio_words(one.nccl->base(), measured) : "-"); }
        table.rows.push_back(std::move(cells));
    }
    return table;
}

Table simulated_table(CommReport const& report) {
    Table table{.title = "Messages, one by one, against the formula",
                .columns = {{"ranks"},
                            {"size"},
                            {"algorithm", Align::left, true},
                            {"messages"},
                            {"longest chain"},
                            {"simulated"},
                            {"off by"}},
                .rows = {}};
    for (CommRow const& row : report.rows) {
        if (!row.simulated) { continue; }
        double const off = std::abs(row.simulated->total().base() - row.time.total().base());
        table.rows.push_back({std::to_string(row.ranks), size_words(row.size.size), row.label(),
                              std::to_string(row.simulated->messages), std::to_string(row.simulated->critical_messages),
                              format(row.simulated->total()), format(Seconds{off})});
    }
    return table;
}

} // namespace headroom::cli
