#include "serving/replica.hpp"

#include <algorithm>

namespace headroom::serving {
namespace {

/// Seconds of [from, to] that lie in [begin, end].
double overlap(double from, double to, double begin, double end) {
    return std::max(0.0, std::min(to, end) - std::max(from, begin));
}

} // namespace

void Replica::count_waiting(Sequence const& s) {
    tally_.waiting[0] += overlap(s.waits_from, clock_, span_.begin, span_.end);
    tally_.waiting[1] += overlap(s.waits_from, clock_, span_.end, never);
}

void Replica::count_piece(double output_tokens) {
    ++tally_.events;
    tally_.iterations += static_cast<std::uint64_t>(count_);
    counted_ = clock_ < span_.begin ? nullptr : &tally_.work[clock_ < span_.end ? 0 : 1];
    if (counted_ == nullptr) { return; }
    auto& work = *counted_;
    double const growth = step_growth();
    work.busy += seconds_;
    work.batch += static_cast<double>(decoding_.size()) * seconds_;
    work.cache += run_.weighted(count_, used_ + growth, growth) / capacity_;
    work.outputs += output_tokens;
    work.prompts += chunk_tokens_;
}

void Replica::finish(std::int32_t sequence) {
    auto const& s = sequences_[static_cast<std::size_t>(sequence)];
    tally_.present[0] += overlap(s.arrives, clock_, span_.begin, span_.middle());
    tally_.present[1] += overlap(s.arrives, clock_, span_.middle(), span_.end);
    tally_.present[2] += overlap(s.arrives, clock_, span_.end, never);
    ++tally_.served;
    if (clock_ > span_.end) { ++tally_.left; }
    --present_;
    free_.push_back(sequence);
    if (!served_.empty()) { served_[s.index] = {s.first, clock_}; }
    if (s.arrives < span_.begin) { return; }
    ++tally_.requests;
    double const first = s.first - s.arrives, whole = clock_ - s.arrives;
    double const each = s.output > 1 ? (clock_ - s.first) / (s.output - 1.0) : 0.0;
    tally_.first_token.record(first);
    tally_.whole.record(whole);
    if (s.output > 1) { tally_.per_token.record(each); }
    auto const keeps = [](std::optional<Seconds> const& limit, double time) { return !limit || time <= limit->base(); };
    if (keeps(objectives_.first_token, first) && keeps(objectives_.per_token, each) &&
        keeps(objectives_.whole, whole)) {
        ++tally_.met;
    }
}

} // namespace headroom::serving
