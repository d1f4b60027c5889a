#include "headroom/io/work.hpp"

#include "records/record.hpp"
#include "tables/rows.hpp"

#include "headroom/error.hpp"
#include "headroom/io/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace headroom::io {
namespace {

/// Far beyond any unit of work; a sum of as many as fit a file stays finite.
constexpr double largest_amount = 1e30;

double amount_of(std::string_view cell, NumberMarks const& marks, std::string const& place) {
    CellValue const value = cell_value(cell, CellMeasure::nothing, marks);
    if (value.kind != CellValue::Kind::bare) {
        std::string const why{value.fault == CellNumber::Fault::none ? "it is not a number" : words_of(value.fault)};
        unreadable_error(place, "no amount of work " + headroom::quoted(cell), why, "write it like 1.08");
    }
    double const amount = value.value;
    if (amount < 0.0) { unreadable_error(place, "a negative amount of work " + headroom::quoted(cell), ""); }
    if (amount > largest_amount) { unreadable_error(place, headroom::quoted(cell) + " is too large", "1e30 is most"); }
    return amount;
}

} // namespace

std::vector<double> read_work(std::string_view csv, std::string_view where) {
    CsvTable const table = read_csv(csv, where);
    int const column = table.column("work");
    if (column < 0) {
        unreadable_error(where, "no column 'work'", "it holds what each rank had to do",
                         "name it in the first line; one row a rank");
    }
    std::vector<double> work;
    work.reserve(table.records.size());
    auto const at = static_cast<std::size_t>(column);
    auto const marks = number_marks(table);
    for (auto const& record : table.records) {
        work.push_back(amount_of(record.cells[at], marks[at], fmt::format("{}:{}", where, record.line)));
    }
    if (work.empty()) { unreadable_error(where, "no rank", "the table ends after its first line", "one row a rank"); }
    if (std::ranges::all_of(work, [](double one) { return one == 0.0; })) {
        unreadable_error(where, "no rank has work", "the largest is divided by the mean");
    }
    return work;
}

} // namespace headroom::io
