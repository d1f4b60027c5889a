#include "communication_closed_form.hpp"

#include "headroom/error.hpp"
#include "headroom/network/collective_algorithm.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::fit {

using namespace headroom::network;

namespace {

constexpr std::string_view table_protocol = "closed_form"; ///< as `comm` names the formulas of its table

CollectiveAlgorithm const* table_row(CommunicationFit const& fit) {
    Layout const layout = Layout::of(group_of(fit), {}, {});
    for (CollectiveAlgorithm const& row : collective_algorithms()) {
        bool const named = row.collective == fit.collective && normalised(row.name) == normalised(fit.algorithm);
        if (named && has_closed_form(row, layout)) { return &row; }
    }
    return nullptr;
}

/// The row of a library, unless times were priced by the formula of the other table under the same name.
LibraryAlgorithm const* library_row(CommunicationFit const& fit) {
    if (fit.protocol == table_protocol && table_row(fit) != nullptr) { return nullptr; }
    for (LibraryAlgorithm const& row : library_algorithms()) {
        if (row.collective == fit.collective && normalised(row.name) == normalised(fit.algorithm)) { return &row; }
    }
    return nullptr;
}

bool in_library(Collective collective) {
    return std::ranges::any_of(library_algorithms(),
                               [&](LibraryAlgorithm const& row) { return row.collective == collective; });
}

CollectiveTime time_of(CommunicationFit const& fit, Bytes size, Fabric fabric) {
    Group const group = group_of(fit);
    if (LibraryAlgorithm const* row = library_row(fit)) { return row->time({size}, group, fabric); }
    CollectiveCall const call{.size = {size}, .layout = Layout::of(group, fabric.scale_up, fabric.scale_out)};
    return table_row(fit)->time(call);
}

/// Names the algorithm that is fastest for a size.
void name_fastest(Bytes size, Fabric fabric, Forms forms, CommunicationFit& fit) {
    CollectiveChoice const library = fastest(fit.collective, {size}, group_of(fit), fabric);
    fit.algorithm = library.algorithm;
    if (forms == Forms::library) { return; }
    CollectiveCall const call{.size = {size}, .layout = Layout::of(group_of(fit), fabric.scale_up, fabric.scale_out)};
    Seconds least = library.time.total();
    for (CollectiveAlgorithm const& row : collective_algorithms()) {
        bool const fits = row.collective == fit.collective && has_closed_form(row, call.layout) &&
                          (row.arrangement == Arrangement::flat ||
                           (row.arrangement == Arrangement::levels && call.layout.levels > 1));
        if (!fits || !(row.time(call).total() < least)) { continue; }
        least = row.time(call).total();
        fit.algorithm = row.name;
        fit.protocol = table_protocol;
    }
}

} // namespace

Group group_of(CommunicationFit const& fit) {
    int const nodes = std::clamp(fit.nodes, 1, std::max(fit.ranks, 1));
    return {.size = std::max(fit.ranks, 1), .per_domain = std::max(1, (fit.ranks + nodes - 1) / nodes)};
}

bool has_form(CommunicationFit const& fit) {
    if (fit.ranks < 2 || fit.collective == Collective::barrier) { return false; }
    if (fit.algorithm.empty()) { return in_library(fit.collective); }
    return library_row(fit) != nullptr || table_row(fit) != nullptr;
}

FormShare share_of(CommunicationFit const& fit, Bytes size, Fabric fabric, bool scale_out, Forms forms) {
    constexpr double step = 1e-5; ///< of the inverse bandwidth: between kinks of a maximum the slope is exact
    CommunicationFit named = fit;
    if (fit.algorithm.empty()) { name_fastest(size, fabric, forms, named); }
    Link Fabric::*const level = scale_out ? &Fabric::scale_out : &Fabric::scale_up;
    double const beta = 1.0 / (fabric.*level).bandwidth.base(), alpha = (fabric.*level).latency.base();
    CollectiveTime const now = time_of(named, size, fabric);

    Fabric slower = fabric;
    (slower.*level).bandwidth = (fabric.*level).bandwidth / (1.0 + step);
    Fabric later = fabric;
    (later.*level).latency = Seconds{alpha + 1.0};
    FormShare share;
    share.bytes = std::max(0.0, (time_of(named, size, slower).bandwidth - now.bandwidth).base() / (step * beta));
    share.messages = std::round(1e6 * (time_of(named, size, later).latency - now.latency).base()) / 1e6;
    share.given = std::max(0.0, now.total().base() - share.messages * alpha - share.bytes * beta);
    return share;
}

} // namespace headroom::fit
