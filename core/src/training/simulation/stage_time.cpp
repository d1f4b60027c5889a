#include "stage_time.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace headroom::training::simulation {

Ticks StageTime::own() const {
    Ticks sum = work + optimizer + slowed - (*this)[WorkKind::pipeline];
    for (Ticks const part : exposed) { sum += part; }
    return sum;
}

StageTime& StageTime::operator*=(double times) {
    for (Ticks* part : {&work, &optimizer, &slowed, &idle}) {
        *part = std::llround(static_cast<double>(*part) * times);
    }
    for (Ticks& part : exposed) { part = std::llround(static_cast<double>(part) * times); }
    return *this;
}

StageTime& StageTime::operator+=(StageTime const& other) {
    work += other.work, optimizer += other.optimizer, slowed += other.slowed, idle += other.idle;
    for (std::size_t kind = 0; kind < work_kind_count; ++kind) { exposed[kind] += other.exposed[kind]; }
    return *this;
}

StageTime StageTime::operator-(StageTime const& earlier) const {
    StageTime rest = *this;
    rest.work -= earlier.work, rest.optimizer -= earlier.optimizer, rest.slowed -= earlier.slowed;
    rest.idle -= earlier.idle;
    for (std::size_t kind = 0; kind < work_kind_count; ++kind) { rest.exposed[kind] -= earlier.exposed[kind]; }
    return rest;
}

DecidingStage deciding_stage(std::vector<StageTime> const& stages, bool overlap) {
    auto const longest = std::ranges::max_element(stages, {}, &StageTime::own);
    DecidingStage deciding{*longest, static_cast<int>(longest - stages.begin())};
    if (overlap) { deciding.time.idle += std::ranges::max(stages, {}, &StageTime::all).all() - longest->all(); }
    return deciding;
}

Seconds seconds_of(Ticks ticks) { return Seconds{static_cast<double>(ticks) * 1e-12}; }

StepTime parts_of(StageTime const& stage, double share, bool pipeline) {
    auto const part = [share](Ticks ticks) { return share * seconds_of(ticks); };
    StepTime time;
    time.compute = part(stage.work);
    time.host = part(stage[WorkKind::launch]);
    time.tensor_communication = part(stage[WorkKind::tensor]);
    time.context_communication = part(stage[WorkKind::context]);
    time.expert_communication = part(stage[WorkKind::experts]);
    time.pipeline_communication = part(stage[WorkKind::pipeline]);
    time.data_communication = part(stage[WorkKind::data]) + part(stage.slowed);
    time.optimizer = part(stage.optimizer);
    time.offload = part(stage[WorkKind::offload]);
    (pipeline ? time.pipeline_bubble : time.host) += part(stage.idle);
    return time;
}

} // namespace headroom::training::simulation
