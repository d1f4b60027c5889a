#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// A table as PyTorch prints it: columns between two spaces, below rules of dashes that tell where each begins.
struct KeyTable {
    struct Row {
        std::size_t line = 0;
        std::vector<std::string_view> cells; ///< as many as `header`
    };
    std::vector<std::string_view> header;
    std::vector<Row> rows;
    std::vector<std::size_t> unread;      ///< lines of the table that have another number of cells
    std::vector<std::string_view> footer; ///< lines behind the table
    bool more = false;                    ///< another table follows
    bool cut = false;                     ///< no rule ends the rows
    std::string rank;                     ///< digits of "[rank3]:" and the like before every line
    [[nodiscard]] int column(std::string_view name) const;
};

/// The first table of a text that holds some. Cells point into the text. Empty header: there is none.
KeyTable key_table(std::string_view text);

} // namespace headroom::io
