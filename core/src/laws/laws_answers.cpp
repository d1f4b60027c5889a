#include "headroom/laws/laws_answers.hpp"

#include "search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headroom::laws {
namespace {

constexpr double price_tie = 1e-9;
constexpr double flat = 0.1;  ///< change of a serial fraction that is not called one
constexpr double sure = 0.75; ///< share of the pairs of points that makes a trend

/// The choice of the lesser value.
UpOrOut lesser(double up, double out) {
    if (std::abs(up - out) <= price_tie * std::max(up, out)) { return UpOrOut::tie; }
    return up < out ? UpOrOut::up : UpOrOut::out;
}

ScaleUpRow scale_up_row(ScaleUpQuestion const& question, int workers, double speedup) {
    Ranks const k{workers};
    ScaleUpRow row{.workers = workers,
                   .speedup = speedup,
                   .faster = lesser(1.0 / question.factor, 1.0 / speedup),
                   .tie_price_ratio = question.factor * workers / speedup};
    if (question.price) {
        row.tie_price = tie_price(*question.price, question.factor, speedup, k);
        row.out_price = price_of_work(*question.price, speedup, k);
    }
    if (question.faster_price) { row.up_price = price_of_work(*question.faster_price, question.factor, Ranks{1}); }
    if (row.up_price && row.out_price) { row.cheaper = lesser(row.up_price->base(), row.out_price->base()); }
    return row;
}

} // namespace

// ---- a curve of speedups ------------------------------------------------------------------------------------------

std::vector<std::optional<double>> doubling_gains(SpeedupCurve const& curve) {
    std::vector<std::optional<double>> gains(curve.workers.size());
    for (std::size_t i = 1; i < gains.size(); ++i) {
        if (curve.speedup[i] <= 0.0 || curve.speedup[i - 1] <= 0.0) { continue; }
        gains[i] = marginal_speedup_per_doubling(Seconds{1.0 / curve.speedup[i - 1]}, Seconds{1.0 / curve.speedup[i]},
                                                 curve.workers[i - 1], curve.workers[i]);
    }
    return gains;
}

std::optional<int> knee_of(SpeedupCurve const& curve) {
    if (curve.workers.size() < 2) { return std::nullopt; }
    int knee = curve.workers.front();
    auto const gains = doubling_gains(curve);
    for (std::size_t i = 1; i < gains.size(); ++i) {
        if (gains[i] && *gains[i] >= knee_gain) { knee = curve.workers[i]; }
    }
    return knee;
}

std::vector<int> doubling_workers(double last, int also) {
    constexpr int most_doublings = 30;
    std::vector<int> counts{also};
    for (int power = 0; power <= most_doublings; ++power) {
        counts.push_back(1 << power);
        if (std::ldexp(1.0, power) >= last) { break; }
    }
    std::ranges::sort(counts);
    counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
    return counts;
}

std::vector<int> doubling_workers(StepCurve const& curve, int k0) {
    double const valley = 2.0 * static_cast<double>(best_workers(curve).value_or(1));
    auto const near_the_end = static_cast<double>(workers_for_share_of_ceiling(curve, 0.9).value_or(1));
    return doubling_workers(std::max({1024.0, 4.0 * k0, valley, near_the_end}), k0);
}

std::vector<int> doubling_workers(UniversalScalability const& law) {
    if (auto const peak = usl_peak(law)) { return doubling_workers(2.0 * *peak); }
    auto const breaks_at = usl_breaks_at(law);
    return doubling_workers(breaks_at ? std::min(1024.0, *breaks_at / 2.0) : 1024.0);
}

// ---- one faster machine against more machines -----------------------------------------------------------------------

std::string_view name_of(UpOrOut choice) {
    switch (choice) {
    case UpOrOut::up: return "up";
    case UpOrOut::out: return "out";
    case UpOrOut::tie: return "tie";
    }
    return "";
}

void add_curve(ScaleUp& comparison, SpeedupCurve const& curve, ScaleUpMatch const& match) {
    comparison.matches.push_back(match);
    for (std::size_t i = 0; i < curve.workers.size(); ++i) {
        comparison.rows.push_back(scale_up_row(comparison.question, curve.workers[i], curve.speedup[i]));
        comparison.rows.back().serial_fraction = match.serial_fraction;
    }
}

