// Any bytes as the work of ranks: amounts whose largest over mean is from 1 to their number, or one InputError.

#include "headroom/error.hpp"
#include "headroom/io/work.hpp"
#include "headroom/order_statistics.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    try {
        auto const work = headroom::io::read_work({reinterpret_cast<char const*>(data), size}, "work.csv");
        double const ratio = headroom::largest_over_mean(work);
        if (!(ratio >= 1.0 - 1e-9 && ratio <= static_cast<double>(work.size()) * (1.0 + 1e-9))) std::abort();
    } catch (headroom::InputError const& error) {
        if (std::string_view{error.what()}.find('\n') != std::string_view::npos) std::abort();
    }
    return 0;
}
