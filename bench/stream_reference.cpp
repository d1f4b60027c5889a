// Motivation: what memory gives is known by the triad of STREAM, a plain loop that a compiler makes parallel and turns into
// vectors. Rates that `headroom measure roofline` states of memory are held against it.
// The rules of STREAM: arrays of at least four times the last caches, best of many, 24 bytes an element, made with
// g++ -O3 -march=native -fopenmp. Run with OMP_PROC_BIND=close OMP_PLACES=cores.
//     bench_stream_reference [MiB of an array] [times]
// Last result: see measure_roofline_bench.cpp, which runs it for comparison.
#include "stream_reference.hpp"

#include <cstdio>
#include <cstdlib>
#include <new>
#include <omp.h>
#include <sys/mman.h>

namespace headroom::reference {
namespace {

constexpr double scalar = 3.0;

double* array_of(std::size_t bytes, bool huge_pages) {
    void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) { throw std::bad_alloc{}; }
    if (huge_pages) { madvise(memory, bytes, MADV_HUGEPAGE); }
    return static_cast<double*>(memory);
}

} // namespace

void bind_threads(std::vector<int> const& cores, bool (*pin)(int)) {
    omp_set_dynamic(0);
    omp_set_num_threads(static_cast<int>(cores.size()));
#pragma omp parallel
    pin(cores[static_cast<std::size_t>(omp_get_thread_num())]);
}

Stream::Stream(std::size_t elements, bool huge_pages)
    : elements_{elements},
      bytes_{elements * sizeof(double)},
      a_{array_of(bytes_, huge_pages)},
      b_{array_of(bytes_, huge_pages)},
      c_{array_of(bytes_, huge_pages)} {
    double *a = a_, *b = b_, *c = c_;
#pragma omp parallel for
    for (std::size_t i = 0; i < elements; ++i) {
        a[i] = 1.0;
        b[i] = 2.0;
        c[i] = 0.5;
    }
}

Stream::~Stream() {
    munmap(a_, bytes_);
    munmap(b_, bytes_);
    munmap(c_, bytes_);
}

double Stream::triad() {
    double *a = a_, *b = b_, *c = c_;
    std::size_t const elements = elements_;
    double const began = omp_get_wtime();
#pragma omp parallel for
    for (std::size_t i = 0; i < elements; ++i) { a[i] = b[i] + scalar * c[i]; }
    return 24.0 * static_cast<double>(elements) / (omp_get_wtime() - began);
}

bool Stream::right() const {
    for (std::size_t i = 0; i < elements_; ++i) {
        if (a_[i] != 2.0 + scalar * 0.5) { return false; }
    }
    return true;
}

} // namespace headroom::reference

#ifndef HEADROOM_STREAM_AS_PART
int main(int argc, char** argv) {
    std::size_t const mib = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 192;
    int const times = argc > 2 ? std::atoi(argv[2]) : 20;
    headroom::reference::Stream stream{mib * 1024 * 1024 / sizeof(double), false};
    double best = 0.0;
    for (int i = 0; i < times; ++i) {
        double const rate = stream.triad();
        if (i > 0 && rate > best) { best = rate; } // the first is not counted
    }
    std::printf("triad, 3 arrays of %zu MiB, %d threads: best of %d %.1f MB/s%s\n", mib, omp_get_max_threads(),
                times - 1, best / 1e6, stream.right() ? "" : ", WRONG RESULTS");
    return stream.right() ? 0 : 1;
}
#endif
