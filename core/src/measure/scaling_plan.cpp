#include "headroom/measure/measured_scaling.hpp"
#include "headroom/text.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace headroom::measure {
namespace {

void replace_all(std::string& text, std::string_view what, std::string const& by) {
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
        text.replace(at, what.size(), by);
    }
}

double middle(std::vector<double> values) {
    auto const half = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), half, values.end());
    return *half;
}

/// Time of a run of each point with all that belongs to it: from its begin to that of the next.
std::map<std::string, double> seconds_by_workers(Campaign const& campaign) {
    std::map<std::string, std::vector<double>> found;
    for (std::size_t i = 0; i + 1 < campaign.samples.size(); ++i) {
        Sample const& sample = campaign.samples[i];
        double const seconds = 1e-9 * static_cast<double>(campaign.samples[i + 1].began_ns - sample.began_ns);
        auto const workers = fact(campaign.points.at(sample.point).parameters, "workers");
        if (workers && seconds > 0.0) { found[std::string{*workers}].push_back(seconds); }
    }
    std::map<std::string, double> medians;
    for (auto& [workers, seconds] : found) { medians[workers] = middle(std::move(seconds)); }
    return medians;
}

/// Counts that were never run take as long as the others do in the middle.
void estimate(Campaign const& campaign, ScalingPlan& plan) {
    auto const known = seconds_by_workers(campaign);
    if (known.empty()) { return; }
    std::vector<double> all;
    for (auto const& [workers, seconds] : known) { all.push_back(seconds); }
    double const otherwise = middle(all);
    double sum = 0.0;
    for (PlannedRun const& run : plan.left) {
        auto const found = known.find(std::to_string(plan.question.workers.at(run.point)));
        sum += found == known.end() ? otherwise : found->second;
    }
    plan.estimate_seconds = sum;
    plan.estimated_from = "campaign " + std::to_string(campaign.id) + " of the same command";
}

using Question = ScalingQuestion;
constexpr Field question_rows[] = {
    {"command", "Words of the command, with {workers}, {size} and {per_worker} in them.", member<&Question::words>},
    {"shell", "Whether /bin/sh reads the command.", member<&Question::shell>},
    {"prepare", "Line for /bin/sh before each run; null without one.",
     [](Question const& q) { return if_known(q.prepare); }},
    {"workers", "Worker counts, in rising order.", member<&Question::workers>},
    {"mode", "Mode: strong, with one problem, or weak, where it grows with the workers.",
     [](Question const& q) { return q.weak ? "weak" : "strong"; }},
    {"problem", "Size of the problem, of all workers (strong) or of each (weak); null without --problem.",
     member<&Question::problem>},
    {"repeats", "Runs of each count that are measured.", member<&Question::repeats>},
    {"warm_up", "Runs of each count before, which do not count.", member<&Question::warm_up>},
    {"seed", "Seed of the order.", member<&Question::seed>},
    {"timeout_seconds", "Limit of the time of a run; null without one.", member<&Question::timeout_seconds>},
    {"result", "Regular expression that finds the result; null: the wall clock.",
     [](Question const& q) { return if_known(q.pattern); }},
    {"result_unit", "Unit of the result; null: the wall clock.",
     [](Question const& q) { return q.pattern.empty() ? std::nullopt : std::optional{q.unit}; }},
};
constexpr FieldTable question_table = field_table<Question>("scaling_question", question_rows);

constexpr Field command_rows[] = {
    {"workers", "Number of workers.", member<&PlannedCommand::workers>},
    {"repetition", "Number of the repetition of this count, from 0, warm-ups first.",
     [](PlannedCommand const& c) { return c.run.repetition; }},
    {"warm_up", "Whether the run is a warm-up.", [](PlannedCommand const& c) { return c.run.warm_up; }},
    {"command", "Command as it would be run.", member<&PlannedCommand::command>},
};
constexpr FieldTable command_table = field_table<PlannedCommand>("planned_run", command_rows);

constexpr Field plan_rows[] = {
    {"dry_run", "Whether nothing was run.", [](ScalingPlan const&) { return true; }},
    {"question", "Question that was asked.", member<&ScalingPlan::question>},
    {"resumed_samples", "Number of samples of an unfinished campaign that would go on.", member<&ScalingPlan::there>},
    {"order", "Runs that would be made.", from<planned_commands>},
    {"estimate_seconds", "Time of these runs by earlier ones of the command; null without any.",
     member<&ScalingPlan::estimate_seconds>},
    {"estimated_from", "Campaign that the estimate is from; empty without one.", member<&ScalingPlan::estimated_from>},
    {"at_most_seconds", "Time if every run took --timeout; null without it.", member<&ScalingPlan::at_most_seconds>},
};
constexpr FieldTable plan_table = field_table<ScalingPlan>("scaling_plan", plan_rows);

} // namespace

