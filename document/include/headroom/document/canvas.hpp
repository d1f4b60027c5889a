#pragma once

#include "headroom/document/document.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::document {

/// Layer of a cell; a higher one hides lower ones.
enum class Layer { empty, band, reference, rule, curve, mark, chosen, text };

/// A place on a canvas, in cells from the upper left corner; fractions are places between them.
struct Place {
    double column = 0.0, row = 0.0;
};

/// Cells of characters that a plot is drawn on. Where the terminal knows Unicode a curve has 2 x 4 dots a cell.
class Canvas {
public:
    Canvas(std::size_t width, std::size_t height, TextStyle style);

    [[nodiscard]] std::size_t width() const { return width_; }
    [[nodiscard]] std::size_t height() const { return height_; }

    /// A character at the nearest cell; `ink` numbers the colour.
    void put(Place place, std::string_view glyph, Layer layer, std::size_t ink);
    /// A straight line. `glyph` is drawn in every cell; empty: the slope's own, or dots. A dashed one leaves gaps.
    void line(Place from, Place to, std::string_view glyph, Layer layer, std::size_t ink, bool dashed = false);
    /// Whether these cells exist and hold nothing above `layer`.
    [[nodiscard]] bool is_free(std::size_t column, std::size_t row, std::size_t columns, Layer layer) const;
    void write(std::size_t column, std::size_t row, std::string_view text, std::size_t ink);
    /// A row without the blanks at its end.
    [[nodiscard]] std::string row_text(std::size_t row) const;

private:
    struct Cell {
        std::string glyph = {}; ///< empty: the dots
        unsigned dots = 0;
        Layer layer = Layer::empty;
        std::size_t ink = 0;
    };
    Cell* cell(Place place);
    void dot(Place place, Layer layer, std::size_t ink);

    std::size_t width_, height_;
    TextStyle style_;
    std::vector<Cell> cells_;
};

/// Text in the colour of a series, where colours are wanted; ink 0 is the terminal's own.
std::string inked(std::string_view text, std::size_t ink, TextStyle style);

/// The characters of a text, one code point each.
std::vector<std::string> letters_of(std::string_view text);

} // namespace headroom::document
