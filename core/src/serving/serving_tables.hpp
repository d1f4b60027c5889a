#pragma once

#include "serving/serving_work.hpp"
#include "training/operation_price.hpp"

#include "headroom/serving/serving.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <vector>

namespace headroom::serving {

/// Iterations in a row of which each takes longer than the one before by the same time, and none less than the host does:
///
///     t_j = max(least, first + j growth)        j = 0, 1, ...
struct ServingRun {
    double first = 0.0, growth = 0.0, least = 0.0;

    /// Iterations at the start that the host bounds, of n.
    [[nodiscard]] double bounded(double n) const {
        if (first >= least) { return 0.0; }
        return growth > 0.0 ? std::min(n, std::ceil((least - first) / growth)) : n;
    }

    /// Time of the first n.
    [[nodiscard]] double sum(double n) const {
        if (first >= least) { return n * (first + 0.5 * growth * (n - 1.0)); }
        double const b = bounded(n);
        return b * least + (n - b) * (first + 0.5 * growth * (n - 1.0 + b));
    }

    /// Sum of t_j (value + j step) over the first n: what something that grows comes to over time.
    [[nodiscard]] double weighted(double n, double value, double step) const {
        double const b = bounded(n);
        auto const ones = [](double k) { return 0.5 * k * (k - 1.0); };
        auto const squares = [](double k) { return k * (k - 1.0) * (2.0 * k - 1.0) / 6.0; };
        double const index = ones(n) - ones(b), square = squares(n) - squares(b);
        return least * (b * value + step * ones(b)) + first * value * (n - b) +
               (first * step + growth * value) * index + growth * step * square;
    }

    /// The fewest iterations, of 1 to n, after which so much time has passed.
    [[nodiscard]] double reaching(double seconds, double n) const {
        double guess = std::ceil(seconds / std::max(first, least));
        if (growth > 0.0 && first >= least) {
            double const half = 0.5 * growth, linear = first - half;
            guess = std::ceil(2.0 * seconds / (linear + std::sqrt(linear * linear + 4.0 * half * seconds)));
        }
        if (!(guess >= 1.0)) { guess = 1.0; }
        guess = std::min(guess, n);
        if (growth > 0.0 && first < least) { return searched(seconds, n); }
        while (guess > 1.0 && sum(guess - 1.0) >= seconds) { guess -= 1.0; }
        while (guess < n && sum(guess) < seconds) { guess += 1.0; }
        return guess;
    }

private:
    [[nodiscard]] double searched(double seconds, double n) const {
        double low = 1.0, high = n;
        while (low < high) {
            double const middle = std::floor(0.5 * (low + high));
            if (sum(middle) >= seconds) {
                high = middle;
            } else {
                low = middle + 1.0;
            }
        }
        return low;
    }
};

/// Seconds for each key, pair, token or sequence of what attention and scans do, all layers together.
struct ServedAttention {
    double work_key = 0.0, work_window_key = 0.0;     ///< by the operations of a decoding sequence
    double wide_key = 0.0;                            ///< by those of many queries a key, at the rate of tensor cores
    double decode_key = 0.0, decode_window_key = 0.0; ///< by the law: the longer of operations and reads
    double decode_sequence = 0.0;                     ///< states that are read and written
    double prefill_pair = 0.0, prefill_window_pair = 0.0;
    double prefill_token = 0.0;                   ///< seconds of attention over short reaches, and of scans
    double read_key = 0.0, read_window_key = 0.0; ///< reads at the rate of streams
};

/// Precomputed times of batches of one replica.
struct ServingPricer::Tables {
    Tables(training::Model const& model, Cluster const& cluster, training::Framework const& stack,
           training::Calibration const& values, ServingPlan const& how);
    Tables(Tables const&) = delete;

    ServingPlan plan;
    ServingMemory memory;
    training::Framework framework;
    training::Calibration constants;
    ServedModel served;
    training::KernelRates rates;
    training::OperationPricer pricer;
    double hidden = 0.0, element = 2.0;
    ServedAttention attention;
    double decode_flops = 0.0, decode_window_flops = 0.0, prefill_flops = 0.0, prefill_window_flops = 0.0;
    double cache_bytes = 0.0, window_bytes = 0.0, state_bytes = 0.0; ///< read for a key, and for a sequence
    double layers = 0.0;                                             ///< relative to a transformer block
    double cache_share = 1.0;                                        ///< by the law
    bool grouped = false, own_exchanges = false;
    double peer_share =
        0.0; ///< the library's share of the rate of PCIe between cards that write to each other; 0: others
    double gaps = 0.0, prompt_gaps = 0.0, sequence = 0.0, host = 0.0; ///< of an iteration; of a sequence
    Link stage_link, far_link;                                        ///< between stages; between replicas
    double verified = 1.0, given = 1.0; ///< tokens of a sequence that an iteration computes, and that it gives
    std::unique_ptr<Tables const> draft = {};
    /// Computed and exchanged by tokens, one by one up to `exact_tokens`, then in strides.
    std::vector<double> linear, exchange;
    std::vector<double> head, head_exchange; ///< by sequences, each with the tokens that are verified

