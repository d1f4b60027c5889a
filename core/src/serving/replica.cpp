#include "serving/replica.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::serving {

using namespace headroom::training;

namespace {

/// Keys that tokens from + 1 to `to` of a sequence see, each those before it and itself; of a window at most `window`.
double pairs(double from, double to) { return 0.5 * (to * (to + 1.0) - from * (from + 1.0)); }
double window_pairs(double from, double to, double window) {
    double const knee = std::clamp(window, from, to);
    return pairs(from, knee) + (to - knee) * window;
}

} // namespace

Replica::Replica(ServingPricer::Tables const& tables, ServingExperiment const& experiment, ServingSpan const& span,
                 ServingTally& tally, std::span<ServedTimes> served)
    : tables_{tables},
      objectives_{experiment.objectives},
      span_{span},
      tally_{tally},
      served_{served},
      per_token_{(tables.memory.cache_per_token - tables.memory.window_per_token).base()},
      window_token_{tables.memory.window_per_token.base()},
      per_sequence_{tables.memory.state_per_sequence.base()},
      capacity_{tables.memory.cache.base()},
      window_{static_cast<double>(tables.memory.window)},
      most_{tables.plan.lane_sequences()},
      chunk_{tables.plan.prefill_chunk},
      one_by_one_{experiment.one_by_one} {}

double Replica::need(double tokens) const {
    double const seen = window_ > 0.0 ? std::min(tokens, window_) : tokens;
    return per_sequence_ + per_token_ * tokens + window_token_ * seen;
}

/// Bytes that the next token of every decoding sequence takes.
double Replica::step_growth() const {
    return per_token_ * static_cast<double>(decoding_.size()) + window_token_ * growing_;
}

std::int32_t Replica::place() {
    if (free_.empty()) {
        sequences_.emplace_back();
        return static_cast<std::int32_t>(sequences_.size()) - 1;
    }
    auto const last = free_.back();
    free_.pop_back();
    sequences_[static_cast<std::size_t>(last)] = {};
    return last;
}

bool Replica::arrive(ServingRequest const& request, std::size_t index) {
    bool const is_computed = request.cached >= request.prompt;
    if (need(static_cast<double>(request.prompt) + request.output - (is_computed ? 0.0 : 1.0)) > capacity_) {
        if (request.arrives >= span_.begin) { ++tally_.refused; }
        return false;
    }
    auto const added = place();
    auto& sequence = sequences_[static_cast<std::size_t>(added)];
    sequence.arrives = sequence.waits_from = request.arrives;
    sequence.prompt = sequence.own_prompt = request.prompt;
    sequence.output = request.output;
    sequence.cached = std::min(request.cached, request.prompt);
    sequence.index = index;
    bool const line_was_empty = waiting_.empty();
    waiting_.push_back(added);
    if (present_++ == 0) { clock_ = request.arrives; }
    auto const inside = static_cast<int>(prefilling_.size() + decoding_.size());
    if (planned_ && count_ > 1.0 && line_was_empty && inside < most_) { // the next iteration may take it
        count_ = run_.reaching(request.arrives - clock_, count_);
        seconds_ = run_.sum(count_);
        end_ = clock_ + seconds_;
    }
    return true;
}

void Replica::advance(double until) {
    for (;;) {
        if (!planned_) {
            if (present_ == 0 || clock_ >= until) { return; }
            plan();
        }
        if (end_ >= until) { return; }
        carry_out();
    }
}

// ---- what comes next -----------------------------------------------------------------------------------------------

void Replica::plan() {
    bool preempted = false;
    while (!decoding_.empty() && used_ + step_growth() > capacity_) {
        preempt();
        preempted = true;
    }
    fill_chunk(!preempted);
    if (chunk_tokens_ > 0.0) {
        double const sequences = static_cast<double>(decoding_.size());
        count_ = 1.0;
        run_ = {.first = tables_.mixed_tokens(sequences, keys_ + sequences, window_keys_ + growing_, chunk_tokens_,
                                              chunk_pairs_, chunk_window_pairs_)};
    } else {
        plan_decode();
        if (preempted) { count_ = 1.0; } // then the line is looked at again
    }
    seconds_ = run_.sum(count_);
    end_ = clock_ + seconds_;
    planned_ = true;
}

