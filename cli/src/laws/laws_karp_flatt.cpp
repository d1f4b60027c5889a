#include "arguments.hpp"
#include "document/text.hpp"
#include "laws/laws_report.hpp"

#include "headroom/io/words.hpp"
#include "headroom/laws.hpp"
#include "headroom/scaling_laws.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::cli {
namespace {

constexpr double least_speedup = 1e-9, largest_speedup = 1e15;
constexpr double flat = 0.1; ///< a change of e that is not called one

struct Measured {
    int workers = 1;
    double speedup = 1.0;
    std::optional<double> fraction;
    [[nodiscard]] bool super_linear() const { return speedup > workers * (1.0 + 1e-12); }
};

std::vector<Measured> read_points(Arguments const& arguments) {
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
    std::vector<Measured> points;
    for (std::size_t i = 0; i < speedups.size(); ++i) {
        int const workers = io::parse_whole(counts[i], "--workers");
        points.push_back({workers, speedups[i], karp_flatt_fraction(speedups[i], Ranks{workers})});
    }
    std::ranges::stable_sort(points, {}, &Measured::workers);
    return points;
}

/// How the fraction changes with the workers: what the measurements say about its nature.
std::string trend_of(std::vector<Measured> const& points) {
    std::vector<Measured> known;
    std::ranges::copy_if(points, std::back_inserter(known),
                         [](Measured const& one) { return one.fraction.has_value(); });
    if (known.size() < 2 || known.front().workers == known.back().workers) { return "unknown"; }
    double const first = *known.front().fraction, last = *known.back().fraction;
    if (std::abs(last - first) <= flat * std::max(std::abs(first), std::abs(last))) { return "flat"; }
    return last > first ? "rising" : "falling";
}

std::string trend_words(std::string const& trend) {
    if (trend == "flat") { return "The fraction stays as it is: a serial part, and Amdahl's ceiling is real."; }
    if (trend == "rising") {
        return "The fraction rises with the workers: overhead grows with them, and the end lies below any ceiling that "
               "one of these points names.";
    }
    if (trend == "falling") {
        return "The fraction falls with the workers: caches, memory per worker or uneven shares of work, not a serial "
               "part.";
    }
    return "";
}

std::string verdict(std::vector<Measured> const& points, std::string const& trend) {
    Measured const& last = points.back();
    std::string const what = times(last.speedup) + " on " + workers_words(last.workers);
    if (!last.fraction) { return what + " tells nothing of a serial fraction."; }
    if (last.super_linear()) {
        return what + " is super-linear: an assumption broke (cache or memory per worker). The fraction is negative, "
                      "and shown as it is.";
    }
    std::string text = what + " is what a serial fraction of " + percent_of(last.fraction) + " % gives";
    auto const ceiling = amdahl_ceiling(*last.fraction);
    if (!ceiling || *last.fraction <= 1e-12) { return text + "."; }
    if (trend == "flat") { return text + "; it is the same at every count, so the ceiling is " + times(ceiling) + "."; }
    if (trend == "rising") {
        return text + "; it grows with the workers, so even its ceiling of " + times(ceiling) + " is out of reach.";
    }
    if (trend == "falling") {
        return text + "; it falls with the workers, so its ceiling of " + times(ceiling) + " is none yet.";
    }
    return text + "; if it stays, the ceiling is " + times(ceiling) + ".";
}

} // namespace

LawsAnswer karp_flatt_answer(Arguments const& arguments) {
    std::vector<Measured> const points = read_points(arguments);
    std::string const trend = trend_of(points);
    LawsAnswer answer{.title = "Serial fraction from measured speedups",
                      .members = {},
                      .blocks = {},
                      .sheet = {{"workers", "speedup", "efficiency", "serial_fraction", "super_linear"}, {}}};
    Table table{.title = "Experimentally determined serial fraction (Karp-Flatt)",
                .columns = {{"workers"}, {"speedup"}, {"eff. %"}, {"serial %"}, {"note", Align::left}},
                .rows = {}};
    Json rows = Json::array();
    for (Measured const& one : points) {
        double const efficiency = one.speedup / one.workers;
        rows.push(Json::object()
                      .set("workers", one.workers)
                      .set("speedup", one.speedup)
                      .set("efficiency", efficiency)
                      .set("serial_fraction", one.fraction)
                      .set("super_linear", one.super_linear()));
        table.rows.push_back({std::to_string(one.workers), times(one.speedup), percent_of(efficiency),
                              percent_of(one.fraction), one.super_linear() ? "super-linear" : ""});
        answer.sheet.rows.push_back({std::to_string(one.workers), exact(one.speedup), exact(efficiency),
                                     cell(one.fraction), one.super_linear() ? "true" : "false"});
    }
    answer.members.emplace_back("karp_flatt", rows);
    answer.members.emplace_back("trend", trend);
    answer.blocks.emplace_back(Paragraph{verdict(points, trend), "", true});
    answer.blocks.emplace_back(table);
    if (trend != "unknown") { answer.blocks.emplace_back(Paragraph{trend_words(trend), "trend"}); }
    answer.blocks.emplace_back(Paragraph{"speedups are over one worker, e = (1/S - 1/K) / (1 - 1/K)", "assumes"});
    return answer;
}

} // namespace headroom::cli
