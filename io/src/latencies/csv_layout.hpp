#pragma once

#include "latencies/latency_unit.hpp"
#include "latencies/sample_builder.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// Cells of one row of a table, without quotes.
class CsvRow {
public:
    /// False where a quote does not end. A blank as delimiter stands for any number of them.
    bool split(std::string_view line, char delimiter);
    [[nodiscard]] std::vector<std::string_view> const& cells() const { return cells_; }
    /// Empty where the row is too short.
    [[nodiscard]] std::string_view cell(int column) const {
        auto const at = static_cast<std::size_t>(column);
        return at < cells_.size() ? cells_[at] : std::string_view{};
    }

private:
    bool quoted_cell(std::string_view line, std::size_t& at, char delimiter);
    std::vector<std::string_view> cells_;
    std::string unquoted_;
};

/// How a row tells that its request failed.
struct FailureMark {
    enum class Kind {
        status,   ///< no number from 200 to 399
        error,    ///< a text
        is_false, ///< "false"
    };
    int column = -1;
    Kind kind = Kind::status;
    [[nodiscard]] bool failed(std::string_view cell) const;
};

/// What is where in a table.
struct CsvLayout {
    char delimiter = ',';
    bool header = false;
    std::size_t skipped = 0; ///< lines before the header or the first row
    std::vector<std::string> names;
    int value = 0, time = -1;
    std::string unit;      ///< of bare numbers; empty: nobody says
    std::string unit_from; ///< "header" or "format"
    std::string time_unit;
    bool time_is_end = false; ///< times are of answers: the request was sent a value before
    std::vector<std::pair<int, std::string>> where = {};
    std::vector<FailureMark> failures;
    std::string note;
};

/// From the beginning of a text, up to a whole line, and what was asked.
/// Errors: InputError{usage} where a column that was asked for is not there, or none can be chosen.
CsvLayout csv_layout(std::string_view head, SampleBuilder& samples);

/// Whole numbers of at least 100,000 in the middle are taken for nanoseconds, all else for seconds; a note says so.
void assume_unit(std::vector<double> numbers, SampleBuilder& samples);

} // namespace headroom::io