/// As many iterations as go by before a sequence ends or outgrows the window, the cache is full, or the span that is counted
/// begins or ends.
void Replica::plan_decode() {
    double const sequences = static_cast<double>(decoding_.size());
    run_ = tables_.decode_tokens(sequences, keys_ + sequences, window_keys_ + growing_, growing_);
    if (one_by_one_) {
        count_ = 1.0;
        return;
    }
    count_ = static_cast<double>(decoding_.front().ends - iteration_);
    if (growing_ > 0.0 && window_ > 0.0) {
        std::int64_t next = std::numeric_limits<std::int64_t>::max();
        for (auto const& one : decoding_) {
            if (one.outgrows > iteration_) { next = std::min(next, one.outgrows); }
        }
        count_ = std::min(count_, static_cast<double>(next - iteration_));
    }
    double const growth = step_growth();
    if (growth > 0.0) { count_ = std::min(count_, std::max(1.0, std::floor((capacity_ - used_) / growth))); }
    for (double const edge : {span_.begin, span_.end}) {
        if (clock_ < edge && std::isfinite(edge)) { count_ = run_.reaching(edge - clock_, count_); }
    }
}

/// Prompts that are under way go first, then the line.
void Replica::fill_chunk(bool admits) {
    chunk_tokens_ = chunk_pairs_ = chunk_window_pairs_ = 0.0;
    if (prefilling_.empty() && waiting_.empty()) { return; }
    int budget = chunk_;
    for (auto const sequence : prefilling_) { take(sequence, budget); }
    double growth = step_growth();
    while (admits && budget > 0 && !waiting_.empty() &&
           static_cast<int>(prefilling_.size() + decoding_.size()) < most_) {
        auto const& next = sequences_[static_cast<std::size_t>(waiting_.front())];
        bool const is_computed = next.cached >= next.prompt; // it takes its next token at once
        if (used_ + need(next.prompt + (is_computed ? 1.0 : 0.0)) + growth > capacity_) { return; }
        admit();
        auto const last = prefilling_.back();
        take(last, budget);
        if (is_computed) {
            prefilling_.pop_back();
            join(last);
            growth = step_growth();
        }
    }
}

void Replica::take(std::int32_t sequence, int& budget) {
    auto& s = sequences_[static_cast<std::size_t>(sequence)];
    s.taken = std::min(budget, s.prompt - s.computed);
    budget -= s.taken;
    double const from = s.computed, to = from + s.taken;
    chunk_tokens_ += s.taken;
    chunk_pairs_ += pairs(from, to);
    if (window_ > 0.0) { chunk_window_pairs_ += window_pairs(from, to, window_); }
}

void Replica::admit() {
    auto const first = waiting_.front();
    waiting_.pop_front();
    auto& s = sequences_[static_cast<std::size_t>(first)];
    s.admitted = ++admissions_;
    s.computed = s.cached;
    used_ += need(s.prompt);
    count_waiting(s);
    prefilling_.push_back(first);
}

/// Tokens in the cache of a decoding sequence.
double Replica::cached(Sequence const& s) const { return s.prompt + static_cast<double>(iteration_ - s.joins); }

