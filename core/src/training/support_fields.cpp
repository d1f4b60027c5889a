#include "prediction_views.hpp"

#include "headroom/training/support.hpp"

namespace headroom::training {
namespace {

constexpr Question const& asked(SupportAnswer const& answer) { return answer.prediction.question; }

constexpr Field runs_rows[] = {
    {"respect", "Trait that the runs share with the question.", member<&SimilarRuns::respect>},
    {"runs", "Measured runs.", member<&SimilarRuns::runs>},
    {"least_workers", "Accelerators of the smallest of them; null without any.", member<&SimilarRuns::least_workers>},
    {"most_workers", "Accelerators of the largest of them; null without any.", member<&SimilarRuns::most_workers>},
};
constexpr FieldTable runs_table = field_table<SimilarRuns>("similar_runs", runs_rows);

constexpr Field fact_rows[] = {
    {"what", "Subject of the fact.", member<&KnownFact::what>},
    {"value", "Value with its unit.", member<&KnownFact::value>},
    {"source", "Keys of the bibliography, or where it is printed; null where no source is stated.",
     [](KnownFact const& f) { return if_stated(f.source); }},
};
constexpr FieldTable fact_table = field_table<KnownFact>("known_fact", fact_rows);

constexpr Field support_answer_rows[] = {
    {"model", "Model.", [](SupportAnswer const& a) -> Model const& { return asked(a).model; }},
    {"cluster", "Cluster.", [](SupportAnswer const& a) -> Cluster const& { return asked(a).cluster; }},
    {"framework", "Training framework.", [](SupportAnswer const& a) { return asked(a).framework.name; }},
    {"workers", "Accelerators.", [](SupportAnswer const& a) { return a.prediction.workers; }},
    {"strategy", "Parallelism and the other choices.",
     [](SupportAnswer const& a) { return strategy_of(a.prediction); }},
    {"verdict", "Answer in words.", member<&SupportAnswer::verdict>},
    {"step_seconds", "Time of one training step.", [](SupportAnswer const& a) { return a.prediction.step(); }},
    {"tier", "How the step was computed: priced.", [](SupportAnswer const&) { return name_of(Tier::priced); }},
    {"interval_seconds", "Interval that holds the step with the probability interval_coverage.",
     [](SupportAnswer const& a) { return ends_of(a.prediction.interval); }},
    {"interval_coverage", "Probability that the interval holds.",
     [](SupportAnswer const& a) { return a.prediction.interval.coverage; }},
    {"interval_kind", "How far the question lies from runs that the constants were fitted to.",
     [](SupportAnswer const& a) { return name_of(a.prediction.interval.kind); }},
    {"known", "Facts of the catalog with their sources.", member<&SupportAnswer::known>},
    {"pair_seen", "Whether a run of this accelerator generation and framework was measured.",
     member<&SupportAnswer::pair_seen>},
    {"evidence", "Measured runs that agree with the question, from the widest respect to the narrowest.",
     member<&SupportAnswer::evidence>},
    {"constants", "Constants that this step and its memory use.", member<&SupportAnswer::constants>},
    {"guessed", "Fields that nobody stated, and the step with other values of them.", member<&SupportAnswer::guessed>},
    {"never_seen", "Parts of the question that no measured run covers.", member<&SupportAnswer::never_seen>},
    {"narrows", "Facts that would narrow the interval most: what to measure or to state first.",
     member<&SupportAnswer::narrows>},
    {"notes", "Remarks on the input.", member<&SupportAnswer::notes>},
};
constexpr FieldTable support_answer_table = field_table<SupportAnswer>("support", support_answer_rows);

} // namespace

FieldTable const& field_table_of(SimilarRuns const*) { return runs_table; }
FieldTable const& field_table_of(KnownFact const*) { return fact_table; }
FieldTable const& field_table_of(SupportAnswer const*) { return support_answer_table; }

} // namespace headroom::training
