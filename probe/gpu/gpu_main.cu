// headroom-gpu: what the graphics processors of this machine can do, as JSON on standard output. `headroom measure roofline`
// runs it, so that `headroom` itself needs no CUDA.

#include "gpu.hpp"

#include <cstdio>
#include <cuda_runtime.h>

namespace headroom::gpu {

void check(int cuda_error, char const* doing) {
    if (cuda_error == cudaSuccess) { return; }
    throw std::runtime_error{std::string{doing} + ": " + cudaGetErrorString(static_cast<cudaError_t>(cuda_error))};
}

namespace {

std::string quoted(std::string const& text) {
    std::string out = "\"";
    for (char const c : text) {
        if (c == '"' || c == '\\') { out += '\\'; }
        out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
    return out + '"';
}

/// The JSON, written as it becomes known.
class Writer {
public:
    void add(Point const& point) {
        std::printf("%s\n  {\"label\": %s, \"unit\": %s, \"parameters\": {", first_ ? "" : ",",
                    quoted(point.label).c_str(), quoted(point.unit).c_str());
        first_ = false;
        char const* comma = "";
        for (auto const& [name, value] : point.parameters) {
            std::printf("%s%s: %s", comma, quoted(name).c_str(), quoted(value).c_str());
            comma = ", ";
        }
        std::printf("}, \"samples\": [");
        for (std::size_t i = 0; i < point.samples.size(); ++i) {
            std::printf("%s%.17g", i > 0 ? ", " : "", point.samples[i]);
        }
        std::printf("]}");
        std::fflush(stdout);
    }

private:
    bool first_ = true;
};

int no_device(std::string const& why) {
    std::printf("{\"device\": null, \"why\": %s, \"facts\": {}, \"points\": []}\n", quoted(why).c_str());
    return 0;
}

/// 0: there is no driver.
int driver_version() {
    int version = 0;
    return cudaDriverGetVersion(&version) == cudaSuccess ? version : 0;
}

int run() {
    int count = 0;
    cudaError_t const found = cudaGetDeviceCount(&count);
    if (found == cudaErrorInsufficientDriver && driver_version() == 0) {
        return no_device("no driver of NVIDIA's is there");
    }
    if (found != cudaSuccess) { return no_device(cudaGetErrorString(found)); }
    if (count == 0) { return no_device("no device"); }
    cudaDeviceProp device{};
    check(cudaGetDeviceProperties(&device, 0), "asking for the device");
    int driver = 0, runtime = 0;
    check(cudaDriverGetVersion(&driver), "asking for the driver");
    check(cudaRuntimeGetVersion(&runtime), "asking for the runtime");
    std::string const alone = why_no_all_reduce();
    std::printf(
        "{\"device\": %s, \"why\": %s, \"facts\": {\"gpu devices\": \"%d\", \"gpu memory bytes\": \"%zu\", \"gpu "
        "processors\": \"%d\", \"gpu capability\": \"%d.%d\", \"cuda driver\": \"%d\", \"cuda runtime\": \"%d\"}, "
        "\"points\": [",
        quoted(device.name).c_str(), quoted(alone.empty() ? "" : "all_reduce: " + alone).c_str(), count,
        device.totalGlobalMem, device.multiProcessorCount, device.major, device.minor, driver, runtime);
    Writer writer;
    Sink const sink = [&writer](Point const& point) { writer.add(point); };
    measure_launches(sink);
    measure_copies(sink);
    measure_products(sink);
    if (alone.empty()) { measure_all_reduce(sink); }
    std::printf("\n]}\n");
    return 0;
}

} // namespace
} // namespace headroom::gpu

int main() {
    try {
        return headroom::gpu::run();
    } catch (std::exception const& error) {
        std::fprintf(stderr, "headroom-gpu: %s\n", error.what());
        return 1;
    }
}
