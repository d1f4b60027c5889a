#pragma once

#include "headroom/fields.hpp"
#include "headroom/laws/scale_up.hpp"
#include "headroom/laws/scaling_laws.hpp"
#include "headroom/laws/step_curve.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace headroom::laws {

// Answers of `headroom laws`, one for each form of question, with their field tables.

// ---- a curve of speedups ------------------------------------------------------------------------------------------

/// Speedup of each of several worker counts, in rising order of the counts.
struct SpeedupCurve {
    std::vector<int> workers = {};
    std::vector<double> speedup = {};
    std::optional<double> ceiling = {};
};

/// Speedup of a doubling between each count and the count before it; empty for the first.
std::vector<std::optional<double>> doubling_gains(SpeedupCurve const& curve);
/// Largest count whose last doubling still gave at least `knee_gain`; empty for a list of one.
std::optional<int> knee_of(SpeedupCurve const& curve);

// ---- default worker counts ----------------------------------------------------------------------------------------

/// Every doubling from 1 to at least `last`, at most 2^30, and `also`.
std::vector<int> doubling_workers(double last = 1024.0, int also = 1);
/// Doublings past the shortest step, or past 90 % of the ceiling.
std::vector<int> doubling_workers(StepCurve const& curve, int k0);
/// Doublings past the peak, or to half of the count where the law breaks down.
std::vector<int> doubling_workers(UniversalScalability const& law);

// ---- one faster machine against more machines -----------------------------------------------------------------------

struct ScaleUpQuestion {
    double factor = 1.0; ///< speed of the faster machine over that of a present one
    std::optional<DollarsPerSecond> faster_price = {}, price = {};
};

enum class UpOrOut { up, out, tie };
std::string_view name_of(UpOrOut choice);

/// One faster machine against K present ones.
struct ScaleUpRow {
    std::optional<double> serial_fraction = {};
    int workers = 1;
    double speedup = 1.0;
    UpOrOut faster = UpOrOut::tie;
    std::optional<UpOrOut> cheaper = {}; ///< empty without both prices
    double tie_price_ratio = 1.0; ///< price of the faster machine over a present one's where results cost the same
    std::optional<DollarsPerSecond> tie_price = {}, up_price = {},
                                    out_price = {}; ///< up and out: of an hour's work of one present machine
};

/// Smallest number of present machines that is as fast as the faster machine.
struct ScaleUpMatch {
    std::optional<double> serial_fraction = {};
    std::optional<std::int64_t> workers = {}; ///< empty where no number is
};

struct ScaleUp {
    ScaleUpQuestion question = {};
    std::vector<ScaleUpMatch> matches = {}; ///< of each curve
    std::vector<ScaleUpRow> rows = {};      ///< of each curve and count
};

/// Adds a curve of speedups over one worker to a comparison; `serial_fraction` names the curve.
void add_curve(ScaleUp& comparison, SpeedupCurve const& curve, ScaleUpMatch const& match);

// ---- from a serial fraction -----------------------------------------------------------------------------------------

struct SerialQuestion {
    std::vector<double> fractions = {};
    std::vector<int> workers = {};
    double share = 0.9;                       ///< of the ceiling, whose worker count is asked
    std::optional<double> memory_growth = {}; ///< exponent of Sun and Ni's law
    std::optional<double> efficiency = {};    ///< to hold on the fixed problem
    std::optional<ScaleUpQuestion> scale_up = {};
};

struct SerialRow {
    double serial_fraction = 0.0;
    int workers = 1;
    double amdahl = 1.0, gustafson = 1.0;
    std::optional<double> sun_ni = {}, share_of_ceiling = {}, gain = {};
};

/// Ceiling of Amdahl's law and the worker counts on the way to it.
struct AmdahlCeiling {
    double serial_fraction = 0.0;
    std::optional<double> ceiling = {};
    std::optional<std::int64_t> for_90 = {}, for_share = {};
    std::optional<int> knee = {};
    std::optional<std::int64_t> most_efficient = {}; ///< largest count with the efficiency that was asked
};

struct SerialAnswer {
    SerialQuestion question = {};
    std::vector<SerialRow> rows = {};
    std::vector<AmdahlCeiling> ceilings = {}; ///< of each fraction
    std::vector<SpeedupCurve> curves = {};    ///< of Amdahl's law, of each fraction
    std::optional<ScaleUp> scale_up = {};
};
SerialAnswer speedups_of(SerialQuestion const& question);

