#include "words.hpp"

#include "base/quantity/decimal.hpp"

#include "headroom/text.hpp"

#include <cmath>

namespace headroom::training::planner {
std::string rounded(double value) {
    constexpr int digits = 3;
    if (!std::isfinite(value)) { return "unbounded"; }
    if (value == 0.0) { return "0"; }
    return fixed(headroom::rounded(value, digits), digits);
}

std::string amount(double value) {
    constexpr double largest = 1e9;
    return std::abs(value) < largest && value == std::round(value) ? std::to_string(std::lround(value))
                                                                   : rounded(value);
}

std::string percent(double share) { return rounded(100.0 * share) + " %"; }

std::string times(double ratio) { return rounded(ratio) + "x"; }

std::string money(Dollars amount) {
    double const dollars = amount.in(units::dollar);
    double const size = std::abs(dollars);
    // a scale begins where three digits of the one below it are used up; thousands of dollars are written out
    if (size >= 0.9995e9) { return "$" + rounded(dollars / 1e9) + "B"; }
    if (size >= 0.9995e6) { return "$" + rounded(dollars / 1e6) + "M"; }
    if (size >= 0.9995e4) { return "$" + rounded(dollars / 1e3) + "k"; }
    return "$" + rounded(dollars);
}

std::string hourly(DollarsPerSecond rate) { return money(rate * units::hour) + " an hour"; }

std::string span_of(Seconds time) {
    if (time >= 2.0 * units::day) { return rounded(time.in(units::day)) + " days"; }
    if (time >= 2.0 * units::hour) { return rounded(time.in(units::hour)) + " hours"; }
    if (time >= 5.0 * units::minute) { return rounded(time.in(units::minute)) + " minutes"; }
    return format(time, 3);
}

std::string counted(int count, std::string const& noun) { return text::counted(static_cast<std::size_t>(count), noun); }

std::string batch_of(Workload const& workload, Model const& model) {
    if (model.works_on_samples()) { return counted(workload.global_batch, "sample"); }
    return counted(workload.global_batch, "sequence") + " of " + counted(workload.sequence_length, "token");
}

std::string size_of(int workers, Cluster const& cluster) {
    std::string text = counted(workers, "accelerator");
    int const node = cluster.accelerators_per_node;
    if (node < 1 || workers % node != 0) { return text; }
    return text + " (" + counted(workers / node, "node") + ")";
}

std::string risk_that_takes(RiskyStrategy const& strategy) {
    return "--memory-risk " + std::to_string(static_cast<int>(std::ceil(100.0 * (1.0 - strategy.fits)))) + "%";
}

std::string listed(std::vector<std::string> const& items) {
    std::string text;
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (i > 0) { text += i + 1 == items.size() ? " and " : ", "; }
        text += items[i];
    }
    return text;
}

} // namespace headroom::training::planner
