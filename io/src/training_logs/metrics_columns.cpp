#include "training_logs/metrics_columns.hpp"

#include "tables/cell_text.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <array>

namespace headroom::io {
namespace {

/// Names of a column, `normalised`, parted by blanks, the surest first; its scale to base units.
struct MetricsRow {
    std::string_view names;
    double scale = 1.0;
    StepFigure figure = StepFigure::seconds;
    bool unit_stated = true;
};

constexpr std::array step_rows{
    MetricsRow{"trainerglobalstep globalstep trainglobalstep optimizerstep optimizersteps optstep "
               "updatestep step iteration iter"}};
constexpr std::array micro_rows{MetricsRow{"microstep microbatch microbatchidx microiter batchidx iteration iter"}};
constexpr std::array time_rows{
    MetricsRow{
        "elapsedtimeperiterationms iterationtimems steptimems timeperstepms timemetricsendtoendms iterms itertimems "
        "msit msiter msstep timeperiterationms",
        1e-3},
    MetricsRow{
        "trainsteptiminginss steptimes trainsteptimes secondsperstep trainsteptiminginsec trainsteptimingins sit "
        "siter sstep secit itertimes iterationtimes timepersteps timemetricsendtoends steptimesec "
        "steptimeseconds itertimesec iterationtimesec iterationtimeseconds timeperiterations"},
    MetricsRow{"perfsteptime timingperstep iterationtime itertime steptime trainsteptime timeperstep timeperiteration "
               "trainiterationtime",
               1.0, StepFigure::seconds, false},
    MetricsRow{"throughputbatchespersec trainstepspersecond stepspersecond throughputdevicebatchespersec "
               "devicebatchespersec its iters stepss stepspersec iterationspersecond",
               1.0, StepFigure::steps_per_second},
    MetricsRow{"throughputtokenspersec tokenspersecond tokenspersec traintokenspersecond toks tokenss", 1.0,
               StepFigure::tokens_per_second},
    MetricsRow{"throughputdevicetokenspersec tokenspersecpergpu tokenspersecondpergpu deviceitemspersec throughputtps "
               "throughputdeviceitemspersec tpspergpu toksgpu tokenssgpu tokenspergpupersecond tokenspersecperdevice",
               1.0, StepFigure::tokens_per_second_per_accelerator},
    MetricsRow{"throughputsamplespersec trainsamplespersecond samplespersecond sampless samplespersec", 1.0,
               StepFigure::samples_per_second},
    MetricsRow{"devicesamplespersec throughputdevicesamplespersec samplessgpu", 1.0,
               StepFigure::samples_per_second_per_accelerator},
};
constexpr std::array clock_rows{MetricsRow{"runtime timestamp walltime relativetimeprocess time timetotal"}};
constexpr std::array memory_rows{
    MetricsRow{"maxmemoryallocated maxmemoryreserved cudamaxmemoryreserved"},
    MetricsRow{"memorymaxreservedgib memorymaxactivegib memorymaxallocatedgib", 1073741824.0},
    MetricsRow{"memorypeakreservedmem", 1e9},
};
constexpr std::array batch_rows{MetricsRow{"globalbatchsize batchsize"}};

/// Groups of metrics that say nothing about what is timed: "perf/step_time" is "step_time", "eval/step_time" is not.
constexpr std::array<std::string_view, 10> groups{"train", "training", "perf",   "performance", "throughput",
                                                  "time",  "timing",   "timers", "speed",       "metrics"};

bool names_it(std::string_view names, std::string_view name, int& rank) {
    for (rank = 0; !names.empty(); ++rank) {
        if (next_word(names) == name) { return true; }
    }
    return false;
}

/// The rank of a head among the names of a row; its group is left out where the whole is none of them.
bool row_has(MetricsRow const& row, std::string_view head, int& rank) {
    if (names_it(row.names, normalised(head), rank)) { return true; }
    auto const slash = head.find('/');
    bool const grouped =
        slash != std::string_view::npos && std::ranges::find(groups, normalised(head.substr(0, slash))) != groups.end();
    return grouped && row_has(row, head.substr(slash + 1), rank);
}

template <std::size_t size>
std::optional<MetricsName> found_in(std::array<MetricsRow, size> const& rows, std::string_view head) {
    int rank = 0;
    for (std::size_t r = 0; r < size; ++r) {
        if (row_has(rows[r], head, rank)) {
            return MetricsName{static_cast<int>(r) * 1000 + rank, rows[r].scale, rows[r].figure, rows[r].unit_stated};
        }
    }
    return std::nullopt;
}

} // namespace

std::optional<MetricsName> metrics_name(MetricsKind kind, std::string_view head) {
    head = metric_of(head);
    switch (kind) {
    case MetricsKind::step: return found_in(step_rows, head);
    case MetricsKind::micro: return found_in(micro_rows, head);
    case MetricsKind::time: return found_in(time_rows, head);
    case MetricsKind::clock: return found_in(clock_rows, head);
    case MetricsKind::memory: return found_in(memory_rows, head);
    case MetricsKind::batch: break;
    }
    return found_in(batch_rows, head);
}

std::string_view metric_of(std::string_view head) {
    auto const dash = head.rfind(run_mark);
    return dash == std::string_view::npos ? head : head.substr(dash + run_mark.size());
}

std::string_view run_of(std::string_view head) { return head.substr(0, std::min(head.rfind(run_mark), head.size())); }

bool is_extreme(std::string_view head) { return head.ends_with("__MIN") || head.ends_with("__MAX"); }

std::vector<std::string> runs_of(std::vector<std::string> const& heads) {
    std::vector<std::string> runs;
    for (std::string const& head : heads) {
        bool const of_run = head.find(run_mark) != head.npos && !is_extreme(head);
        bool const counts = of_run && (metrics_name(MetricsKind::time, head) || metrics_name(MetricsKind::clock, head));
        if (counts && std::ranges::find(runs, run_of(head)) == runs.end()) { runs.emplace_back(run_of(head)); }
    }
    return runs;
}

} // namespace headroom::io
