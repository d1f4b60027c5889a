#pragma once

#include "headroom/quantity.hpp"

#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace headroom {

// The field table of an answer: one row a figure, with its name, unit, meaning and getter. JSON, CSV, the names that
// `--require` takes and the JSON Schema are made from it. A struct that has one declares in its own namespace
//
//     FieldTable const& field_table_of(Answer const*);
//
// and defines it in its room's `*_fields.cpp`:
//
//     constexpr Field rows[] = {
//         {"step_seconds", "Time of one training step.", member<&Answer::step>},
//         {"mfu", "Model FLOPs utilization.", [](Answer const& a) { return a.work / a.peak; }},
//         {"days", "Duration of the run.", member<&Answer::days>, Unit{"d"}},
//     };
//     constexpr FieldTable table = field_table<Answer>("answer", rows);
//     FieldTable const& field_table_of(Answer const*) { return table; }
//
// Getters return numbers, quantities, texts, enumerators that have a `name_of`, structs with a table, and optionals,
// pointers, ranges, pairs and named values of these. Two equal names in a table, a unit that contradicts the type of its
// getter or the name's suffix, and a meaning that is no sentence do not compile. A row named "*" writes the fields of its
// value as fields of the whole.

struct FieldTable;

/// Receives the values of an answer in the order of its table.
class FieldWriter {
public:
    FieldWriter() = default;
    FieldWriter(FieldWriter const&) = delete;
    FieldWriter& operator=(FieldWriter const&) = delete;
    virtual ~FieldWriter() = default;
    virtual void null() = 0;
    virtual void boolean(bool value) = 0;
    virtual void integer(std::int64_t value) = 0;
    virtual void number(double value) = 0;
    virtual void text(std::string_view value) = 0;
    virtual void object(FieldTable const& table, void const* value) = 0;
    virtual void begin_list() = 0;
    virtual void end_list() = 0;
    virtual void begin_map() = 0;
    virtual void key(std::string_view name) = 0;
    virtual void end_map() = 0;
};

enum class FieldKind : unsigned char { boolean, integer, number, text, object, list, map };

/// Type of a field's value, as data.
struct FieldShape {
    FieldKind kind = FieldKind::number;
    bool nullable = false;
    std::size_t length = 0;                 ///< of a list that always has as many elements; else 0
    FieldShape const* element = nullptr;    ///< of a list or a map
    FieldTable const& (*table)() = nullptr; ///< of an object
    std::string_view unit = {};             ///< of a quantity
};

/// When a field is written.
enum class Presence : unsigned char {
    always,
    if_any, ///< left out where it is null or empty
};

/// A unit that neither the getter's type nor the name's suffix states.
struct Unit {
    std::string_view symbol = {};
};

/// The symbol of a dimension's base unit: "s", "B/s"; empty for those that no answer uses.
constexpr std::string_view unit_symbol(Dimension d) {
    struct Row {
        Dimension dimension;
        std::string_view symbol;
    };
    constexpr std::array rows{
        Row{{1, 0, 0, 0, 0}, "B"},    Row{{0, 1, 0, 0, 0}, "FLOP"},    Row{{0, 0, 1, 0, 0}, "s"},
        Row{{0, 0, 0, 1, 0}, "$"},    Row{{0, 0, 0, 0, 1}, "J"},       Row{{1, 0, -1, 0, 0}, "B/s"},
        Row{{-1, 0, 1, 0, 0}, "s/B"}, Row{{0, 1, -1, 0, 0}, "FLOP/s"}, Row{{-1, 1, 0, 0, 0}, "FLOP/B"},
        Row{{0, 0, -1, 1, 0}, "$/s"}, Row{{0, 0, -1, 0, 1}, "W"},      Row{{0, 0, -1, 0, 0}, "1/s"}};
    for (Row const& row : rows) {
        if (row.dimension == d) { return row.symbol; }
    }
    return {};
}

