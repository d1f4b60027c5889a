#pragma once

#include <compare>
#include <string>
#include <string_view>

namespace headroom {

/// A double that knows its dimension: bytes^B * operations^F * seconds^T * dollars^D * joules^J.
/// Held in base units; scaling happens only where a person reads or writes. There is no `value()`:
/// say the unit, `t.in(units::ms)`.
template <int B, int F, int T, int D, int J> class Quantity {
public:
    constexpr Quantity() = default;
    constexpr explicit Quantity(double base) : base_{base} {}

    /// The quantity as a multiple of `unit`.
    [[nodiscard]] constexpr double in(Quantity unit) const { return base_ / unit.base_; }
    /// The number in base units (bytes, operations, seconds, dollars, joules).
    [[nodiscard]] constexpr double base() const { return base_; }

    constexpr auto operator<=>(Quantity const&) const = default;
    constexpr Quantity operator-() const { return Quantity{-base_}; }
    constexpr Quantity& operator+=(Quantity other) {
        base_ += other.base_;
        return *this;
    }
    constexpr Quantity& operator-=(Quantity other) {
        base_ -= other.base_;
        return *this;
    }
    constexpr Quantity& operator*=(double factor) {
        base_ *= factor;
        return *this;
    }
    constexpr Quantity& operator/=(double factor) {
        base_ /= factor;
        return *this;
    }
    friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity{a.base_ + b.base_}; }
    friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity{a.base_ - b.base_}; }
    friend constexpr Quantity operator*(Quantity a, double f) { return Quantity{a.base_ * f}; }
    friend constexpr Quantity operator*(double f, Quantity a) { return Quantity{a.base_ * f}; }
    friend constexpr Quantity operator/(Quantity a, double f) { return Quantity{a.base_ / f}; }

private:
    double base_ = 0.0;
};

template <int B, int F, int T, int D, int J, int B2, int F2, int T2, int D2, int J2>
constexpr auto operator*(Quantity<B, F, T, D, J> a, Quantity<B2, F2, T2, D2, J2> b) {
    using Product = Quantity<B + B2, F + F2, T + T2, D + D2, J + J2>;
    if constexpr (B + B2 == 0 && F + F2 == 0 && T + T2 == 0 && D + D2 == 0 && J + J2 == 0) {
        return a.base() * b.base();
    } else {
        return Product{a.base() * b.base()};
    }
}

template <int B, int F, int T, int D, int J, int B2, int F2, int T2, int D2, int J2>
constexpr auto operator/(Quantity<B, F, T, D, J> a, Quantity<B2, F2, T2, D2, J2> b) {
    using Ratio = Quantity<B - B2, F - F2, T - T2, D - D2, J - J2>;
    if constexpr (B == B2 && F == F2 && T == T2 && D == D2 && J == J2) {
        return a.base() / b.base();
    } else {
        return Ratio{a.base() / b.base()};
    }
}

using Bytes = Quantity<1, 0, 0, 0, 0>;
using Flops = Quantity<0, 1, 0, 0, 0>; ///< an amount of work, never a rate
using Seconds = Quantity<0, 0, 1, 0, 0>;
using Dollars = Quantity<0, 0, 0, 1, 0>;
using Joules = Quantity<0, 0, 0, 0, 1>;
using BytesPerSecond = Quantity<1, 0, -1, 0, 0>;
using SecondsPerByte = Quantity<-1, 0, 1, 0, 0>;
using FlopsPerSecond = Quantity<0, 1, -1, 0, 0>;
using FlopsPerByte = Quantity<-1, 1, 0, 0, 0>;
using DollarsPerSecond = Quantity<0, 0, -1, 1, 0>;
using Watts = Quantity<0, 0, -1, 0, 1>;

namespace units {
inline constexpr Bytes byte{1.0}, kB{1e3}, MB{1e6}, GB{1e9}, TB{1e12}, PB{1e15};
inline constexpr Bytes KiB{1024.0}, MiB{1048576.0}, GiB{1073741824.0}, TiB{1099511627776.0};
inline constexpr Bytes bit{0.125}, Gbit{0.125e9};
inline constexpr Flops flop{1.0}, GFLOP{1e9}, TFLOP{1e12}, PFLOP{1e15};
inline constexpr Seconds s{1.0}, ms{1e-3}, us{1e-6}, ns{1e-9}, minute{60.0}, hour{3600.0}, day{86400.0};
inline constexpr Dollars dollar{1.0};
inline constexpr Joules joule{1.0};
inline constexpr Watts watt{1.0};
} // namespace units

/// The exponents of a quantity, as a value: what the text functions below work on.
struct Dimension {
    int bytes = 0, flops = 0, seconds = 0, dollars = 0, joules = 0;
    constexpr bool operator==(Dimension const&) const = default;
};

template <int B, int F, int T, int D, int J> constexpr Dimension dimension_of(Quantity<B, F, T, D, J> const*) {
    return {B, F, T, D, J};
}

/// Reads "450 GB/s", "80GiB", "400 Gbit/s", "5us", "2.95 $/h" into base units of `expected`.
/// Errors: InputError{usage} when the unit is missing, unknown or of another dimension, or the number
/// is not finite or negative; the line names `where` and offers the unit that was probably meant.
/// A `where` that ends in a quoted field, "--link: 'latency'", reads "--link: 'latency' needs seconds ...".
double parse_base(std::string_view text, Dimension expected, std::string_view where);

template <class Q> Q parse(std::string_view text, std::string_view where) {
    return Q{parse_base(text, dimension_of(static_cast<Q const*>(nullptr)), where)};
}

/// Writes base units with the prefix that reads best: "450 GB/s", "1.23 ms"; `digits` significant.
std::string format_base(double base, Dimension dimension, int digits);

template <int B, int F, int T, int D, int J> std::string format(Quantity<B, F, T, D, J> quantity, int digits = 3) {
    return format_base(quantity.base(), {B, F, T, D, J}, digits);
}

/// Memory sizes read in binary units: "71.2 GiB".
std::string format_binary(Bytes size, int digits = 3);

/// Reads a count with an optional scale: "1024", "2T" (10^12), "1.5B", "300k"; whole and positive.
double parse_count(std::string_view text, std::string_view where);

/// Writes a count with its scale: 2e12 -> "2T".
std::string format_count(double count, int digits = 3);

} // namespace headroom
