#include "headroom/fit/calibration_answer.hpp"

#include <algorithm>

namespace headroom::training {

FieldTable const& field_table_of(CalibratedConstant const*) {
    static constexpr Field rows[] = {
        {"value", "Value.", member<&CalibratedConstant::value>},
        {"low", "Lower end of its 90 % interval.", member<&CalibratedConstant::low>},
        {"high", "Upper end of its 90 % interval.", member<&CalibratedConstant::high>},
        {"provenance", "Kind of origin.", member<&CalibratedConstant::provenance>},
        {"source", "Source, in words.", member<&CalibratedConstant::source>},
    };
    static constexpr FieldTable table = field_table<CalibratedConstant>("calibrated_constant", rows);
    return table;
}

} // namespace headroom::training

namespace headroom::network {

FieldTable const& field_table_of(MeasuredValue const*) {
    static constexpr Field rows[] = {
        {"value", "Measured value.", member<&MeasuredValue::value>},
        {"low", "Lower end of its 90 % interval.", member<&MeasuredValue::low>},
        {"high", "Upper end of its 90 % interval.", member<&MeasuredValue::high>},
    };
    static constexpr FieldTable table = field_table<MeasuredValue>("measured_value", rows);
    return table;
}

FieldTable const& field_table_of(MeasuredLink const*) {
    static constexpr Field rows[] = {
        {"latency_seconds", "Latency of one message.", member<&MeasuredLink::latency_seconds>},
        {"bytes_per_second", "Bandwidth; null where no time depended on bytes.",
         member<&MeasuredLink::bytes_per_second>},
        {"interconnect", "Interconnect in words; empty where it is not stated.", member<&MeasuredLink::interconnect>},
        {"source", "Source of the link, in words.", member<&MeasuredLink::source>},
    };
    static constexpr FieldTable table = field_table<MeasuredLink>("measured_link", rows);
    return table;
}

FieldTable const& field_table_of(MeasuredCurve const*) {
    static constexpr Field rows[] = {
        {"collective", "Collective.", member<&MeasuredCurve::collective>},
        {"algorithm", "Algorithm; null where it is not known.",
         [](MeasuredCurve const& c) { return c.algorithm.empty() ? std::nullopt : std::optional{c.algorithm}; }},
        {"ranks", "Ranks that took part.", member<&MeasuredCurve::ranks>},
        {"nodes", "Nodes of these ranks.", member<&MeasuredCurve::nodes>},
        {"segments", "Number of straight segments.", [](MeasuredCurve const& c) { return c.segments.size(); }},
        {"source", "Source of the curve, in words.", member<&MeasuredCurve::source>},
    };
    static constexpr FieldTable table = field_table<MeasuredCurve>("measured_curve", rows);
    return table;
}

} // namespace headroom::network