namespace field_detail {

template <class T> inline constexpr char type_tag = 0;

/// Struct that a getter reads, as the result of a function that nobody calls.
template <class Lambda, class Result, class Object> Object object_read_by(Result (Lambda::*)(Object const&) const);

template <class T> inline constexpr bool is_optional = false;
template <class T> inline constexpr bool is_optional<std::optional<T>> = true;
template <class T> inline constexpr bool is_quantity = false;
template <int B, int F, int T, int D, int J> inline constexpr bool is_quantity<Quantity<B, F, T, D, J>> = true;
template <class T> inline constexpr bool is_pair = false; ///< of two ends of an interval
template <class T> inline constexpr bool is_pair<std::pair<T, T>> = true;
template <class T> inline constexpr bool is_named = false; ///< a value under a name that is not known before
template <class T> inline constexpr bool is_named<std::pair<std::string, T>> = true;
template <class T> inline constexpr bool is_named<std::pair<std::string const, T>> = true;
template <class T> inline constexpr std::size_t fixed_length = 0;
template <class T, std::size_t N> inline constexpr std::size_t fixed_length<std::array<T, N>> = N;
template <class T>
concept TextLike = std::convertible_to<T const&, std::string_view>;
template <class T>
concept Indirect = is_optional<T> ||(std::is_pointer_v<T> && !TextLike<T>);

template <class T> FieldTable const& table_of() { return field_table_of(static_cast<T const*>(nullptr)); }

template <class T> struct ShapeOf {
    static constexpr FieldShape make() {
        if constexpr (std::same_as<T, bool>) {
            return {.kind = FieldKind::boolean};
        } else if constexpr (std::integral<T>) {
            return {.kind = FieldKind::integer};
        } else if constexpr (std::floating_point<T>) {
            return {.kind = FieldKind::number};
        } else if constexpr (is_quantity<T>) {
            return {.unit = unit_symbol(dimension_of(static_cast<T const*>(nullptr)))};
        } else if constexpr (TextLike<T> || std::is_enum_v<T>) {
            return {.kind = FieldKind::text};
        } else if constexpr (Indirect<T>) {
            using Value = std::remove_cvref_t<decltype(*std::declval<T const&>())>;
            FieldShape shape = ShapeOf<Value>::make();
            shape.nullable = true;
            return shape;
        } else if constexpr (is_pair<T>) {
            return {.kind = FieldKind::list, .length = 2, .element = &ShapeOf<typename T::first_type>::value};
        } else if constexpr (std::ranges::range<T>) {
            using Value = std::remove_cvref_t<std::ranges::range_reference_t<T const>>;
            if constexpr (is_named<Value>) {
                return {.kind = FieldKind::map, .element = &ShapeOf<typename Value::second_type>::value};
            } else {
                return {.kind = FieldKind::list, .length = fixed_length<T>, .element = &ShapeOf<Value>::value};
            }
        } else {
            return {.kind = FieldKind::object, .table = &table_of<T>};
        }
    }
    static constexpr FieldShape value = make();
};

template <class T> void write(FieldWriter& writer, T const& value) {
    if constexpr (std::same_as<T, bool>) {
        writer.boolean(value);
    } else if constexpr (std::integral<T>) {
        writer.integer(static_cast<std::int64_t>(value));
    } else if constexpr (std::floating_point<T>) {
        writer.number(value);
    } else if constexpr (is_quantity<T>) {
        writer.number(value.base());
    } else if constexpr (TextLike<T>) {
        writer.text(value);
    } else if constexpr (std::is_enum_v<T>) {
        writer.text(name_of(value));
    } else if constexpr (Indirect<T>) {
        if (value) {
            write(writer, *value);
        } else {
            writer.null();
        }
    } else if constexpr (is_pair<T>) {
        writer.begin_list();
        write(writer, value.first);
        write(writer, value.second);
        writer.end_list();
    } else if constexpr (std::ranges::range<T>) {
        using Value = std::remove_cvref_t<std::ranges::range_reference_t<T const>>;
        if constexpr (is_named<Value>) {
            writer.begin_map();
            for (auto const& [name, one] : value) {
                writer.key(name);
                write(writer, one);
            }
            writer.end_map();
        } else {
            writer.begin_list();
            for (Value const& one : value) { write(writer, one); }
            writer.end_list();
        }
    } else {
        writer.object(table_of<T>(), &value);
    }
}

/// Unit that a name's suffix states: "step_seconds" is in seconds.
constexpr std::string_view unit_in_name(std::string_view name) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 11> suffixes{
        {{"bytes_per_second", "B/s"},
         {"seconds_per_byte", "s/B"},
         {"flops_per_second", "FLOP/s"},
         {"flops_per_second_per_accelerator", "FLOP/s"},
         {"flops_per_byte", "FLOP/B"},
         {"_per_second", "1/s"},
         {"picoseconds", "ps"},
         {"seconds", "s"},
         {"bytes", "B"},
         {"dollars", "$"},
         {"watts", "W"}}};
    for (auto const& [suffix, symbol] : suffixes) {
        if (name.ends_with(suffix)) { return symbol; }
    }
    return {};
}

void a_field_needs_a_name_and_a_meaning_that_is_a_sentence(); // called where it must not compile
void the_unit_contradicts_the_type_of_the_getter();
void the_unit_contradicts_the_name();
void two_fields_have_one_name();
void a_field_is_of_another_struct();

