#include "headroom/fields.hpp"
#include "headroom/serving/queue.hpp"
#include "headroom/serving/queue_report.hpp"
#include "headroom/training/training_answers.hpp"

#include <cmath>
#include <string_view>

namespace headroom::serving {
namespace {

/// A time that a queue settles to; nothing where it grows without end.
std::optional<Seconds> settled(Seconds time) { return std::isfinite(time.base()) ? std::optional{time} : std::nullopt; }

} // namespace

FieldTable const& field_table_of(LoadPoint const*) {
    static constexpr Field rows[] = {
        {"arrivals_per_second", "Rate of requests.", member<&LoadPoint::arrivals_per_second>},
        {"stable", "Whether the servers keep up with it; else no time is known.",
         [](LoadPoint const& point) { return point.answer.stable; }},
        {"utilization", "Share of time that a server works.",
         [](LoadPoint const& point) { return point.answer.utilization; }, Unit{"share"}},
        {"throughput_per_second", "Rate of requests that are served.",
         [](LoadPoint const& point) { return point.answer.throughput_per_second; }},
        {"wait_seconds", "Mean wait.", [](LoadPoint const& point) { return settled(point.answer.wait); }},
        {"latency_seconds", "Mean time until served.",
         [](LoadPoint const& point) { return settled(point.answer.latency); }},
        {"p50_seconds", "Median time until served.", [](LoadPoint const& point) { return settled(point.p50); }},
        {"p99_seconds", "99th percentile of the time until served.",
         [](LoadPoint const& point) { return settled(point.p99); }},
    };
    static constexpr FieldTable table = field_table<LoadPoint>("load_point", rows);
    return table;
}

FieldTable const& field_table_of(Doubling const*) {
    static constexpr Field rows[] = {
        {"now", "The servers and the load of now.", member<&Doubling::now>},
        {"shared_line", "Twice the servers behind one line.", member<&Doubling::shared_line>},
        {"own_lines", "One of two lines, to which half of the requests go by chance.", member<&Doubling::own_lines>},
        {"twice_traffic", "Twice the servers and twice the load.", member<&Doubling::twice_traffic>},
        {"service_p99_seconds", "99th percentile of service alone.", member<&Doubling::service_p99>},
    };
    static constexpr FieldTable table = field_table<Doubling>("doubling", rows);
    return table;
}

FieldTable const& field_table_of(ServiceSamples const*) {
    static constexpr Field rows[] = {
        {"file", "The file.", member<&ServiceSamples::file>},
        {"count", "Number of samples.", [](ServiceSamples const& s) { return s.values.count(); }},
        {"unit", "Unit of the samples in the file.", member<&ServiceSamples::unit>},
        {"format", "Format in which the file was read.", member<&ServiceSamples::format>},
    };
    static constexpr FieldTable table = field_table<ServiceSamples>("service_samples", rows);
    return table;
}

namespace {

std::optional<double> finite(Seconds time) { return headroom::finite(time.base()); }
std::optional<std::string_view> words(std::string const& text) {
    return text.empty() ? std::nullopt : std::optional<std::string_view>{text};
}
std::optional<double> hourly(std::optional<DollarsPerSecond> const& price) {
    return price ? std::optional{price->base() * 3600.0} : std::nullopt;
}

// ---- the question -------------------------------------------------------------------------------------------------

struct LoadOf {
    QueueQuestion const& asked;
    [[nodiscard]] QueueLoad const& load() const { return asked.queue.load; }
};
FieldTable const& field_table_of(LoadOf const*) {
    static constexpr Field rows[] = {
        {"arrivals_per_second", "Rate of requests.", [](LoadOf const& q) { return q.load().arrivals_per_second; }},
        {"arrival_variation", "Squared coefficient of variation of the gaps between requests.",
         [](LoadOf const& q) { return q.load().arrival_variation; }},
        {"service_seconds", "Mean time of service.", [](LoadOf const& q) { return q.load().service; }},
        {"service_variation", "Squared coefficient of variation of the times of service.",
         [](LoadOf const& q) { return q.load().service_variation; }},
        {"service_samples", "Measured times of service; null where they were given by mean and variation.",
         [](LoadOf const& q) -> ServiceSamples const* { return q.asked.samples.get(); }},
    };
    static constexpr FieldTable table = field_table<LoadOf>("queue_load", rows);
    return table;
}

struct ShapeOfQueue {
    QueueQuestion const& asked;
    [[nodiscard]] QueueShape const& shape() const { return asked.queue.shape; }
};
FieldTable const& field_table_of(ShapeOfQueue const*) {
    static constexpr Field rows[] = {
        {"dispatch", "Line that a request goes to.", [](ShapeOfQueue const& q) { return q.asked.queue.dispatch; }},
        {"places", "Requests that wait or are served at most; null without a limit.",
         [](ShapeOfQueue const& q) { return q.shape().places; }},
        {"batch", "Requests that one replica serves together at most.",
         [](ShapeOfQueue const& q) { return q.shape().batch; }},
        {"batch_growth", "Share of a service by which each further request lengthens a batch.",
         [](ShapeOfQueue const& q) { return q.shape().batch_growth; }},
        {"price_dollars_per_hour", "Price of one replica.", [](ShapeOfQueue const& q) { return hourly(q.asked.price); },
         Unit{"$/h"}},
    };
    static constexpr FieldTable table = field_table<ShapeOfQueue>("queue_shape", rows);
    return table;
}

struct KeptObjective {
    LatencyObjective objective;
    std::optional<bool> kept;
};
FieldTable const& field_table_of(KeptObjective const*) {
    static constexpr Field rows[] = {
        {"quantile", "Share of requests that must keep it.", [](KeptObjective const& o) { return o.objective.q; }},
        {"latency_seconds", "Time in which they are to be served.",
         [](KeptObjective const& o) { return o.objective.latency; }},
        {"blocked", "Share of requests that may be turned away.",
         [](KeptObjective const& o) { return o.objective.blocked; }},
        {"kept", "Whether the answer keeps it.", member<&KeptObjective::kept>},
    };
    static constexpr FieldTable table = field_table<KeptObjective>("queue_objective", rows);
    return table;
}

} // namespace

// ---- rows ---------------------------------------------------------------------------------------------------------

FieldTable const& field_table_of(QueueRow const*) {
    using Row = QueueRow;
    static constexpr Field rows[] = {
        {"replicas", "Number of replicas.", member<&Row::replicas>},
        {"arrivals_per_second", "Rate of requests.", member<&Row::arrivals_per_second>},
        {"capacity_per_second", "Rate that the replicas serve at most.", member<&Row::capacity_per_second>},
        {"stable", "Whether the replicas keep up; else no time is known.",
         [](Row const& r) { return r.answer.stable; }},
        {"utilization", "Share of time that a replica works.", [](Row const& r) { return r.answer.utilization; },
         Unit{"share"}},
        {"wait_probability", "Share of requests that wait.", [](Row const& r) { return r.answer.wait_probability; }},
        {"wait_seconds", "Mean wait.", [](Row const& r) { return finite(r.answer.wait); }},
        {"latency_seconds", "Mean time until served.", [](Row const& r) { return finite(r.answer.latency); }},
        {"p50_seconds", "Median time until served.", [](Row const& r) { return finite(r.quantiles[0]); }},
        {"p90_seconds", "90th percentile of that time.", [](Row const& r) { return finite(r.quantiles[1]); }},
        {"p99_seconds", "99th percentile of that time.", [](Row const& r) { return finite(r.quantiles[2]); }},
        {"p999_seconds", "99.9th percentile of that time.", [](Row const& r) { return finite(r.quantiles[3]); }},
        {"throughput_per_second", "Rate that is served.", [](Row const& r) { return r.answer.throughput_per_second; }},
        {"blocked", "Share of requests that find no place.", [](Row const& r) { return r.answer.blocked; }},
        {"waiting", "Mean number of requests in line.",
         [](Row const& r) { return headroom::finite(r.answer.waiting); }},
        {"present", "Mean number of requests in line or served.",
         [](Row const& r) { return headroom::finite(r.answer.present); }},
        {"batch", "Mean number of requests that a replica serves together.",
         [](Row const& r) { return r.answer.batch; }},
        {"method",
         "Closed form, or simulation, that the means are from; percentiles of batches, of bounded queues and of "
         "several "
         "servers are approximate unless services are exponential.",
         [](Row const& r) { return r.answer.method; }},
        {"keeps_objective", "Whether the objective is kept.", member<&Row::keeps>},
        {"cost_dollars_per_hour", "Price of the replicas.", [](Row const& r) { return hourly(r.cost); }, Unit{"$/h"}},
        {"dollars_per_million_requests", "Price of the replicas over the requests served.",
         [](Row const& r) {
             return r.cost ? finite(Seconds{r.cost->base() / r.answer.throughput_per_second * 1e6}) : std::nullopt;
         },
         Unit{"$"}},
    };
    static constexpr FieldTable table = field_table<Row>("queue_row", rows);
    return table;
}

FieldTable const& field_table_of(QueueDoubling const*) {
    using D = QueueDoubling;
    static constexpr auto ratio = [](D const& d, double now, double then) {
        return d.now.answer.stable && d.same.answer.stable ? headroom::finite(then / now) : std::nullopt;
    };
    static constexpr Field rows[] = {
        {"now", "The replicas and the load of now.", member<&D::now>},
        {"same_traffic", "Twice the replicas under the same load.", member<&D::same>},
        {"two_lines", "One of two lines, to which half of the requests go by chance.", member<&D::two_lines>,
         Presence::if_any},
        {"one_line", "Twice the replicas behind one line.", member<&D::one_line>, Presence::if_any},
        {"twice_traffic", "Twice the replicas under twice the load.", member<&D::twice_traffic>},
        {"service_p99_seconds", "99th percentile of service alone.", member<&D::service_p99>},
        {"throughput_ratio", "Throughput of twice the replicas over that of now.",
         [](D const& d) { return ratio(d, d.now.answer.throughput_per_second, d.same.answer.throughput_per_second); }},
        {"latency_ratio", "Mean latency of twice the replicas over that of now.",
         [](D const& d) { return ratio(d, d.now.answer.latency.base(), d.same.answer.latency.base()); }},
        {"p99_ratio", "99th percentile of twice the replicas over that of now.",
         [](D const& d) { return ratio(d, d.now.p99().base(), d.same.p99().base()); }},
        {"verdict", "The effect of doubling in words.", member<&D::verdict>},
    };
    static constexpr FieldTable table = field_table<D>("queue_doubling", rows);
    return table;
}

// ---- simulations --------------------------------------------------------------------------------------------------

FieldTable const& field_table_of(SimulatedMean const*) {
    static constexpr Field rows[] = {
        {"value", "Mean of the run.", member<&SimulatedMean::value>},
        {"low", "Lower end of its 95 % interval.", member<&SimulatedMean::low>},
        {"high", "Upper end of its 95 % interval.", member<&SimulatedMean::high>},
    };
    static constexpr FieldTable table = field_table<SimulatedMean>("simulated_mean", rows);
    return table;
}

FieldTable const& field_table_of(ComparedMean const*) {
    static constexpr Field rows[] = {
        {"quantity", "The mean that is compared.", member<&ComparedMean::quantity>},
        {"unit", "Its unit.", member<&ComparedMean::unit>},
        {"closed_form", "Its value by closed form.", member<&ComparedMean::closed_form>},
        {"simulated", "Its simulated value.", [](ComparedMean const& m) { return m.simulated.value; }},
        {"low", "Lower end of the 95 % interval.", [](ComparedMean const& m) { return m.simulated.low; }},
        {"high", "Upper end of the 95 % interval.", [](ComparedMean const& m) { return m.simulated.high; }},
        {"within_interval", "Whether the closed form lies in the interval.",
         [](ComparedMean const& m) { return m.closed_form >= m.simulated.low && m.closed_form <= m.simulated.high; }},
        {"agrees", "Whether both agree within twice the interval or 2 %.", member<&ComparedMean::agrees>},
    };
    static constexpr FieldTable table = field_table<ComparedMean>("compared_mean", rows);
    return table;
}

FieldTable const& field_table_of(PercentileInterval const*) {
    static constexpr Field rows[] = {
        {"percentile", "Name of the percentile.", [](PercentileInterval const& i) { return percentile_name(i.q); }},
        {"low_seconds", "Lower end of its 95 % interval.", member<&PercentileInterval::low>},
        {"high_seconds", "Upper end of its 95 % interval.", member<&PercentileInterval::high>},
    };
    static constexpr FieldTable table = field_table<PercentileInterval>("percentile_interval", rows);
    return table;
}

FieldTable const& field_table_of(SimulationReport const*) {
    using S = SimulationReport;
    static constexpr Field rows[] = {
        {"duration_seconds", "Simulated time in which requests arrive.", member<&S::duration>},
        {"warm_up_seconds", "Time before it that is not counted.", member<&S::warm_up>},
        {"requests", "Requests that were served.", [](S const& s) { return s.run.requests; }},
        {"blocked", "Requests that were turned away.", [](S const& s) { return s.run.blocked; }},
        {"hedged", "Second copies of those that were served.", [](S const& s) { return s.run.hedged; }},
        {"events", "Simulated events.", [](S const& s) { return s.run.events; }},
        {"utilization", "Share of time that a replica works.", [](S const& s) { return s.run.utilization; }},
        {"wait_probability", "Share of requests that wait.", [](S const& s) { return s.run.wait_probability; }},
        {"wait_seconds", "Mean wait.", [](S const& s) { return s.run.wait_seconds; }},
        {"latency_seconds", "Mean time until served.", [](S const& s) { return s.run.latency_seconds; }},
        {"waiting", "Mean number of copies in line.", [](S const& s) { return s.run.waiting; }},
        {"p50_seconds", "Median time until served.", [](S const& s) { return s.quantiles[0]; }},
        {"p90_seconds", "90th percentile of that time.", [](S const& s) { return s.quantiles[1]; }},
        {"p99_seconds", "99th percentile of that time.", [](S const& s) { return s.quantiles[2]; }},
        {"p999_seconds", "99.9th percentile of that time.", [](S const& s) { return s.quantiles[3]; }},
        {"percentile_intervals", "95 % intervals of these percentiles.", member<&S::intervals>},
        {"compared", "Means against the closed form; none where there is no closed form.", member<&S::compared>},
        {"agrees", "Whether all of them agree.", member<&S::agrees>},
        {"notes", "Limits of the run, in words.", member<&S::notes>},
        {"verdict", "The comparison in words.", [](S const& s) { return words(s.verdict); }, Presence::if_any},
    };
    static constexpr FieldTable table = field_table<S>("queue_simulation", rows);
    return table;
}

FieldTable const& field_table_of(HedgingReport const*) {
    static constexpr Field rows[] = {
        {"delay_seconds", "Delay of the second copy.", member<&HedgingReport::delay>},
        {"copies_per_request", "Second copies over requests.", member<&HedgingReport::copies>},
        {"with", "The queue with second copies.", member<&HedgingReport::with>},
        {"without", "The queue without them.", member<&HedgingReport::without>},
        {"verdict", "The effect in words.", member<&HedgingReport::verdict>},
    };
    static constexpr FieldTable table = field_table<HedgingReport>("queue_hedging", rows);
    return table;
}

FieldTable const& field_table_of(ScaleChoice const*) {
    using S = ScaleChoice;
    static constexpr Field rows[] = {
        {"choice", "Faster machines, or more of them.", member<&S::scaling>},
        {"replicas", "Number of replicas.", [](S const& s) { return s.queue.shape.servers; }},
        {"service_seconds", "Mean time of service.", [](S const& s) { return s.queue.load.service; }},
        {"dispatch", "Line that a request goes to.", [](S const& s) { return s.queue.dispatch; }},
        {"stable", "Whether they keep up; else no time is known.", [](S const& s) { return s.answer.stable; }},
        {"utilization", "Share of time that a replica works.", [](S const& s) { return s.answer.utilization; },
         Unit{"share"}},
        {"wait_seconds", "Mean wait.", [](S const& s) { return finite(s.answer.wait); }},
        {"latency_seconds", "Mean time until served.", [](S const& s) { return finite(s.answer.latency); }},
        {"p50_seconds", "Median time until served.", [](S const& s) { return finite(s.p50); }},
        {"p99_seconds", "99th percentile of that time.", [](S const& s) { return finite(s.p99); }},
        {"method", "Closed form that the figures are from.", [](S const& s) { return s.answer.method; }},
    };
    static constexpr FieldTable table = field_table<S>("scale_choice", rows);
    return table;
}

// ---- the whole ----------------------------------------------------------------------------------------------------

std::vector<Issue> issues_of(QueueReport const& report) {
    std::vector<Issue> all;
    if (report.question.samples) { add_issues(all, report.question.samples->issues, report.question.samples->file); }
    return all;
}

FieldTable const& field_table_of(QueueReport const*) {
    using Q = QueueReport;
    static constexpr Field rows[] = {
        {"load", "Requests that arrive, and the time that serving one takes.",
         [](Q const& q) { return LoadOf{q.question}; }},
        {"shape", "Lines, places and batches of the replicas.", [](Q const& q) { return ShapeOfQueue{q.question}; }},
        {"issues", "Content of the file of service times that was not used, and rows with a fault.", from<issues_of>},
        {"complete", "Whether all was simulated; false after an interruption.", member<&Q::complete>},
        {"seed", "Seed of the simulation.", [](Q const& q) { return q.question.seed; }},
        {"answer", "The queue asked about.", member<&Q::answer>},
        {"rows", "Answers for other numbers of replicas under this load.", member<&Q::rows>},
        {"curve", "Answers for these replicas under other loads.", member<&Q::curve>},
        {"knee", "The load with the greatest throughput over latency.", member<&Q::knee>},
        {"doubling", "Twice the replicas.", member<&Q::doubling>},
        {"pooling", "Waits at this utilization with more and more replicas.", member<&Q::pooling>},
        {"objective", "The objective; null without one.",
         [](Q const& q) {
             auto const& asked = q.question.objective;
             return asked ? std::optional{KeptObjective{*asked, q.answer.keeps}} : std::nullopt;
         }},
        {"replicas_for_objective", "Fewest replicas that keep the objective.", member<&Q::fewest>},
        {"enough_replicas", "Replicas from which on the 99th percentile is within a tenth of the service's own.",
         member<&Q::enough>},
        {"simulation", "The queue simulated request by request.", member<&Q::simulation>},
        {"hedging", "Second copies, simulated.", member<&Q::hedging>},
        {"scale_up_or_out", "Faster machines against more of them, at the same price.", member<&Q::scale>},
        {"more_win_above_variation", "Variation of service above which more machines have the lower mean latency.",
         member<&Q::more_win_above>},
        {"scale_verdict", "That choice in words.", [](Q const& q) { return words(q.scale_verdict); }},
        {"assumptions", "Gaps of the question that were filled.", member<&Q::assumptions>},
        {"verdict", "The answer in words.", member<&Q::verdict>},
    };
    static constexpr FieldTable table = field_table<Q>("queue", rows);
    return table;
}

} // namespace headroom::serving
