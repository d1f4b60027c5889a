#include "step_unroller.hpp"

#include <algorithm>
#include <utility>

namespace headroom::training::simulation {

using namespace headroom::laws;

void Unroller::begin_visit(int stage, StageState& state, std::size_t index, std::size_t unit) {
    Pass const& pass = order_.passes[index];
    UnitTraffic const& traffic = unit_traffic(stage, pass, unit);
    if (rules_.sharded) { gather_ahead(stage, state); }
    bool const forward = pass.kind == PassKind::forward;
    bool const first =
        forward && (long_run_ ? state.weights.updated : index == first_forward_[place_of(stage, pass.chunk)]);
    if (rules_.gathers && first) {
        if (std::exchange(state.weights.due, false)) { gather_updated(stage, state); }
        if (TaskId const task = state.weights.of_unit[pass.chunk][unit]; task != no_task) {
            state.pending.push_back(task);
        }
    }
    bool const all_at_once = copies_block_ && state.last.any == no_task;
    Ticks const up = all_at_once ? of_all_units(stage, &UnitTraffic::host_up) : copies_block_ ? 0 : traffic.host_up;
    if (first && up > 0) { state.pending.push_back(add(stage, Role::copies_in, WorkKind::offload, up, in_name_)); }
    if (offloads_activations(strategy_.offload) && traffic.kept_copy > 0) {
        if (pass.kind == PassKind::forward && state.leaving.front() != no_task) {
            state.pending.push_back(state.leaving.front());
        }
        bool const needs = pass.kind == PassKind::backward || pass.kind == PassKind::input_gradient;
        if (needs) { bring_back(stage, state, pass, scaled(traffic.kept_copy)); }
    }
    PassUnit const& visited = *chunk_units_[place_of(stage, pass.chunk)][unit];
    TaskId const reached = visited.routes_at_once ? state.last.any : state.last.before_visit;
    if (visited.routed && reached != no_task) { state.host_waits.push_back(reached); }
    state.last.before_visit = state.last.any;
    expect_gradients(stage, state, index, unit);
}

bool Unroller::reduces_after(int stage, std::size_t index) const {
    Pass const& pass = order_.passes[index];
    return makes_gradients(pass.kind) &&
           (long_run_ || rules_.reduces_each_micro_batch || index == last_gradient_[place_of(stage, pass.chunk)]);
}

void Unroller::expect_gradients(int stage, StageState& state, std::size_t index, std::size_t unit) {
    state.buckets.kernels = state.buckets.sent = 0, state.buckets.count = 1;
    UnitTraffic const& traffic = unit_traffic(stage, order_.passes[index], unit);
    if (!reduces_after(stage, index) || traffic.reduce <= 0 || rules_.reduce.blocks) { return; }
    auto const later = static_cast<Ticks>(rules_.reduce.share * static_cast<double>(traffic.reduce));
    state.buckets.held_back += later;
    state.buckets.ticks += traffic.reduce - later;
    state.buckets.elements += traffic.elements;
    if (rules_.sharded || state.buckets.elements < setting_.framework.bucket_elements) { return; }
    auto const& items =
        (*chunk_units_[place_of(stage, order_.passes[index].chunk)][unit])[order_.passes[index].kind].items;
    state.buckets.kernels_of_visit =
        static_cast<std::size_t>(std::ranges::count(items, Role::compute, &PassItem::role)) +
        (traffic.compress > 0 ? 1 : 0);
    auto const full = static_cast<std::size_t>(std::max(1.0, traffic.elements / setting_.framework.bucket_elements));
    state.buckets.count = std::max<std::size_t>(1, std::min(full, state.buckets.kernels_of_visit));
    state.buckets.of_visit = state.buckets.ticks / static_cast<Ticks>(state.buckets.count);
}

void Unroller::send_full_buckets(int stage, StageState& state) {
    ++state.buckets.kernels;
    while (state.buckets.sent + 1 < state.buckets.count &&
           state.buckets.kernels == state.buckets.kernels_of_visit * (state.buckets.sent + 1) / state.buckets.count) {
        send_bucket(stage, state, state.buckets.of_visit, state.last.any);
        state.buckets.ticks -= state.buckets.of_visit;
        ++state.buckets.sent;
    }
}

Ticks Unroller::of_all_units(int stage, Ticks UnitTraffic::*part) const {
    Ticks all = 0;
    for (auto const& chunk : traffic_[static_cast<std::size_t>(stage)].units) {
        for (UnitTraffic const& unit : chunk) { all += unit.*part; }
    }
    return all;
}

void Unroller::bring_back(int stage, StageState& state, Pass const& pass, Ticks cost) {
    TaskId const task = add(stage, Role::copies_in, WorkKind::offload, cost, in_name_);
    if (copies_block_) { wait_for_work(task, state); }
    wait(task, state.last.before_visit);
    wait(task, away_[slot(place_of(stage, pass.chunk), pass.micro_batch)]);
    state.pending.push_back(task);
}

void Unroller::take_away(int stage, StageState& state, Pass const& pass, Ticks cost) {
    TaskId const task = add(stage, Role::copies_out, WorkKind::offload, cost, out_name_);
    wait_for_work(task, state);
    away_[slot(place_of(stage, pass.chunk), pass.micro_batch)] = task;
    state.leaving = {state.leaving.back(), task};
    if (copies_block_) { state.pending.push_back(task); }
}

void Unroller::gather_ahead(int stage, StageState& state) {
    std::size_t const ahead = rules_.gather.blocks ? 0 : 1; // blocks whose weights are prefetched
    auto const& visits = visits_[static_cast<std::size_t>(stage)];
    for (; state.weights.begun < visits.size() && state.weights.begun <= state.weights.visit + ahead;
         ++state.weights.begun) {
        if (visits[state.weights.begun] == 0) {
            state.weights.of_visit.push_back(no_task);
            continue;
        }
        TaskId const task = add(stage, Role::data, WorkKind::data, visits[state.weights.begun], gather_name_);
        if (rules_.gather.blocks) {
            wait_for_work(task, state);
        } else {
            wait(task, state.last.made);
        }
        state.weights.of_visit.push_back(task);
    }
    if (TaskId const task = state.weights.of_visit[state.weights.visit]; task != no_task) {
        state.pending.push_back(task);
    }
    ++state.weights.visit;
}

void Unroller::gather_updated(int stage, StageState& state) {
    double const share = rules_.gather.share;
    auto const& chunks = traffic_[static_cast<std::size_t>(stage)].units;
    auto const exposed = [share](UnitTraffic const& unit) {
        return static_cast<Ticks>(share * static_cast<double>(unit.gather));
    };
    auto const gather = [&](Ticks cost) {
        TaskId const task = add(stage, Role::data, WorkKind::data, cost, gather_name_);
        for (TaskId const one : std::exchange(state.weights.update, {})) { wait(task, one); }
        return task;
    };
    Ticks before = 0;
    for (auto const& chunk : chunks) {
        for (UnitTraffic const& unit : chunk) { before += exposed(unit); }
    }
    if (before > 0) { state.pending.push_back(gather(before)); }
    state.weights.of_unit.resize(chunks.size());
    for (std::size_t chunk = 0; chunk < chunks.size(); ++chunk) {
        state.weights.of_unit[chunk].clear();
        for (UnitTraffic const& unit : chunks[chunk]) {
            Ticks const hidden = unit.gather - exposed(unit);
            state.weights.of_unit[chunk].push_back(hidden > 0 ? gather(hidden) : no_task);
        }
    }
}

void Unroller::end_visit(int stage, StageState& state, std::size_t index, std::size_t unit) {
    Pass const& pass = order_.passes[index];
    UnitTraffic const& traffic = unit_traffic(stage, pass, unit);
    if (pass.kind == PassKind::forward) {
        if (offloads_activations(strategy_.offload) && traffic.kept_copy > 0) {
            take_away(stage, state, pass, scaled(traffic.kept_copy));
        }
        return;
    }
    if (!makes_gradients(pass.kind)) { return; }
    if (!reduces_after(stage, index)) { return; }
    bool const whole = long_run_ || index == last_gradient_[place_of(stage, pass.chunk)];
    if (traffic.compress > 0) {
        kernel(stage, state, WorkKind::optimizer, traffic.compress, compress_name_);
        send_full_buckets(stage, state);
    }
    if (traffic.reduce > 0) { reduce(stage, state, traffic); }
    if (whole && traffic.host_down > 0 && !gradients_leave_last()) {
        TaskId const task = add(stage, Role::copies_out, WorkKind::offload, traffic.host_down, out_name_);
        wait(task, state.data);
        wait(task, state.last.any);
    }
}

void Unroller::reduce(int stage, StageState& state, UnitTraffic const& traffic) {
    if (rules_.reduce.blocks) {
        TaskId const task = add(stage, Role::data, WorkKind::data, traffic.reduce, reduce_name_);
        wait_for_work(task, state);
        state.pending.push_back(task);
        state.data = task;
        return;
    }
    // block by block, as weights are gathered, or when the bucket is full
    if (rules_.sharded || state.buckets.elements >= setting_.framework.bucket_elements) { flush(stage, state); }
}

void Unroller::send_bucket(int stage, StageState& state, Ticks cost, TaskId ready) {
    if (cost <= 0) { return; }
    state.data = add(stage, Role::data, WorkKind::data, cost, reduce_name_);
    wait(state.data, ready);
}

void Unroller::flush(int stage, StageState& state) {
    send_bucket(stage, state, std::exchange(state.buckets.ticks, 0), state.last.made);
    state.buckets.elements = 0.0;
}

void Unroller::accumulate(int stage, StageState& state, Pass const& pass) {
    auto const cost = traffic_[static_cast<std::size_t>(stage)].accumulate[pass.chunk];
    if (cost > 0) { kernel(stage, state, WorkKind::optimizer, scaled(cost), accumulate_name_); }
    if (rules_.reduces_each_micro_batch) { flush(stage, state); }
}

void Unroller::update_between(int stage, StageState& state, std::size_t index) {
    Pass const& pass = order_.passes[index];
    if (pass.kind == PassKind::forward) {
        state.weights.updated = false;
        return;
    }
    if (!makes_gradients(pass.kind)) { return; }
    if (blocking_) {
        state.pending.insert(state.pending.end(), state.sent_blocking.begin(), state.sent_blocking.end());
    }
    finish(stage);
    state.weights.updated = state.weights.due = true;
    if (rules_.gathers) {
        state.weights.update = state.pending;
        if (state.last.any != no_task) { state.weights.update.push_back(state.last.any); }
    }
    bool const begins = pass.micro_batch == long_run_->before - 1;
    bool const ends = pass.micro_batch == long_run_->before + long_run_->measured - 1;
    if (!begins && !ends) { return; }
    result_.steady.kernels[static_cast<std::size_t>(stage)][begins ? 0 : 1] = state.last.any;
    if (recurrence_ != nullptr) { recurrence_->mark(static_cast<std::size_t>(stage)); }
}

bool Unroller::gradients_leave_last() const {
    return copies_block_ || (rules_.reduce.share == 1.0 && strategy_.data_ranks() > 1);
}

void Unroller::finish(int stage) {
    StageState& state = stages_[static_cast<std::size_t>(stage)];
    StageTraffic const& traffic = traffic_[static_cast<std::size_t>(stage)];
    at_ = {};
    flush(stage, state);
    send_bucket(stage, state, std::exchange(state.buckets.held_back, 0), state.last.any);
    if (traffic.blocking > 0) {
        TaskId const task = add(stage, Role::data, WorkKind::data, traffic.blocking, blocking_name_);
        wait_for_work(task, state);
        state.data = task;
    }
    if (state.data != no_task) { state.pending.push_back(state.data); }
    if (Ticks const down = gradients_leave_last() ? of_all_units(stage, &UnitTraffic::host_down) : 0; down > 0) {
        TaskId const task = add(stage, Role::copies_out, WorkKind::offload, down, out_name_);
        wait_for_work(task, state);
        state.pending.push_back(task);
    }
    if (traffic.host_update > 0) {
        TaskId const task = add(stage, Role::copies_out, WorkKind::offload, traffic.host_update, host_name_);
        wait_for_work(task, state);
        state.pending.push_back(task);
    }
    if (traffic.update > 0) { kernel(stage, state, WorkKind::optimizer, traffic.update, update_name_); }
}

} // namespace headroom::training::simulation
