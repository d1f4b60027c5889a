#include "traces/trace_text.hpp"

#include "graphs/graph_draft.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::io {

namespace {

constexpr std::size_t trusted_text = std::size_t{64} << 20, most_ratio = 200;
constexpr std::uint64_t most_scaled = std::uint64_t{1} << 61;

} // namespace

WholeText::WholeText(ByteSource& source, std::uint64_t most) {
    view_ = source.in_memory();
    if (view_.empty()) {
        constexpr std::size_t block = std::size_t{1} << 20;
        for (std::size_t got = block; got == block && held_.size() <= most;) {
            std::size_t const before = held_.size();
            held_.resize(before + block);
            got = source.read(held_.data() + before, block);
            held_.resize(before + got);
            // A text that unpacks to so much more than others holds little, and would be kept whole.
            if (held_.size() > trusted_text && held_.size() / most_ratio > source.bytes_read()) {
                most = held_.size() - 1;
            }
        }
        view_ = held_;
    }
    damage_ = source.damage();
    if (view_.size() > most) {
        view_ = view_.substr(0, most);
        damage_ = "larger than the limit";
    }
    bytes_read_ = source.in_memory().empty() ? source.bytes_read() : view_.size();
}

void WholeText::tell(TraceBuilder& builder) const {
    builder.trace().bytes_read = bytes_read_;
    builder.trace().text_bytes = view_.size();
    if (!damage_.empty()) { builder.issue(damage_, view_.size()); }
}

std::string plain_name(std::string_view text) {
    constexpr std::size_t longest = 16 << 10;
    constexpr std::string_view replacement = "\xEF\xBF\xBD";
    std::string name;
    name.reserve(std::min(text.size(), longest));
    while (!text.empty() && name.size() < longest) {
        std::size_t const length = utf8_length(text);
        auto const first = static_cast<unsigned char>(text.front());
        bool const plain = length > 0 && (first >= 0x20 || first == '\t') && first != 0x7F;
        name += plain ? text.substr(0, length) : replacement;
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return name;
}

std::optional<std::int64_t> nanoseconds(double value, double nanoseconds_in_one) {
    double const scaled = std::floor(value * nanoseconds_in_one + 0.5);
    if (!(scaled >= 0.0 && scaled <= 0x1p61)) { return std::nullopt; }
    return static_cast<std::int64_t>(scaled);
}

std::optional<std::int64_t> scaled_decimal(std::string_view text, std::int64_t unit) {
    bool const minus = text.starts_with('-');
    text.remove_prefix(minus ? 1 : 0);
    constexpr std::uint64_t finest = 1'000'000'000;
    std::uint64_t whole = 0, part = 0, below = 1;
    bool in_part = false, any = false;
    for (char const c : text) {
        if (c == '.' && !in_part) {
            in_part = true;
            continue;
        }
        if (c < '0' || c > '9') { return std::nullopt; }
        any = true;
        auto const digit = static_cast<std::uint64_t>(c - '0');
        if (!in_part) {
            if (whole > most_scaled / 10) { return std::nullopt; }
            whole = whole * 10 + digit;
        } else if (below < finest) {
            part = part * 10 + digit;
            below *= 10;
        }
    }
    auto const scale = static_cast<std::uint64_t>(unit);
    if (!any || whole > most_scaled / scale) { return std::nullopt; }
    auto const scaled = static_cast<std::int64_t>(whole * scale + (part * scale * 2 + below) / (below * 2));
    return minus ? -scaled : scaled;
}

void no_events(std::string const& where, std::string problem, std::string why) {
    throw InputError{Fault::insufficient, {where, std::move(problem), std::move(why), {}}};
}

} // namespace headroom::io
