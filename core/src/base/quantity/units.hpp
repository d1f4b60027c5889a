#pragma once

#include "headroom/quantity.hpp"

#include <array>
#include <span>
#include <string>
#include <string_view>

/// The tables of units that texts are read and written with.
namespace headroom::units_of_text {

inline constexpr Dimension bytes{.bytes = 1};
inline constexpr Dimension flops{.flops = 1};
inline constexpr Dimension seconds{.seconds = 1};
inline constexpr Dimension dollars{.dollars = 1};
inline constexpr Dimension joules{.joules = 1};
inline constexpr Dimension bytes_per_second{.bytes = 1, .seconds = -1};
inline constexpr Dimension flops_per_second{.flops = 1, .seconds = -1};
inline constexpr Dimension flops_per_byte{.bytes = -1, .flops = 1};
inline constexpr Dimension seconds_per_byte{.bytes = -1, .seconds = 1};
inline constexpr Dimension dollars_per_second{.seconds = -1, .dollars = 1};
inline constexpr Dimension watts{.seconds = -1, .joules = 1};
inline constexpr Dimension per_second{.seconds = -1};

/// A unit as it is written, worth up / down base units: two whole numbers, so that "5us" is the double nearest
/// to 5e-6 and not the product of two rounded ones.
struct Unit {
    std::string_view symbol;
    Dimension dimension;
    double up = 1.0;
    double down = 1.0;
};

// clang-format off
inline constexpr std::array simple_units{
    Unit{"B", bytes}, Unit{"byte", bytes}, Unit{"bytes", bytes},
    Unit{"kB", bytes, 1e3}, Unit{"KB", bytes, 1e3}, Unit{"MB", bytes, 1e6}, Unit{"GB", bytes, 1e9},
    Unit{"TB", bytes, 1e12}, Unit{"PB", bytes, 1e15}, Unit{"EB", bytes, 1e18},
    Unit{"KiB", bytes, 1024.0}, Unit{"MiB", bytes, 1048576.0}, Unit{"GiB", bytes, 1073741824.0},
    Unit{"TiB", bytes, 1099511627776.0}, Unit{"PiB", bytes, 1125899906842624.0},
    Unit{"bit", bytes, 1.0, 8.0}, Unit{"kbit", bytes, 125.0}, Unit{"Mbit", bytes, 125e3},
    Unit{"Gbit", bytes, 125e6}, Unit{"Tbit", bytes, 125e9},
    Unit{"FLOP", flops}, Unit{"kFLOP", flops, 1e3}, Unit{"MFLOP", flops, 1e6}, Unit{"GFLOP", flops, 1e9},
    Unit{"TFLOP", flops, 1e12}, Unit{"PFLOP", flops, 1e15}, Unit{"EFLOP", flops, 1e18},
    Unit{"ZFLOP", flops, 1e21}, Unit{"YFLOP", flops, 1e24},
    Unit{"ns", seconds, 1.0, 1e9}, Unit{"us", seconds, 1.0, 1e6},
    Unit{"\xC2\xB5s", seconds, 1.0, 1e6}, Unit{"\xCE\xBCs", seconds, 1.0, 1e6},
    Unit{"usec", seconds, 1.0, 1e6}, Unit{"msec", seconds, 1.0, 1e3}, Unit{"nsec", seconds, 1.0, 1e9},
    Unit{"ms", seconds, 1.0, 1e3}, Unit{"s", seconds}, Unit{"sec", seconds}, Unit{"second", seconds},
    Unit{"seconds", seconds}, Unit{"min", seconds, 60.0}, Unit{"minute", seconds, 60.0},
    Unit{"minutes", seconds, 60.0}, Unit{"h", seconds, 3600.0}, Unit{"hour", seconds, 3600.0},
    Unit{"hours", seconds, 3600.0}, Unit{"d", seconds, 86400.0}, Unit{"day", seconds, 86400.0},
    Unit{"days", seconds, 86400.0}, Unit{"w", seconds, 604800.0}, Unit{"week", seconds, 604800.0},
    Unit{"weeks", seconds, 604800.0},
    Unit{"$", dollars}, Unit{"k$", dollars, 1e3}, Unit{"M$", dollars, 1e6}, Unit{"USD", dollars},
    Unit{"J", joules}, Unit{"kJ", joules, 1e3}, Unit{"MJ", joules, 1e6}, Unit{"GJ", joules, 1e9},
    Unit{"Wh", joules, 3600.0}, Unit{"kWh", joules, 3.6e6}, Unit{"MWh", joules, 3.6e9}, Unit{"GWh", joules, 3.6e12},
    Unit{"W", watts}, Unit{"kW", watts, 1e3}, Unit{"MW", watts, 1e6}, Unit{"GW", watts, 1e9},
    Unit{"bps", bytes_per_second, 1.0, 8.0}, Unit{"kbps", bytes_per_second, 125.0},
    Unit{"Mbps", bytes_per_second, 125e3}, Unit{"Gbps", bytes_per_second, 125e6},
    Unit{"Tbps", bytes_per_second, 125e9},
    Unit{"rps", per_second}, Unit{"qps", per_second},
};

/// What is counted, over a time: "500/s", "30k/min", "12 requests/s". Nowhere else: "5M" alone is no amount of anything.
inline constexpr std::array counted_units{Unit{"", {}}, Unit{"1", {}}, Unit{"k", {}, 1e3}, Unit{"M", {}, 1e6},
    Unit{"requests", {}}, Unit{"request", {}}, Unit{"req", {}}};

/// Units that numbers are written in, smallest first.
inline constexpr std::array byte_ladder{Unit{"B", bytes}, Unit{"kB", bytes, 1e3}, Unit{"MB", bytes, 1e6},
    Unit{"GB", bytes, 1e9}, Unit{"TB", bytes, 1e12}, Unit{"PB", bytes, 1e15}, Unit{"EB", bytes, 1e18}};
inline constexpr std::array binary_ladder{Unit{"B", bytes}, Unit{"KiB", bytes, 1024.0}, Unit{"MiB", bytes, 1048576.0},
    Unit{"GiB", bytes, 1073741824.0}, Unit{"TiB", bytes, 1099511627776.0}, Unit{"PiB", bytes, 1125899906842624.0}};
inline constexpr std::array flop_ladder{Unit{"FLOP", flops}, Unit{"kFLOP", flops, 1e3}, Unit{"MFLOP", flops, 1e6},
    Unit{"GFLOP", flops, 1e9}, Unit{"TFLOP", flops, 1e12}, Unit{"PFLOP", flops, 1e15}, Unit{"EFLOP", flops, 1e18},
    Unit{"ZFLOP", flops, 1e21}, Unit{"YFLOP", flops, 1e24}};
inline constexpr std::array second_ladder{Unit{"ns", seconds, 1.0, 1e9}, Unit{"us", seconds, 1.0, 1e6},
    Unit{"ms", seconds, 1.0, 1e3}, Unit{"s", seconds}, Unit{"min", seconds, 60.0}, Unit{"h", seconds, 3600.0},
    Unit{"d", seconds, 86400.0}};
inline constexpr std::array dollar_ladder{Unit{"$", dollars}, Unit{"k$", dollars, 1e3}, Unit{"M$", dollars, 1e6}};
inline constexpr std::array joule_ladder{Unit{"J", joules}, Unit{"kJ", joules, 1e3}, Unit{"MJ", joules, 1e6},
    Unit{"kWh", joules, 3.6e6}, Unit{"MWh", joules, 3.6e9}, Unit{"GWh", joules, 3.6e12}};
inline constexpr std::array byte_rate_ladder{Unit{"B/s", bytes}, Unit{"kB/s", bytes, 1e3}, Unit{"MB/s", bytes, 1e6},
    Unit{"GB/s", bytes, 1e9}, Unit{"TB/s", bytes, 1e12}, Unit{"PB/s", bytes, 1e15}, Unit{"EB/s", bytes, 1e18}};
inline constexpr std::array flop_rate_ladder{Unit{"FLOP/s", flops}, Unit{"kFLOP/s", flops, 1e3},
    Unit{"MFLOP/s", flops, 1e6}, Unit{"GFLOP/s", flops, 1e9}, Unit{"TFLOP/s", flops, 1e12},
    Unit{"PFLOP/s", flops, 1e15}, Unit{"EFLOP/s", flops, 1e18}, Unit{"ZFLOP/s", flops, 1e21}};
inline constexpr std::array intensity_ladder{Unit{"FLOP/B", flops_per_byte}};
inline constexpr std::array inverse_rate_ladder{Unit{"s/TB", seconds_per_byte, 1.0, 1e12},
    Unit{"s/GB", seconds_per_byte, 1.0, 1e9}, Unit{"s/MB", seconds_per_byte, 1.0, 1e6},
    Unit{"s/kB", seconds_per_byte, 1.0, 1e3}, Unit{"s/B", seconds_per_byte}};
inline constexpr std::array price_ladder{Unit{"$/h", dollars_per_second, 1.0, 3600.0},
    Unit{"k$/h", dollars_per_second, 1e3, 3600.0}, Unit{"M$/h", dollars_per_second, 1e6, 3600.0}};
inline constexpr std::array watt_ladder{Unit{"W", watts}, Unit{"kW", watts, 1e3}, Unit{"MW", watts, 1e6},
    Unit{"GW", watts, 1e9}};
inline constexpr std::array count_rate_ladder{Unit{"/s", per_second}, Unit{"k/s", per_second, 1e3},
    Unit{"M/s", per_second, 1e6}};
inline constexpr std::array count_ladder{Unit{"", {}}, Unit{"k", {}, 1e3}, Unit{"M", {}, 1e6}, Unit{"B", {}, 1e9},
    Unit{"T", {}, 1e12}};

/// What people are told and shown about a dimension.
struct Reading {
    Dimension dimension;
    std::string_view name;
    std::string_view example;
    std::span<Unit const> ladder;
    std::string_view zero;  ///< unit of nothing
};

inline constexpr std::array readings{
    Reading{bytes, "bytes", "80GiB", byte_ladder, "B"},
    Reading{flops, "FLOP", "2.5TFLOP", flop_ladder, "FLOP"},
    Reading{seconds, "seconds", "5us", second_ladder, "s"},
    Reading{dollars, "dollars", "$5000", dollar_ladder, "$"},
    Reading{joules, "joules", "3kWh", joule_ladder, "J"},
    Reading{bytes_per_second, "bytes per second", "450GB/s", byte_rate_ladder, "B/s"},
    Reading{flops_per_second, "FLOP per second", "312TFLOP/s", flop_rate_ladder, "FLOP/s"},
    Reading{flops_per_byte, "FLOP per byte", "156FLOP/B", intensity_ladder, "FLOP/B"},
    Reading{seconds_per_byte, "seconds per byte", "2s/TB", inverse_rate_ladder, "s/B"},
    Reading{dollars_per_second, "dollars per hour", "2.95$/h", price_ladder, "$/h"},
    Reading{watts, "watts", "700W", watt_ladder, "W"},
    Reading{per_second, "a number per second", "500/s", count_rate_ladder, "/s"},
};
// clang-format on

/// Null for a dimension that nothing above names.
Reading const* reading_of(Dimension dimension);

/// A product of base units, "B^2 s^-1": for dimensions that nothing above names.
std::string plain_unit(Dimension dimension);

} // namespace headroom::units_of_text