// ---- a step over the number of workers ------------------------------------------------------------------------------

struct CurveQuestion {
    StepCurve curve;
    int k0 = 1;        ///< speedups are over this many workers
    bool timed = true; ///< else times are relative, or in units of the work
    std::vector<int> workers;
    double share = 0.9;                    ///< of the ceiling, whose worker count is asked
    std::optional<double> efficiency = {}; ///< to hold, over K0
};

struct CurveRow {
    int workers = 1;
    bool timed = true;
    Seconds step = {}, compute = {}, exposed = {};
    double step_over_k0 = 1.0;
    double speedup = 1.0; ///< over K0
    double over_one = 1.0;
    double efficiency = 1.0;          ///< speedup / (K / K0)
    double communication_share = 0.0; ///< of the step at this K
    double amdahl_of_s = 1.0;
    double weak_over_k0 = 1.0; ///< step of the problem that grows with the workers, over that on K0
    std::optional<double> gain = {};
    std::optional<double> serial_fraction = {}; ///< Amdahl's, on one worker; empty where his law does not hold
    std::optional<double> gustafson = {};
};

/// Steps over the worker counts, and the count at which adding workers stops to help.
struct CurveAnswer {
    CurveQuestion question = {};
    std::vector<CurveRow> rows = {};
    Seconds step_at_k0 = {};
    std::optional<double> ceiling_over_k0 = {}, ceiling_over_one = {}, k_star = {};
    std::optional<std::int64_t> best = {}, slower = {}, for_90 = {}, for_share = {};
    std::optional<std::int64_t> most_efficient = {}; ///< largest count with the efficiency that was asked
    std::optional<IndexPeak> index = {};
    std::optional<int> knee = {};
    double share_at_k0 = 0.0;                    ///< exposed communication over the step
    std::optional<double> serial_fraction = {};  ///< Amdahl's, on one worker; empty where his law does not hold
    [[nodiscard]] SpeedupCurve speedups() const; ///< over K0
};
CurveAnswer steps_of(CurveQuestion question);

/// A gain that was measured between two worker counts, compared with that of a profile.
struct MeasuredGain {
    int from = 1, to = 1;
    double gain = 1.0;    ///< T(from) / T(to), measured
    double profile = 1.0; ///< T(from) / T(to) of the curve
    bool contradicts = false;
    bool super_linear = false;               ///< more than to / from
    double compute_alone = 1.0;              ///< T(from) / T(to) if nothing were communicated on `from` workers
    std::optional<double> share_needed = {}; ///< communication at K0 that would give this gain, if it kept its size
};
/// Relative difference above which a measured gain and a profile contradict each other.
inline constexpr double gain_tolerance = 0.1;
MeasuredGain measured_gain(CurveAnswer const& answer, int from, int to, double gain);

struct ProfileQuestion {
    Profile profile;
    bool timed = true; ///< else the profile is a share of the step
    Growth growth = Growth::fixed;
    double overlap = 0.0;
};

struct ProfileAnswer {
    ProfileQuestion question;
    CurveAnswer curve = {};
    std::optional<MeasuredGain> measured = {};
    std::optional<ScaleUp> scale_up = {};
};
/// Compares a faster machine with the profiled ones.
ScaleUp scale_up_of(CurveAnswer const& answer, ScaleUpQuestion const& question);

/// Work and costs of synchronization, all as times or all as plain numbers of one unit.
struct OptimumQuestion {
    Seconds work = {}, per_level = {}, per_worker = {};
    bool timed = false;
};

struct OptimumAnswer {
    OptimumQuestion question = {};
    CurveAnswer curve = {};
};

// ---- Universal Scalability Law --------------------------------------------------------------------------------------

struct UslQuestion {
    UniversalScalability law = {};
    std::vector<int> workers = {}; ///< below `usl_breaks_at`
    double share = 0.9;
    std::optional<double> efficiency = {}; ///< to hold
    std::optional<ScaleUpQuestion> scale_up = {};
};

struct UslRow {
    int workers = 1;
    double throughput = 1.0, speedup = 1.0;
    std::optional<double> gain = {};
};

