#include "headroom/laws/laws_answers.hpp"

#include <string_view>

namespace headroom::laws {
namespace {

std::optional<Seconds> if_timed(bool timed, Seconds time) { return timed ? std::optional{time} : std::nullopt; }

constexpr Field curve_row_rows[] = {
    {"workers", "Number of workers K.", member<&CurveRow::workers>},
    {"step_seconds", "Time of a step; null where no times were given.",
     [](CurveRow const& row) { return if_timed(row.timed, row.step); }},
    {"step_units", "Time of a step in units of the work, or relative to K0; null where times were given.",
     [](CurveRow const& row) { return row.timed ? std::nullopt : std::optional{row.step.base()}; }},
    {"step_over_k0", "Time of a step over that on K0 workers.", member<&CurveRow::step_over_k0>},
    {"compute_seconds", "Computation of a step.", [](CurveRow const& row) { return if_timed(row.timed, row.compute); }},
    {"exposed_communication_seconds", "Communication that computation does not hide.",
     [](CurveRow const& row) { return if_timed(row.timed, row.exposed); }},
    {"communication_share", "Exposed communication over the step, at this K.", member<&CurveRow::communication_share>,
     Unit{"share"}},
    {"speedup", "Speedup over K0 workers.", member<&CurveRow::speedup>},
    {"speedup_over_one_worker", "Speedup over one worker.", member<&CurveRow::over_one>},
    {"efficiency", "Speedup over K0, over K / K0.", member<&CurveRow::efficiency>, Unit{"share"}},
    {"marginal_speedup_per_doubling", "Speedup of a doubling since the count before; null for the first count.",
     member<&CurveRow::gain>},
    {"serial_fraction", "Amdahl's serial fraction, on one worker; null where his law does not hold.",
     member<&CurveRow::serial_fraction>},
    {"amdahl_speedup", "Amdahl's speedup over one worker; null where his law does not hold.",
     [](CurveRow const& row) { return row.serial_fraction ? std::optional{row.over_one} : std::nullopt; }},
    {"amdahl_efficiency", "Amdahl's speedup over the number of workers; null where his law does not hold.",
     [](CurveRow const& row) {
         return row.serial_fraction ? std::optional{row.over_one / row.workers} : std::nullopt;
     }},
    {"gustafson_speedup",
     "Gustafson's speedup over one worker, by the share on K0; null where Amdahl's law does not hold.",
     member<&CurveRow::gustafson>},
    {"weak_step_over_k0", "Step of a problem that grows with the workers, over that on K0.",
     member<&CurveRow::weak_over_k0>},
    {"weak_efficiency", "Efficiency of a problem that grows with the workers.",
     [](CurveRow const& row) { return 1.0 / row.weak_over_k0; }},
    {"amdahl_of_s", "Index: the share at this K put into Amdahl's formula; it is no speedup.",
     member<&CurveRow::amdahl_of_s>},
};
constexpr FieldTable curve_row_table = field_table<CurveRow>("curve_row", curve_row_rows);

/// The curve in short.
struct SpeedupOverK0 {
    CurveRow const* row;
};

constexpr Field speedup_rows[] = {
    {"workers", "Number of workers.", [](SpeedupOverK0 const& s) { return s.row->workers; }},
    {"speedup", "Speedup over K0 workers.", [](SpeedupOverK0 const& s) { return s.row->speedup; }},
    {"step_seconds", "Time of a step; null where no times were given.",
     [](SpeedupOverK0 const& s) { return if_timed(s.row->timed, s.row->step); }},
    {"efficiency", "Speedup over K0, over K / K0.", [](SpeedupOverK0 const& s) { return s.row->efficiency; },
     Unit{"share"}},
};
constexpr FieldTable speedup_table = field_table<SpeedupOverK0>("speedup_over_k0", speedup_rows);
FieldTable const& field_table_of(SpeedupOverK0 const*) { return speedup_table; }

std::vector<SpeedupOverK0> speedups_over_k0(CurveAnswer const& answer) {
    std::vector<SpeedupOverK0> found;
    for (CurveRow const& row : answer.rows) { found.push_back({&row}); }
    return found;
}

std::vector<AmdahlCeiling> amdahl_ceilings(CurveAnswer const& answer) {
    if (!answer.serial_fraction) { return {}; }
    return {{.serial_fraction = *answer.serial_fraction,
             .ceiling = answer.ceiling_over_one,
             .for_90 = answer.for_90,
             .for_share = answer.for_share,
             .knee = answer.knee}};
}

template <class T> std::optional<T> index_part(CurveAnswer const& answer, T IndexPeak::*part) {
    return answer.index ? std::optional{(*answer.index).*part} : std::nullopt;
}

constexpr Field curve_rows[] = {
    {"k0", "Number of workers that speedups are over.", [](CurveAnswer const& a) { return a.question.k0; }},
    {"step_at_k0_seconds", "Time of a step on K0 workers; null where no times were given.",
     [](CurveAnswer const& a) { return if_timed(a.question.timed, a.step_at_k0); }},
    {"rows", "Step at each worker count.", member<&CurveAnswer::rows>},
    {"speedup_over_k0", "Speedup over K0 at each worker count.", from<speedups_over_k0>},
    {"ceiling_over_k0", "Speedup over K0 that no number of workers exceeds; null where there is none.",
     member<&CurveAnswer::ceiling_over_k0>},
    {"ceiling_over_one_worker", "Speedup over one worker that no number of workers exceeds; null where there is none.",
     member<&CurveAnswer::ceiling_over_one>},
    {"ceilings", "Amdahl's ceiling; empty where his law does not hold.", from<amdahl_ceilings>},
    {"share", "Share of the ceiling whose worker count is asked.",
     [](CurveAnswer const& a) { return a.question.share; }},
    {"smallest_k_with_90_percent_of_ceiling", "Smallest number of workers with 90 % of the ceiling.",
     member<&CurveAnswer::for_90>},
    {"largest_efficient_workers",
     "Largest number of workers with the efficiency that was asked, over K0; null where none was, or it has no end.",
     member<&CurveAnswer::most_efficient>},
    {"smallest_k_with_share_of_ceiling", "Smallest number of workers with the share of the ceiling that was asked for.",
     member<&CurveAnswer::for_share>},
    {"k_star", "Real number of workers with the shortest step; null where it gets shorter for ever.",
     member<&CurveAnswer::k_star>},
    {"best_workers", "Whole number of workers with the shortest step.", member<&CurveAnswer::best>},
    {"best_speedup_over_k0", "Speedup over K0 at the shortest step.",
     [](CurveAnswer const& a) { return a.best ? a.ceiling_over_k0 : std::nullopt; }},
    {"first_worker_count_where_the_step_gets_slower",
     "First number of workers whose step is slower than with one worker less.", member<&CurveAnswer::slower>},
    {"knee_workers", "Largest listed count whose last doubling gave at least 1.6x; null for a list of one.",
     member<&CurveAnswer::knee>},
    {"index_peaks_at_workers", "Real number of workers at the peak of the index; null where it has none.",
     [](CurveAnswer const& a) { return index_part(a, &IndexPeak::workers); }},
    {"index_peak_integer", "Whole number of workers at the peak of the index.",
     [](CurveAnswer const& a) { return index_part(a, &IndexPeak::integer); }},
    {"index_at_integer_peak", "Index at that whole number.",
     [](CurveAnswer const& a) { return index_part(a, &IndexPeak::value); }},
    {"decides", "Figure to decide by: the step, not the index.",
     [](CurveAnswer const&) { return std::string_view{"step_seconds"}; }},
};
constexpr FieldTable curve_table = field_table<CurveAnswer>("curve", curve_rows);

// ---- from a profile -----------------------------------------------------------------------------------------------

constexpr Field profile_rows[] = {
    {"compute_seconds", "Measured computation of a step; null for a share.",
     [](ProfileQuestion const& q) { return if_timed(q.timed, q.profile.compute); }},
    {"communication_seconds", "Measured communication of a step, hidden or not; null for a share.",
     [](ProfileQuestion const& q) { return if_timed(q.timed, q.profile.communication); }},
    {"at_workers", "Number of workers K0 that was profiled.",
     [](ProfileQuestion const& q) { return q.profile.workers.count(); }},
    {"growth", "Growth of communication with the workers: fixed, log or linear.", member<&ProfileQuestion::growth>},
    {"overlap", "Share of communication that may overlap with computation.", member<&ProfileQuestion::overlap>},
};
constexpr FieldTable profile_table = field_table<ProfileQuestion>("profile", profile_rows);

constexpr Field gain_rows[] = {
    {"from_workers", "Number of workers where the gain starts.", member<&MeasuredGain::from>},
    {"to_workers", "Number of workers where the gain ends.", member<&MeasuredGain::to>},
    {"speedup", "Measured speedup between them.", member<&MeasuredGain::gain>},
    {"profile_speedup", "Speedup between them by the profile.", member<&MeasuredGain::profile>},
    {"relative_error", "Speedup by the profile over the measured one, less 1.",
     [](MeasuredGain const& g) { return g.profile / g.gain - 1.0; }},
    {"tolerance", "Relative difference above which the two contradict each other.",
     [](MeasuredGain const&) { return gain_tolerance; }},
    {"contradicts", "Whether the measured gain contradicts the profile.", member<&MeasuredGain::contradicts>},
    {"super_linear", "Whether the measured gain is above the ratio of the worker counts.",
     member<&MeasuredGain::super_linear>},
    {"compute_alone_speedup", "Speedup if nothing were communicated on the smaller count.",
     member<&MeasuredGain::compute_alone>},
    {"share_at_k0_needed", "Share of communication at K0 that would give the measured gain; null where none would.",
     member<&MeasuredGain::share_needed>},
};
constexpr FieldTable gain_table = field_table<MeasuredGain>("measured_gain", gain_rows);

/// Amdahl's serial fraction with the worker count that it belongs to.
struct FractionOnOne {
    std::optional<double> value;
};

constexpr Field fraction_rows[] = {
    {"value", "Fraction of the step on one worker that does not divide; null where Amdahl's law does not hold.",
     [](FractionOnOne const& f) { return f.value; }},
    {"at_workers", "Number of workers that the fraction belongs to.", [](FractionOnOne const&) { return 1; }},
};
constexpr FieldTable fraction_table = field_table<FractionOnOne>("serial_fraction", fraction_rows);
FieldTable const& field_table_of(FractionOnOne const*) { return fraction_table; }

constexpr Field profile_answer_rows[] = {
    {"question", "Form of question that was asked.", [](ProfileAnswer const&) { return std::string_view{"profile"}; }},
    {"profile", "Measured step.", member<&ProfileAnswer::question>},
    {"share_at_k0", "Exposed communication over the step at K0; it is not Amdahl's serial fraction.",
     [](ProfileAnswer const& a) { return a.curve.share_at_k0; }},
    {"serial_fraction", "Amdahl's serial fraction, on one worker.",
     [](ProfileAnswer const& a) { return FractionOnOne{a.curve.serial_fraction}; }},
    {Field::inlined_name, "Step over the number of workers.", member<&ProfileAnswer::curve>},
    {"measured", "Measured gain, compared with the profile; null where none was given.",
     member<&ProfileAnswer::measured>},
    {"scale_up", "Comparison with one faster machine; null without --faster.", member<&ProfileAnswer::scale_up>},
};
constexpr FieldTable profile_answer_table = field_table<ProfileAnswer>("profile_answer", profile_answer_rows);

// ---- the best number of workers -----------------------------------------------------------------------------------

constexpr Field cost_rows[] = {
    {"unit", "Unit of the costs: seconds, or units of the work.",
     [](OptimumQuestion const& q) { return std::string_view{q.timed ? "seconds" : "units of work"}; }},
    {"work", "Work on one worker.", [](OptimumQuestion const& q) { return q.work.base(); }},
    {"per_level", "Cost of each level of a tree.", [](OptimumQuestion const& q) { return q.per_level.base(); }},
    {"per_worker", "Cost of each member of a chain.", [](OptimumQuestion const& q) { return q.per_worker.base(); }},
};
constexpr FieldTable cost_table = field_table<OptimumQuestion>("costs", cost_rows);

constexpr Field optimum_rows[] = {
    {"question", "Form of question that was asked.", [](OptimumAnswer const&) { return std::string_view{"optimum"}; }},
    {"costs", "Work and costs of synchronization.", member<&OptimumAnswer::question>},
    {"best_time", "Shortest time, in the unit of the costs.",
     [](OptimumAnswer const& a) { return least_step(a.curve.question.curve).base(); }},
    {Field::inlined_name, "Time over the number of workers.", member<&OptimumAnswer::curve>},
};
constexpr FieldTable optimum_table = field_table<OptimumAnswer>("optimum", optimum_rows);

} // namespace

FieldTable const& field_table_of(CurveRow const*) { return curve_row_table; }
FieldTable const& field_table_of(CurveAnswer const*) { return curve_table; }
FieldTable const& field_table_of(ProfileQuestion const*) { return profile_table; }
FieldTable const& field_table_of(MeasuredGain const*) { return gain_table; }
FieldTable const& field_table_of(ProfileAnswer const*) { return profile_answer_table; }
FieldTable const& field_table_of(OptimumQuestion const*) { return cost_table; }
FieldTable const& field_table_of(OptimumAnswer const*) { return optimum_table; }

} // namespace headroom::laws
