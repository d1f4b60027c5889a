#include "tail_views.hpp"

#include "headroom/serving/percentile.hpp"

namespace headroom::serving {

// ---- percentiles --------------------------------------------------------------------------------------------------

template <class V> FieldTable const& view_table(TailPercentile const*) {
    static constexpr Field rows[] = {
        {key<V>("value_seconds"), "The percentile; null where samples are too few for it.",
         get<V, &TailPercentile::value>},
        {key<V>("low_seconds"), "Lower end of its interval.", get<V, &TailPercentile::low>},
        {key<V>("high_seconds"), "Upper end of its interval.", get<V, &TailPercentile::high>},
        {"coverage", "Probability that the interval holds the percentile.", get<V, &TailPercentile::coverage>},
        {"samples_beyond", "Samples above the percentile.", get<V, &TailPercentile::samples_beyond>},
        {"samples_needed", "Independent samples for which the interval has two ends.",
         get<V, &TailPercentile::samples_needed>},
        {key<V>("corrected_seconds"), "The percentile with the requests put back that were never sent.",
         get<V, &TailPercentile::corrected>},
        {"stated", "Whether a report states it, without its samples.", get<V, &TailPercentile::stated>},
        {key<V>("known_low_seconds"),
         "Nearest smaller value that the file states; null where it states the percentile or holds samples.",
         get<V, &TailPercentile::known_low>},
        {key<V>("known_high_seconds"), "Nearest greater value that the file states; null as the smaller one.",
         get<V, &TailPercentile::known_high>},
    };
    static constexpr FieldTable table = field_table<V>(named<V>("tail_percentile", "tail_percentile_of_numbers"), rows);
    return table;
}
FieldTable const& field_table_of(TailPercentile const* of) { return view_table<TailPercentile>(of); }

/// By name: "p99.9".
template <class V> auto percentiles_by_name(TailPercentiles const& percentiles) {
    using Row = std::remove_cvref_t<decltype(nested<V>(percentiles.front()))>;
    std::vector<std::pair<std::string, Row>> rows;
    for (TailPercentile const& row : percentiles) { rows.emplace_back(percentile_name(row.q), nested<V>(row)); }
    return rows;
}

template <class V> FieldTable const& view_table(NamedPercentiles const*) {
    static constexpr Field rows[] = {
        {"name", "The file, trace or measurement.", get<V, &NamedPercentiles::name>},
        {"samples", "Number of its samples.", get<V, &NamedPercentiles::samples>},
        {"percentiles", "Its percentiles by name.",
         [](V const& view) { return percentiles_by_name<V>(View<V>::of(view).percentiles); }},
    };
    static constexpr FieldTable table = field_table<V>(named<V>("tail_each", "tail_each_of_numbers"), rows);
    return table;
}
FieldTable const& field_table_of(NamedPercentiles const* of) { return view_table<NamedPercentiles>(of); }

template <class V> FieldTable const& view_table(TailRow const*) {
    static constexpr Field rows[] = {
        {"samples", "The file, or \"all\".", get<V, &TailRow::samples>},
        {"percentile", "Name of the percentile.",
         [](V const& view) { return percentile_name(View<V>::of(view).row.q); }},
        {"quantile", "Share of samples up to it.", [](V const& view) { return View<V>::of(view).row.q; }},
        {"*", "The percentile.", get_nested<V, &TailRow::row>},
    };
    static constexpr FieldTable table = field_table<V>("tail_row", rows);
    return table;
}
FieldTable const& field_table_of(TailRow const* of) { return view_table<TailRow>(of); }

// ---- sources ------------------------------------------------------------------------------------------------------

template <class V> FieldTable const& view_table(LevelChange const*) {
    static constexpr Field rows[] = {
        {"at_seconds", "Start of the new level; null without times.", get<V, &LevelChange::at_seconds>},
        {"at_sample", "First sample of the new level; null with times.", get<V, &LevelChange::at_sample>},
        {key<V>("mean_before_seconds"), "Mean of the samples since the change before.", get<V, &LevelChange::before>},
        {key<V>("mean_after_seconds"), "Mean of the samples up to the next change.", get<V, &LevelChange::after>},
        {"probability", "Probability of so clear a change by chance.", get<V, &LevelChange::probability>},
    };
    static constexpr FieldTable table = field_table<V>(named<V>("level_change", "level_change_of_numbers"), rows);
    return table;
}
FieldTable const& field_table_of(LevelChange const* of) { return view_table<LevelChange>(of); }

FieldTable const& field_table_of(OmissionFinding const*) {
    static constexpr Field rows[] = {
        {"suspected", "Whether requests were sent late because an answer was.", member<&OmissionFinding::suspected>},
        {"interval_seconds", "Intended time between requests of a connection; null where it is not known.",
         [](OmissionFinding const& found) { return above_zero(found.interval); }},
        {"affected_samples", "Samples longer than the interval.", member<&OmissionFinding::affected>},
        {"missing_requests", "Requests that were not sent.", member<&OmissionFinding::missing>},
        {"why", "Evidence for it, or the reason why nothing is known.", member<&OmissionFinding::why>},
    };
    static constexpr FieldTable table = field_table<OmissionFinding>("omission", rows);
    return table;
}

FieldTable const& field_table_of(SlowRank const*) {
    static constexpr Field rows[] = {
        {"rank", "Number of the rank.", member<&SlowRank::rank>},
        {"slowest_steps", "Steps in which no other rank took longer.", member<&SlowRank::slowest>},
        {"probability", "Probability of so many by chance, corrected for all ranks.", member<&SlowRank::probability>},
        {"mean_seconds", "Mean time of its steps.", member<&SlowRank::mean_seconds>},
    };
    static constexpr FieldTable table = field_table<SlowRank>("slow_rank", rows);
    return table;
}

FieldTable const& field_table_of(SynchronousSteps const*) {
    static constexpr Field rows[] = {
        {"ranks", "Number of ranks.", member<&SynchronousSteps::ranks>},
        {"steps", "Steps that every rank has.", member<&SynchronousSteps::steps>},
        {"mean_seconds", "Mean time of one rank's step.", member<&SynchronousSteps::mean_seconds>},
        {"slowest_seconds", "Mean time of the slowest rank of each step.", member<&SynchronousSteps::slowest_seconds>},
        {"slowdown", "Time of the slowest rank over the mean time.", member<&SynchronousSteps::slowdown>},
        {"independent_slowdown", "Slowdown if each step of each rank were drawn anew.",
         member<&SynchronousSteps::independent_slowdown>},
        {"stragglers", "Ranks that are slowest more often than chance makes one.", member<&SynchronousSteps::slow>},
    };
    static constexpr FieldTable table = field_table<SynchronousSteps>("synchronous_steps", rows);
    return table;
}

template <class V> FieldTable const& view_table(TailSource const*) {
    static constexpr Field rows[] = {
        {"name", "The file, trace or measurement.", get<V, &TailSource::name>},
        {"format", "Format in which it was read.", get<V, &TailSource::format>},
        {"column", "Column of the values; null where there is none.",
         [](V const& view) { return if_known(View<V>::of(view).column); }},
        {"unit", "Unit of the values in the file.", get<V, &TailSource::unit>},
        {"unit_from", "Origin of that unit: header, cells, --unit, format or assumed.", get<V, &TailSource::unit_from>},
        {"samples", "Number of samples.", get<V, &TailSource::count>},
        {"rows", "Number of rows that were read.", get<V, &TailSource::rows>},
        {"histogram_error", "Relative error of the file's own cells; 0 where it holds samples.",
         get<V, &TailSource::histogram_error>},
        {"duration_seconds", "From the first to the last request; null without times.",
         [](V const& view) { return above_zero(View<V>::of(view).duration_seconds); }},
        {"independent_share", "Independent samples that one sample is worth.",
         [](V const& view) { return View<V>::of(view).worth.body; }},
        {"independent_tail_share", "Independent samples that one sample beyond the 99th percentile is worth.",
         [](V const& view) { return View<V>::of(view).worth.tail; }},
        {"times_backwards", "Times that are before the one that came before them.",
         get<V, &TailSource::times_backwards>},
        {"first_backwards", "Number of the first of those, from 0.", get<V, &TailSource::first_backwards>},
        {"omission", "Coordinated omission; null for plain numbers and steps of traces.",
         get<V, &TailSource::omission>},
        {"changes", "Lasting changes of the level.", get_nested<V, &TailSource::changes>},
        {"left_out", "Content that was not used, and rows with a fault.", get<V, &TailSource::issues>},
        {"steps", "Steps that all ranks of a trace took together.", get<V, &TailSource::steps>},
        {"notes", "Choices that were made while reading.", get<V, &TailSource::notes>},
    };
    static constexpr FieldTable table = field_table<V>(named<V>("tail_source", "tail_source_of_numbers"), rows);
    return table;
}
FieldTable const& field_table_of(TailSource const* of) { return view_table<TailSource>(of); }

// ---- samples ------------------------------------------------------------------------------------------------------

/// A figure of the samples; nothing without samples.
template <class V, class F> std::optional<double> of_samples(V const& view, F figure) {
    TailSet const& set = View<V>::of(view);
    return set.values.empty() ? std::nullopt : finite(figure(set));
}

template <class V> FieldTable const& view_table(TailSet const*) {
    static constexpr Field rows[] = {
        {"count", "Number of samples.", [](V const& view) { return View<V>::of(view).values.count(); }},
        {"stated_count", "Requests of a report that holds no samples and counts them; else null.",
         [](V const& view) {
             TailSet const& set = View<V>::of(view);
             bool const known = set.values.empty() && set.stated_count > 0;
             return known ? std::optional{set.stated_count} : std::nullopt;
         }},
        {key<V>("mean_seconds"), "Mean of the samples, or as the report states it.",
         [](V const& view) {
             TailSet const& set = View<V>::of(view);
             return set.values.empty() ? above_zero(set.stated_mean) : std::optional{set.mean()};
         }},
        {"squared_variation", "Squared coefficient of variation; null where the mean is 0.",
         [](V const& view) {
             return of_samples<V>(view, [](TailSet const& set) {
                 return set.values.variance() / (set.values.mean() * set.values.mean());
             });
         }},
        {key<V>("least_seconds"), "Least sample.",
         [](V const& view) { return of_samples<V>(view, [](TailSet const& set) { return set.values.least(); }); }},
        {key<V>("most_seconds"), "Greatest sample.",
         [](V const& view) { return of_samples<V>(view, [](TailSet const& set) { return set.values.most(); }); }},
        {"relative_error", "Error of every value but the least and the greatest.",
         [](V const& view) {
             return of_samples<V>(view, [](TailSet const&) { return LatencyHistogram::relative_error; });
         }},
        {"independent_share", "Independent samples that one sample is worth.",
         [](V const& view) { return of_samples<V>(view, [](TailSet const& set) { return set.worth.body; }); }},
        {"independent_tail_share", "Independent samples that one sample beyond the 99th percentile is worth.",
         [](V const& view) { return of_samples<V>(view, [](TailSet const& set) { return set.worth.tail; }); }},
        {"arrivals_per_second", "Rate of requests; null where a file has no times.",
         get<V, &TailSet::arrivals_per_second>},
    };
    static constexpr FieldTable table = field_table<V>(named<V>("tail_samples", "tail_samples_of_numbers"), rows);
    return table;
}
FieldTable const& field_table_of(TailSet const* of) { return view_table<TailSet>(of); }

template <class V> FieldTable const& view_table(SlowShare const*) {
    static constexpr Field rows[] = {
        {key<V>("threshold_seconds"), "Value above which a sample counts as slow.", get<V, &SlowShare::threshold>},
        {"share", "Share of samples above it.", get<V, &SlowShare::share>},
    };
    static constexpr FieldTable table = field_table<V>(named<V>("slow_share", "slow_share_of_numbers"), rows);
    return table;
}
FieldTable const& field_table_of(SlowShare const* of) { return view_table<SlowShare>(of); }

// ---- the whole ----------------------------------------------------------------------------------------------------

template <class V> FieldTable const& view_table(TailAnswer const*) {
    static constexpr Field rows[] = {
        {"unit", "Unit of the samples: seconds, or 1 for plain numbers, whose keys do not end in _seconds.",
         [](V const&) { return std::string_view{View<V>::times ? "seconds" : "1"}; }},
        {"verdict", "The answer in words.", get<V, &TailAnswer::verdict>},
        {"warnings", "Facts that make the figures less certain, in words.", get<V, &TailAnswer::warnings>},
        {"complete", "Whether all was read; false after an interruption.", get<V, &TailAnswer::complete>},
        {"issues", "Content of the files that was not used, and rows with a fault.",
         [](V const& view) { return issues_of(View<V>::of(view)); }},
        {"samples", "All samples together.", get_nested<V, &TailAnswer::set>},
        {"sources", "Files, traces and measurements that were read.",
         [](V const& view) -> decltype(auto) { return nested<V>(View<V>::of(view).set.sources); }},
        {"coverage", "Probability that intervals are to hold the percentile.",
         [](V const& view) { return View<V>::of(view).question.coverage; }},
        {"percentiles", "Percentiles of all samples by name.",
         [](V const& view) { return percentiles_by_name<V>(View<V>::of(view).set.percentiles); }},
        {"each", "Percentiles of each source; null unless they were asked for.",
         [](V const& view) {
             TailAnswer const& answer = View<V>::of(view);
             return answer.question.each ? std::optional{nested<V>(answer.each)} : std::nullopt;
         }},
        {"slow", "Share of slow samples; null without samples.", get_nested<V, &TailAnswer::slow>},
        {"fan_out", "The slowest of K workers, in the unit of the samples.", get_nested<V, &TailAnswer::fan_outs>},
        {"fits", "Fitted distributions; null unless they were asked for.",
         [](V const& view) {
             TailAnswer const& answer = View<V>::of(view);
             return answer.question.fit ? std::optional{nested<V>(answer.fits)} : std::nullopt;
         }},
        {"why_no_fit", "Reason why nothing was fitted.",
         [](V const& view) { return if_known(View<V>::of(view).why_no_fit); }},
        {"hedging", "Second copies of requests that have not come back; null without samples.",
         get_nested<V, &TailAnswer::hedging>},
        {"comparison", "The samples against those of the baseline.", get_nested<V, &TailAnswer::comparison>},
        {"replicas_for_slo", "Replicas that keep the objective.", get<V, &TailAnswer::slo>},
    };
    static constexpr FieldTable table = field_table<V>(named<V>("tail", "tail_of_numbers"), rows);
    return table;
}
FieldTable const& field_table_of(TailAnswer const* of) { return view_table<TailAnswer>(of); }

template FieldTable const& field_table_of(PlainNumbers<TailAnswer> const*);
template FieldTable const& field_table_of(PlainNumbers<TailRow> const*);

} // namespace headroom::serving
