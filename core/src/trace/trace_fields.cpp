#include "trace/seconds.hpp"

#include "headroom/trace/trace_report.hpp"

#include <vector>

namespace headroom::trace {

FieldTable const& field_table_of(Percentiles const*);
FieldTable const& field_table_of(DeviceShares const*);
FieldTable const& field_table_of(MeasuredSerial const*);
FieldTable const& field_table_of(Straggler const*);
FieldTable const& field_table_of(CollectiveSummary const*);
FieldTable const& field_table_of(ClockOffset const*);

namespace {

std::optional<double> above_zero(double value) { return value > 0.0 ? std::optional{value} : std::nullopt; }

// ---- all ranks together -----------------------------------------------------------------------------------------------

template <auto Member> constexpr auto percentile() {
    return [](Percentiles const& ns) { return seconds_from(ns.*Member); };
}
constexpr Field percentile_rows[] = {
    {"p50", "Median.", percentile<&Percentiles::p50>(), Unit{"s"}},
    {"p90", "90th percentile.", percentile<&Percentiles::p90>(), Unit{"s"}},
    {"p95", "95th percentile.", percentile<&Percentiles::p95>(), Unit{"s"}},
    {"p99", "99th percentile.", percentile<&Percentiles::p99>(), Unit{"s"}},
    {"max", "Maximum.", percentile<&Percentiles::max>(), Unit{"s"}},
};
constexpr FieldTable percentile_table = field_table<Percentiles>("trace_percentiles", percentile_rows);

constexpr Field device_share_rows[] = {
    {"compute", "Computation.", member<&DeviceShares::compute>, Unit{"share"}},
    {"exposed", "Communication that no computation hides.", member<&DeviceShares::exposed>, Unit{"share"}},
    {"memory", "Copies and fills alone.", member<&DeviceShares::memory>, Unit{"share"}},
    {"idle", "Nothing.", member<&DeviceShares::idle>, Unit{"share"}},
};
constexpr FieldTable device_share_table = field_table<DeviceShares>("device_shares", device_share_rows);

constexpr Field measured_serial_rows[] = {
    {"value", "Exposed communication over that and computation.", member<&MeasuredSerial::value>},
    {"at_workers", "Workers for which it holds.", member<&MeasuredSerial::at_workers>},
};
constexpr FieldTable measured_serial_table = field_table<MeasuredSerial>("measured_serial", measured_serial_rows);

constexpr Field expected_rows[] = {
    {"workers", "Number of workers.", member<&ExpectedSpeedup::workers>},
    {"speedup", "Speedup over the present number, if computation alone is shared out further.",
     member<&ExpectedSpeedup::speedup_over_now>},
    {"efficiency", "Speedup over the factor of workers.", member<&ExpectedSpeedup::efficiency>},
};
constexpr FieldTable expected_table = field_table<ExpectedSpeedup>("expected_speedup", expected_rows);

constexpr Field phase_rows[] = {
    {"phase", "Phase of the inference engine.", member<&PhaseSummary::kind>},
    {"steps", "Its steps.", member<&PhaseSummary::steps>},
    {"step_seconds", "Median step; of decode the time of a token.",
     [](PhaseSummary const& p) { return p.step_ns / 1e9; }},
    {"requests", "Mean number of requests of a step; null where it is not stated.",
     [](PhaseSummary const& p) { return above_zero(p.requests); }},
    {"tokens_per_second", "Tokens of all requests over the time of their steps; null where they are not stated.",
     member<&PhaseSummary::tokens_per_second>},
};
constexpr FieldTable phase_table = field_table<PhaseSummary>("inference_phase", phase_rows);

constexpr Field straggler_rows[] = {
    {"rank", "Number of the rank.", member<&Straggler::rank>},
    {"why", "Sign by which the rank is known, in words.", [](Straggler const& s) { return words_of(s); }},
    {"share", "Share of collectives in which it is last, or of computation above the median rank's.",
     member<&Straggler::share>},
    {"cost_seconds", "Time that the others waited for it, or that it computed more.", seconds<&Straggler::cost>},
};
constexpr FieldTable straggler_table = field_table<Straggler>("straggler", straggler_rows);

constexpr Field summary_rows[] = {
    {"name", "Collective operation.", member<&CollectiveSummary::name>},
    {"ranks", "Ranks of the group.", member<&CollectiveSummary::ranks>},
    {"bytes", "Size of the vector; null where it is not stated.",
     [](CollectiveSummary const& s) { return s.bytes > 0 ? std::optional{s.bytes} : std::nullopt; }},
    {"count", "Runs, each counted once for all ranks.", member<&CollectiveSummary::count>},
    {"seconds", "Sum of durations over runs and ranks.", seconds<&CollectiveSummary::seconds_of_ranks>},
    {"transfer_seconds", "Sum over runs of the time from the last arrival on; null where it is not known.",
     [](CollectiveSummary const& s) { return seconds_when(s.transfer > 0, s.transfer); }},
    {"bus_bandwidth_bytes_per_second", "Median bus bandwidth, waiting included.",
     member<&CollectiveSummary::bus_bandwidth>},
    {"transfer_bus_bandwidth_bytes_per_second", "Median bus bandwidth from the last arrival on.",
     member<&CollectiveSummary::transfer_bandwidth>},
};
constexpr FieldTable summary_table = field_table<CollectiveSummary>("traced_collective", summary_rows);

/// Differences of arrivals and ends of matched collectives.
struct Skew {
    CollectiveAnswer const* collectives;
};
constexpr Field skew_rows[] = {
    {"matched", "Collectives that were matched across ranks.",
     [](Skew const& s) { return s.collectives->matched.size(); }},
    {"unmatched", "Runs without a partner on another rank.", [](Skew const& s) { return s.collectives->unmatched; }},
    {"start_seconds", "Time from the first to the last arrival.",
     [](Skew const& s) { return s.collectives->start_skew_ns; }},
    {"end_seconds", "Time from the first to the last end.", [](Skew const& s) { return s.collectives->end_skew_ns; }},
};
constexpr FieldTable skew_table = field_table<Skew>("skew", skew_rows);
FieldTable const& field_table_of(Skew const*) { return skew_table; }

constexpr Field waiting_rows[] = {
    {"rank", "Number of the rank.", member<&RankWaiting::rank>},
    {"last", "Collectives to which it came last.", member<&RankWaiting::last>},
    {"waited_seconds", "Time that it waited for later ranks.", seconds<&RankWaiting::waited>},
    {"kept_waiting_seconds", "Time in which it alone was missing; overlapping waits count once.",
     seconds<&RankWaiting::kept_waiting>},
};
constexpr FieldTable waiting_table = field_table<RankWaiting>("rank_waiting", waiting_rows);

constexpr Field clock_rows[] = {
    {"rank", "Number of the rank.", member<&ClockOffset::rank>},
    {"offset_seconds", "Difference of its clock from that of the first rank.", seconds<&ClockOffset::offset>},
    {"spread_seconds", "Spread of the difference over collectives.", seconds<&ClockOffset::spread>},
    {"from_collectives", "Collectives that the difference follows from; 0 where the clock is taken as it is.",
     member<&ClockOffset::from>},
    {"corrected", "Whether times of the rank were moved.", member<&ClockOffset::corrected>},
};
constexpr FieldTable clock_table = field_table<ClockOffset>("clock_offset", clock_rows);

// ---- kernels ----------------------------------------------------------------------------------------------------------

/// A kernel of all ranks. Rows of a table of totals stand for many runs, so that single runs are not known.
struct KernelRow {
    NameTotal const* total;
    bool single;
};
constexpr Field kernel_rows[] = {
    {"name", "Name of the kernel.", [](KernelRow const& k) -> std::string const& { return k.total->name; }},
    {"kind", "Type of its work.", [](KernelRow const& k) { return k.total->kind; }},
    {"count", "Runs on all ranks.", [](KernelRow const& k) { return k.total->count; }},
    {"seconds", "Time of all runs.", [](KernelRow const& k) { return seconds_from(k.total->total); }},
    {"shortest_seconds", "Time of the shortest run.",
     [](KernelRow const& k) { return seconds_when(k.single, k.total->shortest); }},
    {"longest_seconds", "Time of the longest run.",
     [](KernelRow const& k) { return seconds_when(k.single, k.total->longest); }},
};
constexpr FieldTable kernel_table = field_table<KernelRow>("traced_kernel", kernel_rows);
FieldTable const& field_table_of(KernelRow const*) { return kernel_table; }

std::vector<KernelRow> listed_kernels(TraceReport const& report) {
    bool const single = knows_when(report.answer);
    std::vector<KernelRow> rows;
    for (NameTotal const& one : report.kernels) {
        if (rows.size() == report.question.top) { break; }
        rows.push_back({&one, single});
    }
    return rows;
}

struct ShapedRow {
    std::int64_t rank;
    ShapedKernel const* kernel;
    std::optional<double> of_roofline;

