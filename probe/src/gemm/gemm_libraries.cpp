#include "headroom/probe/gemm_library.hpp"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <dlfcn.h>

namespace headroom::probe {
namespace {

/// Kept open for good: threads of a library run its code. A static program loads none: a library would bring a second C library
/// into the process.
void* open_library([[maybe_unused]] char const* file) {
#ifdef HEADROOM_STATIC
    return nullptr;
#else
    return dlopen(file, RTLD_NOW | RTLD_LOCAL);
#endif
}

template <class Function> Function* symbol(void* library, char const* name) {
    return reinterpret_cast<Function*>(dlsym(library, name));
}

std::string text_of(void* library, char const* name) {
    auto* const ask = symbol<char const*()>(library, name);
    char const* const said = ask == nullptr ? nullptr : ask();
    return said == nullptr ? std::string{} : std::string{said};
}

// ---- BLAS: products of fp32 and fp64 by the C interface --------------------------------------------------------------

constexpr int row_major = 101, as_it_is = 111; // of cblas.h

template <class T> using CblasGemm = void(int, int, int, int, int, int, T, T const*, int, T const*, int, T, T*, int);

template <class T> void multiply_by(CblasGemm<T>* gemm, ProductSpace& space) {
    int const n = static_cast<int>(space.order());
    gemm(row_major, as_it_is, as_it_is, n, n, n, T(1), static_cast<T const*>(space.a()), n,
         static_cast<T const*>(space.b()), n, T(0), static_cast<T*>(space.c()), n);
}

/// Finds the vendor of the library at hand, by functions that no other has.
void describe_blas(void* library, GemmLibrary& found) {
    if (dlsym(library, "openblas_get_config") != nullptr) {
        found.name = "OpenBLAS";
        found.version = text_of(library, "openblas_get_config");
        found.kind = text_of(library, "openblas_get_corename");
        if (auto* set = symbol<void(int)>(library, "openblas_set_num_threads")) { found.set_threads = set; }
    } else if (auto* set = symbol<int(int)>(library, "MKL_Set_Num_Threads_Local")) {
        found.name = "MKL";
        found.set_threads = [set](int threads) { set(threads); };
    } else if (dlsym(library, "bli_info_get_version_str") != nullptr) {
        found.name = "BLIS";
        found.version = text_of(library, "bli_info_get_version_str");
        if (auto* threads = symbol<void(std::int64_t)>(library, "bli_thread_set_num_threads")) {
            found.set_threads = [threads](int count) { threads(count); };
        }
    } else {
        found.name = "BLAS";
        found.version = "of no maker that it names";
    }
}

bool load_blas(GemmLibrary& found) {
    for (char const* file : {"libopenblas.so.0", "libmkl_rt.so.2", "libblis.so.4", "libblas.so.3"}) {
        void* const library = open_library(file);
        if (library == nullptr) { continue; }
        auto* const fp32 = symbol<CblasGemm<float>>(library, "cblas_sgemm");
        auto* const fp64 = symbol<CblasGemm<double>>(library, "cblas_dgemm");
        if (fp32 == nullptr || fp64 == nullptr) { continue; }
        found.file = file;
        describe_blas(library, found);
        found.precisions = {"fp64", "fp32"};
        found.multiply = [fp32, fp64](ProductSpace& space) {
            space.precision() == "fp64" ? multiply_by(fp64, space) : multiply_by(fp32, space);
        };
        return true;
    }
    return false;
}

// ---- oneDNN: fp32, bf16 and int8 -------------------------------------------------------------------------------------

struct DnnlVersion {
    int major, minor, patch;
};
using DnnlSgemm = int(char, char, std::int64_t, std::int64_t, std::int64_t, float, float const*, std::int64_t,
                      float const*, std::int64_t, float, float*, std::int64_t);
using DnnlBf16 = int(char, char, std::int64_t, std::int64_t, std::int64_t, float, std::uint16_t const*, std::int64_t,
                     std::uint16_t const*, std::int64_t, float, float*, std::int64_t);
using DnnlInt8 = int(char, char, char, std::int64_t, std::int64_t, std::int64_t, float, std::uint8_t const*,
                     std::int64_t, std::uint8_t, std::int8_t const*, std::int64_t, std::int8_t, float, std::int32_t*,
                     std::int64_t, std::int32_t const*);

struct DnnlFunctions {
    DnnlSgemm* fp32 = nullptr;
    DnnlBf16* bf16 = nullptr;
    DnnlInt8* int8 = nullptr;

