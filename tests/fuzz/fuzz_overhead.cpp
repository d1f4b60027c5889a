// Any overhead is read or refused with one printable line; what is read has a problem that holds an efficiency, or none.

#include "headroom/error.hpp"
#include "headroom/io/overhead.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    std::string_view const text{reinterpret_cast<char const*>(data), size};
    try {
        auto const terms = headroom::io::parse_overhead(text, "--overhead");
        for (double const workers : {1.0, 2.0, 1000.0, 1e9}) {
            auto const work = headroom::laws::isoefficient_work(terms, workers, 0.8);
            if (work && !(std::isfinite(*work) && *work >= 0.0)) { std::abort(); }
            double const efficiency = headroom::laws::efficiency_of_work(terms, work.value_or(1e6), workers);
            if (!(efficiency >= 0.0 && efficiency <= 1.0)) { std::abort(); }
        }
        (void)headroom::laws::largest_efficient_workers(terms, 1e6, 0.8);
    } catch (headroom::InputError const& error) {
        if (std::string_view{error.what()}.find('\n') != std::string_view::npos) { std::abort(); }
    }
    return 0;
}
