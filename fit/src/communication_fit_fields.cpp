#include "headroom/fit/communication_fit_answer.hpp"

namespace headroom {

using namespace headroom::network;

namespace fit {

FieldTable const& field_table_of(Fitted const*) {
    static constexpr Field rows[] = {
        {"value", "Fitted value.", member<&Fitted::value>},
        {"low", "Lower end of its 90 % interval.", member<&Fitted::low>},
        {"high", "Upper end of its 90 % interval.", member<&Fitted::high>},
    };
    static constexpr FieldTable table = field_table<Fitted>("fitted", rows);
    return table;
}

namespace {

std::optional<std::string> if_any(std::string const& text) { return text.empty() ? std::nullopt : std::optional{text}; }

// ---- measured times ---------------------------------------------------------------------------------------------------

using Residual = MeasuredResidual;
constexpr Field residual_rows[] = {
    {"file", "File of the measured time.", [](Residual const& r) { return r.measured->file; }},
    {"line", "Line of that file.", [](Residual const& r) { return r.measured->line; }},
    {"size_bytes", "Size of the whole vector.", [](Residual const& r) { return r.measured->size.size; }},
    {"measured_seconds", "Measured time.", [](Residual const& r) { return r.measured->time; }},
    {"predicted_seconds", "Fitted time.", [](Residual const& r) { return r.residual->predicted; }},
    {"relative_error", "Fitted over measured time, less one.",
     [](Residual const& r) { return r.residual->relative_error; }},
    {"outlier", "Whether the measured time did not move the fit.",
     [](Residual const& r) { return r.residual->outlier; }},
};
constexpr FieldTable residual_table = field_table<Residual>("residual", residual_rows);

constexpr Field fitted_row_rows[] = {
    {"id", "Name of the fit in its source.", [](FittedRow const& r) { return r.fit->id; }},
    {"system", "System that was measured.", [](FittedRow const& r) { return r.fit->system; }},
    {"collective", "Collective.", [](FittedRow const& r) { return r.fit->collective; }},
    {"algorithm", "Algorithm, where it is known.", [](FittedRow const& r) { return r.fit->algorithm; }},
    {"protocol", "Protocol, where it is known.", [](FittedRow const& r) { return r.fit->protocol; }},
    {"data_type", "Type of the elements, where it is known.", [](FittedRow const& r) { return r.fit->data_type; }},
    {"ranks", "Ranks that took part.", [](FittedRow const& r) { return r.fit->ranks; }},
    {"nodes", "Nodes of these ranks.", [](FittedRow const& r) { return r.fit->nodes; }},
    {"*", "Measured and fitted time.", member<&FittedRow::row>},
};
constexpr FieldTable fitted_row_table = field_table<FittedRow>("fitted_row", fitted_row_rows);

// ---- fits -------------------------------------------------------------------------------------------------------------

constexpr Field segment_rows[] = {
    {"from_bytes", "Smallest size that it was fitted on.", member<&FittedSegment::from>},
    {"to_bytes", "Largest size that it was fitted on.", member<&FittedSegment::to>},
    {"alpha_seconds", "Time of the collective that no byte causes.", member<&FittedSegment::alpha_seconds>},
    {"beta_seconds_per_byte", "Time that each byte adds.", member<&FittedSegment::beta_seconds_per_byte>},
};
constexpr FieldTable segment_table = field_table<FittedSegment>("segment", segment_rows);

constexpr Field switch_rows[] = {
    {"bytes", "Size at which the next segment begins.", member<&SwitchPoint::bytes>},
    {"jumps", "Whether the time jumps there.", member<&SwitchPoint::jumps>},
};
constexpr FieldTable switch_table = field_table<SwitchPoint>("switch_point", switch_rows);

constexpr Field dip_rows[] = {
    {"from_bytes", "Size with the highest bandwidth before the dip.", member<&BandwidthDip::from>},
    {"to_bytes", "Size with the lowest bandwidth after it.", member<&BandwidthDip::to>},
    {"bandwidth_kept", "Bandwidth at the second size over that at the first.", member<&BandwidthDip::kept>},
    {"ends", "Whether larger messages reach the first bandwidth again.", member<&BandwidthDip::ends>},
};
constexpr FieldTable dip_table = field_table<BandwidthDip>("bandwidth_dip", dip_rows);

using Fit = CommunicationFit;
constexpr Field value_rows[] = {
    {"collective", "Collective.", member<&Fit::collective>},
    {"ranks", "Ranks that took part.", member<&Fit::ranks>},
    {"nodes", "Nodes of these ranks.", member<&Fit::nodes>},
    {"alpha_seconds", "Time of the smallest sizes that no byte causes.",
     [](Fit const& f) { return f.segments.front().alpha_seconds; }},
    {"beta_seconds_per_byte", "Time that each byte of the largest sizes adds.",
     [](Fit const& f) { return f.segments.back().beta_seconds_per_byte; }},
    {"bus_bandwidth_bytes_per_second", "Bus bandwidth of large messages; null where no time depends on bytes.",
     from<known_bus_bandwidth>},
    {"median_relative_error", "Median of the absolute relative errors, without outliers.",
     member<&Fit::median_relative_error>},
    {"p90_relative_error", "90th percentile of the absolute relative errors, without outliers.",
     member<&Fit::p90_relative_error>},
};
constexpr FieldTable value_table = field_table<Fit>("fit_values", value_rows);

/// A fit with the measured times that its residuals refer to.
struct FitView {
    CommunicationFitAnswer const* answer;
    CommunicationFit const* fit;
    [[nodiscard]] std::vector<MeasuredResidual> residuals(bool outliers_only) const {
        std::vector<MeasuredResidual> all;
        for (FitResidual const& one : fit->residuals) {
            if (one.outlier || !outliers_only) { all.push_back({&answer->rows[one.row], &one}); }
        }
        return all;
    }
};
constexpr Field fit_rows[] = {
    {"id", "Name of the fit in its source; null where there is none.",
     [](FitView const& v) { return if_any(v.fit->id); }},
    {"system", "System that was measured.", [](FitView const& v) { return v.fit->system; }},
    {"*", "Group of measured times and its fit.", [](FitView const& v) -> CommunicationFit const& { return *v.fit; }},
    {"algorithm", "Algorithm; null where it is not known.", [](FitView const& v) { return if_any(v.fit->algorithm); }},
    {"protocol", "Protocol; null where it is not known.", [](FitView const& v) { return if_any(v.fit->protocol); }},
    {"data_type", "Type of the elements; null where it is not known.",
     [](FitView const& v) { return if_any(v.fit->data_type); }},
    {"segments", "Straight segments, by rising size.", [](FitView const& v) { return v.fit->segments; }},
    {"switch_points", "Sizes between the segments.", [](FitView const& v) { return v.fit->switches; }},
    {"relative_spread", "Standard deviation of the relative errors.",
     [](FitView const& v) { return v.fit->relative_spread; }},
    {"dip", "Sizes between which the bandwidth falls; null where it never does.",
     [](FitView const& v) { return v.fit->dip; }},
    {"notes", "Remarks on the fit, in words.", [](FitView const& v) { return remarks_of(*v.fit); }},
    {"outliers", "Measured times that did not move the fit.", [](FitView const& v) { return v.residuals(true); }},
    {"residuals", "Measured and fitted times, by rising size.", [](FitView const& v) { return v.residuals(false); }},
};
constexpr FieldTable fit_table = field_table<FitView>("communication_fit", fit_rows);
FieldTable const& field_table_of(FitView const*) { return fit_table; }

std::vector<FitView> fits_of(CommunicationFitAnswer const& answer) {
    std::vector<FitView> all;
    for (CommunicationFit const& fit : answer.result.fits) { all.push_back({&answer, &fit}); }
    return all;
}

// ---- links ------------------------------------------------------------------------------------------------------------

/// A rate whose upper end may be unbounded.
struct RateView {
    Fitted rate;
};
constexpr Field rate_rows[] = {
    {"value", "Fitted value.", [](RateView const& v) { return v.rate.value; }},
    {"low", "Lower end of its 90 % interval.", [](RateView const& v) { return v.rate.low; }},
    {"high", "Upper end of its 90 % interval; null where it is unbounded.",
     [](RateView const& v) { return v.rate.high > 0.0 ? std::optional{v.rate.high} : std::nullopt; }},
};
constexpr FieldTable rate_table = field_table<RateView>("fitted_rate", rate_rows);
FieldTable const& field_table_of(RateView const*) { return rate_table; }

constexpr Field contention_rows[] = {
    {"fit", "Index of the fit.", member<&Contention::fit>},
    {"factor", "Time of a byte over that in the reference.", member<&Contention::factor>},
};
constexpr FieldTable contention_table = field_table<Contention>("contention_factor", contention_rows);

std::vector<std::string> notes_of(FittedLevel const& level) {
    std::vector<std::string> all;
    for (LinkNote const& one : level.notes) { all.push_back(words_of(one)); }
    return all;
}

constexpr Field level_rows[] = {
    {"system", "System that was measured.", member<&FittedLevel::system>},
    {"level", "Level: scale_up inside a node, scale_out between nodes.",
     [](FittedLevel const& l) { return l.scale_out ? "scale_out" : "scale_up"; }},
    {"latency_seconds", "Latency of one message.", member<&FittedLevel::latency_seconds>},
    {"seconds_per_byte", "Time that each byte adds.", member<&FittedLevel::seconds_per_byte>},
    {"bandwidth_bytes_per_second", "Bandwidth of the link; null where no time depends on bytes.",
     [](FittedLevel const& l) {
         return l.bytes_per_second.value > 0.0 ? std::optional{RateView{l.bytes_per_second}} : std::nullopt;
     }},
    {"fits", "Indices of the fits that it rests on.", member<&FittedLevel::fits>},
    {"rows", "Measured times of these fits.", member<&FittedLevel::rows>},
    {"median_relative_error", "Median absolute relative error of closed forms with these constants.",
     member<&FittedLevel::median_relative_error>},
    {"contention_reference", "Index of the fit that contention is relative to; null without one.",
     member<&FittedLevel::reference>},
    {"contention", "Slowdown of bytes where groups share the link.", member<&FittedLevel::contention>},
    {"notes", "Remarks on the link, in words.", from<notes_of>},
};
constexpr FieldTable level_table = field_table<FittedLevel>("fitted_link", level_rows);

constexpr Field refused_rows[] = {
    {"*", "Link as it was fitted.", member<&RefusedLevel::level>},
    {"most_bytes_per_second", "Rate that an accelerator has by the nameplate.", member<&RefusedLevel::most>},
    {"machine", "Machine of the catalog whose nameplate it is; null where no NIC that is sold carries more.",
     [](RefusedLevel const& one) { return if_any(one.machine); }},
    {"reason", "Reason why the link is not used.", [](RefusedLevel const& one) { return words_of(one); }},
};
constexpr FieldTable refused_table = field_table<RefusedLevel>("refused_link", refused_rows);

constexpr Field skipped_rows[] = {
    {"system", "System that was measured.", member<&SkippedGroup::system>},
    {"collective", "Collective.", member<&SkippedGroup::collective>},
    {"ranks", "Ranks that took part.", member<&SkippedGroup::ranks>},
    {"nodes", "Nodes of these ranks.", member<&SkippedGroup::nodes>},
    {"rows", "Measured times.", member<&SkippedGroup::rows>},
    {"sizes", "Distinct sizes.", member<&SkippedGroup::sizes>},
    {"reason", "Reason why they were not fitted.", [](SkippedGroup const& one) { return words_of(one); }},
};
constexpr FieldTable skipped_table = field_table<SkippedGroup>("skipped_group", skipped_rows);

// ---- files ------------------------------------------------------------------------------------------------------------

constexpr Field file_rows[] = {
    {"file", "Name of the file.", member<&MeasuredFile::name>},
    {"format", "Format of the file; null where nothing could be used.",
     [](MeasuredFile const& f) { return if_any(f.format); }},
    {"lines", "Lines of the file.", member<&MeasuredFile::lines>},
    {"rows", "Measured times that were read.", member<&MeasuredFile::rows>},
    {"refusal", "Reason why nothing of it was used; null where something was.",
     [](MeasuredFile const& f) { return if_any(f.refusal); }},
    {"notes", "Assumptions of the reader, in words.", member<&MeasuredFile::notes>},
};
constexpr FieldTable file_table = field_table<MeasuredFile>("measured_file", file_rows);

std::vector<Issue> issues_of(CommunicationFitAnswer const& answer) {
    std::vector<Issue> all;
    for (MeasuredFile const& file : answer.files) { add_issues(all, file.issues, file.name); }
    return all;
}

constexpr Field answer_rows[] = {
    {"files", "Files of measured collectives.", member<&CommunicationFitAnswer::files>},
    {"fits", "Fits, one for each group of a system, collective, algorithm and number of ranks.", from<fits_of>},
    {"levels", "Links that closed forms of all fits of a level agree on.",
     [](CommunicationFitAnswer const& a) { return a.result.levels; }},
    {"refused", "Links whose fitted rate is above the nameplate.",
     [](CommunicationFitAnswer const& a) { return a.result.refused; }},
    {"skipped", "Groups that are too small to be fitted.",
     [](CommunicationFitAnswer const& a) { return a.result.skipped; }},
    {"issues", "Content of the files that was not used.", from<issues_of>},
    {"troubles", "Equal to issues, under its earlier name.", from<issues_of>},
    {"saved", "Calibration file that was written; null without --save.",
     [](CommunicationFitAnswer const& a) { return if_any(a.saved); }},
};
constexpr FieldTable answer_table = field_table<CommunicationFitAnswer>("communication_fits", answer_rows);

} // namespace

FieldTable const& field_table_of(MeasuredResidual const*) { return residual_table; }
FieldTable const& field_table_of(FittedRow const*) { return fitted_row_table; }
FieldTable const& field_table_of(CommunicationFit const*) { return value_table; }
FieldTable const& field_table_of(FittedSegment const*) { return segment_table; }
FieldTable const& field_table_of(SwitchPoint const*) { return switch_table; }
FieldTable const& field_table_of(BandwidthDip const*) { return dip_table; }
FieldTable const& field_table_of(Contention const*) { return contention_table; }
FieldTable const& field_table_of(FittedLevel const*) { return level_table; }
FieldTable const& field_table_of(RefusedLevel const*) { return refused_table; }
FieldTable const& field_table_of(SkippedGroup const*) { return skipped_table; }
FieldTable const& field_table_of(MeasuredFile const*) { return file_table; }
FieldTable const& field_table_of(CommunicationFitAnswer const*) { return answer_table; }

} // namespace fit
} // namespace headroom