    void multiply(ProductSpace& space) const {
        auto const n = static_cast<std::int64_t>(space.order());
        if (space.precision() == "bf16") {
            bf16('N', 'N', n, n, n, 1.0F, static_cast<std::uint16_t const*>(space.a()), n,
                 static_cast<std::uint16_t const*>(space.b()), n, 0.0F, static_cast<float*>(space.c()), n);
        } else if (space.precision() == "int8") {
            std::int32_t const offset = 0;
            int8('N', 'N', 'F', n, n, n, 1.0F, static_cast<std::uint8_t const*>(space.a()), n, 0,
                 static_cast<std::int8_t const*>(space.b()), n, 0, 0.0F, static_cast<std::int32_t*>(space.c()), n,
                 &offset);
        } else {
            fp32('N', 'N', n, n, n, 1.0F, static_cast<float const*>(space.a()), n, static_cast<float const*>(space.b()),
                 n, 0.0F, static_cast<float*>(space.c()), n);
        }
    }
};

/// Its threads are those of OpenMP, which the calling thread sets for itself.
std::function<void(int)> openmp_threads(void* library) {
    auto* set = symbol<void(int)>(library, "omp_set_num_threads");
    if (set == nullptr) { set = symbol<void(int)>(RTLD_DEFAULT, "omp_set_num_threads"); }
    if (set == nullptr) { return {}; }
    return set;
}

bool load_dnnl(GemmLibrary& found) {
    for (char const* file : {"libdnnl.so.3", "libdnnl.so.2"}) {
        void* const library = open_library(file);
        if (library == nullptr) { continue; }
        DnnlFunctions const all{symbol<DnnlSgemm>(library, "dnnl_sgemm"),
                                symbol<DnnlBf16>(library, "dnnl_gemm_bf16bf16f32"),
                                symbol<DnnlInt8>(library, "dnnl_gemm_u8s8s32")};
        if (all.fp32 == nullptr) { continue; }
        found.name = "oneDNN";
        found.file = file;
        if (auto* version = symbol<DnnlVersion const*()>(library, "dnnl_version")) {
            auto const* const said = version();
            found.version =
                std::to_string(said->major) + "." + std::to_string(said->minor) + "." + std::to_string(said->patch);
        }
        found.precisions = {"fp32"};
        if (all.bf16 != nullptr) { found.precisions.emplace_back("bf16"); }
        if (all.int8 != nullptr) { found.precisions.emplace_back("int8"); }
        found.multiply = [all](ProductSpace& space) { all.multiply(space); };
        found.set_threads = openmp_threads(library);
        return true;
    }
    return false;
}

/// A product that is wrong is never timed: the library is another than it seems, or is called wrongly.
void check_products(GemmLibrary& library) {
    constexpr std::size_t order = 67; // no multiple of any tile
    std::vector<std::string> good;
    if (library.set_threads) { library.set_threads(1); }
    for (std::string const& precision : library.precisions) {
        ProductSpace space{precision, order};
        library.multiply(space);
        double const error = space.error();
        if (error == 0.0) {
            good.push_back(precision);
        } else {
            library.refused.push_back(precision + ": its product of whole numbers is off by " + std::to_string(error));
        }
    }
    library.precisions = std::move(good);
}

} // namespace

std::vector<GemmLibrary> gemm_libraries() {
    std::vector<GemmLibrary> found;
    for (auto* const load : {load_blas, load_dnnl}) {
        GemmLibrary library;
        if (!load(library)) { continue; }
        check_products(library);
        found.push_back(std::move(library));
    }
    return found;
}

std::vector<std::string> restraining_variables() {
    constexpr std::array names{"OPENBLAS_CORETYPE",       "DNNL_MAX_CPU_ISA",   "ONEDNN_MAX_CPU_ISA",
                               "MKL_ENABLE_INSTRUCTIONS", "MKL_DEBUG_CPU_TYPE", "BLIS_ARCH_TYPE"};
    std::vector<std::string> set;
    for (char const* name : names) {
        if (char const* value = std::getenv(name)) { set.push_back(std::string{name} + "=" + value); }
    }
    return set;
}

} // namespace headroom::probe
