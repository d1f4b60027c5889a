#pragma once

#include "headroom/fields.hpp"
#include "headroom/fit/campaign_fit.hpp"
#include "headroom/fit/communication_fit_answer.hpp"
#include "headroom/fit/pooling.hpp"
#include "headroom/fit/trace_fit.hpp"
#include "headroom/issue.hpp"
#include "headroom/measure/measurement.hpp"
#include "headroom/training/logged_steps.hpp"
#include "headroom/training/stated_calibration.hpp"
#include "headroom/training/strategy.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace headroom::fit {

// ---- evidence as it was read --------------------------------------------------------------------------------------------

/// A log of a benchmark of collectives.
struct LogEvidence {
    MeasuredFile file;
    std::vector<network::MeasuredCollective> rows = {};
};

/// A calibration file.
struct FileEvidence {
    std::string name;
    training::StatedCalibration states;
    std::optional<training::CalibrationSet> whole; ///< where it states every constant
};

/// Traces of the ranks of one job.
struct TraceEvidence {
    std::vector<std::string> names;
    std::vector<std::string> unread; ///< files that could not be read, with the reason
    trace::TraceAnswer traces;
};

struct CalibrationEvidence {
    std::vector<std::variant<LogEvidence, FileEvidence, training::LogAnswer>> files;
    std::optional<TraceEvidence> traces;
    std::vector<measure::Campaign> campaigns;
};

/// Facts about the evidence that it does not state.
struct CalibrationQuestion {
    std::string system; ///< machine that was measured; empty: as the evidence says
    int nodes = 0;      ///< of traces and campaigns; 0: as the evidence says
    std::string store;  ///< name of the store of the campaigns
    std::optional<Accelerator> accelerator;
    std::optional<Cluster> cluster = {}; ///< that the calibration is for; empty: any
    /// Whether words name the machine of the cluster.
    std::function<bool(std::string const&)> same_machine = {};
    std::vector<std::string> accelerators; ///< names of the catalog
    /// Name in the catalog of an accelerator that is called so; empty for one that the catalog lacks.
    std::function<std::string(std::string const&)> catalog_name;
    /// Links of a system by its name; empty where it is not known.
    std::function<std::optional<KnownLinks>(std::string const&)> known_links = {};
};

// ---- the answer ---------------------------------------------------------------------------------------------------------

enum class EvidenceKind { traces, benchmark_log, training_log, calibration, campaign };
std::string_view name_of(EvidenceKind kind);

/// One item of evidence and its yield.
struct Evidence {
    std::string name;
    EvidenceKind kind = EvidenceKind::traces;
    std::string gives; ///< "84 collectives of 8 ranks"
    std::size_t samples = 0;
    std::string from = {}, to = {};   ///< days on which it was measured, "2026-11-22"; empty: not known
    std::string machine = {};         ///< empty: not known
    std::optional<int> days_old = {}; ///< before the newest evidence whose day is known
};

/// A constant as one item of evidence states it.
struct ConstantSource {
    training::Constant id = training::Constant::count_;
    training::CalibratedConstant constant;
    std::size_t evidence = 0; ///< index
    std::size_t samples = 0;  ///< 0: not known
    double weight = 0.0;      ///< in the joined value; 0: left out, and `why` says it
    std::string why = {};
};

/// A link as one source of rows, or one file, states it.
struct LinkSource {
    bool scale_out = false;
    network::MeasuredLink link;
    std::string name;
    double weight = 0.0;
};

/// Remark on evidence that was not used, gave less than it might have, or differs from other evidence.
enum class CalibrationRemark {
    of_reader,          ///< names: the words of a reader of files
    not_used,           ///< names: the words of a reader; nothing of a file was used
    old,                ///< names: evidence, its day, the newest day; count: days
    incomplete,         ///< count: collectives of groups that were not traced whole
    unsized,            ///< count: collectives without a size or kind
    unmatched,          ///< count: runs of collectives without a partner
    products_above,     ///< names: accelerator; value: share of its peak
    products_elsewhere, ///< names: why
    part_left_out,      ///< names: part of an earlier file, the later file
    base_left_out,      ///< names: earlier whole file, the later one
    constant_left_out,  ///< names: constant, its value and evidence, the value that holds, why
    curve_left_out,     ///< names: collective and ranks, its source, the source that holds; value: ratio of times
    sources_differ,     ///< names: collective and ranks, the slower file, the faster one; value: ratio
    slowdown_alone,     ///< the slowdown by communication makes no constant
    machines_differ,    ///< names: two campaigns, then the facts that differ; count: further facts
    unfinished,         ///< names: campaign, its state
    failed,             ///< names: campaign; count: samples
    unsteady,           ///< names: campaign, then points that drift; count: further points
    whole_command,      ///< names: campaign that timed whole commands
    untrained,          ///< names: campaign whose commands nobody describes
    undescribed,        ///< names: training log whose model nobody says
    point_left_out,     ///< names: campaign, label, why; count: further points
    above_catalog,      ///< names: campaign, kernel, figure of the catalog; value: share
    no_memory,          ///< names: campaign
    no_product,         ///< names: campaign
    no_cluster,         ///< names: campaign
    other_machine,      ///< names: campaign, its system, accelerator
    no_sample,          ///< names: campaign
    no_use,             ///< names: campaign, its kind
    link_refused,       ///< names: why; count: 1 between nodes, 0 inside one
    link_elsewhere,     ///< names: why the links are not those of the cluster
    group_too_small,    ///< names: collective and ranks, why
    work_grew,          ///< names: campaign
    other_workers       ///< names: campaign; count: workers
};
struct CalibrationNote {
    CalibrationRemark remark = CalibrationRemark::of_reader;
    std::vector<std::string> names = {};
    double value = 0.0;
    std::size_t count = 0;
};
std::string words_of(CalibrationNote const& note);
std::vector<std::string> words_of(std::vector<CalibrationNote> const& notes);

