#pragma once

#include "serving/serving_tables.hpp"

#include "headroom/serving/serving_simulation.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <limits>
#include <span>
#include <vector>

namespace headroom::serving {

/// The span that is counted: from the end of warming up to the last arrival.
struct ServingSpan {
    double begin = 0.0, end = 0.0;
    [[nodiscard]] double middle() const { return 0.5 * (begin + end); }
};

/// Work of replicas in iterations that began in one interval of time.
struct ServingWork {
    double busy = 0.0;                   ///< seconds of replicas
    double batch = 0.0;                  ///< decoding sequences x seconds
    double cache = 0.0;                  ///< share of the cache x seconds
    double outputs = 0.0, prompts = 0.0; ///< tokens
    void add(ServingWork const& other) {
        busy += other.busy, batch += other.batch, cache += other.cache;
        outputs += other.outputs, prompts += other.prompts;
    }
};

/// Sums over the requests and iterations of some replicas.
struct ServingTally {
    LatencyHistogram first_token, per_token, whole;
    std::uint64_t requests = 0, met = 0, refused = 0, preemptions = 0, iterations = 0, events = 0;
    std::uint64_t served = 0, left = 0; ///< counted or not; of them, after the span
    std::array<ServingWork, 2> work{};  ///< in the span, after it
    std::array<double, 3> present{};    ///< requests x seconds: in the first half of the span, the second, after it
    std::array<double, 2> waiting{};    ///< requests x seconds in lines: in the span, after it
    double cache_peak = 0.0, last = 0.0;

    void add(ServingTally const& other);
};

/// Times at which a request got its first and its last token, seconds; negative where it never did.
struct ServedTimes {
    double first = -1.0, done = -1.0;
};

/// One replica and its line: a clock of its own that goes from one change of its batch to the next.
///
/// Between calls a piece is planned, one iteration with prompts or several without, and is carried out once the time
/// asked for is past its end. What arrives meanwhile cuts it short at the next end of an iteration.
class Replica {
public:
    /// `served`: times of each request by its index, where somebody asks.
    Replica(ServingPricer::Tables const& tables, ServingExperiment const& experiment, ServingSpan const& span,
            ServingTally& tally, std::span<ServedTimes> served = {});

    /// Goes on until the next change is not before `until`.
    void advance(double until);
    /// A request that comes now: after `advance` to its arrival. False where it is refused.
    bool arrive(ServingRequest const& request, std::size_t index);
    /// When something changes next; never where nothing is there.
    [[nodiscard]] double next_change() const { return planned_ ? end_ : present_ > 0 ? clock_ : never; }
    /// Requests in line or in the batch.
    [[nodiscard]] int present() const { return present_; }

    static constexpr double never = std::numeric_limits<double>::infinity();

private:
    struct Sequence {
        double arrives = 0.0, first = -1.0, waits_from = 0.0;
        std::int64_t joins = 0;    ///< iteration before its first decode step
        std::int64_t admitted = 0; ///< order
        int prompt = 0;   ///< to be computed before it decodes: its own, and after a preemption what it answered
        int cached = 0;   ///< of it, found in a cache of prefixes
        int computed = 0; ///< of it, or found
        int taken = 0;    ///< of it in this iteration
        int own_prompt = 0, answered = 0, output = 0;
        std::size_t index = 0;
    };
    struct Decoding {
        std::int64_t ends = 0;     ///< iteration after which it has all its tokens
        std::int64_t outgrows = 0; ///< iteration from which on layers with a window read no more of it
        std::int32_t sequence = 0;
        bool operator<(Decoding const& other) const { return ends > other.ends; } ///< the heap's top ends first
    };

    [[nodiscard]] double need(double tokens) const;
    [[nodiscard]] double step_growth() const;
    void plan();
    void plan_decode();
    void fill_chunk(bool admits);
    void take(std::int32_t sequence, int& budget);
    void admit();
    void join(std::int32_t sequence);
    void preempt();
    void carry_out();
    void count_piece(double output_tokens);
    void count_waiting(Sequence const& sequence);
    void end_prefill();
    void emit(std::int32_t sequence);
    void finish(std::int32_t sequence);
    void count_growing();
    [[nodiscard]] double cached(Sequence const& sequence) const;
    [[nodiscard]] std::int32_t place();

    ServingPricer::Tables const& tables_;
    ServingObjectives const& objectives_;
    ServingSpan span_;
    ServingTally& tally_;
    std::span<ServedTimes> served_;
    double per_token_, window_token_, per_sequence_, capacity_, window_;
    int most_, chunk_;
    bool one_by_one_;

    std::vector<Sequence> sequences_;
    std::vector<std::int32_t> free_;
    std::deque<std::int32_t> waiting_;
    std::vector<std::int32_t> prefilling_; ///< admitted, in order
    std::vector<Decoding> decoding_;       ///< a heap
    std::int64_t iteration_ = 0, admissions_ = 0;
    double keys_ = 0.0, window_keys_ = 0.0; ///< in the cache of decoding sequences; as layers with a window see them
    double growing_ = 0.0;                  ///< of them, shorter than the window
    double used_ = 0.0;                     ///< bytes of cache
    int present_ = 0;

    double clock_ = 0.0, end_ = never;
    bool planned_ = false;
    ServingRun run_;
    double count_ = 0.0, seconds_ = 0.0; ///< iterations of the piece, and what they take
    ServingWork* counted_ = nullptr;     ///< where the last piece was counted
    double chunk_tokens_ = 0.0, chunk_pairs_ = 0.0, chunk_window_pairs_ = 0.0;
};

} // namespace headroom::serving
