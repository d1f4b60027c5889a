#include "laws/laws_report.hpp"

#include "arguments.hpp"
#include "document/text.hpp"

#include "headroom/error.hpp"
#include "headroom/io/words.hpp"
#include "headroom/plan.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::cli {
namespace {

constexpr int most_doublings = 30;
constexpr std::size_t most_cells = 16384;
constexpr Seconds shortest{1e-15}, longest{1e15};

} // namespace

// ---- reading ------------------------------------------------------------------------------------------------------

std::vector<int> read_law_workers(Arguments const& arguments, double last, int also) {
    if (arguments.has("--workers")) {
        return parse_counts(arguments.required("--workers", "for example 1..1024"), "--workers");
    }
    std::vector<int> counts{also};
    for (int power = 0; power <= most_doublings; ++power) {
        counts.push_back(1 << power);
        if (std::ldexp(1.0, power) >= last) { break; }
    }
    std::sort(counts.begin(), counts.end());
    counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
    return counts;
}

double read_share(Arguments const& arguments) {
    auto const text = arguments.text("--share");
    return text ? io::parse_between(*text, 0.001, 0.9999, "share of a ceiling below 1", "--share") : 0.9;
}

std::vector<double> read_numbers(std::string_view text, double low, double high, std::string_view what,
                                 std::string_view where) {
    std::vector<double> numbers;
    for (std::string const& part : split(text, ',')) {
        numbers.push_back(io::parse_between(part, low, high, what, where));
    }
    return numbers;
}

Seconds read_time(std::string_view text, std::string_view where) {
    Seconds const time = parse<Seconds>(text, where);
    if (time > Seconds{} && (time < shortest || time > longest)) {
        refuse(std::string{where}, headroom::quoted(text) + " is out of range", "times lie between 1e-15 s and 1e15 s",
               "");
    }
    return time;
}

void check_cells(std::size_t first, std::size_t second, std::string const& where) {
    if (first * second > most_cells) {
        refuse(where, std::to_string(first * second) + " rows", "at most 16384 are answered at once", "ask for fewer");
    }
}

// ---- showing ------------------------------------------------------------------------------------------------------

std::vector<std::optional<double>> gains_of(LawCurve const& curve) {
    std::vector<std::optional<double>> gains(curve.workers.size());
    for (std::size_t i = 1; i < gains.size(); ++i) {
        if (curve.speedup[i] <= 0.0 || curve.speedup[i - 1] <= 0.0) { continue; }
        gains[i] = marginal_speedup_per_doubling(Seconds{1.0 / curve.speedup[i - 1]}, Seconds{1.0 / curve.speedup[i]},
                                                 curve.workers[i - 1], curve.workers[i]);
    }
    return gains;
}

std::optional<int> knee_of(LawCurve const& curve) {
    if (curve.workers.size() < 2) { return std::nullopt; }
    int knee = curve.workers.front();
    auto const gains = gains_of(curve);
    for (std::size_t i = 1; i < gains.size(); ++i) {
        if (gains[i] && *gains[i] >= knee_gain) { knee = curve.workers[i]; }
    }
    return knee;
}

Chart speedup_chart(std::string caption, std::vector<LawCurve> const& curves, double reference,
                    std::optional<double> peak) {
    Chart chart{.title = "Speedup over workers",
                .caption = std::move(caption),
                .x = {"workers", AxisScale::logarithmic},
                .y = {reference == 1.0 ? "speedup over 1 worker" : "speedup over " + plain(reference) + " workers",
                      AxisScale::logarithmic},
                .series = {}};
    for (LawCurve const& curve : curves) {
        Series series{.name = curve.name, .mark = Mark::line};
        series.x.assign(curve.workers.begin(), curve.workers.end());
        series.y = curve.speedup;
        chart.series.push_back(std::move(series));
        if (curve.ceiling) {
            std::string const whose = curves.size() > 1 ? curve.name + ": " : "";
            chart.rules.push_back({false, *curve.ceiling, whose + "ceiling " + times(curve.ceiling)});
        }
    }
    double const first = curves.front().workers.front(), last = curves.front().workers.back();
    chart.series.push_back(
        {.name = "ideal", .mark = Mark::dashed, .x = {first, last}, .y = {first / reference, last / reference}});
    if (peak) {
        chart.rules.push_back({true, *peak, "peak at " + plain(*peak)});
    } else if (auto const knee = knee_of(curves.front()); knee && curves.size() == 1) {
        chart.rules.push_back({true, static_cast<double>(*knee), "knee at " + std::to_string(*knee)});
    }
    return chart;
}

std::string plain(double value, int digits) {
    double const size = std::abs(value);
    if (size >= std::pow(10.0, digits - 1) && size < 1e12) { return whole(value); } // 1003.54 is 1004, not 1000
    std::string text = significant(value, digits);
    if (text.find('.') == std::string::npos || text.find('e') != std::string::npos) { return text; }
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') { text.pop_back(); }
    return text;
}

std::string plain(std::optional<double> value, int digits) { return value ? plain(*value, digits) : "-"; }

std::string times(std::optional<double> value) {
    if (!value) { return "-"; }
    return (std::abs(*value) >= 1e6 ? scaled(*value) : plain(*value)) + "x";
}

std::string percent_of(std::optional<double> ratio) { return ratio ? plain(100.0 * *ratio) : "-"; }

std::string count_words(std::optional<std::int64_t> count) { return count ? std::to_string(*count) : "-"; }

std::string workers_words(std::int64_t count) { return std::to_string(count) + (count == 1 ? " worker" : " workers"); }

std::string cell(std::optional<double> value) { return value ? exact(*value) : ""; }

} // namespace headroom::cli
