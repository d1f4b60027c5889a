#include "logs/nccl_evidence.hpp"

#include "logs/log_lines.hpp"

#include "headroom/network/comparison.hpp"

#include <algorithm>

namespace headroom::io {

using namespace headroom::network;

namespace {

constexpr int most_ranks = 65'536;

} // namespace

BandwidthEvidence::BandwidthEvidence(std::string_view text) {
    NcclColumns columns;
    LogLines lines{text};
    for (std::string_view line; lines.next(line);) {
        NcclRow row;
        if (!read_nccl_header(line, columns) && read_nccl_row(line, columns, false, row) == NcclLine::row) { add(row); }
    }
}

void BandwidthEvidence::add(NcclRow const& row) {
    bool const adds = !row.operation.empty() && row.operation != "none";
    all_add_ = all_add_ && adds;
    none_adds_ = none_adds_ && !adds;
    rooted_ = rooted_ || row.root >= 0.0;
    auto const& algorithm = row.printed.algorithm;
    auto const& bus = row.printed.bus;
    constexpr double slack = 1.01;
    double const least = algorithm->value - slack * algorithm->half_unit;
    if (!(least > 0.0) || !(bus->value > 0.0)) { return; }
    ++rows_;
    low_ = std::max(low_, (bus->value - slack * bus->half_unit) / (algorithm->value + slack * algorithm->half_unit));
    high_ = std::min(high_, (bus->value + slack * bus->half_unit) / least);
}

int BandwidthEvidence::ranks(Collective collective) const {
    int found = 0;
    for (int ranks = 2; any() && ranks <= most_ranks; ++ranks) {
        double const factor = bus_bandwidth_factor(collective, Ranks{ranks});
        if (factor < low_ || factor > high_) { continue; }
        if (found != 0) { return 0; }
        found = ranks;
    }
    return found;
}

bool BandwidthEvidence::agrees(Collective collective) const {
    if (reduces(collective) ? !all_add_ : !none_adds_) { return false; }
    if (!any()) { return true; }
    for (int ranks = 2; ranks <= most_ranks; ++ranks) {
        double const factor = bus_bandwidth_factor(collective, Ranks{ranks});
        if (factor >= low_ && factor <= high_) { return true; }
    }
    return false;
}

std::optional<Collective> BandwidthEvidence::collective() const {
    bool const shown = any() && all_add_ && !rooted_ && low_ > 1.0 && agrees(Collective::all_reduce);
    return shown ? std::optional{Collective::all_reduce} : std::nullopt;
}

} // namespace headroom::io
