#include "trace/trace_report.hpp"
#include "trace/trace_words.hpp"

#include "headroom/document/text.hpp"
#include "headroom/quantity.hpp"

#include <algorithm>

namespace headroom::cli {

using namespace headroom::trace;

namespace {

constexpr std::size_t most_rows = 12;

std::string rate_words(std::optional<double> const& rate) { return rate ? format(BytesPerSecond{*rate}) : "-"; }

Table summary_table(CollectiveAnswer const& collectives) {
    Table table{
        .title = "Collectives, most time first",
        .columns = {wrapped("collective"), "ranks", "size", "count", "mean", "waiting", "bus bandwidth", "alone"}};
    for (CollectiveSummary const& one : collectives.summaries) {
        if (table.rows.size() == most_rows) { break; }
        auto const runs = static_cast<double>(std::max<std::int64_t>(1, one.count) * std::max(1, one.ranks));
        double const mean = static_cast<double>(one.seconds_of_ranks) / runs;
        double const transfer =
            static_cast<double>(one.transfer) / static_cast<double>(std::max<std::int64_t>(1, one.count));
        bool const known = one.transfer > 0 && mean > 0.0;
        table.rows.push_back({kernel_words(one.name, 28), std::to_string(one.ranks),
                              one.bytes > 0 ? format(Bytes{static_cast<double>(one.bytes)}) : "-",
                              std::to_string(one.count), time_words(mean),
                              known ? percent(std::max(0.0, 1.0 - transfer / mean), 2) + " %" : "-",
                              rate_words(one.bus_bandwidth), rate_words(one.transfer_bandwidth)});
    }
    return table;
}

std::string summary_words(CollectiveAnswer const& collectives) {
    std::string words =
        "Mean is what a rank spends, waiting for late ranks included; alone is the bus bandwidth from the "
        "last arrival on. Both bandwidths are medians of single runs.";
    if (collectives.summaries.size() > most_rows) {
        words += " " + std::to_string(collectives.summaries.size() - most_rows) + " more rows are in json.";
    }
    if (collectives.unmatched > 0) {
        words +=
            " " + counted(static_cast<std::size_t>(collectives.unmatched), "run") + " had no partner on another rank.";
    }
    return words;
}

std::string skew_words(CollectiveAnswer const& collectives) {
    auto const words = [](Percentiles const& one) {
        return "p50 " + time_words(one.p50) + ", p95 " + time_words(one.p95) + ", p99 " + time_words(one.p99) +
               ", most " + time_words(one.max);
    };
    return "first to last arrival: " + words(collectives.start_skew_ns) +
           "; first to last end: " + words(collectives.end_skew_ns);
}

Table waiting_table(CollectiveAnswer const& collectives) {
    std::vector<RankWaiting> rows = collectives.waiting;
    std::ranges::stable_sort(rows, std::ranges::greater{}, &RankWaiting::last);
    rows.resize(std::min(rows.size(), most_rows));
    return field_rows(arrivals_title, rows,
                      {{"rank"},
                       {"last", "last in"},
                       {"kept_waiting_seconds", "kept others waiting"},
                       {"waited_seconds", "waited itself"}});
}

std::string clock_words(CollectiveAnswer const& collectives) {
    std::vector<std::int64_t> ranks;
    Ticks most = 0;
    for (ClockOffset const& one : collectives.clocks) {
        if (!one.corrected) { continue; }
        ranks.push_back(one.rank);
        most = std::max({most, one.offset, -one.offset});
    }
    return ranks.empty() ? std::string{}
                         : "of " + rank_words(ranks) + " moved by up to " + time_words(static_cast<double>(most)) +
                               ", so that collectives end together";
}

std::vector<std::string> straggler_items(TraceAnswer const& answer) {
    std::vector<std::string> items;
    for (Straggler const& one : answer.stragglers) {
        std::string const cost =
            one.cost > 0 ? ", which costs the others " + time_words(static_cast<double>(one.cost)) : std::string{};
        items.push_back("rank " + std::to_string(one.rank) + " " + words_of(one) + cost);
    }
    return items;
}

} // namespace

std::vector<Block> collective_blocks(TraceAnswer const& answer) {
    std::vector<Block> blocks;
    CollectiveAnswer const& collectives = answer.collectives;
    if (!collectives.summaries.empty()) {
        blocks.emplace_back(summary_table(collectives));
        blocks.emplace_back(Paragraph{summary_words(collectives)});
    }
    if (!collectives.matched.empty()) {
        blocks.emplace_back(waiting_table(collectives));
        blocks.emplace_back(Paragraph{skew_words(collectives), "skew"});
    }
    if (!answer.stragglers.empty()) { blocks.emplace_back(Items{"Stragglers", straggler_items(answer)}); }
    if (std::string words = clock_words(collectives); !words.empty()) {
        blocks.emplace_back(Paragraph{std::move(words), "clocks"});
    }
    return blocks;
}

} // namespace headroom::cli
