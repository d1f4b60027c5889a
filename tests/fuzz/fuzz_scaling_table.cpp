// Any bytes as a table of measurements: rows that can be fitted, or one InputError.

#include "fuzz/require.hpp"

#include "headroom/error.hpp"
#include "headroom/io/scaling_table.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace {

using namespace headroom;

} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    try {
        std::string_view const text{reinterpret_cast<char const*>(data), size};
        io::ScalingTable const table = io::read_scaling_table(text, "t.csv", {});
        require(!table.rows.empty() && table.rows.size() <= io::most_scaling_rows);
        for (io::ScalingRow const& row : table.rows) {
            require(row.workers >= 1.0 && row.value > 0.0 && row.weight > 0.0 && std::isfinite(row.value + row.weight));
        }
    } catch (InputError const& error) { require(std::string_view{error.what()}.find('\n') == std::string_view::npos); }
    return 0;
}
