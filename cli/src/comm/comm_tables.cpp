#include "comm/comm_report.hpp"

#include "headroom/document/text.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace headroom::cli {
namespace {

std::string ratio_words(double a, double b) { return b > 0.0 ? significant(a / b) : "-"; }

char const* who(CommReport const& report) { return report.answer.question.actors ? "actors" : "ranks"; }

bool is_server(CommRow const& row) { return row.collective == "parameter_server"; }

bool has_servers(CommReport const& report) { return std::ranges::any_of(report.answer.rows, is_server); }

/// Columns of the table of rows; with many cases the parts of the times are left to figures and files.
struct RowColumns {
    explicit RowColumns(CommReport const& report)
        : counts{report.answer.question.ranks.size() > 1},
          sizes{report.answer.question.sweep},
          parts{!sizes || report.request.all},
          adding{report.answer.question.reduction > SecondsPerByte{}},
          rates{std::ranges::any_of(report.answer.rows,
                                    [](CommRow const& row) { return row.bus_bandwidth.has_value(); })},
          several{shown_places(report) > 1 || has_servers(report)},
          nccl{!several && !report.answer.nccl.empty()} {}
    bool counts, sizes, parts, adding, rates;
    bool several; ///< algorithms of each case
    bool nccl;    ///< its time over the fastest
};

CommNccl const* nccl_of(CommReport const& report, CommRow const& row) {
    auto const found = std::ranges::find_if(report.answer.nccl, [&](CommNccl const& one) {
        return one.ranks == row.ranks && one.size.size == row.size.size;
    });
    return found == report.answer.nccl.end() ? nullptr : &*found;
}

std::vector<std::string> cells_of(CommReport const& report, CommRow const& row, RowColumns const& columns) {
    std::vector<std::string> cells;
    auto const add = [&](bool shown, std::string text) {
        if (shown) { cells.push_back(std::move(text)); }
    };
    add(columns.several, row.fastest ? "*" : "");
    add(columns.counts, std::to_string(row.ranks));
    add(columns.sizes, size_words(row.size.size));
    add(true, row.label());
    add(true, format(row.time.total()));
    add(columns.parts, format(row.time.latency));
    add(columns.parts, format(row.time.bandwidth));
    add(columns.parts && columns.adding, row.adding_modelled ? format(row.time.reduction) : "-");
    add(columns.rates, row.bus_bandwidth ? format(*row.bus_bandwidth) : "-");
    add(true, ratio_words(row.time.total().base(), row.lower_bound.base()));
    if (columns.nccl) {
        CommNccl const* const nccl = nccl_of(report, row);
        cells.push_back(nccl != nullptr ? format(nccl->choice.seconds) : "-");
    }
    return cells;
}

/// Rows that the table has room for, the fastest of each case first; servers that were asked for are among them.
std::vector<CommRow const*> shown_rows(CommReport const& report) {
    std::vector<CommRow const*> shown;
    std::size_t const places = shown_places(report);
    for (CommRow const& row : report.answer.rows) {
        if (static_cast<std::size_t>(row.place) < places || is_server(row)) { shown.push_back(&row); }
    }
    std::ranges::stable_sort(shown, {}, [](CommRow const* row) {
        return std::tuple{row->ranks, row->size.size.base(), row->place};
    });
    return shown;
}

/// Whether NCCL takes the same at both, neighbours of one sweep.
bool same_choice(CommNccl const& a, CommNccl const& b) {
    return a.ranks == b.ranks && a.choice.algorithm == b.choice.algorithm && a.choice.protocol == b.choice.protocol;
}

} // namespace

Table rows_table(CommReport const& report) {
    RowColumns const columns{report};
    CommRow const& any = report.answer.rows.front();
    Table table{.title = "Times"};
    if (!columns.sizes && any.size.size > Bytes{}) { table.title += " of " + size_words(any.size.size); }
    if (!columns.counts) {
        table.title +=
            " over " + counted(static_cast<std::size_t>(any.ranks), report.answer.question.actors ? "actor" : "rank");
    }
    if (columns.several) { table.columns.push_back(left("*")); } // the fastest of its size and ranks
    if (columns.counts) { table.columns.push_back(who(report)); }
    if (columns.sizes) { table.columns.push_back("size"); }
    table.columns.insert(table.columns.end(), {wrapped(columns.several ? "algorithm" : "fastest"), "time"});
    if (columns.parts) { table.columns.insert(table.columns.end(), {"latency", "bandwidth"}); }
    if (columns.parts && columns.adding) { table.columns.push_back("adding"); }
    if (columns.rates) { table.columns.push_back("bus rate"); }
    table.columns.push_back("x bound");
    if (columns.nccl) { table.columns.push_back("NCCL"); }
    for (CommRow const* one : shown_rows(report)) { table.rows.push_back(cells_of(report, *one, columns)); }
    return table;
}

