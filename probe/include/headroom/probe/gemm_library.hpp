#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace headroom::probe {

/// Factors and result of a product of square matrices of order `n`, in one precision.
class ProductSpace {
public:
    /// `precision`: "fp64", "fp32", "bf16" (result in fp32) or "int8" (unsigned by signed, result in int32). Filled with
    /// small whole numbers, so that every precision has the same exact result.
    ProductSpace(std::string precision, std::size_t n);
    /// The largest difference of the result from an exact product.
    [[nodiscard]] double error() const;
    [[nodiscard]] std::size_t order() const { return n_; }
    [[nodiscard]] std::string const& precision() const { return precision_; }
    void const* a() const { return a_.data(); }
    void const* b() const { return b_.data(); }
    void* c() { return c_.data(); }

private:
    [[nodiscard]] double result(std::size_t row, std::size_t column) const;
    std::string precision_;
    std::size_t n_;
    std::vector<unsigned char> a_, b_, c_;
};

/// A library of this machine that multiplies matrices, loaded when asked for: the program does not need it.
struct GemmLibrary {
    std::string name;    ///< "OpenBLAS", "oneDNN", ...
    std::string version; ///< as the library says it
    std::string file;    ///< file that was loaded
    std::string kind;    ///< of processor that it computes for, where it says so: "Haswell"
    std::vector<std::string> precisions;
    std::vector<std::string> refused;            ///< precisions whose product was wrong when tried, and why
    std::function<void(ProductSpace&)> multiply; ///< on as many threads as were set
    std::function<void(int)> set_threads;        ///< of the calling thread's products; empty: not known
};

/// Every one that is found: OpenBLAS, or MKL, BLIS or another BLAS; oneDNN. Each precision's product is checked first.
std::vector<GemmLibrary> gemm_libraries();

/// Variables of the environment that keep a library below what the processor can do; those that are set, "NAME=value".
std::vector<std::string> restraining_variables();

/// The libraries in a process of their own, without those variables, so that their rates are not limited. It is made
/// before this process loads a library, and ends with this object.
class FreedLibraries {
public:
    FreedLibraries();
    ~FreedLibraries();
    FreedLibraries(FreedLibraries const&) = delete;
    FreedLibraries& operator=(FreedLibraries const&) = delete;
    /// Seconds of so many products; below zero: it cannot (another library is found, or the process is gone).
    double seconds(std::string const& library, std::string const& precision, std::size_t n,
                   std::vector<int> const& cores, std::uint64_t rounds);

private:
    struct Process;
    std::unique_ptr<Process> process_;
};

} // namespace headroom::probe
