#include "headroom/training/validation_answer.hpp"

namespace headroom::training {

FieldTable const& field_table_of(DifferenceSpread const*);
FieldTable const& field_table_of(AgreementOfLimit const*);

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
    AgreementOfModel const* model;
};
constexpr Field all_rows[] = {
    {"plans", "Plans that were simulated.", [](AgreementOfAll const& a) { return a.model->all.plans; }},
    {"claimed", "Fraction for which the closed form is valid within 1 %.",
     [](AgreementOfAll const& a) { return if_any(a.model->all, a.model->claimed_share()); }},
    {"difference", "Difference of simulated and closed form over all plans.",
     [](AgreementOfAll const& a) { return a.model->all; }},
    {"difference_claimed", "Difference over the plans for which it is valid.",
     [](AgreementOfAll const& a) { return a.model->claimed; }},
};
constexpr FieldTable all_table = field_table<AgreementOfAll>("agreement", all_rows);
FieldTable const& field_table_of(AgreementOfAll const*) { return all_table; }

struct NamedAgreement {
    AgreementOfModel const* model;
};
constexpr Field named_rows[] = {
    {"name", "Model.", [](NamedAgreement const& a) { return a.model->name; }},
    {"*", "Agreement of its plans.", [](NamedAgreement const& a) { return AgreementOfAll{a.model}; }},
};
constexpr FieldTable named_table = field_table<NamedAgreement>("agreement_of_model", named_rows);
FieldTable const& field_table_of(NamedAgreement const*) { return named_table; }

constexpr Field limit_rows[] = {
    {"name", "Name of the limit.", member<&AgreementOfLimit::name>},
    {"reason", "Why the closed form may differ.", member<&AgreementOfLimit::reason>},
    {"difference", "Difference over plans that meet it.", member<&AgreementOfLimit::met>},
    {"difference_alone", "Difference over plans that meet no other limit.", member<&AgreementOfLimit::alone>},
};
constexpr FieldTable limit_table = field_table<AgreementOfLimit>("agreement_of_limit", limit_rows);

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
    {"closed_form_seconds", "Step time of the closed form.", member<&AgreementRow::closed>},
    {"simulated_seconds", "Simulated step time.",
     [](AgreementRow const& r) { return ran(r) ? std::optional{r.simulated} : std::nullopt; }},
    {"difference", "Simulated over closed form, less 1.",
     [](AgreementRow const& r) { return ran(r) ? std::optional{r.difference} : std::nullopt; }},
    {"claimed", "Whether the closed form is valid within 1 %.", [](AgreementRow const& r) { return r.claimed(); }},
    {"limits", "Limits of the closed form that the plan meets.",
     [](AgreementRow const& r) {
         std::vector<std::string_view> names;
         for (ClosedFormLimit const& limit : r.limits) { names.push_back(limit.name); }
         return names;
     }},
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
    {"models", "Agreement by model.",
     [](AgreementAnswer const& a) {
         std::vector<NamedAgreement> models;
         for (AgreementOfModel const& model : a.table.models) { models.push_back({&model}); }
         return models;
     }},
    {"limits", "Limits of the closed form, those that most plans meet first.",
     [](AgreementAnswer const& a) -> auto const& {return a.table.limits;
} // namespace
} // namespace headroom::training
, {"rows", "Every plan.", member<&AgreementAnswer::rows>},
}
;
constexpr FieldTable answer_table = field_table<AgreementAnswer>("validate_simulation", answer_rows);

} // namespace

FieldTable const& field_table_of(DifferenceSpread const*) { return spread_table; }
FieldTable const& field_table_of(AgreementOfLimit const*) { return limit_table; }
FieldTable const& field_table_of(AgreementRow const*) { return row_table; }
FieldTable const& field_table_of(AgreementAnswer const*) { return answer_table; }

} // namespace headroom::training
