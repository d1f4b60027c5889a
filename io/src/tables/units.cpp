#include "tables/units.hpp"

#include "tables/cell_text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace headroom::io {
namespace {

struct UnitRow {
    std::string_view names; ///< in lower case, parted by blanks; the first stands for all
    CellMeasure measure;
    double factor;
    int decimals;
    bool bracketed = false; ///< in the brackets of a head only: "2d" may be anything
};

constexpr double kibi = 1024.0;
/// Tests of collectives write GB/s as "gbps" in the heads of bandwidth columns; "Gbps" and "Gb/s" are bits.
constexpr std::array unit_rows{
    UnitRow{"s sec secs second seconds", CellMeasure::time, 1.0, 0},
    UnitRow{"ms msec msecs millis millisecond milliseconds", CellMeasure::time, 1.0, 3},
    UnitRow{"us usec usecs micros microsecond microseconds \xC2\xB5s \xCE\xBCs", CellMeasure::time, 1.0, 6},
    UnitRow{"ns nsec nsecs nanos nanosecond nanoseconds", CellMeasure::time, 1.0, 9},
    UnitRow{"min m mins minute minutes", CellMeasure::time, 60.0, 0},
    UnitRow{"h hr hrs hour hours", CellMeasure::time, 3600.0, 0},
    UnitRow{"d day days", CellMeasure::time, 86'400.0, 0, true},
    UnitRow{"b byte bytes", CellMeasure::size, 1.0, 0},
    UnitRow{"kb", CellMeasure::size, 1e3, 0},
    UnitRow{"mb", CellMeasure::size, 1e6, 0},
    UnitRow{"gb", CellMeasure::size, 1e9, 0},
    UnitRow{"kib k", CellMeasure::size, kibi, 0},
    UnitRow{"mib m", CellMeasure::size, kibi* kibi, 0},
    UnitRow{"gib g", CellMeasure::size, kibi* kibi* kibi, 0},
    UnitRow{"b/s bytes/s", CellMeasure::rate, 1.0, 0},
    UnitRow{"mb/s mbps", CellMeasure::rate, 1e6, 0},
    UnitRow{"gb/s gbps gbs gbyte/s gbytes/s", CellMeasure::rate, 1e9, 0},
    UnitRow{"tb/s tbps tbyte/s", CellMeasure::rate, 1e12, 0},
    UnitRow{"mib/s", CellMeasure::rate, kibi* kibi, 0},
    UnitRow{"gib/s", CellMeasure::rate, kibi* kibi* kibi, 0},
    UnitRow{"mbit/s mbits/s", CellMeasure::rate, 1e6 / 8.0, 0},
    UnitRow{"gbit/s gbits/s gigabit/s", CellMeasure::rate, 1e9 / 8.0, 0},
    UnitRow{"tbit/s tbits/s", CellMeasure::rate, 1e12 / 8.0, 0},
    UnitRow{"w watt watts", CellMeasure::power, 1.0, 0},
    UnitRow{"kw kilowatt kilowatts", CellMeasure::power, 1e3, 0},
};

/// "gbit/s" of "Gb/s" and "Gbps", whose large letter before a small one says bits.
std::string_view spelled_bits(std::string_view name) {
    constexpr std::array<std::string_view, 3> bits{"mbit/s", "gbit/s", "tbit/s"};
    auto const prefix = std::string_view{"MGT"}.find(name.substr(0, 1));
    std::string_view const rest = name.substr(std::min<std::size_t>(1, name.size()));
    bool const of_bits = rest == "b/s" || rest == "bps" || rest == "b/sec";
    return of_bits && !name.empty() && prefix != std::string_view::npos ? bits.at(prefix) : name;
}

} // namespace

double CellUnit::base(double number) const {
    constexpr std::array powers{1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};
    return number * factor / powers.at(static_cast<std::size_t>(decimals));
}

std::optional<CellUnit> unit_named(CellMeasure measure, std::string_view name, bool bracketed) {
    if (measure == CellMeasure::rate) { name = spelled_bits(name); }
    for (UnitRow const& row : unit_rows) {
        if (row.measure != measure || (row.bracketed && !bracketed)) { continue; }
        for (std::string_view names = row.names; !names.empty();) {
            if (!same_caseless(next_word(names), name)) { continue; }
            return CellUnit{row.names.substr(0, row.names.find(' ')), row.factor, row.decimals};
        }
    }
    return std::nullopt;
}

} // namespace headroom::io