// ---- from a serial fraction -----------------------------------------------------------------------------------------

namespace {

void add_fraction(SerialAnswer& answer, double serial) {
    SerialQuestion const& question = answer.question;
    SpeedupCurve curve{.workers = question.workers, .ceiling = amdahl_ceiling(serial)};
    for (int const count : question.workers) { curve.speedup.push_back(amdahl_speedup(serial, Ranks{count})); }
    auto const gains = doubling_gains(curve);
    for (std::size_t i = 0; i < gains.size(); ++i) {
        Ranks const workers{curve.workers[i]};
        SerialRow row{.serial_fraction = serial,
                      .workers = workers.count(),
                      .amdahl = curve.speedup[i],
                      .gustafson = gustafson_speedup(serial, workers),
                      .gain = gains[i]};
        if (question.memory_growth) { row.sun_ni = sun_ni_speedup(serial, workers, *question.memory_growth); }
        if (curve.ceiling) { row.share_of_ceiling = row.amdahl / *curve.ceiling; }
        answer.rows.push_back(row);
    }
    auto const efficient = [&](double efficiency) {
        return largest_efficient(efficiency, [serial](double k) { return 1.0 / (serial * k + 1.0 - serial); });
    };
    answer.ceilings.push_back({.serial_fraction = serial,
                               .ceiling = curve.ceiling,
                               .for_90 = workers_for_share_of_ceiling(serial, 0.9),
                               .for_share = workers_for_share_of_ceiling(serial, question.share),
                               .knee = knee_of(curve),
                               .most_efficient = question.efficiency ? efficient(*question.efficiency) : std::nullopt});
    if (answer.scale_up) {
        add_curve(*answer.scale_up, curve, {serial, workers_to_match(serial, question.scale_up->factor)});
    }
    answer.curves.push_back(std::move(curve));
}

} // namespace

SerialAnswer speedups_of(SerialQuestion const& question) {
    SerialAnswer answer{.question = question};
    if (question.scale_up) { answer.scale_up = ScaleUp{*question.scale_up, {}, {}}; }
    for (double const serial : question.fractions) { add_fraction(answer, serial); }
    return answer;
}

// ---- Universal Scalability Law --------------------------------------------------------------------------------------

UslAnswer speedups_of(UslQuestion const& question) {
    UniversalScalability const& law = question.law;
    UslAnswer answer{.question = question,
                     .curve = {.workers = question.workers, .ceiling = usl_ceiling(law)},
                     .peak = usl_peak(law),
                     .breaks_at = usl_breaks_at(law),
                     .best = usl_best_workers(law),
                     .for_share = workers_for_share_of_ceiling(law, question.share),
                     .for_90 = workers_for_share_of_ceiling(law, 0.9)};
    if (question.efficiency) {
        answer.most_efficient = largest_efficient(*question.efficiency, [&law](double k) {
            double const cost = 1.0 + law.alpha * (k - 1.0) + law.beta * k * (k - 1.0);
            return cost > 0.0 ? 1.0 / cost : std::numeric_limits<double>::infinity();
        });
    }
    SpeedupCurve& curve = answer.curve;
    for (int const count : question.workers) { curve.speedup.push_back(usl_speedup(law, Ranks{count}).value()); }
    auto const gains = doubling_gains(curve);
    for (std::size_t i = 0; i < gains.size(); ++i) {
        answer.rows.push_back({curve.workers[i], law.gamma * curve.speedup[i], curve.speedup[i], gains[i]});
    }
    if (!question.scale_up) { return answer; }
    answer.scale_up = ScaleUp{*question.scale_up, {}, {}};
    double const share = curve.ceiling ? question.scale_up->factor / *curve.ceiling : 2.0;
    add_curve(*answer.scale_up, curve,
              {{}, share > 1.0 ? std::nullopt : workers_for_share_of_ceiling(law, share)}); // up to the peak
    return answer;
}