/// Quantity that several sources state.
enum class Joined { constant, latency, rate };

/// Sources that were joined, and their differences.
struct Disagreement {
    Joined of = Joined::constant;
    std::string what; ///< "gemm_hopper", "latency inside a node"
    std::vector<std::string> sources;
    Pooled pooled;
};

/// Steps of a campaign of scaling.
struct ScalingSteps {
    std::string name;
    CampaignSteps measured;
    bool kept = false; ///< as measured steps
};

/// Answer of `headroom calibrate`: evidence, and the calibration that it makes.
struct CalibrationAnswer {
    std::vector<Evidence> evidence;
    CommunicationFitAnswer links; ///< rows of traces, logs and campaigns, and their fits
    std::optional<TraceFacts> facts;
    std::optional<TraceCollectives> collectives; ///< without their rows
    std::vector<ConstantSource> constant_sources;
    std::vector<LinkSource> link_sources;
    std::vector<Disagreement> disagreements;
    std::vector<measure::Campaign> machines; ///< campaigns of rooflines: a machine file is made of one
    std::string traced_elsewhere;            ///< reason why the traces are of another accelerator; empty: they are not
    std::vector<ScalingSteps> scaling;
    std::vector<training::LogAnswer> logs;             ///< training logs
    training::PartialCalibration states;               ///< constants, links and steps that are written
    training::StatedCalibration rest;                  ///< bands, pace and likeness of files, its `states` empty
    std::optional<training::CalibrationSet> base;      ///< of a file that states every constant; empty: the catalog's
    std::optional<training::CalibrationSet> effective; ///< of --explain: every constant as it is used
    std::vector<Issue> issues; ///< content of the evidence that was not used, and rows with a fault
    std::vector<CalibrationNote> notes;
    std::vector<CalibrationNote> missing; ///< reasons why evidence gave less than it might have
    std::string saved;                    ///< calibration file that was written; empty: none
    std::string saved_machine;            ///< machine file that was written; empty: none

    /// Whether there is anything to write to a calibration file.
    [[nodiscard]] bool states_anything() const;
};
FieldTable const& field_table_of(CalibrationAnswer const*);
FieldTable const& field_table_of(Evidence const*);
FieldTable const& field_table_of(MeasuredWorkers const*);

/// Thrown where the evidence is of two systems: a calibration is of one.
struct CalibrationRefused {
    std::string system, other;
};

/// Links and sources of constants from all evidence. `join_constants` follows when all constants are known.
/// Errors: CalibrationRefused where the evidence is of several systems.
CalibrationAnswer calibrate(CalibrationQuestion const& question, CalibrationEvidence evidence);

/// Slowdown by communication as a constant, where the run had the traffic of data parallelism alone; else a note.
void add_slowdown(training::Strategy const& strategy, CalibrationAnswer& answer);

/// Steps of a campaign to keep: those on `workers`, or all of them. Adds the reasons where none is kept.
std::vector<MeasuredWorkers> steps_to_keep(ScalingSteps& scaling, std::optional<int> workers,
                                           CalibrationAnswer& answer);

/// Joins constants of several sources: those of the best provenance, measured ones by `pool`.
void join_constants(CalibrationAnswer& answer);

/// The calibration in effect: `below` with everything that was stated and measured.
training::CalibrationSet effective(CalibrationAnswer const& answer, training::CalibrationSet const& below);

/// A whole calibration with everything that partial files state.
training::CalibrationSet with_stated(training::CalibrationSet whole, training::StatedCalibration const& states);

/// Constants of one origin with their sources; those of the best origin first.
struct ExplainedConstant {
    training::ConstantInfo info;
    training::CalibratedConstant constant;
    std::vector<ConstantSource const*> sources;
    CalibrationAnswer const* answer = nullptr;
};
FieldTable const& field_table_of(ExplainedConstant const*);
std::vector<ExplainedConstant> explained_constants(CalibrationAnswer const& answer);

/// A fit in short.
struct FitSummary {
    CommunicationFit const* fit = nullptr;
};
FieldTable const& field_table_of(FitSummary const*);
std::vector<FitSummary> fit_summaries(CalibrationAnswer const& answer);

} // namespace headroom::fit
