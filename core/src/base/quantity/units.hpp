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
struct TextUnit {
    std::string_view symbol;
    Dimension dimension;
    double up = 1.0;
    double down = 1.0;
};

// clang-format off
inline constexpr std::array simple_units{
    TextUnit{"B", bytes}, TextUnit{"byte", bytes}, TextUnit{"bytes", bytes},
    TextUnit{"kB", bytes, 1e3}, TextUnit{"KB", bytes, 1e3}, TextUnit{"MB", bytes, 1e6}, TextUnit{"GB", bytes, 1e9},
    TextUnit{"TB", bytes, 1e12}, TextUnit{"PB", bytes, 1e15}, TextUnit{"EB", bytes, 1e18},
    TextUnit{"KiB", bytes, 1024.0}, TextUnit{"MiB", bytes, 1048576.0}, TextUnit{"GiB", bytes, 1073741824.0},
    TextUnit{"TiB", bytes, 1099511627776.0}, TextUnit{"PiB", bytes, 1125899906842624.0},
    TextUnit{"bit", bytes, 1.0, 8.0}, TextUnit{"kbit", bytes, 125.0}, TextUnit{"Mbit", bytes, 125e3},
    TextUnit{"Gbit", bytes, 125e6}, TextUnit{"Tbit", bytes, 125e9},
    TextUnit{"FLOP", flops}, TextUnit{"kFLOP", flops, 1e3}, TextUnit{"MFLOP", flops, 1e6}, TextUnit{"GFLOP", flops, 1e9},
    TextUnit{"TFLOP", flops, 1e12}, TextUnit{"PFLOP", flops, 1e15}, TextUnit{"EFLOP", flops, 1e18},
    TextUnit{"ZFLOP", flops, 1e21}, TextUnit{"YFLOP", flops, 1e24},
    TextUnit{"ns", seconds, 1.0, 1e9}, TextUnit{"us", seconds, 1.0, 1e6},
    TextUnit{"\xC2\xB5s", seconds, 1.0, 1e6}, TextUnit{"\xCE\xBCs", seconds, 1.0, 1e6},
    TextUnit{"usec", seconds, 1.0, 1e6}, TextUnit{"msec", seconds, 1.0, 1e3}, TextUnit{"nsec", seconds, 1.0, 1e9},
    TextUnit{"ms", seconds, 1.0, 1e3}, TextUnit{"s", seconds}, TextUnit{"sec", seconds}, TextUnit{"second", seconds},
    TextUnit{"seconds", seconds}, TextUnit{"min", seconds, 60.0}, TextUnit{"minute", seconds, 60.0},
    TextUnit{"minutes", seconds, 60.0}, TextUnit{"h", seconds, 3600.0}, TextUnit{"hour", seconds, 3600.0},
    TextUnit{"hours", seconds, 3600.0}, TextUnit{"d", seconds, 86400.0}, TextUnit{"day", seconds, 86400.0},
    TextUnit{"days", seconds, 86400.0}, TextUnit{"w", seconds, 604800.0}, TextUnit{"week", seconds, 604800.0},
    TextUnit{"weeks", seconds, 604800.0}, TextUnit{"month", seconds, 2592000.0}, TextUnit{"months", seconds, 2592000.0},
    TextUnit{"$", dollars}, TextUnit{"k$", dollars, 1e3}, TextUnit{"M$", dollars, 1e6}, TextUnit{"USD", dollars},
    TextUnit{"J", joules}, TextUnit{"kJ", joules, 1e3}, TextUnit{"MJ", joules, 1e6}, TextUnit{"GJ", joules, 1e9},
    TextUnit{"Wh", joules, 3600.0}, TextUnit{"kWh", joules, 3.6e6}, TextUnit{"MWh", joules, 3.6e9}, TextUnit{"GWh", joules, 3.6e12},
    TextUnit{"W", watts}, TextUnit{"kW", watts, 1e3}, TextUnit{"MW", watts, 1e6}, TextUnit{"GW", watts, 1e9},
    TextUnit{"bps", bytes_per_second, 1.0, 8.0}, TextUnit{"kbps", bytes_per_second, 125.0},
    TextUnit{"Mbps", bytes_per_second, 125e3}, TextUnit{"Gbps", bytes_per_second, 125e6},
    TextUnit{"Tbps", bytes_per_second, 125e9},
    TextUnit{"rps", per_second}, TextUnit{"qps", per_second},
};

