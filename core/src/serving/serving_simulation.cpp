#include "headroom/serving/serving_simulation.hpp"

#include "base/events/alarms.hpp"
#include "queueing/drawn_times.hpp"
#include "queueing/line_choice.hpp"
#include "serving/replica.hpp"

#include "headroom/error.hpp"
#include "headroom/interrupt.hpp"

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace headroom::serving {
namespace {

constexpr std::size_t most_requests = 1'000'000'000;
constexpr int most_replicas = 1'000'000;
/// A fleet that keeps up has no more than so many times as many requests in the second half as in the first.
constexpr double steady_growth = 1.5;

[[noreturn]] void refuse(Fault fault, std::string problem, std::string hint = {}) {
    throw InputError{fault, {.where = "serving", .problem = std::move(problem), .hint = std::move(hint)}};
}

void check(std::span<ServingRequest const> requests, ServingPricer const& pricer, ServingExperiment const& experiment) {
    if (requests.empty()) { refuse(Fault::usage, "there are no requests"); }
    if (requests.size() > most_requests) { refuse(Fault::usage, "more than 10^9 requests"); }
    if (experiment.replicas < 1) { refuse(Fault::usage, "there is no replica"); }
    if (experiment.replicas > most_replicas) { refuse(Fault::usage, "more than a million replicas"); }
    if (experiment.dispatch == Dispatch::shared_line) {
        refuse(Fault::usage, "replicas do not share a line", "dispatch by shortest_line comes nearest to it");
    }
    if (!pricer.memory().fits) { refuse(Fault::usage, "the model does not fit an accelerator"); }
    double before = 0.0;
    for (auto const& request : requests) {
        if (!(request.arrives >= before) || !(request.arrives < Replica::never)) {
            refuse(Fault::usage, "requests are out of order, or at no time", "they are sorted by their arrival");
        }
        if (request.prompt < 1 || request.output < 1) {
            refuse(Fault::usage, "a request has no prompt or asks for no token");
        }
        before = request.arrives;
    }
    if (!(experiment.warm_up.base() >= 0.0)) { refuse(Fault::usage, "warming up takes a negative time"); }
    if (experiment.warm_up.base() > before) { refuse(Fault::insufficient, "no request arrives after warming up"); }
}

/// Purpose of the generator that dispatches.
constexpr std::uint64_t dispatching = 11;

queueing::LineChoice choice_of(ServingExperiment const& experiment) {
    return {experiment.dispatch, static_cast<std::uint32_t>(experiment.replicas),
            queueing::random_for(experiment.seed, dispatching)};
}

/// Replicas that do not need to know of each other: each serves what was dispatched to it.
void serve_apart(std::span<ServingRequest const> requests, ServingPricer::Tables const& tables,
                 ServingExperiment const& experiment, ServingSpan const& span, Executor const& executor,
                 std::vector<ServingTally>& tallies) {
    auto const replicas = static_cast<std::size_t>(experiment.replicas);
    std::vector<std::vector<std::uint32_t>> own(replicas);
    auto choice = choice_of(experiment);
    for (std::size_t i = 0; i < requests.size(); ++i) { own[choice.pick()].push_back(static_cast<std::uint32_t>(i)); }
    tallies.resize(replicas);
    auto const serve_one = [&](int r) {
        auto const place = static_cast<std::size_t>(r);
        Replica replica{tables, experiment, span, tallies[place]};
        for (auto const i : own[place]) {
            keep_on(experiment.stop);
            replica.advance(requests[i].arrives);
            replica.arrive(requests[i]);
        }
        replica.advance(Replica::never);
    };
    run_each(executor, experiment.replicas, serve_one);
}

/// Replicas whose lines are compared: all are brought to the time of each arrival.
class Fleet {
public:
    Fleet(ServingPricer::Tables const& tables, ServingExperiment const& experiment, ServingSpan const& span,
          ServingTally& tally)
        : choice_{choice_of(experiment)}, changes_(static_cast<std::size_t>(experiment.replicas)) {
        replicas_.reserve(static_cast<std::size_t>(experiment.replicas));
        for (int r = 0; r < experiment.replicas; ++r) { replicas_.emplace_back(tables, experiment, span, tally); }
    }

    void arrive(ServingRequest const& request) {
        bring_to(request.arrives);
        std::uint32_t const to = choice_.pick();
        if (!replicas_[to].arrive(request)) { return; }
        choice_.come(to);
        changes_.set(to, replicas_[to].next_change());
    }

    void finish() {
        for (auto& replica : replicas_) { replica.advance(Replica::never); }
    }

private:
    void bring_to(double now) {
        while (changes_.next() < now) {
            std::uint32_t const r = changes_.first();
            int const before = replicas_[r].present();
            // one change at a time: lines grow shorter in the order of time, however many iterations are added up
            replicas_[r].advance(std::nextafter(changes_.next(), Replica::never));
            for (int left = replicas_[r].present(); left < before; ++left) { choice_.leave(r); }
            changes_.set(r, replicas_[r].next_change());
        }
    }

    queueing::LineChoice choice_;
    std::vector<Replica> replicas_;
    events::Alarms<double> changes_; ///< when each changes next
};

bool steady(ServingTally const& all, double span, int replicas) {
    double const half = 0.5 * span;
    if (half <= 0.0) { return true; }
    double const first = all.present[0] / half, second = all.present[1] / half;
    return second <= steady_growth * first || second - first <= static_cast<double>(replicas);
}

ServingResult result_of(ServingTally&& all, ServingSpan const& span, ServingExperiment const& experiment) {
    ServingResult result;
    result.requests = all.requests, result.refused = all.refused;
    result.preemptions = all.preemptions, result.iterations = all.iterations, result.events = all.events;
    result.cache_peak = all.cache_peak;
    double seconds = span.end - span.begin;
    // all at once, none was served before the last came: then the time until the last answer is what counts
    bool const at_once = all.left == all.served;
    auto work = all.work[0];
    double present = all.present[0] + all.present[1], waiting = all.waiting[0];
    if (at_once) {
        work.add(all.work[1]);
        present += all.present[2], waiting += all.waiting[1];
        seconds = std::max(all.last, span.end) - span.begin;
    }
    result.stable = at_once || steady(all, seconds, experiment.replicas);
    result.unfinished = result.stable ? 0 : all.left;
    result.span = Seconds{seconds};
    if (all.requests > 0) { result.met = static_cast<double>(all.met) / static_cast<double>(all.requests); }
    result.first_token = std::move(all.first_token), result.per_token = std::move(all.per_token);
    result.whole = std::move(all.whole);
    if (seconds <= 0.0) { return result; }
    double const fleet = seconds * experiment.replicas;
    result.goodput_per_second = static_cast<double>(all.met) / seconds;
    result.output_tokens_per_second = work.outputs / seconds;
    result.prompt_tokens_per_second = work.prompts / seconds;
    result.mean_present = present / seconds, result.mean_waiting = waiting / seconds;
    result.mean_batch = work.busy > 0.0 ? work.batch / work.busy : 0.0;
    result.busy = std::min(1.0, work.busy / fleet);
    result.cache_use = work.cache / fleet;
    return result;
}

} // namespace

void ServingTally::add(ServingTally const& other) {
    first_token.merge(other.first_token), per_token.merge(other.per_token), whole.merge(other.whole);
    requests += other.requests, met += other.met, refused += other.refused, preemptions += other.preemptions;
    iterations += other.iterations, events += other.events, left += other.left, served += other.served;
    for (std::size_t i = 0; i < work.size(); ++i) { work[i].add(other.work[i]); }
    for (std::size_t i = 0; i < present.size(); ++i) { present[i] += other.present[i]; }
    for (std::size_t i = 0; i < waiting.size(); ++i) { waiting[i] += other.waiting[i]; }
    cache_peak = std::max(cache_peak, other.cache_peak);
    last = std::max(last, other.last);
}

ServingResult simulate_serving(std::span<ServingRequest const> requests, ServingPricer const& pricer,
                               ServingExperiment const& experiment, Executor const& executor) {
    check(requests, pricer, experiment);
    ServingSpan const span{.begin = experiment.warm_up.base(), .end = requests.back().arrives};
    bool const apart = experiment.dispatch == Dispatch::round_robin || experiment.dispatch == Dispatch::random;
    ServingTally all;
    if (apart) {
        std::vector<ServingTally> tallies;
        serve_apart(requests, pricer.tables(), experiment, span, executor, tallies);
        for (auto const& tally : tallies) { all.add(tally); }
    } else {
        Fleet fleet{pricer.tables(), experiment, span, all};
        for (auto const& request : requests) {
            keep_on(experiment.stop);
            fleet.arrive(request);
        }
        fleet.finish();
    }
    return result_of(std::move(all), span, experiment);
}

} // namespace headroom::serving
