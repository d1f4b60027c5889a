#pragma once

#include "comm/comm_fit_report.hpp"
#include "output.hpp"

#include "headroom/calibration.hpp"
#include "headroom/fit/campaign_fit.hpp"
#include "headroom/fit/pooling.hpp"
#include "headroom/fit/trace_fit.hpp"
#include "headroom/io/stated_calibration.hpp"
#include "headroom/measurement.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headroom::cli {

/// What one piece of evidence is, and what it gave.
struct CalibrateEvidence {
    std::string name;
    std::string kind;  ///< "traces", "benchmark log", "calibration", "campaign"
    std::string gives; ///< "84 collectives of 8 ranks"
    std::size_t samples = 0;
    std::string from = {}, to = {};   ///< days on which it was measured, "2026-11-22"; empty: not known
    std::string machine = {};         ///< empty: not known
    std::optional<int> days_old = {}; ///< before the newest evidence whose day is known
};

/// What one piece of evidence says of a constant.
struct ConstantSource {
    Constant id = Constant::count_;
    CalibratedConstant constant;
    std::size_t evidence = 0; ///< index
    std::size_t samples = 0;  ///< 0: not known
    double weight = 0.0;      ///< in the joined value; 0: left out, and `why` says it
    std::string why = {};
};

/// What one piece of evidence says of a link.
struct LinkSource {
    bool scale_out = false;
    MeasuredLink link;
    std::string name;
    double weight = 0.0;
};

/// Sources that were joined, and how far they are apart.
struct Disagreement {
    std::string what; ///< "gemm_hopper", "latency of the link inside a node"
    std::vector<std::string> sources;
    fit::Pooled pooled;
};

/// Steps of a campaign of scaling.
struct CampaignStepsOf {
    std::string name;
    fit::CampaignSteps measured;
    bool kept = false; ///< as measured steps
};

/// Evidence, and the calibration that it makes.
struct CalibrateAnswer {
    std::vector<CalibrateEvidence> evidence;
    fit::CommunicationFitAnswer links; ///< rows of traces, logs and campaigns, and their fits
    std::optional<fit::TraceFacts> facts;
    std::optional<fit::TraceCollectives> collectives; ///< without their rows
    std::vector<ConstantSource> constant_sources;
    std::vector<LinkSource> link_sources;
    std::vector<Disagreement> disagreements;
    std::vector<Campaign> machines; ///< campaigns that measured one: what a machine file is made of
    std::string traced_elsewhere;   ///< why the traces say nothing of the accelerator that is asked for; empty: they do
    std::vector<CampaignStepsOf> scaling;
    io::PartialCalibration states;      ///< what is written: constants, links, steps
    io::StatedCalibration rest;         ///< what files state besides, its `states` empty
    std::optional<CalibrationSet> base; ///< of a file that states every constant; empty: the catalog's
    std::vector<std::string> notes;
    std::vector<std::string> missing; ///< why evidence gave less than it might have
    std::string saved;                ///< the file that was written; empty where none was
    std::string saved_machine;
    bool explains = false;
    std::optional<double> wall_seconds;
};

/// The calibration in effect: what was stated and measured over the file that states everything, or the catalog's.
CalibrationSet effective(CalibrateAnswer const& answer, io::Catalog const& catalog);

/// The calibration file: values, intervals, residuals and where they come from.
std::string calibration_text(CalibrateAnswer const& answer);

/// What each constant rests on, measured ones first.
Json explained_json(CalibrateAnswer const& answer, io::Catalog const& catalog);
std::vector<Block> explained_blocks(CalibrateAnswer const& answer, io::Catalog const& catalog);
/// "constants of A and B differ by x1.2: joined to .."
std::string words_of(Disagreement const& one);

Document document_of(CalibrateAnswer const& answer, io::Catalog const& catalog);
Json json_of(CalibrateAnswer const& answer, io::Catalog const& catalog);
/// Fits of collectives; every constant where they are explained.
Sheet sheet_of(CalibrateAnswer const& answer, io::Catalog const& catalog);

} // namespace headroom::cli
