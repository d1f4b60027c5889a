#include "gemm/gemm_call.hpp"
#include "vector/aligned.hpp"

#include <algorithm>

namespace headroom::probe {

struct OwnGemm::Space {
    AlignedFloats a = aligned_floats((gemm_block_rows + gemm_most_tile) * gemm_block_depth);
    AlignedFloats b = aligned_floats((gemm_block_columns + gemm_most_tile) * gemm_block_depth);
    AlignedFloats edge = aligned_floats(gemm_most_tile * gemm_most_tile);
};

OwnGemm::OwnGemm() : space_{std::make_unique<Space>()} {}
OwnGemm::~OwnGemm() = default;
OwnGemm::OwnGemm(OwnGemm&&) noexcept = default;
OwnGemm& OwnGemm::operator=(OwnGemm&&) noexcept = default;

void OwnGemm::multiply(std::size_t m, std::size_t n, std::size_t k, ConstMatrix a, ConstMatrix b, Matrix c,
                       ProductInto into) {
    if (k == 0 && into == ProductInto::replaces) { // nothing to add up
        for (std::size_t row = 0; row < m; ++row) { std::fill_n(c.data + row * c.stride, n, 0.0F); }
    }
    multiply_here({m, n, k, a, b, c, into, space_->a.get(), space_->b.get(), space_->edge.get()});
}

} // namespace headroom::probe
