#pragma once

#include "arguments.hpp"

#include "headroom/fields.hpp"
#include "headroom/quantity.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headroom::cli {

/// A number of a result that a gate may ask about.
struct Metric {
    std::string name;            ///< "mfu", "step"
    std::optional<double> value; ///< in base units; empty: the result has none
    Dimension dimension = {};
    std::string unknown = "unknown: it needs --tokens or --price"; ///< text where there is no value
    double scale = 1.0;                                            ///< base units in the value's own: 86400 in days
    bool share = false;                  ///< of a whole: a limit above 1 is a percentage without its sign
    bool may_have_baseline = false;      ///< conditions may compare with a baseline: 'step<=1.05*baseline'
    std::optional<double> baseline = {}; ///< its value there, in the value's own units
};

/// A name that is shorter than the way to a field: {"cost", "run.cost_dollars"}.
struct GateName {
    std::string_view name, path;
};

/// Numbers of an answer by the ways to them, with those of `names` first; without values where `answer` is null.
std::vector<Metric> metrics_of(FieldTable const& table, void const* answer, std::vector<GateName> const& names = {});

/// One condition of --require and how it came out.
struct GateOutcome {
    std::string condition;
    std::optional<double> value;
    std::string found; ///< the value as people read it
    bool passed = false;
    std::string combination = {}; ///< that it was asked of; empty for a single answer
};

/// Reads 'mfu>=0.4,step<=900ms' and compares; with a metric's baseline 'step<=1.05*baseline', too. Errors: InputError{usage} for an unknown name or a wrong
/// unit; call it with metrics without values to check the text before any work.
std::vector<GateOutcome> check_gates(std::string_view text, std::vector<Metric> const& metrics);

/// The gates of --require, if there are any: only then are the metrics listed.
template <class List> std::vector<GateOutcome> check_gates(Arguments const& arguments, List list_metrics) {
    auto const text = arguments.text("--require");
    return text ? check_gates(*text, list_metrics()) : std::vector<GateOutcome>{};
}

FieldTable const& field_table_of(GateOutcome const*);

/// Names the failed conditions on standard error; true when all hold.
bool report_gates(std::vector<GateOutcome> const& outcomes);

} // namespace headroom::cli
