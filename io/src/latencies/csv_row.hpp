#pragma once

#include <cstddef>
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

} // namespace headroom::io
