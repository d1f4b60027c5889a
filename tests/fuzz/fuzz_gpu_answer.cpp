// Any bytes as the answer of headroom-gpu: points with positive samples, or one InputError.

#include "headroom/error.hpp"
#include "headroom/io/gpu_answer.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    using namespace headroom;
    try {
        auto const answer = io::read_gpu_answer({reinterpret_cast<char const*>(data), size}, "headroom-gpu");
        for (auto const& [point, samples] : answer.points) {
            for (double const sample : samples) {
                if (!std::isfinite(sample) || sample <= 0.0) { std::abort(); }
            }
        }
    } catch (InputError const& error) {
        if (std::string_view{error.what()}.find('\n') != std::string_view::npos) { std::abort(); }
    }
    return 0;
}