namespace headroom {

using namespace headroom::network;
using namespace headroom::training;

namespace fit {
namespace {

std::optional<std::string> if_any(std::string const& text) { return text.empty() ? std::nullopt : std::optional{text}; }
std::optional<std::size_t> if_any(std::size_t count) { return count > 0 ? std::optional{count} : std::nullopt; }

// ---- evidence and fits --------------------------------------------------------------------------------------------------

constexpr Field evidence_rows[] = {
    {"name", "Name of the file, folder or campaign.", member<&Evidence::name>},
    {"kind", "Kind of evidence: traces, benchmark log, training log, calibration or campaign.",
     member<&Evidence::kind>},
    {"gives", "Yield in words.", member<&Evidence::gives>},
    {"samples", "Samples that count; null where they are not known.",
     [](Evidence const& e) { return if_any(e.samples); }},
    {"from", "First day of measurement; null where it is not known.", [](Evidence const& e) { return if_any(e.from); }},
    {"to", "Last day of measurement; null where it is not known.", [](Evidence const& e) { return if_any(e.to); }},
    {"days_before_newest", "Days before the newest evidence; null where the day is not known.",
     member<&Evidence::days_old>, Unit{"d"}},
    {"machine", "Machine that was measured; null where it is not known.",
     [](Evidence const& e) { return if_any(e.machine); }},
};
constexpr FieldTable evidence_table = field_table<Evidence>("evidence", evidence_rows);

constexpr Field summary_rows[] = {
    {"*", "Group of measured times and its fit.",
     [](FitSummary const& s) -> CommunicationFit const& { return *s.fit; }},
    {"rows", "Measured times.", [](FitSummary const& s) { return s.fit->residuals.size(); }},
    {"segments", "Number of straight segments.", [](FitSummary const& s) { return s.fit->segments.size(); }},
};
constexpr FieldTable summary_table = field_table<FitSummary>("fit_summary", summary_rows);

// ---- constants ----------------------------------------------------------------------------------------------------------

/// A constant that the calibration states.
using Stated = std::pair<Constant, CalibratedConstant>;
struct StatedConstant {
    Stated const* stated;
    [[nodiscard]] CalibratedConstant const& constant() const { return stated->second; }
};
constexpr Field constant_rows[] = {
    {"name", "Key of the constant.",
     [](StatedConstant const& s) { return constants()[static_cast<std::size_t>(s.stated->first)].key; }},
    {"*", "Value, interval and origin.", [](StatedConstant const& s) { return s.constant(); }},
};
constexpr FieldTable constant_table = field_table<StatedConstant>("stated_constant", constant_rows);
FieldTable const& field_table_of(StatedConstant const*) { return constant_table; }

std::vector<StatedConstant> stated_constants(CalibrationAnswer const& answer) {
    std::vector<StatedConstant> all;
    for (Stated const& one : answer.states.constants) { all.push_back({&one}); }
    return all;
}

struct SourceView {
    ConstantSource const* source;
    Evidence const* evidence;
};
constexpr Field source_rows[] = {
    {"name", "Name of the evidence.", [](SourceView const& v) { return v.evidence->name; }},
    {"*", "Value, interval and origin.", [](SourceView const& v) { return v.source->constant; }},
    {"samples", "Samples; null where they are not known.",
     [](SourceView const& v) { return if_any(v.source->samples); }},
    {"from", "First day of measurement; null where it is not known.",
     [](SourceView const& v) { return if_any(v.evidence->from); }},
    {"to", "Last day of measurement; null where it is not known.",
     [](SourceView const& v) { return if_any(v.evidence->to); }},
    {"machine", "Machine that was measured; null where it is not known.",
     [](SourceView const& v) { return if_any(v.evidence->machine); }},
    {"weight", "Weight in the joined value.", [](SourceView const& v) { return v.source->weight; }},
    {"left_out", "Reason why it has no weight; null where it has.",
     [](SourceView const& v) { return if_any(v.source->why); }},
};
constexpr FieldTable source_table = field_table<SourceView>("constant_source", source_rows);
FieldTable const& field_table_of(SourceView const*) { return source_table; }

std::vector<SourceView> sources_of(ExplainedConstant const& one) {
    std::vector<SourceView> all;
    for (ConstantSource const* source : one.sources) {
        all.push_back({source, &one.answer->evidence[source->evidence]});
    }
    return all;
}

constexpr Field explained_rows[] = {
    {"name", "Key of the constant.", [](ExplainedConstant const& e) { return e.info.key; }},
    {"meaning", "Physical meaning.", [](ExplainedConstant const& e) { return e.info.meaning; }},
    {"unit", "Unit of the value.", [](ExplainedConstant const& e) { return e.info.unit; }},
    {"*", "Value, interval and origin.", member<&ExplainedConstant::constant>},
    {"sources", "Families of sources that moved a fitted constant.",
     [](ExplainedConstant const& e) { return e.constant.sources; }},
    {"from_catalog", "Whether no evidence states it.", [](ExplainedConstant const& e) { return e.sources.empty(); }},
    {"evidence", "Evidence that states it.", from<sources_of>},
};
constexpr FieldTable explained_table = field_table<ExplainedConstant>("explained_constant", explained_rows);

constexpr Field link_rows[] = {
    {"level", "Level: scale_up inside a node, scale_out between nodes.",
     [](LinkSource const& l) { return l.scale_out ? "scale_out" : "scale_up"; }},
    {"name", "Name of the evidence.", member<&LinkSource::name>},
    {"latency_seconds", "Latency of one message.", [](LinkSource const& l) { return l.link.latency_seconds; }},
    {"bytes_per_second", "Bandwidth; null where no time depended on bytes.",
     [](LinkSource const& l) { return l.link.bytes_per_second; }},
    {"weight", "Weight in the joined link.", member<&LinkSource::weight>},
    {"source", "Source, in words.", [](LinkSource const& l) { return l.link.source; }},
};
constexpr FieldTable link_table = field_table<LinkSource>("link_source", link_rows);

/// Constants, links and curves with everything that they rest on.
struct Explanation {
    CalibrationAnswer const* answer;
};
std::vector<std::pair<std::string, std::int64_t>> counts_of(Explanation const& one) {
    std::vector<std::pair<std::string, std::int64_t>> counts;
    for (Provenance const provenance : provenances) {
        auto const is = [&](CalibratedConstant const& constant) { return constant.provenance == provenance; };
        counts.emplace_back(name_of(provenance), std::ranges::count_if(one.answer->effective->constant, is));
    }
    return counts;
}
constexpr Field explanation_rows[] = {
    {"counts", "Number of constants of each kind of origin.", from<counts_of>},
    {"constants", "Constants as they are used, those of the best origin first.",
     [](Explanation const& e) { return explained_constants(*e.answer); }},
    {"links", "Links as each source states them.", [](Explanation const& e) { return e.answer->link_sources; }},
    {"curves", "Measured curves of collectives.", [](Explanation const& e) { return e.answer->states.network.curves; }},
};
constexpr FieldTable explanation_table = field_table<Explanation>("explanation", explanation_rows);
FieldTable const& field_table_of(Explanation const*) { return explanation_table; }

// ---- traces and campaigns -----------------------------------------------------------------------------------------------

constexpr Field slowdown_rows[] = {
    {"ratio", "Time of kernels that overlap with communication over their time alone.", member<&TraceSlowdown::ratio>},
    {"lost_rate", "Share of its rate that a kernel loses.", [](TraceSlowdown const& s) { return s.lost_rate(); }},
    {"kernels", "Different kernels.", member<&TraceSlowdown::kernels>},
    {"runs_alone", "Runs without communication.", member<&TraceSlowdown::alone>},
    {"runs_beside", "Runs that overlap with communication.", member<&TraceSlowdown::beside>},
    {"seconds_beside", "Time of the runs that overlap with communication.", member<&TraceSlowdown::seconds>, Unit{"s"}},
};
constexpr FieldTable slowdown_table = field_table<TraceSlowdown>("slowdown", slowdown_rows);

struct TraceView {
    CalibrationAnswer const* answer;
    [[nodiscard]] TraceFacts const& facts() const { return *answer->facts; }
    [[nodiscard]] std::optional<std::size_t> count(std::size_t TraceCollectives::*member) const {
        return answer->collectives ? std::optional{(*answer->collectives).*member} : std::nullopt;
    }
};
constexpr Field trace_rows[] = {
    {"ranks", "Ranks that were traced.", [](TraceView const& v) { return v.facts().ranks; }},
    {"steps", "Steps that were traced.", [](TraceView const& v) { return v.facts().steps; }},
    {"step_seconds", "Median step, each by its slowest rank; null without steps.",
     [](TraceView const& v) { return v.facts().step_seconds; }},
    {"step_variation", "Standard deviation of steps over their mean.",
     [](TraceView const& v) { return v.facts().step_variation; }},
    {"rank_variation", "Standard deviation of the ranks' computation over its mean.",
     [](TraceView const& v) { return v.facts().rank_variation; }},
    {"hidden_communication", "Share of communication that overlaps with computation.",
     [](TraceView const& v) { return v.facts().hidden; }},
    {"slowdown_beside_communication", "Slowdown of computation that overlaps with communication.",
     [](TraceView const& v) { return v.facts().slowdown; }},
    {"matrix_products", "Share of the peak that large matrix products reach.",
     [](TraceView const& v) {
         auto const& products = v.facts().matrix_products;
         return products ? std::optional{products->share} : std::nullopt;
     }},
    {"collectives_used", "Collectives whose times were used.",
     [](TraceView const& v) { return v.count(&TraceCollectives::used); }},
    {"collectives_incomplete", "Collectives of groups that were not traced as a whole.",
     [](TraceView const& v) { return v.count(&TraceCollectives::incomplete); }},
    {"collectives_without_size", "Collectives of unknown size.",
     [](TraceView const& v) { return v.count(&TraceCollectives::without_size); }},
};
constexpr FieldTable trace_table = field_table<TraceView>("trace_facts", trace_rows);
FieldTable const& field_table_of(TraceView const*) { return trace_table; }

constexpr Field disagreement_rows[] = {
    {"what", "Constant or link that the sources state.", member<&Disagreement::what>},
    {"sources", "Names of the evidence.", member<&Disagreement::sources>},
    {"weights", "Weight of each source in the joined value.", [](Disagreement const& d) { return d.pooled.weights; }},
    {"joined", "Joined value.", [](Disagreement const& d) { return d.pooled.value; }},
    {"ratio", "Largest value over the smallest.", [](Disagreement const& d) { return d.pooled.ratio; }},
    {"between_sources", "Standard deviation between sources, of the logarithm.",
     [](Disagreement const& d) { return d.pooled.between; }},
    {"heterogeneity", "Share of the scatter that the sources' intervals do not explain.",
     [](Disagreement const& d) { return d.pooled.heterogeneity; }},
};
constexpr FieldTable disagreement_table = field_table<Disagreement>("disagreement", disagreement_rows);

constexpr Field workers_rows[] = {
    {"workers", "Workers.", member<&MeasuredWorkers::workers>},
    {"seconds", "Median time with its 90 % interval.", member<&MeasuredWorkers::seconds>},
    {"samples", "Samples.", member<&MeasuredWorkers::samples>},
};
constexpr FieldTable workers_table = field_table<MeasuredWorkers>("measured_workers", workers_rows);

constexpr Field scaling_rows[] = {
    {"name", "Name of the campaign.", member<&ScalingSteps::name>},
    {"kept", "Whether its steps were kept as measured steps.", member<&ScalingSteps::kept>},
    {"steps", "Times by workers.", [](ScalingSteps const& s) { return s.measured.steps; }},
};
constexpr FieldTable scaling_table = field_table<ScalingSteps>("scaling_steps", scaling_rows);

// ---- the answer ---------------------------------------------------------------------------------------------------------

constexpr Field answer_rows[] = {
    {"evidence", "Evidence and its yield.", member<&CalibrationAnswer::evidence>},
    {"fits", "Fits of collectives: alpha of the smallest sizes, beta of the largest.", from<fit_summaries>},
    {"scale_up", "Link inside a node; null where it was not measured.",
     [](CalibrationAnswer const& a) { return a.states.network.scale_up; }},
    {"scale_out", "Link between nodes; null where it was not measured.",
     [](CalibrationAnswer const& a) { return a.states.network.scale_out; }},
    {"curves", "Number of measured curves of collectives.",
     [](CalibrationAnswer const& a) { return a.states.network.curves.size(); }},
    {"constants", "Constants that the calibration states.", from<stated_constants>},
    {"traces", "Facts of the traces; null without traces.",
     [](CalibrationAnswer const& a) { return a.facts ? std::optional{TraceView{&a}} : std::nullopt; }},
    {"logs", "Training logs and their steady steps.", member<&CalibrationAnswer::logs>, Presence::if_any},
    {"measured_steps", "Number of measured steps.", [](CalibrationAnswer const& a) { return a.states.entries.size(); }},
    {"disagreements", "Sources that were joined, and their differences.", member<&CalibrationAnswer::disagreements>},
    {"scaling", "Steps of campaigns of scaling.", member<&CalibrationAnswer::scaling>},
    {"explain", "Origin of every constant; null without --explain.",
     [](CalibrationAnswer const& a) { return a.effective ? std::optional{Explanation{&a}} : std::nullopt; }},
    {"missing", "Reasons why evidence gave less than it might have.",
     [](CalibrationAnswer const& a) { return words_of(a.missing); }},
    {"issues", "Content of the evidence that was not used, and rows with a fault.", member<&CalibrationAnswer::issues>},
    {"notes", "Remarks, in words.", [](CalibrationAnswer const& a) { return words_of(a.notes); }},
    {"saved", "Calibration file that was written; null without --out.",
     [](CalibrationAnswer const& a) { return if_any(a.saved); }},
    {"saved_machine", "Machine file that was written; null without --save-machine.",
     [](CalibrationAnswer const& a) { return if_any(a.saved_machine); }},
};
constexpr FieldTable answer_table = field_table<CalibrationAnswer>("calibration", answer_rows);

} // namespace

std::vector<FitSummary> fit_summaries(CalibrationAnswer const& answer) {
    std::vector<FitSummary> all;
    for (CommunicationFit const& one : answer.links.result.fits) { all.push_back({&one}); }
    return all;
}

std::vector<ExplainedConstant> explained_constants(CalibrationAnswer const& answer) {
    std::vector<ExplainedConstant> all;
    for (ConstantInfo const& info : constants()) {
        ExplainedConstant one{.info = info, .constant = (*answer.effective)[info.id], .sources = {}, .answer = &answer};
        for (ConstantSource const& source : answer.constant_sources) {
            if (source.id == info.id) { one.sources.push_back(&source); }
        }
        all.push_back(std::move(one));
    }
    std::ranges::stable_sort(all, {}, [](ExplainedConstant const& one) { return one.constant.provenance; });
    return all;
}

FieldTable const& field_table_of(Evidence const*) { return evidence_table; }
FieldTable const& field_table_of(FitSummary const*) { return summary_table; }
FieldTable const& field_table_of(ExplainedConstant const*) { return explained_table; }
FieldTable const& field_table_of(LinkSource const*) { return link_table; }
FieldTable const& field_table_of(TraceSlowdown const*) { return slowdown_table; }
FieldTable const& field_table_of(Disagreement const*) { return disagreement_table; }
FieldTable const& field_table_of(MeasuredWorkers const*) { return workers_table; }
FieldTable const& field_table_of(ScalingSteps const*) { return scaling_table; }
FieldTable const& field_table_of(CalibrationAnswer const*) { return answer_table; }

} // namespace fit
} // namespace headroom