/// The one that came last gives its cache back; what it has answered is prompt from now on.
void Replica::preempt() {
    auto const admitted = [this](std::int32_t sequence) {
        return sequences_[static_cast<std::size_t>(sequence)].admitted;
    };
    auto const latest =
        std::ranges::max_element(decoding_, {}, [&](Decoding const& one) { return admitted(one.sequence); });
    std::int32_t victim = latest->sequence;
    if (!prefilling_.empty() && admitted(prefilling_.back()) > admitted(victim)) {
        victim = prefilling_.back();
        prefilling_.pop_back();
        used_ -= need(sequences_[static_cast<std::size_t>(victim)].prompt);
    } else {
        auto& s = sequences_[static_cast<std::size_t>(victim)];
        double const tokens = cached(s);
        s.answered = s.output - static_cast<int>(latest->ends - iteration_);
        *latest = decoding_.back();
        decoding_.pop_back();
        std::make_heap(decoding_.begin(), decoding_.end());
        keys_ -= tokens;
        used_ -= need(tokens);
        if (window_ > 0.0) { window_keys_ -= std::min(tokens, window_); }
        count_growing();
    }
    auto& s = sequences_[static_cast<std::size_t>(victim)];
    s.prompt = s.own_prompt + s.answered;
    if (s.cached >= s.own_prompt) { s.cached = 0; } // computed elsewhere: now it is computed here
    s.computed = s.taken = 0;
    s.waits_from = clock_;
    waiting_.push_front(victim);
    ++tally_.preemptions;
}

// ---- what has happened ---------------------------------------------------------------------------------------------

void Replica::carry_out() {
    auto const n = static_cast<std::int64_t>(count_);
    double const sequences = static_cast<double>(decoding_.size());
    count_piece(sequences * count_);
    clock_ = end_;
    planned_ = false;
    iteration_ += n;
    keys_ += sequences * count_;
    used_ += step_growth() * count_;
    if (window_ > 0.0) { window_keys_ += growing_ * count_; }
    tally_.cache_peak = std::max(tally_.cache_peak, used_ / capacity_);
    while (!decoding_.empty() && decoding_.front().ends <= iteration_) {
        auto const ended = decoding_.front().sequence;
        std::pop_heap(decoding_.begin(), decoding_.end());
        decoding_.pop_back();
        double const tokens = cached(sequences_[static_cast<std::size_t>(ended)]);
        keys_ -= tokens;
        used_ -= need(tokens);
        if (window_ > 0.0) { window_keys_ -= std::min(tokens, window_); }
        finish(ended);
    }
    if (chunk_tokens_ > 0.0) { end_prefill(); }
    if (window_ > 0.0) { count_growing(); }
    tally_.last = std::max(tally_.last, clock_);
}

/// Prompts that are through get their next token; the others go on with the next chunk.
void Replica::end_prefill() {
    std::size_t through = 0;
    for (auto const sequence : prefilling_) {
        auto& s = sequences_[static_cast<std::size_t>(sequence)];
        s.computed += s.taken;
        s.taken = 0;
        if (s.computed < s.prompt) { continue; }
        ++through; // only the last that has a part of a chunk is not through
        emit(sequence);
    }
    prefilling_.erase(prefilling_.begin(), prefilling_.begin() + static_cast<std::ptrdiff_t>(through));
}

void Replica::emit(std::int32_t sequence) {
    auto& s = sequences_[static_cast<std::size_t>(sequence)];
    if (counted_ != nullptr) { counted_->outputs += 1.0; }
    if (s.first < 0.0) { s.first = clock_; }
    ++s.answered;
    if (s.answered == s.output) {
        used_ -= need(s.prompt);
        return finish(sequence);
    }
    join(sequence);
}

/// Decodes from the next iteration on.
void Replica::join(std::int32_t sequence) {
    auto& s = sequences_[static_cast<std::size_t>(sequence)];
    if (s.first < 0.0) { s.first = clock_; }
    s.joins = iteration_;
    std::int64_t const outgrows = iteration_ + static_cast<std::int64_t>(window_) - s.prompt;
    decoding_.push_back({.ends = iteration_ + s.output - s.answered, .outgrows = outgrows, .sequence = sequence});
    std::push_heap(decoding_.begin(), decoding_.end());
    keys_ += s.prompt;
    if (window_ > 0.0) {
        window_keys_ += std::min(static_cast<double>(s.prompt), window_);
        count_growing();
    }
}

void Replica::count_growing() {
    if (window_ <= 0.0) { return; }
    auto const grows = [this](Decoding const& one) { return one.outgrows > iteration_; };
    growing_ = static_cast<double>(std::ranges::count_if(decoding_, grows));
}

} // namespace headroom::serving
