#include "headroom/document/canvas.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace headroom::document {
namespace {

/// The bits of a braille character: two columns of four dots.
constexpr std::array<std::array<unsigned, 4>, 2> braille_dots{{{0x01, 0x02, 0x04, 0x40}, {0x08, 0x10, 0x20, 0x80}}};

std::string braille(unsigned dots) {
    unsigned const code = 0x2800U + dots;
    return {static_cast<char>(0xE0U | (code >> 12U)), static_cast<char>(0x80U | ((code >> 6U) & 0x3FU)),
            static_cast<char>(0x80U | (code & 0x3FU))};
}

/// The character that runs in the direction of a line; a cell is about twice as high as wide.
std::string_view slope_glyph(Place from, Place to) {
    double const right = std::abs(to.column - from.column), down = to.row - from.row;
    if (std::abs(down) > 2.0 * right) { return "|"; }
    if (std::abs(down) < 0.35 * right) { return "-"; }
    return (down > 0.0) == (to.column > from.column) ? "\\" : "/";
}

} // namespace

std::string inked(std::string_view text, std::size_t ink, TextStyle style) {
    static constexpr std::array colours{33, 208, 36, 175, 220, 75, 167, 141, 107, 180}; // told apart without red-green
    if (!style.colour || ink == 0) { return std::string{text}; }
    return "\x1b[38;5;" + std::to_string(colours[(ink - 1) % colours.size()]) + "m" + std::string{text} + "\x1b[0m";
}

std::vector<std::string> letters_of(std::string_view text) {
    std::vector<std::string> letters;
    for (char const c : text) {
        bool const continues = (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
        if (continues && !letters.empty()) {
            letters.back() += c;
        } else {
            letters.emplace_back(1, c);
        }
    }
    return letters;
}

Canvas::Canvas(std::size_t width, std::size_t height, TextStyle style)
    : width_{width}, height_{height}, style_{style}, cells_(width * height) {}

Canvas::Cell* Canvas::cell(Place place) {
    double const column = std::round(place.column), row = std::round(place.row);
    bool const inside = column >= 0.0 && row >= 0.0 && column < static_cast<double>(width_) &&
                        row < static_cast<double>(height_); // also false for what is no number
    return inside ? &cells_[static_cast<std::size_t>(row) * width_ + static_cast<std::size_t>(column)] : nullptr;
}

void Canvas::put(Place place, std::string_view glyph, Layer layer, std::size_t ink) {
    Cell* const at = cell(place);
    if (at != nullptr && layer >= at->layer) { *at = {std::string{glyph}, 0, layer, ink}; }
}

void Canvas::dot(Place place, Layer layer, std::size_t ink) {
    Cell* const at = cell(place);
    if (at == nullptr || layer < at->layer) { return; }
    if (layer > at->layer || !at->glyph.empty()) { *at = {"", 0, layer, ink}; }
    auto const part = [](double value, double parts) {
        double const within = value + 0.5 - std::floor(value + 0.5);
        return static_cast<std::size_t>(std::clamp(within * parts, 0.0, parts - 1.0));
    };
    at->dots |= braille_dots[part(place.column, 2.0)][part(place.row, 4.0)];
    at->ink = ink;
}

void Canvas::line(Place from, Place to, std::string_view glyph, Layer layer, std::size_t ink, bool dashed) {
    double const right = to.column - from.column, down = to.row - from.row;
    bool const dots = style_.unicode && glyph.empty();
    double const length =
        std::ceil(std::max((dots ? 2.0 : 1.0) * std::abs(right), (dots ? 4.0 : 1.0) * std::abs(down)));
    if (!std::isfinite(length) || length > 1e6) { return; }
    std::string_view const drawn = glyph.empty() ? slope_glyph(from, to) : glyph;
    for (double done = 0.0; done <= length; done += 1.0) {
        double const share = length > 0.0 ? done / length : 0.0;
        Place const place{from.column + share * right, from.row + share * down};
        // gaps by the place on the canvas, so that they stay even over many short pieces
        double const along = std::abs(right) * 0.5 >= std::abs(down) ? place.column : 2.0 * place.row;
        bool const gap = dashed && std::fmod(std::round(along), dots ? 3.0 : 2.0) >= (dots ? 2.0 : 1.0);
        if (gap) { continue; }
        if (dots) {
            dot(place, layer, ink);
        } else {
            put(place, drawn, layer, ink);
        }
    }
}

bool Canvas::is_free(std::size_t column, std::size_t row, std::size_t columns, Layer layer) const {
    if (row >= height_ || columns > width_ || column > width_ - columns) { return false; }
    auto const first = cells_.begin() + static_cast<std::ptrdiff_t>(row * width_ + column);
    return std::all_of(first, first + static_cast<std::ptrdiff_t>(columns),
                       [layer](Cell const& one) { return one.layer <= layer; });
}

void Canvas::write(std::size_t column, std::size_t row, std::string_view text, std::size_t ink) {
    for (std::string const& letter : letters_of(text)) {
        put({static_cast<double>(column), static_cast<double>(row)}, letter, Layer::text, ink);
        ++column;
    }
}

std::string Canvas::row_text(std::size_t row) const {
    std::string text, run;
    std::size_t ink = 0;
    auto const end_run = [&] {
        text += inked(run, ink, style_);
        run.clear();
    };
    for (std::size_t column = 0; column < width_; ++column) {
        Cell const& one = cells_[row * width_ + column];
        bool const blank = one.layer == Layer::empty || (one.glyph.empty() && one.dots == 0) || one.glyph == " ";
        if (!blank && one.ink != ink) {
            end_run();
            ink = one.ink;
        }
        run += blank ? " " : one.glyph.empty() ? braille(one.dots) : one.glyph;
    }
    run.erase(run.find_last_not_of(' ') + 1);
    end_run();
    return text;
}

} // namespace headroom::document
