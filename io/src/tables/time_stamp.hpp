#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace headroom::io {

/// Times of one column as nanoseconds: numbers since anything, in a unit that is stated or shown by their size, or
/// dates.
class TimeStamps {
public:
    /// `unit`: "s", "ms", "us", "ns"; empty: by the size of the first number. Since 1970 the seconds have ten digits
    /// until 2286, so that 13, 16 and 19 digits are milliseconds, microseconds and nanoseconds; fewer than ten are seconds
    /// after anything.
    explicit TimeStamps(std::string_view unit = {});

    /// Empty for what is no time, or is beyond 292 years.
    std::optional<std::int64_t> read(std::string_view text);
    /// A number that was taken apart already: mantissa / 10^decimals.
    std::optional<std::int64_t> read(std::uint64_t mantissa, int decimals) {
        if (unit_ < 0) { choose_unit(mantissa, decimals); }
        int const power = 9 - unit_ - decimals;
        if (power >= 0 && power <= 9 && mantissa <= most_scaled(power)) [[likely]] {
            return static_cast<std::int64_t>(mantissa * powers(power));
        }
        return scaled(mantissa, power);
    }

private:
    static constexpr std::uint64_t powers(int power) {
        constexpr std::uint64_t table[]{1,       10,        100,        1'000,       10'000,
                                        100'000, 1'000'000, 10'000'000, 100'000'000, 1'000'000'000};
        return table[power];
    }
    static constexpr std::uint64_t most_scaled(int power) { return std::uint64_t{INT64_MAX} / powers(power); }
    void choose_unit(std::uint64_t mantissa, int decimals);
    static std::optional<std::int64_t> scaled(std::uint64_t mantissa, int power);

    int unit_ = -1; ///< decimals of a second; below 0: not known yet
};

/// "2024-05-01T10:00:00.123456Z", "2024-05-01 10:00:00,123", with "+02:00" or without: nanoseconds since 1970, UTC.
std::optional<std::int64_t> date_and_time(std::string_view text);

} // namespace headroom::io
