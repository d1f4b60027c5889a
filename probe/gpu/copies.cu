#include "timing.hpp"

namespace headroom::gpu {
namespace {

constexpr std::size_t bytes = std::size_t{256} << 20U;

/// Samples as rates: `moved` bytes a round.
void tell(Sink const& sink, std::string const& what, std::vector<double> seconds, double moved) {
    for (double& one : seconds) { one = moved / one; }
    sink({"gpu " + what,
          {{"quantity", "gpu"}, {"what", what}, {"bytes", std::to_string(bytes)}},
          "bytes/second",
          std::move(seconds)});
}

struct HostBuffer {
    void* data = nullptr;
    explicit HostBuffer(std::size_t size) { check(cudaMallocHost(&data, size), "taking pinned memory"); }
    ~HostBuffer() { cudaFreeHost(data); }
    HostBuffer(HostBuffer const&) = delete;
    HostBuffer& operator=(HostBuffer const&) = delete;
};

} // namespace

/// A copy on the device reads and writes: both count.
void measure_copies(Sink const& sink) {
    StreamClock clock;
    DeviceBuffer const from{bytes}, to{bytes};
    auto const copy = [](void* target, void const* source, cudaMemcpyKind kind) {
        return [=] { check(cudaMemcpyAsync(target, source, bytes, kind), "copying"); };
    };
    double const once = static_cast<double>(bytes);
    tell(sink, "device memory, copy", clock.samples(copy(to.get(), from.get(), cudaMemcpyDeviceToDevice)), 2.0 * once);
    HostBuffer const pinned{bytes};
    tell(sink, "host to device, pinned", clock.samples(copy(to.get(), pinned.data, cudaMemcpyHostToDevice)), once);
    tell(sink, "device to host, pinned", clock.samples(copy(pinned.data, from.get(), cudaMemcpyDeviceToHost)), once);
    std::vector<char> ordinary(bytes, 1);
    tell(sink, "host to device, ordinary pages", clock.samples(copy(to.get(), ordinary.data(), cudaMemcpyHostToDevice)),
         once);
    tell(sink, "device to host, ordinary pages",
         clock.samples(copy(ordinary.data(), from.get(), cudaMemcpyDeviceToHost)), once);
}

} // namespace headroom::gpu
