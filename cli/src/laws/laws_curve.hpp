#pragma once

#include "laws/laws_report.hpp"

#include "headroom/step_curve.hpp"

namespace headroom::cli {

/// A step over the number of workers, and what is asked about it.
struct CurveQuestion {
    StepCurve curve;
    int k0 = 1;        ///< speedups are over this many workers
    bool timed = true; ///< else times are relative, or in units of the work
    std::vector<int> workers;
    double share = 0.9;
};

struct CurveRow {
    int workers = 1;
    Seconds step, compute, exposed;
    double speedup = 1.0; ///< over K0
    double over_one = 1.0;
    double efficiency = 1.0;          ///< speedup / (K / K0)
    double communication_share = 0.0; ///< of the step at this K
    double amdahl_of_s = 1.0;
    double weak_over_k0 = 1.0; ///< step of the problem that grows with the workers, over that on K0
    std::optional<double> gain;
};

/// The rows, and where the curve stops.
struct CurveResult {
    CurveQuestion question;
    std::vector<CurveRow> rows;
    Seconds step_at_k0;
    std::optional<double> ceiling_over_k0, ceiling_over_one, k_star;
    std::optional<std::int64_t> best, slower, for_90, for_share;
    std::optional<IndexPeak> index;
    std::optional<int> knee;
    double share_at_k0 = 0.0;
    /// Amdahl's own fraction, on one worker; empty where his law does not hold.
    std::optional<double> serial_fraction;
};

CurveResult result_of(CurveQuestion question);

/// A list that reaches past the curve's valley, or 90 % of its ceiling, unless --workers names one.
std::vector<int> read_curve_workers(Arguments const& arguments, StepCurve const& curve, int k0);

/// The keys that every curve has, from `rows` to `knee_workers`.
void add_curve_members(LawsAnswer& answer, CurveResult const& result);
Sheet curve_sheet(CurveResult const& result);

LawCurve law_curve_of(CurveResult const& result);
/// The figure; nothing for a list of one.
void add_curve_chart(LawsAnswer& answer, CurveResult const& result, std::string caption);

/// A step: "300 ms", or relative to K0 where no times were given.
std::string step_words(CurveResult const& result, Seconds step);

} // namespace headroom::cli
