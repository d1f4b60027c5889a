#include "timing.hpp"

#include <chrono>

namespace headroom::gpu {
namespace {

__global__ void nothing() {}

void tell(Sink const& sink, std::string const& what, std::vector<double> seconds) {
    sink({"gpu " + what, {{"quantity", "gpu"}, {"what", what}}, "seconds", std::move(seconds)});
}

/// By the host's clock, until the device has ended.
double launched_alone() {
    auto const begin = std::chrono::steady_clock::now();
    nothing<<<1, 1>>>();
    check(cudaDeviceSynchronize(), "waiting for an empty kernel");
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

} // namespace

void measure_launches(Sink const& sink) {
    StreamClock clock;
    tell(sink, "launch of an empty kernel, in a row", clock.samples([] {
        nothing<<<1, 1>>>();
        check(cudaGetLastError(), "launching an empty kernel");
    }));
    std::vector<double> alone;
    for (int i = 0; i < repetitions; ++i) {
        double const seconds = launched_alone();
        if (i > 0) { alone.push_back(seconds); }
    }
    tell(sink, "launch of an empty kernel and its end", std::move(alone));
}

} // namespace headroom::gpu
