#include "questions/power_limit.hpp"

#include "headroom/error.hpp"
#include "headroom/io/words.hpp"
#include "headroom/quantity.hpp"

namespace headroom::io {

void limit_power(std::optional<Watts> limit, Accelerator& chip) {
    if (!limit) { return; }
    constexpr char const* where = "--power-limit";
    if (chip.tdp.base() <= 0.0) {
        refuse(where, "has no effect", "the record of " + chip.name + " states no power", "give power.tdp in a record");
    }
    if (limit->base() <= 0.0 || *limit > chip.tdp) {
        refuse(where, format(*limit) + " is no limit",
               chip.name + " draws at most " + format(chip.tdp) + ", and more than nothing", "give fewer watts");
    }
    chip.power_limit = *limit;
}

} // namespace headroom::io
