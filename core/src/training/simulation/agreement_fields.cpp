#include "headroom/training/validation_answer.hpp"

namespace headroom::training {

FieldTable const& field_table_of(DifferenceSpread const*);
FieldTable const& field_table_of(AgreementOfKind const*);

namespace {

std::optional<double> if_any(DifferenceSpread const& spread, double value) {
    return spread.plans > 0 ? std::optional{value} : std::nullopt;
}

constexpr Field spread_rows[] = {
    {"plans", "Plans.", member<&DifferenceSpread::plans>},
    {"median", "Median of the absolute difference.", [](DifferenceSpread const& d) { return if_any(d, d.median); }},
    {"p99", "99th percentile of the absolute difference.", [](DifferenceSpread const& d) { return if_any(d, d.p99); }},
    {"worst", "Largest absolute difference.", [](DifferenceSpread const& d) { return if_any(d, d.worst); }},
    {"within_1_percent", "Fraction of plans that differ by at most 1 %.",
     [](DifferenceSpread const& d) { return if_any(d, d.within); }},
};
constexpr FieldTable spread_table = field_table<DifferenceSpread>("difference_spread", spread_rows);

/// Agreement of all plans: without a name.
struct AgreementOfAll {
    AgreementOfKind const* kind;
};
constexpr Field all_rows[] = {
    {"plans", "Plans that were simulated.", [](AgreementOfAll const& a) { return a.kind->difference.plans; }},
    {"difference", "Difference of simulated and priced step.",
     [](AgreementOfAll const& a) { return a.kind->difference; }},
    {"difference_unshared", "Difference where every transfer has the NIC to itself, in both.",
     [](AgreementOfAll const& a) { return a.kind->unshared; }},
};
constexpr FieldTable all_table = field_table<AgreementOfAll>("agreement", all_rows);
FieldTable const& field_table_of(AgreementOfAll const*) { return all_table; }

constexpr Field kind_rows[] = {
    {"name", "Kind of plan: its schedule, sharding, or a feature that it uses.", member<&AgreementOfKind::name>},
    {"*", "Agreement of its plans.", [](AgreementOfKind const& a) { return AgreementOfAll{&a}; }},
};
constexpr FieldTable kind_table = field_table<AgreementOfKind>("agreement_of_kind", kind_rows);

/// Whether a plan was simulated.
constexpr bool ran(AgreementRow const& row) { return row.refused.empty(); }

constexpr Field row_rows[] = {
    {"index", "Number of the plan.", member<&AgreementRow::index>},
    {"model", "Model.", member<&AgreementRow::model>},
    {"cluster", "Cluster.", member<&AgreementRow::cluster>},
    {"framework", "Training framework.", member<&AgreementRow::framework>},
    {"strategy", "Short name of the strategy.", member<&AgreementRow::strategy>},
    {"sequence_length", "Tokens of a sequence.", [](AgreementRow const& r) { return r.workload.sequence_length; }},
    {"global_batch", "Sequences of a step.", [](AgreementRow const& r) { return r.workload.global_batch; }},
    {"kinds", "Kinds of plan that it counts as.", member<&AgreementRow::kinds>},
    {"priced_seconds", "Priced step time.", member<&AgreementRow::priced>},
    {"simulated_seconds", "Simulated step time.",
     [](AgreementRow const& r) { return ran(r) ? std::optional{r.simulated} : std::nullopt; }},
    {"difference", "Simulated over priced step, less 1.",
     [](AgreementRow const& r) { return ran(r) ? std::optional{r.difference} : std::nullopt; }},
    {"difference_unshared", "Difference where every transfer has the NIC to itself, in both.",
     [](AgreementRow const& r) { return ran(r) ? std::optional{r.unshared} : std::nullopt; }},
    {"refused", "Reason why it was not simulated; null where it was.",
     [](AgreementRow const& r) { return ran(r) ? std::nullopt : std::optional{r.refused}; }},
};
constexpr FieldTable row_table = field_table<AgreementRow>("agreement_row", row_rows);

struct DrawnPlans {
    int plans;
    std::uint64_t seed;
};
constexpr Field drawn_rows[] = {
    {"plans", "Plans that were asked for.", member<&DrawnPlans::plans>},
    {"seed", "Seed that they are drawn from.", member<&DrawnPlans::seed>},
};
constexpr FieldTable drawn_table = field_table<DrawnPlans>("drawn_plans", drawn_rows);
FieldTable const& field_table_of(DrawnPlans const*) { return drawn_table; }

constexpr Field answer_rows[] = {
    {"simulation", "Random plans that were drawn.",
     [](AgreementAnswer const& a) {
         return DrawnPlans{a.asked, a.seed};
     }},
    {"complete", "Whether all of them are compared.", [](AgreementAnswer const& a) { return a.complete(); }},
    {"refused", "Plans that were not simulated.", [](AgreementAnswer const& a) { return a.table.refused; }},
    {"summary", "Agreement of all plans.", [](AgreementAnswer const& a) { return AgreementOfAll{&a.table.all}; }},
    {"kinds", "Agreement by kind of plan, those with most plans first.",
     [](AgreementAnswer const& a) -> std::vector<AgreementOfKind> const& { return a.table.kinds; }},
    {"rows", "Every plan.", member<&AgreementAnswer::rows>},
};
constexpr FieldTable answer_table = field_table<AgreementAnswer>("validate_simulation", answer_rows);

} // namespace

FieldTable const& field_table_of(DifferenceSpread const*) { return spread_table; }
FieldTable const& field_table_of(AgreementOfKind const*) { return kind_table; }
FieldTable const& field_table_of(AgreementRow const*) { return row_table; }
FieldTable const& field_table_of(AgreementAnswer const*) { return answer_table; }

} // namespace headroom::training