/// Units of counts in rates: "500/s", "30k/min", "12 requests/s". They are read in rates only: "5M" alone has no unit.
inline constexpr std::array counted_units{TextUnit{"", {}}, TextUnit{"1", {}}, TextUnit{"k", {}, 1e3}, TextUnit{"M", {}, 1e6},
    TextUnit{"requests", {}}, TextUnit{"request", {}}, TextUnit{"req", {}}};

/// Units that numbers are written in, smallest first.
inline constexpr std::array byte_ladder{TextUnit{"B", bytes}, TextUnit{"kB", bytes, 1e3}, TextUnit{"MB", bytes, 1e6},
    TextUnit{"GB", bytes, 1e9}, TextUnit{"TB", bytes, 1e12}, TextUnit{"PB", bytes, 1e15}, TextUnit{"EB", bytes, 1e18}};
inline constexpr std::array binary_ladder{TextUnit{"B", bytes}, TextUnit{"KiB", bytes, 1024.0}, TextUnit{"MiB", bytes, 1048576.0},
    TextUnit{"GiB", bytes, 1073741824.0}, TextUnit{"TiB", bytes, 1099511627776.0}, TextUnit{"PiB", bytes, 1125899906842624.0}};
inline constexpr std::array flop_ladder{TextUnit{"FLOP", flops}, TextUnit{"kFLOP", flops, 1e3}, TextUnit{"MFLOP", flops, 1e6},
    TextUnit{"GFLOP", flops, 1e9}, TextUnit{"TFLOP", flops, 1e12}, TextUnit{"PFLOP", flops, 1e15}, TextUnit{"EFLOP", flops, 1e18},
    TextUnit{"ZFLOP", flops, 1e21}, TextUnit{"YFLOP", flops, 1e24}};
inline constexpr std::array second_ladder{TextUnit{"ns", seconds, 1.0, 1e9}, TextUnit{"us", seconds, 1.0, 1e6},
    TextUnit{"ms", seconds, 1.0, 1e3}, TextUnit{"s", seconds}, TextUnit{"min", seconds, 60.0}, TextUnit{"h", seconds, 3600.0},
    TextUnit{"d", seconds, 86400.0}};
inline constexpr std::array dollar_ladder{TextUnit{"$", dollars}, TextUnit{"k$", dollars, 1e3}, TextUnit{"M$", dollars, 1e6}};
inline constexpr std::array joule_ladder{TextUnit{"J", joules}, TextUnit{"kJ", joules, 1e3}, TextUnit{"MJ", joules, 1e6},
    TextUnit{"kWh", joules, 3.6e6}, TextUnit{"MWh", joules, 3.6e9}, TextUnit{"GWh", joules, 3.6e12}};
inline constexpr std::array byte_rate_ladder{TextUnit{"B/s", bytes}, TextUnit{"kB/s", bytes, 1e3}, TextUnit{"MB/s", bytes, 1e6},
    TextUnit{"GB/s", bytes, 1e9}, TextUnit{"TB/s", bytes, 1e12}, TextUnit{"PB/s", bytes, 1e15}, TextUnit{"EB/s", bytes, 1e18}};
inline constexpr std::array flop_rate_ladder{TextUnit{"FLOP/s", flops}, TextUnit{"kFLOP/s", flops, 1e3},
    TextUnit{"MFLOP/s", flops, 1e6}, TextUnit{"GFLOP/s", flops, 1e9}, TextUnit{"TFLOP/s", flops, 1e12},
    TextUnit{"PFLOP/s", flops, 1e15}, TextUnit{"EFLOP/s", flops, 1e18}, TextUnit{"ZFLOP/s", flops, 1e21}};
