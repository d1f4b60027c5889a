#include "headroom/network/library_collectives.hpp"

#include <cmath>
#include <limits>

namespace headroom::network {
namespace {

constexpr double one = 1.0, endless = std::numeric_limits<double>::infinity();

/// A fabric of latencies and rates, base units.
Fabric fabric_of(double up_latency, double up_rate, double out_latency, double out_rate) {
    return {.scale_up = {.latency = Seconds{up_latency}, .bandwidth = BytesPerSecond{up_rate}},
            .scale_out = {.latency = Seconds{out_latency}, .bandwidth = BytesPerSecond{out_rate}}};
}

} // namespace

void explain_messages(TermBook& book, std::string const& name, std::string const& algorithm, Group group, Fabric fabric,
                      std::function<CollectiveTime(Fabric)> const& time) {
    auto const latency = [&](double up, double out) {
        return time(fabric_of(up, endless, out, endless)).latency.base();
    };
    auto const bytes = [&](double up, double out) { return time(fabric_of(0.0, up, 0.0, out)).bandwidth.base(); };
    book.add(TermKind::option, name + "_ranks", "", "the strategy's degrees", group.size);
    book.add(TermKind::catalog, name + "_ranks_in_domain", "", "the cluster's scale-up domain", group.per_domain);
    std::string sum, carried;
    std::vector<std::string> const counted{name + "_ranks", name + "_ranks_in_domain"};
    std::vector<std::string> const sent{name + "_bytes", name + "_ranks", name + "_ranks_in_domain"};
    auto const level = [&](char const* level, char const* link, double messages, double moved) {
        if (messages > 0.0) {
            std::string const count = name + "_messages_" + level;
            book.add(TermKind::algorithm, count, "", algorithm, messages, counted);
            sum += (sum.empty() ? "" : " + ") + count + " * " + link + "_latency";
        }
        if (moved > 0.0) {
            std::string const volume = name + "_bytes_" + level;
            book.add(TermKind::algorithm, volume, "B", algorithm, moved, sent);
            carried += (carried.empty() ? "" : ", ") + volume + " / " + link + "_rate";
        }
    };
    double const up = bytes(one, endless), out = bytes(endless, one);
    level("inside", "scale_up", latency(one, 0.0), up);
    level("across", "scale_out", latency(0.0, one), out);
    if (up > 0.0 && out > 0.0) {
        bool const adds = std::abs(bytes(one, one) - (up + out)) < 1e-12 * (up + out); // else the slower level decides
        carried = adds ? carried.replace(carried.find(", "), 2, " + ") : "max(" + carried + ")";
    }
    CollectiveTime const whole = time(fabric);
    book.formula(name + "_latency_seconds", "s", sum.empty() ? "0" : sum, whole.latency.base());
    book.formula(name + "_transfer_seconds", "s", carried.empty() ? "0" : carried, whole.bandwidth.base());
}

void explain_fastest(TermBook& book, std::string const& name, Collective collective, TotalBytes n, Group group,
                     Fabric fabric) {
    auto const chosen = fastest(collective, n, group, fabric);
    for (LibraryAlgorithm const& algorithm : library_algorithms()) {
        if (algorithm.collective != collective || algorithm.name != chosen.algorithm) { continue; }
        explain_messages(book, name, std::string{algorithm.name} + " of " + std::string{name_of(collective)}, group,
                         fabric, [&](Fabric of) { return algorithm.time(n, group, of); });
    }
}

} // namespace headroom::network