FieldTable const& field_table_of(ScalingQuestion const*) { return question_table; }
FieldTable const& field_table_of(PlannedCommand const*) { return command_table; }
FieldTable const& field_table_of(ScalingPlan const*) { return plan_table; }

std::string_view name_of(ResultUnit unit) {
    constexpr std::array<std::string_view, 5> names{"seconds", "milliseconds", "microseconds", "nanoseconds",
                                                    "throughput"};
    return names.at(static_cast<std::size_t>(unit));
}

ScalingPlan plan_of(ScalingQuestion const& question, std::optional<Campaign> const& known, bool goes_on,
                    double grace_seconds) {
    ScalingPlan plan{.question = question, .left = order_of(question)};
    if (known && goes_on) {
        plan.left = runs_left(plan.left, known->samples);
        plan.there = known->samples.size();
    }
    if (known) { estimate(*known, plan); }
    if (question.timeout_seconds) {
        double const commands = question.prepare.empty() ? 1.0 : 2.0;
        plan.at_most_seconds =
            static_cast<double>(plan.left.size()) * commands * (*question.timeout_seconds + grace_seconds);
    }
    return plan;
}

std::vector<PlannedCommand> planned_commands(ScalingPlan const& plan) {
    std::vector<PlannedCommand> commands;
    for (PlannedRun const& run : plan.left) {
        int const workers = plan.question.workers.at(run.point);
        commands.push_back({workers, run, command_words(command_at(plan.question, workers))});
    }
    return commands;
}

std::string filled(ScalingQuestion const& question, std::string text, int workers) {
    replace_all(text, "{workers}", std::to_string(workers));
    if (!question.problem) { return text; }
    replace_all(text, "{size}", std::to_string(question.weak ? *question.problem * workers : *question.problem));
    replace_all(text, "{per_worker}", std::to_string(question.weak ? *question.problem : *question.problem / workers));
    return text;
}

std::vector<std::string> command_at(ScalingQuestion const& question, int workers) {
    std::vector<std::string> words;
    if (question.shell) { words = {"/bin/sh", "-c"}; }
    for (std::string const& word : question.words) { words.push_back(filled(question, word, workers)); }
    return words;
}

std::vector<std::string> prepare_at(ScalingQuestion const& question, int workers) {
    return {"/bin/sh", "-c", filled(question, question.prepare, workers)};
}

std::vector<MeasuredPoint> points_of(ScalingQuestion const& question) {
    std::vector<MeasuredPoint> points;
    for (int const workers : question.workers) {
        MeasuredPoint point{.label = text::counted(static_cast<std::size_t>(workers), "worker"),
                            .parameters = {{"workers", std::to_string(workers)}},
                            .unit = std::string{question.sample_unit()}};
        if (question.problem) {
            point.label += " on " + filled(question, "{size}", workers);
            point.parameters.emplace_back("size", filled(question, "{size}", workers));
        }
        points.push_back(std::move(point));
    }
    return points;
}

Facts settings_of(ScalingQuestion const& question, std::string const& folder) {
    std::vector<std::string> counts;
    for (int const workers : question.workers) { counts.push_back(std::to_string(workers)); }
    Facts settings{
        {"command", command_words(question.words)},
        {"shell", question.shell ? "yes" : "no"},
        {"prepare", question.prepare},
        {"workers", text::join(counts, ",")},
        {"mode", question.weak ? "weak" : "strong"},
        {"problem", question.problem ? std::to_string(*question.problem) : ""},
        {"repeats", std::to_string(question.repeats)},
        {"warm_up", std::to_string(question.warm_up)},
        {"timeout_seconds", question.timeout_seconds ? text::significant(*question.timeout_seconds, 15) : ""},
        {"result", question.pattern.empty() ? "wall clock" : question.pattern},
        {"result_unit", std::string{name_of(question.unit)}},
        {"seed", std::to_string(question.seed)},
        {"directory", folder}};
    std::erase_if(settings, [](auto const& one) { return one.second.empty(); });
    return settings;
}

std::vector<PlannedRun> order_of(ScalingQuestion const& question) {
    return planned_order(question.workers.size(), question.warm_up, question.repeats, question.seed);
}

std::string command_words(std::vector<std::string> const& words) {
    constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%{}";
    std::string text;
    for (std::string const& word : words) {
        if (!text.empty()) { text += ' '; }
        if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) {
            text += word;
            continue;
        }
        std::string inside = word;
        replace_all(inside, "'", R"('\'')");
        text += "'" + inside + "'";
    }
    return text;
}

} // namespace headroom::measure
