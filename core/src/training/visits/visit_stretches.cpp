#include "visit_stretches.hpp"

#include <algorithm>
#include <cstddef>

namespace headroom::training::simulation {
namespace {

UnitStretch stretch_of(PassItem const& item, AdapterUsers const& users) {
    UnitStretch stretch;
    auto const cost = static_cast<double>(item.cost);
    if (item.role == Role::compute && item.kind == WorkKind::launch) {
        stretch.fixed = cost;
    } else if (item.role == Role::compute) {
        stretch.kernels = cost;
        for (std::size_t g = 0; g < group3_count; ++g) {
            auto const beside = static_cast<double>(item.beside[g]);
            if (users.groups[g]) {
                stretch.leaving[g] = beside;
            } else {
                stretch.fixed = std::max(stretch.fixed, beside);
            }
        }
    } else if (item.role != Role::host) {
        auto const group = static_cast<std::size_t>(item.role) - static_cast<std::size_t>(Role::tensor);
        (users.groups[group] ? stretch.leaving[group] : stretch.fixed) = cost;
    }
    return stretch;
}

/// Whether they are made of the same things.
bool alike(UnitStretch const& a, UnitStretch const& b) {
    bool same = (a.kernels > 0.0) == (b.kernels > 0.0) && (a.fixed > 0.0) == (b.fixed > 0.0);
    for (std::size_t g = 0; g < group3_count; ++g) { same = same && (a.leaving[g] > 0.0) == (b.leaving[g] > 0.0); }
    return same;
}

void append(UnitStretch& to, UnitStretch const& next) {
    to.kernels += next.kernels, to.fixed += next.fixed;
    for (std::size_t g = 0; g < group3_count; ++g) { to.leaving[g] += next.leaving[g]; }
}

} // namespace

UnitVisit visit_of(Unit const& unit, PassKind kind, AdapterUsers const& users) {
    UnitVisit visit{.stretches = {}, .routed = unit.routed};
    for (PassItem const& item : unit[kind].items) {
        visit.host += static_cast<double>(item.launch);
        UnitStretch const next = stretch_of(item, users);
        visit.work += next.work();
        if (item.role == Role::compute) { visit.ended.push_back(visit.work); }
        if (next.kernels > 0.0) { visit.made = visit.work; }
        if (!visit.stretches.empty() && alike(visit.stretches.back(), next)) {
            append(visit.stretches.back(), next);
        } else {
            visit.stretches.push_back(next);
        }
    }
    return visit;
}

} // namespace headroom::training::simulation
