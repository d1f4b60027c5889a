#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// A head of the form A per B, in lower case: "img/s", "frames_per_second", "Active [particles/sec]", "ms/step".
struct Quotient {
    std::string above = {}, below = {}; ///< the word before and the words behind
    static bool is_time(std::string_view word);
};

/// Words of letters and digits in lower case, of "samplesPerSec" too; a slash is "per".
std::vector<std::string> words_in(std::string_view head);

std::optional<Quotient> quotient_of(std::string_view head);

/// Meaning of a head that divides one quantity by another.
enum class QuotientKind { none, rate, time, either };
/// A rate is work, or a short simulated time, over a time: "img/s", "ns/day". A time is one over work, or over a short
/// simulated time: "s/it", "hour/ns". "s/day" and "ms/s" are either.
QuotientKind kind_of_quotient(std::string_view head);
/// Whether a head is a time over a simulated time: "hour/ns", "days per ns".
bool is_time_of_time(std::string_view head);

/// Whether a head is a time over its unit, as ISO 80000 labels columns: "time/s", "step time / ms", "Zeit/s".
bool is_time_label(std::string_view head);
/// Whether a head is "t/s", which is a time in seconds or a rate of tokens.
bool is_token_rate_or_time(std::string_view head);

/// Whether a head names work done in a time, whose last word is then no unit of a time: "samples_per_sec",
/// "tokens/s/GPU", "qps", "img_s".
bool is_rate_head(std::string_view head);

} // namespace headroom::io