// ---- from measured speedups -------------------------------------------------------------------------------------------

std::string_view name_of(FractionTrend trend) {
    switch (trend) {
    case FractionTrend::unknown: return "unknown";
    case FractionTrend::flat: return "flat";
    case FractionTrend::rising: return "rising";
    case FractionTrend::falling: return "falling";
    case FractionTrend::unclear: return "unclear";
    }
    return "";
}

FractionTrend trend_of(std::span<FractionPoint const> points) {
    auto const n = static_cast<double>(points.size());
    double mean_x = 0.0, mean_y = 0.0, xx = 0.0, xy = 0.0;
    for (FractionPoint const& p : points) {
        mean_x += std::log2(p.workers) / n;
        mean_y += p.fraction / n;
    }
    auto const [first, last] = std::ranges::minmax_element(points, {}, &FractionPoint::workers);
    double agree = 0.0, pairs = 0.0;
    for (FractionPoint const& p : points) {
        xx += std::pow(std::log2(p.workers) - mean_x, 2.0);
        xy += (std::log2(p.workers) - mean_x) * (p.fraction - mean_y);
        for (FractionPoint const& other : points) {
            if (!(other.workers > p.workers)) { continue; }
            pairs += 1.0;
            agree += other.fraction > p.fraction ? 1.0 : other.fraction < p.fraction ? 0.0 : 0.5;
        }
    }
    if (pairs == 0.0) { return FractionTrend::unknown; }
    auto const line = [&](FractionPoint const& p) { return mean_y + xy / xx * (std::log2(p.workers) - mean_x); };
    double const from = line(*first), to = line(*last);
    if (std::abs(to - from) <= std::max(flat * std::max(std::abs(from), std::abs(to)), 1e-4)) {
        return FractionTrend::flat;
    }
    if (to > from) { return agree >= sure * pairs ? FractionTrend::rising : FractionTrend::unclear; }
    return agree <= (1.0 - sure) * pairs ? FractionTrend::falling : FractionTrend::unclear;
}

KarpFlattAnswer serial_fractions(std::vector<KarpFlattRow> measured) {
    std::ranges::stable_sort(measured, {}, &KarpFlattRow::workers);
    constexpr double rounded = 0.02; // of a speedup of 1, as printed
    bool const over_first = !measured.empty() && std::abs(measured.front().speedup - 1.0) <= rounded;
    int const over = over_first ? measured.front().workers : 1;
    for (KarpFlattRow& row : measured) {
        row.over = over;
        row.serial_fraction = karp_flatt_fraction(row.speedup, static_cast<double>(row.workers) / over);
    }
    std::vector<FractionPoint> points;
    for (KarpFlattRow const& row : measured) {
        if (row.serial_fraction) { points.push_back({static_cast<double>(row.workers), *row.serial_fraction}); }
    }
    return {std::move(measured), trend_of(points)};
}

// ---- isoefficiency ------------------------------------------------------------------------------------------------

IsoefficiencyAnswer work_to_hold(IsoefficiencyQuestion question) {
    IsoefficiencyAnswer answer{.question = std::move(question)};
    auto const& [overhead, text, efficiency, workers, given] = answer.question;
    for (int const count : workers) {
        IsoefficiencyRow row{.workers = count, .work = isoefficient_work(overhead, count, efficiency)};
        if (row.work) {
            row.overhead = total_overhead(overhead, *row.work, count);
            row.speedup = efficiency * count;
            row.time = (*row.work + *row.overhead) / count;
        }
        if (given) { row.given_efficiency = efficiency_of_work(overhead, *given, count); }
        if (!answer.rows.empty() && row.work && answer.rows.back().work.value_or(0.0) > 0.0) {
            IsoefficiencyRow const& before = answer.rows.back();
            row.growth =
                std::pow(*row.work / *before.work, 1.0 / std::log2(static_cast<double>(count) / before.workers));
        }
        answer.rows.push_back(row);
    }
    if (given) { answer.largest_efficient_workers = largest_efficient_workers(overhead, *given, efficiency); }
    return answer;
}

} // namespace headroom::laws