Table parts_table(CommReport const& report) {
    return field_rows("Weights out, experience in", report.answer.rows,
                      {{"ranks", "actors"},
                       {"size_bytes", "size", Shown::each},
                       {"algorithm"},
                       {"parts.broadcast_seconds", "weights", Shown::each},
                       {"parts.gather_seconds", "experience", Shown::each},
                       {"seconds", "one after another", Shown::each},
                       {"parts.asynchronous_seconds", "at once", Shown::each}});
}

Table crossover_table(CommReport const& report) {
    bool const simulates = std::ranges::any_of(report.answer.rows,
                                               [](CommRow const& row) { return row.priced_by == PricedBy::simulated; });
    return field_rows(std::string{"Crossovers: sizes at which the fastest changes"} +
                          (simulates ? ", among those with a formula" : ""),
                      report.answer.crossovers,
                      {{"ranks", who(report)},
                       {"size_bytes", "size", Shown::each},
                       {"below"},
                       {"above"},
                       {"seconds", "time", Shown::each}});
}

Table nccl_table(CommReport const& report) {
    Table table{.title = "What NCCL would take, by its own tuning model",
                .columns = {"ranks", "size", left("algorithm"), left("protocol"), "time", "x fastest here"}};
    auto const ratio = [&](CommNccl const& one) {
        auto const best = std::ranges::find_if(report.answer.rows, [&](CommRow const& row) {
            return row.fastest && row.ranks == one.ranks && row.size.size == one.size.size;
        });
        return best == report.answer.rows.end() ? "-"
                                                : ratio_words(one.choice.seconds.base(), best->time.total().base());
    };
    for (std::size_t first = 0; first < report.answer.nccl.size();) {
        CommNccl const& one = report.answer.nccl[first];
        std::size_t last = first;
        while (last + 1 < report.answer.nccl.size() && same_choice(one, report.answer.nccl[last + 1])) { ++last; }
        CommNccl const& end = report.answer.nccl[last];
        auto const range = [&](std::string from, std::string const& to) {
            if (last > first) { from.append(" .. ").append(to); }
            return from;
        };
        table.rows.push_back({std::to_string(one.ranks), range(size_words(one.size.size), size_words(end.size.size)),
                              std::string{name_of(one.choice.algorithm)}, std::string{name_of(one.choice.protocol)},
                              range(format(one.choice.seconds), format(end.choice.seconds)),
                              range(ratio(one), ratio(end))});
        first = last + 1;
    }
    return table;
}

Table compression_table(CommReport const& report) {
    CommCompression const& given = *report.answer.question.levers.compression;
    Table table{.title = "Compressed gradients: " + std::string{name_of(given.how.kind)} +
                         (given.parameter.empty() ? "" : " " + given.parameter) + ", averages over steps",
                .columns = {"ranks", wrapped("sent"), "bytes", "steps %", "time", "step", "uncompressed", "bytes x"}};
    for (CommCompressed const& one : report.answer.compressed) {
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
    return field_rows("Levers: a step's exchange, changed", report.answer.levers,
                      {{"ranks"},
                       {"lever"},
                       {"bytes_per_step", "bytes", Shown::each},
                       {"collectives_per_step", "collectives"},
                       {"seconds", "time", Shown::each},
                       {"exposed_seconds", "exposed", Shown::each},
                       {"exposed_over_plain", "x plain"}});
}

Table contention_table(CommReport const& report) {
    CommContention const& given = *report.answer.question.contention;
    Table table{
        .title = std::to_string(given.groups) + (given.groups == 1 ? " group" : " groups at once") + " on " +
                 given.topology + ", links shared fairly",
        .columns = {"ranks", wrapped("algorithm"), "alone", "together", "x alone", wrapped("busiest link"), "used %"}};
    for (CommContended const& one : report.answer.contention) {
        ContendedGroups const& group = one.time.groups.front();
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
    std::vector<ShownField> columns{{"ranks"},
                                    {"size_bytes", "size", Shown::each},
                                    {"measured_seconds", "measured", Shown::each},
                                    {"predicted_seconds", "predicted", Shown::each},
                                    {"algorithm"},
                                    {"predicted_over_measured", "pred/meas"}};
    bool const nccl =
        std::ranges::any_of(report.answer.measured, [](CommMeasured const& one) { return one.nccl.has_value(); });
    if (nccl) { columns.push_back({"nccl_seconds", "NCCL", Shown::each}); }
    return field_rows("Measured times against the fastest formula", report.answer.measured, columns);
}

Table simulated_table(CommReport const& report) {
    Table table{.title = "Messages, one by one, against the formula",
                .columns = {"ranks", "size", wrapped("algorithm"), "messages", "longest chain", "simulated", "off by"}};
    for (CommRow const& row : report.answer.rows) {
        if (!row.simulated) { continue; }
        double const off = std::abs(row.simulated->total().base() - row.time.total().base());
        table.rows.push_back({std::to_string(row.ranks), size_words(row.size.size), row.label(),
                              std::to_string(row.simulated->messages), std::to_string(row.simulated->critical_messages),
                              format(row.simulated->total()), format(Seconds{off})});
    }
    return table;
}

} // namespace headroom::cli
