#include "support/serving.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>

namespace headroom {

using namespace headroom::training;

namespace {

using namespace serving;

Model const& any_model() {
    static std::array const models{training::catalog().model("llama-3-8b"), training::catalog().model("gemma-3-1b"),
                                   training::catalog().model("nemotron-h-8b"),
                                   training::catalog().model("olmoe-1b-7b")};
    return models[*rc::gen::inRange<std::size_t>(0, models.size())];
}
ServingPlan any_plan() {
    return {.cache = *rc::gen::element(Precision::bf16, Precision::fp8),
            .most_sequences = *rc::gen::inRange(1, 40),
            .prefill_chunk = *rc::gen::inRange(1, 700),
            .graphs = *rc::gen::arbitrary<bool>()};
}
/// Bursts, pauses and requests at one time; none at the very end of an iteration, where rounding would decide.
std::vector<ServingRequest> any_requests(int most) {
    std::vector<ServingRequest> requests;
    double now = 0.0;
    int const count = *rc::gen::inRange(1, most);
    for (int i = 0; i < count; ++i) {
        now += *rc::gen::element(0.0, 0.00100723, 0.01371913, 0.2131977, 3.317931) * *rc::gen::inRange(1, 5);
        requests.push_back({.arrives = now, .prompt = *rc::gen::inRange(1, 1500), .output = *rc::gen::inRange(1, 200)});
    }
    return requests;
}
ServingPricer any_pricer() {
    auto const& model = any_model();
    auto const plan = any_plan();
    double const room = *rc::gen::inRange(200, 20000);
    return {model, with_room(model, plan, room), stack(), fitted_values(), plan};
}

/// Any engine, any room for its cache, any requests: as a replica that keeps every sequence by itself.
RC_GTEST_PROP(Serving, AddsUpToOneIterationAfterTheOther, ()) {
    auto const pricer = any_pricer();
    auto const requests = any_requests(60);
    auto const plain = PlainReplica{pricer}.run(requests);
    double first = 0.0, whole = 0.0, last = 0.0;
    for (auto const& s : plain.served) {
        first = std::max(first, s.first - s.arrives);
        whole = std::max(whole, s.done - s.arrives);
        last = std::max(last, s.done);
    }
    auto const result = simulate_serving(requests, pricer, {});
    RC_ASSERT(result.refused == plain.refused);
    RC_ASSERT(result.requests == plain.served.size());
    RC_ASSERT(result.requests + result.refused == requests.size());
    RC_ASSERT(result.iterations == plain.iterations);
    RC_ASSERT(result.preemptions == plain.preemptions);
    RC_ASSERT(result.cache_peak <= 1.0 + 1e-12);
    if (plain.served.empty()) { return; }
    RC_ASSERT(std::abs(result.first_token.most() - first) <= 1e-9 * last);
    RC_ASSERT(std::abs(result.whole.most() - whole) <= 1e-9 * last);
}

/// However requests are dispatched, each is served once, and a fleet is never busier than all of the time.
RC_GTEST_PROP(Serving, ServesEachRequestOnce, ()) {
    auto const pricer = any_pricer();
    auto const requests = any_requests(120);
    auto const dispatch =
        *rc::gen::element(Dispatch::random, Dispatch::round_robin, Dispatch::two_choices, Dispatch::shortest_line);
    ServingExperiment experiment{.replicas = *rc::gen::inRange(1, 6), .dispatch = dispatch};
    auto const fast = simulate_serving(requests, pricer, experiment);
    experiment.one_by_one = true;
    auto const slow = simulate_serving(requests, pricer, experiment);
    RC_ASSERT(fast.requests + fast.refused == requests.size());
    RC_ASSERT(fast.busy >= 0.0 && fast.busy <= 1.0);
    RC_ASSERT(fast.cache_use >= 0.0 && fast.cache_use <= fast.cache_peak + 1e-12);
    RC_ASSERT(slow.requests == fast.requests);
    // lines that grow shorter at the same instant may do so in any order
    if (dispatch == Dispatch::round_robin || dispatch == Dispatch::random) {
        RC_ASSERT(slow.iterations == fast.iterations);
        RC_ASSERT(std::abs(slow.busy - fast.busy) <= 1e-9);
        RC_ASSERT(std::abs(slow.cache_use - fast.cache_use) <= 1e-9);
        RC_ASSERT(std::abs(slow.mean_present - fast.mean_present) <= 1e-9 * (1.0 + slow.mean_present));
    }
}

/// With stages, drafts, prefixes and users iterations that are added up give what they give one by one.
RC_GTEST_PROP(Serving, AddsUpStagesDraftsAndUsers, ()) {
    auto plan = any_plan();
    plan.graphs = true;
    plan.pp = *rc::gen::inRange(1, 4);
    plan.speculation = {.draft_tokens = *rc::gen::inRange(0, 6), .acceptance = *rc::gen::element(0.0, 0.3, 0.8, 1.0)};
    auto const& model = any_model();
    ServingPricer const pricer{model, with_room(model, plan, *rc::gen::inRange(2000, 20000)), stack(), fitted_values(),
                               plan};
    auto requests = any_requests(60);
    for (auto& one : requests) { one.cached = *rc::gen::inRange(0, one.prompt); }
    ServingExperiment experiment{.replicas = *rc::gen::inRange(1, 3), .dispatch = Dispatch::round_robin};
    experiment.concurrency = *rc::gen::inRange(0, 12);
    auto const fast = simulate_serving(requests, pricer, experiment);
    experiment.one_by_one = true;
    auto const slow = simulate_serving(requests, pricer, experiment);
    double const most = slow.whole.empty() ? 0.0 : slow.whole.most();
    RC_ASSERT(fast.requests == slow.requests);
    RC_ASSERT(fast.iterations == slow.iterations);
    if (!fast.whole.empty()) { RC_ASSERT(std::abs(fast.whole.most() - most) <= 1e-6 * most + 1e-5); }
    RC_ASSERT(fast.busy >= 0.0 && fast.busy <= 1.0);
    RC_ASSERT(fast.requests <= requests.size());
    if (experiment.concurrency > 0) { RC_ASSERT(fast.mean_present <= experiment.concurrency + 1e-6); }
}

/// With replicas for prompts alone each request is still served once, and its first token before its last.
RC_GTEST_PROP(Serving, ServesEachRequestOnceInTwo, ()) {
    auto const pricer = any_pricer();
    auto const requests = any_requests(80);
    auto const dispatch = *rc::gen::element(Dispatch::random, Dispatch::shortest_line);
    ServingExperiment experiment{.replicas = *rc::gen::inRange(1, 4), .dispatch = dispatch};
    experiment.prefill_replicas = *rc::gen::inRange(1, 4);
    auto const result = simulate_serving(requests, pricer, experiment);
    RC_ASSERT(result.requests + result.refused == requests.size());
    RC_ASSERT(result.cache_peak <= 1.0 + 1e-12);
    if (result.requests > 0) { RC_ASSERT(result.first_token.most() <= result.whole.most() * (1.0 + 1e-9)); }
}

/// More drafts that are accepted never make a token slower, and a longer prefix never a first token.
RC_GTEST_PROP(Serving, GainsByAcceptanceAndPrefixes, ()) {
    auto plan = any_plan();
    plan.speculation = {.draft_tokens = *rc::gen::inRange(1, 6), .acceptance = *rc::gen::inRange(0, 9) / 10.0};
    ServingPlan better = plan;
    better.speculation.acceptance += 0.1;
    auto const& model = any_model();
    std::vector<ServingRequest> request{{.prompt = *rc::gen::inRange(1, 1500), .output = *rc::gen::inRange(2, 100)}};
    auto const some = simulate_serving(request, ServingPricer{model, dgx(), stack(), fitted_values(), plan}, {});
    ServingPricer const pricer{model, dgx(), stack(), fitted_values(), better};
    auto const more = simulate_serving(request, pricer, {});
    RC_ASSERT(more.per_token.most() <= some.per_token.most() * (1.0 + 1e-12));
    request.front().cached = *rc::gen::inRange(0, request.front().prompt);
    RC_ASSERT(simulate_serving(request, pricer, {}).first_token.most() <= more.first_token.most() * (1.0 + 1e-12));
}

} // namespace
} // namespace headroom
