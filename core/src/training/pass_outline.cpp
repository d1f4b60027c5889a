#include "pass_outline.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace headroom::training {
namespace {

constexpr std::size_t groups = 3;
enum : std::size_t { tensor_group, context_group, experts_group };

/// Kernels of a pass, and collectives that are hidden beside them.
struct Hidden {
    std::array<double, groups> seconds{}, behind{};
    unsigned any = 0;                  ///< groups that have hidden ones
    std::size_t kernels = 0, bare = 0; ///< kernels, and those that hide nothing
};

Hidden hidden_of(std::vector<PricedOperation> const& pass) {
    Hidden hidden;
    for (auto const& [operation, price, kernel, beside] : pass) {
        if (!kernel) {
            double const seconds = (price.time - price.shown).base();
            hidden.seconds[group_of(*operation)] += seconds;
            continue;
        }
        for (std::size_t g = 0; beside != 0 && g < groups; ++g) {
            if ((beside >> g & 1U) != 0) { hidden.behind[g] += price.time.base(); }
        }
        ++hidden.kernels;
    }
    for (std::size_t g = 0; g < groups; ++g) { hidden.any |= hidden.seconds[g] > 0.0 ? 1U << g : 0U; }
    for (auto const& one : pass) { hidden.bare += one.kernel && (one.beside & hidden.any) == 0 ? 1 : 0; }
    return hidden;
}

/// The longest collective beside a kernel: each group's are spread over what hides them.
double longest_beside(Hidden const& hidden, PricedOperation const& kernel) {
    unsigned const both = kernel.beside & hidden.any;
    double longest = 0.0;
    for (std::size_t g = 0; both != 0 && g < groups; ++g) {
        if ((both >> g & 1U) == 0 || hidden.behind[g] <= 0.0) { continue; }
        longest = std::max(longest, hidden.seconds[g] * kernel.price.time.base() / hidden.behind[g]);
    }
    return longest;
}

/// Kernels in the first so many seconds of a pass, asked for in ascending order.
class KernelsUntil {
public:
    explicit KernelsUntil(std::vector<Stretch> const& pass) : pass_{pass} {}
    double operator()(double time) {
        while (at_ < pass_.size() && begin_ + pass_[at_].kernels + pass_[at_].others <= time) {
            begin_ += pass_[at_].kernels + pass_[at_].others;
            kernels_ += pass_[at_++].kernels;
        }
        return at_ < pass_.size() ? kernels_ + std::clamp(time - begin_, 0.0, pass_[at_].kernels) : kernels_;
    }

private:
    std::vector<Stretch> const& pass_;
    std::size_t at_ = 0;
    double begin_ = 0.0, kernels_ = 0.0;
};

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

PricedOperation priced(Operation const& operation, OperationPrice const& price, bool recomputes_core) {
    PricedOperation one{.operation = &operation, .price = price, .kernel = is_kernel(operation)};
    if (!one.kernel || operation.kind == OperationKind::memory) { return one; }
    for (std::size_t g = 0; g < groups; ++g) { one.beside |= hides(g, operation, recomputes_core) ? 1U << g : 0U; }
    return one;
}

std::vector<Stretch> stretches_of(std::vector<PricedOperation> const& pass, double loss) {
    auto const hidden = hidden_of(pass);
    std::vector<Stretch> all;
    all.reserve(pass.size() + 2);
    all.emplace_back(); // what stands before the first kernel
    for (PricedOperation const& one : pass) {
        if (!one.kernel) {
            all.back().others += one.price.shown.base();
            continue;
        }
        bool const bare = (one.beside & hidden.any) == 0;
        double const kernel = one.price.time.base();
        double slowed = kernel, length = kernel;
        if (!bare) {
            length = std::max(kernel, longest_beside(hidden, one));
            double const beyond = loss > 0.0 ? (kernel / (1.0 - loss) - length) * (1.0 - loss) / loss : kernel;
            slowed = std::clamp(beyond, 0.0, kernel);
        }
        if (all.back().others > 0.0) { all.emplace_back(); }
        all.back().kernels += slowed;
        all.back().others += length - slowed;
    }
    for (std::size_t g = 0; g < groups; ++g) {
        if (hidden.behind[g] <= 0.0) { all.back().others += hidden.seconds[g]; }
    }
    return all;
}

double uneven_share(PassCost const& pass) {
    return pass.chip.base() > 0.0 ? (pass.total() - std::max(pass.chip, pass.host)) / pass.chip : 0.0;
}

void OutlineMean::add(std::vector<Stretch> pass, double weight) { passes_.push_back({std::move(pass), weight}); }

PassOutline OutlineMean::mean(double uneven_host) {
    PassOutline outline;
    std::vector<double> behind; // of every pass: collectives behind its last kernel, and what it waits for the host
    for (auto& [pass, weight] : passes_) {
        double const trailing = pass.empty() ? 0.0 : pass.back().others, waits = uneven_host * length_of(pass);
        if (!pass.empty()) { pass.back().others += waits; }
        behind.push_back(trailing + waits);
        outline.trailing += weight * trailing;
        outline.waits += weight * waits;
    }
    double longest = 0.0;
    for (auto const& [pass, weight] : passes_) { longest = std::max(longest, length_of(pass)); }
    outline.part = longest / static_cast<double>(PassOutline::parts);
    for (std::size_t p = 0; p < passes_.size(); ++p) {
        auto const& [pass, weight] = passes_[p];
        double const length = length_of(pass);
        KernelsUntil kernels_until{pass};
        for (std::size_t i = 0; i <= PassOutline::parts; ++i) {
            double const time = outline.part * static_cast<double>(i);
            outline.kernels[i] += weight * kernels_until(time - behind[p]);
            outline.idle[i] += weight * std::max(0.0, time - length);
        }
    }
    return outline;
}

} // namespace headroom::training
