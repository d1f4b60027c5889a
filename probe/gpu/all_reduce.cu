#include "timing.hpp"

#ifdef HEADROOM_GPU_NCCL
#include <chrono>
#include <memory>
#include <nccl.h>
#endif

namespace headroom::gpu {

#ifdef HEADROOM_GPU_NCCL
namespace {

void check_nccl(ncclResult_t result, char const* doing) {
    if (result != ncclSuccess) { throw std::runtime_error{std::string{doing} + ": " + ncclGetErrorString(result)}; }
}

int device_count() {
    int count = 0;
    check(cudaGetDeviceCount(&count), "counting devices");
    return count;
}

/// Every local device with its buffers and its stream.
class Group {
public:
    explicit Group(std::size_t bytes)
        : communicators_(static_cast<std::size_t>(device_count())), streams_(communicators_.size()) {
        check_nccl(ncclCommInitAll(communicators_.data(), static_cast<int>(communicators_.size()), nullptr),
                   "joining devices");
        for (std::size_t i = 0; i < streams_.size(); ++i) {
            check(cudaSetDevice(static_cast<int>(i)), "choosing a device");
            check(cudaStreamCreate(&streams_[i]), "making a stream");
            buffers_.push_back(std::make_unique<DeviceBuffer>(bytes));
        }
    }
    ~Group() {
        for (auto const one : communicators_) { ncclCommDestroy(one); }
        for (auto const one : streams_) { cudaStreamDestroy(one); }
        cudaSetDevice(0);
    }
    Group(Group const&) = delete;
    Group& operator=(Group const&) = delete;

    /// By the host's clock, until the last device has ended.
    double seconds(std::size_t bytes) {
        auto const begin = std::chrono::steady_clock::now();
        check_nccl(ncclGroupStart(), "beginning a group");
        for (std::size_t i = 0; i < streams_.size(); ++i) {
            void* const data = buffers_[i]->get();
            check_nccl(
                ncclAllReduce(data, data, bytes / sizeof(float), ncclFloat, ncclSum, communicators_[i], streams_[i]),
                "reducing");
        }
        check_nccl(ncclGroupEnd(), "ending a group");
        for (auto const one : streams_) { check(cudaStreamSynchronize(one), "waiting for a reduction"); }
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }

private:
    std::vector<ncclComm_t> communicators_;
    std::vector<cudaStream_t> streams_;
    std::vector<std::unique_ptr<DeviceBuffer>> buffers_;
};

} // namespace

std::string why_no_all_reduce() { return device_count() > 1 ? "" : "one device: nothing to reduce with"; }

void measure_all_reduce(Sink const& sink) {
    constexpr std::size_t sizes[] = {1024, std::size_t{1} << 20U, std::size_t{256} << 20U};
    Group group{sizes[2]};
    for (std::size_t const bytes : sizes) {
        Point point{"gpu all_reduce of " + std::to_string(bytes) + " bytes",
                    {{"quantity", "gpu"},
                     {"what", "all_reduce"},
                     {"library", "NCCL"},
                     {"bytes", std::to_string(bytes)},
                     {"devices", std::to_string(device_count())}},
                    "seconds",
                    {}};
        for (int i = 0; i < repetitions; ++i) {
            double const seconds = group.seconds(bytes);
            if (i > 0) { point.samples.push_back(seconds); }
        }
        sink(point);
    }
}

#else

std::string why_no_all_reduce() { return "built without NCCL"; }
void measure_all_reduce(Sink const&) {}

#endif

} // namespace headroom::gpu
