#pragma once

#include "gpu.hpp"

#include <cuda_runtime.h>

namespace headroom::gpu {

/// Times what a stream does between two marks on the device's own clock.
class StreamClock {
public:
    StreamClock() {
        check(cudaEventCreate(&begin_), "making an event");
        check(cudaEventCreate(&end_), "making an event");
    }
    ~StreamClock() {
        cudaEventDestroy(begin_);
        cudaEventDestroy(end_);
    }
    StreamClock(StreamClock const&) = delete;
    StreamClock& operator=(StreamClock const&) = delete;

    /// Seconds that `work`, put into the default stream, takes.
    template <class Work> double seconds(Work const& work) {
        check(cudaEventRecord(begin_), "marking the begin");
        work();
        check(cudaEventRecord(end_), "marking the end");
        check(cudaEventSynchronize(end_), "waiting for the end");
        float milliseconds = 0.0F;
        check(cudaEventElapsedTime(&milliseconds, begin_, end_), "reading the time");
        return 1e-3 * static_cast<double>(milliseconds);
    }

    /// Repetitions after one that warms up, each of so many rounds that it takes about 10 ms; seconds of a round.
    template <class Work> std::vector<double> samples(Work const& work) {
        constexpr double wanted = 0.01;
        double const once = seconds(work);
        int const rounds = once > 0.0 ? static_cast<int>(wanted / once < 1.0   ? 1.0
                                                         : wanted / once > 1e4 ? 1e4
                                                                               : wanted / once)
                                      : 1;
        std::vector<double> taken;
        for (int i = 0; i < repetitions; ++i) {
            double const all = seconds([&] {
                for (int round = 0; round < rounds; ++round) { work(); }
            });
            if (i > 0) { taken.push_back(all / rounds); }
        }
        return taken;
    }

private:
    cudaEvent_t begin_{}, end_{};
};

/// Memory of the device, given back at the end.
class DeviceBuffer {
public:
    explicit DeviceBuffer(std::size_t bytes) {
        check(cudaMalloc(&data_, bytes), "taking device memory");
        check(cudaMemset(data_, 0, bytes), "clearing device memory");
    }
    ~DeviceBuffer() { cudaFree(data_); }
    DeviceBuffer(DeviceBuffer const&) = delete;
    DeviceBuffer& operator=(DeviceBuffer const&) = delete;
    void* get() const { return data_; }

private:
    void* data_ = nullptr;
};

} // namespace headroom::gpu
