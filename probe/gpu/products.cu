#include "timing.hpp"

#include <cstdint>
#include <cublasLt.h>

namespace headroom::gpu {
namespace {

/// How cuBLASLt multiplies in one precision.
struct Format {
    char const* name;
    cudaDataType_t factor, result;
    cublasComputeType_t compute;
    cudaDataType_t scale;
    std::size_t factor_bytes, result_bytes;
    bool transposed;      ///< the left factor has to be
    int least_capability; ///< of the device, 10 x major + minor
};

constexpr Format formats[] = {
    {"fp64", CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F, CUDA_R_64F, 8, 8, false, 0},
    {"fp32", CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F, CUDA_R_32F, 4, 4, false, 0},
    {"tf32", CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F, 4, 4, false, 80},
    {"bf16", CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F, CUDA_R_32F, 2, 2, false, 80},
    {"fp16", CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F, CUDA_R_32F, 2, 2, false, 70},
    {"fp8", CUDA_R_8F_E4M3, CUDA_R_16BF, CUBLAS_COMPUTE_32F, CUDA_R_32F, 1, 2, true, 89},
    {"int8", CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I, CUDA_R_32I, 1, 4, true, 72},
};

struct Shape {
    std::uint64_t m, n, k;
};
constexpr Shape shapes[] = {
    {1024, 1024, 1024}, {4096, 4096, 4096}, {8192, 8192, 8192}, {8192, 16, 8192}, {8192, 256, 8192}};

constexpr std::size_t workspace_bytes = std::size_t{32} << 20U;

void check_blas(cublasStatus_t status, char const* doing) {
    if (status != CUBLAS_STATUS_SUCCESS) {
        throw std::runtime_error{std::string{doing} + ": " + cublasLtGetStatusString(status)};
    }
}

/// One product, prepared; C is m x n in columns.
class Product {
public:
    Product(cublasLtHandle_t handle, Format const& format, Shape const& shape)
        : handle_{handle},
          format_{format},
          a_{shape.m * shape.k * format.factor_bytes},
          b_{shape.k * shape.n * format.factor_bytes},
          c_{shape.m * shape.n * format.result_bytes},
          space_{workspace_bytes} {
        check_blas(cublasLtMatmulDescCreate(&how_, format.compute, format.scale), "describing a product");
        cublasOperation_t const turn = format.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
        check_blas(cublasLtMatmulDescSetAttribute(how_, CUBLASLT_MATMUL_DESC_TRANSA, &turn, sizeof turn),
                   "transposing");
        auto const rows = format.transposed ? shape.k : shape.m, columns = format.transposed ? shape.m : shape.k;
        check_blas(cublasLtMatrixLayoutCreate(&left_, format.factor, rows, columns, static_cast<std::int64_t>(rows)),
                   "describing a factor");
        check_blas(
            cublasLtMatrixLayoutCreate(&right_, format.factor, shape.k, shape.n, static_cast<std::int64_t>(shape.k)),
            "describing a factor");
        check_blas(
            cublasLtMatrixLayoutCreate(&result_, format.result, shape.m, shape.n, static_cast<std::int64_t>(shape.m)),
            "describing a result");
        choose();
    }
    ~Product() {
        cublasLtMatrixLayoutDestroy(left_);
        cublasLtMatrixLayoutDestroy(right_);
        cublasLtMatrixLayoutDestroy(result_);
        cublasLtMatmulDescDestroy(how_);
    }
    Product(Product const&) = delete;
    Product& operator=(Product const&) = delete;

    void multiply() const {
        double const one64 = 1.0, zero64 = 0.0;
        float const one32 = 1.0F, zero32 = 0.0F;
        std::int32_t const one_whole = 1, zero_whole = 0;
        void const* one = &one32;
        void const* zero = &zero32;
        if (format_.scale == CUDA_R_64F) { one = &one64, zero = &zero64; }
        if (format_.scale == CUDA_R_32I) { one = &one_whole, zero = &zero_whole; }
        check_blas(cublasLtMatmul(handle_, how_, one, a_.get(), left_, b_.get(), right_, zero, c_.get(), result_,
                                  c_.get(), result_, &chosen_.algo, space_.get(), workspace_bytes, nullptr),
                   "multiplying");
    }

private:
    /// What the library's own heuristic puts first.
    void choose() {
        cublasLtMatmulPreference_t wish{};
        check_blas(cublasLtMatmulPreferenceCreate(&wish), "asking for an algorithm");
        cublasLtMatmulPreferenceSetAttribute(wish, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace_bytes,
                                             sizeof workspace_bytes);
        int found = 0;
        auto const status =
            cublasLtMatmulAlgoGetHeuristic(handle_, how_, left_, right_, result_, result_, wish, 1, &chosen_, &found);
        cublasLtMatmulPreferenceDestroy(wish);
        check_blas(status, "asking for an algorithm");
        if (found == 0) { throw std::runtime_error{"no algorithm for this product"}; }
    }

    cublasLtHandle_t handle_;
    Format const& format_;
    DeviceBuffer a_, b_, c_, space_;
    cublasLtMatmulDesc_t how_{};
    cublasLtMatrixLayout_t left_{}, right_{}, result_{};
    cublasLtMatmulHeuristicResult_t chosen_{};
};

Point point_of(Format const& format, Shape const& shape) {
    std::string const size = std::to_string(shape.m) + "x" + std::to_string(shape.n) + "x" + std::to_string(shape.k);
    return {"gpu product " + std::string{format.name} + " " + size,
            {{"quantity", "gpu"},
             {"what", "product"},
             {"library", "cuBLASLt"},
             {"precision", format.name},
             {"shape", size}},
            "flops/second",
            {}};
}

int capability() {
    int device = 0, major = 0, minor = 0;
    check(cudaGetDevice(&device), "asking for the device");
    check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device), "asking for the device");
    check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device), "asking for the device");
    return 10 * major + minor;
}

/// What the library refuses has no samples, and its label says so.
void measure(cublasLtHandle_t handle, Format const& format, Shape const& shape, Sink const& sink) {
    Point point = point_of(format, shape);
    try {
        StreamClock clock;
        Product const product{handle, format, shape};
        double const operations =
            2.0 * static_cast<double>(shape.m) * static_cast<double>(shape.n) * static_cast<double>(shape.k);
        for (double const seconds : clock.samples([&] { product.multiply(); })) {
            point.samples.push_back(operations / seconds);
        }
    } catch (std::runtime_error const& error) {
        point.samples.clear();
        point.parameters["failed"] = error.what();
    }
    sink(point);
}

} // namespace

void measure_products(Sink const& sink) {
    cublasLtHandle_t handle{};
    check_blas(cublasLtCreate(&handle), "opening cuBLASLt");
    int const here = capability();
    for (Format const& format : formats) {
        if (here < format.least_capability) { continue; }
        for (Shape const& shape : shapes) { measure(handle, format, shape, sink); }
    }
    cublasLtDestroy(handle);
}

} // namespace headroom::gpu