    [[nodiscard]] std::optional<double> rate(double amount) const {
        double const mean = mean_seconds(*kernel);
        return mean > 0.0 ? above_zero(amount / mean) : std::nullopt;
    }
};
constexpr Field shaped_rows[] = {
    {"rank", "Number of the rank.", [](ShapedRow const& k) { return k.rank; }},
    {"name", "Name of the kernel.", [](ShapedRow const& k) -> std::string const& { return k.kernel->name; }},
    {"shape", "Recorded shapes; null where a profiler counted the work.",
     [](ShapedRow const& k) { return if_known(k.kernel->shape); }},
    {"count", "Runs.", [](ShapedRow const& k) { return k.kernel->count; }},
    {"seconds", "Time of all runs.", [](ShapedRow const& k) { return seconds_from(k.kernel->total); }},
    {"flops", "Work of one run, the mean of all.", [](ShapedRow const& k) { return above_zero(k.kernel->flops); },
     Unit{"FLOP"}},
    {"bytes", "Traffic of one run, the mean of all.", [](ShapedRow const& k) { return above_zero(k.kernel->bytes); }},
    {"flops_per_second", "Work over time.", [](ShapedRow const& k) { return k.rate(k.kernel->flops); }},
    {"bytes_per_second", "Traffic over time.", [](ShapedRow const& k) { return k.rate(k.kernel->bytes); }},
    {"intensity", "Work over traffic.",
     [](ShapedRow const& k) {
         return k.kernel->bytes > 0.0 ? above_zero(k.kernel->flops / k.kernel->bytes) : std::nullopt;
     },
     Unit{"FLOP/B"}},
    {"of_roofline", "Least time on the roofline of --machine over the time taken.",
     [](ShapedRow const& k) { return k.of_roofline; }},
};
constexpr FieldTable shaped_table = field_table<ShapedRow>("shaped_kernel", shaped_rows);
FieldTable const& field_table_of(ShapedRow const*) { return shaped_table; }

std::vector<ShapedRow> shaped_kernels_of(TraceReport const& report) {
    std::vector<ShapedRow> rows;
    for (RankDigest const& rank : report.answer.ranks) {
        for (ShapedKernel const& one : rank.kernels) {
            auto const& machine = report.question.machine;
            rows.push_back({rank.rank, &one, machine ? share_of_roof(one, *machine) : std::nullopt});
        }
    }
    return rows;
}

// ---- the report -------------------------------------------------------------------------------------------------------

std::uint64_t issue_count(TraceReport const& report) { return count_of(report.answer.issues); }

std::vector<std::string> notes_of_report(TraceReport const& report) {
    std::vector<std::string> notes = report.answer.notes;
    notes.insert(notes.end(), report.answer.collectives.notes.begin(), report.answer.collectives.notes.end());
    return notes;
}

/// Getter of a member of the answer.
template <auto Member> constexpr auto answered() {
    return [](TraceReport const& report) -> auto const& { return report.answer.*Member; };
}
template <auto Member> constexpr auto of_collectives() {
    return [](TraceReport const& report) -> auto const& { return report.answer.collectives.*Member; };
}

constexpr Field larger_rows[] = {
    {"workers", "Number of workers.", member<&LargerRun::workers>},
    {"step_seconds", "Predicted step.", member<&LargerRun::step_seconds>},
    {"low_seconds", "Lower end of its 90 % interval.", member<&LargerRun::low_seconds>},
    {"high_seconds", "Upper end of its 90 % interval.", member<&LargerRun::high_seconds>},
    {"speedup", "Measured step over the predicted one, at the same batch.", member<&LargerRun::speedup>},
    {"efficiency", "Speedup over the factor of workers.", member<&LargerRun::efficiency>},
    {"why_not", "Reason for which it cannot run; null where it can.",
     [](LargerRun const& run) { return if_known(run.why_not); }},
};
constexpr FieldTable larger_table = field_table<LargerRun>("larger_run", larger_rows);

constexpr Field trace_report_rows[] = {
    {"verdict", "Sentences that say where the time goes.", member<&TraceReport::verdict>},
    {"complete", "Whether all files were read: false after an interruption, and where unread[] is not empty.",
     member<&TraceReport::complete>},
    {"workers", "Workers of the run.", answered<&TraceAnswer::workers>()},
    {"ranks", "Ranks, by number.", answered<&TraceAnswer::ranks>()},
    {"shares", "Shares of the device time of all ranks; null without times of day.",
     [](TraceReport const& report) { return device_shares_of(report.answer); }},
    {"serial_fraction", "Serial fraction of the run, and the number of workers that it belongs to.",
     answered<&TraceAnswer::serial>()},
    {"gamma", "Communication over computation.", answered<&TraceAnswer::gamma>()},
    {"waiting_share", "Share of communication in which ranks wait for late ones; null where it is not known.",
     [](TraceReport const& report) { return waiting_share(report.answer); }},
    {"gamma_without_waiting", "Communication over computation, waiting for late ranks left out.",
     [](TraceReport const& report) { return gamma_without_waiting(report.answer); }},
    {"overlap_fraction", "Share of communication that computation hides.", answered<&TraceAnswer::overlap_fraction>(),
     Unit{"share"}},
    {"speedup_ceiling", "Largest speedup of more workers over the present number.", answered<&TraceAnswer::ceiling>()},
    {"speedup_ceiling_over_one_worker", "Largest speedup of more workers over one.",
     answered<&TraceAnswer::ceiling_over_one_worker>()},
    {"expected_speedups", "Speedups at larger sizes, from the measured times alone.",
     answered<&TraceAnswer::expected>()},
    {"step_seconds", "Time of a step on its slowest rank; null without steps.", answered<&TraceAnswer::step_ns>()},
    {"phases", "Phases of an inference engine, where names of steps state them.", answered<&TraceAnswer::phases>()},
    {"stragglers", "Ranks that others wait for, by cost.", answered<&TraceAnswer::stragglers>()},
    {"collectives", "Collectives by name, size and group.", of_collectives<&CollectiveAnswer::summaries>()},
    {"skew", "Differences between ranks in matched collectives; null without any.",
     [](TraceReport const& report) {
         CollectiveAnswer const& collectives = report.answer.collectives;
         return collectives.matched.empty() ? std::nullopt : std::optional{Skew{&collectives}};
     }},
    {"waiting", "Waiting of each rank in matched collectives.", of_collectives<&CollectiveAnswer::waiting>()},
    {"clocks", "Differences of the ranks' clocks.", of_collectives<&CollectiveAnswer::clocks>()},
    {"critical_path", "Critical path of one step; null where it has no tasks.",
     [](TraceReport const& report) {
         auto const& path = report.answer.path;
         return path && path->tasks > 0 ? &*path : nullptr;
     }},
    {"kernels", "Kernels of all ranks, longest total first; as many as --top asks for.", from<listed_kernels>},
    {"shaped_kernels", "Kernels whose work is known.", from<shaped_kernels_of>},
    {"issues", "Faults of the input.", answered<&TraceAnswer::issues>()},
    {"issue_count", "Number of faults.", from<issue_count>},
    {"unread", "Files that could not be read, with the reason.", member<&TraceReport::unread>},
    {"left_out", "Files in the folders that are no traces, with the reason.", member<&TraceReport::left_out>},
    {"bytes_read", "Size of all files.", answered<&TraceAnswer::bytes_read>(), Unit{"B"}},
    {"text_bytes", "Size of all files after decompression.", answered<&TraceAnswer::text_bytes>()},
    {"events", "Events of all files.", answered<&TraceAnswer::events>()},
    {"notes", "Assumptions and limits, in words.", from<notes_of_report>},
    {"larger", "Predictions at twice, four and eight times the workers, calibrated by these traces (--plan).",
     member<&TraceReport::larger>},
    {"calibrated", "How the measured step moves the prediction, in words; null without --plan.",
     [](TraceReport const& report) { return if_known(report.calibrated); }},
    {"baseline", "Change from --baseline; null without it.", member<&TraceReport::baseline>},
};
constexpr FieldTable trace_report_table = field_table<TraceReport>("trace", trace_report_rows);

} // namespace

FieldTable const& field_table_of(Percentiles const*) { return percentile_table; }
FieldTable const& field_table_of(DeviceShares const*) { return device_share_table; }
FieldTable const& field_table_of(MeasuredSerial const*) { return measured_serial_table; }
FieldTable const& field_table_of(ExpectedSpeedup const*) { return expected_table; }
FieldTable const& field_table_of(PhaseSummary const*) { return phase_table; }
FieldTable const& field_table_of(Straggler const*) { return straggler_table; }
FieldTable const& field_table_of(CollectiveSummary const*) { return summary_table; }
FieldTable const& field_table_of(RankWaiting const*) { return waiting_table; }
FieldTable const& field_table_of(ClockOffset const*) { return clock_table; }
FieldTable const& field_table_of(LargerRun const*) { return larger_table; }
FieldTable const& field_table_of(TraceReport const*) { return trace_report_table; }

} // namespace headroom::trace
