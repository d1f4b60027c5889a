#pragma once

#include <cstddef>
#include <string>

namespace headroom::training {

enum class Transpose { no, yes };

/// Sizes of C (m x n) = op(A) (m x k) op(B) (k x n); all matrices by rows, `lda` and the like the lengths of rows as stored.
struct ProductSize {
    std::size_t m = 0, n = 0, k = 0;
};

template <class Real> struct Matrix {
    Real const* values;
    std::size_t row; ///< elements from one row to the next
    Transpose transpose = Transpose::no;
};

/// Which matrix product to take.
enum class GemmChoice { automatic, platform, own };

/// Matrix products: those of the platform's BLAS, which is looked for when the program runs, or our own.
class Gemm {
public:
    /// `threads` is what the platform's library may use; our own uses one. Empty `name()` when `platform` was asked for and
    /// there is none.
    static Gemm load(GemmChoice choice, int threads);

    /// C = op(A) op(B) + beta C
    template <class Real>
    void multiply(ProductSize size, Matrix<Real> a, Matrix<Real> b, Real beta, Real* c, std::size_t row) const;

    [[nodiscard]] std::string const& name() const { return name_; }

private:
    using Single = void (*)(int, int, int, int, int, int, float, float const*, int, float const*, int, float, float*,
                            int);
    using Double = void (*)(int, int, int, int, int, int, double, double const*, int, double const*, int, double,
                            double*, int);
    std::string name_ = {};
    Single single_ = nullptr; ///< both null: our own
    Double double_ = nullptr;
};

/// C = op(A) op(B) + beta C by blocks that stay in the caches. What `Gemm` takes where there is no BLAS.
template <class Real>
void multiply_blocked(ProductSize size, Matrix<Real> a, Matrix<Real> b, Real beta, Real* c, std::size_t row);

} // namespace headroom::training
