#include "headroom/trace/rank_trace.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace headroom::trace {
namespace {

/// A part of a kernel's name, and the family to which it belongs. The first row that a name holds decides.
struct FamilyRow {
    std::string_view part, family;
};

constexpr std::string_view attention = "attention", convolutions = "convolutions", products = "matrix products",
                           optimizers = "optimizer kernels", norms = "norms and softmax", lookups = "lookups and sorts",
                           reductions = "reductions", elementwise = "element-wise kernels";

constexpr std::array rows{
    FamilyRow{"flash", attention},
    FamilyRow{"fmha", attention},
    FamilyRow{"ttention", attention},
    FamilyRow{"conv1d", convolutions},
    FamilyRow{"conv2d", convolutions},
    FamilyRow{"conv3d", convolutions},
    FamilyRow{"convol", convolutions},
    FamilyRow{"wgrad", convolutions},
    FamilyRow{"dgrad", convolutions},
    FamilyRow{"fprop", convolutions},
    FamilyRow{"winograd", convolutions},
    FamilyRow{"gemm", products},
    FamilyRow{"gemv", products},
    FamilyRow{"nvjet", products},
    FamilyRow{"Cijk_", products},
    FamilyRow{"matmul", products},
    FamilyRow{"triton_mm", products},
    FamilyRow{"multi_tensor", optimizers},
    FamilyRow{"adam", optimizers},
    FamilyRow{"Adam", optimizers},
    FamilyRow{"norm", norms},
    FamilyRow{"Norm", norms},
    FamilyRow{"softmax", norms},
    FamilyRow{"Softmax", norms},
    FamilyRow{"SoftMax", norms},
    FamilyRow{"bn_", norms},
    FamilyRow{"mbedding", lookups},
    FamilyRow{"index", lookups},
    FamilyRow{"Index", lookups},
    FamilyRow{"gather", lookups},
    FamilyRow{"catter", lookups},
    FamilyRow{"sort", lookups},
    FamilyRow{"Sort", lookups},
    FamilyRow{"topk", lookups},
    FamilyRow{"reduce", reductions},
    FamilyRow{"triton_red", reductions},
    FamilyRow{"triton_per", reductions},
    FamilyRow{"elementwise", elementwise},
    FamilyRow{"triton_poi", elementwise},
    FamilyRow{"ointwise", elementwise},
    FamilyRow{"CatArray", elementwise},
};

} // namespace

std::string_view kernel_family(std::string_view name) {
    auto const holds = [name](FamilyRow const& row) { return name.find(row.part) != std::string_view::npos; };
    auto const* const found = std::ranges::find_if(rows, holds);
    return found == rows.end() ? std::string_view{} : found->family;
}

} // namespace headroom::trace
