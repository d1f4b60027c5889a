#include "headroom/serving/serving_simulation.hpp"

#include "base/events/alarms.hpp"
#include "queueing/drawn_times.hpp"
#include "queueing/line_choice.hpp"
#include "serving/replica.hpp"

#include "headroom/error.hpp"
#include "headroom/interrupt.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace headroom::serving {
namespace {

constexpr std::size_t most_requests = 1'000'000'000;
constexpr int most_replicas = 1'000'000;
/// Time after an answer at which its user sends the next request: after the iteration, however it is added up.
constexpr double next_request = 1e-6;
/// Share of the requests of users that is not counted.
constexpr double closed_warm_up = 0.2;
/// A fleet that keeps up has no more than so many times as many requests in the second half as in the first.
constexpr double steady_growth = 1.5;

[[noreturn]] void refuse_serving(Fault fault, std::string problem, std::string hint = {}) {
    throw InputError{fault, {.where = "serving", .problem = std::move(problem), .hint = std::move(hint)}};
}

void check(std::span<ServingRequest const> requests, ServingPricer const& pricer, ServingExperiment const& experiment) {
    if (requests.empty()) { refuse_serving(Fault::usage, "there are no requests"); }
    if (requests.size() > most_requests) { refuse_serving(Fault::usage, "more than 10^9 requests"); }
    if (experiment.replicas < 1) { refuse_serving(Fault::usage, "there is no replica"); }
    if (experiment.replicas > most_replicas / pricer.plan().pp) {
        refuse_serving(Fault::usage, "more than a million replicas");
    }
    if (experiment.prefill_replicas < 0 || experiment.prefill_replicas > most_replicas / pricer.plan().pp) {
        refuse_serving(Fault::usage, "fewer than no prefill replicas, or more than a million");
    }
    if (experiment.prefill_replicas > 0 && experiment.concurrency > 0) {
        refuse_serving(Fault::usage, "users do not wait for two sorts of replicas", "let requests arrive at a rate");
    }
    if (experiment.concurrency < 0) { refuse_serving(Fault::usage, "fewer than no requests at a time"); }
    if (experiment.dispatch == Dispatch::shared_line) {
        refuse_serving(Fault::usage, "replicas do not share a line", "dispatch by shortest_line comes nearest to it");
    }
    if (!pricer.memory().fits) { refuse_serving(Fault::usage, "the model does not fit an accelerator"); }
    double before = 0.0;
    for (auto const& request : requests) {
        if (!(request.arrives >= before) || !(request.arrives < Replica::never)) {
            refuse_serving(Fault::usage, "requests are out of order, or at no time",
                           "they are sorted by their arrival");
        }
        if (request.prompt < 1 || request.output < 1) {
            refuse_serving(Fault::usage, "a request has no prompt or asks for no token");
        }
        before = request.arrives;
    }
    if (!(experiment.warm_up.base() >= 0.0)) { refuse_serving(Fault::usage, "warming up takes a negative time"); }
    if (experiment.warm_up.base() > before) {
        refuse_serving(Fault::insufficient, "no request arrives after warming up");
    }
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
                 std::vector<ServingTally>& tallies, std::span<ServedTimes> served) {
    auto const replicas = static_cast<std::size_t>(experiment.replicas);
    std::vector<std::vector<std::uint32_t>> own(replicas);
    auto choice = choice_of(experiment);
    for (std::size_t i = 0; i < requests.size(); ++i) { own[choice.pick()].push_back(static_cast<std::uint32_t>(i)); }
    tallies.resize(replicas);
    auto const serve_one = [&](int r) {
        auto const place = static_cast<std::size_t>(r);
        Replica replica{tables, experiment, span, tallies[place], served};
        for (auto const i : own[place]) {
            keep_on(experiment.stop);
            replica.advance(requests[i].arrives);
            replica.arrive(requests[i], i);
        }
        replica.advance(Replica::never);
    };
    run_each(executor, experiment.replicas, serve_one);
}

/// Replicas whose lines are compared: all are brought to the time of each arrival.
class Fleet {
public:
    Fleet(ServingPricer::Tables const& tables, ServingExperiment const& experiment, ServingSpan const& span,
          ServingTally& tally, std::vector<double>* answered = nullptr, std::span<ServedTimes> served = {})
        : choice_{choice_of(experiment)}, answered_{answered}, changes_(static_cast<std::size_t>(experiment.replicas)) {
        replicas_.reserve(static_cast<std::size_t>(experiment.replicas));
        for (int r = 0; r < experiment.replicas; ++r) {
            replicas_.emplace_back(tables, experiment, span, tally, served);
        }
    }

