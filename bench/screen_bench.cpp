// Motivation: a search prices only the best of its screen. How much slower is the plan that it finds than the one that it would
// find if it priced all legal plans?
// Measured on the fastest price, before ties go to simpler plans. A plan is not priced where a time that its price cannot be below
// (`PriceFloor`) is no shorter than the best price so far; HEADROOM_PRICE_ALL prices each and compares it with its floor.
// Target: over 1,000 random questions at most 1 % in the worst case, 0.1 % in the mean.
// HEADROOM_QUESTIONS says how many that have an answer (default 200), HEADROOM_SEED which (default 0), HEADROOM_FIRST the first
// (default 0), HEADROOM_WORKERS the most accelerators (default and at most 1,024), HEADROOM_THREADS how many questions at a time
// (default 1). Each prints a line when it is answered.
// Last result (one core of a shared 2.6 GHz x86-64 virtual machine, g++ 12 -O2): see docs/accuracy.md.

#include "price_floor.hpp"

#include "headroom/io/catalog.hpp"
#include "headroom/io/plan_menu.hpp"
#include "headroom/training/memory.hpp"
#include "headroom/training/plan.hpp"
#include "headroom/training/simulation_agreement.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace headroom {
namespace {

using namespace training;

std::uint64_t asked(char const* name, std::uint64_t usual) {
    char const* text = std::getenv(name);
    return text != nullptr ? std::strtoull(text, nullptr, 10) : usual;
}

/// A question, and the answer that search gives.
struct Asked {
    std::uint64_t index = 0;
    Question question;
    double pace = 1.0;
    Seconds found = {};
    std::string plan = {};
};

StepSetting setting_of(Question const& question, Calibration const& constants) {
    return {.model = question.model,
            .cluster = question.cluster,
            .framework = question.framework,
            .constants = constants,
            .workload = question.workload,
            .expected_slowest = expected_slowest({}, question.framework, question.strategy.workers())};
}

struct Fastest {
    Seconds step;
    std::string name;
    std::size_t legal = 0, priced = 0;
    double screened = 1.0; ///< over its price
};

/// A plan that may be faster than the one that was found.
struct Candidate {
    Strategy const* strategy;
    double screened;
};

/// Ends the program where a price is below its floor: then plans were left out that may be the fastest.
void compare(Strategy const& strategy, double floor, Seconds price) {
    constexpr double rounding = 1e-6;
    if (floor <= price.base() * (1.0 + rounding)) { return; }
    std::printf("%s is priced at %.9g s, below its floor of %.9g s\n", short_name(strategy).c_str(), price.base(),
                floor);
    std::exit(1);
}

/// Price of the fastest legal plan that fits, or `found` where none is faster.
Fastest best_of_all(Asked const& asked, Calibration const& constants) {
    bool const every = std::getenv("HEADROOM_PRICE_ALL") != nullptr;
    StepSetting const setting = setting_of(asked.question, constants);
    auto const legal = legal_strategies(setting.model, setting.cluster, setting.framework, setting.workload,
                                        asked.question.strategy.workers(), {});
    Fastest best{.step = asked.found, .name = "the same", .legal = legal.size()};
    PriceFloor floor{setting, asked.pace};
    std::vector<Candidate> left;
    for (Strategy const& one : legal) {
        if (!every && floor.of_pipeline(one) >= best.step.base()) { continue; }
        MemoryUse const use = memory_use(setting, one);
        if (use.total() > usable_memory(setting.cluster.accelerator, use)) { continue; }
        left.push_back({&one, screen_step(setting, one, floor.costs(one)).base()});
    }
    std::ranges::sort(left, {}, &Candidate::screened); // fast ones first: they spare the others
    for (Candidate const& one : left) {
        Strategy const& strategy = *one.strategy;
        double const least = floor.of_all(strategy);
        if (!every && least >= best.step.base()) { continue; }
        Seconds const step = price_step(setting, strategy, floor.costs(strategy)).total();
        compare(strategy, least, step);
        ++best.priced;
        if (step > best.step) { continue; }
        best.screened = one.screened / step.base();
        if (step < best.step) { best.step = step, best.name = short_name(strategy); }
    }
    return best;
}

std::vector<Asked> questions_of(io::Catalog const& catalog, std::uint64_t count, std::uint64_t seed,
                                std::uint64_t first) {
    auto const menu = io::agreement_menu(catalog);
    int const most = static_cast<int>(asked("HEADROOM_WORKERS", 1024));
    CalibrationSet const calibration = catalog.calibration("training");
    Calibration const constants = calibration.values();
    std::vector<Asked> all;
    for (std::uint64_t i = first; all.size() < count; ++i) {
        Asked one{.index = i, .question = random_plan(menu, seed, i)};
        int const workers = one.question.strategy.workers();
        if (workers > most) { continue; }
        one.pace = pace_of(one.question.framework, one.question.model, calibration);
        auto const found = search(setting_of(one.question, constants),
                                  {.workers = {workers}, .fixed = {}, .run = {}, .pace = one.pace}, 1)
                               .at(0);
        if (found.best.empty()) { continue; }
        one.found = found.fastest, one.plan = short_name(found.best.front());
        all.push_back(std::move(one));
    }
    return all;
}

void print_line(Asked const& one, Fastest const& best, double regret) {
    std::printf("%llu: %.4f %%, %s on %s with %s, %d workers, batch %d of %d: found %s, fastest %s, screened %+.2f %%, "
                "priced %zu of %zu\n",
                static_cast<unsigned long long>(one.index), 100.0 * regret, one.question.model.name.c_str(),
                one.question.cluster.name.c_str(), one.question.framework.name.c_str(), one.question.strategy.workers(),
                one.question.workload.global_batch, one.question.workload.sequence_length, one.plan.c_str(),
                best.name.c_str(), 100.0 * (best.screened - 1.0), best.priced, best.legal);
    std::fflush(stdout);
}

int run() {
    io::Catalog const catalog;
    Calibration const constants = catalog.calibration("training").values();
    std::uint64_t const seed = asked("HEADROOM_SEED", 0);
    auto const questions = questions_of(catalog, asked("HEADROOM_QUESTIONS", 200), seed, asked("HEADROOM_FIRST", 0));
    std::vector<double> regrets(questions.size());
    std::atomic<std::size_t> next = 0;
    {
        std::vector<std::jthread> threads;
        for (std::uint64_t t = 0; t < asked("HEADROOM_THREADS", 1); ++t) {
            threads.emplace_back([&] {
                for (std::size_t i = next++; i < questions.size(); i = next++) {
                    auto const best = best_of_all(questions[i], constants);
                    regrets[i] = questions[i].found / best.step - 1.0;
                    print_line(questions[i], best, regrets[i]);
                }
            });
        }
    }
    double sum = 0.0;
    for (double const one : regrets) { sum += one; }
    std::ranges::sort(regrets);
    std::printf(
        "screen_bench: %zu questions of seed %llu: regret mean %.4f %%, 99th percentile %.3f %%, worst %.3f %%, "
        "next HEADROOM_FIRST %llu\n",
        regrets.size(), static_cast<unsigned long long>(seed), 100.0 * sum / static_cast<double>(regrets.size()),
        100.0 * regrets[regrets.size() * 99 / 100], 100.0 * regrets.back(),
        static_cast<unsigned long long>(questions.back().index + 1));
    return 0;
}

} // namespace
} // namespace headroom

int main() { return headroom::run(); }
