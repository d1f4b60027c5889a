#include "headroom/probe/roofline_kernels.hpp"

#include "vector/aligned.hpp"

#include "headroom/error.hpp"
#include "headroom/probe/attention.hpp"
#include "headroom/probe/gemm.hpp"
#include "headroom/probe/row_kernels.hpp"

#include <algorithm>
#include <atomic>

namespace headroom::probe {
namespace {

constexpr double element = sizeof(float);
constexpr std::size_t row_length = 1024, small_order = 64, head_width = 64;

/// The part of `count` things that belongs to a thread, in whole groups of `group`.
struct Share {
    std::size_t first, count;
};
Share share_of(std::size_t count, std::size_t group, int thread, int threads) {
    std::size_t const groups = (count + group - 1) / group;
    auto const bound = [&](int of) {
        return std::min(count, groups * static_cast<std::size_t>(of) / static_cast<std::size_t>(threads) * group);
    };
    return {bound(thread), bound(thread + 1) - bound(thread)};
}

} // namespace

struct RooflineKernels::Arrays {
    int threads = 1;
    KernelSizes sizes;
    AlignedFloats a, b, out;
    std::vector<OwnGemm> gemm;
    std::vector<TiledSpace> tiled;
    std::atomic<float> sink{0.0F}; ///< sums go here, so that they are needed

