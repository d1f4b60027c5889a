#pragma once

#include <cstddef>
#include <vector>

namespace headroom::io {

/// Asks the system for large pages there: memory that is written once from end to end costs a fault for each 2 MB then,
/// not for each 4 KB. Nothing happens where it has none to give, and where less than a page of them lies within.
void prefer_large_pages(void* from, std::size_t bytes) noexcept;

/// Room for so many, on large pages if there are any.
template <class Row> void reserve_large(std::vector<Row>& column, std::size_t rows) {
    column.reserve(rows);
    prefer_large_pages(column.data(), column.capacity() * sizeof(Row));
}

} // namespace headroom::io