struct UslAnswer {
    UslQuestion question = {};
    SpeedupCurve curve = {};
    std::optional<double> peak = {}, breaks_at = {};
    std::optional<std::int64_t> best = {}, for_share = {}, for_90 = {};
    std::optional<std::int64_t> most_efficient = {}; ///< largest count with the efficiency that was asked
    std::vector<UslRow> rows = {};
    std::optional<ScaleUp> scale_up = {};
};
UslAnswer speedups_of(UslQuestion const& question);

// ---- from measured speedups -------------------------------------------------------------------------------------------

/// Change of the serial fraction with the workers: unknown of fewer than two counts, unclear where it scatters.
enum class FractionTrend { unknown, flat, rising, falling, unclear };
std::string_view name_of(FractionTrend trend);

/// Serial fraction that was measured at a count.
struct FractionPoint {
    double workers = 1.0, fraction = 0.0;
};
/// Trend of serial fractions, by their least-squares line over log2 K. Flat where the line changes by at most a tenth of its larger end.
/// Else rising or falling where at least 3/4 of the pairs of points agree: P(a pair is in order) = (1 + Kendall's tau) / 2.
/// Source: [KarpFlatt1990], [Kendall1938]
FractionTrend trend_of(std::span<FractionPoint const> points);

struct KarpFlattRow {
    int workers = 1;
    double speedup = 1.0;
    std::optional<double> serial_fraction = {};
    int over = 1; ///< number of workers that the speedup is over
    /// Speedup over the ideal one.
    [[nodiscard]] double efficiency() const { return speedup * over / workers; }
    [[nodiscard]] bool super_linear() const { return efficiency() > 1.0 + 1e-12; }
};

struct KarpFlattAnswer {
    std::vector<KarpFlattRow> rows = {}; ///< in rising order of the workers
    FractionTrend trend = FractionTrend::unknown;
};
/// Serial fractions of measured speedups; the fractions of `measured` are filled in. Speedups are over one worker, unless that
/// of the smallest count is 1, within 2 %: then they are over that count.
KarpFlattAnswer serial_fractions(std::vector<KarpFlattRow> measured);

// ---- isoefficiency ------------------------------------------------------------------------------------------------

struct IsoefficiencyQuestion {
    std::vector<OverheadTerm> overhead = {};
    std::string text = {}; ///< of the overhead, as it was given
    double efficiency = 0.8;
    std::vector<int> workers = {};
    std::optional<double> work = {}; ///< of a problem that keeps its size
};

struct IsoefficiencyRow {
    int workers = 1;
    std::optional<double> work = {}, growth = {}, overhead = {}, speedup = {},
                          time = {};             ///< to hold the efficiency; growth: for a doubling of K
    std::optional<double> given_efficiency = {}; ///< of the problem that keeps its size
};

struct IsoefficiencyAnswer {
    IsoefficiencyQuestion question = {};
    std::vector<IsoefficiencyRow> rows = {};
    std::optional<std::int64_t> largest_efficient_workers = {}; ///< of the problem that keeps its size
};
IsoefficiencyAnswer work_to_hold(IsoefficiencyQuestion question);

// ---- field tables ---------------------------------------------------------------------------------------------------

FieldTable const& field_table_of(ScaleUpRow const*);
FieldTable const& field_table_of(ScaleUpMatch const*);
FieldTable const& field_table_of(ScaleUp const*);
FieldTable const& field_table_of(SerialRow const*);
FieldTable const& field_table_of(AmdahlCeiling const*);
FieldTable const& field_table_of(SerialAnswer const*);
FieldTable const& field_table_of(CurveRow const*);
FieldTable const& field_table_of(CurveAnswer const*);
FieldTable const& field_table_of(MeasuredGain const*);
FieldTable const& field_table_of(ProfileQuestion const*);
FieldTable const& field_table_of(ProfileAnswer const*);
FieldTable const& field_table_of(OptimumQuestion const*);
FieldTable const& field_table_of(OptimumAnswer const*);
FieldTable const& field_table_of(UniversalScalability const*);
FieldTable const& field_table_of(UslRow const*);
FieldTable const& field_table_of(UslAnswer const*);
FieldTable const& field_table_of(KarpFlattRow const*);
FieldTable const& field_table_of(KarpFlattAnswer const*);
FieldTable const& field_table_of(OverheadTerm const*);
FieldTable const& field_table_of(IsoefficiencyRow const*);
FieldTable const& field_table_of(IsoefficiencyAnswer const*);

} // namespace headroom::laws