inline constexpr std::array intensity_ladder{TextUnit{"FLOP/B", flops_per_byte}};
inline constexpr std::array inverse_rate_ladder{TextUnit{"s/TB", seconds_per_byte, 1.0, 1e12},
    TextUnit{"s/GB", seconds_per_byte, 1.0, 1e9}, TextUnit{"s/MB", seconds_per_byte, 1.0, 1e6},
    TextUnit{"s/kB", seconds_per_byte, 1.0, 1e3}, TextUnit{"s/B", seconds_per_byte}};
inline constexpr std::array price_ladder{TextUnit{"$/h", dollars_per_second, 1.0, 3600.0},
    TextUnit{"k$/h", dollars_per_second, 1e3, 3600.0}, TextUnit{"M$/h", dollars_per_second, 1e6, 3600.0}};
inline constexpr std::array watt_ladder{TextUnit{"W", watts}, TextUnit{"kW", watts, 1e3}, TextUnit{"MW", watts, 1e6},
    TextUnit{"GW", watts, 1e9}};
inline constexpr std::array count_rate_ladder{TextUnit{"/s", per_second}, TextUnit{"k/s", per_second, 1e3},
    TextUnit{"M/s", per_second, 1e6}};
inline constexpr std::array count_ladder{TextUnit{"", {}}, TextUnit{"k", {}, 1e3}, TextUnit{"M", {}, 1e6}, TextUnit{"B", {}, 1e9},
    TextUnit{"T", {}, 1e12}};

/// Name, example and printed units of a dimension.
struct Reading {
    Dimension dimension;
    std::string_view name;
    std::string_view example;
    std::span<TextUnit const> ladder;
    std::string_view zero;  ///< unit of nothing
};

inline constexpr std::array readings{
    Reading{bytes, "bytes", "80GiB", byte_ladder, "B"},
    Reading{flops, "FLOP", "2.5TFLOP", flop_ladder, "FLOP"},
    Reading{seconds, "seconds", "180ms", second_ladder, "s"},
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

/// Example of one amount, named by its option or key, whose size is far from the usual one of its quantity.
struct NamedExample {
    std::string_view name; ///< normalised: "checkpointinterval" of --checkpoint-interval
    Dimension dimension;
    std::string_view example;
};

inline constexpr std::array named_examples{
    NamedExample{"deadline", seconds, "30d"},
    NamedExample{"mtbf", seconds, "50700h"},
    NamedExample{"clustermtbf", seconds, "3.1h"},
    NamedExample{"checkpoint", seconds, "60s"},
    NamedExample{"checkpointinterval", seconds, "20min"},
    NamedExample{"restart", seconds, "300s"},
    NamedExample{"measuredstep", seconds, "2.5s"},
    NamedExample{"duration", seconds, "10min"},
    NamedExample{"simulate", seconds, "10min"},
    NamedExample{"timeout", seconds, "90s"},
    NamedExample{"time", seconds, "60s"},
    NamedExample{"patience", seconds, "60s"},
    NamedExample{"timelimit", seconds, "60s"},
    NamedExample{"from", seconds, "1.2s"},
    NamedExample{"to", seconds, "1.2s"},
    NamedExample{"service", seconds, "12ms"},
    NamedExample{"latency", seconds, "5us"},
    NamedExample{"gradientbytes", bytes, "2B"},
    NamedExample{"element", bytes, "2B"},
    NamedExample{"size", bytes, "1GB"},
    NamedExample{"sizes", bytes, "64KiB"},
    NamedExample{"buckets", bytes, "25MiB"},
    NamedExample{"checkpointrate", bytes_per_second, "5GB/s"},
};

/// Null for a dimension that nothing above names.
Reading const* reading_of(Dimension dimension);

/// A product of base units, "B^2 s^-1": for dimensions that nothing above names.
std::string plain_unit(Dimension dimension);

} // namespace headroom::units_of_text