    Arrays(PinnedTeam& team, KernelSizes wanted);
    [[nodiscard]] RooflineKernel triad_kernel();
    [[nodiscard]] RooflineKernel sum_kernel();
    [[nodiscard]] RooflineKernel softmax_kernel();
    [[nodiscard]] RooflineKernel layer_norm_kernel();
    [[nodiscard]] RooflineKernel small_gemm_kernel();
    [[nodiscard]] RooflineKernel large_gemm_kernel();
    [[nodiscard]] RooflineKernel attention_kernel(bool tiles);
};

RooflineKernels::Arrays::Arrays(PinnedTeam& team, KernelSizes wanted) : threads{team.size()}, sizes{wanted} {
    std::size_t const small = small_order * small_order * static_cast<std::size_t>(threads);
    std::size_t const all = std::max({sizes.elements / row_length * row_length, sizes.order * sizes.order,
                                      sizes.length * sizes.length, small, 4 * sizes.length * head_width});
    sizes.elements = all / row_length * row_length;
    for (auto* array : {&a, &b, &out}) {
        *array = aligned_floats(all);
        if (!*array) {
            too_little("kernels", "no memory for arrays of " + std::to_string(all) + " elements",
                       "kernels that stream need arrays beyond the caches", "choose others with --kernels");
        }
    }
    team.run([&](int thread) {
        auto const [first, count] = share_of(all, row_length, thread, threads);
        for (std::size_t i = first; i < first + count; ++i) {
            a[i] = static_cast<float>(i % 19) * 0.0625F - 0.5F;
            b[i] = static_cast<float>(i % 23) * 0.03125F - 0.25F;
            out[i] = 0.0F;
        }
    });
    for (int i = 0; i < threads; ++i) {
        gemm.emplace_back();
        tiled.emplace_back(sizes.length);
    }
}

RooflineKernel RooflineKernels::Arrays::triad_kernel() {
    double const n = static_cast<double>(sizes.elements);
    return {"triad",
            "a = b + s c of " + std::to_string(sizes.elements) + " elements",
            2.0 * n,
            3.0 * n * element,
            3.0 * n * element,
            [this](int thread, std::uint64_t rounds) {
                auto const [first, count] = share_of(sizes.elements, row_length, thread, threads);
                for (std::uint64_t i = 0; i < rounds; ++i) {
                    triad(out.get() + first, a.get() + first, b.get() + first, 0.5F, count);
                }
            }};
}

RooflineKernel RooflineKernels::Arrays::sum_kernel() {
    double const n = static_cast<double>(sizes.elements);
    return {"sum",
            "sum of " + std::to_string(sizes.elements) + " elements",
            n,
            n * element,
            n * element,
            [this](int thread, std::uint64_t rounds) {
                auto const [first, count] = share_of(sizes.elements, row_length, thread, threads);
                for (std::uint64_t i = 0; i < rounds; ++i) { sink = sum_of(a.get() + first, count); }
            }};
}

RooflineKernel RooflineKernels::Arrays::softmax_kernel() {
    double const n = static_cast<double>(sizes.elements);
    std::size_t const rows = sizes.elements / row_length;
    return {"softmax",
            "softmax of " + std::to_string(rows) + " rows of " + std::to_string(row_length),
            5.0 * n,
            2.0 * n * element,
            2.0 * n * element,
            [this, rows](int thread, std::uint64_t rounds) {
                auto const [first, count] = share_of(rows, 1, thread, threads);
                std::size_t const at = first * row_length;
                for (std::uint64_t i = 0; i < rounds; ++i) {
                    softmax_rows(a.get() + at, out.get() + at, count, row_length);
                }
            }};
}

RooflineKernel RooflineKernels::Arrays::layer_norm_kernel() {
    double const n = static_cast<double>(sizes.elements), weights = 2.0 * row_length;
    std::size_t const rows = sizes.elements / row_length;
    return {"layer_norm",
            "layer norm of " + std::to_string(rows) + " rows of " + std::to_string(row_length),
            8.0 * n,
            (2.0 * n + weights) * element,
            (2.0 * n + weights) * element,
            [this, rows](int thread, std::uint64_t rounds) {
                auto const [first, count] = share_of(rows, 1, thread, threads);
                std::size_t const at = first * row_length;
                for (std::uint64_t i = 0; i < rounds; ++i) {
                    layer_norm_rows(a.get() + at, b.get(), b.get() + row_length, out.get() + at, count, row_length);
                }
            }};
}

RooflineKernel RooflineKernels::Arrays::small_gemm_kernel() {
    constexpr std::size_t n = small_order;
    double const order = static_cast<double>(n), each = static_cast<double>(threads);
    return {"gemm_small",
            "product of order 64, one for each thread",
            2.0 * order * order * order * each,
            3.0 * order * order * element * each,
            3.0 * order * order * element * each,
            [this](int thread, std::uint64_t rounds) {
                std::size_t const at = static_cast<std::size_t>(thread) * n * n;
                for (std::uint64_t i = 0; i < rounds; ++i) {
                    gemm[thread].multiply(n, n, n, {a.get() + at, n}, {b.get() + at, n}, {out.get() + at, n});
                }
            }};
}

RooflineKernel RooflineKernels::Arrays::large_gemm_kernel() {
    std::size_t const n = sizes.order;
    double const order = static_cast<double>(n);
    return {
        "gemm_large",
        "product of order " + std::to_string(n),
        2.0 * order * order * order,
        3.0 * order * order * element,
        3.0 * order * order * element,
        [this, n](int thread, std::uint64_t rounds) {
            auto const [first, rows] = share_of(n, 12, thread, threads);
            for (std::uint64_t i = 0; i < rounds; ++i) {
                gemm[thread].multiply(rows, n, n, {a.get() + first * n, n}, {b.get(), n}, {out.get() + first * n, n});
            }
        }};
}

/// Queries lie in `a`, keys, values and results behind each other in `b`; the unfused one keeps its scores
/// in `out`.
RooflineKernel RooflineKernels::Arrays::attention_kernel(bool tiles) {
    std::size_t const length = sizes.length;
    double const l = static_cast<double>(length), d = head_width;
    double const operands = 4.0 * l * d * element, scores = tiles ? 0.0 : l * l * element;
    auto const run = [this, tiles, length](int thread, std::uint64_t rounds) {
        std::size_t const block = length * head_width;
        auto const [first, count] = share_of(length, tiles ? TiledSpace::rows : 12, thread, threads);
        if (count == 0) { return; }
        AttentionCall const call{.queries = count,
                                 .length = length,
                                 .width = head_width,
                                 .query = a.get() + first * head_width,
                                 .keys = b.get(),
                                 .values = b.get() + block,
                                 .out = b.get() + 2 * block + first * head_width};
        for (std::uint64_t i = 0; i < rounds; ++i) {
            if (tiles) {
                attention_tiled(call, tiled[thread], gemm[thread]);
            } else {
                attention_unfused(call, out.get() + first * length, gemm[thread]);
            }
        }
    };
    std::string const words = "one head of width 64, " + std::to_string(length) + " queries and keys";
    return {tiles ? "attention_tiled" : "attention_unfused",
            words,
            4.0 * l * l * d,
            operands + 4.0 * scores,
            operands + scores,
            run};
}

RooflineKernels::RooflineKernels(PinnedTeam& team, KernelSizes sizes, std::vector<std::string> const& names)
    : arrays_{std::make_unique<Arrays>(team, sizes)} {
    for (std::string const& name : names) {
        if (name == "triad") { all_.push_back(arrays_->triad_kernel()); }
        if (name == "sum") { all_.push_back(arrays_->sum_kernel()); }
        if (name == "softmax") { all_.push_back(arrays_->softmax_kernel()); }
        if (name == "layer_norm") { all_.push_back(arrays_->layer_norm_kernel()); }
        if (name == "gemm_small") { all_.push_back(arrays_->small_gemm_kernel()); }
        if (name == "gemm_large") { all_.push_back(arrays_->large_gemm_kernel()); }
        if (name == "attention_unfused") { all_.push_back(arrays_->attention_kernel(false)); }
        if (name == "attention_tiled") { all_.push_back(arrays_->attention_kernel(true)); }
    }
}

RooflineKernels::~RooflineKernels() = default;
RooflineKernels::RooflineKernels(RooflineKernels&&) noexcept = default;
RooflineKernels& RooflineKernels::operator=(RooflineKernels&&) noexcept = default;

std::vector<std::string_view> roofline_kernel_names() {
    return {"triad",      "sum",        "softmax",           "layer_norm",
            "gemm_small", "gemm_large", "attention_unfused", "attention_tiled"};
}

} // namespace headroom::probe
