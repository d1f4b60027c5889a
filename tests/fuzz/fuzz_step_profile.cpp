// Any text is a profile of a training step or refused with one printable line; what was read predicts a step.

#include "step/profile.hpp"

#include "headroom/error.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    using namespace headroom::step_example;
    try {
        StepProfile const profile = read_profile({reinterpret_cast<char const*>(data), size}, "profile");
        Options options;
        options.batch = profile.batch;
        options.bucket_bytes = 1e7;
        options.overlap = true;
        options.algorithm = "ring";
        options.latency = 1e-4;
        options.bandwidth = 1e8;
        PredictedStep const step = predict_step(profile, options, 4);
        if (!(step.step >= 0.0) || !(step.exposed <= step.all_reduce * (1 + 1e-9))) { std::abort(); }
    } catch (headroom::InputError const& error) {
        if (std::string_view{error.what()}.find('\n') != std::string_view::npos) { std::abort(); }
    }
    return 0;
}
