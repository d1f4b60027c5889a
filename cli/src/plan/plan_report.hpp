#pragma once

#include "output.hpp"
#include "predict/prediction_report.hpp"
#include "setting.hpp"

#include "headroom/document/document.hpp"
#include "headroom/training/plan.hpp"
#include "headroom/training/training_answers.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headroom::cli::verb_plan {

/// Answer of `plan` with what its document needs.
struct PlanReport {
    Setting setting;
    training::PlanAnswer answer;
    std::optional<CallStats> stats; ///< of --stats
};

/// Time of the run on the size that takes longest; empty without tokens.
std::optional<Seconds> longest_run(training::Plan const& plan);

/// Rule by which the size was chosen, in words.
std::string rule_words(training::PlanQuestion const& question);

/// The whole; a page begins as the first screen does: answer, sizes, reasons, assumptions, command.
Document document_of(PlanReport const& report, Medium medium = Medium::text);
/// One screen: up to twelve sizes, then as many reasons as it has room for; else fewer sizes, and how many are not shown.
Document screen_document(PlanReport const& report, ScreenSize screen);
Document document_of(training::PlanDryRun const& answer, Setting const& setting);

/// The figures of a plan: speedup over workers, time against cost, where each size's step and memory go. One that
/// has nothing to show is left out.
void add_charts(std::vector<Block>& blocks, training::Plan const& plan);

} // namespace headroom::cli::verb_plan
