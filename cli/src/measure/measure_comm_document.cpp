#include "comm/comm_fit.hpp"
#include "measure/measure.hpp"

#include "headroom/document/text.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <span>
#include <string>

namespace headroom::cli {
namespace {

using Answer = fit::MeasuredMessages;

constexpr std::size_t most_links_named = 12;

std::string size_words(std::uint64_t bytes) { return format_binary(Bytes{static_cast<double>(bytes)}); }
std::string time_words(double seconds) { return seconds > 0.0 ? format(Seconds{seconds}) : "0"; }

Paragraph setting_words(Answer const& answer) {
    CommWorld const& world = answer.world;
    std::string text = counted(static_cast<std::size_t>(world.ranks()), "rank") + " on " +
                       counted(static_cast<std::size_t>(world.nodes()), "host") + ", " +
                       printable(world.implementation) + "; " + counted(answer.timed.size(), "point") + " in " +
                       counted(static_cast<std::size_t>(answer.rounds), "round") + " of an order of its own each.";
    return {.text = text};
}

/// The shortest and the longest message one way of each kind of link, and the longest all-reduce, by medians.
std::string verdict_words(Answer const& answer) {
    struct Ends {
        fit::TimedMessage const *shortest = nullptr, *longest = nullptr;
    };
    std::map<std::string, Ends> links;
    fit::TimedMessage const* reduced = nullptr;
    auto const bytes_of = [&](fit::TimedMessage const* one) { return one->bytes; };
    for (fit::TimedMessage const& one : answer.timed) {
        bool const reduces = one.pattern == CommPattern::collective && one.collective == Collective::all_reduce;
        if (!one.usual) { continue; }
        if (reduces && (reduced == nullptr || one.bytes > bytes_of(reduced))) { reduced = &one; }
        if (one.pattern != CommPattern::one_way || one.bytes == 0) { continue; }
        Ends& ends = links[answer.world.link_to(one.peer)];
        if (ends.shortest == nullptr || one.bytes < bytes_of(ends.shortest)) { ends.shortest = &one; }
        if (ends.longest == nullptr || one.bytes > bytes_of(ends.longest)) { ends.longest = &one; }
    }
    std::string text;
    auto const rate = [&](fit::TimedMessage const& one) {
        return format(BytesPerSecond{static_cast<double>(bytes_of(&one)) / one.seconds.median});
    };
    for (auto const& [link, ends] : links) {
        text += link + ": " + size_words(bytes_of(ends.shortest)) + " in " + time_words(ends.shortest->seconds.median) +
                " one way, " + size_words(bytes_of(ends.longest)) + " at " + rate(*ends.longest) + ". ";
    }
    if (reduced != nullptr && reduced->seconds.median > 0.0) {
        double const p = answer.world.ranks(), factor = 2.0 * (p - 1.0) / p;
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

/// Points of some patterns with buffers in one state, in the order of the patterns; `columns` come first.
Table times_table(Answer const& answer, std::string const& what, std::string const& buffers,
                  std::vector<CommPattern> const& patterns, std::vector<ShownField> columns) {
    std::vector<fit::TimedMessageRow> rows;
    for (CommPattern const pattern : patterns) {
        for (fit::TimedMessage const& one : answer.timed) {
            if (one.pattern == pattern && one.buffers == buffers) { rows.push_back({&one}); }
        }
    }
    for (ShownField const& field : {ShownField{"bytes", "size", Shown::binary},
                                    {"count", "n"},
                                    {"least_seconds", "", Shown::each},
                                    {"median_seconds", "", Shown::each},
                                    {"median_low_seconds", "low", Shown::each},
                                    {"median_high_seconds", "high", Shown::each},
                                    {"late_median_seconds", "late", Shown::each}}) {
        columns.push_back(field);
    }
    return field_rows(what + ", " + buffers + " buffers", rows, columns);
}

Table ratio_table(Answer const& answer) {
    return field_rows("Times over that of one way, medians", answer.ratios,
                      {{"link"},
                       {"buffers"},
                       {"bytes", "size", Shown::binary},
                       {"one_way_seconds", "", Shown::each},
                       {"both_ways_ratio", "both ways"},
                       {"shifted_ratio", "all shifted"}});
}

Table loggp_table(Answer const& answer) {
    Table table{.title = "LogGP, messages of 1 B to 32 KiB: network L, processor o and O a byte, gaps g and G a byte",
                .columns = {left("link"), "L", "o", "O", "g", "G", "off %"}};
    for (fit::LinkLogGp const& one : answer.loggp) {
        std::vector<std::string> cells{one.link};
        for (fit::Fitted const* value :
             {&one.fit.latency_seconds, &one.fit.overhead_seconds, &one.fit.overhead_seconds_per_byte,
              &one.fit.gap_seconds, &one.fit.gap_seconds_per_byte}) {
            cells.push_back(time_words(value->value));
        }
        cells.push_back(percent(one.fit.median_relative_error, 2));
        table.rows.push_back(std::move(cells));
    }
    return table;
}

Table load_table(Answer const& answer) {
    return field_rows("One way under load, medians", answer.load,
                      {{"link"},
                       {"load", "while"},
                       {"bytes", "size", Shown::binary},
                       {"alone_seconds", "", Shown::each},
                       {"loaded_seconds", "", Shown::each},
                       {"ratio", "times"}});
}

Table prediction_table(Answer const& answer) {
    return field_rows("Collectives as the probes of messages predict them: predicted over measured", answer.predictions,
                      {{"point", "collective"},
                       {"algorithm", "model"},
                       {"chosen_as_cheapest", "cheapest"},
                       {"least_ratio", "least"},
                       {"median_ratio", "median"}});
}

std::string rank_words(Answer const& answer, int rank) {
    return "rank " + std::to_string(rank) + " on " + printable(answer.world.host_of(rank));
}

void add_slow(Answer const& answer, std::optional<fit::MeasuredPairs> const& pairs, std::string const& what,
              std::vector<std::string>& lines) {
    if (!pairs) { return; }
    for (fit::SlowHostRank const& one : pairs->slow_ranks) {
        lines.push_back(what + ": " + rank_words(answer, one.rank) + " is slow with " + std::to_string(one.slow) +
                        " of " + std::to_string(one.links) + " others, " + significant(one.factor) +
                        "x: it, and not its links");
    }
    std::size_t named = 0;
    for (fit::SlowPair const& one : pairs->slow_links) {
        bool const explained = std::ranges::any_of(pairs->slow_ranks, [&](fit::SlowHostRank const& rank) {
            return rank.rank == one.first || rank.rank == one.second;
        });
        if (explained || ++named > most_links_named) { continue; }
        lines.push_back(what + ": " + rank_words(answer, one.first) + " and " + rank_words(answer, one.second) +
                        " take " + significant(one.factor) + "x" + (one.always ? "" : " now and then"));
    }
    if (named > most_links_named) {
        lines.push_back(what + ": and " + std::to_string(named - most_links_named) + " more");
    }
}

/// Ranks against ranks, as far as a page is wide; the rest is in the JSON.
std::optional<Table> matrix(Answer const& answer, std::optional<fit::MeasuredPairs> const& pairs, std::string title,
                            bool rate) {
    constexpr int most = 12;
    int const ranks = answer.world.ranks();
    if (!pairs) { return std::nullopt; }
    int const shown = std::min(ranks, most);
    if (shown < ranks) { title += " (the first " + std::to_string(shown) + " ranks; all are in the JSON)"; }
    Table table{.title = std::move(title), .columns = {left("rank")}};
    std::vector<std::vector<std::string>> rows(static_cast<std::size_t>(shown));
    for (int i = 0; i < shown; ++i) {
        table.columns.push_back(std::to_string(i));
        rows[static_cast<std::size_t>(i)].assign(static_cast<std::size_t>(shown) + 1, "");
        rows[static_cast<std::size_t>(i)].front() = std::to_string(i);
    }
    for (fit::PairTime const& pair : pairs->times) {
        if (pair.second >= shown) { continue; }
        auto const first = static_cast<std::size_t>(pair.first), second = static_cast<std::size_t>(pair.second);
        double const value =
            rate ? static_cast<double>(pairs->bytes) / pair.median_seconds / 1e6 : pair.median_seconds * 1e6;
        rows[first][second + 1] = rows[second][first + 1] = significant(value);
    }
    table.rows = std::move(rows);
    return table;
}

void add_pairs(Answer const& answer, Document& document) {
    if (!answer.pairs_small) { return; }
    for (auto table : {matrix(answer, answer.pairs_small, "Pairs: one way of 8 B, us, medians", false),
                       matrix(answer, answer.pairs_large, "Pairs: one way of 1 MiB, MB/s, medians", true)}) {
        if (table) { document.blocks.emplace_back(std::move(*table)); }
    }
    std::vector<std::string> lines;
    add_slow(answer, answer.pairs_small, "8 B", lines);
    add_slow(answer, answer.pairs_large, "1 MiB", lines);
    if (!lines.empty()) {
        document.blocks.emplace_back(Items{"Slow links", std::move(lines)});
    } else if (answer.world.crowded()) {
        document.blocks.emplace_back(
            Paragraph{.text = "no link was judged: where ranks share cores, what is slow is the scheduler."});
    } else if (answer.pairs_small->judged == 0) {
        document.blocks.emplace_back(
            Paragraph{.text = "no link was judged: it takes six pairs inside hosts or six between them."});
    } else {
        document.blocks.emplace_back(
            Paragraph{.text = "no slow link: no pair of its kind takes 1.3 times as long as the healthy half, and "
                              "more than its spread explains."});
    }
}

void add(Document& document, Table table) { add_table(document.blocks, std::move(table)); }

/// Whether a fit has a figure: messages one way, and the all-reduce as the library chooses.
bool is_drawn(fit::CommunicationFit const& fit) {
    return fit.algorithm == "one_way" || (fit.collective == Collective::all_reduce && fit.algorithm == "library");
}

} // namespace

Document document_of(fit::MeasuredMessages const& answer, io::Catalog const& catalog) {
    Document document{.title = "Communication of " + counted(static_cast<std::size_t>(answer.world.ranks()), "rank"),
                      .blocks = {},
                      .footer = footer(catalog, "")};
    if (auto verdict = verdict_words(answer); !verdict.empty()) {
        document.blocks.emplace_back(Paragraph{.text = std::move(verdict), .strong = true});
    }
    document.blocks.emplace_back(setting_words(answer));
    if (!answer.notes.empty()) { document.blocks.emplace_back(Items{"Notes", answer.notes}); }
    add(document, ratio_table(answer));
    add(document, fits_table(answer.fit));
    add(document, loggp_table(answer));
    add(document, load_table(answer));
    add_pairs(answer, document);
    add(document, prediction_table(answer));
    if (answer.median_prediction_error) {
        document.blocks.emplace_back(
            Paragraph{.text = "forced algorithms from 256 KiB on, least times: the middle prediction is off by " +
                              percent(*answer.median_prediction_error, 2) + " %."});
    }
    for (fit::CommunicationFit const& one : answer.fit.result.fits) {
        if (is_drawn(one)) { document.blocks.emplace_back(comm_fit_charts(answer.fit, one).front()); }
    }
    for (char const* buffers : {"hot", "cold"}) {
        add(document,
            times_table(answer, "Messages", buffers,
                        {CommPattern::one_way, CommPattern::both_ways, CommPattern::shifted, CommPattern::all_at_once},
                        {{"pattern"}, {"link"}}));
        add(document, times_table(answer, "Collectives: the longest of all ranks", buffers, {CommPattern::collective},
                                  {{"collective"}, {"algorithm"}}));
    }
    std::string kept = answer.campaign.id > 0
                           ? "kept as measurement " + std::to_string(answer.campaign.id) + " (headroom history)."
                           : "kept nowhere (--store none).";
    document.blocks.emplace_back(Paragraph{.text = std::move(kept)});
    return document;
}

std::string comm_table_of(fit::MeasuredMessages const& answer) {
    Sheet sheet{.header = {"system", "interconnect", "collective", "algorithm", "ranks", "nodes", "bytes", "time_us"}};
    for (MeasuredCollective const& row : std::span{answer.fit.rows}.first(answer.table_rows)) {
        sheet.rows.push_back({row.system, row.interconnect, std::string{name_of(row.collective)}, row.algorithm,
                              std::to_string(row.ranks), std::to_string(row.nodes), exact(row.size.size.base()),
                              exact(row.time.in(units::us))});
    }
    return render_csv(sheet);
}

} // namespace headroom::cli
