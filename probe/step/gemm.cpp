#include "gemm.hpp"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <string>
#include <vector>

namespace headroom::training {
namespace {

// Values of the C interface to the BLAS, the same in every library of it.
constexpr int row_major = 101, not_transposed = 111, transposed = 112;

constexpr std::size_t block_rows = 64, block_depth = 256, block_columns = 256;

constexpr char const* libraries[] = {"libopenblas.so.0", "libopenblas.so", "libblis.so.4", "libcblas.so.3",
                                     "libblas.so.3"};

int code_of(Transpose transpose) { return transpose == Transpose::yes ? transposed : not_transposed; }

template <class Function> Function function_of(void* library, char const* name) {
    return reinterpret_cast<Function>(dlsym(library, name));
}

/// Libraries read these when they are loaded; none of them may start threads that the step did not ask for.
void state_threads(int threads) {
    std::string const count = std::to_string(threads);
    for (char const* const name : {"OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS", "OMP_NUM_THREADS"}) {
        setenv(name, count.c_str(), 1);
    }
}

template <class Real> Real at(Matrix<Real> const& matrix, std::size_t i, std::size_t j) {
    return matrix.transpose == Transpose::no ? matrix.values[i * matrix.row + j] : matrix.values[j * matrix.row + i];
}

/// A block of op(matrix), by rows, close together.
template <class Real>
void pack(Matrix<Real> const& matrix, std::size_t i, std::size_t rows, std::size_t j, std::size_t columns,
          std::vector<Real>& packed) {
    packed.resize(rows * columns);
    if (matrix.transpose == Transpose::no) {
        for (std::size_t r = 0; r < rows; ++r) {
            Real const* const from = matrix.values + (i + r) * matrix.row + j;
            std::copy(from, from + columns, packed.data() + r * columns);
        }
        return;
    }
    for (std::size_t c = 0; c < columns; ++c) {
        for (std::size_t r = 0; r < rows; ++r) { packed[r * columns + c] = at(matrix, i + r, j + c); }
    }
}

/// What one step of the innermost loop adds up at a time: small enough to stay in registers.
constexpr std::size_t tile_rows = 4, tile_columns = 8;

/// A full tile of C += A B, A and B packed.
template <class Real> void multiply_tile(Real const* a, Real const* b, ProductSize size, Real* c, std::size_t row) {
    Real sums[tile_rows][tile_columns] = {};
    for (std::size_t p = 0; p < size.k; ++p) {
        for (std::size_t i = 0; i < tile_rows; ++i) {
            Real const factor = a[i * size.k + p];
            for (std::size_t j = 0; j < tile_columns; ++j) { sums[i][j] += factor * b[p * size.n + j]; }
        }
    }
    for (std::size_t i = 0; i < tile_rows; ++i) {
        for (std::size_t j = 0; j < tile_columns; ++j) { c[i * row + j] += sums[i][j]; }
    }
}

/// What is left beside and below full tiles.
template <class Real>
void multiply_rest(Real const* a, Real const* b, ProductSize size, std::size_t rows, std::size_t columns, Real* c,
                   std::size_t row) {
    for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t p = 0; p < size.k; ++p) {
            for (std::size_t j = 0; j < columns; ++j) { c[i * row + j] += a[i * size.k + p] * b[p * size.n + j]; }
        }
    }
}

template <class Real>
void multiply_packed(std::vector<Real> const& a, std::vector<Real> const& b, ProductSize size, Real* c,
                     std::size_t row) {
    for (std::size_t i = 0; i < size.m; i += tile_rows) {
        for (std::size_t j = 0; j < size.n; j += tile_columns) {
            std::size_t const rows = std::min(tile_rows, size.m - i), columns = std::min(tile_columns, size.n - j);
            Real const* const left = a.data() + i * size.k;
            Real* const to = c + i * row + j;
            if (rows == tile_rows && columns == tile_columns) {
                multiply_tile(left, b.data() + j, size, to, row);
            } else {
                multiply_rest(left, b.data() + j, size, rows, columns, to, row);
            }
        }
    }
}

} // namespace

template <class Real>
void multiply_blocked(ProductSize size, Matrix<Real> a, Matrix<Real> b, Real beta, Real* c, std::size_t row) {
    for (std::size_t i = 0; i < size.m; ++i) {
        for (std::size_t j = 0; j < size.n; ++j) { c[i * row + j] = beta == Real{} ? Real{} : beta * c[i * row + j]; }
    }
    std::vector<Real> of_a, of_b;
    for (std::size_t p = 0; p < size.k; p += block_depth) {
        std::size_t const depth = std::min(block_depth, size.k - p);
        for (std::size_t j = 0; j < size.n; j += block_columns) {
            std::size_t const columns = std::min(block_columns, size.n - j);
            pack(b, p, depth, j, columns, of_b);
            for (std::size_t i = 0; i < size.m; i += block_rows) {
                std::size_t const rows = std::min(block_rows, size.m - i);
                pack(a, i, rows, p, depth, of_a);
                multiply_packed(of_a, of_b, {rows, columns, depth}, c + i * row + j, row);
            }
        }
    }
}

Gemm Gemm::load(GemmChoice choice, int threads) {
    Gemm gemm;
    if (choice != GemmChoice::own) {
        state_threads(threads);
        for (char const* const name : libraries) {
            void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
            if (library == nullptr) { continue; }
            gemm.single_ = function_of<Single>(library, "cblas_sgemm");
            gemm.double_ = function_of<Double>(library, "cblas_dgemm");
            if (gemm.single_ != nullptr && gemm.double_ != nullptr) {
                gemm.name_ = name;
                return gemm;
            }
            dlclose(library);
        }
        gemm.single_ = nullptr;
        gemm.double_ = nullptr;
    }
    if (choice != GemmChoice::platform) { gemm.name_ = "own"; }
    return gemm;
}

template <class Real>
void Gemm::multiply(ProductSize size, Matrix<Real> a, Matrix<Real> b, Real beta, Real* c, std::size_t row) const {
    if (single_ == nullptr) {
        multiply_blocked(size, a, b, beta, c, row);
        return;
    }
    auto const call = [&](auto function) {
        function(row_major, code_of(a.transpose), code_of(b.transpose), static_cast<int>(size.m),
                 static_cast<int>(size.n), static_cast<int>(size.k), Real{1}, a.values, static_cast<int>(a.row),
                 b.values, static_cast<int>(b.row), beta, c, static_cast<int>(row));
    };
    if constexpr (sizeof(Real) == sizeof(float)) {
        call(single_);
    } else {
        call(double_);
    }
}

template void multiply_blocked(ProductSize, Matrix<float>, Matrix<float>, float, float*, std::size_t);
template void multiply_blocked(ProductSize, Matrix<double>, Matrix<double>, double, double*, std::size_t);
template void Gemm::multiply(ProductSize, Matrix<float>, Matrix<float>, float, float*, std::size_t) const;
template void Gemm::multiply(ProductSize, Matrix<double>, Matrix<double>, double, double*, std::size_t) const;

} // namespace headroom::training
