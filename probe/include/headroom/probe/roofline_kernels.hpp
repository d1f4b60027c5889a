#pragma once

#include "headroom/probe/pinned_team.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::probe {

/// A kernel as it stands under the roof, in fp32: what it does in one round of all threads together, counted, not
/// measured.
struct RooflineKernel {
    std::string name;         ///< "softmax"
    std::string words;        ///< "softmax of 16384 rows of 1024"
    double operations = 0.0;  ///< the formulas of docs/guide/measure-roofline.md
    double bytes = 0.0;       ///< that must move: what is read once, and what is written once
    double touched = 0.0;     ///< bytes that a round touches: where they fit is where the data live
    std::function<void(int thread, std::uint64_t rounds)> run;
};

/// Every kernel there is, in the order in which they are shown.
std::vector<std::string_view> roofline_kernel_names();

struct KernelSizes {
    std::size_t elements = std::size_t{1} << 24; ///< of each array of kernels that stream: well beyond the caches
    std::size_t order = 1024;                    ///< of the large product
    std::size_t length = 1024;                   ///< keys of the attention
};

/// The kernels of these names for a team, with the arrays that they share; touched first by the threads that use them.
/// The threads share the rows or elements of one problem; of the small product each has one of its own.
/// Errors:     InputError{insufficient} where there is no memory for them.
class RooflineKernels {
public:
    RooflineKernels(PinnedTeam& team, KernelSizes sizes, std::vector<std::string> const& names);
    ~RooflineKernels();
    RooflineKernels(RooflineKernels&&) noexcept;
    RooflineKernels& operator=(RooflineKernels&&) noexcept;
    [[nodiscard]] std::vector<RooflineKernel> const& all() const { return all_; }

private:
    struct Arrays;
    std::unique_ptr<Arrays> arrays_;
    std::vector<RooflineKernel> all_;
};

} // namespace headroom::probe
