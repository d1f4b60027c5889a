#include "pass_outline.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace headroom {
namespace {

constexpr std::size_t groups = 3;
enum : std::size_t { tensor_group, context_group, experts_group };

/// Kernels of a pass, and collectives that are hidden beside them.
struct Hidden {
    std::array<double, groups> seconds{}, behind{};
    std::size_t kernels = 0, bare = 0; ///< kernels, and those that hide nothing
};

bool hides_any(Hidden const& hidden, Operation const& kernel, bool recomputes_core) {
    for (std::size_t g = 0; g < groups; ++g) {
        if (hidden.seconds[g] > 0.0 && hides(g, kernel, recomputes_core)) { return true; }
    }
    return false;
}

Hidden hidden_of(std::vector<PricedOperation> const& pass, bool recomputes_core) {
    Hidden hidden;
    for (auto const& [operation, price] : pass) {
        if (is_kernel(*operation)) {
            for (std::size_t g = 0; g < groups; ++g) {
                if (hides(g, *operation, recomputes_core)) { hidden.behind[g] += price.time.base(); }
            }
            ++hidden.kernels;
        } else {
            hidden.seconds[group_of(*operation)] += (price.time - price.shown).base();
        }
    }
    for (auto const& one : pass) {
        bool const bare = is_kernel(*one.operation) && !hides_any(hidden, *one.operation, recomputes_core);
        hidden.bare += bare ? 1 : 0;
    }
    return hidden;
}

/// The longest collective beside a kernel: each group's are spread over what hides them.
double longest_beside(Hidden const& hidden, PricedOperation const& kernel, bool recomputes_core) {
    double longest = 0.0;
    for (std::size_t g = 0; g < groups; ++g) {
        if (hidden.behind[g] <= 0.0 || !hides(g, *kernel.operation, recomputes_core)) { continue; }
        longest = std::max(longest, hidden.seconds[g] * kernel.price.time.base() / hidden.behind[g]);
    }
    return longest;
}

/// The first `time` of a pass.
Stretch first_part(std::vector<Stretch> const& pass, double time) {
    Stretch sum;
    for (Stretch const& one : pass) {
        double const kernels = std::clamp(time, 0.0, one.kernels);
        sum.kernels += kernels;
        sum.others += std::clamp(time - kernels, 0.0, one.others);
        time -= one.kernels + one.others;
    }
    return sum;
}

double length_of(std::vector<Stretch> const& pass) {
    double all = 0.0;
    for (Stretch const& one : pass) { all += one.kernels + one.others; }
    return all;
}

} // namespace

std::size_t group_of(Operation const& operation) {
    return operation.kind == OperationKind::exchange ? experts_group
           : operation.traffic == Traffic::tensor    ? tensor_group
                                                     : context_group;
}
bool is_product(Operation const& operation) {
    return operation.kind == OperationKind::gemm || operation.kind == OperationKind::grouped_gemm;
}
bool is_attention(Operation const& operation) {
    return operation.kind == OperationKind::attention || operation.kind == OperationKind::unfused_attention;
}
bool is_kernel(Operation const& operation) {
    return operation.kind != OperationKind::collective && operation.kind != OperationKind::exchange;
}

bool hides(std::size_t group, Operation const& kernel, bool recomputes_core) {
    switch (group) {
    case tensor_group: return is_product(kernel);
    case experts_group: return is_product(kernel) || is_attention(kernel);
    default: return is_attention(kernel) && !(recomputes_core && kernel.phase == Phase::recompute);
    }
}

std::vector<Stretch> stretches_of(std::vector<PricedOperation> const& pass, Seconds gaps, bool recomputes_core,
                                  double loss) {
    auto const hidden = hidden_of(pass, recomputes_core);
    std::size_t const with_gap = hidden.bare > 0 ? hidden.bare : hidden.kernels;
    double const gap = with_gap > 0 ? gaps.base() / static_cast<double>(with_gap) : 0.0;
    std::vector<Stretch> all{{}}; // what stands before the first kernel
    for (PricedOperation const& one : pass) {
        if (!is_kernel(*one.operation)) {
            all.back().others += one.price.shown.base();
            continue;
        }
        bool const bare = !hides_any(hidden, *one.operation, recomputes_core);
        double const kernel = one.price.time.base() + (bare || hidden.bare == 0 ? gap : 0.0);
        double const beside = longest_beside(hidden, one, recomputes_core), length = std::max(kernel, beside);
        double const beyond = loss > 0.0 ? (kernel / (1.0 - loss) - length) * (1.0 - loss) / loss : kernel;
        double const slowed = std::clamp(beyond, 0.0, kernel);
        if (all.back().others > 0.0) { all.emplace_back(); }
        all.back().kernels += slowed;
        all.back().others += length - slowed;
    }
    for (std::size_t g = 0; g < groups; ++g) {
        if (hidden.behind[g] <= 0.0) { all.back().others += hidden.seconds[g]; }
    }
    return all;
}

double uneven_host_share(LayerCost const& block) {
    Seconds const chip = block.total() - block.host_excess(), larger = std::max(chip, block.host);
    return chip.base() > 0.0 ? std::max(0.0, (block.total() - larger) / chip) : 0.0;
}

void OutlineMean::add(std::vector<Stretch> pass, double weight) { passes_.push_back({std::move(pass), weight}); }

PassOutline OutlineMean::mean(double uneven_host) {
    for (auto& [pass, weight] : passes_) {
        if (uneven_host > 0.0) { pass.push_back({.kernels = uneven_host * length_of(pass)}); }
    }
    PassOutline outline;
    double longest = 0.0;
    for (auto const& [pass, weight] : passes_) { longest = std::max(longest, length_of(pass)); }
    for (auto const& [pass, weight] : passes_) {
        double const trailing = pass.empty() ? 0.0 : pass.back().others, length = length_of(pass);
        outline.trailing += weight * trailing;
        for (std::size_t i = 0; i <= PassOutline::parts; ++i) {
            double const time = longest * static_cast<double>(i) / static_cast<double>(PassOutline::parts);
            auto const part = first_part(pass, time - trailing);
            outline.kernels[i] += weight * part.kernels;
            outline.others[i] += weight * (time - part.kernels);
            outline.idle[i] += weight * std::max(0.0, time - length);
        }
    }
    return outline;
}

} // namespace headroom
