// Any bytes as a machine file: a processor that every question about ceilings and kernels can be asked of, or one
// InputError.

#include "fuzz/require.hpp"

#include "headroom/error.hpp"
#include "headroom/io/processor.hpp"
#include "headroom/laws/counted_kernels.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace {

void ask(headroom::laws::Processor const& processor) {
    auto const format = headroom::laws::usual_format(processor);
    require(format.has_value());
    for (auto const& one : headroom::laws::ceilings_of(processor, *format, {.divergence = 2, .occupancy = 0.5})) {
        require(one.kind != headroom::laws::CeilingKind::lower || one.of_roof <= 1.0 + 1e-9);
        require(one.level.has_value() != one.format.has_value());
    }
    for (auto const& counted : headroom::laws::counted_kernels()) {
        std::vector<double> const sizes(counted.dimensions, 64.0);
        headroom::laws::Kernel kernel = counted.count(sizes, headroom::laws::bytes_of(*format));
        kernel.format = *format;
        require(headroom::laws::attained(kernel, processor).of_peak <= 1.0 + 1e-9);
        for (auto const& gain : headroom::laws::gains_of(kernel, processor)) { require(!(gain.speedup < 1.0 - 1e-9)); }
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    try {
        ask(headroom::io::read_processor({reinterpret_cast<char const*>(data), size}, "machine.toml"));
    } catch (headroom::InputError const& error) {
        require(std::string_view{error.what()}.find('\n') == std::string_view::npos);
    }
    return 0;
}
