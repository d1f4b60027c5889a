#include "step_report.hpp"

#include "headroom/document/fields.hpp"
#include "headroom/laws/laws.hpp"
#include "headroom/network/collective.hpp"
#include "headroom/quantity.hpp"
#include "headroom/training/prediction.hpp"

#include <algorithm>
#include <cstdio>

namespace headroom::step_example {

using namespace headroom::laws;
using namespace headroom::network;
using namespace headroom::training;

FieldTable const& field_table_of(StepProfile const*);
FieldTable const& field_table_of(StepProfile::Mark const*);
FieldTable const& field_table_of(PredictedStep const*);

namespace {

template <class... Values> std::string printed(char const* form, Values... values) {
    char text[160];
    std::snprintf(text, sizeof text, form, values...);
    return text;
}
std::string seconds(double value) { return format(Seconds{value}); }
std::string plural(std::size_t count, std::string const& word) {
    return std::to_string(count) + ' ' + word + (count == 1 ? "" : "s");
}

/// The words that a run and a prediction have in common.
std::string opening_text(Options const& options, StepProfile const& profile) {
    NetworkShape const& shape = profile.shape;
    return format_count(static_cast<double>(shape.parameters())) + " parameters (" + plural(shape.layers, "layer") +
           " of width " + std::to_string(shape.hidden) + "), " + (profile.is_double ? "double" : "single") +
           " precision\n" + std::to_string(options.batch) +
           (options.local_batch ? " sequences of each worker, " : " sequences in all, ") +
           std::to_string(shape.sequence) + " tokens each\n";
}

/// Ratios of the medians of steps that ran.
struct Ratios {
    double gamma;        ///< all-reduce over computing
    double serial_share; ///< (exposed all-reduce + optimizer) / step: Amdahl's share on these workers
};

Ratios ratios_of(RunResult const& result, int workers) {
    double const passes = result.median(forward) + result.median(backward), update = result.median(optimizer);
    Profile const parts{.compute = Seconds{passes},
                        .communication = Seconds{result.median(exposed) + update},
                        .workers = Ranks{workers}};
    return {
        communication_to_computation(Seconds{workers > 1 ? result.median(all_reduce) : 0.0}, Seconds{passes + update}),
        serial_share_at(parts, Ranks{workers})};
}

double least_step(RunResult const& result) {
    double least = result.steps.front()[whole_step];
    for (PhaseTimes const& one : result.steps) { least = std::min(least, one[whole_step]); }
    return least;
}

std::string run_text(Options const& options, RunResult const& result, int workers) {
    auto const ratios = ratios_of(result, workers);
    std::string text = opening_text(options, result.profile) + plural(static_cast<std::size_t>(workers), "worker") +
                       (options.replay.empty() ? "" : ", computing replayed") + "\n\n";
    auto const row = [&](std::string const& name, std::string const& value, std::string const& words = {}) {
        text += printed("  %-20s%10s%s", name.c_str(), value.c_str(), words.empty() ? "" : "  ") + words + '\n';
    };
    row("forward", seconds(result.median(forward)));
    row("backward", seconds(result.median(backward)));
    if (workers > 1) {
        row("exposed all-reduce", seconds(result.median(exposed)),
            "of " + seconds(result.median(all_reduce)) + "; " + plural(result.buckets, "bucket") +
                (options.all_reduce() == AllReduce::ring ? ", ring" : ", MPI's") +
                (options.overlap ? ", overlapping" : ", after backward"));
    }
    row("optimizer", seconds(result.median(optimizer)));
    row("step", seconds(result.median(whole_step)),
        "median of " + std::to_string(result.steps.size()) + ", least " + seconds(least_step(result)));
    if (workers > 1) { row("gamma", printed("%.3g", ratios.gamma), "all-reduce over computing"); }
    row("s on " + std::to_string(workers), printed("%.3g %%", 100.0 * ratios.serial_share),
        workers > 1 ? "of the step: exposed all-reduce and optimizer" : "of the step: optimizer");
    if (!result.losses.empty()) {
        row("loss", printed("%.4f", result.losses.front()), printed("at first, %.4f at last", result.losses.back()));
    }
    return text + printed("step_seconds = %.9g\n", result.median(whole_step));
}

std::string check_text(RunResult const& result, int workers) {
    bool const is_double = result.profile.is_double;
    return plural(static_cast<std::size_t>(workers), "worker") +
           printed(" against one process, %zu steps, %s precision\n"
                   "losses differ by %.2g, gradients by %.2g, rounding explains %.0g\ncheck = %s\n",
                   result.losses.size(), is_double ? "double" : "single", result.loss_difference,
                   result.gradient_difference, allowed_difference(is_double), agrees(result) ? "passed" : "failed");
}

// ---- for programs -------------------------------------------------------------------------------------------------------

constexpr Field model_rows[] = {
    {"layers", "Number of residual layers.", [](StepProfile const& p) { return p.shape.layers; }},
    {"hidden", "Width of the layers.", [](StepProfile const& p) { return p.shape.hidden; }},
    {"sequence", "Tokens of a sequence.", [](StepProfile const& p) { return p.shape.sequence; }},
    {"parameters", "Number of parameters.", [](StepProfile const& p) { return p.shape.parameters(); }},
    {"gradient_bytes", "Gradients that are added up in a step.",
     [](StepProfile const& p) { return p.gradient_bytes(); }},
};
constexpr FieldTable model_table = field_table<StepProfile>("model", model_rows);

/// Fields of a run and a prediction alike.
struct Opening {
    char const* kind;
    Options const* options;
    StepProfile const* profile;
};
constexpr Field opening_rows[] = {
    {"schema", "Name and version of this format.", [](Opening const&) { return "headroom.training-step/2"; }},
    {"kind", "Source of the times: run, replay (computing was slept) or prediction.", member<&Opening::kind>},
    {"model", "Network that is trained.", [](Opening const& o) -> StepProfile const& { return *o.profile; }},
    {"precision", "Precision of parameters and gradients: single or double.",
     [](Opening const& o) { return o.profile->is_double ? "double" : "single"; }},
    {"batch", "Sequences of a step.", [](Opening const& o) { return o.options->batch; }},
    {"batch_is_of", "Workers that share the batch: all workers (strong scaling) or each worker (weak).",
     [](Opening const& o) { return o.options->local_batch ? "each worker" : "all workers"; }},
    {"bucket_bytes", "Most gradients that are added up at a time.",
     [](Opening const& o) { return o.options->bucket_bytes; }},
    {"overlap", "Whether buckets are added up during the backward pass.",
     [](Opening const& o) { return o.options->overlap; }},
    {"all_reduce", "Algorithm of the all-reduce; mpi: as the library chooses.",
     [](Opening const& o) -> std::string const& { return o.options->algorithm; }},
};
constexpr FieldTable opening_table = field_table<Opening>("opening", opening_rows);
FieldTable const& field_table_of(Opening const*) { return opening_table; }

struct RunAnswer {
    Options const* options;
    RunResult const* result;
    int workers;
};
template <Phase Of> constexpr auto median_of() {
    return [](RunAnswer const& a) { return a.result->median(Of); };
}
struct Phases {
    RunAnswer const* of;
};
constexpr Field phase_rows[] = {
    {"forward_seconds", "Median forward pass of the slowest worker.",
     [](Phases const& p) { return p.of->result->median(forward); }},
    {"backward_seconds", "Median backward pass of the slowest worker.",
     [](Phases const& p) { return p.of->result->median(backward); }},
    {"exposed_all_reduce_seconds", "Median time from the end of the backward pass until all is added up.",
     [](Phases const& p) { return p.of->result->median(exposed); }},
    {"optimizer_seconds", "Median optimizer step of the slowest worker.",
     [](Phases const& p) { return p.of->result->median(optimizer); }},
};
constexpr FieldTable phase_table = field_table<Phases>("phases", phase_rows);
FieldTable const& field_table_of(Phases const*) { return phase_table; }

constexpr Field mark_rows[] = {
    {"place", "Place from which on gradients to the end of the vector are final.", member<&StepProfile::Mark::place>},
    {"seconds", "Time since the begin of the backward pass.", member<&StepProfile::Mark::seconds>},
};
constexpr FieldTable mark_table = field_table<StepProfile::Mark>("finished_gradients", mark_rows);

/// Bytes of a step; nothing where the library chose the algorithm.
std::optional<double> bytes_sent(RunAnswer const& a) {
    if (a.options->all_reduce() != AllReduce::ring && a.workers > 1) { return std::nullopt; }
    TotalBytes const gradients{Bytes{static_cast<double>(a.result->profile.gradient_bytes())}};
    return ring_all_reduce_bytes(gradients, Ranks{a.workers}).base();
}
std::vector<double> steps_of(RunAnswer const& a) {
    std::vector<double> steps;
    for (PhaseTimes const& one : a.result->steps) { steps.push_back(one[whole_step]); }
    return steps;
}
constexpr Field run_rows[] = {
    {"*", "Question.",
     [](RunAnswer const& a) {
         return Opening{a.options->replay.empty() ? "run" : "replay", a.options, &a.result->profile};
     }},
    {"workers", "Number of processes.", member<&RunAnswer::workers>},
    {"sequences_of_the_fullest", "Sequences of the worker with most of them.",
     [](RunAnswer const& a) { return a.options->largest_share(static_cast<std::size_t>(a.workers)); }},
    {"buckets", "Buckets of a step.", [](RunAnswer const& a) { return a.result->buckets; }},
    {"bytes_sent_per_worker", "Bytes that each worker sends in a step; null where the library chose the algorithm.",
     from<bytes_sent>, Unit{"B"}},
    {"warm_up", "Steps that are not timed.", [](RunAnswer const& a) { return a.options->warm_up; }},
    {"step_seconds", "Median step of the slowest worker.", median_of<whole_step>()},
    {"least_step_seconds", "Least step of the slowest worker.",
     [](RunAnswer const& a) { return least_step(*a.result); }},
    {"phases", "Phases of a step.", [](RunAnswer const& a) { return Phases{&a}; }},
    {"finished", "Times at which gradients are ready in the backward pass, medians of the first worker.",
     [](RunAnswer const& a) { return a.result->profile.marks; }},
    {"all_reduce_seconds", "Median time of all buckets, hidden or not; 0 on one worker.",
     [](RunAnswer const& a) { return a.workers > 1 ? a.result->median(all_reduce) : 0.0; }},
    {"gamma", "All-reduce over computing.", [](RunAnswer const& a) { return ratios_of(*a.result, a.workers).gamma; }},
    {"serial_share", "Exposed all-reduce and optimizer over the step on these workers.",
     [](RunAnswer const& a) { return ratios_of(*a.result, a.workers).serial_share; }},
    {"steps_seconds", "Every timed step of the slowest worker.", from<steps_of>},
    {"losses", "Losses of the whole batch, warm-up too; empty in a replay.",
     [](RunAnswer const& a) -> std::vector<double> const& { return a.result->losses; }},
};
constexpr FieldTable run_table = field_table<RunAnswer>("run", run_rows);
FieldTable const& field_table_of(RunAnswer const*) { return run_table; }

constexpr Field step_rows[] = {
    {"workers", "Number of workers.", member<&PredictedStep::workers>},
    {"sequences_of_the_fullest", "Sequences of the worker with most of them.", member<&PredictedStep::share>},
    {"step_seconds", "Step: forward, backward, exposed, slowed and optimizer.", member<&PredictedStep::step>},
    {"forward_seconds", "Forward pass, from the profile by sequences.", member<&PredictedStep::forward>},
    {"backward_seconds", "Backward pass, from the profile by sequences.", member<&PredictedStep::backward>},
    {"exposed_all_reduce_seconds", "All-reduce that the backward pass does not hide.", member<&PredictedStep::exposed>},
    {"slowed_seconds", "Slowdown of the backward pass by the exchange during it.", member<&PredictedStep::slowed>},
    {"optimizer_seconds", "Optimizer, from the profile.", member<&PredictedStep::optimizer>},
    {"all_reduce_seconds", "All-reduce of all buckets.", member<&PredictedStep::all_reduce>},
    {"gamma", "All-reduce over computing.", member<&PredictedStep::gamma>},
    {"serial_share", "Share of the step that does not divide.", member<&PredictedStep::serial_share>},
    {"speedup", "Speedup over one worker, in sequences a second.", member<&PredictedStep::speedup>},
    {"ceiling", "Speedup that is approached if what does not divide stays; null in weak scaling.",
     member<&PredictedStep::ceiling>},
};
constexpr FieldTable step_table = field_table<PredictedStep>("predicted_step", step_rows);

struct PredictionAnswer {
    Options const* options;
    StepProfile const* profile;
    std::vector<PredictedStep> const* steps;
};
constexpr Field prediction_rows[] = {
    {"*", "Question.",
     [](PredictionAnswer const& a) {
         return Opening{"prediction", a.options, a.profile};
     }},
    {"profiled_batch", "Sequences of the profile.", [](PredictionAnswer const& a) { return a.profile->batch; }},
    {"latency_seconds", "Latency of a message.", [](PredictionAnswer const& a) { return a.options->latency.value(); }},
    {"bandwidth_bytes_per_second", "Bandwidth each way.",
     [](PredictionAnswer const& a) { return a.options->bandwidth.value(); }},
    {"exchange_load", "Share of a worker's processor that its exchange takes.",
     [](PredictionAnswer const& a) { return a.options->load; }},
    {"rows", "Steps, one for each count of workers.",
     [](PredictionAnswer const& a) -> std::vector<PredictedStep> const& { return *a.steps; }},
};
constexpr FieldTable prediction_table = field_table<PredictionAnswer>("prediction", prediction_rows);
FieldTable const& field_table_of(PredictionAnswer const*) { return prediction_table; }

} // namespace

FieldTable const& field_table_of(StepProfile const*) { return model_table; }
FieldTable const& field_table_of(StepProfile::Mark const*) { return mark_table; }
FieldTable const& field_table_of(PredictedStep const*) { return step_table; }

Report run_report(Options const& options, RunResult const& result, int workers) {
    return {options.mode == Mode::check ? check_text(result, workers) : run_text(options, result, workers),
            document::to_json(RunAnswer{&options, &result, workers}).text()};
}

Report prediction_report(Options const& options, StepProfile const& profile, std::vector<PredictedStep> const& steps) {
    std::string text =
        opening_text(options, profile) + "from one worker's profile of " + plural(profile.batch, "sequence") + '\n' +
        options.algorithm + " all-reduce, " + seconds(*options.latency) + ", " +
        format(BytesPerSecond{*options.bandwidth}) + (options.overlap ? ", overlapping with" : ", after") +
        " the backward pass" +
        (options.overlap && options.load > 0.0 ? printed(", slowed by %.3g %%", 100.0 * options.load) : "") +
        "\n\nworkers computing all-reduce   exposed      step   gamma       s speedup ceiling\n";
    for (PredictedStep const& step : steps) {
        text += printed("%7d %9s %10s %9s %9s %7.3g %7s %7.3g %7s\n", step.workers,
                        seconds(step.forward + step.backward + step.slowed + step.optimizer).c_str(),
                        seconds(step.all_reduce).c_str(), seconds(step.exposed).c_str(), seconds(step.step).c_str(),
                        step.gamma, printed("%.3g %%", 100.0 * step.serial_share).c_str(), step.speedup,
                        step.ceiling ? printed("%.3g", *step.ceiling).c_str() : "-");
    }
    text += "\ns: exposed all-reduce, the slowing of the backward pass, and optimizer, which\n"
            "do not divide, over the step on that many workers; ceiling: of the speedup, if\n"
            "they stayed as they are there\n";
    return {text, document::to_json(PredictionAnswer{&options, &profile, &steps}).text()};
}

std::string report_schema() {
    static constexpr FieldTable none{"none", {}};
    return document::json_schema("Result of headroom-step --json", {&run_table, &prediction_table}, none, none).text();
}

bool agrees(RunResult const& result) {
    return std::max(result.loss_difference, result.gradient_difference) <= allowed_difference(result.profile.is_double);
}

} // namespace headroom::step_example
