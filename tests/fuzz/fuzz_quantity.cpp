// Any text is read as every dimension and as a count, or refused with one printable line; what was read is a number
// that can be written again.

#include "fuzz/require.hpp"

#include "headroom/error.hpp"
#include "headroom/quantity.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

template <class Read> void read_or_refuse(Read read) {
    try {
        read();
    } catch (headroom::InputError const& error) {
        std::string_view const line = error.what();
        require(line.starts_with("here: "));
        require(line.find('\n') == std::string_view::npos);
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    std::string_view const text{reinterpret_cast<char const*>(data), size};
    using headroom::Dimension;
    for (Dimension const dimension :
         {Dimension{.bytes = 1}, Dimension{.flops = 1}, Dimension{.seconds = 1}, Dimension{.dollars = 1},
          Dimension{.joules = 1}, Dimension{.bytes = 1, .seconds = -1}, Dimension{.flops = 1, .seconds = -1},
          Dimension{.bytes = -1, .flops = 1}, Dimension{.seconds = -1, .dollars = 1},
          Dimension{.seconds = -1, .joules = 1}, Dimension{.seconds = -1}, Dimension{}}) {
        read_or_refuse([&] {
            double const base = headroom::parse_base(text, dimension, "here");
            require(std::isfinite(base) && base >= 0.0);
            std::string const written = headroom::format_base(base, dimension, 17);
            double const again = headroom::parse_base(written, dimension, "here");
            require(std::abs(again - base) <= 1e-14 * base + 1e-300);
        });
    }
    read_or_refuse([&] {
        double const count = headroom::parse_count(text, "here");
        require(count >= 1.0 && count <= 1e18 && count == std::floor(count));
        (void)headroom::format_count(count);
    });
    return 0;
}
