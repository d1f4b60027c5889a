#include "headroom/io/training_question.hpp"

#include "headroom/error.hpp"
#include "headroom/io/file.hpp"
#include "headroom/training/consequences.hpp"
#include "headroom/training/legality.hpp"
#include "headroom/training/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace headroom::io {

using namespace headroom::training;

namespace {

constexpr int largest_cluster = 1'000'000;

/// The batches next to the one given that the replicas can share.
std::string batch_hint(Strategy const& strategy, Workload const& workload) {
    std::int64_t const share = static_cast<std::int64_t>(strategy.dp) * strategy.micro_batch;
    std::int64_t const below = workload.global_batch / share * share;
    return "give --global-batch " + (below > 0 ? std::to_string(below) + " or " : std::string{}) +
           std::to_string(below + share) + ", or other degrees";
}

/// Accumulation steps that somebody states are kept, or refused: never left out of the answer in silence.
void require_accumulation(TrainingSetting const& setting, Strategy const& strategy) {
    int const steps = whole_micro_batches(strategy, setting.workload);
    int const wanted = setting.given.grad_accum.value_or(steps);
    if (steps == wanted) { return; }
    std::string const dp = std::to_string(strategy.dp), micro_batch = std::to_string(strategy.micro_batch);
    double const batch = static_cast<double>(strategy.dp) * strategy.micro_batch * wanted;
    refuse("--grad-accum",
           std::to_string(wanted) + " micro-batches do not make the batch of " +
               std::to_string(setting.workload.global_batch),
           "of dp " + dp + " and micro-batch " + micro_batch + " it takes " + std::to_string(steps),
           "leave it out, or give --global-batch " + fmt::format("{:.0f}", batch));
}

[[noreturn]] void refuse_illegal(Illegality const& illegality, Strategy const& strategy,
                                 TrainingSetting const& setting) {
    bool const of_batch = illegality.rule == LegalityRule::micro_batch;
    refuse("strategy", "not possible for " + setting.model.name, illegality.words,
           of_batch ? batch_hint(strategy, setting.workload) : "change it, or leave it out and it is chosen");
}

} // namespace

int one_worker_count(TrainingSetting const& setting) {
    if (setting.workers.size() == 1) { return setting.workers.front(); }
    if (setting.workers.size() > 1) {
        refuse("--workers", std::to_string(setting.workers.size()) + " counts given",
               "predict answers one configuration", "use headroom plan for a curve");
    }
    PartialStrategy const& given = setting.given;
    if (given.dp && given.tp && given.pp) {
        double const product = static_cast<double>(*given.dp) * *given.tp * *given.pp * given.cp.value_or(1);
        if (product <= largest_cluster) { return static_cast<int>(product); }
        refuse("--dp", "dp x tp x pp x cp make " + format_count(product) + " workers",
               "at most " + std::to_string(largest_cluster) + " are modelled", "give smaller degrees");
    }
    refuse("--workers", "missing", "nor do --dp, --tp and --pp say it",
           "how many accelerators? --workers 64, or --nodes 8");
}

namespace {

/// Strategy that `plan` chooses at this size; where it finds none that is legal, the one that `assume` fills in, for the reason.
AssumedStrategy complete_strategy(TrainingSetting const& setting, Disturbance const& disturbance, int workers) {
    Calibration const constants = setting.calibration.values();
    StepSetting const step{.model = setting.model,
                           .cluster = setting.cluster,
                           .framework = setting.framework,
                           .constants = constants,
                           .workload = setting.workload,
                           .disturbance = disturbance};
    bool const refused = !contradiction_of(setting.given).empty() || workers > largest_degree;
    auto chosen = refused
                      ? std::nullopt
                      : chosen_strategy(step, {.workers = {workers},
                                               .fixed = setting.given,
                                               .run = {},
                                               .pace = pace_of(setting.framework, setting.model, setting.calibration,
                                                               setting.cluster.accelerator, setting.given.precision),
                                               .margin = memory_margin(setting.calibration, setting.framework,
                                                                       setting.assumptions, setting.memory_risk)});
    if (chosen) { return std::move(*chosen); }
    return assume(setting.given, setting.model, setting.cluster, setting.framework, setting.workload, workers);
}

/// Batch that nobody stated, as a multiple of all workers: more degrees divide it.
bool spread_assumed_batch(TrainingSetting& setting, int workers) {
    Strategy all;
    all.dp = workers;
    return fit_assumed_batch(setting, all);
}

} // namespace

Question training_question(TrainingSetting& setting, Disturbance const& disturbance) {
    int const workers = one_worker_count(setting);
    AssumedStrategy assumed = complete_strategy(setting, disturbance, workers);
    bool const illegal = illegality_of(assumed.strategy, setting.model, setting.workload).has_value();
    bool const changed = illegal && !setting.given.dp ? spread_assumed_batch(setting, workers) : false;
    if (changed || fit_assumed_batch(setting, assumed.strategy)) {
        assumed = complete_strategy(setting, disturbance, workers);
    }
    if (auto const illegality = illegality_of(assumed.strategy, setting.model, setting.workload)) {
        refuse_illegal(*illegality, assumed.strategy, setting);
    }
    require_accumulation(setting, assumed.strategy);
    std::vector<Assumption> assumptions = setting.assumptions;
    add_assumptions(assumptions, assumed.assumptions);
    add_assumptions(assumptions,
                    consequences(assumed.strategy, setting.model, setting.workload, setting.cluster.domain));
    return {.model = setting.model,
            .cluster = setting.cluster,
            .framework = setting.framework,
            .workload = setting.workload,
            .strategy = assumed.strategy,
            .assumptions = std::move(assumptions),
            .tokens = setting.tokens};
}

Catalog open_catalog(std::optional<std::filesystem::path> const& folder) {
    namespace fs = std::filesystem;
    std::vector<fs::path> overlays;
    if (folder) {
        if (std::error_code error; !fs::is_directory(*folder, error)) {
            throw InputError{Fault::unreadable,
                             {.where = "--catalog", .problem = "no folder " + headroom::quoted(folder->string())}};
        }
        overlays.push_back(*folder);
    }
    std::vector<fs::path> standard{fs::path{"headroom"} / "catalog"};
    if (char const* xdg = std::getenv("XDG_CONFIG_HOME"); xdg != nullptr && *xdg != '\0') {
        standard.push_back(fs::path{xdg} / "headroom" / "catalog");
    } else if (char const* home = std::getenv("HOME"); home != nullptr && *home != '\0') {
        standard.push_back(fs::path{home} / ".config" / "headroom" / "catalog");
    }
    for (fs::path const& place : standard) {
        if (std::error_code error; fs::is_directory(place, error)) { overlays.push_back(place); }
    }
    return Catalog{overlays};
}

CalibrationSet open_calibration(std::optional<std::string> const& file, Catalog const& catalog) {
    CalibrationSet set = catalog.calibration("training");
    if (file) {
        auto memory = std::move(set.memory);
        set = read_calibration(read_file(*file), *file, set);
        set.memory = std::move(memory);
    }
    if (set.name.empty()) { set.name = file.value_or("training"); }
    return set;
}

void add_assumptions(std::vector<Assumption>& all, std::vector<Assumption> const& more) {
    for (Assumption const& one : more) {
        if (std::ranges::find(all, one.field, &Assumption::field) == all.end()) { all.push_back(one); }
    }
}

} // namespace headroom::io
