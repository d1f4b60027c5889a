// Any bytes as a table of measurements: rows that can be fitted, or one InputError.

#include "headroom/error.hpp"
#include "headroom/io/scaling_table.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace {

using namespace headroom;

void check(bool true_of_all) {
    if (!true_of_all) { std::abort(); }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    try {
        std::string_view const text{reinterpret_cast<char const*>(data), size};
        io::ScalingTable const table = io::read_scaling_table(text, "t.csv", {});
        check(!table.rows.empty() && table.rows.size() <= io::most_scaling_rows);
        for (io::ScalingRow const& row : table.rows) {
            check(row.workers >= 1.0 && row.value > 0.0 && row.weight > 0.0 && std::isfinite(row.value + row.weight));
        }
    } catch (InputError const& error) { check(std::string_view{error.what()}.find('\n') == std::string_view::npos); }
    return 0;
}
