#include "curve.hpp"
#include "words.hpp"

#include <utility>

namespace headroom::training {
namespace {

using planner::money;
using planner::point_at;
using planner::times;

ComparisonRow row_of(CurvePoint const& first, CurvePoint const& second) {
    ComparisonRow row{.workers = first.workers,
                      .workers2 = second.workers,
                      .step = {},
                      .step2 = {},
                      .cost = first.cost,
                      .cost2 = second.cost};
    if (first.prediction) { row.step = first.prediction->step(); }
    if (second.prediction) { row.step2 = second.prediction->step(); }
    return row;
}

/// The sizes at which the two are weighed: the recommended ones, else the fastest common one.
std::optional<std::pair<CurvePoint const*, CurvePoint const*>> weighed(Plan const& first, Plan const& second,
                                                                       std::vector<ComparisonRow> const& rows) {
    if (first.recommended && second.recommended) {
        return std::pair{&first.curve[*first.recommended], &second.curve[*second.recommended]};
    }
    ComparisonRow const* best = nullptr;
    for (ComparisonRow const& row : rows) {
        if (row.step && row.step2 && (!best || *row.step + *row.step2 < *best->step + *best->step2)) { best = &row; }
    }
    if (!best) { return std::nullopt; }
    return std::pair{point_at(first, best->workers), point_at(second, best->workers2)};
}

std::string per_hour(DollarsPerSecond price) { return money(price * units::hour); }

std::string side(Plan const& plan, CurvePoint const& point) {
    return std::to_string(point.workers) + " of " + plan.question.cluster.name;
}

std::string speed_words(Plan const& first, Plan const& second, CurvePoint const& a, CurvePoint const& b) {
    double const ratio = b.prediction->tokens_per_second / a.prediction->tokens_per_second;
    std::string const same = side(second, b) + (ratio >= 1.0 ? " are " : " train at ");
    return same + (ratio >= 1.0 ? times(ratio) + " as fast as " : times(ratio) + " the speed of ") + side(first, a);
}

std::string price_words(Plan const& first, Plan const& second, DollarsPerSecond tie) {
    std::string text = "They cost the same per token when " + second.question.cluster.name + " is " + per_hour(tie) +
                       " an accelerator-hour (" + first.question.cluster.name + " at " +
                       per_hour(*first.question.cluster.price) + ")";
    auto const asked = second.question.cluster.price;
    if (!asked) { return text + "; below that it is the cheaper one."; }
    double const ratio = *asked / tie;
    if (ratio == 1.0) { return text + ", which is its price."; }
    return text + "; at its price of " + per_hour(*asked) + " it costs " + times(ratio) + " as much per token.";
}

} // namespace

PlanComparison compare(Plan const& first, Plan const& second) {
    PlanComparison comparison;
    for (CurvePoint const& point : first.curve) {
        if (CurvePoint const* other = point_at(second, point.workers)) {
            comparison.rows.push_back(row_of(point, *other));
        }
    }
    auto const sizes = weighed(first, second, comparison.rows);
    if (!sizes) {
        comparison.verdict = "No size is feasible on both clusters, so they cannot be weighed against each other.";
        return comparison;
    }
    auto const& [a, b] = *sizes;
    comparison.verdict = speed_words(first, second, *a, *b) + ". ";
    auto const price = first.question.cluster.price;
    if (!price) {
        comparison.verdict += "No price is known for " + first.question.cluster.name + ", so no price ties them.";
        return comparison;
    }
    // equal dollars a token: K1 p1 / rate1 = K2 p2 / rate2, each with its failures and wasted samples
    comparison.tie_price = *price * (static_cast<double>(a->workers) / b->workers) *
                           (b->prediction->tokens_per_second / a->prediction->tokens_per_second) *
                           (a->prediction->run_over_step() / b->prediction->run_over_step());
    comparison.verdict += price_words(first, second, *comparison.tie_price);
    return comparison;
}

} // namespace headroom::training