constexpr FieldShape const& value_shape(FieldShape const& shape) {
    return shape.element == nullptr ? shape : value_shape(*shape.element);
}

constexpr std::string_view checked_unit(std::string_view name, FieldShape const& shape, std::string_view stated) {
    FieldShape const& value = value_shape(shape);
    bool const counts = value.kind == FieldKind::number || value.kind == FieldKind::integer;
    std::string_view const named = counts ? unit_in_name(name) : std::string_view{};
    std::string_view const typed = value.unit;
    if (!stated.empty() && (!counts || (!typed.empty() && typed != stated))) {
        the_unit_contradicts_the_type_of_the_getter();
    }
    if (!typed.empty() && !named.empty() && typed != named) { the_unit_contradicts_the_type_of_the_getter(); }
    if (!stated.empty() && !named.empty() && stated != named && named != "1/s") { the_unit_contradicts_the_name(); }
    return !stated.empty() ? stated : !typed.empty() ? typed : named;
}

} // namespace field_detail

/// One figure of an answer.
struct Field {
    template <class G>
    constexpr Field(std::string_view key, std::string_view sentence, G, Unit stated = {},
                    Presence when = Presence::always)
        : name{key}, meaning{sentence}, presence{when} {
        using Object = decltype(field_detail::object_read_by(&G::operator()));
        using Value = std::remove_cvref_t<decltype(G{}(std::declval<Object const&>()))>;
        shape = &field_detail::ShapeOf<Value>::value;
        unit = field_detail::checked_unit(key, *shape, stated.symbol);
        write = [](void const* object, FieldWriter& writer) {
            field_detail::write<Value>(writer, G{}(*static_cast<Object const*>(object)));
        };
        type = &field_detail::type_tag<Object>;
        if (key.empty() || sentence.size() < 3 || !sentence.ends_with('.')) {
            field_detail::a_field_needs_a_name_and_a_meaning_that_is_a_sentence();
        }
    }
    template <class G>
    constexpr Field(std::string_view key, std::string_view sentence, G getter, Presence when)
        : Field{key, sentence, getter, Unit{}, when} {}

    /// Whether the fields of its value, a struct, are written as fields of the whole.
    [[nodiscard]] constexpr bool inlined() const { return name == inlined_name; }

    static constexpr std::string_view inlined_name = "*";
    std::string_view name; ///< the JSON key: "step_seconds"
    std::string_view unit; ///< "s", "B", "$"; empty for ratios, counts and texts
    std::string_view meaning;
    FieldShape const* shape = nullptr;
    void (*write)(void const* object, FieldWriter& writer) = nullptr;
    char const* type = nullptr; ///< identity of the struct
    Presence presence = Presence::always;
};

/// The fields of a struct.
struct FieldTable {
    std::string_view name; ///< in lower case: "memory"; of one meaning in all schemas
    std::span<Field const> rows;
};

/// A table whose fields are of one struct and have names of their own.
template <class T, std::size_t N> constexpr FieldTable field_table(std::string_view name, Field const (&rows)[N]) {
    for (std::size_t i = 0; i < N; ++i) {
        if (rows[i].type != &field_detail::type_tag<T>) { field_detail::a_field_is_of_another_struct(); }
        for (std::size_t j = 0; j < i; ++j) {
            if (rows[i].name == rows[j].name && !rows[i].inlined()) { field_detail::two_fields_have_one_name(); }
        }
    }
    return {name, rows};
}

/// Getters of numbers that may be no number: such values are null.
inline std::optional<double> finite(double value) {
    bool const is_finite = value - value == 0.0;
    return is_finite ? std::optional{value} : std::nullopt;
}

/// Getters of texts that may be empty: such values are null.
inline std::optional<std::string_view> if_known(std::string const& text) {
    return text.empty() ? std::nullopt : std::optional<std::string_view>{text};
}

template <auto Member> struct MemberOf;
template <class T, class R, R T::*Pointer> struct MemberOf<Pointer> {
    constexpr R const& operator()(T const& object) const { return object.*Pointer; }
};
/// Getter of a data member: `member<&Answer::step>`.
template <auto Pointer> inline constexpr MemberOf<Pointer> member{};

/// Getter of a function's result: `from<cost_of>`.
template <auto Function> struct ResultOf;
template <class T, class R, R (*Function)(T const&)> struct ResultOf<Function> {
    constexpr R operator()(T const& object) const { return Function(object); }
};
template <auto Function> inline constexpr ResultOf<Function> from{};

} // namespace headroom
