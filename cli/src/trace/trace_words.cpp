#include "trace/trace_words.hpp"

#include "headroom/document/canvas.hpp"
#include "headroom/document/text.hpp"
#include "headroom/quantity.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace headroom::cli {

using namespace headroom::document;

using namespace headroom::trace;

std::string time_words(double ns) { return ns == 0.0 ? "0 s" : format(Seconds{ns / 1e9}); }

TimeUnit unit_for(double longest_ns) {
    constexpr std::array all{TimeUnit{"s", 1e9}, TimeUnit{"ms", 1e6}, TimeUnit{"us", 1e3}};
    for (TimeUnit const& unit : all) {
        if (longest_ns >= unit.ns) { return unit; }
    }
    return all.back();
}

std::string in_unit(double ns, TimeUnit unit) { return ns == 0.0 ? "0" : significant(ns / unit.ns); }

std::string list_words(std::vector<std::int64_t> const& numbers) {
    constexpr std::size_t most = 6;
    std::string out;
    std::size_t const shown = numbers.size() > most ? 3 : numbers.size();
    for (std::size_t i = 0; i < shown; ++i) {
        bool const last = i + 1 == numbers.size();
        if (i > 0) { out += last ? " and " : ", "; }
        out += std::to_string(numbers[i]);
    }
    if (shown < numbers.size()) { out += " and " + std::to_string(numbers.size() - shown) + " more"; }
    return out;
}

std::string rank_words(std::vector<std::int64_t> const& ranks) {
    return (ranks.size() == 1 ? "rank " : "ranks ") + list_words(ranks);
}

namespace {

/// A function's name without what it returns and takes: "void f<4>(int, float*)" -> "f<4>".
std::string without_arguments(std::string name) {
    if (name.starts_with("void ")) { name.erase(0, 5); }
    if (!name.ends_with(')')) { return name; }
    int depth = 0;
    for (std::size_t at = name.size(); at-- > 1;) {
        depth += name[at] == ')' ? 1 : name[at] == '(' ? -1 : 0;
        if (depth == 0) { return name.substr(0, at); }
    }
    return name;
}

} // namespace

std::string kernel_words(std::string const& name, std::size_t width) {
    std::string clean = printable(name);
    if (columns_of(clean) > width) { clean = without_arguments(std::move(clean)); }
    std::vector<std::string> const letters = letters_of(clean);
    if (letters.size() <= width) { return clean; }
    std::size_t const tail = (width - 2) / 3, head = width - 2 - tail;
    std::string out;
    for (std::size_t i = 0; i < head; ++i) { out += letters[i]; }
    out += "..";
    for (std::size_t i = letters.size() - tail; i < letters.size(); ++i) { out += letters[i]; }
    return out;
}

std::string_view kind_words(SpanKind kind) {
    switch (kind) {
    case SpanKind::compute: return "computation";
    case SpanKind::communication: return "communication";
    case SpanKind::memory: return "copies and fills";
    case SpanKind::device_wait: return "device waits";
    case SpanKind::launch: return "launch calls";
    case SpanKind::synchronization: return "host waits for device";
    case SpanKind::host: return "host";
    case SpanKind::annotation: return "annotation";
    }
    return "other";
}

} // namespace headroom::cli
