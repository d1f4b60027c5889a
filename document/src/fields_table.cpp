#include "headroom/document/fields.hpp"
#include "headroom/document/sizes.hpp"
#include "headroom/document/text.hpp"
#include "headroom/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace headroom::document {
namespace {

struct Scale {
    double unit;
    std::string_view symbol;
};

/// Units that a column may be in, the largest first.
std::vector<Scale> scales_of(std::string_view symbol) {
    if (symbol == "s") { return {{1.0, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}}; }
    if (symbol == "B") { return {{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}, {1.0, "B"}}; }
    if (symbol == "B/s") { return {{1e9, "GB/s"}, {1e6, "MB/s"}, {1.0, "B/s"}}; }
    if (symbol == "FLOP/s") { return {{1e12, "TFLOP/s"}, {1e9, "GFLOP/s"}, {1.0, "FLOP/s"}}; }
    if (symbol == "FLOP") { return {{1e15, "PFLOP"}, {1e12, "TFLOP"}, {1e9, "GFLOP"}, {1.0, "FLOP"}}; }
    return {{1.0, symbol == "share" ? "" : symbol}};
}

/// The largest unit in which the largest value of the column is 1 or more.
Scale scale_for(std::vector<Scale> const& scales, double largest) {
    auto const fits = std::ranges::find_if(scales, [&](Scale const& scale) { return largest >= scale.unit; });
    return largest <= 0.0 ? scales.front() : fits == scales.end() ? scales.back() : *fits;
}

/// "exposed_seconds" -> "exposed": the unit is added to the title.
std::string title_of(Leaf const& leaf) {
    static constexpr std::array suffixes{
        "_bytes_per_second", "_flops_per_second", "_seconds", "_bytes", "_dollars", "_flops"};
    std::string title = leaf.path.substr(leaf.path.rfind('.') + 1);
    for (std::string_view const suffix : suffixes) {
        if (!leaf.unit.empty() && title.ends_with(suffix)) {
            title.resize(title.size() - suffix.size());
            break;
        }
    }
    std::ranges::replace(title, '_', ' ');
    return title;
}

std::string cell_of(Leaf const& leaf, Shown shown, Scale scale) {
    if (leaf.kind == FieldKind::boolean && !leaf.text.empty()) { return leaf.text == "true" ? "yes" : "no"; }
    if (!leaf.number) { return leaf.text.empty() ? "-" : printable(leaf.text); }
    switch (shown) {
    case Shown::percent: return percent(*leaf.number);
    case Shown::binary: return format_binary(Bytes{*leaf.number});
    case Shown::whole: return whole(*leaf.number);
    case Shown::scaled: return scaled(*leaf.number);
    case Shown::each:
        return leaf.unit == "B" ? size_words(Bytes{*leaf.number})
                                : format_base(*leaf.number, dimension_of_symbol(leaf.unit).first, 3);
    case Shown::plain: break;
    }
    return leaf.kind == FieldKind::integer && scale.unit == 1.0 ? leaf.text : significant(*leaf.number / scale.unit);
}

std::size_t index_of(std::vector<Leaf> const& leaves, std::string_view path) {
    auto const found = std::ranges::find(leaves, path, &Leaf::path);
    if (found == leaves.end()) { throw ContractError{"no field of a table's rows is " + std::string{path}}; }
    return static_cast<std::size_t>(found - leaves.begin());
}

Column column_of(Leaf const& leaf, ShownField const& field, Scale scale) {
    std::string title = field.title.empty() ? title_of(leaf) : std::string{field.title};
    std::string_view const unit = field.shown == Shown::percent                                ? "%"
                                  : field.shown == Shown::binary || field.shown == Shown::each ? ""
                                                                                               : scale.symbol;
    if (!unit.empty()) { title += " " + std::string{unit}; }
    if (leaf.kind == FieldKind::text) { return wrapped(std::move(title)); }
    return {std::move(title), leaf.kind == FieldKind::boolean ? Align::left : Align::right};
}

} // namespace

std::pair<Dimension, double> dimension_of_symbol(std::string_view symbol) {
    if (symbol == "d") { return {{.seconds = 1}, 86400.0}; }
    if (symbol == "$/h") { return {{.seconds = -1, .dollars = 1}, 1.0 / 3600.0}; }
    for (Dimension const d :
         {Dimension{.bytes = 1}, Dimension{.flops = 1}, Dimension{.seconds = 1}, Dimension{.dollars = 1},
          Dimension{.seconds = -1}, Dimension{.joules = 1}, Dimension{.bytes = 1, .seconds = -1},
          Dimension{.bytes = -1, .seconds = 1}, Dimension{.flops = 1, .seconds = -1},
          Dimension{.seconds = -1, .dollars = 1}, Dimension{.seconds = -1, .joules = 1}}) {
        if (unit_symbol(d) == symbol) { return {d, 1.0}; }
    }
    return {{}, 1.0};
}

std::string size_words(Bytes size) {
    double const kib = size.in(units::KiB);
    bool const binary = kib >= 1.0 && std::exp2(std::round(std::log2(kib))) == kib;
    return binary ? format_binary(size) : format(size);
}

Table field_rows(std::string title, FieldTable const& table, std::vector<void const*> const& rows,
                 std::vector<ShownField> const& columns) {
    std::vector<Leaf> const types = leaves_of(table, nullptr, Lists::joined);
    std::vector<std::vector<Leaf>> values;
    for (void const* row : rows) { values.push_back(leaves_of(table, row, Lists::joined)); }
    Table result{.title = std::move(title), .rows = std::vector<std::vector<std::string>>(rows.size())};
    for (ShownField const& field : columns) {
        std::size_t const at = index_of(types, field.path);
        double largest = 0.0;
        for (auto const& row : values) { largest = std::max(largest, std::abs(row[at].number.value_or(0.0))); }
        Scale const scale = scale_for(scales_of(types[at].unit), largest);
        result.columns.push_back(column_of(types[at], field, scale));
        for (std::size_t i = 0; i < rows.size(); ++i) {
            result.rows[i].push_back(cell_of(values[i][at], field.shown, scale));
        }
    }
    return result;
}

} // namespace headroom::document
