#include "predict/predict_question.hpp"

#include "arguments.hpp"
#include "document/text.hpp"
#include "left_out.hpp"

#include "headroom/consequences.hpp"
#include "headroom/error.hpp"

namespace headroom::cli {
namespace {

constexpr int largest_cluster = 1'000'000;

int one_worker_count(Arguments const& arguments, Setting& setting) {
    std::vector<int> const counts = read_workers(arguments, setting.cluster);
    if (counts.size() == 1) { return counts.front(); }
    if (counts.size() > 1) {
        throw InputError{Fault::usage,
                         {.where = "--workers",
                          .problem = std::to_string(counts.size()) + " counts given",
                          .why = "predict answers one configuration",
                          .hint = "use headroom plan for a curve"}};
    }
    PartialStrategy const& given = setting.given;
    if (given.dp && given.tp && given.pp) {
        double const product = static_cast<double>(*given.dp) * *given.tp * *given.pp * given.cp.value_or(1);
        if (product <= largest_cluster) { return static_cast<int>(product); }
        throw InputError{Fault::usage,
                         {.where = "--dp",
                          .problem = "dp x tp x pp x cp make " + scaled(product) + " workers",
                          .why = "at most " + std::to_string(largest_cluster) + " are modelled",
                          .hint = "give smaller degrees"}};
    }
    throw InputError{Fault::usage,
                     {.where = "--workers",
                      .problem = "missing",
                      .why = "nor do --dp, --tp and --pp say it",
                      .hint = "how many accelerators? --workers 64, or --nodes 8"}};
}

/// The batches next to the one given that the replicas can share.
std::string batch_hint(Strategy const& strategy, Workload const& workload) {
    std::int64_t const share = static_cast<std::int64_t>(strategy.dp) * strategy.micro_batch;
    std::int64_t const below = workload.global_batch / share * share;
    return "give --global-batch " + (below > 0 ? std::to_string(below) + " or " : std::string{}) +
           std::to_string(below + share) + ", or other degrees";
}

/// Accumulation steps that somebody states are kept, or refused: never left out of the answer in silence.
void require_accumulation(Setting const& setting, Strategy const& strategy) {
    int const steps = whole_micro_batches(strategy, setting.workload);
    int const wanted = setting.given.grad_accum.value_or(steps);
    if (steps == wanted) { return; }
    std::string const dp = std::to_string(strategy.dp), micro_batch = std::to_string(strategy.micro_batch);
    double const batch = static_cast<double>(strategy.dp) * strategy.micro_batch * wanted;
    throw InputError{Fault::usage,
                     {.where = "--grad-accum",
                      .problem = std::to_string(wanted) + " micro-batches do not make the batch of " +
                                 std::to_string(setting.workload.global_batch),
                      .why = "of dp " + dp + " and micro-batch " + micro_batch + " it takes " + std::to_string(steps),
                      .hint = "leave it out, or give --global-batch " + whole(batch)}};
}

} // namespace

Question make_question(Arguments const& arguments, Setting& setting) {
    LeftOutRequest const left_out = read_left_out(arguments, setting);
    int const workers = one_worker_count(arguments, setting);
    auto const complete = [&] {
        return assume(setting.given, setting.model, setting.cluster, setting.framework, setting.workload, workers);
    };
    AssumedStrategy assumed = complete();
    if (fit_assumed_batch(arguments, setting, assumed.strategy)) { assumed = complete(); }
    std::string const illegal = illegal_because(assumed.strategy, setting.model, setting.workload);
    if (!illegal.empty()) {
        bool const of_batch = illegal.find("divide the batch") != std::string::npos;
        throw InputError{Fault::usage,
                         {.where = "strategy",
                          .problem = "not possible for " + setting.model.name,
                          .why = illegal,
                          .hint = of_batch ? batch_hint(assumed.strategy, setting.workload)
                                           : "change it, or leave it out and it is chosen"}};
    }
    require_accumulation(setting, assumed.strategy);
    std::vector<Assumption> assumptions = setting.assumptions;
    add_assumptions(assumptions, assumed.assumptions);
    add_assumptions(assumptions,
                    consequences(assumed.strategy, setting.model, setting.workload, setting.cluster.domain));
    Question question{.model = setting.model,
                      .cluster = setting.cluster,
                      .framework = setting.framework,
                      .workload = setting.workload,
                      .strategy = assumed.strategy,
                      .assumptions = std::move(assumptions),
                      .tokens = setting.tokens};
    left_out.apply(question);
    return question;
}

} // namespace headroom::cli
