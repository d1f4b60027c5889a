#pragma once

// Serving for tests: models of the catalog on a DGX H100, and a replica that goes from one iteration to the next and keeps
// every sequence by itself, to compare the simulation with.

#include "support/training.hpp"

#include "headroom/serving/serving_simulation.hpp"
#include "headroom/training/memory.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <span>
#include <vector>

namespace headroom::serving {

inline Cluster const& dgx() {
    static Cluster const cluster = training::catalog().cluster("dgx-h100");
    return cluster;
}
inline training::Framework const& stack() {
    static training::Framework const framework = training::catalog().framework("megatron-core");
    return framework;
}
inline training::Calibration const& fitted_values() {
    static training::Calibration const values = training::fitted().values();
    return values;
}
inline serving::ServingPricer pricer_of(training::Model const& model, serving::ServingPlan const& plan = {}) {
    return {model, dgx(), stack(), fitted_values(), plan};
}
inline serving::ServingPricer pricer_of(char const* model, serving::ServingPlan const& plan = {}) {
    return pricer_of(training::catalog().model(model), plan);
}
/// An accelerator with room for the weights, so many tokens of cache and three states.
inline Cluster with_room(training::Model const& model, serving::ServingPlan const& plan, double tokens) {
    Cluster cluster = dgx();
    auto const memory = serving::serving_memory(model, cluster, plan);
    Bytes const held =
        memory.weights + memory.activations + memory.cache_per_token * tokens + 3.0 * memory.state_per_sequence;
    // what is outside of the allocator depends on the memory that is looked for
    for (int once = 0; once < 2; ++once) {
        cluster.accelerator.memory = (held + training::runtime_of(cluster.accelerator)) / plan.memory_share;
    }
    return cluster;
}

struct Served {
    double arrives = 0.0, first = 0.0, done = 0.0;
    int output = 0;
};
struct PlainRun {
    std::vector<Served> served;
    std::uint64_t iterations = 0, preemptions = 0, refused = 0;
    double busy = 0.0;
};

/// One replica, one iteration after the other.
class PlainReplica {
public:
    explicit PlainReplica(serving::ServingPricer const& pricer) : pricer_{pricer} {}

    PlainRun run(std::span<serving::ServingRequest const> requests) {
        std::size_t next = 0;
        for (;;) {
            if (running_.empty() && waiting_.empty()) {
                if (next == requests.size()) { return run_; }
                now_ = std::max(now_, requests[next].arrives);
            }
            for (; next < requests.size() && requests[next].arrives <= now_; ++next) { come(requests[next]); }
            if (!running_.empty() || !waiting_.empty()) { iterate(); }
        }
    }

private:
    struct Sequence {
        Served times;
        int own = 0, prompt = 0, computed = 0, answered = 0, decoded = 0, taken = 0;
        [[nodiscard]] bool decodes() const { return computed == prompt; }
        [[nodiscard]] double cached() const { return prompt + decoded; } ///< a prompt's room is taken at once
    };

    void come(serving::ServingRequest const& request) {
        auto const& memory = pricer_.memory();
        if (memory.of_sequence(request.prompt + request.output - 1.0) > memory.cache) {
            ++run_.refused;
            return;
        }
        waiting_.push_back({.times = {.arrives = request.arrives, .first = -1.0, .output = request.output},
                            .own = request.prompt,
                            .prompt = request.prompt});
    }

    [[nodiscard]] double wanted() const {
        double bytes = 0.0;
        for (auto const& s : running_) {
            bytes += pricer_.memory().of_sequence(s.cached() + (s.decodes() ? 1.0 : 0.0)).base();
        }
        return bytes;
    }

    void iterate() {
        double const room = pricer_.memory().cache.base();
        bool preempted = false;
        while (std::ranges::any_of(running_, &Sequence::decodes) && wanted() > room) {
            auto last = running_.back();
            running_.pop_back();
            last.prompt = last.own + last.answered;
            last.computed = last.decoded = 0;
            waiting_.push_front(last);
            preempted = true;
            ++run_.preemptions;
        }
        int budget = pricer_.plan().prefill_chunk;
        serving::ServingBatch batch{.decode_window_context = 0.0, .prefill_window_context = 0.0};
        double const window = pricer_.memory().window;
        auto const take = [&](Sequence& s) {
            s.taken = std::min(budget, s.prompt - s.computed);
            budget -= s.taken;
            batch.prefill_tokens += s.taken;
            for (int i = s.computed + 1; i <= s.computed + s.taken; ++i) {
                batch.prefill_context += i;
                *batch.prefill_window_context += std::min<double>(i, window);
            }
        };
        for (auto& s : running_) {
            s.taken = 0;
            if (!s.decodes()) {
                take(s);
                continue;
            }
            ++batch.decoding;
            batch.decode_context += s.cached() + 1.0;
            *batch.decode_window_context += std::min(s.cached() + 1.0, window);
        }
        while (!preempted && budget > 0 && !waiting_.empty() &&
               static_cast<int>(running_.size()) < pricer_.plan().most_sequences &&
               wanted() + pricer_.memory().of_sequence(waiting_.front().prompt).base() <= room) {
            running_.push_back(waiting_.front());
            waiting_.pop_front();
            take(running_.back());
        }
        double const seconds = pricer_.iteration(batch).base();
        now_ += seconds;
        run_.busy += seconds;
        ++run_.iterations;
        for (auto& s : running_) { answer(s); }
        std::erase_if(running_, [](Sequence const& s) { return s.answered == s.times.output; });
    }

    void answer(Sequence& s) {
        if (s.decodes()) {
            ++s.decoded, ++s.answered;
        } else {
            s.computed += s.taken;
            if (!s.decodes()) { return; }
            if (s.times.first < 0.0) { s.times.first = now_; }
            ++s.answered;
        }
        if (s.answered == s.times.output) {
            s.times.done = now_;
            run_.served.push_back(s.times);
        }
    }

    serving::ServingPricer const& pricer_;
    std::deque<Sequence> waiting_;
    std::vector<Sequence> running_; ///< as they were admitted
    double now_ = 0.0;
    PlainRun run_;
};

} // namespace headroom::serving
