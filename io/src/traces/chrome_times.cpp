#include "traces/chrome_finish.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace headroom::io {

namespace {

constexpr std::int64_t year = 365LL * 86'400'000'000'000, second = 1'000'000'000;
constexpr std::size_t sample = 1023;

/// The median of a sample of the begins: that of the recording where most of them are.
std::int64_t usual_begin(std::vector<std::int64_t> const& begins) {
    std::vector<std::int64_t> some;
    std::size_t const step = begins.size() / sample + 1;
    for (std::size_t at = 0; at < begins.size(); at += step) {
        if (begins[at] != 0) { some.push_back(begins[at]); }
    }
    if (some.empty()) { return 0; }
    auto const middle = some.begin() + static_cast<std::ptrdiff_t>(some.size() / 2);
    std::nth_element(some.begin(), middle, some.end());
    return *middle;
}

bool is_far(std::int64_t begin, std::int64_t usual) {
    std::int64_t apart = 0;
    return __builtin_sub_overflow(begin, usual, &apart) || apart > year || apart < -year;
}

/// Whether a begin of zero is none: what is dated begins later than it lasts, and a second at least.
bool zero_is_no_time(ChromePart const& part, std::int64_t usual) {
    std::int64_t first = std::numeric_limits<std::int64_t>::max(), last = std::numeric_limits<std::int64_t>::min();
    for (std::size_t span = 0; span < part.size(); ++span) {
        if (part.begin[span] == 0 || is_far(part.begin[span], usual)) { continue; }
        first = std::min(first, part.begin[span]);
        last = std::max({last, part.begin[span], part.end[span]});
    }
    return first <= last && first >= second && first > last - first;
}

/// The first begin of what stays.
std::int64_t first_begin(ChromePart const& part, std::vector<bool> const& left_out) {
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    for (std::size_t span = 0; span < part.size(); ++span) {
        bool const stays = span >= left_out.size() || !left_out[span];
        first = stays ? std::min(first, part.begin[span]) : first;
    }
    return first == std::numeric_limits<std::int64_t>::max() ? 0 : first;
}

} // namespace

std::int64_t leave_undated_out(ChromePart& part, std::vector<bool>& left_out) {
    if (part.size() == 0) { return 0; }
    std::int64_t least = part.begin.front(), most = least;
    for (std::int64_t const begin : part.begin) {
        least = std::min(least, begin);
        most = std::max(most, begin);
    }
    std::int64_t const usual = usual_begin(part.begin);
    bool const far = part.size() > 1 && (is_far(least, usual) || is_far(most, usual));
    bool const zeros = least == 0 && zero_is_no_time(part, usual);
    if (!far && !zeros) { return left_out.empty() ? least : first_begin(part, left_out); }
    left_out.resize(part.size());
    for (std::size_t span = 0; span < part.size(); ++span) {
        bool const zero = part.begin[span] == 0;
        if (left_out[span] || (zero ? !zeros : !is_far(part.begin[span], usual))) { continue; }
        left_out[span] = true;
        part.faults.count(zero ? ChromeFault::no_time : ChromeFault::other_epoch, ChromeFaults::no_place);
    }
    return first_begin(part, left_out);
}

} // namespace headroom::io
