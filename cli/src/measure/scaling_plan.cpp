#include "headroom/document/text.hpp"
#include "measure/measure.hpp"
#include "measure/scaling_answer.hpp"

#include "headroom/quantity.hpp"

#include <algorithm>
#include <filesystem>
#include <map>

namespace headroom::cli {

using namespace headroom::measure;

namespace {

constexpr std::size_t most_rows = 40; ///< of an order that a person reads

/// The campaign that would go on, else the latest that ran the same command.
struct Known {
    std::optional<Campaign> campaign;
    bool goes_on = false;
};

Known known_campaign(ScalingQuestion const& question, Arguments const& arguments) {
    auto const path = store_path(arguments);
    std::error_code error;
    if (path.empty() || !std::filesystem::exists(path, error)) { return {}; }
    io::Store const store{path, io::Store::Access::read};
    Facts const settings = settings_of(question);
    if (auto const id = store.unfinished("scaling", settings); id && !arguments.has("--fresh")) {
        return {.campaign = store.load(*id), .goes_on = true};
    }
    std::optional<std::int64_t> latest;
    for (Campaign const& one : store.list("scaling")) {
        if (fact(one.settings, "command") == fact(settings, "command")) { latest = one.id; }
    }
    return {.campaign = latest ? std::optional{store.load(*latest)} : std::nullopt};
}

double median_of(std::vector<double> values) {
    auto const middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// How long a run of each worker count takes with all that belongs to it: from when it began to when the next did.
std::map<int, double> seconds_by_workers(Campaign const& campaign) {
    std::map<int, std::vector<double>> found;
    for (std::size_t i = 0; i + 1 < campaign.samples.size(); ++i) {
        Sample const& sample = campaign.samples[i];
        double const seconds = 1e-9 * static_cast<double>(campaign.samples[i + 1].began_ns - sample.began_ns);
        auto const workers = fact(campaign.points.at(sample.point).parameters, "workers");
        if (workers && seconds > 0.0) { found[parse_whole(*workers, "store")].push_back(seconds); }
    }
    std::map<int, double> medians;
    for (auto& [workers, seconds] : found) { medians[workers] = median_of(std::move(seconds)); }
    return medians;
}

/// Counts that were never run take as long as the others do in the middle.
void estimate(Campaign const& campaign, ScalingPlan& plan) {
    std::map<int, double> const known = seconds_by_workers(campaign);
    if (known.empty()) { return; }
    std::vector<double> all;
    for (auto const& [workers, seconds] : known) { all.push_back(seconds); }
    double const otherwise = median_of(all);
    double sum = 0.0;
    for (PlannedRun const& run : plan.left) {
        auto const found = known.find(plan.question.workers.at(run.point));
        sum += found == known.end() ? otherwise : found->second;
    }
    plan.estimate_seconds = sum;
    plan.estimated_from = "campaign " + std::to_string(campaign.id) + " of the same command";
}

std::string time_words(ScalingPlan const& plan) {
    std::string text = counted(plan.left.size(), "run");
    if (plan.there > 0) {
        text += " left, " + std::to_string(plan.there) + (plan.there == 1 ? " is" : " are") + " there already";
    }
    text += plan.estimate_seconds ? ": about " + format(Seconds{*plan.estimate_seconds}) + ", by " + plan.estimated_from
                                  : ": how long that takes is not known, too little of this command was measured here";
    if (plan.at_most_seconds) { text += "; at most " + format(Seconds{*plan.at_most_seconds}) + " by --timeout"; }
    return text + ".";
}

} // namespace

ScalingPlan plan_of(ScalingQuestion const& question, Arguments const& arguments) {
    ScalingPlan plan{.question = question, .left = order_of(question)};
    Known const known = known_campaign(question, arguments);
    if (known.goes_on) {
        plan.left = runs_left(plan.left, known.campaign->samples);
        plan.there = known.campaign->samples.size();
    }
    if (known.campaign) { estimate(*known.campaign, plan); }
    if (question.timeout_seconds) {
        double const each = *question.timeout_seconds + probe::CommandQuestion{.words = {}}.grace_seconds;
        double const commands = question.prepare.empty() ? 1.0 : 2.0;
        plan.at_most_seconds = static_cast<double>(plan.left.size()) * commands * each;
    }
    return plan;
}

Document document_of(ScalingPlan const& plan, io::Catalog const& catalog) {
    Document document{"Order of runs (nothing was run)", {}, footer(catalog, "")};
    document.blocks.emplace_back(Paragraph{time_words(plan), "", true});
    Table table{.title = "Order",
                .columns = {{"run"}, {"workers"}, {"repetition"}, {"command", Align::left, true}},
                .rows = {}};
    for (std::size_t i = 0; i < std::min(plan.left.size(), most_rows); ++i) {
        PlannedRun const& run = plan.left[i];
        int const workers = plan.question.workers.at(run.point);
        table.rows.push_back({std::to_string(i + 1), std::to_string(workers),
                              std::to_string(run.repetition) + (run.warm_up ? " warm-up" : ""),
                              printable(command_words(command_at(plan.question, workers).words))});
    }
    document.blocks.emplace_back(std::move(table));
    if (plan.left.size() > most_rows) {
        document.blocks.emplace_back(Paragraph{std::to_string(plan.left.size() - most_rows) +
                                               " more in the same manner; --format json or csv has all of them"});
    }
    return document;
}

Sheet sheet_of(ScalingPlan const& plan) {
    Sheet sheet{{"run", "workers", "repetition", "warm_up", "command"}, {}};
    for (std::size_t i = 0; i < plan.left.size(); ++i) {
        PlannedRun const& run = plan.left[i];
        int const workers = plan.question.workers.at(run.point);
        sheet.rows.push_back({std::to_string(i + 1), std::to_string(workers), std::to_string(run.repetition),
                              run.warm_up ? "true" : "false", command_words(command_at(plan.question, workers).words)});
    }
    return sheet;
}

} // namespace headroom::cli
