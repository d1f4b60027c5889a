#include "advice.hpp"
#include "curve.hpp"
#include "words.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace headroom::training::planner {
namespace {

ChecklistItem serial_share(Prediction const& prediction) {
    return {"What share of the step is serial, and at which worker count?",
            percent(prediction.serial.value) + " at " + counted(prediction.serial.at_workers, "worker") +
                ": with that share unchanged, no number of workers is more than " + times(prediction.speedup_ceiling) +
                " as fast as now."};
}

ChecklistItem growth(Plan const& plan) {
    Workload const& work = plan.question.workload;
    auto const feasible = feasible_points(plan);
    CurvePoint const& first = plan.curve[feasible.front()];
    CurvePoint const& last = plan.curve[feasible.back()];
    if (auto const each = plan.question.batch_per_worker) {
        return {"Does the problem grow with the cluster?",
                "Yes: every accelerator adds " + counted(*each, "sequence") + " of " +
                    std::to_string(work.sequence_length) + " tokens to the global batch (weak scaling), from " +
                    std::to_string(first.global_batch) + " at " + std::to_string(first.workers) + " to " +
                    std::to_string(last.global_batch) + " at " + std::to_string(last.workers) + "."};
    }
    bool const tokens = !plan.question.model.works_on_samples();
    auto const share = [&](CurvePoint const& point) {
        return rounded(static_cast<double>(work.global_batch) * (tokens ? work.sequence_length : 1) / point.workers);
    };
    std::string text = "No: the global batch stays at " + batch_of(work, plan.question.model) + " (strong scaling)";
    if (feasible.size() > 1) {
        text += ", so the work of an accelerator falls from " + share(first) +
                (tokens ? " tokens a step at " : " samples a step at ") + std::to_string(first.workers) + " to " +
                share(last) + " at " + std::to_string(last.workers);
    }
    return {"Does the problem grow with the cluster?", text + "."};
}

ChecklistItem bound(Prediction const& prediction) {
    LayerCost const& block = prediction.costs.block;
    Seconds const kernels = block.gemm + block.attention + block.memory;
    double const traffic = kernels > Seconds{} ? block.memory / kernels : 0.0;
    StepTime const& time = prediction.time;
    Seconds const step = prediction.step();
    std::array const shares{
        std::pair{time.compute * (1.0 - traffic) / step, "computation"},
        std::pair{(time.compute * traffic + time.optimizer) / step, "memory traffic"},
        std::pair{time.exposed_communication() / step, "exposed communication"},
        std::pair{(time.host + time.pipeline_bubble + time.offload + time.imbalance + time.stragglers + time.overhead) /
                      step,
                  "waiting (bubble, CPU launches, other ranks, fixed time)"},
    };
    auto const& largest = *std::ranges::max_element(shares, {}, [](auto const& share) { return share.first; });
    std::vector<std::string> words;
    for (auto const& [share, name] : shares) { words.push_back(percent(share) + " " + name); }
    return {"Is it bound by computation, memory or communication?",
            "By " + std::string{largest.second} + ": of the step, " + listed(words) + "."};
}

ChecklistItem collectives(Prediction const& prediction) {
    constexpr char const* question = "What do the collectives cost?";
    auto const& rows = prediction.communication;
    Seconds all{};
    for (CommunicationRow const& row : rows) { all += row.seconds; }
    if (rows.empty() || all <= Seconds{}) { return {question, "Nothing: this plan sends nothing."}; }
    auto const& largest = *std::ranges::max_element(rows, {}, &CommunicationRow::exposed);
    Seconds const exposed = prediction.time.exposed_communication();
    std::string text = format(all, 3) + " a step if nothing overlapped (gamma " + rounded(prediction.gamma) + "); " +
                       format(exposed, 3) + " of it exposed, " + percent(exposed / prediction.step()) + " of the step";
    if (largest.exposed > Seconds{}) { text += ", most of it for " + largest.why; }
    return {question, text + "."};
}

ChecklistItem money_worth(Plan const& plan, CurvePoint const& chosen) {
    PlanQuestion const& question = plan.question;
    CurvePoint const* next = feasible_after(plan, chosen.workers);
    std::string text;
    if (!question.cluster.price) {
        text = "No price is known for this accelerator, so costs are left out; in accelerator-hours a token takes " +
               times(bill_ratio(plan, chosen, plan.curve[feasible_points(plan).front()])) +
               " those of the smallest size.";
    } else {
        text = "At " + hourly(*question.cluster.price) + " per accelerator";
        if (chosen.dollars_per_million_tokens) {
            text += ", " + money(Dollars{*chosen.dollars_per_million_tokens}) + " per million " +
                    (plan.question.model.works_on_samples() ? "samples" : "tokens");
        }
        if (chosen.cost) {
            text += "; " + format_count(*question.tokens) + " tokens take " + span_of(*chosen.duration) + " and " +
                    money(*chosen.cost);
        }
        text += ".";
    }
    if (next && chosen.cost && *next->duration < *chosen.duration) {
        Seconds const saved = *chosen.duration - *next->duration;
        DollarsPerSecond const rate = (*next->cost - *chosen.cost) / saved;
        text += " Going to " + std::to_string(next->workers) + " saves " + span_of(saved);
        text += rate.base() > 0.0 ? " at " + money(rate * units::hour) + " for each hour saved." : " and money too.";
    } else if (next && !chosen.cost) {
        text += " " + step_up(plan, chosen, *next) + ".";
    }
    return {"Is it worth the money?", text};
}

} // namespace

std::vector<ChecklistItem> checklist_of(Plan const& plan) {
    if (!plan.recommended) { return {}; }
    CurvePoint const& chosen = plan.curve[*plan.recommended];
    Prediction const& prediction = *chosen.prediction;
    return {serial_share(prediction), growth(plan), bound(prediction), collectives(prediction),
            money_worth(plan, chosen)};
}

} // namespace headroom::training::planner
