#include "gate.hpp"

#include "document/text.hpp"

#include "headroom/error.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace headroom::cli {
namespace {

constexpr std::string_view where = "--require";

struct Condition {
    std::string name, comparison, value;
};

Condition parse_condition(std::string const& text) {
    auto const at = text.find_first_of("<>=");
    if (at == std::string::npos || at == 0) {
        throw InputError{Fault::usage,
                         {.where = std::string{where},
                          .problem = "cannot read " + headroom::quoted(text),
                          .why = "it is not name, comparison, value",
                          .hint = "write it like mfu>=0.4,step<=900ms"}};
    }
    std::size_t const length = at + 1 < text.size() && text[at + 1] == '=' ? 2 : 1;
    Condition condition{trimmed(text.substr(0, at)), text.substr(at, length), trimmed(text.substr(at + length))};
    if (condition.comparison == "=") { condition.comparison = "=="; }
    return condition;
}

/// A plain number or a percentage.
double parse_ratio(std::string const& text) {
    char* end = nullptr;
    double const value = std::strtod(text.c_str(), &end);
    std::string const rest = trimmed(end);
    if (end == text.c_str() || !std::isfinite(value) || (!rest.empty() && rest != "%")) {
        throw InputError{Fault::usage,
                         {.where = std::string{where},
                          .problem = "cannot read the number " + headroom::quoted(text),
                          .why = "",
                          .hint = "write a plain number or a percentage, like 0.4 or 40%"}};
    }
    return rest.empty() ? value : value / 100.0;
}

bool holds(double value, std::string const& comparison, double limit) {
    if (comparison == ">=") { return value >= limit; }
    if (comparison == "<=") { return value <= limit; }
    if (comparison == ">") { return value > limit; }
    if (comparison == "<") { return value < limit; }
    return value == limit;
}

Metric const& metric_named(std::string const& name, std::vector<Metric> const& metrics) {
    std::vector<std::string> names;
    for (Metric const& metric : metrics) {
        if (normalised(metric.name) == normalised(name)) { return metric; }
        names.push_back(metric.name);
    }
    std::string const near = nearest(name, names);
    throw InputError{Fault::usage,
                     {.where = std::string{where},
                      .problem = "unknown quantity " + headroom::quoted(name),
                      .why = "",
                      .hint = near.empty() ? "choose from " + join(names, ", ") : "did you mean '" + near + "'?"}};
}

GateOutcome check(Condition const& condition, std::vector<Metric> const& metrics) {
    Metric const& metric = metric_named(condition.name, metrics);
    bool const plain = metric.dimension == Dimension{};
    double const limit = plain ? parse_ratio(condition.value) : parse_base(condition.value, metric.dimension, where);
    GateOutcome outcome{metric.name + condition.comparison + condition.value, metric.value, metric.unknown, false};
    if (metric.value) {
        outcome.found = plain ? significant(*metric.value, 4) : format_base(*metric.value, metric.dimension, 4);
        outcome.passed = holds(*metric.value, condition.comparison, limit);
    }
    return outcome;
}

} // namespace

std::vector<GateOutcome> check_gates(std::string_view text, std::vector<Metric> const& metrics) {
    std::vector<GateOutcome> outcomes;
    for (std::string const& part : split(text, ',')) { outcomes.push_back(check(parse_condition(part), metrics)); }
    return outcomes;
}

std::vector<GateOutcome> check_gates(Arguments const& arguments, std::vector<Metric> const& metrics) {
    auto const text = arguments.text(std::string{where});
    return text ? check_gates(*text, metrics) : std::vector<GateOutcome>{};
}

Json gates_json(std::vector<GateOutcome> const& outcomes) {
    Json gates = Json::array();
    for (GateOutcome const& outcome : outcomes) {
        gates.push(Json::object()
                       .set("condition", outcome.condition)
                       .set("value", outcome.value)
                       .set("passed", outcome.passed));
    }
    return gates;
}

bool report_gates(std::vector<GateOutcome> const& outcomes) {
    bool passed = true;
    for (GateOutcome const& outcome : outcomes) {
        if (outcome.passed) { continue; }
        std::fprintf(stderr, "--require: '%s' does not hold (it is %s)\n", outcome.condition.c_str(),
                     outcome.found.c_str());
        passed = false;
    }
    return passed;
}

} // namespace headroom::cli