    static constexpr std::size_t exact_tokens = 4096, stride = 64;

    /// Time of the operations that do not depend on contexts, seconds.
    [[nodiscard]] static double between(std::vector<double> const& table, double tokens) {
        if (tokens <= static_cast<double>(exact_tokens)) { return table[static_cast<std::size_t>(tokens)]; }
        double const place = static_cast<double>(exact_tokens) + (tokens - exact_tokens) / stride;
        auto const below = std::min(static_cast<std::size_t>(place), table.size() - 2);
        return table[below] + (place - static_cast<double>(below)) * (table[below + 1] - table[below]);
    }
    /// A decode step of `sequences` that read `keys` and, in layers with a window, `window_keys`; and how much longer the
    /// next one takes, where `growing` of them are not as long as the window yet and all get a token.
    [[nodiscard]] ServingRun decode(double sequences, double keys, double window_keys, double growing) const {
        auto const b = static_cast<std::size_t>(sequences);
        double const all = sequences * verified;
        ServingRun run{.first = between(linear, all) + between(exchange, all) + head[b] + head_exchange[b] + gaps +
                                (attention.decode_sequence + sequence) * sequences + attention.decode_key * keys +
                                attention.decode_window_key * window_keys,
                       .growth = attention.decode_key * sequences + attention.decode_window_key * growing,
                       .least = host};
        if (draft) {
            ServingRun const one = draft->decode(sequences, keys, window_keys, growing);
            run.first += (verified - 1.0) * one.first, run.growth += (verified - 1.0) * one.growth;
        }
        return run;
    }
    /// Decode steps as if each gave every sequence one token: in so many times shorter ones as it gives tokens.
    [[nodiscard]] ServingRun decode_tokens(double sequences, double keys, double window_keys, double growing) const {
        ServingRun const run = decode(sequences, keys, window_keys, growing);
        return {run.first / given, run.growth / given, run.least / given};
    }
    [[nodiscard]] double prefill_attention(double tokens, double pairs, double window_pairs) const {
        if (tokens <= 0.0) { return 0.0; }
        double const full = std::max(attention.prefill_pair * pairs, attention.read_key / cache_share * pairs / tokens);
        double const windowed = std::max(attention.prefill_window_pair * window_pairs,
                                         attention.read_window_key / cache_share * window_pairs / tokens);
        return full + windowed + attention.prefill_token * tokens;
    }
    /// Time of the draft model in an iteration: its steps, and the prompts that it computes.
    [[nodiscard]] double drafted(double sequences, double keys, double window_keys, double tokens, double pairs,
                                 double window_pairs) const {
        if (!draft) { return 0.0; }
        double const steps = sequences > 0.0 ? draft->decode(sequences, keys, window_keys, 0.0).first : 0.0;
        return (verified - 1.0) * steps +
               (tokens > 0.0 ? draft->mixed(0.0, 0.0, 0.0, tokens, pairs, window_pairs) : 0.0);
    }
    /// An iteration with prompts as if it gave every sequence one token: less the time in which decoding alone gives the
    /// others.
    [[nodiscard]] double mixed_tokens(double sequences, double keys, double window_keys, double tokens, double pairs,
                                      double window_pairs) const {
        double const all = mixed(sequences, keys, window_keys, tokens, pairs, window_pairs);
        if (given <= 1.0 || sequences <= 0.0) { return all; }
        return all - (given - 1.0) * decode_tokens(sequences, keys, window_keys, 0.0).sum(1.0);
    }
    /// An iteration with prompts.
    [[nodiscard]] double mixed(double sequences, double keys, double window_keys, double tokens, double pairs,
                               double window_pairs) const {
        auto const heads = static_cast<std::size_t>(std::min(sequences + 1.0, static_cast<double>(head.size() - 1)));
        double const all = sequences * verified + tokens, prefill = plan.law.factors.prefill;
        double const computed = (between(linear, all) + head[heads]) * (1.0 - (1.0 - prefill) * tokens / all);
        double const chip = computed + between(exchange, all) + head_exchange[heads] + prompt_gaps +
                            (attention.decode_sequence + sequence) * sequences + attention.decode_key * keys +
                            attention.decode_window_key * window_keys +
                            prefill * prefill_attention(tokens, pairs, window_pairs);
        return std::max(chip, host) + drafted(sequences, keys, window_keys, tokens, pairs, window_pairs);
    }
    /// Keys that layers with a window read, where nothing says how long each sequence is.
    [[nodiscard]] double window_keys(ServingBatch const& batch) const;
    [[nodiscard]] double window_pairs(ServingBatch const& batch) const;
};

} // namespace headroom::serving
