#pragma once

#include "headroom/document/document.hpp"
#include "headroom/document/json.hpp"
#include "headroom/fields.hpp"
#include "headroom/issue.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::document {

// Answers rendered by their field tables: for programs as JSON, CSV and JSON Schema, for people as tables.

// ---- JSON ---------------------------------------------------------------------------------------------------------

/// Appends the fields of `object` to a JSON object.
void append_fields(Json& json, FieldTable const& table, void const* object);
Json json_of_fields(FieldTable const& table, void const* object);
template <class T> Json to_json(T const& value) { return json_of_fields(field_table_of(&value), &value); }

/// JSON Schema of the answers of a verb, one or several. `head` and `tail` hold the fields that precede and follow those
/// of every answer.
Json json_schema(std::string_view title, std::vector<FieldTable const*> const& answers, FieldTable const& head,
                 FieldTable const& tail);

/// Issues of an answer, from its field of that name: what a sheet of its rows leaves out.
std::vector<Issue> issues_of_fields(FieldTable const& table, void const* object);

// ---- single values ------------------------------------------------------------------------------------------------

/// A value of an answer that is no object, by the way to it: "memory.total_bytes".
struct Leaf {
    std::string path;
    std::string_view unit;
    std::string_view meaning;
    FieldKind kind = FieldKind::number;
    std::optional<double> number = {}; ///< of numbers and integers; empty: null
    std::string text = {};             ///< exact; empty: null
};

enum class Lists {
    joined,   ///< a list of values is one leaf, its elements parted by blanks; a list of objects is left out
    numbered, ///< an element is a leaf, or several: "communication.0.bytes"
};

/// Leaves that the table can have, in its order; without values where `object` is null. Ends of a pair are "NAME.low" and
/// "NAME.high".
std::vector<Leaf> leaves_of(FieldTable const& table, void const* object, Lists lists);

/// Dimension of a field's unit, and how many base units it is.
std::pair<Dimension, double> dimension_of_symbol(std::string_view symbol);

// ---- CSV ----------------------------------------------------------------------------------------------------------

/// Two columns, quantity and value: every leaf of one answer.
Sheet leaf_sheet(FieldTable const& table, void const* object);
template <class T> Sheet leaf_sheet(T const& value) { return leaf_sheet(field_table_of(&value), &value); }

/// A row for each object, a column for each leaf of their table.
Sheet row_sheet(FieldTable const& table, std::vector<void const*> const& rows);
template <class Rows> Sheet row_sheet(Rows const& rows) {
    using Row = std::remove_cvref_t<decltype(*std::begin(rows))>;
    std::vector<void const*> found;
    for (Row const& row : rows) { found.push_back(&row); }
    return row_sheet(field_table_of(static_cast<Row const*>(nullptr)), found);
}

// ---- tables for people --------------------------------------------------------------------------------------------

enum class Shown {
    plain,   ///< numbers with three digits; seconds, bytes and rates in the unit that suits the column
    percent, ///< a ratio as percent
    binary,  ///< bytes in GiB, MiB, ...
    whole,   ///< no digits after the point
    scaled,  ///< 1.2M
    each,    ///< each quantity in the unit that suits it: for columns of wide range
};

/// A column: a leaf of the rows' table, by its path.
struct ShownField {
    std::string_view path;
    std::string_view title = {}; ///< empty: the path without its unit
    Shown shown = Shown::plain;
};

/// The columns that are named, of all rows. Contract: each path is a leaf of the table.
Table field_rows(std::string title, FieldTable const& table, std::vector<void const*> const& rows,
                 std::vector<ShownField> const& columns);
template <class Rows> Table field_rows(std::string title, Rows const& rows, std::vector<ShownField> const& columns) {
    using Row = std::remove_cvref_t<decltype(*std::begin(rows))>;
    std::vector<void const*> found;
    for (Row const& row : rows) { found.push_back(&row); }
    return field_rows(std::move(title), field_table_of(static_cast<Row const*>(nullptr)), found, columns);
}

} // namespace headroom::document
