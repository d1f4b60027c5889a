#include "tail_views.hpp"

#include "headroom/serving/percentile.hpp"

namespace headroom::serving {

// ---- the slowest of K ---------------------------------------------------------------------------------------------

FieldTable const& field_table_of(FanOut const*) {
    static constexpr Field rows[] = {
        {"workers", "Workers that one request, or step, waits for.",
         [](FanOut const& row) { return row.workers.count(); }},
        {"probability_slow", "Probability that at least one is slow.", member<&FanOut::probability_slow>},
        {"p50", "Median of the slowest.", member<&FanOut::p50>},
        {"p90", "90th percentile of the slowest.", member<&FanOut::p90>},
        {"p99", "99th percentile of the slowest.", member<&FanOut::p99>},
        {"p99.9", "99.9th percentile of the slowest.", member<&FanOut::p999>},
        {"mean", "Mean of the slowest.", get_finite<FanOut, &FanOut::mean>},
        {"slowdown", "Mean of the slowest over the mean of one.", get_finite<FanOut, &FanOut::slowdown>},
        {"beyond_samples", "Share of that mean that rests on more than the samples show.",
         member<&FanOut::beyond_samples>},
        {"p99_beyond_samples", "Whether the 99th percentile lies beyond all samples.",
         member<&FanOut::p99_beyond_samples>},
    };
    static constexpr FieldTable table = field_table<FanOut>("fan_out", rows);
    return table;
}

template <class V> FieldTable const& view_table(FittedFanOut const*) {
    static constexpr Field rows[] = {
        {"probability_slow", "Probability that at least one is slow.", get<V, &FittedFanOut::probability_slow>},
        {key<V>("p50_seconds"), "Median of the slowest.", get_finite<V, &FittedFanOut::p50>},
        {key<V>("p90_seconds"), "90th percentile of the slowest.", get_finite<V, &FittedFanOut::p90>},
        {key<V>("p99_seconds"), "99th percentile of the slowest.", get_finite<V, &FittedFanOut::p99>},
        {key<V>("p99.9_seconds"), "99.9th percentile of the slowest.", get_finite<V, &FittedFanOut::p999>},
        {key<V>("mean_seconds"), "Mean of the slowest; null where the tail has none.",
         get_finite<V, &FittedFanOut::mean>},
    };
    static constexpr FieldTable table = field_table<V>(named<V>("fitted_fan_out", "fitted_fan_out_of_numbers"), rows);
    return table;
}
FieldTable const& field_table_of(FittedFanOut const* of) { return view_table<FittedFanOut>(of); }

template <class V> FieldTable const& view_table(BackupWorkers const*) {
    static constexpr Field rows[] = {
        {"workers", "Workers, backups included.", [](V const& view) { return View<V>::of(view).workers.count(); }},
        {"backups", "Workers that nobody waits for.", get<V, &BackupWorkers::backups>},
        {key<V>("mean_seconds"), "Mean time until enough have come.", get<V, &BackupWorkers::mean>},
        {key<V>("p50_seconds"), "Median of that time.", get<V, &BackupWorkers::p50>},
        {key<V>("p99_seconds"), "99th percentile of that time.", get<V, &BackupWorkers::p99>},
        {"slowdown", "That mean over the mean of one worker.", get_finite<V, &BackupWorkers::slowdown>},
        {"useful_per_second", "Workers waited for, over the mean time.",
         get_finite<V, &BackupWorkers::useful_per_second>},
    };
    static constexpr FieldTable table = field_table<V>(named<V>("backup_workers", "backup_workers_of_numbers"), rows);
    return table;
}
FieldTable const& field_table_of(BackupWorkers const* of) { return view_table<BackupWorkers>(of); }

template <class V> FieldTable const& view_table(TailFanOut const*) {
    static constexpr Field rows[] = {
        {"*", "The slowest by the samples.", get<V, &TailFanOut::seen>},
        {"each_must_keep", "Quantile of each worker that is the 99th percentile of all.",
         get<V, &TailFanOut::each_must_keep>},
        {"fitted", "The slowest where a fitted distribution goes on beyond the samples.",
         get_nested<V, &TailFanOut::fitted>},
        {"backups", "Steps that go on before all have come.", get_nested<V, &TailFanOut::backups>},
        {"best_backups", "Number of backups with the most useful work a second.", get<V, &TailFanOut::best_backups>},
    };
    static constexpr FieldTable table = field_table<V>(named<V>("tail_fan_out", "tail_fan_out_of_numbers"), rows);
    return table;
}
FieldTable const& field_table_of(TailFanOut const* of) { return view_table<TailFanOut>(of); }

template <class V> FieldTable const& view_table(TailFit const*) {
    static constexpr auto of_tail = [](TailDistribution const& fitted, double value) {
        return fitted.family == TailFamily::pareto_tail ? std::optional{value} : std::nullopt;
    };
    static constexpr Field rows[] = {
        {"family", "Family of distributions.", [](V const& view) { return View<V>::of(view).distribution.family; }},
        {"a", "First coefficient.", [](V const& view) { return View<V>::of(view).distribution.a; }},
        {"a_error", "Standard error of a.", get_finite<V, &TailFit::a_error>},
        {"b", "Second coefficient.", [](V const& view) { return View<V>::of(view).distribution.b; }},
        {"b_error", "Standard error of b.", get_finite<V, &TailFit::b_error>},
        {"threshold", "Value beyond which a Pareto tail holds; null for families of all samples.",
         [](V const& view) {
             TailDistribution const& fitted = View<V>::of(view).distribution;
             return of_tail(fitted, fitted.threshold);
         }},
        {"share_beyond", "Share of samples beyond the threshold.",
         [](V const& view) {
             TailDistribution const& fitted = View<V>::of(view).distribution;
             return of_tail(fitted, fitted.share_beyond);
         }},
        {"aicc", "Corrected Akaike information criterion.", get_finite<V, &TailFit::aicc>},
        {"distance", "Distance of Kolmogorov and Smirnov.", get_finite<V, &TailFit::distance>},
        {"tail_error", "Largest relative error of the quantiles 0.9, 0.99 and on.",
         get_finite<V, &TailFit::tail_error>},
        {key<V>("p99.99_seconds"), "99.99th percentile of the fitted distribution.",
         [](V const& view) { return finite(View<V>::of(view).distribution.quantile(0.9999)); }},
    };
    static constexpr FieldTable table = field_table<V>(named<V>("tail_fit", "tail_fit_of_numbers"), rows);
    return table;
}
FieldTable const& field_table_of(TailFit const* of) { return view_table<TailFit>(of); }

// ---- second copies ------------------------------------------------------------------------------------------------

template <class V> FieldTable const& view_table(Hedge const*) {
    static constexpr Field rows[] = {
        {key<V>("delay_seconds"), "Delay of the second copy.", get<V, &Hedge::delay>},
        {"delay_quantile", "Quantile of the samples that the delay is.", get<V, &Hedge::delay_quantile>},
        {"extra_load", "Share of requests that are sent twice.", get<V, &Hedge::extra_load>},
        {"extra_work", "Share of busy time added where the slower copy runs to its end.", get<V, &Hedge::extra_work>},
        {"extra_work_cancelled", "Share of busy time added where the slower copy is stopped.",
         get<V, &Hedge::extra_work_cancelled>},
        {key<V>("mean_seconds"), "Mean until the first answer.", get<V, &Hedge::mean>},
        {key<V>("p50_seconds"), "Median until the first answer.", get<V, &Hedge::p50>},
        {key<V>("p99_seconds"), "99th percentile until the first answer.", get<V, &Hedge::p99>},
        {key<V>("p99.9_seconds"), "99.9th percentile until the first answer.", get<V, &Hedge::p999>},
    };
    static constexpr FieldTable table = field_table<V>(named<V>("hedge", "hedge_of_numbers"), rows);
    return table;
}
FieldTable const& field_table_of(Hedge const* of) { return view_table<Hedge>(of); }

template <class V> FieldTable const& view_table(HedgingAnswer const*) {
    static constexpr Field rows[] = {
        {"delays", "Second copies after several delays, the shortest first.", get_nested<V, &HedgingAnswer::delays>},
        {"best", "The one with the least 99th percentile.", get_nested<V, &HedgingAnswer::best>},
        {"tied", "Two copies of which the one that starts cancels the other, at its best.",
         get_nested<V, &HedgingAnswer::tied>},
    };
    static constexpr FieldTable table = field_table<V>(named<V>("hedging", "hedging_of_numbers"), rows);
    return table;
}
FieldTable const& field_table_of(HedgingAnswer const* of) { return view_table<HedgingAnswer>(of); }

// ---- two runs -----------------------------------------------------------------------------------------------------

template <class V> FieldTable const& view_table(QuantileChange const*) {
    static constexpr Field rows[] = {
        {"percentile", "Name of the percentile.", [](V const& view) { return percentile_name(View<V>::of(view).q); }},
        {key<V>("baseline_seconds"), "Its value in the baseline.", get<V, &QuantileChange::first>},
        {key<V>("value_seconds"), "Its value now.", get<V, &QuantileChange::second>},
        {"ratio", "Value over that of the baseline; null where that is 0.", get_finite<V, &QuantileChange::ratio>},
        {"low", "Lower end of the ratio's 95 % interval.", get_finite<V, &QuantileChange::low>},
        {"high", "Upper end of the ratio's 95 % interval.", get_finite<V, &QuantileChange::high>},
        {"probability", "Probability of so great a difference by chance, corrected for all percentiles.",
         get<V, &QuantileChange::probability>},
        {"moved", "Whether chance does not explain the difference.",
         [](V const& view) { return View<V>::of(view).probability < tail_significance; }},
    };
    static constexpr FieldTable table =
        field_table<V>(named<V>("percentile_change", "percentile_change_of_numbers"), rows);
    return table;
}
FieldTable const& field_table_of(QuantileChange const* of) { return view_table<QuantileChange>(of); }

template <class V> FieldTable const& view_table(BaselineComparison const*) {
    static constexpr Field rows[] = {
        {"baseline_samples", "Samples of the baseline.",
         [](V const& view) { return View<V>::of(view).baseline.values.count(); }},
        {"percentiles", "Percentiles for which both runs have samples.",
         [](V const& view) -> decltype(auto) { return nested<V>(View<V>::of(view).runs.quantiles); }},
        {"distance", "Distance of Anderson and Darling, normalised.",
         [](V const& view) { return finite(View<V>::of(view).runs.distance); }},
        {"probability", "Probability of so great a distance by chance.",
         [](V const& view) { return View<V>::of(view).runs.probability; }},
        {"larger", "Probability that a sample exceeds one of the baseline.",
         [](V const& view) { return View<V>::of(view).runs.larger; }},
        {"verdict", "The comparison in words.", get<V, &BaselineComparison::verdict>},
    };
    static constexpr FieldTable table = field_table<V>(named<V>("tail_comparison", "tail_comparison_of_numbers"), rows);
    return table;
}
FieldTable const& field_table_of(BaselineComparison const* of) { return view_table<BaselineComparison>(of); }

template FieldTable const& field_table_of(PlainNumbers<TailFanOut> const*);
template FieldTable const& field_table_of(PlainNumbers<TailFit> const*);
template FieldTable const& field_table_of(PlainNumbers<HedgingAnswer> const*);
template FieldTable const& field_table_of(PlainNumbers<BaselineComparison> const*);

} // namespace headroom::serving
