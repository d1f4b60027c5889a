#include "step_unroller.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace headroom::training::simulation {

using namespace headroom::laws;

void Unroller::find_runs() {
    auto const chunks = static_cast<std::size_t>(layout_.shape.chunks);
    for (std::size_t place = 0; place < chunk_units_.size(); ++place) {
        auto const& units = chunk_units_[place];
        auto const& traffic = traffic_[place / chunks].units[place % chunks];
        auto& runs = runs_.emplace_back(units.size(), 0);
        for (std::size_t u = 1; u < units.size(); ++u) {
            runs[u] = runs[u - 1] + (units[u] == units[u - 1] && traffic[u] == traffic[u - 1] ? 0 : 1);
        }
    }
}

bool Unroller::may_repeat(int stage, std::size_t index) const {
    if (recurrence_ == nullptr || long_run_ || strategy_.offload != Offload::none) { return false; }
    Pass const& pass = order_.passes[index];
    bool const first = pass.kind == PassKind::forward && index == first_forward_[place_of(stage, pass.chunk)];
    return !(rules_.gathers && first);
}

std::size_t Unroller::repeated(int stage, StageState& state, std::size_t index, std::size_t i) {
    constexpr std::size_t least = 2; // visits that are worth it
    Pass const& pass = order_.passes[index];
    auto const& runs = runs_[place_of(stage, pass.chunk)];
    bool const forward = pass.kind == PassKind::forward;
    auto const run = [&](std::size_t visit) { return runs[forward ? visit : runs.size() - 1 - visit]; };
    if (i == 0 || run(i) != run(i - 1)) {
        visits_known_ = 0;
        return 0;
    }
    std::size_t const ahead = i + least;
    if (ahead >= runs.size() || run(ahead) != run(i)) { return 0; }
    auto const& buckets = state.buckets;
    awaited_ = state.pending;
    awaited_.insert(awaited_.end(), state.host_waits.begin(), state.host_waits.end());
    awaited_.insert(awaited_.end(), {state.last.any, state.last.before_visit, state.data});
    auto const& gathers = state.weights.of_visit;
    awaited_.insert(awaited_.end(), gathers.begin() + static_cast<std::ptrdiff_t>(state.weights.visit), gathers.end());
    auto const chip = static_cast<std::size_t>(stage);
    if (visits_known_ == visited_.size()) {
        std::rotate(visited_.begin(), visited_.begin() + 1, visited_.end());
        --visits_known_;
    }
    ChipState& now = visited_[visits_known_++] = recurrence_->state(chip, awaited_, state.last.made);
    now.waits.insert(now.waits.end(), {buckets.ticks, buckets.held_back, std::bit_cast<std::int64_t>(buckets.elements),
                                       static_cast<Ticks>(state.pending.size())});
    if (visits_known_ < visited_.size()) { return 0; }
    std::size_t end = ahead;
    while (end + 1 < runs.size() && run(end + 1) == run(i)) { ++end; }
    PassUnit const& unit = *chunk_units_[place_of(stage, pass.chunk)][forward ? i : runs.size() - 1 - i];
    auto const times = recurrence_->repeats(chip, visited_, stream(stage, Role::host), unit.routed,
                                            static_cast<std::int64_t>(end - i));
    if (times <= 0) { return 0; }
    recurrence_->repeat(chip, visited_, awaited_, times);
    visits_known_ = 0;
    auto const count = static_cast<std::size_t>(times);
    if (rules_.sharded) { // those under way are of later visits
        auto& weights = state.weights;
        weights.of_visit.insert(weights.of_visit.begin() + static_cast<std::ptrdiff_t>(weights.visit), count, no_task);
        weights.visit += count, weights.begun += count;
    }
    return count;
}

} // namespace headroom::training::simulation
