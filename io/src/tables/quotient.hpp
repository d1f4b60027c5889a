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

/// Whether a head names work done in a time, whose last word is then no unit of a time: "samples_per_sec",
/// "tokens/s/GPU", "qps", "img_s".
bool is_rate_head(std::string_view head);

} // namespace headroom::io
