#pragma once

#include <cstddef>
#include <memory>

namespace headroom::probe {

/// A matrix in rows: `stride` elements from one row to the next.
struct ConstMatrix {
    float const* data = nullptr;
    std::size_t stride = 0;
};
struct Matrix {
    float* data = nullptr;
    std::size_t stride = 0;
};

/// Whether the product replaces what is there.
enum class ProductInto { replaces, adds };

/// Headroom's GEMM in fp32, so that a machine without libraries has an answer too. Panels of both
/// factors are packed for the caches; a tile of the result stays in registers. One thread each: its packing space is its
/// own.
class OwnGemm {
public:
    OwnGemm();
    ~OwnGemm();
    OwnGemm(OwnGemm&&) noexcept;
    OwnGemm& operator=(OwnGemm&&) noexcept;

    /// C = A B or C += A B, with A of m x k, B of k x n, C of m x n; 2 m n k operations.
    ///
    /// Source:     [Goto2008], [VanZee2015]
    void multiply(std::size_t m, std::size_t n, std::size_t k, ConstMatrix a, ConstMatrix b, Matrix c,
                  ProductInto into = ProductInto::replaces);

private:
    struct Space;
    std::unique_ptr<Space> space_;
};

} // namespace headroom::probe
