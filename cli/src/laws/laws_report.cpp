#include "laws/laws_report.hpp"

#include "arguments.hpp"

#include "headroom/document/text.hpp"
#include "headroom/error.hpp"
#include "headroom/io/words.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::cli {
namespace {

constexpr std::size_t most_cells = 16384;
constexpr Seconds shortest{1e-15}, longest{1e15};

} // namespace

// ---- reading ------------------------------------------------------------------------------------------------------

std::vector<int> read_law_workers(Arguments const& arguments, std::vector<int> otherwise) {
    auto const text = arguments.text("--workers");
    return text ? parse_counts(*text, "--workers") : otherwise;
}

double read_share(Arguments const& arguments) {
    auto const text = arguments.text("--share");
    return text ? io::parse_between(*text, 0.001, 0.9999, "share of a ceiling below 1", "--share") : 0.9;
}

double read_efficiency(std::string_view text) {
    return io::parse_between(text, 0.001, 0.9999, "efficiency between 0 and 1", "--efficiency");
}

std::optional<double> read_efficiency(Arguments const& arguments) {
    auto const text = arguments.text("--efficiency");
    return text ? std::optional{read_efficiency(*text)} : std::nullopt;
}

std::vector<double> read_numbers(std::string_view text, double low, double high, std::string_view what,
                                 std::string_view where) {
    std::vector<double> numbers;
    std::vector<std::string> const parts = split(text, ',');
    bool const decimal_comma = parts.size() > 1 && parts[0] == "0" && !parts[1].empty() &&
                               parts[1].find_first_not_of("0123456789") == std::string::npos;
    if (decimal_comma && high <= 1.0) { // "0,1"
        refuse(std::string{where}, headroom::quoted(text) + " may be one number or two",
               "a comma parts numbers, and may be meant as a decimal point",
               "write 0." + parts[1] + " for one, 0.0," + parts[1] + ".0 for two");
    }
    for (std::string const& part : parts) { numbers.push_back(io::parse_between(part, low, high, what, where)); }
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

Chart speedup_chart(std::string caption, std::vector<NamedCurve> const& curves, double reference,
                    std::optional<double> peak) {
    Chart chart{.title = "Speedup over workers",
                .caption = std::move(caption),
                .x = {"workers", AxisScale::logarithmic},
                .y = {reference == 1.0 ? "speedup over 1 worker" : "speedup over " + plain(reference) + " workers",
                      AxisScale::logarithmic}};
    for (auto const& [name, curve] : curves) {
        Series series{.name = name, .mark = Mark::line};
        series.x.assign(curve.workers.begin(), curve.workers.end());
        series.y = curve.speedup;
        chart.series.push_back(std::move(series));
        if (curve.ceiling) {
            std::string const whose = curves.size() > 1 ? name + ": " : "";
            chart.rules.push_back({false, *curve.ceiling, whose + "ceiling " + times(curve.ceiling)});
        }
    }
    auto const bounded =
        std::ranges::count_if(curves, [](NamedCurve const& one) { return one.curve.ceiling.has_value(); });
    SpeedupCurve const& drawn = curves.front().curve;
    double const first = drawn.workers.front(), last = drawn.workers.back();
    chart.series.push_back(
        {.name = "ideal", .mark = Mark::dashed, .x = {first, last}, .y = {first / reference, last / reference}});
    if (peak) {
        chart.rules.push_back({true, *peak, "peak at " + plain(*peak)});
    } else if (auto const knee = knee_of(drawn); knee && (curves.size() == 1 || bounded == 1)) {
        chart.rules.push_back({true, static_cast<double>(*knee), "knee at " + std::to_string(*knee)});
    }
    return chart;
}

void add_curve_chart(std::vector<Block>& blocks, CurveAnswer const& answer, std::string caption) {
    if (answer.rows.size() < 2) { return; }
    std::optional<double> peak;
    if (answer.best) { peak = static_cast<double>(*answer.best); }
    blocks.emplace_back(speedup_chart(std::move(caption), {{"step", answer.speedups()}}, answer.question.k0, peak));
}

std::string held_words(double efficiency, std::optional<std::int64_t> most, int over) {
    return percent_of(efficiency) + " % holds " + (most ? "to " + workers_words(*most) : "at every number of workers") +
           " (efficiency over " + workers_words(over) + ")";
}

std::string step_words(CurveAnswer const& answer, Seconds step) {
    return answer.question.timed ? format(step) : times(step / answer.step_at_k0);
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

} // namespace headroom::cli
