// Motivation: a search prices only the best of its screen. How much slower is the plan that it finds than the one that it would
// find if it priced all legal plans?
// Measured on the fastest price, before ties go to simpler plans.
// Target: over 1,000 random questions at most 1 % in the worst case, 0.1 % in the mean.
// HEADROOM_QUESTIONS says how many that have an answer (default 200), HEADROOM_SEED which (default 0), HEADROOM_FIRST the first (default 0).
// Last result (one core of a shared 2.6 GHz x86-64 virtual machine, g++ 12 -O2): see docs/accuracy.md.

#include "headroom/io/catalog.hpp"
#include "headroom/io/plan_menu.hpp"
#include "headroom/training/memory.hpp"
#include "headroom/training/plan.hpp"
#include "headroom/training/simulation_agreement.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace headroom {
namespace {

using namespace training;

std::uint64_t asked(char const* name, std::uint64_t usual) {
    char const* text = std::getenv(name);
    return text != nullptr ? std::strtoull(text, nullptr, 10) : usual;
}

struct Fastest {
    Seconds step;
    std::string name;
};

/// Priced time of the fastest legal plan that fits, or `found` where none is faster.
///
/// A plan whose blocks alone take longer than the best so far is not priced: no stage can be done before its own work,
/// and the longest stage has at least the average. A tenth is left to streams that overlap within a block.
/// HEADROOM_PRICE_ALL prices each.
Fastest best_of_all(Question const& question, StepSetting const& setting, double pace, Seconds found) {
    bool const every = std::getenv("HEADROOM_PRICE_ALL") != nullptr;
    Fastest best{.step = found, .name = "the same"};
    auto const legal = legal_strategies(setting.model, setting.cluster, setting.framework, setting.workload,
                                        question.strategy.workers(), {});
    for (Strategy const& one : legal) {
        MemoryUse const use = memory_use(setting, one);
        if (use.total() > usable_memory(question.cluster.accelerator, use)) { continue; }
        LayerShape const shape = shape_of(one, setting.workload);
        LayerCosts costs = layer_costs(step_program(setting.model, shape, setting.framework), shape, setting.cluster,
                                       setting.framework, setting.constants);
        costs.pace(pace);
        double const micro_batches = micro_batch_count(one, setting.workload);
        double const work = depth_of(setting.model) * costs.block.total().base() / one.pp;
        if (!every && costs.frozen_blocks == 0 && 0.9 * micro_batches * work > best.step.base()) { continue; }
        Seconds const step = price_step(setting, one, costs).total();
        if (step < best.step) { best = {.step = step, .name = short_name(one)}; }
    }
    return best;
}

int run() {
    io::Catalog const catalog;
    auto const menu = io::agreement_menu(catalog);
    CalibrationSet const calibration = catalog.calibration("training");
    Calibration const constants = calibration.values();
    std::uint64_t const questions = asked("HEADROOM_QUESTIONS", 200), seed = asked("HEADROOM_SEED", 0),
                        first = asked("HEADROOM_FIRST", 0);
    std::vector<double> regrets;
    std::string beyond; ///< of 1 %
    std::uint64_t i = first;
    for (; regrets.size() < questions; ++i) {
        Question const question = random_plan(menu, seed, i);
        if (question.strategy.workers() > 128) { continue; } // all legal plans of more take minutes
        StepSetting const setting{question.model, question.cluster, question.framework, constants, question.workload};
        double const pace = pace_of(question.framework, question.model, calibration);
        auto const found =
            search(setting, {.workers = {question.strategy.workers()}, .fixed = {}, .run = {}, .pace = pace}, 1).at(0);
        if (found.best.empty()) { continue; }
        auto const best = best_of_all(question, setting, pace, found.fastest);
        double const regret = found.fastest / best.step - 1.0;
        if (regret > 0.01) {
            beyond += "\n  " + std::to_string(i) + ": " + std::to_string(100.0 * regret) + " %, " +
                      question.model.name + " on " + question.cluster.name + " with " + question.framework.name + ", " +
                      std::to_string(question.strategy.workers()) + " workers, found " +
                      short_name(found.best.front()) + ", fastest " + best.name;
        }
        regrets.push_back(regret);
    }
    double sum = 0.0;
    for (double const one : regrets) { sum += one; }
    std::ranges::sort(regrets);
    std::printf("screen_bench: %zu questions of seed %llu: regret mean %.3f %%, 99th percentile %.2f %%, worst %.2f "
                "%%, next HEADROOM_FIRST %llu%s\n",
                regrets.size(), static_cast<unsigned long long>(seed),
                100.0 * sum / static_cast<double>(regrets.size()), 100.0 * regrets[regrets.size() * 99 / 100],
                100.0 * regrets.back(), static_cast<unsigned long long>(i), beyond.c_str());
    return 0;
}

} // namespace
} // namespace headroom

int main() { return headroom::run(); }
