#include "tables/units.hpp"

#include "tables/cell_text.hpp"

#include <array>
#include <cstddef>

namespace headroom::io {
namespace {

struct UnitRow {
    std::string_view names; ///< in lower case, parted by blanks; the first stands for all
    CellMeasure measure;
    double factor;
    int decimals;
};

constexpr double kibi = 1024.0;
/// Tests of collectives write GB/s as "gbps" in the heads of bandwidth columns.
constexpr std::array unit_rows{
    UnitRow{"s sec secs second seconds", CellMeasure::time, 1.0, 0},
    UnitRow{"ms msec msecs millis millisecond milliseconds", CellMeasure::time, 1.0, 3},
    UnitRow{"us usec usecs micros microsecond microseconds \xC2\xB5s \xCE\xBCs", CellMeasure::time, 1.0, 6},
    UnitRow{"ns nsec nsecs nanos nanosecond nanoseconds", CellMeasure::time, 1.0, 9},
    UnitRow{"min m mins minute minutes", CellMeasure::time, 60.0, 0},
    UnitRow{"h hr hrs hour hours", CellMeasure::time, 3600.0, 0},
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
    UnitRow{"gib/s", CellMeasure::rate, kibi* kibi* kibi, 0},
};

} // namespace

double CellUnit::base(double number) const {
    constexpr std::array powers{1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};
    return number * factor / powers.at(static_cast<std::size_t>(decimals));
}

std::optional<CellUnit> unit_named(CellMeasure measure, std::string_view name) {
    for (UnitRow const& row : unit_rows) {
        if (row.measure != measure) { continue; }
        for (std::string_view names = row.names; !names.empty();) {
            if (!same_caseless(next_word(names), name)) { continue; }
            return CellUnit{row.names.substr(0, row.names.find(' ')), row.factor, row.decimals};
        }
    }
    return std::nullopt;
}

} // namespace headroom::io
