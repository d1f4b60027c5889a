#include "arguments.hpp"
#include "laws/laws_report.hpp"

#include "headroom/document/text.hpp"
#include "headroom/io/words.hpp"

namespace headroom::cli {
namespace {

constexpr double least_speedup = 1e-9, largest_speedup = 1e15;

std::vector<KarpFlattRow> read_points(Arguments const& arguments) {
    std::vector<double> const speedups =
        read_numbers(arguments.required("--speedup", "what was measured: --speedup 6.4 --workers 16"), least_speedup,
                     largest_speedup, "speedup above zero", "--speedup");
    std::vector<std::string> const counts =
        split(arguments.required("--workers", "on how many workers each speedup was measured: --workers 16"), ',');
    if (counts.size() != speedups.size()) {
        refuse("--workers",
               std::to_string(counts.size()) + " counts for " + std::to_string(speedups.size()) + " speedups",
               "they are pairs", "give as many of one as of the other, in the same order");
    }
    check_cells(speedups.size(), 1, "--speedup");
    std::vector<KarpFlattRow> points;
    for (std::size_t i = 0; i < speedups.size(); ++i) {
        points.push_back({io::parse_whole(counts[i], "--workers"), speedups[i], {}});
    }
    return points;
}

std::string trend_words(FractionTrend trend) {
    switch (trend) {
    case FractionTrend::unknown: return "";
    case FractionTrend::unclear: return "The fraction scatters too much to say whether it rises.";
    case FractionTrend::flat: return "The fraction stays as it is: a serial part, and Amdahl's ceiling is real.";
    case FractionTrend::rising:
        return "The fraction rises with the workers: overhead grows with them, and the end lies below any ceiling that "
               "one of these points names.";
    case FractionTrend::falling:
        return "The fraction falls with the workers: caches, memory per worker or uneven shares of work, not a serial "
               "part.";
    }
    return "";
}

std::string ceiling_words(FractionTrend trend, std::optional<double> ceiling) {
    switch (trend) {
    case FractionTrend::unknown:
    case FractionTrend::unclear: return "; if it stays, the ceiling is " + times(ceiling) + ".";
    case FractionTrend::flat: return ", about the same at all counts: a ceiling of " + times(ceiling) + ".";
    case FractionTrend::rising:
        return "; it grows with the workers, so its ceiling of " + times(ceiling) + " is out of reach.";
    case FractionTrend::falling:
        return "; it falls with the workers, so its ceiling of " + times(ceiling) + " does not hold.";
    }
    return "";
}

std::string verdict(KarpFlattAnswer const& answer) {
    KarpFlattRow const& last = answer.rows.back();
    std::string const what = times(last.speedup) + " on " + workers_words(last.workers);
    if (!last.serial_fraction) { return what + " does not determine a serial fraction."; }
    if (last.super_linear()) {
        return what + " is super-linear: an assumption broke (cache or memory per worker). The fraction is negative, "
                      "and shown as it is.";
    }
    std::string text = what + " corresponds to a serial fraction of " + percent_of(last.serial_fraction) + " %";
    auto const ceiling = amdahl_ceiling(*last.serial_fraction);
    if (!ceiling || *last.serial_fraction <= 1e-12) { return text + "."; }
    return text + ceiling_words(answer.trend, ceiling);
}

} // namespace

int run_karp_flatt(Arguments const& arguments, LawsCall const& call) {
    KarpFlattAnswer const answer = serial_fractions(read_points(arguments));
    Table table{.title = "Experimentally determined serial fraction (Karp-Flatt)",
                .columns = {"workers", "speedup", "eff. %", "serial %", left("note")}};
    for (KarpFlattRow const& one : answer.rows) {
        table.rows.push_back({std::to_string(one.workers), times(one.speedup), percent_of(one.efficiency()),
                              percent_of(one.serial_fraction), one.super_linear() ? "super-linear" : ""});
    }
    std::vector<Block> blocks{Paragraph{verdict(answer), "", true}, std::move(table)};
    if (answer.trend != FractionTrend::unknown) { blocks.emplace_back(Paragraph{trend_words(answer.trend), "trend"}); }
    blocks.emplace_back(Paragraph{"speedups are over " + workers_words(answer.rows.front().over) +
                                      ", e = (1/S - 1/k) / (1 - 1/k) with k workers for each of them",
                                  "assumes"});
    return write_answer(call, answer, rows_of, "Serial fraction from measured speedups", std::move(blocks));
}

} // namespace headroom::cli
