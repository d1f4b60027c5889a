#pragma once

#include "headroom/serving/tail_answer.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace headroom::serving {

// A table of times and one of plain numbers are made from the same rows: V is T or PlainNumbers<T>.

template <class V> struct View {
    static constexpr bool times = true;
    static V const& of(V const& view) { return view; }
};
template <class T> struct View<PlainNumbers<T>> {
    static constexpr bool times = false;
    static T const& of(PlainNumbers<T> const& view) { return *view.of; }
};

/// "mean_seconds" of times, "mean" of plain numbers.
template <class V> consteval std::string_view key(std::string_view name) {
    constexpr std::string_view suffix = "_seconds";
    if (!name.ends_with(suffix)) { field_detail::the_unit_contradicts_the_name(); }
    return View<V>::times ? name : name.substr(0, name.size() - suffix.size());
}
/// Name of a table: a schema has both.
template <class V> consteval std::string_view named(std::string_view times, std::string_view numbers) {
    return View<V>::times ? times : numbers;
}

template <class V, auto Member> struct MemberOfView {
    constexpr auto const& operator()(V const& view) const { return View<V>::of(view).*Member; }
};
/// Getter of a member: `get<V, &Hedge::p99>`.
template <class V, auto Member> inline constexpr MemberOfView<V, Member> get{};

inline std::optional<double> above_zero(double value) { return value > 0.0 ? std::optional{value} : std::nullopt; }
template <class V, auto Member> struct FiniteMember {
    std::optional<double> operator()(V const& view) const { return finite(View<V>::of(view).*Member); }
};
/// Getter of a number that may be infinite.
template <class V, auto Member> inline constexpr FiniteMember<V, Member> get_finite{};

/// A struct, or several, in the view that V has.
template <class V, class T> decltype(auto) nested(T const& value) {
    if constexpr (View<V>::times) {
        return (value);
    } else {
        return PlainNumbers<T>{&value};
    }
}
template <class V, class T> auto nested(std::optional<T> const& value) {
    if constexpr (View<V>::times) {
        return value ? &*value : nullptr;
    } else {
        return value ? std::optional{PlainNumbers<T>{&*value}} : std::nullopt;
    }
}
template <class V, class T> decltype(auto) nested(std::vector<T> const& values) {
    if constexpr (View<V>::times) {
        return (values);
    } else {
        std::vector<PlainNumbers<T>> views;
        for (T const& one : values) { views.push_back({&one}); }
        return views;
    }
}
template <class V, auto Member> struct NestedMember {
    decltype(auto) operator()(V const& view) const { return nested<V>(View<V>::of(view).*Member); }
};
/// Getter of a member whose own values are as those of V.
template <class V, auto Member> inline constexpr NestedMember<V, Member> get_nested{};

/// Each struct defines `view_table<V>`, for itself and for its plain numbers.
template <class T> FieldTable const& field_table_of(PlainNumbers<T> const*) {
    return view_table<PlainNumbers<T>>(static_cast<T const*>(nullptr));
}

FieldTable const& field_table_of(TailFanOut const*);
FieldTable const& field_table_of(TailFit const*);
FieldTable const& field_table_of(HedgingAnswer const*);
FieldTable const& field_table_of(BaselineComparison const*);
FieldTable const& field_table_of(ReplicasForSlo const*);
extern template FieldTable const& field_table_of(PlainNumbers<TailFanOut> const*);
extern template FieldTable const& field_table_of(PlainNumbers<TailFit> const*);
extern template FieldTable const& field_table_of(PlainNumbers<HedgingAnswer> const*);
extern template FieldTable const& field_table_of(PlainNumbers<BaselineComparison> const*);

} // namespace headroom::serving
