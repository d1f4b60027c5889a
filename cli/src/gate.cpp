#include "gate.hpp"

#include "output.hpp"

#include "headroom/document/fields.hpp"
#include "headroom/document/text.hpp"
#include "headroom/error.hpp"

#include <array>
#include <cmath>
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
        refuse(where, "cannot read " + headroom::quoted(text), "it is not name, comparison, value",
               "write it like mfu>=0.4,step<=900ms");
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
        refuse(where, "cannot read the number " + headroom::quoted(text), "",
               "write a plain number or a percentage, like 0.4 or 40%");
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

/// Names under which a condition may speak of "step_seconds": so, or "step". A number inside a part of the answer needs its
/// whole path: the last word of "objective.ttft_seconds" would pass for a result.
std::vector<std::string> names_of(std::string const& path) {
    static constexpr std::array suffixes{"_seconds", "_bytes", "_dollars"};
    std::vector<std::string> names{normalised(path)};
    if (path.find('.') != std::string::npos) { return names; }
    for (std::string_view const suffix : suffixes) {
        if (path.ends_with(suffix)) { names.push_back(normalised(path.substr(0, path.size() - suffix.size()))); }
    }
    return names;
}

/// The whole name counts before that without its unit, an earlier metric before a later one.
Metric const& metric_named(std::string const& name, std::vector<Metric> const& metrics) {
    std::string const wanted = normalised(name);
    for (std::size_t form = 0; form < 2; ++form) {
        for (Metric const& metric : metrics) {
            auto const forms = names_of(metric.name);
            if (form < forms.size() && forms[form] == wanted) { return metric; }
        }
    }
    std::vector<std::string> names;
    for (Metric const& metric : metrics) { names.push_back(metric.name); }
    refuse(where, "unknown quantity " + headroom::quoted(name), "", did_you_mean_one_of(name, names));
}

/// The factor of "1.05*baseline" or "baseline"; nothing for other values. Errors: InputError{usage} where a factor is no
/// number, or there is no baseline to compare with.
std::optional<double> factor_of_baseline(std::string const& value, Metric const& metric) {
    constexpr std::string_view word = "baseline";
    if (!value.ends_with(word)) { return std::nullopt; }
    if (!metric.may_have_baseline) {
        refuse(where, "nothing is compared with a baseline here", "", "headroom trace NOW --baseline BEFORE does");
    }
    std::string factor = trimmed(value.substr(0, value.size() - word.size()));
    if (factor.empty()) { return 1.0; }
    if (factor.ends_with('*')) { factor = trimmed(factor.substr(0, factor.size() - 1)); }
    return parse_ratio(factor);
}

/// A limit that follows from the baseline: its value times a factor.
GateOutcome check_with_baseline(Condition const& condition, Metric const& metric, double factor) {
    GateOutcome outcome{condition.name + condition.comparison + condition.value, {}, metric.unknown, false};
    if (!metric.value || !metric.baseline) { return outcome; }
    double const value = *metric.value * metric.scale, before = *metric.baseline * metric.scale;
    auto const words = [&](double one) {
        return metric.dimension == Dimension{} ? significant(one, 4) : format_base(one, metric.dimension, 4);
    };
    outcome.value = value;
    outcome.found = words(value) + "; baseline " + words(before);
    outcome.passed = holds(value, condition.comparison, factor * before);
    return outcome;
}

GateOutcome check(Condition const& condition, std::vector<Metric> const& metrics) {
    Metric const& metric = metric_named(condition.name, metrics);
    if (auto const factor = factor_of_baseline(condition.value, metric)) {
        return check_with_baseline(condition, metric, *factor);
    }
    bool const rate = metric.dimension == Dimension{.seconds = -1}; // "500/s", or 500 of what the name says
    bool const bare = condition.value.find_first_not_of("0123456789.eE+-") == std::string::npos;
    bool const plain = metric.dimension == Dimension{} || (rate && bare);
    bool const own = bare && !plain && metric.scale != 1.0; // "days<=80": the name says the unit
    double const limit = plain ? parse_ratio(condition.value)
                         : own ? parse_ratio(condition.value) * metric.scale
                               : parse_base(condition.value, metric.dimension, where);
    if (metric.share && limit > 1.0 && !condition.value.ends_with('%')) {
        refuse(where, condition.name + " is a share of 1, and " + condition.value + " is more", "",
               "write " + condition.name + condition.comparison + condition.value + "%");
    }
    GateOutcome outcome{condition.name + condition.comparison + condition.value, {}, metric.unknown, false};
    if (metric.value) {
        double const value = *metric.value * metric.scale;
        outcome.value = value;
        outcome.found = plain ? significant(value, 4) : format_base(value, metric.dimension, 4);
        outcome.passed = holds(value, condition.comparison, limit);
    }
    return outcome;
}

constexpr Field outcome_rows[] = {
    {"condition", "Condition of --require, as it was given.", member<&GateOutcome::condition>},
    {"value", "Value that was compared, in base units; null where the answer has none.", member<&GateOutcome::value>},
    {"passed", "Whether the condition holds.", member<&GateOutcome::passed>},
    {"combination", "Combination that it was asked of, where several were.",
     [](GateOutcome const& one) { return one.combination.empty() ? std::nullopt : std::optional{one.combination}; },
     Presence::if_any},
};
constexpr FieldTable outcome_table = field_table<GateOutcome>("gate", outcome_rows);

} // namespace

FieldTable const& field_table_of(GateOutcome const*) { return outcome_table; }

std::vector<Metric> metrics_of(FieldTable const& table, void const* answer, std::vector<GateName> const& names) {
    std::vector<Metric> metrics;
    for (Leaf const& leaf : leaves_of(table, answer, Lists::joined)) {
        if (leaf.kind != FieldKind::number && leaf.kind != FieldKind::integer) { continue; }
        auto const [dimension, scale] = dimension_of_symbol(leaf.unit);
        metrics.push_back({leaf.path, leaf.number, dimension, "unknown here", scale, leaf.unit == "share"});
    }
    std::vector<Metric> named;
    for (GateName const& row : names) {
        Metric metric = metric_named(std::string{row.path}, metrics);
        metric.name = row.name;
        named.push_back(std::move(metric));
    }
    metrics.insert(metrics.begin(), named.begin(), named.end());
    return metrics;
}

std::vector<GateOutcome> check_gates(std::string_view text, std::vector<Metric> const& metrics) {
    std::vector<GateOutcome> outcomes;
    for (std::string const& part : split(text, ',')) { outcomes.push_back(check(parse_condition(part), metrics)); }
    return outcomes;
}

bool report_gates(std::vector<GateOutcome> const& outcomes) {
    bool passed = true;
    for (GateOutcome const& outcome : outcomes) {
        if (outcome.passed) { continue; }
        std::string const of = outcome.combination.empty() ? "" : " for " + outcome.combination;
        say("--require: '" + outcome.condition + "' does not hold" + of + " (it is " + outcome.found + ")");
        passed = false;
    }
    return passed;
}

} // namespace headroom::cli