    void arrive(ServingRequest const& request, std::size_t index) {
        bring_to(request.arrives);
        std::uint32_t const to = choice_.pick();
        if (!replicas_[to].arrive(request, index)) { return answer(request.arrives); }
        choice_.come(to);
        changes_.set(to, replicas_[to].next_change());
    }

    /// Goes on to the end of the next change.
    void change() { bring_to(std::nextafter(changes_.next(), Replica::never)); }

    void finish() {
        for (auto& replica : replicas_) { replica.advance(Replica::never); }
    }

private:
    void bring_to(double now) {
        while (changes_.next() < now) {
            std::uint32_t const r = changes_.first();
            int const before = replicas_[r].present();
            double const then = changes_.next();
            // one change at a time: lines grow shorter in the order of time, however many iterations are added up
            replicas_[r].advance(std::nextafter(then, Replica::never));
            for (int left = replicas_[r].present(); left < before; ++left) {
                choice_.leave(r);
                answer(then);
            }
            changes_.set(r, replicas_[r].next_change());
        }
    }

    void answer(double when) {
        if (answered_ != nullptr) { answered_->push_back(when); }
    }

    queueing::LineChoice choice_;
    std::vector<double>* answered_; ///< times of answers, in order; empty: nobody asks
    std::vector<Replica> replicas_;
    events::Alarms<double> changes_; ///< when each changes next
};

/// The requests of users who each send the next one when the one before is answered.
std::vector<ServingRequest> closed_loop(std::span<ServingRequest const> requests, ServingPricer::Tables const& tables,
                                        ServingExperiment const& experiment) {
    std::vector<ServingRequest> sent{requests.begin(), requests.end()};
    std::vector<double> answered;
    ServingTally tally;
    Fleet fleet{tables, experiment, {.begin = 0.0, .end = Replica::never}, tally, &answered};
    auto const users = static_cast<std::size_t>(experiment.concurrency);
    for (std::size_t i = 0; i < sent.size(); ++i) {
        keep_on(experiment.stop);
        sent[i].arrives = 0.0;
        if (i >= users) {
            while (answered.size() <= i - users) { fleet.change(); }
            sent[i].arrives = answered[i - users] + next_request;
        }
        fleet.arrive(sent[i], i);
    }
    return sent;
}

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

/// Serves requests that arrive at their times.
static ServingResult serve_arrivals(std::span<ServingRequest const> requests, ServingPricer const& pricer,
                                    ServingExperiment const& experiment, Executor const& executor,
                                    std::span<ServedTimes> served = {}) {
    ServingSpan const span{.begin = experiment.warm_up.base(), .end = requests.back().arrives};
    bool const apart = experiment.dispatch == Dispatch::round_robin || experiment.dispatch == Dispatch::random;
    ServingTally all;
    if (apart) {
        std::vector<ServingTally> tallies;
        serve_apart(requests, pricer.tables(), experiment, span, executor, tallies, served);
        for (auto const& tally : tallies) { all.add(tally); }
    } else {
        Fleet fleet{pricer.tables(), experiment, span, all, nullptr, served};
        for (std::size_t i = 0; i < requests.size(); ++i) {
            keep_on(experiment.stop);
            fleet.arrive(requests[i], i);
        }
        fleet.finish();
    }
    return result_of(std::move(all), span, experiment);
}

/// Latencies of requests that two replicas served, each with both of its times.
static void count_both(ServingResult& result, std::span<ServingRequest const> requests,
                       std::span<ServedTimes const> first, std::span<ServedTimes const> last,
                       ServingExperiment const& experiment) {
    LatencyHistogram token, each, whole;
    std::uint64_t met = 0, counted = 0;
    double latest = 0.0, outputs = 0.0;
    auto const keeps = [](std::optional<Seconds> const& limit, double time) { return !limit || time <= limit->base(); };
    for (std::size_t i = 0; i < requests.size(); ++i) {
        bool const more = requests[i].output > 1;
        double const done = more ? last[i].done : first[i].done;
        if (requests[i].arrives < experiment.warm_up.base() || done < 0.0) { continue; }
        double const until = first[i].done - requests[i].arrives, all = done - requests[i].arrives;
        double const pace = more ? (done - first[i].done) / (requests[i].output - 1.0) : 0.0;
        token.record(until), whole.record(all);
        latest = std::max(latest, done), outputs += requests[i].output;
        if (more) { each.record(pace); }
        auto const& limits = experiment.objectives;
        ++counted, met += keeps(limits.first_token, until) && keeps(limits.per_token, pace) && keeps(limits.whole, all);
    }
    result.requests = counted;
    result.met = counted > 0 ? static_cast<double>(met) / static_cast<double>(counted) : 0.0;
    if (requests.back().arrives <= experiment.warm_up.base() && latest > 0.0) { // all at once
        result.span = Seconds{latest} - experiment.warm_up;
        result.output_tokens_per_second = outputs / result.span.base(), result.stable = true;
    }
    double const seconds = result.span.base();
    result.goodput_per_second = seconds > 0.0 ? static_cast<double>(met) / seconds : 0.0;
    result.first_token = std::move(token), result.per_token = std::move(each), result.whole = std::move(whole);
}

/// Time to send the cache of a prompt to another replica.
static double sending_seconds(ServingPricer::Tables const& tables, int prompt) {
    return tables.far_link.latency.base() + (tables.memory.of_sequence(prompt) / tables.far_link.bandwidth).base();
}

/// Requests behind prompts that are computed elsewhere, in the order in which their caches come.
struct SentRequests {
    std::vector<ServingRequest> requests;
    std::vector<std::size_t> from; ///< index of each among all
};
static SentRequests sent_requests(std::span<ServingRequest const> requests, std::span<ServedTimes const> first,
                                  ServingPricer::Tables const& tables) {
    SentRequests sent;
    for (std::size_t i = 0; i < requests.size(); ++i) {
        if (requests[i].output > 1 && first[i].done >= 0.0) { sent.from.push_back(i); }
    }
    auto const comes = [&](std::size_t i) { return first[i].done + sending_seconds(tables, requests[i].prompt); };
    std::ranges::stable_sort(sent.from, {}, comes);
    for (std::size_t const i : sent.from) {
        sent.requests.push_back({comes(i), requests[i].prompt, requests[i].output - 1, requests[i].prompt});
    }
    return sent;
}

/// Prompts by some replicas, then all further tokens by others.
static ServingResult serve_in_two(std::span<ServingRequest const> requests, ServingPricer const& pricer,
                                  ServingExperiment const& experiment, Executor const& executor) {
    std::vector<ServingRequest> prompts{requests.begin(), requests.end()};
    for (auto& one : prompts) { one.output = 1; }
    ServingExperiment filling = experiment;
    filling.replicas = experiment.prefill_replicas * pricer.plan().pp;
    std::vector<ServedTimes> first(requests.size()), last(requests.size());
    ServingResult const computed = serve_arrivals(prompts, pricer, filling, executor, first);
    auto const sent = sent_requests(requests, first, pricer.tables());
    ServingResult result = computed;
    result.output_tokens_per_second = 0.0;
    result.unfinished = result.refused = 0;
    if (!sent.requests.empty() && sent.requests.back().arrives >= experiment.warm_up.base()) {
        std::vector<ServedTimes> times(sent.requests.size());
        result = serve_arrivals(sent.requests, pricer, experiment, executor, times);
        for (std::size_t i = 0; i < times.size(); ++i) { last[sent.from[i]] = times[i]; }
    }
    result.stable = result.stable && computed.stable, result.unfinished += computed.unfinished;
    result.output_tokens_per_second += computed.output_tokens_per_second;
    result.refused += computed.refused, result.prompt_tokens_per_second = computed.prompt_tokens_per_second;
    count_both(result, requests, first, last, experiment);
    return result;
}

ServingResult simulate_serving(std::span<ServingRequest const> requests, ServingPricer const& pricer,
                               ServingExperiment const& experiment, Executor const& executor) {
    check(requests, pricer, experiment);
    ServingExperiment lanes = experiment;
    lanes.replicas *= pricer.plan().pp;
    if (experiment.prefill_replicas > 0) { return serve_in_two(requests, pricer, lanes, executor); }
    if (experiment.concurrency == 0) { return serve_arrivals(requests, pricer, lanes, executor); }
    auto const sent = closed_loop(requests, pricer.tables(), lanes);
    auto const users = static_cast<std::size_t>(experiment.concurrency);
    auto const warm = std::max(users, static_cast<std::size_t>(closed_warm_up * static_cast<double>(sent.size())));
    lanes.warm_up = Seconds{sent[std::min(warm, sent.size() - 1)].arrives};
    return serve_arrivals(sent, pricer, lanes, executor);
}

} // namespace headroom::serving
