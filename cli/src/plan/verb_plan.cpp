#include "launch_files.hpp"
#include "left_out.hpp"
#include "measured_steps.hpp"
#include "plan/plan_report.hpp"
#include "several.hpp"
#include "watch.hpp"

#include "headroom/error.hpp"
#include "headroom/interrupt.hpp"
#include "headroom/io/executor.hpp"
#include "headroom/io/strategy.hpp"
#include "headroom/training/consequences.hpp"
#include "headroom/training/warm_start.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <thread>
#include <utility>

namespace headroom::cli::verb_plan {
namespace {

constexpr int largest_default_size = 1024;
constexpr double largest_batch = 1e9;

constexpr std::array positionals{
    Positional{"MODEL", "a catalog name (llama-3-70b), a Hugging Face config.json (file or folder), or a .toml file; "
                        "several: llama-3-8b,llama-3-70b; so for --cluster"},
};

constexpr std::array options{
    Option{"--fix", "FIELDS", "hold fields of the strategy: tp=8,pp=4,recompute=full", "Search"},
    Option{"--objective", "NAME", "knee (default), time or cost; with a deadline or a budget cost (default) or time",
           "Search"},
    Option{"--deadline", "TIME", "choose the cheapest size that ends the run by then: 30d", "Search"},
    Option{"--budget", "DOLLARS", "choose the cheapest size whose run costs no more", "Search"},
    Option{"--value-of-time", "DOLLARS/h", "value of ending an hour sooner: the choice is by marginal cost", "Search"},
    Option{"--top", "N", "strategies shown a size (default: 1)", "Search"},
    Option{"--threads", "N", "threads of the search (default: all cores); the answer does not depend on it", "Search"},
    Option{"--dry-run", "", "only count the legal strategies of each size", "Search", Takes::nothing},
    Option{"--against", "CLUSTER2", "compare with another cluster, side by side", "Comparison"},
    Option{"--against-price", "DOLLARS/h", "price of one accelerator of that cluster", "Comparison"},
};

constexpr char const* examples = "  headroom plan llama-3-70b --cluster dgx-h100 --workers 8..1024 --tokens 2T\n"
                                 "  headroom plan llama-3-8b --cluster dgx-h100 --nodes 1,2,4 --fix tp=1 --top 5\n"
                                 "  headroom plan examples/config.json --cluster dgx-a100 --tokens 300B \\\n"
                                 "      --deadline 30d\n"
                                 "  headroom plan llama-3-70b --cluster dgx-h100 --tokens 2T --against dgx-b200\n"
                                 "  headroom plan llama-3-70b --cluster dgx-a100,dgx-h100,dgx-b200 --tokens 2T\n"
                                 "  headroom plan gpt3-175b --cluster dgx-h100 --format json --html plan.html";

std::vector<int> worker_counts(Setting& setting) {
    if (!setting.workers.empty()) {
        if (setting.workers.back() > largest_degree) {
            refuse("--workers", std::to_string(setting.workers.back()) + " is out of range",
                   "it must be from 1 to " + std::to_string(largest_degree), "ask for fewer");
        }
        return setting.workers;
    }
    std::vector<int> counts;
    int const node = setting.cluster.accelerators_per_node;
    for (int count = node; count <= std::max(node, largest_default_size); count *= 2) { counts.push_back(count); }
    setting.assumptions.push_back({"workers", std::to_string(counts.front()) + ".." + std::to_string(counts.back()),
                                   "default; one node, doubled", false});
    return counts;
}

Objective read_objective(Arguments const& arguments) {
    std::string const name = arguments.choice("--objective", {"knee", "time", "cost"}).value_or("knee");
    return name == "time" ? Objective::time : name == "cost" ? Objective::cost : Objective::knee;
}

[[noreturn]] void refuse_nothing(Arguments const& arguments, std::string const& option, std::string const& example) {
    refuse(option, headroom::quoted(*arguments.text(option)) + " is not above zero",
           "no run is that short or that cheap", "write it like " + example);
}

/// The strategy that the fixed fields make on as many ranks as they want, whatever the sizes of the list; what they need
/// and do not say is set so that it serves.
Strategy smallest_with(PartialStrategy const& fixed, Model const& model) {
    Strategy s;
    for (io::StrategyField const& field : io::strategy_fields()) { field.apply(fixed, s); }
    if (!fixed.tp && s.etp > 1) { s.tp = s.etp; }
    if (!fixed.tp) { s.sequence_parallel = false; }
    if (!fixed.pp) { s.pipeline = PipelineSchedule::one_f_one_b; } // one stage has nothing to schedule
    if (!fixed.pp) { s.virtual_pp = 1; }
    if (s.pipeline == PipelineSchedule::interleaved) { set_schedule(s, s.pipeline, model); }
    if (!fixed.recompute && s.recompute_layers > 0) { s.recompute = Recompute::full; }
    s.shard = std::max(0, s.shard); // a group by name has ranks that depend on the size
    if (!fixed.zero && s.shard > 0) { s.zero = 3; }
    if (!fixed.shard && s.zero == 3 && s.local_steps > 1) { s.shard = 1; }
    double const ranks = 2.0 * s.ep * s.etp * std::max(1, s.shard);
    if (!fixed.dp && ranks < largest_batch) { s.dp = static_cast<int>(ranks); }
    return s;
}

/// Fixed fields that exclude each other, or the model, on any number of workers: a mistake, not a search without result.
void refuse_contradiction(Setting const& setting, Arguments const& arguments) {
    Strategy const s = smallest_with(setting.given, setting.model);
    Workload work = setting.workload;
    double const share = 4.0 * s.dp * s.micro_batch * s.pp; // enough micro-batches for any schedule
    if (share > largest_batch) { return; }
    work.global_batch = static_cast<int>(share);
    std::string why = contradiction_of(setting.given);
    if (why.empty()) { why = illegal_because(s, setting.model, work); }
    if (why.empty()) { return; }
    refuse(arguments.has("--fix") ? "--fix" : "strategy",
           "not possible for " + setting.model.name + " on any number of workers", why,
           "change it, or leave it out and it is searched");
}

PlanQuestion plan_question(Arguments const& arguments, Setting& setting) {
    PlanQuestion question;
    read_left_out(arguments, setting).apply(question);
    question.space.workers = worker_counts(setting);
    question.usual_sizes = setting.workers.empty();
    question.space.fixed = setting.given;
    int const cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    question.space.run = io::executor(std::min(256, arguments.count("--threads").value_or(cores)));
    question.model = setting.model;
    question.cluster = setting.cluster;
    question.framework = setting.framework;
    question.workload = setting.workload;
    question.assumptions = setting.assumptions;
    question.tokens = setting.tokens;
    question.deadline = arguments.quantity<Seconds>("--deadline");
    if (question.deadline && question.deadline->base() <= 0.0) {
        refuse_nothing(arguments, "--deadline", "--deadline 30d");
    }
    if (auto const budget = arguments.text("--budget")) { question.budget = parse_dollars(*budget, "--budget"); }
    if (question.budget && question.budget->base() <= 0.0) {
        refuse_nothing(arguments, "--budget", "--budget '100000 $'");
    }
    if (auto const value = arguments.text("--value-of-time")) {
        question.value_of_time = parse_price(*value, "--value-of-time");
    }
    question.objective = read_objective(arguments);
    question.top = arguments.count("--top").value_or(1);
    question.memory_risk = setting.memory_risk;
    return question;
}

/// A limit goes before the value of time, and that before an objective: requests without effect are reported.
void note_unused(Arguments const& arguments, PlanQuestion const& question, Setting& setting) {
    bool const limited = question.deadline || question.budget;
    char const* const stronger = limited ? "a deadline or a budget takes the cheapest size that meets it, or the "
                                           "soonest with --objective time"
                                         : "--value-of-time decides";
    if (limited && question.value_of_time) {
        setting.notes.push_back(std::string{"--value-of-time is not used: "} + stronger);
    }
    bool const objective_decides = limited && question.objective != Objective::knee;
    if ((limited || question.value_of_time) && arguments.has("--objective") && !objective_decides) {
        setting.notes.push_back(std::string{"--objective is not used: "} + stronger);
    }
}

/// Question for the other machine, at its own price.
PlanQuestion other_question(PlanQuestion const& question, Arguments const& arguments, Setting const& setting) {
    PlanQuestion other = question;
    refuse_other_machine(setting.calibration, "--against");
    try {
        other.cluster = io::load_machines(setting.catalog, *arguments.text("--against")).cluster;
    } catch (InputError const& error) {
        if (error.text().where != "--cluster") { throw; }
        ErrorText text = error.text();
        text.where = "--against";
        throw InputError{error.fault(), std::move(text)};
    }
    if (auto const price = arguments.text("--against-price")) {
        other.cluster.price = parse_price(*price, "--against-price");
        other.cluster.price_origin = "given with --against-price";
        other.cluster.price_kind = "given";
    }
    return other;
}

/// The second price is an assumption of the comparison too.
void assume_other_price(PlanAnswer& answer) {
    Cluster const& cluster = answer.other->question.cluster;
    if (cluster.price && cluster.price_kind != "given") {
        add_assumptions(answer.plan.assumptions,
                        {{"price2", format(*cluster.price), cluster.price_origin, false, Provenance::cited}});
    }
}

int dry_run(PlanQuestion const& question, Setting const& setting, Output const& output) {
    PlanDryRun answer;
    for (int const workers : question.space.workers) {
        answer.sizes.push_back({workers, legal_strategies(question.model, question.cluster, question.framework,
                                                          question.workload, workers, question.space.fixed)
                                             .size()});
    }
    write_result(output, result_of(
                             head_of("plan", setting.catalog, setting.calibration.name), answer,
                             [&] { return document_of(answer, setting); }, {{}, stats_of(output)},
                             [&] { return row_sheet(answer.sizes); }));
    return Exit::done;
}

/// Numbers that --require may ask about: those of the recommended size.
std::vector<Metric> size_metrics(CurvePoint const* point) {
    return metrics_of(field_table_of(point), point,
                      {{"step", "step_seconds"},
                       {"memory", "memory_bytes"},
                       {"exposed_communication", "breakdown.exposed_communication_seconds"},
                       {"time", "days"},
                       {"cost", "cost_dollars"},
                       {"goodput", "goodput.goodput"},
                       {"sample_efficiency", "statistics.sample_efficiency"},
                       {"time_to_target", "time_to_target_seconds"}});
}

/// The machine of --against with the same question; empty without the option.
std::optional<PlanQuestion> read_other(Arguments const& arguments, PlanQuestion const& question,
                                       Setting const& setting) {
    if (arguments.has("--against")) { return other_question(question, arguments, setting); }
    if (!arguments.has("--against-price")) { return std::nullopt; }
    refuse("--against-price", "there is no other machine", "it is the price of the one of --against",
           "add --against dgx-b200, or write --price");
}

PlanAnswer answer_of(PlanQuestion const& question, std::optional<PlanQuestion> const& other, Setting const& setting,
                     Watch& watch) {
    PlanAnswer answer{.plan = make_plan(question, setting.calibration, watch.token()),
                      .rule = rule_words(question),
                      .strategy_record = setting.strategy_record,
                      .constants = constant_values(setting.calibration),
                      .notes = setting.notes};
    if (other) {
        answer.other = make_plan(*other, setting.calibration, watch.token());
        answer.comparison = compare(answer.plan, *answer.other);
        assume_other_price(answer);
    }
    add_assumptions(answer.plan.assumptions, setting.assumptions);
    if (CurvePoint const* point = recommended_point(answer.plan)) {
        add_assumptions(answer.plan.assumptions, consequences(point->prediction->question.strategy, question.model,
                                                              question.workload, question.cluster.domain));
        answer.left_out = left_out(*point->prediction, setting.calibration);
        answer.narrows = narrowings(*point->prediction, setting.calibration, true);
    }
    return answer;
}

/// Exit code of an answer that was written.
int verdict_of(PlanAnswer const& answer, std::vector<GateOutcome> const& gates) {
    Plan const& plan = answer.plan;
    if (!plan.complete || (answer.other && !answer.other->complete)) {
        refusal("plan", "interrupted (" + std::to_string(plan.curve.size()) + " of " +
                            std::to_string(plan.question.space.workers.size()) +
                            " sizes finished). the result covers those");
        return Exit::interrupted;
    }
    if (!plan.recommended) {
        refusal("plan", plan.verdict);
        return Exit::infeasible;
    }
    return report_gates(gates) ? Exit::done : Exit::gate;
}

/// Options of one plan.
constexpr std::array alone{"--against", "--against-price", "--dry-run", "--top"};

/// The size that a plan recommends, as a combination.
AnsweredCombination recommended_of(Arguments const& arguments, Setting const& setting, std::stop_token const& stop,
                                   PlanQuestion const& question) {
    Plan plan = make_plan(question, setting.calibration, stop);
    if (!plan.complete) { throw Interrupted{}; }
    CurvePoint const* point = recommended_point(plan);
    if (point == nullptr) {
        AnsweredCombination none;
        none.combination.why_not = plan.verdict;
        return none;
    }
    AnsweredCombination answered{.combination = combination_of(*point->prediction), .metrics = size_metrics(point)};
    Combination& one = answered.combination;
    add_assumptions(one.prediction->question.assumptions, setting.assumptions);
    one.verdict = headline(plan);
    one.command = predict_command(arguments, point->prediction->question);
    return answered;
}

int answer_combinations(Arguments const& arguments) {
    auto const answer = [](Arguments const& of_one, std::stop_token const& stop, std::vector<std::string>& notes) {
        Setting setting = read_setting(of_one);
        use_measured_steps(of_one, setting);
        setting.calibration.warm = of_any_plan(std::move(setting.calibration.warm));
        refuse_contradiction(setting, of_one);
        PlanQuestion const question = plan_question(of_one, setting);
        note_unused(of_one, question, setting);
        notes.insert(notes.end(), setting.notes.begin(), setting.notes.end());
        return recommended_of(of_one, setting, stop, question);
    };
    Objective const objective = read_objective(arguments);
    bool const limited = arguments.has("--deadline") || arguments.has("--budget");
    bool const by_cost = objective == Objective::cost || (limited && objective != Objective::time);
    return answer_several({.verb = plan_verb(),
                           .arguments = arguments,
                           .answer = answer,
                           .alone = alone,
                           .metrics = size_metrics(nullptr),
                           .by_cost = by_cost});
}

Result result_of(std::shared_ptr<PlanReport const> const& report, std::vector<GateOutcome> const& gates,
                 ScreenSize screen) {
    Setting const& setting = report->setting;
    Result result = kept_result_of(
        head_of("plan", setting.catalog, setting.calibration.name),
        std::shared_ptr<PlanAnswer const>{report, &report->answer}, [report] { return document_of(*report); },
        {gates, report->stats}, [report] { return row_sheet(report->answer.plan.curve); });
    result.screen = [report, screen] { return screen_document(*report, screen); };
    result.page = [report] { return document_of(*report, Medium::page); };
    result.line = [report] { return headline(report->answer.plan); };
    return result;
}

int run(Arguments const& arguments) {
    if (asks_several(arguments)) { return answer_combinations(arguments); }
    Output const output = read_output(arguments, screen_lines);
    check_gates(arguments, [&] { return size_metrics(nullptr); });
    Setting setting = read_setting(arguments);
    use_measured_steps(arguments, setting);
    setting.calibration.warm = of_any_plan(std::move(setting.calibration.warm));
    refuse_contradiction(setting, arguments);
    PlanQuestion const question = plan_question(arguments, setting);
    note_unused(arguments, question, setting);
    if (arguments.has("--dry-run")) { return dry_run(question, setting, output); }
    auto const other = read_other(arguments, question, setting);
    Watch watch{"planning " + std::to_string(question.space.workers.size()) + " sizes", output.quiet};
    Stopwatch const searching;
    PlanAnswer answer = answer_of(question, other, setting, watch);
    double const search_seconds = searching.seconds();
    auto const report = std::make_shared<PlanReport>(PlanReport{std::move(setting), std::move(answer), {}});
    CurvePoint const* point = recommended_point(report->answer.plan);
    auto& notes = report->setting.notes;
    if (point != nullptr) {
        Question const& chosen = point->prediction->question;
        report->answer.command = predict_command(arguments, chosen);
        if (auto const remark = assumed_framework_note(chosen); !remark.empty()) { notes.push_back(remark); }
    }
    auto const gates =
        point != nullptr ? check_gates(arguments, [&] { return size_metrics(point); }) : std::vector<GateOutcome>{};
    report->stats = stats_of(output);
    if (report->stats) {
        report->stats->search_seconds = search_seconds;
        std::int64_t const other_evaluated = report->answer.other ? report->answer.other->counts.evaluated : 0;
        report->stats->evaluations_per_second =
            static_cast<double>(report->answer.plan.counts.evaluated + other_evaluated) / search_seconds;
    }
    for (std::string const& text : notes) { note(output, "note: " + text); }
    bool const emitted = point != nullptr && write_launch(arguments, point->prediction->question, output);
    if (!emitted) { write_result(output, result_of(report, gates, output.screen)); }
    return verdict_of(report->answer, gates);
}

Verb described() {
    Verb verb{"plan", "how many machines, which configuration, where to stop, what cost", positionals, examples, run};
    verb.options = {setting_options(), launch_options(),   strategy_options(), weak_scaling_options(),
                    options,           left_out_options(), length_options(),   output_options()};
    verb.answers = tables_of<PlanAnswer, PlanDryRun, CombinationsAnswer>();
    return verb;
}

} // namespace
} // namespace headroom::cli::verb_plan

headroom::cli::Verb headroom::cli::plan_verb() { return verb_plan::described(); }
