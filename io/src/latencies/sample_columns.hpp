#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// A column, or the field of an object, with the unit that its name gives.
struct SampleColumn {
    int column = -1;
    std::string unit; ///< "ms"; empty: the name gives none
    [[nodiscard]] bool found() const { return column >= 0; }
};

/// The column of values by its name: "latency_ms", "responseTime", "elapsed (us)", "p.duration". A time is one only with a
/// unit, or where nothing else is.
/// Errors: InputError{usage} where two fit alike.
SampleColumn value_column(std::vector<std::string> const& names, std::string_view where);
/// The column of times at which requests were sent, other than that of values: "timestamp", "start_time", "ts".
SampleColumn time_column(std::vector<std::string> const& names, int values);
/// A column that was asked for, by its name (whatever its case) or its number from 1.
/// Errors: InputError{usage} where there is none.
SampleColumn asked_column(std::vector<std::string> const& names, std::string const& asked, bool named,
                          std::string_view where);

} // namespace headroom::io
