#include "headroom/document/text.hpp"
#include "measure/measure_comm.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <string>

namespace headroom::cli {

using namespace headroom::measure;
using namespace headroom::network;

namespace {

using probe::CommPattern;

constexpr std::size_t most_links_named = 12;

std::string size_words(std::uint64_t bytes) { return format_binary(Bytes{static_cast<double>(bytes)}); }
std::string time_words(double seconds) { return seconds > 0.0 ? format(Seconds{seconds}) : "0"; }
std::string range_words(double low, double high) { return time_words(low) + " .. " + time_words(high); }

Paragraph setting_words(CommMeasureReport const& report) {
    probe::CommWorld const& world = report.world;
    std::string text = counted(static_cast<std::size_t>(world.ranks()), "rank") + " on " +
                       counted(static_cast<std::size_t>(world.nodes()), "host") + ", " +
                       printable(world.implementation) + "; " + counted(report.timed.size(), "point") + " in " +
                       counted(static_cast<std::size_t>(report.progress.rounds), "round") +
                       " of an order of its own each.";
    return {.text = text};
}

/// The shortest and the longest message one way of each kind of link, and the longest all-reduce, by medians.
std::string verdict_words(CommMeasureReport const& report) {
    struct Ends {
        CommTimed const *shortest = nullptr, *longest = nullptr;
    };
    std::map<std::string, Ends> links;
    CommTimed const* reduced = nullptr;
    auto const bytes_of = [&](CommTimed const* one) { return request_of(report, *one).bytes; };
    for (CommTimed const& one : report.timed) {
        auto const& request = request_of(report, one);
        bool const reduces = request.pattern == CommPattern::collective && request.collective == Collective::all_reduce;
        if (reduces && (reduced == nullptr || request.bytes > bytes_of(reduced))) { reduced = &one; }
        if (request.pattern != CommPattern::one_way || request.bytes == 0) { continue; }
        Ends& ends = links[link_words(report.world, request.peer)];
        if (ends.shortest == nullptr || request.bytes < bytes_of(ends.shortest)) { ends.shortest = &one; }
        if (ends.longest == nullptr || request.bytes > bytes_of(ends.longest)) { ends.longest = &one; }
    }
    std::string text;
    auto const rate = [&](CommTimed const& one) {
        return format(BytesPerSecond{static_cast<double>(bytes_of(&one)) / one.seconds.median});
    };
    for (auto const& [link, ends] : links) {
        text += link + ": " + size_words(bytes_of(ends.shortest)) + " in " + time_words(ends.shortest->seconds.median) +
                " one way, " + size_words(bytes_of(ends.longest)) + " at " + rate(*ends.longest) + ". ";
    }
    if (reduced != nullptr && reduced->seconds.median > 0.0) {
        double const p = report.world.ranks(), factor = 2.0 * (p - 1.0) / p;
        text += "all_reduce of " + size_words(bytes_of(reduced)) + ": " + time_words(reduced->seconds.median) +
                ", bus bandwidth " +
                format(BytesPerSecond{factor * static_cast<double>(bytes_of(reduced)) / reduced->seconds.median}) +
                ". ";
    }
    if (text.empty()) { return text; }
    text.pop_back();
    text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
    return text;
}

std::string what_of(CommMeasureReport const& report, CommTimed const& one) {
    auto const& request = request_of(report, one);
    bool const two = request.pattern == CommPattern::one_way || request.pattern == CommPattern::both_ways;
    std::string text{name_of(request.pattern)};
    return two ? text + ", " + link_words(report.world, request.peer) : text;
}

/// Points of some patterns, the columns of all the same.
Table times_table(CommMeasureReport const& report, std::string title, std::vector<CommPattern> const& patterns) {
    Table table{.title = std::move(title),
                .columns = {{"what", Align::left, true}, {"size"}, {"n"}, {"least"}, {"median"}, {"95 %"}, {"late"}},
                .rows = {}};
    for (CommPattern const pattern : patterns) {
        for (CommTimed const& one : report.timed) {
            auto const& request = request_of(report, one);
            if (request.pattern != pattern) { continue; }
            std::string what = what_of(report, one);
            if (pattern == CommPattern::collective) {
                auto const& facts = report.campaign.points[one.point].parameters;
                std::string const algorithm{fact(facts, "algorithm").value_or("")};
                what = std::string{name_of(request.collective)} + (algorithm == "library" ? "" : " " + algorithm);
            }
            table.rows.push_back({printable(what), request.bytes == 0 ? "-" : size_words(request.bytes),
                                  std::to_string(one.seconds.count), time_words(one.seconds.least),
                                  time_words(one.seconds.median), range_words(one.seconds.low, one.seconds.high),
                                  time_words(one.late_median)});
        }
    }
    return table;
}

std::optional<Table> ratio_table(CommMeasureReport const& report) {
    Table table{.title = "Times over that of one way, medians",
                .columns = {{"link", Align::left}, {"size"}, {"one way"}, {"both ways"}, {"all shifted"}},
                .rows = {}};
    for (CommRatio const& one : report.ratios) {
        auto const ratio = [](std::optional<double> value) {
            return value ? significant(*value) + "x" : std::string{"-"};
        };
        table.rows.push_back(
            {one.link, size_words(one.bytes), time_words(one.one_way), ratio(one.both_ways), ratio(one.shifted)});
    }
    if (table.rows.empty()) { return std::nullopt; }
    return table;
}

std::string fit_words(fit::CommunicationFit const& fit) {
    bool const message = fit.collective == Collective::point_to_point;
    if (message) { return fit.algorithm + (fit.nodes > 1 ? ", between hosts" : ", inside a host"); }
    return std::string{name_of(fit.collective)} + (fit.algorithm == "library" ? "" : " " + fit.algorithm);
}

std::optional<Table> fits_table(CommMeasureReport const& report) {
    Table table{
        .title = "alpha + n beta, of medians: first alpha and last rate of the straight parts, 90 %",
        .columns = {{"what", Align::left, true}, {"parts"}, {"alpha"}, {"90 %"}, {"a byte more, at"}, {"off %"}},
        .rows = {}};
    for (fit::CommunicationFit const& one : report.fits.fits) {
        fit::Fitted const &alpha = one.segments.front().alpha_seconds,
                          &beta = one.segments.back().beta_seconds_per_byte;
        table.rows.push_back({printable(fit_words(one)), std::to_string(one.segments.size()), time_words(alpha.value),
                              range_words(alpha.low, alpha.high),
                              beta.value > 0.0 ? format(BytesPerSecond{1.0 / beta.value}) : "no limit",
                              percent(one.median_relative_error, 2)});
    }
    if (table.rows.empty()) { return std::nullopt; }
    return table;
}

std::optional<Table> loggp_table(CommMeasureReport const& report) {
    Table table{.title = "LogGP, messages of 1 B to 32 KiB",
                .columns = {{"link", Align::left}, {"constant", Align::left}, {"value"}, {"90 %"}},
                .rows = {}};
    for (CommLogGp const& one : report.loggp) {
        auto const add = [&](std::string name, fit::Fitted const& value) {
            table.rows.push_back(
                {one.link, std::move(name), time_words(value.value), range_words(value.low, value.high)});
        };
        add("L, network", one.fit.latency_seconds);
        add("o, processor, a message", one.fit.overhead_seconds);
        add("O, processor, a byte", one.fit.overhead_seconds_per_byte);
        add("g, between messages", one.fit.gap_seconds);
        add("G, between bytes", one.fit.gap_seconds_per_byte);
        table.rows.push_back({one.link, "off, middle of trains", percent(one.fit.median_relative_error, 2) + " %", ""});
    }
    if (table.rows.empty()) { return std::nullopt; }
    return table;
}

std::optional<Table> load_table(CommMeasureReport const& report) {
    Table table{.title = "One way under load, medians",
                .columns = {{"link", Align::left}, {"while", Align::left}, {"size"}, {"alone"}, {"loaded"}, {"of it"}},
                .rows = {}};
    for (CommLoad const& one : report.load) {
        table.rows.push_back({one.link, one.load, size_words(one.bytes), time_words(one.alone), time_words(one.loaded),
                              significant(one.loaded / one.alone) + "x"});
    }
    if (table.rows.empty()) { return std::nullopt; }
    return table;
}

std::optional<Table> prediction_table(CommMeasureReport const& report) {
    Table table{
        .title = "Collectives as the probes of messages predict them: predicted over measured",
        .columns = {{"collective", Align::left, true}, {"model", Align::left, true}, {"size"}, {"least"}, {"median"}},
        .rows = {}};
    for (CommPrediction const& one : report.predictions) {
        CommTimed const* const timed = timed_of(report, one.point);
        auto const& request = request_of(report, *timed);
        std::string const algorithm{fact(report.campaign.points[one.point].parameters, "algorithm").value_or("")};
        table.rows.push_back({std::string{name_of(request.collective)} + (one.chosen ? "" : " " + printable(algorithm)),
                              one.algorithm + (one.chosen ? " (cheapest)" : ""), size_words(request.bytes),
                              significant(one.least_ratio), significant(one.median_ratio)});
    }
    if (table.rows.empty()) { return std::nullopt; }
    return table;
}

std::string rank_words(CommMeasureReport const& report, int rank) {
    return "rank " + std::to_string(rank) + " on " + printable(report.world.hosts[static_cast<std::size_t>(rank)]);
}

void add_slow(CommMeasureReport const& report, std::vector<fit::PairTime> const& pairs, fit::PairVerdict const& verdict,
              std::string const& what, std::vector<std::string>& lines) {
    for (fit::SlowRank const& one : verdict.ranks) {
        lines.push_back(what + ": " + rank_words(report, one.rank) + " is slow with " + std::to_string(one.slow) +
                        " of " + std::to_string(one.of) + " others, " + significant(one.factor) +
                        "x: it, and not its links");
    }
    std::size_t named = 0;
    for (fit::SlowLink const& one : verdict.links) {
        auto const& pair = pairs[one.pair];
        bool const explained = std::ranges::any_of(verdict.ranks, [&](fit::SlowRank const& rank) {
            return rank.rank == pair.first || rank.rank == pair.second;
        });
        if (explained || ++named > most_links_named) { continue; }
        lines.push_back(what + ": " + rank_words(report, pair.first) + " and " + rank_words(report, pair.second) +
                        " take " + significant(one.factor) + "x" + (one.always ? "" : " now and then"));
    }
    if (named > most_links_named) {
        lines.push_back(what + ": and " + std::to_string(named - most_links_named) + " more");
    }
}

/// Ranks against ranks, as far as a page is wide; the rest is in the JSON.
std::optional<Table> matrix(CommMeasureReport const& report, std::vector<fit::PairTime> const& pairs, std::string title,
                            bool rate, double bytes) {
    constexpr int most = 12;
    int const ranks = report.world.ranks();
    if (pairs.empty()) { return std::nullopt; }
    int const shown = std::min(ranks, most);
    if (shown < ranks) { title += " (the first " + std::to_string(shown) + " ranks; all are in the JSON)"; }
    Table table{.title = std::move(title), .columns = {{"rank", Align::left}}, .rows = {}};
    std::vector<std::vector<std::string>> rows(static_cast<std::size_t>(shown));
    for (int i = 0; i < shown; ++i) {
        table.columns.push_back({std::to_string(i)});
        rows[static_cast<std::size_t>(i)].assign(static_cast<std::size_t>(shown) + 1, "");
        rows[static_cast<std::size_t>(i)].front() = std::to_string(i);
    }
    for (fit::PairTime const& pair : pairs) {
        if (pair.second >= shown) { continue; }
        auto const first = static_cast<std::size_t>(pair.first), second = static_cast<std::size_t>(pair.second);
        double const value = rate ? bytes / pair.median_seconds / 1e6 : pair.median_seconds * 1e6;
        rows[first][second + 1] = rows[second][first + 1] = significant(value);
    }
    table.rows = std::move(rows);
    return table;
}

void add_pairs(CommMeasureReport const& report, Document& document) {
    if (report.pair_small.empty()) { return; }
    for (auto table : {matrix(report, report.pair_small, "Pairs: one way of 8 B, us, medians", false, 8.0),
                       matrix(report, report.pair_large, "Pairs: one way of 1 MiB, MB/s, medians", true, 1048576.0)}) {
        if (table) { document.blocks.emplace_back(std::move(*table)); }
    }
    std::vector<std::string> lines;
    add_slow(report, report.pair_small, report.slow_small, "8 B", lines);
    add_slow(report, report.pair_large, report.slow_large, "1 MiB", lines);
    if (!lines.empty()) {
        document.blocks.emplace_back(Items{"Slow links", std::move(lines)});
    } else if (report.world.crowded()) {
        document.blocks.emplace_back(
            Paragraph{.text = "no link was judged: where ranks share cores, what is slow is the scheduler."});
    } else if (report.slow_small.judged == 0) {
        document.blocks.emplace_back(
            Paragraph{.text = "no link was judged: it takes six pairs inside hosts or six between them."});
    } else {
        document.blocks.emplace_back(
            Paragraph{.text = "no slow link: no pair of its kind takes 1.3 times as long as the healthy half, and "
                              "more than its spread explains."});
    }
}

template <class Block> void add(Document& document, std::optional<Block> block) {
    if (block) { document.blocks.emplace_back(std::move(*block)); }
}

void add_times(Document& document, Table table) {
    if (!table.rows.empty()) { document.blocks.emplace_back(std::move(table)); }
}

} // namespace

Document document_of(CommMeasureReport const& report, io::Catalog const& catalog) {
    Document document{.title = "Communication of " + counted(static_cast<std::size_t>(report.world.ranks()), "rank"),
                      .blocks = {},
                      .footer = footer(catalog, "")};
    if (auto verdict = verdict_words(report); !verdict.empty()) {
        document.blocks.emplace_back(Paragraph{.text = std::move(verdict), .strong = true});
    }
    document.blocks.emplace_back(setting_words(report));
    if (!report.notes.empty()) { document.blocks.emplace_back(Items{"Notes", report.notes}); }
    add(document, ratio_table(report));
    add(document, fits_table(report));
    add(document, loggp_table(report));
    add(document, load_table(report));
    add_pairs(report, document);
    add(document, prediction_table(report));
    if (report.median_prediction_error) {
        document.blocks.emplace_back(
            Paragraph{.text = "forced algorithms from 256 KiB on, least times: the middle prediction is off by " +
                              percent(*report.median_prediction_error, 2) + " %."});
    }
    for (Chart& chart : comm_measure_charts(report)) { document.blocks.emplace_back(std::move(chart)); }
    add_times(document, times_table(report, "Messages",
                                    {CommPattern::one_way, CommPattern::both_ways, CommPattern::shifted,
                                     CommPattern::all_at_once}));
    add_times(document, times_table(report, "Collectives: the longest of all ranks", {CommPattern::collective}));
    std::string kept = report.campaign.id > 0
                           ? "kept as measurement " + std::to_string(report.campaign.id) + " (headroom history)."
                           : "kept nowhere (--store none).";
    document.blocks.emplace_back(Paragraph{.text = std::move(kept)});
    return document;
}

Sheet sheet_of(CommMeasureReport const& report) {
    Sheet sheet{.header = {"point", "pattern", "collective", "algorithm", "bytes", "count", "least_seconds",
                           "median_seconds", "low_seconds", "high_seconds", "coverage", "late_median_seconds"},
                .rows = {}};
    for (CommTimed const& one : report.timed) {
        MeasuredPoint const& point = report.campaign.points[one.point];
        auto const parameter = [&](char const* name) { return std::string{fact(point.parameters, name).value_or("")}; };
        sheet.rows.push_back({point.label, parameter("pattern"), parameter("collective"), parameter("algorithm"),
                              parameter("bytes"), std::to_string(one.seconds.count), exact(one.seconds.least),
                              exact(one.seconds.median), exact(one.seconds.low), exact(one.seconds.high),
                              exact(one.seconds.coverage), exact(one.late_median)});
    }
    return sheet;
}

std::string comm_table_of(CommMeasureReport const& report) {
    Sheet sheet{.header = {"system", "collective", "algorithm", "ranks", "nodes", "bytes", "time_us"}, .rows = {}};
    for (MeasuredCollective const& row : report.rows) {
        bool const known = row.algorithm != "library";
        sheet.rows.push_back({row.system, std::string{name_of(row.collective)}, known ? row.algorithm : "",
                              std::to_string(row.ranks), std::to_string(row.nodes), exact(row.size.size.base()),
                              exact(row.time.in(units::us))});
    }
    return render_csv(sheet);
}

} // namespace headroom::cli
