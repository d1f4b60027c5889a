// Any bytes as a table of measurements: rows that can be fitted, fits that are numbers, or one InputError.

#include "headroom/error.hpp"
#include "headroom/fit/scaling_fit.hpp"
#include "headroom/io/scaling_table.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string_view>

namespace {

using namespace headroom;

constexpr std::array measured{fit::Measured::seconds, fit::Measured::throughput, fit::Measured::speedup,
                              fit::Measured::sync, fit::Measured::value};

void check(bool true_of_all) {
    if (!true_of_all) { std::abort(); }
}

/// A number, or nothing.
void check(std::optional<double> value) { check(!value || !std::isnan(*value)); }

void fit_rows(io::ScalingTable const& table, bool weak) {
    fit::ScalingData data{.samples = {}, .measured = measured.at(static_cast<std::size_t>(table.quantity))};
    std::set<double> counts;
    for (io::ScalingRow const& row : table.rows) {
        data.samples.push_back({row.workers, row.value, row.weight});
        counts.insert(row.workers);
    }
    constexpr std::size_t few = 24; // more of them only take longer
    if (counts.size() > few || table.rows.size() > 4 * few) { return; }
    if (weak) { data.scaling = fit::Scaling::weak; }
    fit::FitQuestion question;
    question.negative_exponents = table.rows.size() % 2 == 0;
    fit::ScalingReport const report = fit::fit_scaling(data, question);
    for (fit::LawFit const& one : report.fits) {
        check(std::isfinite(one.rss) && one.rss >= 0.0 && std::isfinite(one.smape));
        check(one.aicc);
        check(one.ceiling);
        for (fit::FittedCoefficient const& c : one.coefficients) {
            check(std::isfinite(c.value));
            check(c.low);
            check(c.high);
            check(!c.low || !c.high || *c.low <= *c.high);
        }
    }
    for (fit::ScalingPrediction const& row : report.predictions) { check(row.curve_low); }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    try {
        std::string_view const text{reinterpret_cast<char const*>(data), size};
        io::ScalingTable const table = io::read_scaling_table(text, "t.csv", {});
        check(!table.rows.empty() && table.rows.size() <= io::most_scaling_rows);
        for (io::ScalingRow const& row : table.rows) {
            check(row.workers >= 1.0 && row.value > 0.0 && row.weight > 0.0 && std::isfinite(row.value + row.weight));
        }
        fit_rows(table, size % 3 == 0 && table.quantity <= io::ScalingQuantity::speedup);
    } catch (InputError const& error) { check(std::string_view{error.what()}.find('\n') == std::string_view::npos); }
    return 0;
}
